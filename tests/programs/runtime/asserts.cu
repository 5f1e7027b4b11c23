// An assertion of the device that fails: its words, and a context that stays broken.
// check: none
#include "check.h"
#include <cassert>

__global__ void positive(const int *v) { assert(v[threadIdx.x] > 0); }

int main() {
  int h[4] = {1, 2, 3, 4}, *d;
  OK(cudaMalloc(&d, sizeof h));
  OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
  positive<<<1, 4>>>(d);
  OK(cudaDeviceSynchronize());
  h[2] = -3;
  OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
  positive<<<1, 4>>>(d);
  OK(cudaGetLastError());
  EXPECT(cudaDeviceSynchronize(), cudaErrorAssert);
  EXPECT(cudaGetLastError(), cudaErrorAssert);
  EXPECT(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost), cudaErrorAssert);
  printf("%s\n", cudaGetErrorString(cudaErrorAssert));
}
