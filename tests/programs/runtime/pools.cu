// Memory in the order of streams: pools, their numbers, memory that one stream frees and another takes.
#include "check.h"

__global__ void fill(int *p, int n, int v) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] = v + i;
}

int main() {
  const int n = 10000;
  cudaStream_t s, t;
  cudaEvent_t freed;
  cudaMemPool_t pool, own;
  int *p, *q, h[4];
  OK(cudaStreamCreate(&s));
  OK(cudaStreamCreate(&t));
  OK(cudaEventCreate(&freed));
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long threshold = 1 << 20, used = 1, got = 0;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
  CHECK(got == threshold);
  OK(cudaMallocAsync(&p, n * sizeof *p, s));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  CHECK(used == n * sizeof *p);
  fill<<<1, 128, 0, s>>>(p, n, 5);
  OK(cudaMemcpyAsync(h, p + 100, sizeof h, cudaMemcpyDeviceToHost, s));
  OK(cudaFreeAsync(p, s));
  OK(cudaEventRecord(freed, s));
  OK(cudaStreamWaitEvent(t, freed, 0));
  OK(cudaMallocAsync(&q, n * sizeof *q, t));
  fill<<<1, 128, 0, t>>>(q, n, 7);
  OK(cudaFreeAsync(q, t));
  OK(cudaDeviceSynchronize());
  CHECK(h[0] == 105 && h[3] == 108);
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  CHECK(used == 0);
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  OK(cudaMemPoolCreate(&own, &props));
  OK(cudaMallocFromPoolAsync((void **)&p, 4096, own, s));
  OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemHigh, &used));
  CHECK(used == 4096);
  OK(cudaFree(p));
  OK(cudaMemPoolTrimTo(own, 0));
  OK(cudaMemPoolDestroy(own));
  puts("pools: ok");
}
