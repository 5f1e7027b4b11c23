// A library that is loaded while the program runs, with kernels and perhaps a runtime of its own, twice.
// check: init,race,streams
// plugin: plugin_library.cuh
#include "check.h"
#include <dlfcn.h>
#include <string>
#include <unistd.h>

__global__ void own(int *p) { *p = 1; }

int main() {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 4);
  CHECK(n > 0);
  int *p, h;
  OK(cudaMalloc(&p, sizeof *p));
  own<<<1, 1>>>(p);
  for (int k = 0; k < 2; k++) {
    void *library = dlopen((std::string(path, size_t(n)) + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) puts(dlerror());
    CHECK(library);
    auto add = reinterpret_cast<int (*)(int *)>(dlsym(library, "plugin_add"));
    CHECK(add && add(p) == 0);
    CHECK(dlclose(library) == 0);
  }
  OK(cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(h == 201);
  puts("plugin: ok");
}
