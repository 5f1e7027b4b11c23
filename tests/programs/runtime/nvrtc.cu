// Kernels compiled while the program runs: a template by its expression, options, a log of errors.
// options: -lnvrtc -lcuda
// check: init,race,streams
#include "check.h"
#include <cuda.h>
#include <nvrtc.h>
#include <string>
#include <vector>

#define DRIVER(call) CHECK((call) == CUDA_SUCCESS)
#define NVRTC(call) CHECK((call) == NVRTC_SUCCESS)

static const char source[] = "template <typename T, int N> __global__ void fill(T *v, T first) {\n"
                             "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "  if (i < N) v[i] = first + T(i) * T(STEP);\n"
                             "}\n"
                             "__constant__ int offset;\n"
                             "extern \"C\" __global__ void move(int *v) { v[threadIdx.x] += offset; }\n";

int main() {
  nvrtcProgram program, wrong;
  const char *options[] = {"--gpu-architecture=compute_80", "-DSTEP=3", "--std=c++17"}, *name;
  NVRTC(nvrtcCreateProgram(&program, source, "fill.cu", 0, nullptr, nullptr));
  NVRTC(nvrtcAddNameExpression(program, "fill<int, 100>"));
  NVRTC(nvrtcAddNameExpression(program, "fill<double, 64>"));
  NVRTC(nvrtcAddNameExpression(program, "&offset"));
  NVRTC(nvrtcCompileProgram(program, 3, options));
  size_t bytes;
  NVRTC(nvrtcGetPTXSize(program, &bytes));
  std::string ptx(bytes, 0);
  NVRTC(nvrtcGetPTX(program, &ptx[0]));
  int *p;
  OK(cudaMallocManaged(&p, 100 * sizeof(double)));
  CUmodule m;
  CUfunction f;
  CUdeviceptr variable;
  DRIVER(cuModuleLoadDataEx(&m, ptx.c_str(), 0, nullptr, nullptr));
  NVRTC(nvrtcGetLoweredName(program, "fill<int, 100>", &name));
  DRIVER(cuModuleGetFunction(&f, m, name));
  int first = 5;
  void *args[] = {&p, &first};
  DRIVER(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 100; i++) CHECK(p[i] == 5 + 3 * i);
  NVRTC(nvrtcGetLoweredName(program, "&offset", &name));
  DRIVER(cuModuleGetGlobal(&variable, &bytes, m, name));
  CHECK(bytes == 4);
  int by = 1000;
  DRIVER(cuMemcpyHtoD(variable, &by, sizeof by));
  DRIVER(cuModuleGetFunction(&f, m, "move"));
  DRIVER(cuLaunchKernel(f, 1, 1, 1, 100, 1, 1, 0, nullptr, args, nullptr));
  OK(cudaDeviceSynchronize());
  CHECK(p[0] == 1005 && p[99] == 1302);
  NVRTC(nvrtcGetLoweredName(program, "fill<double, 64>", &name));
  DRIVER(cuModuleGetFunction(&f, m, name));
  double half = 0.5, *q = (double *)p;
  void *wide[] = {&p, &half};
  DRIVER(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, nullptr, wide, nullptr));
  OK(cudaDeviceSynchronize());
  CHECK(q[63] == 189.5);
  NVRTC(nvrtcCreateProgram(&wrong, "__global__ void k() { nonsense; }", "wrong.cu", 0, nullptr, nullptr));
  CHECK(nvrtcCompileProgram(wrong, 0, nullptr) == NVRTC_ERROR_COMPILATION);
  NVRTC(nvrtcGetProgramLogSize(wrong, &bytes));
  CHECK(bytes > 20);
  NVRTC(nvrtcDestroyProgram(&wrong));
  NVRTC(nvrtcDestroyProgram(&program));
  DRIVER(cuModuleUnload(m));
  OK(cudaFree(p));
  puts("nvrtc: ok");
}
