// Threads of a warp exchange values from several places in the code: each waits until all that its mask names have
// executed an instruction of that kind.
#include "check.h"

enum { WARP = 32, ROW = 16 };

// Each half of the warp sums up a row of its own length. The half with the shorter row is at the last shuffle, behind
// the loop, while the other one is still at the shuffle inside.
__global__ void sums(const int *first, const int *values, int *out) {
  const int row = threadIdx.y, lane = threadIdx.x, n = first[row + 1] - first[row];
  int sum = 0, last = 0;
  for (int k = lane; k < (n + ROW - 1) / ROW * ROW; k += ROW) {
    last = __shfl_sync(~0u, sum, ROW - 1, ROW);
    sum = k < n ? values[first[row] + k] : 0;
    for (int j = 1; j < ROW; j *= 2) {
      const int v = __shfl_up_sync(0xFFFFu << ROW * row, sum, j, ROW);
      if (lane >= j) sum += v;
    }
    sum += last;
  }
  last = __shfl_sync(~0u, sum, ROW - 1, ROW);
  if (lane == 0) out[row] = last;
}

__device__ __noinline__ unsigned vote(int x) {
  unsigned votes;
  asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 10; vote.sync.ballot.b32 %0, p, -1; }" : "=r"(votes) : "r"(x));
  return votes;
}

// Two branches, each with instructions of its own and calls of its own.
__global__ void branches(unsigned *ballots, int *shuffled, unsigned *matches, unsigned *called) {
  const int lane = threadIdx.x;
  unsigned b, m;
  int s;
  if (lane & 1) {
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 10; vote.sync.ballot.b32 %0, p, -1; }" : "=r"(b) : "r"(lane));
    asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, -1;" : "=r"(s) : "r"(100 * lane));
    asm volatile("match.any.sync.b32 %0, %1, -1;" : "=r"(m) : "r"(lane % 4 / 2));
    called[lane] = vote(lane);
  } else {
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, 10; vote.sync.ballot.b32 %0, p, -1; }" : "=r"(b) : "r"(lane));
    asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, -1;" : "=r"(s) : "r"(lane));
    asm volatile("match.any.sync.b32 %0, %1, -1;" : "=r"(m) : "r"(lane / 2 % 2));
    called[lane] = vote(lane + 1);
  }
  ballots[lane] = b;
  shuffled[lane] = s;
  matches[lane] = m;
}

template <typename T> static T *managed(int n) {
  T *p;
  OK(cudaMallocManaged(&p, n * sizeof *p));
  return p;
}

int main() {
  int *first = managed<int>(3), *values = managed<int>(100), *out = managed<int>(2), *shuffled = managed<int>(WARP);
  unsigned *ballots = managed<unsigned>(WARP), *matches = managed<unsigned>(WARP), *called = managed<unsigned>(WARP);
  first[0] = 0, first[1] = 70, first[2] = 100;
  for (int k = 0; k < 100; k++) values[k] = k;
  sums<<<1, dim3(ROW, 2)>>>(first, values, out);
  OK(cudaDeviceSynchronize());
  CHECK(out[0] == 69 * 70 / 2 && out[1] == 99 * 100 / 2 - 69 * 70 / 2);

  branches<<<1, WARP>>>(ballots, shuffled, matches, called);
  OK(cudaDeviceSynchronize());
  for (int lane = 0; lane < WARP; lane++) {
    unsigned want = 0, same = 0, calls = 0;
    for (int k = 0; k < WARP; k++) {
      want |= unsigned(k & 1 ? k > 10 : k < 10) << k;
      same |= unsigned(k % 4 / 2 == lane % 4 / 2) << k;
      calls |= unsigned((k & 1 ? k : k + 1) > 10) << k;
    }
    CHECK(ballots[lane] == want && matches[lane] == same && called[lane] == calls);
    CHECK(shuffled[lane] == (lane & 1 ? lane - 1 : 100 * (lane + 1)));
  }
  OK(cudaFree(first));
  OK(cudaFree(values));
  OK(cudaFree(out));
  OK(cudaFree(shuffled));
  OK(cudaFree(ballots));
  OK(cudaFree(matches));
  OK(cudaFree(called));
  puts("exchanges: ok");
}
