// Matrix multiplication by tiles in shared memory, as a template; checked against the host.
#include "check.h"
#include <vector>

template <int TILE> __global__ void multiply(const float *a, const float *b, float *c, int n) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE + 1];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
  float sum = 0;
  for (int t = 0; t < (n + TILE - 1) / TILE; t++) {
    as[y][x] = row < n && t * TILE + x < n ? a[row * n + t * TILE + x] : 0;
    bs[y][x] = column < n && t * TILE + y < n ? b[(t * TILE + y) * n + column] : 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; k++) sum += as[y][k] * bs[k][x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

template <int TILE> static void run(int n) {
  std::vector<float> a(n * n), b(n * n), c(n * n, -1);
  float *da, *db, *dc;
  const size_t bytes = a.size() * sizeof(float);
  for (int i = 0; i < n * n; i++) {
    a[i] = float(i % 7 - 3);
    b[i] = float(i % 5 - 2);
  }
  OK(cudaMalloc(&da, bytes));
  OK(cudaMalloc(&db, bytes));
  OK(cudaMalloc(&dc, bytes));
  OK(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice));
  const dim3 grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE), block(TILE, TILE);
  multiply<TILE><<<grid, block>>>(da, db, dc, n);
  OK(cudaGetLastError());
  OK(cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost));
  double trace = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float want = 0;
      for (int k = 0; k < n; k++) want += a[i * n + k] * b[k * n + j];
      CHECK(c[i * n + j] == want);
      if (i == j) trace += want;
    }
  printf("%d x %d by tiles of %d: trace %.0f\n", n, n, TILE, trace);
  OK(cudaFree(da));
  OK(cudaFree(db));
  OK(cudaFree(dc));
}

int main() {
  run<16>(50);
  run<8>(33);
  run<32>(64);
}
