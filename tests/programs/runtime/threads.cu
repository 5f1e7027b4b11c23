// Host threads, each with a stream of its own; compiled for per-thread default streams.
// options: --default-stream per-thread
#include "check.h"
#include <thread>
#include <vector>

__global__ void fill(int *v, int n, int value) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) v[i] = v[i] * 3 + value;
}

static void work(int id, bool *ok) {
  const int n = 777;
  int *d;
  std::vector<int> h(n, id);
  if (cudaMalloc(&d, n * sizeof *d) != cudaSuccess) return;
  if (cudaMemcpyAsync(d, h.data(), n * sizeof *d, cudaMemcpyHostToDevice) != cudaSuccess) return;
  for (int k = 0; k < 5; k++) fill<<<1, 64>>>(d, n, id);
  if (cudaMemcpyAsync(h.data(), d, n * sizeof *d, cudaMemcpyDeviceToHost) != cudaSuccess) return;
  if (cudaStreamSynchronize(0) != cudaSuccess) return;
  int want = id;
  for (int k = 0; k < 5; k++) want = want * 3 + id;
  *ok = true;
  for (int i = 0; i < n; i++) *ok &= h[i] == want;
  cudaFree(d);
}

int main() {
  bool ok[8] = {}, alone = false;
  std::vector<std::thread> threads;
  work(9, &alone);
  CHECK(alone);
  for (int k = 0; k < 8; k++) threads.emplace_back(work, k + 1, &ok[k]);
  for (auto &t : threads) t.join();
  for (int k = 0; k < 8; k++) CHECK(ok[k]);
  int device;
  OK(cudaGetDevice(&device));
  CHECK(device == 0);
  puts("threads: ok");
}
