// The cost of claims on an H100: atomics and loads of the queues' lines, by how many warps, and launches
// whose warps take their tasks from queues as those of bind=claim and bind=agents do. Prints a row for each.
//
//     nvcc -O3 -arch=sm_90a -o claims claims.cu && ./claims
#include <algorithm>
#include <vector>

#include "check.cuh"

typedef unsigned u32;
typedef unsigned long long u64;
enum { LINE = 128, WARP = 32, MOST_WARPS = 1 << 19 };
static u32 *queues_d, *counts_d;
static char *flush_d;

__device__ __forceinline__ u32 look(const u32 *p) {
  u32 v;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
__device__ __forceinline__ u32 take(u32 *p) {
  u32 v = 0;
  if ((threadIdx.x & 31) == 0) asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(v) : "l"(p));
  return __shfl_sync(~0u, v, 0);
}
__device__ __forceinline__ u32 *queue(u32 *queues, u32 i, u32 column) {
  return queues + i * (LINE / 4) + column;
}

// Every warp adds to one word `rounds` times. apart: of its SM's queue; else all warps share one line, a word
// for each column.
__global__ void adding(u32 *queues, u32 columns, bool apart, u32 rounds) {
  const u32 column = (threadIdx.x >> 5) % columns;
  for (u32 r = 0; r < rounds; r++) take(queue(queues, apart ? sm_of_this() : 0, column));
}
// Every warp looks at n queues `rounds` times, 32 at a time.
__global__ void looking(u32 *queues, u32 n, u32 rounds, u32 *out) {
  u32 sum = 0;
  for (u32 r = 0; r < rounds; r++)
    for (u32 k = threadIdx.x & 31; __any_sync(~0u, k < n); k += WARP) {
      const u32 i = (sm_of_this() + 1 + k) % n, v = k < n ? look(queue(queues, i, threadIdx.x >> 5)) : 0;
      sum += __popc(__ballot_sync(~0u, v == ~0u));
    }
  if (sum == 0x5eed) *out = sum;
}

// A warp's task from its SM's queue, or from the nearest that has one. quota: of every queue; searches: how
// often it looked through the others.
__device__ bool claim(u32 *queues, u32 n, u32 quota, u32 &at, u32 &searches) {
  const u32 column = threadIdx.x >> 5, lane = threadIdx.x & 31;
  while (take(queue(queues, at, column)) >= quota) {
    u32 found = ~0u;
    searches++;
    for (u32 far = lane + 1; found == ~0u && __any_sync(~0u, far < n); far += WARP) {
      const u32 i = (at + far) % n, seen = far < n ? look(queue(queues, i, column)) : ~0u;
      const u32 mask = __ballot_sync(~0u, seen < quota);
      if (mask) found = __shfl_sync(~0u, i, __ffs(mask) - 1);
    }
    if (found == ~0u) return false;
    at = found;
  }
  return true;
}
// The warp's lanes come from a claim apart, so that tasks of more than 0 cycles take up to twice their time.
__device__ void work(u32 cycles) {
  const u64 until = clock64() + cycles;
  while (clock64() < until) {
  }
}
// As bind=claim, without the clearing of queues.
__global__ void claiming(u32 *queues, u32 n, u32 quota, u32 cycles, u32 *counts) {
  u32 at = sm_of_this() % n, searches = 0;
  if (quota) claim(queues, n, quota, at, searches);
  work(cycles);
  if ((threadIdx.x & 31) == 0 && quota)
    counts[blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5)] = searches;
}
// As bind=agents that claim when the task before is done. leaves: each warp counts itself out.
__global__ void serving(u32 *queues, u32 n, u32 quota, u32 cycles, bool leaves, u32 *counts) {
  u32 at = sm_of_this() % n, searches = 0;
  while (claim(queues, n, quota, at, searches)) work(cycles);
  if (leaves) take(queues - LINE / 4 + (threadIdx.x >> 5));
  if ((threadIdx.x & 31) == 0) counts[blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5)] = searches;
}

