// A program's end: handlers and destructors that still use CUDA, work that nobody waits for, an exit code of its own.
// exit: 7
// check: init,race,streams
#include "check.h"

__global__ void print(const char *, int v) { printf("kernel %d\n", v); }

static int *global;
struct owner {
  int *p = nullptr;
  ~owner() {
    cudaError_t e = cudaFree(p);
    puts(e == cudaSuccess || e == cudaErrorCudartUnloading ? "destructor: freed" : cudaGetErrorName(e));
  }
} keeper;

static void at_exit() {
  int h;
  OK(cudaMemcpy(&h, global, sizeof h, cudaMemcpyDeviceToHost));
  printf("handler: %d\n", h);
  fflush(stdout);
}

int main() {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  const int v = 42;
  cudaStream_t s;
  OK(cudaMalloc(&global, sizeof *global));
  OK(cudaMalloc(&keeper.p, 100));
  OK(cudaMemcpy(global, &v, sizeof v, cudaMemcpyHostToDevice));
  OK(cudaStreamCreate(&s));
  atexit(at_exit);
  print<<<1, 1>>>(nullptr, 1);
  OK(cudaDeviceSynchronize());
  exit(7);
}
