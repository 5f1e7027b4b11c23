// Which loads find their line in an H100's L1, by eviction priority and by how much was loaded since. Prints
// the mean cycles of loads that follow each other.
//
//     nvcc -O3 -arch=sm_90a -o priorities priorities.cu && ./priorities
#include "loads.cuh"

enum { MOST = 512 << 10, ROUNDS = 3 };

// Every load's address follows from the one before, whose word is 0. step: bytes from one to the next.
template <int HOW> __device__ u64 chase(const char *base, u32 bytes, u32 step, u64 policy, u32 *out) {
  u32 v = 0;
  const u64 begin = clock64();
  for (u32 at = 0; at < bytes; at += step) v = load<HOW>(base + at + v, policy);
  const u64 end = clock64();
  if (v) *out = v;
  return end - begin;
}
template <int HOW>
__global__ void run(const char *base, u32 bytes, u32 step, u32 before, u32 rounds, u64 *cycles, u32 *out) {
  const u64 policy = make_policy<HOW>();
  u64 taken = 0;
  for (u32 r = 0; r < before; r++) chase<PLAIN>(base, bytes, step, policy, out);
  for (u32 r = 0; r < rounds; r++) taken = chase<HOW>(base, bytes, step, policy, out);
  *cycles = taken;
}

// Every lane reads a row of its own, four words at once: the cycles of four. Rows are `pitch` bytes apart.
template <int HOW>
__global__ void rows(const char *base, u32 pitch, u32 words, bool stores, char *to, u64 *cycles, u32 *out) {
  const u64 policy = make_policy<HOW>();
  const char *p = base + (u64)threadIdx.x * pitch;
  char *q = to + (u64)threadIdx.x * pitch;
  u32 sum = 0;
  __syncthreads();
  const u64 begin = clock64();
  for (u32 k = 0; k < words; k += 4) {
    u32 v[4];
#pragma unroll
    for (int i = 0; i < 4; i++) v[i] = load<HOW>(p + 4 * (k + i), policy);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      if (stores) *(volatile u32 *)(q + 4 * (k + i)) = v[i];
      sum ^= v[i];
    }
    if (sum) *out = sum;
  }
  __syncthreads();
  const u64 end = clock64();
  if (!threadIdx.x) *cycles = end - begin;
}

static char *base_d;
static u64 *cycles_d;
static u32 *out_d;
template <int HOW> static double mean(u32 bytes, u32 step, u32 before, u32 rounds) {
  u64 cycles;
  CK(cudaFuncSetAttribute(run<HOW>, cudaFuncAttributePreferredSharedMemoryCarveout, 0));
  run<HOW><<<1, 1>>>(base_d, bytes, step, before, rounds, cycles_d, out_d);
  CK(cudaMemcpy(&cycles, cycles_d, sizeof cycles, cudaMemcpyDeviceToHost));
  return (double)cycles / (bytes / step);
}
template <int HOW> static double four(u32 warps, bool stores) {
  u64 cycles;
  const u32 words = 64, pitch = 512;
  for (int i = 0; i < 2; i++) // the second finds the rows in L2
    rows<HOW><<<1, warps * 32>>>(base_d, pitch, words, stores, base_d + MOST / 2, cycles_d, out_d);
  CK(cudaMemcpy(&cycles, cycles_d, sizeof cycles, cudaMemcpyDeviceToHost));
  return (double)cycles / (words / 4);
}
template <int HOW> static void report() {
  mean<HOW>(MOST, LINE, 0, 1); // the lines are in L2
  printf("%s, a load a line, again within KB:", names[HOW]);
  for (u32 kb : {4, 16, 32, 48, 64, 96, 128, 160, 192, 208, 224, 240, 256, 320})
    printf(" %u %.0f", kb, mean<HOW>(kb << 10, LINE, 0, ROUNDS));
  printf("\n%s after ld of the same lines, within KB:", names[HOW]);
  for (u32 kb : {4, 64, 128, 192}) printf(" %u %.0f", kb, mean<HOW>(kb << 10, LINE, 2, 1));
  printf("\n%s, every word of 64 KB in turn: %.0f; every eighth: %.0f\n", names[HOW],
         mean<HOW>(64 << 10, 4, 0, 1), mean<HOW>(64 << 10, 32, 0, 1));
  printf("%s, four words of a row a lane, from L2:", names[HOW]);
  for (u32 warps : {1, 4, 8})
    printf(" %u warps %.0f, with stores %.0f;", warps, four<HOW>(warps, false), four<HOW>(warps, true));
  printf("\n");
}

int main() {
  CK(cudaMalloc(&base_d, MOST));
  CK(cudaMalloc(&cycles_d, sizeof *cycles_d));
  CK(cudaMalloc(&out_d, sizeof *out_d));
  CK(cudaMemset(base_d, 0, MOST));
  report<PLAIN>();
  report<HINT>();
  report<FIRST>();
  report<FIRST_HINT>();
  report<NONE>();
  report<NC>();
  report<NC_NONE>();
  report<CG>();
  return 0;
}