template <class Launch> static double best_us(Launch launch) {
  cudaEvent_t a, b;
  float best = 1e30f, ms;
  CK(cudaEventCreate(&a));
  CK(cudaEventCreate(&b));
  for (int i = 0; i < 6; i++) {
    CK(cudaMemsetAsync(queues_d - LINE / 4, 0, 1 << 20));
    CK(cudaMemsetAsync(flush_d, 0, 64 << 20));
    CK(cudaEventRecord(a));
    launch();
    CK(cudaEventRecord(b));
    CK(cudaEventSynchronize(b));
    CK(cudaEventElapsedTime(&ms, a, b));
    if (i) best = std::min(best, ms);
  }
  CK(cudaEventDestroy(a));
  CK(cudaEventDestroy(b));
  return best * 1000;
}
static void print_searches(u32 warps) {
  std::vector<u32> c(warps);
  CK(cudaMemcpy(c.data(), counts_d, warps * sizeof(u32), cudaMemcpyDeviceToHost));
  u64 sum = 0, some = 0;
  u32 most = 0;
  for (u32 x : c) sum += x, some += x > 0, most = std::max(most, x);
  printf(", %.1f%% of warps search, %.2f times a warp, at most %u\n", 100.0 * some / warps,
         (double)sum / warps, most);
}

int main() {
  cudaDeviceProp p;
  CK(cudaGetDeviceProperties(&p, 0));
  const u32 n = p.multiProcessorCount;
  CK(cudaMalloc(&queues_d, 2 << 20));
  CK(cudaMalloc(&counts_d, MOST_WARPS * sizeof(u32)));
  CK(cudaMalloc(&flush_d, 64 << 20));
  queues_d += LINE / 4;
  // The difference of two runs is without the launch.
  for (u32 apart = 0; apart < 2; apart++)
    for (u32 columns : {1u, 8u})
      for (u32 warps : {1u, 8u, 64u})
        for (u32 ctas : {1u, n}) {
          const u32 threads = std::min(warps, 8u) * WARP, grid = ctas * ((warps + 7) / 8);
          const double few = best_us([&] { adding<<<grid, threads>>>(queues_d, columns, apart, 8); });
          const double more = best_us([&] { adding<<<grid, threads>>>(queues_d, columns, apart, 40); });
          printf("adding to %u words of %s, %u warps on %u SMs: %.2f ns a round, %.3f ns each\n", columns,
                 apart ? "each SM's line" : "one line", warps, ctas, (more - few) * 1000 / 32,
                 (more - few) * 1000 / 32 / warps / ctas);
        }
  for (u32 warps : {1u, 8u, 16u, 64u})
    for (u32 ctas : {1u, n}) {
      const u32 threads = std::min(warps, 8u) * WARP, grid = ctas * ((warps + 7) / 8);
      const double few = best_us([&] { looking<<<grid, threads>>>(queues_d, n, 2, counts_d); });
      const double more = best_us([&] { looking<<<grid, threads>>>(queues_d, n, 10, counts_d); });
      printf("looking at %u queues, %u warps on %u SMs: %.1f ns a round, %.3f ns each\n", n, warps, ctas,
             (more - few) * 1000 / 8, (more - few) * 1000 / 8 / warps / ctas);
    }
  for (u32 cycles : {0u, 500u, 2000u, 8000u})
    for (u32 ctas : {n, 2 * n, 8 * n, 32 * n, 128 * n}) {
      const double plain = best_us([&] { claiming<<<ctas, 256>>>(queues_d, n, 0, cycles, counts_d); });
      const double claims =
          best_us([&] { claiming<<<ctas, 256>>>(queues_d, n, ctas / n, cycles, counts_d); });
      printf("%u CTAs of 8 warps, %u cycles each: %.2f us; claiming %.2f us", ctas, cycles, plain, claims);
      print_searches(ctas * 8);
      for (u32 leaves = 0; leaves < 2; leaves++) {
        const double agents =
            best_us([&] { serving<<<8 * n, 256>>>(queues_d, n, ctas / n, cycles, leaves, counts_d); });
        printf("  8 agents an SM%s: %.2f us", leaves ? ", counted out" : "", agents);
        print_searches(64 * n);
      }
    }
  return 0;
}
