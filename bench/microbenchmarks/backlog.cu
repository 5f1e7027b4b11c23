// How many loads does a scheduler hand over before it has to wait for L1? Warps load N times at once what
// takes L1 32 cycles each (a word of one bank from each of 32 lines that it has), and look at the clock
// before and behind: as long as there is room, each load more takes a few cycles more, and then as long as L1 does.
//
//     nvcc -O3 -std=c++17 -arch=sm_90a -o backlog backlog.cu && ./backlog
#include "loads.cuh"

enum { MOST = 32 };

template <int N> __global__ void burst(const char *base, u32 stride, u32 apart, u64 *cycles, u32 *out) {
  const u32 lane = threadIdx.x & 31;
  const char *p = base + lane * stride;
  u32 sum = 0, v[N];
  for (int k = 0; k < MOST; k++) sum += load<PLAIN>(p + k * apart, 0);
  asm volatile("" : "+r"(sum));
  __syncthreads();
  const u64 begin = clock64();
#pragma unroll
  for (int k = 0; k < N; k++) v[k] = load<PLAIN>(p + k * apart, 0);
  const u64 end = clock64();
#pragma unroll
  for (int k = 0; k < N; k++) sum ^= v[k];
  if (!lane) cycles[threadIdx.x / 32] = end - begin;
  if (sum == 0x5eed5eed) *out = sum;
}

static char *base_d;
static u64 *cycles_d;
static u32 *out_d;

template <int N> static void one(u32 threads, u32 stride) {
  u64 c[32];
  for (int i = 0; i < 3; i++) {
    burst<N><<<1, threads>>>(base_d, stride, stride == 128 ? 4 : 128, cycles_d, out_d);
    CK(cudaGetLastError());
    CK(cudaMemcpy(c, cycles_d, sizeof c, cudaMemcpyDeviceToHost));
  }
  printf(" %llu", c[0]);
}

template <int N> static void from_1_to(u32 threads, u32 stride) {
  if constexpr (N > 1) from_1_to<N - 1>(threads, stride);
  one<N>(threads, stride);
}

int main() {
  CK(cudaMalloc(&base_d, 1 << 16));
  CK(cudaMemset(base_d, 0, 1 << 16));
  CK(cudaMalloc(&cycles_d, 256));
  CK(cudaMalloc(&out_d, 4));
  for (u32 stride : {128, 4})
    for (u32 threads : {32, 128, 256, 512}) {
      printf("%u warps, %s, cycles until 1 to %d loads are handed over:", threads / 32, stride == 128 ? "32 lines" : "1 line",
             MOST);
      from_1_to<MOST>(threads, stride);
      printf("\n");
    }
  return 0;
}
