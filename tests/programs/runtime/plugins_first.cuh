#include <cuda_runtime.h>
__device__ int level = 100;
__global__ static void bump(int *p, int by) { atomicAdd(p, by * level); }
extern "C" int plugin_run(int *p) {
  bump<<<1, 1>>>(p, 2);
  return cudaGetLastError();
}
