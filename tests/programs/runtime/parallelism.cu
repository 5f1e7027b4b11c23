// A kernel that may launch another one runs as long as it does not: such a launch is refused where it happens, unless
// the device makes it.
// check: none
// options: -rdc=true
// no clang: nvcc's separate compilation
#include "check.h"

__global__ void child(int *p) { *p = 7; }

__global__ void parent(int *p, int depth) {
  if (depth > 1)
    child<<<1, 1>>>(p);
  else
    *p = depth;
}

int main() {
  int *p, h;
  OK(cudaMalloc(&p, sizeof *p));
  parent<<<1, 1>>>(p, 1);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(h == 1);
  parent<<<1, 1>>>(p, 2);
  if (const cudaError_t r = cudaDeviceSynchronize()) {
    CHECK(r == cudaErrorNotSupported);
  } else {
    OK(cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost));
    CHECK(h == 7);
  }
  puts("parallelism: ok");
}
