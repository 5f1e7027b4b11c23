// Few lines that all SMs ask for: requests that L2 serves in a cycle, by how many lines there are.
//
//     nvcc -O3 -std=c++17 -arch=sm_90a -o hot hot.cu && ./hot
#include <algorithm>
#include <vector>

#include "loads.cuh"

enum { FETCH = HOWS, BATCH = 4 };
// Request number i of a warp is for line (warp + i) % lines, of `step` bytes; a lane's place in it is lane *
// lane_step.
template <int HOW>
__global__ void ask(const char *base, u32 lines, u32 step, u32 lane_step, u32 rounds, u32 *out) {
  const u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const char *p = base + threadIdx.x % 32 * lane_step;
  u32 sum = 0, at = warp * 7 % lines;
#pragma unroll 1
  for (u32 r = 0; r < rounds; r++) {
    u32 v[BATCH];
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      if (HOW == FETCH)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(p + at * step));
      else
        v[k] = load < HOW == FETCH ? PLAIN : HOW > (p + at * step, 0);
      if (++at == lines) at = 0;
    }
#pragma unroll
    for (int k = 0; k < BATCH && HOW != FETCH; k++) sum += v[k];
  }
  if (sum == 0x5eed5eed) *out = sum;
}
static char *base_d;
static u32 *out_d;
template <int HOW> static void report(const char *name, u32 step, u32 lane_step) {
  cudaEvent_t a, b;
  CK(cudaEventCreate(&a));
  CK(cudaEventCreate(&b));
  printf("%s, lines %u bytes apart, lanes %u apart, requests a ns:", name, step, lane_step);
  for (u32 lines : {1, 2, 4, 8, 16, 32, 64, 256, 1024, 4096}) {
    std::vector<float> ms;
    const u32 rounds = lines < 16 ? 32 : 128, ctas = 132 * 2, threads = 512;
    for (int i = 0; i < 5; i++) {
      float t;
      CK(cudaEventRecord(a));
      ask<HOW><<<ctas, threads>>>(base_d, lines, step, lane_step, rounds, out_d);
      CK(cudaEventRecord(b));
      CK(cudaEventSynchronize(b));
      CK(cudaEventElapsedTime(&t, a, b));
      if (i) ms.push_back(t);
    }
    std::sort(ms.begin(), ms.end());
    printf(" %u lines %.3f", lines, ctas * (threads / 32.0) * rounds * BATCH / (ms[1] * 1e6 - 3000));
    fflush(stdout);
  }
  printf("\n");
}
int main() {
  CK(cudaMalloc(&base_d, 64 << 20));
  CK(cudaMalloc(&out_d, 4));
  CK(cudaMemset(base_d, 0, 64 << 20));
  report<CG>("ld.cg of a word", 128, 0);
  report<CG>("ld.cg of a line", 128, 4);
  report<CG>("ld.cg of a word", 4224, 0);
  report<CG>("ld.cg of a word", 8192, 0);
  report<NONE>("ld.L1::no_allocate of a word", 128, 0);
  report<PLAIN>("ld of a word", 128, 0);
  report<FETCH>("prefetch.global.L2 of a word", 128, 0);
  report<FETCH>("prefetch.global.L2 of a word", 4224, 0);
  return 0;
}
