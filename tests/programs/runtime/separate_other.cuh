// The other file of separate.cu.
#include <cuda_runtime.h>

__device__ int scale = 3;
__constant__ int offsets[3];
static __device__ int own = 7;

__device__ __noinline__ int shift(int v, int k) { return v + offsets[k] + own; }

void set_offsets() {
  const int values[3] = {0, 100, 200};
  cudaMemcpyToSymbol(offsets, values, sizeof values);
}
