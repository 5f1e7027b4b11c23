// Parts linked while the program runs: by the driver's linker from PTX, by nvJitLink from intermediate code of nvrtc.
// options: -lnvrtc -lnvJitLink -lcuda
#include "check.h"
#include <cuda.h>
#include <nvJitLink.h>
#include <nvrtc.h>
#include <string>
#include <vector>

#define DRIVER(call) CHECK((call) == CUDA_SUCCESS)
#define NVRTC(call) CHECK((call) == NVRTC_SUCCESS)
#define LINK(call) CHECK((call) == NVJITLINK_SUCCESS)

static const char *const parts[] = {"extern __device__ int weight;\n"
                                    "extern __device__ int twice(int);\n"
                                    "extern \"C\" __global__ void run(int *v) {\n"
                                    "  v[threadIdx.x] = twice(threadIdx.x) + weight;\n"
                                    "}\n",
                                    "__device__ int weight = 7;\n"
                                    "__device__ int twice(int v) { return 2 * v; }\n"};

static std::string compile(const char *text, bool intermediate) {
  nvrtcProgram p;
  const char *options[] = {"-arch=compute_80", "-rdc=true", "-dlto"};
  NVRTC(nvrtcCreateProgram(&p, text, "part.cu", 0, nullptr, nullptr));
  NVRTC(nvrtcCompileProgram(p, intermediate ? 3 : 2, options));
  size_t n;
  NVRTC(intermediate ? nvrtcGetLTOIRSize(p, &n) : nvrtcGetPTXSize(p, &n));
  std::string out(n, 0);
  NVRTC(intermediate ? nvrtcGetLTOIR(p, &out[0]) : nvrtcGetPTX(p, &out[0]));
  NVRTC(nvrtcDestroyProgram(&p));
  return out;
}

static void run(const void *image) {
  CUmodule m;
  CUfunction f;
  int *p;
  DRIVER(cuModuleLoadData(&m, image));
  DRIVER(cuModuleGetFunction(&f, m, "run"));
  OK(cudaMallocManaged(&p, 64 * sizeof *p));
  void *args[] = {&p};
  DRIVER(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; i++) CHECK(p[i] == 2 * i + 7);
  OK(cudaFree(p));
  DRIVER(cuModuleUnload(m));
}

int main() {
  OK(cudaFree(nullptr));
  CUlinkState link;
  void *image;
  size_t bytes;
  DRIVER(cuLinkCreate(0, nullptr, nullptr, &link));
  for (const char *part : parts) {
    std::string ptx = compile(part, false);
    DRIVER(cuLinkAddData(link, CU_JIT_INPUT_PTX, &ptx[0], ptx.size(), "part", 0, nullptr, nullptr));
  }
  DRIVER(cuLinkComplete(link, &image, &bytes));
  run(image);
  DRIVER(cuLinkDestroy(link));
  nvJitLinkHandle h;
  const char *options[] = {"-arch=sm_80", "-lto", "-ptx"};
  LINK(nvJitLinkCreate(&h, 3, options));
  for (const char *part : parts) {
    std::string code = compile(part, true);
    LINK(nvJitLinkAddData(h, NVJITLINK_INPUT_LTOIR, code.data(), code.size(), "part"));
  }
  LINK(nvJitLinkComplete(h));
  LINK(nvJitLinkGetLinkedPtxSize(h, &bytes));
  std::string ptx(bytes, 0);
  LINK(nvJitLinkGetLinkedPtx(h, &ptx[0]));
  LINK(nvJitLinkDestroy(&h));
  run(ptx.c_str());
  puts("linked: ok");
}
