// Prefetches to L2 beside the arithmetic of their addresses: the cycles of an SM for each.
//
//     nvcc -O3 -std=c++17 -arch=sm_90a -o addresses addresses.cu && ./addresses
#include "check.cuh"
typedef unsigned u32;
typedef unsigned long long u64;
enum { OFFSETS, MOVES, MOVES_ONLY, WRAPS, WRAPS_LOADS, KINDS };
static const char *const kinds[KINDS] = {"fetches, same register, offsets",
                                         "fetches, the register moves on behind each",
                                         "the register moves on, no fetches",
                                         "fetches, addresses as in fetches.cu",
                                         "loads, addresses as in fetches.cu"};
__device__ __forceinline__ void fetch(const char *p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

template <int KIND>
__global__ void measure(const char *base, u32 span, u32 access, u32 turns, u64 *cycles, u32 *out) {
  const char *p = base + threadIdx.x % 32 * 4;
  u32 at = threadIdx.x / 32 * access * 8 % span, sum = 0;
  const char *q = p + at;
  __syncthreads();
  const u64 begin = clock64();
#pragma unroll 1
  for (u32 r = 0; r < turns; r++) {
#pragma unroll
    for (int i = 0; i < 32; i++) {
      if (KIND == OFFSETS) fetch(q + i * 128);
      if (KIND == MOVES) fetch(q);
      if (KIND == MOVES || KIND == MOVES_ONLY) asm volatile("add.s64 %0, %0, %1;" : "+l"(q) : "l"((u64)access));
      if (KIND == WRAPS) fetch(p + at);
      if (KIND == WRAPS_LOADS) {
        u32 v;
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p + at));
        sum += v;
      }
      if (KIND == WRAPS || KIND == WRAPS_LOADS) {
        at += access;
        if (at >= span) at -= span;
      }
    }
    if (KIND == MOVES || KIND == MOVES_ONLY) asm volatile("sub.s64 %0, %0, %1;" : "+l"(q) : "l"((u64)access * 32));
  }
  __syncthreads();
  const u64 end = clock64();
  if (sum == 0x5eed5eed || q == base + span) *out = sum;
  if (!threadIdx.x) *cycles = end - begin;
}
static char *base_d;
static u64 *cycles_d;
static u32 *out_d;
template <int KIND> static void report() {
  const u32 turns = 16;
  printf("%s, cycles of an SM each:", kinds[KIND]);
  for (u32 warps : {1, 2, 4, 8, 16, 32}) {
    u64 least = ~0ull, cycles;
    for (int i = 0; i < 5; i++) {
      measure<KIND><<<1, warps * 32>>>(base_d, 32 << 10, 128, turns, cycles_d, out_d);
      CK(cudaMemcpy(&cycles, cycles_d, sizeof cycles, cudaMemcpyDeviceToHost));
      if (cycles < least) least = cycles;
    }
    printf(" %u warps %.2f", warps, (double)least / (turns * 32 * warps));
  }
  printf("\n");
}
int main() {
  CK(cudaMalloc(&base_d, 1 << 20));
  CK(cudaMemset(base_d, 0, 1 << 20));
  CK(cudaMalloc(&cycles_d, 8));
  CK(cudaMalloc(&out_d, 4));
  report<OFFSETS>();
  report<MOVES>();
  report<MOVES_ONLY>();
  report<WRAPS>();
  report<WRAPS_LOADS>();
}
