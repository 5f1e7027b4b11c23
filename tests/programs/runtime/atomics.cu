// Reductions and histograms: shuffles, votes, atomics in shared and global memory, cooperative groups of a CTA.
// check: init,race,streams
#include "check.h"
#include <cooperative_groups.h>
#include <vector>
namespace cg = cooperative_groups;

__global__ void histogram(const unsigned *in, int n, unsigned *out) {
  __shared__ unsigned local[64];
  if (threadIdx.x < 64) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[in[i] & 63], 1u);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], local[threadIdx.x]);
}

__global__ void reduce(const unsigned *in, int n, unsigned long long *sum, unsigned *most, unsigned *odd) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  unsigned long long s = 0;
  unsigned m = 0, o = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    s += in[i];
    m = max(m, in[i]);
    o += in[i] & 1;
  }
  for (int k = warp.size() / 2; k; k /= 2) {
    s += warp.shfl_down(s, k);
    m = max(m, warp.shfl_xor(m, k));
  }
  unsigned any = __ballot_sync(0xFFFFFFFFu, o != 0);
  if (warp.thread_rank() == 0) {
    atomicAdd(sum, s);
    atomicMax(most, m);
    if (any) atomicOr(odd, 1u);
  }
}

int main() {
  const int n = 30000;
  std::vector<unsigned> h(n);
  unsigned long long want = 0;
  unsigned want_most = 0, bins[64] = {}, got[64];
  for (int i = 0; i < n; i++) {
    h[i] = unsigned(i) * 2654435761u >> 8;
    want += h[i];
    want_most = h[i] > want_most ? h[i] : want_most;
    bins[h[i] & 63]++;
  }
  unsigned *in, *out, *most, *odd;
  unsigned long long *sum;
  OK(cudaMalloc(&in, n * sizeof *in));
  OK(cudaMalloc(&out, sizeof got));
  OK(cudaMallocManaged(&sum, sizeof *sum));
  OK(cudaMallocManaged(&most, sizeof *most));
  OK(cudaMallocManaged(&odd, sizeof *odd));
  *sum = *most = *odd = 0;
  OK(cudaMemset(out, 0, sizeof got));
  OK(cudaMemcpy(in, h.data(), n * sizeof *in, cudaMemcpyHostToDevice));
  histogram<<<12, 128>>>(in, n, out);
  reduce<<<12, 128>>>(in, n, sum, most, odd);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  CHECK(memcmp(got, bins, sizeof got) == 0);
  CHECK(*sum == want && *most == want_most && *odd == 1);
  puts("atomics: ok");
}
