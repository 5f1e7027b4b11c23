// The two halves of L2: whether a half keeps a copy of what the other one holds, how much fits where SMs share data or do
// not, and how fast L2 serves loads and bulk copies of it.
//
//     nvcc -O3 -std=c++17 -arch=sm_90a -o partitions partitions.cu && ./partitions
//     ncu --clock-control none --metrics dram__bytes_read.sum,lts__t_sectors_op_read.sum,\
//         lts__t_sectors_srcunit_ltcfabric.sum,lts__t_sectors_srcunit_tex.sum ./partitions traffic   # and `dirty`, with dram__bytes_write.sum
#include <algorithm>
#include <cstring>
#include <vector>

#include "loads.cuh"

static char *data_d, *other_d;
static u64 *out_d;
static const u64 mb = 1 << 20, data_bytes = 512 * mb;

// Others' data takes all of L2.
__global__ void overwrite(uint4 *p, u64 n, u32 v) {
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (u64)blockDim.x)
    p[i] = make_uint4(v, v, v, v);
}
static void flush() { overwrite<<<132, 1024>>>((uint4 *)other_d, 256 * mb / 16, 1); }

// ---- Latency: one SM after another ----

enum { BUCKET = 16, BUCKETS = 128 };
// On one SM: every line, one load after the other; the mean wait, and how many waited for so many cycles.
__global__ void visit(char *p, u32 lines, u32 sm, bool write, u64 *sum, u32 *histogram) {
  __shared__ volatile u32 seen;
  if (sm_of_this() != sm || threadIdx.x) return;
  u64 all = 0;
  u32 at = 0;
  for (u32 i = 0; i < lines; i++) {
    u32 v = 0;
    const long long begin = clock64();
    if (write)
      asm volatile("st.global.cg.u32 [%0], 0;" ::"l"(p + (u64)at * LINE) : "memory");
    else
      v = load<CG>(p + (u64)at * LINE, 0);
    seen = v; // waits for it
    const long long wait = clock64() - begin;
    all += wait;
    histogram[wait / BUCKET < BUCKETS ? wait / BUCKET : BUCKETS - 1]++;
    at = (u64)(i + 1 + seen) * 7919u % lines;
  }
  *sum = all;
}

struct visitor {
  u32 sm;
  bool write;
};
static u32 *histogram_d;
static double visit_by(u64 bytes, visitor v, bool say) {
  const u32 lines = bytes / LINE;
  u32 histogram[BUCKETS];
  u64 sum = 0;
  CK(cudaMemset(histogram_d, 0, sizeof histogram));
  visit<<<132, 32, 200 << 10>>>(data_d, lines, v.sm, v.write, out_d, histogram_d);
  CK(cudaMemcpy(&sum, out_d, sizeof sum, cudaMemcpyDeviceToHost));
  CK(cudaMemcpy(histogram, histogram_d, sizeof histogram, cudaMemcpyDeviceToHost));
  if (say) {
    printf("  SM %3u %s: %.1f cycles;", v.sm, v.write ? "writes" : "reads", sum / (double)lines);
    for (int k = 0; k < BUCKETS; k++)
      if (histogram[k] * 50u > lines) printf(" %d:%.0f%%", BUCKET * k, 100.0 * histogram[k] / lines);
    printf("\n");
  }
  return sum / (double)lines;
}

static void latencies(u64 bytes, std::vector<visitor> who) {
  printf("%.1f MB:\n", bytes / (double)mb);
  flush();
  for (const visitor &v : who) visit_by(bytes, v, true);
}

// SMs in the half of SM 0 find what that has read; the others find a half of it in SM 0's, and the next time in their own.
static void halves() {
  printf("mean cycles of a load, after SM 0 has read the lines: SM, first, again\n");
  for (u32 sm = 1; sm < 132; sm++) {
    flush();
    visit_by(mb / 2, {0, false}, false);
    const double first = visit_by(mb / 2, {sm, false}, false), again = visit_by(mb / 2, {sm, false}, false);
    printf("%u %.0f %.0f%s", sm, first, again, sm % 8 == 0 || sm == 131 ? "\n" : ", ");
  }
}

