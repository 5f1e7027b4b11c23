// The rate at which SMs that read the same get it from L2, by how many CTAs side by side do, on an H100. Prints a row for each.
//
//     nvcc -O3 -std=c++17 -arch=sm_90a -o sharing sharing.cu && ./sharing
//     ncu --clock-control none --metrics lts__t_sectors_srcunit_tex.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,\
//         l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum ./sharing once
#include "check.cuh"

typedef unsigned u32;
typedef unsigned long long u64;
enum { SMS = 132, TURN = 16384 };

// `share` CTAs side by side read the same block, N loads of each thread at once.
template <int N>
__global__ void __launch_bounds__(1024) reading(const char *base, u32 share, u32 bytes, u32 rounds, u64 *cycles, u32 *out) {
  const char *p = base + (u64)(blockIdx.x / share) * bytes;
  u32 at = threadIdx.x * 16, sum = 0;
  __syncthreads();
  const long long begin = clock64();
  for (u32 r = 0; r < rounds; r++) {
    uint4 v[N];
#pragma unroll
    for (int k = 0; k < N; k++) {
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w)
                   : "l"(p + at));
      at += TURN;
      if (at >= bytes) at -= bytes;
    }
#pragma unroll
    for (int k = 0; k < N; k++) sum ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  }
  if (sum) *out = sum;
  __syncthreads();
  if (!threadIdx.x) cycles[blockIdx.x] = clock64() - begin;
}

int main(int argc, char **) {
  char *data_d;
  u32 *out_d;
  u64 *cycles_d, cycles[SMS];
  CK(cudaMalloc(&data_d, 64 << 20));
  CK(cudaMemset(data_d, 0, 64 << 20));
  CK(cudaMalloc(&cycles_d, sizeof cycles));
  CK(cudaMalloc(&out_d, sizeof *out_d));
  for (int n : {4, 1})
    for (u32 share : {1u, 2u, 4u, 6u, 12u, 16u, 132u}) {
      const u32 bytes = (20u << 20) / ((SMS + share - 1) / share) / TURN * TURN, rounds = 512 / n / (share == SMS ? 8 : 1);
      for (int i = 0; i < (argc > 1 ? 2 : 4); i++) {
        if (n == 4)
          reading<4><<<SMS, 1024>>>(data_d, share, bytes, rounds, cycles_d, out_d);
        else
          reading<1><<<SMS, 1024>>>(data_d, share, bytes, rounds, cycles_d, out_d);
      }
      CK(cudaMemcpy(cycles, cycles_d, sizeof cycles, cudaMemcpyDeviceToHost));
      double rate = 0;
      for (u64 c : cycles) rate += (double)rounds * n * TURN / c;
      printf("%d loads at once, %u CTAs side by side read the same: %.0f bytes a cycle while all load\n", n, share, rate);
    }
  return 0;
}
