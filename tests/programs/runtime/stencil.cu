// A stencil on pitched memory: rows copied in and out, two buffers in turn, until it converges.
#include "check.h"
#include <utility>
#include <vector>

__device__ int changed;

__global__ void step(const char *in, char *out, size_t pitch, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  auto at = [&](int i, int k) { return ((const int *)(in + k * pitch))[i]; };
  int v = at(x, y), most = v;
  if (x) most = max(most, at(x - 1, y));
  if (x + 1 < w) most = max(most, at(x + 1, y));
  if (y) most = max(most, at(x, y - 1));
  if (y + 1 < h) most = max(most, at(x, y + 1));
  if (most != v) atomicAdd(&changed, 1);
  ((int *)(out + y * pitch))[x] = most;
}

int main() {
  const int w = 77, h = 41;
  std::vector<int> grid(w * h);
  for (int i = 0; i < w * h; i++) grid[i] = i * 7919 % 10007;
  char *a, *b;
  size_t pitch, other;
  OK(cudaMallocPitch((void **)&a, &pitch, w * 4, h));
  OK(cudaMallocPitch((void **)&b, &other, w * 4, h));
  CHECK(pitch == other && pitch >= w * 4 && pitch % 32 == 0);
  OK(cudaMemcpy2D(a, pitch, grid.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  OK(cudaMemset2D(b, pitch, 0, w * 4, h));
  const dim3 block(16, 8), ctas((w + 15) / 16, (h + 7) / 8);
  int steps = 0, still = 1;
  while (still) {
    const int zero = 0;
    OK(cudaMemcpyToSymbol(changed, &zero, sizeof zero));
    step<<<ctas, block>>>(a, b, pitch, w, h);
    OK(cudaMemcpyFromSymbol(&still, changed, sizeof still));
    std::swap(a, b);
    CHECK(++steps < 200);
  }
  OK(cudaMemcpy2D(grid.data(), w * 4, a, pitch, w * 4, h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < w * h; i++) CHECK(grid[i] == grid[0]);
  printf("%d everywhere after %d steps\n", grid[0], steps);
  OK(cudaFree(a));
  OK(cudaFree(b));
}
