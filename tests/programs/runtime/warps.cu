// Operations that threads of a warp do together: votes, matches, shuffles of every kind, groups of active threads, reductions.
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void votes(unsigned *out) {
  unsigned lane = threadIdx.x;
  unsigned odd = __ballot_sync(~0u, lane & 1), any = __any_sync(~0u, lane == 40), all = __all_sync(~0u, lane < 32);
  unsigned same = __match_any_sync(~0u, lane / 8);
  int uniform;
  unsigned whole = __match_all_sync(~0u, 7, &uniform);
  out[lane] = odd ^ same ^ (any << 4) ^ (all << 3) ^ (uniform ? whole : 0);
}
__global__ void shuffles(int *out) {
  int lane = threadIdx.x, v = lane * 10;
  int a = __shfl_sync(~0u, v, 5), b = __shfl_xor_sync(~0u, v, 3), c = __shfl_up_sync(~0u, v, 2, 8),
      d = __shfl_down_sync(~0u, v, 1, 16), e = __shfl_sync(~0u, v, lane + 1, 4);
  out[lane] = a + 2 * b + 3 * c + 5 * d + 7 * e;
}
__global__ void compact(const int *in, int n, int *out, int *count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] % 3 == 0) {
    cg::coalesced_group g = cg::coalesced_threads();
    int at;
    if (g.thread_rank() == 0) at = atomicAdd(count, int(g.size()));
    out[g.shfl(at, 0) + g.thread_rank()] = in[i];
  }
}
__global__ void reduced(unsigned *out) {
  unsigned v = threadIdx.x + 1;
  if (threadIdx.x < 20) {
    unsigned m = __activemask();
    out[threadIdx.x] = __reduce_add_sync(m, v) * 1000 + __reduce_max_sync(m, v) + __reduce_xor_sync(m, v) * 0;
  }
  __syncwarp();
  if (threadIdx.x >= 20) out[threadIdx.x] = __popc(__ballot_sync(0xFFF00000u, v > 25));
}

int main() {
  unsigned *u;
  int *v, *in, *count;
  const int n = 1000;
  OK(cudaMallocManaged(&u, 32 * sizeof *u));
  OK(cudaMallocManaged(&v, n * sizeof *v));
  OK(cudaMallocManaged(&in, n * sizeof *in));
  OK(cudaMallocManaged(&count, sizeof *count));
  votes<<<1, 32>>>(u);
  OK(cudaDeviceSynchronize());
  for (unsigned i = 0; i < 32; i++)
    CHECK(u[i] == (0xAAAAAAAAu ^ (0xFFu << (i / 8 * 8)) ^ (1u << 3) ^ 0xFFFFFFFFu));
  shuffles<<<1, 32>>>(v);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; i++) {
    const int c = i % 8 < 2 ? i : i - 2, d = i % 16 == 15 ? i : i + 1, e = i / 4 * 4 + (i + 1) % 4;
    CHECK(v[i] == 10 * (5 + 2 * (i ^ 3) + 3 * c + 5 * d + 7 * e));
  }
  long long want = 0, sum = 0;
  int kept = 0;
  for (int i = 0; i < n; i++) {
    in[i] = i * 7 % 1009;
    if (in[i] % 3 == 0) {
      kept++;
      want += in[i];
    }
  }
  *count = 0;
  compact<<<4, 256>>>(in, n, v, count);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < *count; i++) sum += v[i];
  CHECK(*count == kept && sum == want);
  reduced<<<1, 32>>>(u);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 20; i++) CHECK(u[i] == 210020);
  for (int i = 20; i < 32; i++) CHECK(u[i] == 7);
  printf("%d of %d kept, their sum is %lld\n", kept, n, sum);
  for (void *p : {(void *)u, (void *)v, (void *)in, (void *)count}) OK(cudaFree(p));
}
