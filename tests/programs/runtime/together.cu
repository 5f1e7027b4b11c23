// Programs without a barrier that they need, which GPUs run right nearly always: warps that leave a barrier
// together read what it published before one of them overwrites it, and warps that start together load before
// one of them stores.
// check: init,leak
#include "check.h"

__device__ float block_sum(float v) {
  __shared__ float part[32];
  for (int k = 16; k; k /= 2) v += __shfl_xor_sync(~0u, v, k);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (int k = 16; k; k /= 2) v += __shfl_xor_sync(~0u, v, k);
    if (threadIdx.x == 0) part[0] = v;
  }
  __syncthreads();
  return part[0]; // the next call overwrites it
}

__global__ void sums(float *out, int rounds) {
  float s = 0;
  for (int k = 0; k < rounds; k++) s += block_sum(float(threadIdx.x + k));
  out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

// All rows of a CTA's threads do the same work on the same memory.
__global__ void repeated(float *x, const float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < n; k++) x[i] += a[k];
}

// A tile that is filled again with no barrier behind its last reader.
__global__ void shifted(const int *in, int *out, int rounds) {
  __shared__ int tile[256];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < rounds; k++) {
    tile[t] = in[k * 256 + t];
    __syncthreads();
    sum += tile[(t + 96) % 256];
  }
  out[t] = sum;
}

int main() {
  const int n = 256, rounds = 20;
  float *f, *a, hf[4 * n], ha[100];
  OK(cudaMalloc(&f, sizeof hf));
  OK(cudaMalloc(&a, sizeof ha));
  sums<<<4, n>>>(f, rounds);
  OK(cudaMemcpy(hf, f, sizeof hf, cudaMemcpyDeviceToHost));
  float want = 0;
  for (int k = 0; k < rounds; k++) want += float(n * (n - 1) / 2 + n * k);
  for (int i = 0; i < 4 * n; i++) CHECK(hf[i] == want);

  for (int k = 0; k < 100; k++) ha[k] = float(k);
  OK(cudaMemcpy(a, ha, sizeof ha, cudaMemcpyHostToDevice));
  OK(cudaMemset(f, 0, sizeof hf));
  repeated<<<4, dim3(32, 8)>>>(f, a, 100);
  OK(cudaMemcpy(hf, f, sizeof hf, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 128; i++) CHECK(hf[i] == 4950);

  int *in, *out, hin[rounds * n], hout[n];
  OK(cudaMalloc(&in, sizeof hin));
  OK(cudaMalloc(&out, sizeof hout));
  for (int i = 0; i < rounds * n; i++) hin[i] = i * 7 % 1001;
  OK(cudaMemcpy(in, hin, sizeof hin, cudaMemcpyHostToDevice));
  shifted<<<1, n>>>(in, out, rounds);
  OK(cudaMemcpy(hout, out, sizeof hout, cudaMemcpyDeviceToHost));
  for (int t = 0; t < n; t++) {
    int sum = 0;
    for (int k = 0; k < rounds; k++) sum += hin[k * n + (t + 96) % n];
    CHECK(hout[t] == sum);
  }
  OK(cudaFree(f));
  OK(cudaFree(a));
  OK(cudaFree(in));
  OK(cudaFree(out));
  puts("together: ok");
}
