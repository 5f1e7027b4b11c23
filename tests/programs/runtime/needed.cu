// A program linked with a library that has kernels and a runtime of its own, and uses them before main.
// library: needed_library.cuh
#include "check.h"

int needed_early();
int needed_add(int *p, int n);

__global__ void set(int *p, int v) { *p = v; }

int main() {
  int *p, h;
  CHECK(needed_early() == 11);
  OK(cudaMalloc(&p, sizeof *p));
  set<<<1, 1>>>(p, 5);
  CHECK(needed_add(p, 32) == 0);
  OK(cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(h == 5 + 32 * 3);
  OK(cudaFree(p));
  puts("needed: ok");
}
