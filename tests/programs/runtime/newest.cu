// A program for several GPUs, with machine code for each and PTX for the newest alone.
// arch: -gencode arch=compute_90,code=sm_90 -gencode arch=compute_120,code=compute_120
#include "check.h"

__global__ void square(int *p, int n) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) p[k] = k * k;
}

int main() {
  enum { N = 200 };
  int *p, h[N];
  OK(cudaMalloc(&p, sizeof h));
  square<<<2, 128>>>(p, N);
  OK(cudaGetLastError());
  OK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
  for (int k = 0; k < N; k++) CHECK(h[k] == k * k);
  OK(cudaFree(p));
  puts("newest: ok");
}
