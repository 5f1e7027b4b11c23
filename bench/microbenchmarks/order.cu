// Do loads that hit L1 overtake loads that miss? Some warps of an SM wait for misses, others for hits: the
// cycles of each. And which SM gets which CTA of a launch that has room for all.
//
//     nvcc -O3 -std=c++17 -arch=sm_90a -o order order.cu && ./order
#include "loads.cuh"

enum { ROUNDS = 256 };
// The first `missing` warps load lines that L1 does not have, MISSES at once; the others load lines that it
// has, HITS at once. step: bytes from one missed line to the next.
template <int MISSES, int HITS>
__global__ void beside(const char *base, u32 missing, u32 span, u32 step, u64 *cycles, u32 *out) {
  const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  __shared__ volatile u32 done;
  u32 sum = 0, rounds = 0;
  const char *hot = base + (1 << 20) + warp * 1024 + lane * 4;
  for (int i = 0; i < HITS; i++) sum += load<PLAIN>(hot + i * 128, 0);
  if (!threadIdx.x) done = 0;
  __syncthreads();
  const u64 begin = clock64();
  if (warp < missing) {
    u32 at = warp * MISSES * step;
    for (; !done && rounds < 100000; rounds++) {
      u32 v[MISSES];
#pragma unroll
      for (int i = 0; i < MISSES; i++) {
        v[i] = load<CG>(base + (2 << 20) + at + lane * 4, 0);
        at += step;
        if (at >= span) at -= span;
      }
#pragma unroll
      for (int i = 0; i < MISSES; i++) sum += v[i];
      if (sum == 0x5eed5eed) *out = sum;
    }
  } else {
    for (; rounds < ROUNDS; rounds++) {
      u32 v[HITS];
#pragma unroll
      for (int i = 0; i < HITS; i++) v[i] = load<PLAIN>(hot + i * 128, 0);
#pragma unroll
      for (int i = 0; i < HITS; i++) sum += v[i];
      if (sum == 0x5eed5eed) *out = sum;
    }
    done = 1;
  }
  const u64 end = clock64();
  if (!lane) cycles[2 * warp] = end - begin, cycles[2 * warp + 1] = rounds;
  if (sum == 0x5eed5eed) *out = sum;
}
static char *base_d;
static u64 *cycles_d;
static u32 *out_d;
template <int MISSES, int HITS>
static void one(u32 missing, u32 hitting, u32 span, u32 step, const char *from) {
  u64 c[64] = {0};
  for (int i = 0; i < 2; i++) {
    beside<MISSES, HITS><<<1, (missing + hitting) * 32>>>(base_d, missing, span, step, cycles_d, out_d);
    CK(cudaMemcpy(c, cycles_d, sizeof c, cudaMemcpyDeviceToHost));
  }
  double hit = 0, miss = 0;
  for (u32 w = 0; w < missing + hitting; w++) {
    double each = (double)c[2 * w] / (double)c[2 * w + 1];
    if (w < missing)
      miss += each / missing;
    else
      hit += each / hitting;
  }
  printf(
      "%u warps with %d loads at once that miss (%s): %.0f cycles; %u warps with %d that hit: %.1f cycles\n",
      missing, MISSES, from, missing ? miss : 0.0, hitting, HITS, hit);
  fflush(stdout);
}
// CTAs note their SM, and stay until all have come.
__global__ void where(u32 *sm) {
  if (!threadIdx.x) sm[blockIdx.x] = sm_of_this();
  const u64 begin = clock64();
  while (clock64() - begin < 40000) {
  }
}
static void places(u32 ctas, u32 threads) {
  static u32 sm[8192];
  u32 *sm_d;
  CK(cudaMalloc(&sm_d, sizeof sm));
  for (int i = 0; i < 2; i++) {
    where<<<ctas, threads>>>(sm_d);
    CK(cudaMemcpy(sm, sm_d, sizeof sm, cudaMemcpyDeviceToHost));
  }
  printf("SMs of %u CTAs of %u threads:", ctas, threads);
  for (u32 i = 0; i < ctas; i++) printf(" %u", sm[i]);
  printf("\n");
}
int main() {
  CK(cudaMalloc(&base_d, 512 << 20));
  CK(cudaMalloc(&cycles_d, 4096));
  CK(cudaMalloc(&out_d, 4));
  CK(cudaMemset(base_d, 0, 512 << 20));
  for (int dram = 0; dram < 2; dram++) {
    const u32 span = dram ? 400u << 20 : 1u << 20, step = dram ? 8192 + 128 : 128;
    const char *from = dram ? "DRAM" : "L2";
    one<1, 1>(0, 1, span, step, from);
    one<1, 1>(1, 1, span, step, from);
    one<8, 1>(1, 1, span, step, from);
    one<8, 1>(4, 1, span, step, from);
    one<8, 1>(8, 1, span, step, from);
    one<8, 1>(16, 1, span, step, from);
    one<8, 8>(0, 8, span, step, from);
    one<1, 8>(1, 8, span, step, from);
    one<1, 8>(8, 8, span, step, from);
    one<8, 8>(8, 8, span, step, from);
    one<8, 8>(0, 16, span, step, from);
    one<8, 8>(1, 16, span, step, from);
    one<8, 8>(4, 16, span, step, from);
    one<8, 8>(16, 16, span, step, from);
  }
  places(1056, 256);
  return 0;
}
