// Errors of the runtime: what is refused, the last error, a fault that stays until the device is reset.
// check: none
#include "check.h"

__global__ void store(int *p, int v) { *p = v; }
__global__ void __launch_bounds__(64) small(int *p) { p[threadIdx.x] = 1; }

int main() {
  int *p, n;
  CHECK(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
  CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
  EXPECT(cudaMalloc(&p, size_t(1) << 50), cudaErrorMemoryAllocation);
  CHECK(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaSuccess);
  EXPECT(cudaSetDevice(77), cudaErrorInvalidDevice);
  OK(cudaMalloc(&p, 1024));
  EXPECT(cudaMemcpy(p, &n, 2048, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT(cudaMemcpy(p, &n, 4, cudaMemcpyKind(9)), cudaErrorInvalidMemcpyDirection);
  EXPECT(cudaMemcpy2D(p, 4, &n, 4, 8, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT(cudaFree((char *)p + 8), cudaErrorInvalidValue);
  cudaGetLastError();
  store<<<0, 1>>>(p, 1);
  CHECK(cudaGetLastError() != cudaSuccess);
  store<<<1, dim3(1, 1, 65)>>>(p, 1);
  CHECK(cudaGetLastError() != cudaSuccess);
  small<<<1, 128>>>(p);
  CHECK(cudaGetLastError() != cudaSuccess);
  store<<<1, 1>>>(p, 42);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(&n, p, 4, cudaMemcpyDeviceToHost));
  CHECK(n == 42);
  store<<<1, 1>>>(nullptr, 1);
  OK(cudaGetLastError());
  EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT(cudaMalloc(&p, 4), cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  // A GPU may want another process.
  if (cudaDeviceReset() == cudaSuccess && cudaMalloc(&p, 4) == cudaSuccess) {
    store<<<1, 1>>>(p, 7);
    OK(cudaMemcpy(&n, p, 4, cudaMemcpyDeviceToHost));
    CHECK(n == 7);
  }
  puts("errors: ok");
}
