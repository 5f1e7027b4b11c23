// A program with a common mistake, for the README. A matrix lies in memory row by row; threadIdx.x counts its rows, so
// that the 32 threads of a warp read 32 rows, 32 lines of memory, for 32 numbers.
//   nvcc -arch=sm_80 -o columns columns.cu
// columns.ptx is the kernel alone: nvcc -ptx -arch=compute_80 columns.cu
#include <cstdio>
#include <vector>

__global__ void scale(const float *in, float *out, float factor, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  out[row * n + column] = factor * in[row * n + column];
}

int main() {
  const int n = 4096, turns = 100;
  std::vector<float> host(size_t(n) * n, 1.0f);
  float *in, *out;
  cudaMalloc(&in, host.size() * sizeof(float));
  cudaMalloc(&out, host.size() * sizeof(float));
  cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  for (int i = 0; i < turns; i++) scale<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(in, out, 2.0f, n);
  cudaMemcpy(host.data(), out, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
  if (cudaGetLastError() != cudaSuccess) return 1;
  double sum = 0;
  for (float x : host) sum += x;
  printf("sum %.0f\n", sum);
}
