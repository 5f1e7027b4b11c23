// Kernels that are templates and lambdas, structures by value, shared memory of a dynamic size above 48 KB.
// check: none
#include "check.h"

template <typename T, int N> struct pack {
  T v[N];
  char tail;
};

template <typename T, int N> __global__ void sum(pack<T, N> p, T *out) {
  T s = 0;
  for (int i = 0; i < N; i++) s += p.v[i];
  *out = s + p.tail;
}

template <typename F> __global__ void apply(int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}

__global__ void reverse(int *data, int n) {
  extern __shared__ int tile[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = data[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = tile[n - 1 - i];
}

int main() {
  double *d, h;
  OK(cudaMalloc(&d, sizeof *d));
  pack<double, 3> three = {{1.5, 2.5, 3}, 2};
  sum<<<1, 1>>>(three, d);
  OK(cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(h == 9);
  int *v, n = 20000;
  OK(cudaMallocManaged(&v, n * sizeof *v));
  int factor = 3;
  apply<<<(n + 255) / 256, 256>>>(n, [=] __device__(int i) { v[i] = factor * i; });
  OK(cudaGetLastError());
  EXPECT(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000), cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
  reverse<<<1, 128, n * sizeof *v>>>(v, n);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  OK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, n * sizeof *v));
  reverse<<<1, 128, n * sizeof *v>>>(v, n);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) CHECK(v[i] == 3 * (n - 1 - i));
  cudaFuncAttributes a;
  OK(cudaFuncGetAttributes(&a, reverse));
  CHECK(a.maxThreadsPerBlock == 1024 && a.maxDynamicSharedSizeBytes == 80000);
  int grid, block;
  OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, reverse, 0, 0));
  CHECK(block == 1024);
  OK(cudaFree(d));
  OK(cudaFree(v));
  puts("templates: ok");
}
