// Prefetches: the cycles that they keep a warp and an SM, beside loads that hit L1, and where a load finds
// its line after one.
//
//     nvcc -O3 -std=c++17 -arch=sm_90a -o fetches fetches.cu && ./fetches
#include "loads.cuh"
enum { F_NONE, F_L2, F_L1, FS };
static const char *const kinds[FS] = {"nothing", "prefetch.global.L2", "prefetch.global.L1"};
template <int F> __device__ __forceinline__ void fetch(const char *p) {
  if (F == F_L2) asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
  if (F == F_L1) asm volatile("prefetch.global.L1 [%0];" ::"l"(p));
}
// Rounds of 4 fetches and, if loads, 4 loads that hit L1.
template <int F, bool LOADS>
__global__ void fetches(const char *base, u32 span, u32 lane_step, u32 rounds, u64 *cycles, u32 *out) {
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, access = lane_step ? lane_step * 32 : 128;
  base += (u64)blockIdx.x * (1 << 20);
  u32 at = warp * access * 8 % span, sum = 0;
  const char *hot = base + (1 << 19) + threadIdx.x * 4;
  __syncthreads();
  const u64 begin = clock64();
#pragma unroll 1
  for (u32 r = 0; r < rounds; r++) {
    u32 v[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      fetch<F>(base + at + lane * lane_step);
      at += access;
      if (at >= span) at -= span;
    }
    if (LOADS) {
#pragma unroll
      for (int i = 0; i < 4; i++) v[i] = load<PLAIN>(hot + i * 4096, 0);
#pragma unroll
      for (int i = 0; i < 4; i++) sum += v[i];
    }
  }
  __syncthreads();
  const u64 end = clock64();
  if (!threadIdx.x && !blockIdx.x) *cycles = end - begin;
  if (sum == 0x5eed5eed) *out = sum;
}
static char *base_d;
static u64 *cycles_d;
static u32 *out_d;
template <int F, bool LOADS> static double one(u32 ctas, u32 warps, u32 span, u32 step, u32 rounds) {
  u64 cycles;
  for (int i = 0; i < 3; i++) {
    fetches<F, LOADS><<<ctas, warps * 32>>>(base_d, span, step, rounds, cycles_d, out_d);
    CK(cudaMemcpy(&cycles, cycles_d, sizeof cycles, cudaMemcpyDeviceToHost));
  }
  return (double)cycles / (rounds * warps);
}
template <int F> static void report() {
  for (u32 ctas : {1, 132})
    for (u32 span : {32 << 10, 512 << 10})
      for (u32 step : {0, 4, 32, 128}) {
        printf("%s of 32 lanes %u bytes apart within %u KB, %u SMs, cycles of four:", kinds[F], step,
               span >> 10, ctas);
        for (u32 warps : {1, 8, 32})
          printf(" %u warps %.1f, with 4 loads that hit %.1f;", warps,
                 one<F, false>(ctas, warps, span, step, 64), one<F, true>(ctas, warps, span, step, 64));
        printf("\n");
        fflush(stdout);
      }
}
// A thread's fetch, then at once or after a wait a load of the same line: what does the load take?
template <int F> __global__ void then_load(const char *base, u32 wait, u64 *cycles, u32 *out) {
  u32 sum = 0;
  u64 all = 0, own = 0;
  for (u32 r = 0; r < 64; r++) {
    const char *p = base + r * 1024 + threadIdx.x * 4;
    u64 t0 = clock64();
    fetch<F>(p);
    u64 t1 = clock64();
    while (clock64() - t1 < wait) {
    }
    u64 t2 = clock64();
    u32 v = load<PLAIN>(p, 0);
    sum += v;
    asm volatile("" ::"r"(sum));
    if (sum == 0x5eed5eed) *out = sum;
    u64 t3 = clock64();
    all += t3 - t2, own += t1 - t0;
  }
  if (!threadIdx.x) cycles[0] = all / 64, cycles[1] = own / 64;
}
template <int F> static void then() {
  printf("%s, then a load of the same line:", kinds[F]);
  for (u32 wait : {0, 100, 300, 1000, 2000}) {
    u64 c[2];
    CK(cudaMemset(base_d, 0, 160 << 20)); // the lines leave L2
    then_load<F><<<1, 32>>>(base_d, wait, cycles_d, out_d);
    CK(cudaMemcpy(c, cycles_d, sizeof c, cudaMemcpyDeviceToHost));
    then_load<F><<<1, 32>>>(base_d, wait, cycles_d, out_d);
    u64 d[2];
    CK(cudaMemcpy(d, cycles_d, sizeof d, cudaMemcpyDeviceToHost));
    printf(" after %u: %llu (from L2 %llu);", wait, c[0], d[0]);
  }
  printf("\n");
  fflush(stdout);
}
int main() {
  CK(cudaMalloc(&base_d, 160 << 20));
  CK(cudaMalloc(&cycles_d, 64));
  CK(cudaMalloc(&out_d, 4));
  CK(cudaMemset(base_d, 0, 160 << 20));
  then<F_NONE>();
  then<F_L2>();
  then<F_L1>();
  report<F_L2>();
  report<F_L1>();
}
