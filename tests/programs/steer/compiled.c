/* Kernels that arrive as machine code, over the driver that does nothing. `compiled WAY FILE`: made in one of
 * these ways, and kept in the file; `compiled FILE`: from the file. Each is launched once. Exit code 77: the
 * way's library is not here.
 *
 *   nvrtc, nvrtc-linked      by NVRTC, whose functions are looked up, or called as by a program that is
 * linked with it jit, jit-linked          by nvJitLink, of two texts of NVRTC's, the same jit-debug,
 * jit-other     by nvJitLink, with an option, or an input, that the texts do not tell of default NVRTC and
 * nvJitLink are asked for where the process has neither driver, driver-other     by the driver, of one text;
 * of an object, too */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/jitlink.h"
#include "fake.h"

static const char apart[] = "extern \"C\" __device__ float half_of(float x);"
                            "extern \"C\" __global__ void twice(float *x) {"
                            " x[blockIdx.x * blockDim.x + threadIdx.x] *= 4 * half_of(1); }",
                  helper[] = "extern \"C\" __device__ float half_of(float x) { return x / 2; }",
                  source[] = "extern \"C\" __global__ void twice(float *x) {"
                             " x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }";

typedef struct code {
  char *data;
  size_t bytes;
} code;

static void *open_library(const char *name, bool linked) {
  void *library = dlopen(name, linked ? RTLD_NOW | RTLD_GLOBAL : RTLD_NOW);
  if (!library) exit(77);
  return library;
}

static int (*function(void *library, const char *name))(void *, ...) {
  int (*fn)(void *, ...);
  void *address = dlsym(library, name);
  if (!address) exit(77);
  memcpy(&fn, &address, sizeof fn);
  return fn;
}

static code room(size_t bytes) {
  const code c = {calloc(1, bytes + 1), bytes};
  if (!c.data) exit(3);
  return c;
}

#define MUST(x)                                                                                              \
  do {                                                                                                       \
    if ((x) != 0) exit(2);                                                                                   \
  } while (0)

int nvrtcGetCUBIN(run_handle program, char *code) __attribute__((weak));
fn_jitlink_Create jit_create __asm__("__nvJitLinkCreate_13_0") __attribute__((weak));
fn_jitlink_AddData jit_add __asm__("__nvJitLinkAddData_13_0") __attribute__((weak));
fn_jitlink_GetLinkedCubin jit_get __asm__("__nvJitLinkGetLinkedCubin_13_0") __attribute__((weak));
fn_jitlink_Destroy jit_destroy __asm__("__nvJitLinkDestroy_13_0") __attribute__((weak));

static code compile(const char *text, bool linked, bool ptx) {
  const char *options[] = {"-arch=sm_90", "-rdc=true"};
  run_handle program;
  void *const library = open_library("libnvrtc.so", linked);
  int (*create)(run_handle *, const char *, const char *, int, const char *const *, const char *const *);
  size_t bytes;
  int (*const any)(void *, ...) = function(library, "nvrtcCreateProgram");
  memcpy(&create, &any, sizeof create);
  MUST(create(&program, text, "twice.cu", 0, NULL, NULL));
  MUST(function(library, "nvrtcCompileProgram")(program, ptx ? 2 : 1, options));
  MUST(function(library, ptx ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize")(program, &bytes));
  const code c = room(bytes);
  MUST(linked && !ptx ? nvrtcGetCUBIN(program, c.data)
                      : function(library, ptx ? "nvrtcGetPTX" : "nvrtcGetCUBIN")(program, c.data));
  return c;
}

static code link_texts(bool linked, const char *option, bool other) {
  const code texts[] = {compile(apart, false, true), compile(helper, false, true)};
  const char *options[] = {"-arch=sm_90", option};
  const uint32_t n = option ? 2 : 1;
  void *const library = open_library("libnvJitLink.so", linked);
  jitlink_handle link;
  size_t bytes;
  MUST(linked ? jit_create(&link, n, options) : function(library, "nvJitLinkCreate")(&link, n, options));
  for (int k = 0; k < 2; k++)
    MUST(linked ? jit_add(link, JITLINK_PTX, texts[k].data, texts[k].bytes, "text")
                : function(library, k ? "nvJitLinkAddData" : "__nvJitLinkAddData_13_0")(
                      link, JITLINK_PTX, texts[k].data, texts[k].bytes, "text"));
  if (other) {
    static const char empty[] = "!<arch>\n";
    MUST(function(library, "nvJitLinkAddData")(link, JITLINK_LIBRARY, empty, sizeof empty - 1, "none"));
  }
  MUST(function(library, "nvJitLinkComplete")(link));
  MUST(function(library, "nvJitLinkGetLinkedCubinSize")(link, &bytes));
  const code c = room(bytes);
  MUST(linked ? jit_get(link, c.data) : function(library, "nvJitLinkGetLinkedCubin")(link, c.data));
  MUST(linked ? jit_destroy(&link) : function(library, "nvJitLinkDestroy")(&link));
  for (int k = 0; k < 2; k++) free(texts[k].data);
  return c;
}

enum { PTX = 1, OBJECT = 3 };

static code link_by_driver(bool other) {
  static char ptx[] = ".version 7.8\n.target sm_70\n.address_size 64\n"
                      ".visible .entry twice(.param .u64 x) { ret; }\n";
  cu_link link;
  void *cubin;
  size_t bytes;
  MUST(cuLinkCreate_v2(0, NULL, NULL, &link));
  MUST(cuLinkAddData_v2(link, PTX, ptx, sizeof ptx, "text", 0, NULL, NULL));
  if (other) MUST(cuLinkAddData_v2(link, OBJECT, ptx, sizeof ptx, "object", 0, NULL, NULL));
  MUST(cuLinkComplete(link, &cubin, &bytes));
  const code c = room(bytes);
  memcpy(c.data, cubin, bytes);
  MUST(cuLinkDestroy(link));
  return c;
}

static code by_default(void) {
  if (dlsym(RTLD_DEFAULT, "nvrtcGetCUBIN") || dlsym(RTLD_DEFAULT, "nvJitLinkCreate")) exit(5);
  return compile(source, false, false);
}

static code make(const char *way) {
  const bool linked = strstr(way, "-linked") != NULL, other = strstr(way, "-other") != NULL;
  if (strncmp(way, "jit", 3) == 0) return link_texts(linked, strstr(way, "-debug") ? "-g" : NULL, other);
  if (strncmp(way, "driver", 6) == 0) return link_by_driver(other);
  return strcmp(way, "default") == 0 ? by_default() : compile(source, linked, false);
}

static code read_all(const char *path) {
  const code c = room(1 << 20);
  FILE *f = fopen(path, "r");
  if (!f || !fread(c.data, 1, c.bytes, f)) exit(4);
  fclose(f);
  return c;
}

int main(int argc, char **argv) {
  cu_function f;
  cu_module module;
  uint64_t x = 256;
  void *params[] = {&x};
  cuInit(0);
  const code c = argc > 2 ? make(argv[1]) : read_all(argv[1]);
  FILE *out = argc > 2 ? fopen(argv[2], "w") : NULL;
  if (out) {
    fwrite(c.data, 1, c.bytes, out);
    fclose(out);
  }
  if (cuModuleLoadData(&module, c.data) || cuModuleGetFunction(&f, module, "twice")) return 1;
  free(c.data);
  return cuLaunchKernel(f, 8, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
}
