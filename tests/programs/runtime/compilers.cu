// NVRTC and nvJitLink: machine code that a program asks them for can be loaded and run.
// check: none
// options: -rdc=true -lnvrtc -lnvJitLink -lcuda
// no clang: nvcc's separate compilation
#include "check.h"
#include <cuda.h>
#include <nvJitLink.h>
#include <nvrtc.h>
#include <string>
#include <vector>

static const char kernels[] = "extern \"C\" __device__ int twice(int x);\n"
                              "extern \"C\" __global__ void apply(int *p) { *p = twice(*p) + 1; }\n";
static const char functions[] = "extern \"C\" __device__ int twice(int x) { return 2 * x; }\n";
static const char whole[] = "extern \"C\" __global__ void apply(int *p) { *p = 2 * *p + 1; }\n";

enum form { CUBIN, PTX, LTO };

static std::vector<char> compile(const char *source, std::vector<const char *> options, form f) {
  nvrtcProgram program;
  CHECK(nvrtcCreateProgram(&program, source, "source.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
  CHECK(nvrtcCompileProgram(program, int(options.size()), options.data()) == NVRTC_SUCCESS);
  size_t n = 0;
  CHECK((f == CUBIN ? nvrtcGetCUBINSize : f == PTX ? nvrtcGetPTXSize : nvrtcGetLTOIRSize)(program, &n) ==
        NVRTC_SUCCESS);
  CHECK(n > 0);
  std::vector<char> out(n);
  CHECK((f == CUBIN ? nvrtcGetCUBIN : f == PTX ? nvrtcGetPTX : nvrtcGetLTOIR)(program, out.data()) ==
        NVRTC_SUCCESS);
  CHECK(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS);
  return out;
}

static void run(const std::vector<char> &image) {
  CUmodule module;
  CUfunction apply;
  int *p, h = 20;
  CHECK(cuModuleLoadData(&module, image.data()) == CUDA_SUCCESS);
  CHECK(cuModuleGetFunction(&apply, module, "apply") == CUDA_SUCCESS);
  OK(cudaMalloc(&p, sizeof *p));
  OK(cudaMemcpy(p, &h, sizeof h, cudaMemcpyHostToDevice));
  void *arguments[] = {&p};
  CHECK(cuLaunchKernel(apply, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS);
  OK(cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(h == 41);
  OK(cudaFree(p));
  CHECK(cuModuleUnload(module) == CUDA_SUCCESS);
}

static void link(nvJitLinkInputType type, std::vector<const char *> options, const std::vector<char> &a,
                 const std::vector<char> &b) {
  nvJitLinkHandle handle;
  size_t n = 0;
  CHECK(nvJitLinkCreate(&handle, uint32_t(options.size()), options.data()) == NVJITLINK_SUCCESS);
  CHECK(nvJitLinkAddData(handle, type, a.data(), a.size(), "a") == NVJITLINK_SUCCESS);
  CHECK(nvJitLinkAddData(handle, type, b.data(), b.size(), "b") == NVJITLINK_SUCCESS);
  CHECK(nvJitLinkComplete(handle) == NVJITLINK_SUCCESS);
  CHECK(nvJitLinkGetLinkedCubinSize(handle, &n) == NVJITLINK_SUCCESS && n > 0);
  std::vector<char> out(n);
  CHECK(nvJitLinkGetLinkedCubin(handle, out.data()) == NVJITLINK_SUCCESS);
  CHECK(nvJitLinkDestroy(&handle) == NVJITLINK_SUCCESS);
  run(out);
}

// An object file's functions can be linked, such as this program's.
extern "C" __device__ __noinline__ int twice(int x) { return x + x; }
__global__ void uses(int *p) { *p = twice(*p); }

static void link_with_own_file(const std::vector<char> &a) {
  nvJitLinkHandle handle;
  const char *options[] = {"-arch=sm_80"};
  size_t n = 0;
  CHECK(nvJitLinkCreate(&handle, 1, options) == NVJITLINK_SUCCESS);
  CHECK(nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, a.data(), a.size(), "a") == NVJITLINK_SUCCESS);
  CHECK(nvJitLinkAddFile(handle, NVJITLINK_INPUT_OBJECT, "/proc/self/exe") == NVJITLINK_SUCCESS);
  CHECK(nvJitLinkComplete(handle) == NVJITLINK_SUCCESS);
  CHECK(nvJitLinkGetLinkedCubinSize(handle, &n) == NVJITLINK_SUCCESS && n > 0);
  std::vector<char> out(n);
  CHECK(nvJitLinkGetLinkedCubin(handle, out.data()) == NVJITLINK_SUCCESS);
  CHECK(nvJitLinkDestroy(&handle) == NVJITLINK_SUCCESS);
  run(out);
}

int main() {
  OK(cudaFree(nullptr));
  run(compile(whole, {"-arch=sm_80"}, CUBIN));
  run(compile(whole, {"-arch=compute_80"}, PTX));
  link(NVJITLINK_INPUT_PTX, {"-arch=sm_80"}, compile(kernels, {"-arch=compute_80", "-rdc=true"}, PTX),
       compile(functions, {"-arch=compute_80", "-rdc=true"}, PTX));
  link(NVJITLINK_INPUT_LTOIR, {"-arch=sm_80", "-lto"},
       compile(kernels, {"-arch=compute_80", "-rdc=true", "-dlto"}, LTO),
       compile(functions, {"-arch=compute_80", "-rdc=true", "-dlto"}, LTO));

  link_with_own_file(compile(kernels, {"-arch=compute_80", "-rdc=true"}, PTX));

  nvJitLinkHandle handle;
  const char *options[] = {"-arch=sm_80"}, text[] = "no PTX";
  CHECK(nvJitLinkCreate(&handle, 1, options) == NVJITLINK_SUCCESS);
  nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, text, sizeof text, "text");
  CHECK(nvJitLinkComplete(handle) != NVJITLINK_SUCCESS);
  size_t n = 0;
  CHECK(nvJitLinkGetErrorLogSize(handle, &n) == NVJITLINK_SUCCESS && n > 1);
  CHECK(nvJitLinkDestroy(&handle) == NVJITLINK_SUCCESS);
  puts("compilers: ok");
}
