// Sums: by shared memory, by warp shuffles, by cooperative groups, by atomics of several types; and a scan.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <numeric>
#include <vector>
namespace cg = cooperative_groups;

__global__ void by_shared(const int *in, int n, int *out) {
  extern __shared__ int part[];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (!threadIdx.x) out[blockIdx.x] = part[0];
}

__global__ void by_shuffle(const int *in, int n, unsigned long long *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long v = i < n ? in[i] : 0;
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}

__global__ void by_groups(const int *in, int n, int *sum, int *most) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? in[i] : 0;
  int s = cg::reduce(tile, v, cg::plus<int>()), m = cg::reduce(tile, v, cg::greater<int>());
  if (tile.thread_rank() == 0) {
    atomicAdd(sum, s);
    atomicMax(most, m);
  }
}

__global__ void scan(int *v, int n) {
  __shared__ int warps[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, x = threadIdx.x < n ? v[threadIdx.x] : 0;
  for (int d = 1; d < 32; d *= 2) {
    int y = __shfl_up_sync(~0u, x, d);
    if (lane >= d) x += y;
  }
  if (lane == 31) warps[warp] = x;
  __syncthreads();
  if (!warp) {
    int w = lane < blockDim.x / 32 ? warps[lane] : 0;
    for (int d = 1; d < 32; d *= 2) {
      int y = __shfl_up_sync(~0u, w, d);
      if (lane >= d) w += y;
    }
    warps[lane] = w;
  }
  __syncthreads();
  if (warp) x += warps[warp - 1];
  if (threadIdx.x < n) v[threadIdx.x] = x;
}

int main() {
  const int n = 10000, ctas = 20;
  std::vector<int> h(n), parts(ctas);
  for (int i = 0; i < n; i++) h[i] = i * 37 % 1001;
  const int want = std::accumulate(h.begin(), h.end(), 0);
  int *d, *out;
  unsigned long long *wide, got;
  OK(cudaMalloc(&d, n * sizeof *d));
  OK(cudaMalloc(&out, ctas * sizeof *out));
  OK(cudaMalloc(&wide, sizeof *wide));
  OK(cudaMemcpy(d, h.data(), n * sizeof *d, cudaMemcpyHostToDevice));
  by_shared<<<ctas, 128, 128 * sizeof(int)>>>(d, n, out);
  OK(cudaMemcpy(parts.data(), out, ctas * sizeof *out, cudaMemcpyDeviceToHost));
  CHECK(std::accumulate(parts.begin(), parts.end(), 0) == want);
  OK(cudaMemset(wide, 0, sizeof *wide));
  by_shuffle<<<(n + 255) / 256, 256>>>(d, n, wide);
  OK(cudaMemcpy(&got, wide, sizeof got, cudaMemcpyDeviceToHost));
  CHECK(got == (unsigned long long)want);
  OK(cudaMemset(out, 0, 2 * sizeof *out));
  by_groups<<<(n + 127) / 128, 128>>>(d, n, out, out + 1);
  OK(cudaMemcpy(parts.data(), out, 2 * sizeof *out, cudaMemcpyDeviceToHost));
  CHECK(parts[0] == want && parts[1] == 1000);
  scan<<<1, 1024>>>(d, 1000);
  std::vector<int> sums(n);
  OK(cudaMemcpy(sums.data(), d, n * sizeof *d, cudaMemcpyDeviceToHost));
  for (int i = 0, s = 0; i < 1000; i++) CHECK(sums[i] == (s += h[i]));
  printf("sum %d, last of the scan %d\n", want, sums[999]);
  OK(cudaFree(d));
  OK(cudaFree(out));
  OK(cudaFree(wide));
}