// ---- Shares: how long each SM takes where all read as much ----

__global__ void __launch_bounds__(1024) timed_reads(const char *base, u64 each, u32 times, u64 *cycles, u64 *out) {
  const char *p = base + blockIdx.x * each;
  u32 sum = 0;
  __syncthreads();
  const long long begin = clock64();
  for (u32 t = 0; t < times; t++)
#pragma unroll 4
    for (u64 at = threadIdx.x * 16; at < each; at += blockDim.x * 16) {
      uint4 v;
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p + at));
      sum += v.x ^ v.y ^ v.z ^ v.w;
    }
  if (sum == 0x5eed5eed) *out = sum;
  __syncthreads();
  if (!threadIdx.x) cycles[sm_of_this()] = clock64() - begin;
}

static void shares(const char *name, u64 total, u32 times) {
  u64 *cycles_d, cycles[132];
  const u64 each = total / 132 / 16384 * 16384;
  CK(cudaMalloc(&cycles_d, sizeof cycles));
  flush();
  timed_reads<<<132, 1024>>>(data_d, each, times, cycles_d, out_d);
  CK(cudaMemcpy(cycles, cycles_d, sizeof cycles, cudaMemcpyDeviceToHost));
  CK(cudaFree(cycles_d));
  printf("%s, %.1f MB in all, %u times, thousands of cycles until SM 0, 1, ... has read its own:", name, each * 132 / (double)mb, times);
  for (int i = 0; i < 132; i++) printf(" %.1f", cycles[i] / 1e3);
  printf("\n");
}

// ---- Rates: all SMs ----

enum { STAGE = 8192, STAGES = 16, THREADS = 1024 };
// Each CTA reads `bytes` from `first` on, so many times over.
__global__ void __launch_bounds__(THREADS) by_loads(const char *base, u64 stride, u32 share, u64 bytes, u32 times, u64 *out) {
  const char *p = base + blockIdx.x / share * stride;
  u32 sum = 0;
  for (u32 t = 0; t < times; t++)
#pragma unroll 4
    for (u64 at = threadIdx.x * 16; at < bytes; at += THREADS * 16) {
      uint4 v;
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p + at));
      sum += v.x ^ v.y ^ v.z ^ v.w;
    }
  if (sum == 0x5eed5eed) *out = sum;
}

__device__ static void wait_for(u32 barrier, u32 phase) {
  u32 done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(barrier), "r"(phase)
                 : "memory");
}

__global__ void by_bulk(const char *base, u64 stride, u32 share, u64 bytes, u32 times, u64 *) {
  extern __shared__ __align__(128) char stages[];
  __shared__ u64 barriers[STAGES];
  if (threadIdx.x) return;
  const char *p = base + blockIdx.x / share * stride;
  const u32 to = (u32)__cvta_generic_to_shared(stages), bar = (u32)__cvta_generic_to_shared(barriers);
  for (u32 i = 0; i < STAGES; i++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar + 8 * i));
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  const u64 a_time = bytes / STAGE, n = a_time * times;
  for (u64 i = 0; i < n + STAGES; i++) {
    const u32 s = i % STAGES;
    if (i >= STAGES) wait_for(bar + 8 * s, (i / STAGES - 1) & 1);
    if (i >= n) continue;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar + 8 * s), "r"((u32)STAGE) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to + s * STAGE),
                 "l"(p + i % a_time * STAGE), "r"((u32)STAGE), "r"(bar + 8 * s)
                 : "memory");
  }
}

