/* Kernels that arrive as machine code, over the driver that does nothing. `compiled nvrtc FILE`: compiled by
 * NVRTC, and kept in the file; `compiled linked FILE`: the same, as a program that is linked with NVRTC calls
 * it; `compiled FILE`: from the file. Each is launched once. Exit code 77: there is no NVRTC. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

static const char source[] = "extern \"C\" __global__ void twice(float *x) {"
                             " x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }";

static void *library;

static int (*function(const char *name))(void *, ...) {
  int (*fn)(void *, ...);
  void *address = dlsym(library, name);
  if (!address) exit(77);
  memcpy(&fn, &address, sizeof fn);
  return fn;
}

int nvrtcGetCUBIN(run_handle program, char *code) __attribute__((weak));

static void *compile(size_t *bytes, int linked) {
  int (*create)(run_handle *, const char *, const char *, int, const char *const *, const char *const *);
  const char *options[] = {"-arch=sm_90"};
  run_handle program;
  library = dlopen("libnvrtc.so", linked ? RTLD_NOW | RTLD_GLOBAL : RTLD_NOW);
  if (!library) exit(77);
  int (*const any)(void *, ...) = function("nvrtcCreateProgram");
  memcpy(&create, &any, sizeof create);
  if (create(&program, source, "twice.cu", 0, NULL, NULL) != 0 ||
      function("nvrtcCompileProgram")(program, 1, options) != 0 ||
      function("nvrtcGetCUBINSize")(program, bytes) != 0)
    exit(2);
  char *code = malloc(*bytes);
  if (!code ||
      (linked ? nvrtcGetCUBIN ? nvrtcGetCUBIN(program, code) : 1 : function("nvrtcGetCUBIN")(program, code)))
    exit(3);
  return code;
}

static void *read_all(const char *path) {
  enum { MOST = 1 << 20 };
  char *code = malloc(MOST);
  FILE *f = fopen(path, "r");
  if (!code || !f || !fread(code, 1, MOST, f)) exit(4);
  fclose(f);
  return code;
}

int main(int argc, char **argv) {
  size_t bytes = 0;
  run_handle module, f;
  uint64_t x = 256;
  void *params[] = {&x};
  void *code = argc > 2 ? compile(&bytes, argv[1][0] == 'l') : read_all(argv[1]);
  FILE *out = argc > 2 ? fopen(argv[2], "w") : NULL;
  if (out) {
    fwrite(code, 1, bytes, out);
    fclose(out);
  }
  cuInit(0);
  if (cuModuleLoadData(&module, code) || cuModuleGetFunction(&f, module, "twice")) return 1;
  free(code);
  return cuLaunchKernel(f, 8, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
}
