// Libraries and kernels of the driver and of the runtime, from an image that the program compiles itself.
// options: -lnvrtc -lcuda
#include "check.h"
#include <cuda.h>
#include <nvrtc.h>
#include <string>

#define DRIVER(call) CHECK((call) == CUDA_SUCCESS)
#define NVRTC(call) CHECK((call) == NVRTC_SUCCESS)

static const char source[] = "__device__ int bias = 3;\n"
                             "__managed__ int calls;\n"
                             "extern \"C\" __global__ void first(int *v) { v[threadIdx.x] += bias; }\n"
                             "extern \"C\" __global__ void second(int *v, int f) {\n"
                             "  extern __shared__ int s[];\n"
                             "  s[threadIdx.x] = v[threadIdx.x] * f; __syncthreads();\n"
                             "  v[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];\n"
                             "  if (!threadIdx.x) atomicAdd(&calls, 1);\n"
                             "}\n";

int main() {
  nvrtcProgram program;
  const char *options[] = {"-arch=compute_80"};
  size_t n, bytes;
  NVRTC(nvrtcCreateProgram(&program, source, "library.cu", 0, nullptr, nullptr));
  NVRTC(nvrtcCompileProgram(program, 1, options));
  NVRTC(nvrtcGetPTXSize(program, &n));
  std::string ptx(n, 0);
  NVRTC(nvrtcGetPTX(program, &ptx[0]));
  NVRTC(nvrtcDestroyProgram(&program));
  int *v, f = 10;
  OK(cudaMallocManaged(&v, 32 * sizeof *v));
  for (int i = 0; i < 32; i++) v[i] = i;

  CUlibrary library;
  CUkernel first, second, all[2];
  CUfunction function;
  CUmodule module;
  CUdeviceptr bias, calls;
  unsigned count;
  const char *name;
  DRIVER(cuLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  DRIVER(cuLibraryGetKernelCount(&count, library));
  CHECK(count == 2);
  DRIVER(cuLibraryEnumerateKernels(all, 2, library));
  DRIVER(cuLibraryGetKernel(&first, library, "first"));
  DRIVER(cuLibraryGetKernel(&second, library, "second"));
  CHECK(cuLibraryGetKernel(&all[0], library, "third") == CUDA_ERROR_NOT_FOUND);
  DRIVER(cuKernelGetName(&name, second));
  CHECK(strcmp(name, "second") == 0);
  DRIVER(cuLibraryGetGlobal(&bias, &bytes, library, "bias"));
  DRIVER(cuLibraryGetManaged(&calls, &bytes, library, "calls"));
  int five = 5;
  DRIVER(cuMemcpyHtoD(bias, &five, sizeof five));
  void *args[] = {&v, &f};
  DRIVER(cuLaunchKernel((CUfunction)first, 1, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr)); // as a function
  DRIVER(cuKernelGetFunction(&function, second));
  DRIVER(cuFuncGetModule(&module, function));
  DRIVER(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000, second, 0));
  int most;
  DRIVER(cuKernelGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, second, 0));
  CHECK(most == 60000);
  DRIVER(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 60000, nullptr, args, nullptr));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; i++) CHECK(v[i] == 10 * (31 - i + 5));
  CHECK(*(int *)calls == 1);
  size_t offset, size;
  DRIVER(cuKernelGetParamInfo(second, 1, &offset, &size));
  CHECK(offset == 8 && size == 4);
  DRIVER(cuLibraryUnload(library));

#if CUDART_VERSION >= 13000
  cudaLibrary_t own;
  cudaKernel_t kernel;
  OK(cudaLibraryLoadData(&own, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  OK(cudaLibraryGetKernel(&kernel, own, "first"));
  OK(cudaLaunchKernel((const void *)kernel, 1, 32, args, 0, 0));
  OK(cudaDeviceSynchronize());
  CHECK(v[31] == 53);
  OK(cudaLibraryUnload(own));
#endif
  OK(cudaFree(v));
  puts("library: ok");
}
