// How many CTAs an SM holds, and which block is best; attributes of functions.
// emulate: --gpu h100
// options: --expt-relaxed-constexpr
#include "check.h"

__global__ void plain(float *v) { v[threadIdx.x] *= 2; }
__global__ void __launch_bounds__(256, 4) bounded(float *v) { v[threadIdx.x] *= 3; }
__global__ void heavy(float *v) {
  __shared__ float tile[8192];
  tile[threadIdx.x] = v[threadIdx.x];
  __syncthreads();
  v[threadIdx.x] = tile[(threadIdx.x + 1) % blockDim.x];
}
__global__ void dynamic(float *v) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = v[threadIdx.x];
  __syncthreads();
  v[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

int main() {
  int n, grid, block;
  size_t bytes;
  cudaFuncAttributes a;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, plain, 1024, 0));
  CHECK(n == 2);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, plain, 32, 0));
  CHECK(n == 32);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, heavy, 64, 0, cudaOccupancyDefault));
  printf("%d CTAs of 32 KB\n", n);
  OK(cudaFuncGetAttributes(&a, bounded));
  CHECK(a.maxThreadsPerBlock == 256 && a.sharedSizeBytes == 0);
  OK(cudaFuncGetAttributes(&a, heavy));
  CHECK(a.sharedSizeBytes == 32768 && a.numRegs > 0 && a.ptxVersion > 0 && a.binaryVersion > 0);
  OK(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  OK(cudaFuncSetAttribute(dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
  OK(cudaFuncSetCacheConfig(dynamic, cudaFuncCachePreferShared));
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, dynamic, 128, 100 << 10));
  CHECK(n == 2);
  OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, dynamic, 0, 512));
  CHECK(block == 512 && grid >= 132);
  OK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, dynamic,
                                                    [](int threads) { return size_t(threads) * 64; }, 1024));
  CHECK(block >= 32 && block <= 1024 && grid >= 132);
  OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, dynamic, 2, 256));
  printf("%zu bytes for each of two\n", bytes);
  float *d, h[256];
  for (int i = 0; i < 256; i++) h[i] = float(i);
  OK(cudaMalloc(&d, sizeof h));
  OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
  plain<<<1, 256>>>(d);
  bounded<<<1, 256>>>(d);
  heavy<<<1, 256>>>(d);
  dynamic<<<1, 256, 100 << 10>>>(d);
  OK(cudaGetLastError());
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 256; i++) CHECK(h[i] == 6 * float((256 - i) % 256));
  OK(cudaFree(d));
  puts("occupancy: ok");
}
