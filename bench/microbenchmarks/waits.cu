// A loop that waits until so many cycles are over: cycles from one look at the clock to the next, with 1 to
// 32 warps on an SM that do so.
//
//     nvcc -O3 -arch=sm_90a -o waits waits.cu && ./waits
#include "loads.cuh"

__device__ static u32 now() {
  u32 t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}

__device__ static u64 now_64() {
  u64 t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}

template <bool WIDE> __global__ void wait_for(u32 cycles, u32 *looks) {
  u32 n = 0;
  if (WIDE) {
    const u64 begin = now_64();
    while (now_64() - begin < cycles) n++;
  } else {
    const u32 begin = now();
    while (now() - begin < cycles) n++;
  }
  if (!(threadIdx.x & 31)) looks[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = n;
}

int main() {
  const u32 cycles = 1000000;
  u32 *looks_d, looks;
  CK(cudaMalloc(&looks_d, 4096));
  for (u32 warps : {1, 4, 8, 16, 32})
    for (int wide = 0; wide < 2; wide++) {
      if (wide)
        wait_for<true><<<1, 32 * warps>>>(cycles, looks_d);
      else
        wait_for<false><<<1, 32 * warps>>>(cycles, looks_d);
      CK(cudaGetLastError());
      CK(cudaMemcpy(&looks, looks_d, 4, cudaMemcpyDeviceToHost));
      printf("%%clock%s, %2u warps: %.1f cycles a turn\n", wide ? "64" : "", warps, (double)cycles / looks);
    }
  return 0;
}
