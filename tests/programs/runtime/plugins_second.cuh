#include <cuda_runtime.h>
static __device__ int level;
__global__ static void bump(int *p, int by) { atomicAdd(p, by * level); }
extern "C" int plugin_run(int *p) {
  const int v = 10000;
  if (cudaMemcpyToSymbol(level, &v, sizeof v) != cudaSuccess) return 1;
  bump<<<1, 1>>>(p, 3);
  return cudaDeviceSynchronize();
}
