// CTAs stream blocks of data that others stream, too, by kind of load: with others' data in L2 (after a
// flush), and without. Prints microseconds.
//
//     nvcc -O3 -std=c++17 -arch=sm_90a -o streams streams.cu && ./streams
#include "loads.cuh"
#include <algorithm>
#include <vector>
template <int HOW, int BATCH>
__global__ void __launch_bounds__(256) stream(const char *base, u32 bytes, u32 blocks, u32 *out) {
  const u64 policy = make_policy<HOW>();
  const char *p = base + (u64)(blockIdx.x % blocks) * bytes;
  u32 sum = 0;
#pragma unroll 1
  for (u32 i = threadIdx.x * 4; i < bytes; i += 1024 * BATCH) {
    u32 v[BATCH];
#pragma unroll
    for (int k = 0; k < BATCH; k++) v[k] = load<HOW>(p + i + 1024 * k, policy);
#pragma unroll
    for (int k = 0; k < BATCH; k++) sum += v[k];
  }
  if (sum == 0x5eed5eed) out[0] = sum;
}
static char *base_d, *other_d;
static u32 *out_d;
template <int HOW, int BATCH> static float once(u32 bytes, u32 blocks, u32 readers, bool flush) {
  std::vector<float> ms;
  cudaEvent_t a, b;
  CK(cudaEventCreate(&a));
  CK(cudaEventCreate(&b));
  for (int i = 0; i < 5; i++) {
    if (flush) CK(cudaMemset(other_d, i, 128 << 20));
    float t;
    CK(cudaEventRecord(a));
    stream<HOW, BATCH><<<blocks * readers, 256>>>(base_d, bytes, blocks, out_d);
    CK(cudaEventRecord(b));
    CK(cudaEventSynchronize(b));
    CK(cudaEventElapsedTime(&t, a, b));
    if (i) ms.push_back(t);
  }
  std::sort(ms.begin(), ms.end());
  return ms[1];
}
template <int HOW> static void report() {
  struct {
    u32 kb, blocks, readers;
  } cases[] = {{64, 264, 64}, {64, 264, 32}, {64, 1056, 8}, {16, 264, 128}, {64, 132, 64}, {4, 1056, 64}};
  for (auto c : cases)
    for (int flush = 1; flush >= 0; flush--) {
      const double bytes = (double)c.kb * 1024 * c.blocks * c.readers / 1e6;
      float one = once<HOW, 1>(c.kb << 10, c.blocks, c.readers, flush),
            four = once<HOW, 4>(c.kb << 10, c.blocks, c.readers, flush);
      printf("%s, %u blocks of %u KB, %u readers%s: one load at once %.1f us %.0f GB/s; four %.1f us %.0f "
             "GB/s\n",
             names[HOW], c.blocks, c.kb, c.readers, flush ? ", after a flush" : "", one * 1e3, bytes / one,
             four * 1e3, bytes / four);
      fflush(stdout);
    }
}
int main() {
  CK(cudaMalloc(&base_d, 128 << 20));
  CK(cudaMalloc(&other_d, 128 << 20));
  CK(cudaMalloc(&out_d, 4));
  CK(cudaMemset(base_d, 0, 128 << 20));
  report<PLAIN>();
  report<NONE>();
  report<HINT>();
  report<NORMAL>();
  report<CG>();
  report<NC_NONE>();
  report<FIRST>();
  report<NC>();
}
