// Random numbers on the device, by the generators of curand's header; an estimate of pi.
#include "check.h"
#include <curand_kernel.h>

__global__ void begin(curandStatePhilox4_32_10_t *s, unsigned long long seed) {
  curand_init(seed, blockIdx.x * blockDim.x + threadIdx.x, 0, &s[blockIdx.x * blockDim.x + threadIdx.x]);
}
__global__ void throw_darts(curandStatePhilox4_32_10_t *s, int times, unsigned *hits) {
  curandStatePhilox4_32_10_t mine = s[blockIdx.x * blockDim.x + threadIdx.x];
  unsigned n = 0;
  for (int k = 0; k < times; k++) {
    float4 v = curand_uniform4(&mine);
    n += (v.x * v.x + v.y * v.y <= 1) + (v.z * v.z + v.w * v.w <= 1);
  }
  s[blockIdx.x * blockDim.x + threadIdx.x] = mine;
  atomicAdd(hits, n);
}
__global__ void normal(float *sums) {
  curandState s;
  curand_init(1234, threadIdx.x, 0, &s);
  float sum = 0, squares = 0;
  for (int k = 0; k < 20; k++) {
    float v = curand_normal(&s);
    sum += v;
    squares += v * v;
  }
  atomicAdd(&sums[0], sum);
  atomicAdd(&sums[1], squares);
}

int main() {
  const int ctas = 4, threads = 64, times = 25;
  curandStatePhilox4_32_10_t *s;
  unsigned *hits, got;
  float *sums, h[2];
  OK(cudaMalloc(&s, ctas * threads * sizeof *s));
  OK(cudaMalloc(&hits, sizeof *hits));
  OK(cudaMemset(hits, 0, sizeof *hits));
  begin<<<ctas, threads>>>(s, 42);
  throw_darts<<<ctas, threads>>>(s, times, hits);
  throw_darts<<<ctas, threads>>>(s, times, hits);
  OK(cudaMemcpy(&got, hits, sizeof got, cudaMemcpyDeviceToHost));
  const double pi = 4.0 * got / (4.0 * ctas * threads * times);
  OK(cudaMalloc(&sums, sizeof h));
  OK(cudaMemset(sums, 0, sizeof h));
  normal<<<1, 64>>>(sums);
  OK(cudaMemcpy(h, sums, sizeof h, cudaMemcpyDeviceToHost));
  printf("pi is %.2f, the mean %.1f, the variance %.1f\n", pi, fabs(h[0] / 1280), h[1] / 1280);
  OK(cudaFree(s));
  OK(cudaFree(hits));
  OK(cudaFree(sums));
}
