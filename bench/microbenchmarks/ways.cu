// Loads and stores of one SM, or of all: the cycles of a round of so many loads and so many stores of a warp,
// where loads hit L1 or miss it, by kind of load and by how far lanes lie apart.
//
//     nvcc -O3 -std=c++17 -arch=sm_90a -o ways ways.cu && ./ways
#include "loads.cuh"
// span: bytes that the loads of a CTA cover.
template <int HOW, int LOADS, int STORES>
__global__ void mix(const char *base, char *to, u32 span, u32 lane_step, u32 rounds, u64 *cycles, u32 *out) {
  const u64 policy = make_policy<HOW>();
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, access = lane_step * 32;
  base += (u64)blockIdx.x * (1 << 20);
  to += (u64)blockIdx.x * (1 << 20);
  u32 at = warp * access * 8 % span, st = warp * access * 8 % (1 << 19), sum = 0;
  __syncthreads();
  const u64 begin = clock64();
#pragma unroll 1
  for (u32 r = 0; r < rounds; r++) {
    u32 v[LOADS + 1];
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
      v[i] = load<HOW>(base + at + lane * lane_step, policy);
      at += access;
      if (at >= span) at -= span;
    }
#pragma unroll
    for (int i = 0; i < STORES; i++) {
      *(volatile u32 *)(to + st + lane * lane_step) = r;
      st = (st + access) & ((1 << 19) - 1);
    }
#pragma unroll
    for (int i = 0; i < LOADS; i++) sum += v[i];
  }
  __syncthreads();
  const u64 end = clock64();
  if (!threadIdx.x && !blockIdx.x) *cycles = end - begin;
  if (sum == 0x5eed5eed) *out = sum;
}
static char *base_d, *to_d;
static u64 *cycles_d;
static u32 *out_d;
template <int HOW, int LOADS, int STORES> static double one(u32 ctas, u32 warps, u32 span, u32 lane_step) {
  u64 cycles;
  const u32 rounds = 64;
  for (int i = 0; i < 3; i++) {
    mix<HOW, LOADS, STORES><<<ctas, warps * 32>>>(base_d, to_d, span, lane_step, rounds, cycles_d, out_d);
    CK(cudaMemcpy(&cycles, cycles_d, sizeof cycles, cudaMemcpyDeviceToHost));
  }
  return (double)cycles / (rounds * warps);
}
template <int HOW> static void report(const char *what, u32 span) {
  for (u32 ctas : {1, 132})
    for (u32 step : {4, 32, 128})
      for (u32 warps : {8, 32}) {
        printf("%s, %s, %u bytes from lane to lane, %u warps of %u SMs, cycles of a round:", names[HOW], what,
               step, warps, ctas);
        printf(" 4+0 %.1f", one<HOW, 4, 0>(ctas, warps, span, step));
        printf(" 0+4 %.1f", one<HOW, 0, 4>(ctas, warps, span, step));
        printf(" 4+4 %.1f", one<HOW, 4, 4>(ctas, warps, span, step));
        printf(" 4+1 %.1f", one<HOW, 4, 1>(ctas, warps, span, step));
        printf(" 1+4 %.1f", one<HOW, 1, 4>(ctas, warps, span, step));
        printf("\n");
        fflush(stdout);
      }
}
// All warps load the same lines at once.
template <int HOW> __global__ void same(const char *base, u32 rounds, u64 *cycles, u32 *out) {
  const u64 policy = make_policy<HOW>();
  u32 sum = 0, at = threadIdx.x % 32 * 4;
  __syncthreads();
  const u64 begin = clock64();
#pragma unroll 1
  for (u32 r = 0; r < rounds; r++) {
    u32 v[8];
#pragma unroll
    for (int i = 0; i < 8; i++) v[i] = load<HOW>(base + at + i * LINE, policy);
#pragma unroll
    for (int i = 0; i < 8; i++) sum += v[i];
    at += 8 * LINE;
    __syncthreads();
  }
  const u64 end = clock64();
  if (!threadIdx.x) *cycles = end - begin;
  if (sum == 0x5eed5eed) *out = sum;
}
template <int HOW> static void together() {
  printf("%s, all warps load the same eight lines, cycles of a round:", names[HOW]);
  for (u32 warps : {1, 2, 4, 8, 16, 32}) {
    u64 cycles;
    for (int i = 0; i < 2; i++) same<HOW><<<1, warps * 32>>>(base_d, 256, cycles_d, out_d);
    CK(cudaMemcpy(&cycles, cycles_d, sizeof cycles, cudaMemcpyDeviceToHost));
    printf(" %u warps %.0f", warps, (double)cycles / 256);
  }
  printf("\n");
  fflush(stdout);
}
int main() {
  CK(cudaMalloc(&base_d, 160 << 20));
  CK(cudaMalloc(&to_d, 160 << 20));
  CK(cudaMalloc(&cycles_d, 8));
  CK(cudaMalloc(&out_d, 4));
  CK(cudaMemset(base_d, 0, 160 << 20));
  together<PLAIN>();
  together<HINT>();
  together<NORMAL>();
  together<FIRST>();
  together<NONE>();
  together<NC>();
  together<CG>();
  report<PLAIN>("hits", 64 << 10);
  report<HINT>("hits", 64 << 10);
  report<PLAIN>("misses", 1 << 20);
  report<NONE>("misses", 64 << 10);
  report<CG>("misses", 64 << 10);
  report<HINT>("misses", 1 << 20);
}