// All SMs read `total` bytes `times` times; `share` SMs side by side read the same part of it, 132: all of it.
static void rate(const char *name, bool bulk, u64 total, u32 share, u32 times, bool quiet) {
  const u64 parts = 132 / share, each = total / parts / STAGE * STAGE;
  std::vector<float> ms;
  cudaEvent_t a, b;
  CK(cudaEventCreate(&a));
  CK(cudaEventCreate(&b));
  for (int i = 0; i < (quiet ? 1 : 6); i++) {
    float t;
    flush();
    CK(cudaEventRecord(a));
    if (bulk)
      by_bulk<<<132, 32, STAGE * STAGES>>>(data_d, each, share, each, times, out_d);
    else
      by_loads<<<132, THREADS>>>(data_d, each, share, each, times, out_d);
    CK(cudaEventRecord(b));
    CK(cudaEventSynchronize(b));
    CK(cudaEventElapsedTime(&t, a, b));
    ms.push_back(t);
  }
  std::sort(ms.begin(), ms.end());
  const double read = (double)each * times * 132;
  printf("%s, %s, %5.1f MB in all, %3u SMs side by side read the same, %2u times: %.0f bytes a ns\n", name,
         bulk ? "bulk copies" : "loads", each * parts / (double)mb, share, times, read / (ms[ms.size() / 2] * 1e6));
  fflush(stdout);
}

int main(int argc, char **argv) {
  const bool traffic = argc > 1 && !strcmp(argv[1], "traffic"), dirty = argc > 1 && !strcmp(argv[1], "dirty");
  CK(cudaMalloc(&data_d, data_bytes));
  CK(cudaMalloc(&other_d, 256 * mb));
  CK(cudaMalloc(&out_d, 64));
  CK(cudaMalloc(&histogram_d, BUCKETS * sizeof *histogram_d));
  CK(cudaMemset(data_d, 0, data_bytes));
  CK(cudaFuncSetAttribute(by_bulk, cudaFuncAttributeMaxDynamicSharedMemorySize, STAGE * STAGES));
  CK(cudaFuncSetAttribute(visit, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
  if (dirty) { // for ncu: what others have left in L2 is written back for so many bytes, which each SM or all read
    for (u32 share : {1u, 132u})
      for (u64 n : {2, 4, 8, 16, 24, 32, 48, 64, 128}) rate("dirty", false, n * mb, share, 1, true);
    CK(cudaDeviceSynchronize());
    return 0;
  }
  if (traffic) { // for ncu: by_loads and by_bulk in this order
    for (u32 share : {1u, 2u, 132u})
      for (u64 n = 12; n <= 60; n += 4) rate("traffic", false, n * mb, share, 5, true);
    // Each part is read once, by 2 SMs or all, at about the same time: a stream that no cache holds.
    for (u32 share : {1u, 2u, 4u, 66u, 132u}) rate("traffic", true, share < 66 ? 512 * mb : share < 132 ? 128 * mb : 64 * mb, share, 1, true);
    CK(cudaDeviceSynchronize());
    return 0;
  }
  halves();
  shares("L2", 20 * mb, 400);
  shares("DRAM", 512 * mb, 4);
  shares("L2 and DRAM", 44 * mb, 200);
  const visitor r0 = {0, false}, w0 = {0, true};
  for (u32 other : {1u, 2u, 4u, 6u, 8u, 10u, 12u, 14u, 16u}) {
    const visitor r1 = {other, false}, w1 = {other, true};
    latencies(mb, {r0, r0, r1, r1, r0, w1, r1, r0, r0, r1});
    if (other == 2) latencies(mb, {w0, w0, r0, r1, r1, w0, r0, r1, w1, w1, r0});
  }
  for (u64 n : {16, 20, 24, 28, 32, 36, 40, 48}) latencies(n * mb, {r0, r0, r0});
  for (bool bulk : {false, true})
    for (u32 share : {1u, 2u, 4u, 12u, 66u, 132u})
      for (u64 n : {12, 20, 28}) rate("L2", bulk, n * mb, share, share > 12 ? 4 : 40, false);
  for (bool bulk : {false, true})
    for (u32 share : {1u, 2u, 4u, 12u}) rate("DRAM", bulk, 512 * mb, share, 1, false);
  return 0;
}
