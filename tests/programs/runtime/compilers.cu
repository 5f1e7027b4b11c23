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

// Machine code is of one architecture: that of the device.
static std::string architecture(const char *kind) {
  int major, minor;
  OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  OK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
  return std::string("-arch=") + kind + "_" + std::to_string(major * 10 + minor);
}

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
  const std::string machine = architecture("sm");
  const char *options[] = {machine.c_str()};
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
  const std::string machine = architecture("sm"), text = architecture("compute");
  run(compile(whole, {machine.c_str()}, CUBIN));
  run(compile(whole, {text.c_str()}, PTX));
  link(NVJITLINK_INPUT_PTX, {machine.c_str()}, compile(kernels, {text.c_str(), "-rdc=true"}, PTX),
       compile(functions, {text.c_str(), "-rdc=true"}, PTX));
  link(NVJITLINK_INPUT_LTOIR, {machine.c_str(), "-lto"},
       compile(kernels, {text.c_str(), "-rdc=true", "-dlto"}, LTO),
       compile(functions, {text.c_str(), "-rdc=true", "-dlto"}, LTO));

  link_with_own_file(compile(kernels, {text.c_str(), "-rdc=true"}, PTX));

  nvJitLinkHandle handle;
  const char *options[] = {machine.c_str()}, wrong[] = "no PTX";
  CHECK(nvJitLinkCreate(&handle, 1, options) == NVJITLINK_SUCCESS);
  size_t n = 0;
  CHECK(nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, wrong, sizeof wrong, "wrong") != NVJITLINK_SUCCESS ||
        nvJitLinkComplete(handle) != NVJITLINK_SUCCESS);
  CHECK(nvJitLinkGetErrorLogSize(handle, &n) == NVJITLINK_SUCCESS && n > 1);
  CHECK(nvJitLinkDestroy(&handle) == NVJITLINK_SUCCESS);
  puts("compilers: ok");
}
