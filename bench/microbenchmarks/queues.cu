// Waits on an H100: loads in one SM's L1, loads of many lines, rows of launches. Prints a row for each.
//
//     nvcc -O3 -arch=sm_90a -o queues queues.cu && ./queues
#include <algorithm>
#include <time.h>
#include <vector>

#include "check.cuh"

typedef unsigned long long u64;
typedef unsigned u32;
static char *buf, *flush_d;
static u64 *clocks_d;
static u32 *sink;
static u64 clocks_h[1 << 16];
static void flush() { CK(cudaMemsetAsync(flush_d, 0, 128u << 20)); }
__device__ __forceinline__ u32 ldg(const char *p) {
  u32 a;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(a) : "l"(p));
  return a;
}

// Every warp makes K loads at once, `rounds` times; the CTA meets in between. Load k of warp w in round r
// goes to base + r * step + w * wstep + k * KS; all lanes of a word (LANE 0) or coalesced (LANE 4) or a line
// each (LANE 128).
template <int K, int KS>
__global__ void waiting(const char *base, u32 rounds, u64 step, u32 wstep, u32 lane_step, u64 *clocks,
                        u32 *out) {
  u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, sum = 0;
  const char *p = base + (u64)blockIdx.x * rounds * step + (u64)warp * wstep + lane * lane_step;
  u64 t0 = 0, t1 = 0;
  __syncthreads();
  t0 = clock64();
  for (u32 r = 0; r < rounds; r++, p += step) {
    u32 v[K];
#pragma unroll
    for (int k = 0; k < K; k++) v[k] = ldg(p + k * KS);
#pragma unroll
    for (int k = 0; k < K; k++) sum ^= v[k];
    asm volatile("" : "+r"(sum));
    if (sum == 0x5eed5eed) *out = sum;
    __syncthreads();
  }
  t1 = clock64();
  if (!threadIdx.x) {
    clocks[2 * blockIdx.x] = t0;
    clocks[2 * blockIdx.x + 1] = t1;
  }
}
template <int K, int KS>
static void run_waiting(const char *what, int warps, u64 step, u32 wstep, u32 lane_step, bool dram,
                        int ctas = 1) {
  u32 rounds = 64;
  double best = 1e30;
  for (int i = 0; i < 4; i++) {
    if (dram) flush();
    waiting<K, KS><<<ctas, warps * 32>>>(buf + (1 << 20), rounds, step, wstep, lane_step, clocks_d, sink);
    CK(cudaGetLastError());
    CK(cudaMemcpy(clocks_h, clocks_d, 16 * ctas, cudaMemcpyDeviceToHost));
    double t = 0;
    for (int c = 0; c < ctas; c++) t += (double)(clocks_h[2 * c + 1] - clocks_h[2 * c]) / ctas;
    if (i) best = std::min(best, t);
  }
  printf("waiting %s, %s, %d warps, %d at once, %d CTAs: %.1f cycles a round, %d loads\n", what,
         dram ? "DRAM" : "L2", warps, K, ctas, best / rounds, K * warps);
}
// Latency of a warp's load of 32 / per lines
__global__ void gather(const char *base, u32 per, u32 n, u64 mask, u64 *clocks) {
  __shared__ volatile u32 s[32];
  u32 lane = threadIdx.x & 31, v = 0;
  for (u32 i = 0; i < n; i++) {
    u64 line = (u64)((i * 32u + lane / per) * 0x9E3779B1u);
    const char *p = base + ((line * 128) & mask);
    u64 t0 = clock64();
    v = ldg(p);
    s[lane] = v;
    u64 t1 = clock64();
    if (lane == 0) clocks[i] = t1 - t0;
    __syncwarp();
  }
}
static void run_gather(u32 per, int where, u64 span) { // 0 L2, 1 DRAM
  u32 n = 512;
  std::vector<u64> all;
  u64 mask = span - 1;
  for (int r = 0; r < 4; r++) {
    if (where)
      flush();
    else if (!r) {
      flush();
      gather<<<1, 32>>>(buf, per, n, mask, clocks_d);
    }
    gather<<<1, 32>>>(buf, per, n, mask, clocks_d);
    CK(cudaMemcpy(clocks_h, clocks_d, n * 8, cudaMemcpyDeviceToHost));
    if (r)
      for (u32 i = 0; i < n; i++) all.push_back(clocks_h[i]);
  }
  std::sort(all.begin(), all.end());
  size_t k = all.size();
  double sum = 0;
  for (u64 x : all) sum += x;
  printf("a warp's load of %u lines from %s within %llu MB: mean %.0f, 1%% %llu 10%% %llu 25%% %llu 50%% "
         "%llu 75%% %llu 90%% %llu 99%% %llu max %llu\n",
         32 / per, where ? "DRAM" : "L2", span >> 20, sum / k, all[k / 100], all[k / 10], all[k / 4],
         all[k / 2], all[3 * k / 4], all[9 * k / 10], all[99 * k / 100], all[k - 1]);
}
// Rate of requests of one SM: 16-byte, 8-byte, 4-byte lanes, no arithmetic between: addresses by immediate
// offsets
template <int K> __global__ void stream(const char *base, u32 rounds, u64 step, u64 *clocks, u32 *out) {
  u32 warp = threadIdx.x >> 5, lane = threadIdx.x & 31, sum = 0;
  const char *p = base + (u64)blockIdx.x * rounds * step + (u64)warp * K * 128 + lane * 4;
  __syncthreads();
  u64 t0 = clock64();
  for (u32 r = 0; r < rounds; r++, p += step) {
    u32 v[K];
#pragma unroll
    for (int k = 0; k < K; k++) v[k] = ldg(p + k * 128);
#pragma unroll
    for (int k = 0; k < K; k++) sum ^= v[k];
  }
  u64 t1 = clock64();
  if (sum == 0x5eed5eed) *out = sum;
  __syncthreads();
  u64 t2 = clock64();
  if (!threadIdx.x) {
    clocks[2 * blockIdx.x] = t0;
    clocks[2 * blockIdx.x + 1] = t2;
  }
  (void)t1;
}
template <int K> static void run_stream(int warps, int ctas, bool dram) {
  u32 rounds = 32;
  double best = 1e30;
  u64 step = (u64)warps * K * 128;
  for (int i = 0; i < 4; i++) {
    if (dram) flush();
    stream<K><<<ctas, warps * 32>>>(buf, rounds, step, clocks_d, sink);
    CK(cudaGetLastError());
    CK(cudaMemcpy(clocks_h, clocks_d, 16 * ctas, cudaMemcpyDeviceToHost));
    double t = 0;
    for (int c = 0; c < ctas; c++) t += (double)(clocks_h[2 * c + 1] - clocks_h[2 * c]) / ctas;
    if (i) best = std::min(best, t);
  }
  printf("stream from %s, %d warps, %d at once, %d CTAs: %.3f cycles per load of 128 bytes\n",
         dram ? "DRAM" : "L2", warps, K, ctas, best / ((double)rounds * K * warps));
}
__global__ void __launch_bounds__(1024) readv(const uint4 *in, u64 n, u32 *out) {
  u32 s = 0;
  for (u64 i = blockIdx.x * 1024u + threadIdx.x; i < n; i += 4 * 132 * 2 * 1024) {
    uint4 v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      u64 j = i + (u64)k * 132 * 2 * 1024;
      v[k] = j < n ? __ldcg(in + j) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) s ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  }
  if (s == 0x5eed5eed) *out = s;
}
__global__ void empty6(const float *a, float *b, int c, int d, int e, int f) {}
__global__ void touch6(const float *a, float *b, int c, int d, int e, int f) {
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if ((int)i < c) b[i] = a[i];
}
__global__ void delay(u64 ns) {
  u64 a, b;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(a));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(b));
  while (b - a < ns);
}
static cudaEvent_t e0, e1;
template <class F> static double timed(F f, u64 ns, int reps = 5) {
  std::vector<double> all;
  for (int r = 0; r < reps + 1; r++) {
    flush();
    delay<<<1, 1>>>(ns);
    CK(cudaEventRecord(e0));
    f();
    CK(cudaGetLastError());
    CK(cudaEventRecord(e1));
    CK(cudaEventSynchronize(e1));
    float ms;
    CK(cudaEventElapsedTime(&ms, e0, e1));
    if (r) all.push_back(1000.0 * ms);
  }
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}
int main() {
  CK(cudaMalloc(&buf, 1u << 30));
  CK(cudaMemset(buf, 0, 1u << 30));
  CK(cudaMalloc(&clocks_d, 1 << 20));
  CK(cudaMalloc(&sink, 1 << 20));
  CK(cudaMalloc(&flush_d, 128 << 20));
  CK(cudaEventCreate(&e0));
  CK(cudaEventCreate(&e1));
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (bool dram : {false, true}) {
    // all warps the same word
    run_waiting<1, 4>("on one word", 1, 4096, 0, 0, dram);
    run_waiting<8, 4>("on one sector", 1, 4096, 0, 0, dram);
    run_waiting<1, 4>("on one word", 32, 4096, 0, 0, dram);
    run_waiting<4, 4>("on one sector", 32, 4096, 0, 0, dram);
    run_waiting<8, 4>("on one sector", 8, 4096, 0, 0, dram);
    run_waiting<8, 4>("on one sector", 16, 4096, 0, 0, dram);
    run_waiting<8, 4>("on one sector", 32, 4096, 0, 0, dram);
    run_waiting<16, 4>("on two sectors", 4, 4096, 0, 0, dram);
    run_waiting<16, 4>("on two sectors", 8, 4096, 0, 0, dram);
    run_waiting<16, 4>("on two sectors", 16, 4096, 0, 0, dram);
    run_waiting<16, 4>("on two sectors", 24, 4096, 0, 0, dram);
    run_waiting<16, 4>("on two sectors", 32, 4096, 0, 0, dram);
    // each warp a line of its own, 16 words of it
    run_waiting<16, 4>("on a line a warp", 32, 4096, 128, 0, dram);
    run_waiting<8, 4>("on a line a warp", 32, 4096, 128, 0, dram);
    run_waiting<4, 4>("on a line a warp", 32, 4096, 128, 0, dram);
    run_waiting<1, 4>("on a line a warp", 32, 4096, 128, 0, dram);
    // coalesced: lines shared by all warps
    run_waiting<1, 128>("on a line", 32, 8192, 0, 4, dram);
    run_waiting<4, 128>("on 4 lines", 32, 8192, 0, 4, dram);
    run_waiting<8, 128>("on 8 lines", 32, 8192, 0, 4, dram);
    run_waiting<16, 128>("on 16 lines", 32, 8192, 0, 4, dram);
    run_waiting<16, 128>("on 16 lines", 8, 8192, 0, 4, dram);
    // each warp its own lines
    run_waiting<1, 128>("on own lines", 32, 65536, 2048, 4, dram);
    run_waiting<4, 128>("on own lines", 32, 65536, 2048, 4, dram);
    run_waiting<8, 128>("on own lines", 32, 65536, 2048, 4, dram);
    run_waiting<16, 128>("on own lines", 32, 65536, 2048, 4, dram);
    run_waiting<16, 128>("on own lines", 16, 65536, 2048, 4, dram);
    run_waiting<16, 128>("on own lines", 8, 65536, 2048, 4, dram);
    run_waiting<16, 4>("on two sectors", 32, 4096, 0, 0, dram, 132);
    run_waiting<16, 128>("on 16 lines", 32, 8192, 0, 4, dram, 132);
    run_waiting<8, 128>("on own lines", 32, 65536, 2048, 4, dram, 132);
    // 32 lines a load
    run_waiting<1, 32>("on 32 lines each", 8, 131072, 4096, 128, dram);
    run_waiting<4, 32>("on 32 lines each", 8, 131072, 4096, 128, dram);
    run_waiting<4, 32>("on 32 lines each", 32, 131072, 4096, 128, dram);
    run_waiting<4, 4>("on 32 lines each, same sectors", 32, 131072, 4096, 128, dram);
    run_waiting<4, 4>("on 32 lines each, same sectors", 8, 131072, 4096, 128, dram);
    for (int w : {1, 4, 8, 16, 32}) {
      run_stream<4>(w, 1, dram);
      run_stream<8>(w, 1, dram);
    }
    run_stream<8>(8, 16, dram);
    run_stream<4>(8, 132, dram);
    run_stream<8>(8, 132, dram);
    run_stream<8>(32, 132, dram);
    for (u32 per : {32u, 8u, 2u, 1u}) run_gather(per, dram, dram ? 512ull << 20 : 4ull << 20);
    run_gather(32, dram, 32ull << 20);
    run_gather(1, dram, 32ull << 20);
  }
  for (int mb : {2, 4, 8, 16, 32, 48, 64, 96, 128, 256}) {
    double t[3];
    for (int how = 0; how < 3; how++) {
      std::vector<double> all;
      for (int r = 0; r < 8; r++) {
        flush();
        if (how == 1) readv<<<264, 1024>>>((uint4 *)(buf + (512 << 20)), (256u << 20) / 16, sink);
        if (how == 2) {
          CK(cudaDeviceSynchronize());
          struct timespec w = {0, 5000000};
          nanosleep(&w, NULL);
        }
        delay<<<1, 1>>>(30000);
        CK(cudaEventRecord(e0));
        readv<<<264, 1024>>>((uint4 *)buf, ((u64)mb << 20) / 16, sink);
        CK(cudaEventRecord(e1));
        CK(cudaEventSynchronize(e1));
        float ms;
        CK(cudaEventElapsedTime(&ms, e0, e1));
        if (r) all.push_back(1000.0 * ms);
      }
      std::sort(all.begin(), all.end());
      t[how] = all[all.size() / 2];
    }
    printf("reading %d MB: %.2f us after a memset, %.2f us after reads, %.2f us 5 ms after a memset\n", mb,
           t[0], t[1], t[2]);
  }
  for (u64 ns : {30000ull, 3000000ull})
    for (int n : {1, 2, 5, 20, 100, 300}) {
      printf("%d x empty6, 1 CTA, after a delay of %llu us: %.2f us\n", n, ns / 1000,
             timed(
                 [&] {
                   for (int i = 0; i < n; i++) empty6<<<1, 32>>>((float *)buf, (float *)buf, 0, 0, 0, i);
                 },
                 ns));
      printf("%d x empty6, 256 CTAs of 256, after a delay of %llu us: %.2f us\n", n, ns / 1000,
             timed(
                 [&] {
                   for (int i = 0; i < n; i++) empty6<<<256, 256>>>((float *)buf, (float *)buf, 0, 0, 0, i);
                 },
                 ns));
      printf("%d x touch6, 256 CTAs of 256, after a delay of %llu us: %.2f us\n", n, ns / 1000,
             timed(
                 [&] {
                   for (int i = 0; i < n; i++)
                     touch6<<<256, 256>>>((float *)buf + i * 65536, (float *)buf + (64 << 20) + i * 65536,
                                          65536, 0, 0, i);
                 },
                 ns));
      printf("%d x touch6 the same again, 256 CTAs of 256, after a delay of %llu us: %.2f us\n", n, ns / 1000,
             timed(
                 [&] {
                   for (int i = 0; i < n; i++)
                     touch6<<<256, 256>>>((float *)buf, (float *)buf + (64 << 20), 65536, 0, 0, i);
                 },
                 ns));
    }
  return 0;
}
