// An H100's units one by one: loads that hit L1, and constants by index. Prints a row for each.
//
//     nvcc -O3 -arch=sm_90a -o units units.cu && ./units
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#define CHECK_ALLOWS cudaErrorInvalidValue // the other measurements go on
#include "check.cuh"

typedef unsigned long long u64;
typedef unsigned u32;
static char *buf;
static size_t buf_bytes = 1u << 30;
static u64 *clocks_d, clocks_h[132 * 64 * 4 + 65536];
static u32 *sink;

// ---- L1 hits: one pattern, one width
template <int W> __device__ __forceinline__ u32 ld(const char *p);
template <> __device__ __forceinline__ u32 ld<4>(const char *p) {
  u32 a;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(a) : "l"(p));
  return a;
}
template <> __device__ __forceinline__ u32 ld<8>(const char *p) {
  u32 a, b;
  asm volatile("ld.global.v2.u32 {%0,%1}, [%2];" : "=r"(a), "=r"(b) : "l"(p));
  return a ^ b;
}
template <> __device__ __forceinline__ u32 ld<16>(const char *p) {
  u32 a, b, c, d;
  asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p));
  return a ^ b ^ c ^ d;
}
template <> __device__ __forceinline__ u32 ld<1>(const char *p) {
  u32 a;
  asm volatile("ld.global.u8 %0, [%1];" : "=r"(a) : "l"(p));
  return a;
}
// lane l reads at (l / per) * gap + (l % per) * step
template <int W, int AT>
__global__ void hits(char *base, u32 per, u32 gap, u32 step, u32 mask, u32 turns, u64 *clocks, u32 *out) {
  u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const char *p = base + (lane / per) * gap + (lane % per) * step;
  u32 sum = 0, at = 0;
  for (u32 i = 0; i < 16384; i += blockDim.x * 4) sum ^= ld<4>(base + (i + threadIdx.x * 4) % 16384);
  __syncthreads();
  u64 t0 = clock64();
  for (u32 i = 0; i < turns; i++) {
    const char *q = p + at;
    u32 v[AT];
#pragma unroll
    for (int k = 0; k < AT; k++) v[k] = ld<W>(q + k * 512);
#pragma unroll
    for (int k = 0; k < AT; k++) sum ^= v[k];
    at = (at + 256) & mask;
  }
  u64 t1 = clock64();
  if (sum == 0x5eed5eed) *out = sum;
  if (lane == 0) {
    u64 *c = clocks + (blockIdx.x * (blockDim.x >> 5) + warp) * 2;
    c[0] = t0;
    c[1] = t1;
  }
}
static double span(int ctas, int warps) { // mean over CTAs of (last - first)
  CK(cudaMemcpy(clocks_h, clocks_d, (size_t)ctas * warps * 16, cudaMemcpyDeviceToHost));
  double all = 0;
  for (int c = 0; c < ctas; c++) {
    u64 a = ~0ull, b = 0;
    for (int w = 0; w < warps; w++) {
      u64 *k = clocks_h + (c * warps + w) * 2;
      a = std::min(a, k[0]);
      b = std::max(b, k[1]);
    }
    all += b - a;
  }
  return all / ctas;
}
template <int W, int AT> static void run_hits(const char *name, u32 per, u32 gap, u32 step, int warps) {
  u32 turns = 256;
  double best = 1e30;
  for (int r = 0; r < 3; r++) {
    hits<W, AT><<<1, warps * 32>>>(buf, per, gap, step, 256, turns, clocks_d, sink);
    CK(cudaGetLastError());
    best = std::min(best, span(1, warps));
  }
  printf("l1.%s width %d, %d at once, %d warps: %.3f cycles per load\n", name, W, AT, warps,
         best / (turns * AT * (double)warps));
}

// ---- constants by index: lanes name so many words
__constant__ u32 table[4096];
template <int C> __global__ void constants(u32 words, u32 gap, u32 turns, u64 *clocks, u32 *out) {
  u32 lane = threadIdx.x & 31, at[C], sum = 0;
  for (int c = 0; c < C; c++) at[c] = lane % words * gap + c;
  for (int i = 0; i < 4096; i += 32) sum += table[i + lane];
  __syncthreads();
  u64 t0 = clock64();
  for (u32 i = 0; i < turns; i++) {
#pragma unroll
    for (int k = 0; k < 8; k++) {
#pragma unroll
      for (int c = 0; c < C; c++) at[c] = table[at[c]] + at[c];
    }
  }
  u64 t1 = clock64();
  for (int c = 0; c < C; c++) sum ^= at[c];
  if (sum == 0x5eed5eed) *out = sum;
  if (!lane) {
    u64 *q = clocks + (threadIdx.x >> 5) * 2;
    q[0] = t0;
    q[1] = t1;
  }
}
static void run_constants() {
  for (u32 gap : {1u, 64u})
    for (u32 words : {1u, 2u, 4u, 8u, 32u}) {
      double a = 1e30, b = 1e30;
      for (int r = 0; r < 3; r++) {
        constants<1><<<1, 32>>>(words, gap, 32, clocks_d, sink);
        a = std::min(a, span(1, 1));
        constants<4><<<1, 512>>>(words, gap, 32, clocks_d, sink);
        b = std::min(b, span(1, 16));
      }
      printf("constants, %u words %u apart: chain %.2f cycles, %.3f cycles of an SM each\n", words, gap,
             a / 256, b / (256.0 * 4 * 16));
    }
}
int main() {
  CK(cudaMalloc(&buf, buf_bytes));
  CK(cudaMemset(buf, 0, buf_bytes));
  CK(cudaMalloc(&clocks_d, sizeof clocks_h));
  CK(cudaMalloc(&sink, 16 << 20));
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int w : {1, 4, 8, 16, 32}) {
    run_hits<4, 8>("coalesced", 32, 0, 4, w);
    run_hits<4, 8>("same", 32, 0, 0, w);
  }
  run_hits<4, 1>("coalesced", 32, 0, 4, 32);
  run_hits<4, 4>("coalesced", 32, 0, 4, 32);
  run_hits<4, 8>("two lines", 16, 128, 4, 32);
  run_hits<4, 8>("four lines", 8, 128, 4, 32);
  run_hits<4, 8>("eight lines", 4, 128, 4, 32);
  run_hits<4, 8>("stride 8", 32, 0, 8, 32);
  run_hits<4, 8>("stride 16", 32, 0, 16, 32);
  run_hits<4, 8>("stride 128 (2 words)", 2, 128, 4, 16);
  run_hits<4, 8>("two words a line", 16, 64, 0, 32);
  run_hits<4, 8>("four sectors one word", 8, 32, 0, 32);
  run_hits<4, 8>("16 lanes same, 2 lines", 16, 128, 0, 32);
  run_hits<8, 8>("coalesced", 32, 0, 8, 32);
  run_hits<8, 8>("same", 32, 0, 0, 32);
  run_hits<8, 4>("two lines of 16 lanes", 16, 256, 8, 32);
  run_hits<8, 8>("four distinct", 8, 8, 0, 32);
  run_hits<16, 8>("coalesced", 32, 0, 16, 32);
  run_hits<16, 8>("same", 32, 0, 0, 32);
  run_hits<16, 8>("two distinct", 16, 16, 0, 32);
  run_hits<1, 8>("coalesced bytes", 32, 0, 1, 32);
  run_hits<1, 8>("same", 32, 0, 0, 32);
  run_constants();
}
