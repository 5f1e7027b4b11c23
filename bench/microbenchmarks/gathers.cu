// Loads and stores of a warp whose lanes lie in many lines: cycles of an SM for each, by how many lines and by how
// many lanes want different words of one bank of L1 (a word's bank is its number modulo 32).
//
//     nvcc -O3 -arch=sm_90a -o gathers gathers.cu && ./gathers
#include <algorithm>
#include <vector>

#include "loads.cuh"

enum { WARPS = 32, ROUNDS = 64, NEAR = 4096, FAR = 8 << 20 };
static char *data_d;
static u32 *offset_d, *out_d;
static u64 *cycles_d;

// Every warp makes K accesses at once, `rounds` times. Access k of a round is at p + k * apart, and a lane's place
// in it at its offset; p moves by `step` within `span` bytes.
template <int HOW, int WIDTH, bool STORE, int K>
__global__ void gather(char *base, const u32 *offset, u32 apart, u32 step, u32 span, u64 *cycles, u32 *out) {
  const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, off = offset[lane];
  u32 at = step ? (warp * K * apart) & (span - 1) : 0, sum = 0;
  u64 from = 0;
  for (u32 r = 0; r < ROUNDS + 2; r++) {
    if (r == 2) {
      __syncthreads();
      from = clock64();
    }
    const char *p = base + at + off;
    u32 v[K];
#pragma unroll
    for (int k = 0; k < K; k++) {
      const char *q = p + k * apart;
      v[k] = 0;
      if (STORE)
        asm volatile("st.global.u32 [%0], %1;" ::"l"(q), "r"(r) : "memory");
      else if (WIDTH == 2)
        asm volatile("{.reg .u16 h; ld.global.u16 h, [%1]; cvt.u32.u16 %0, h;}" : "=r"(v[k]) : "l"(q));
      else
        v[k] = load<HOW>(q, 0);
    }
#pragma unroll
    for (int k = 0; k < K; k++) sum ^= v[k];
    asm volatile("" : "+r"(sum));
    at = (at + step) & (span - 1);
  }
  __syncthreads();
  if (!threadIdx.x) *cycles = clock64() - from;
  if (sum == 0x5eed5eed) *out = sum;
}

template <int HOW, int WIDTH, bool STORE, int K>
static double cycles_of(const std::vector<u32> &offset, u32 apart, u32 step, u32 span) {
  double best = 1e30;
  CK(cudaMemcpy(offset_d, offset.data(), 128, cudaMemcpyHostToDevice));
  for (int i = 0; i < 4; i++) {
    u64 cycles;
    gather<HOW, WIDTH, STORE, K><<<1, 32 * WARPS>>>(data_d, offset_d, apart, step, span, cycles_d, out_d);
    CK(cudaGetLastError());
    CK(cudaMemcpy(&cycles, cycles_d, sizeof cycles, cudaMemcpyDeviceToHost));
    best = std::min(best, (double)cycles / (ROUNDS * WARPS * K));
  }
  return best;
}

// Lanes in so many lines; those of `degree` lines want the same banks.
static std::vector<u32> regular(u32 lines, u32 degree) {
  std::vector<u32> offset(32);
  const u32 each = 32 / lines;
  for (u32 i = 0; i < 32; i++)
    offset[i] = i % lines * LINE + (i / lines + i % lines / degree * each) * 4;
  return offset;
}

static u32 lines_of(const std::vector<u32> &offset) {
  std::vector<u32> line;
  for (u32 o : offset) line.push_back(o / LINE);
  std::sort(line.begin(), line.end());
  return (u32)(std::unique(line.begin(), line.end()) - line.begin());
}

// Different words of the bank of which most are wanted.
static u32 degree_of(const std::vector<u32> &offset) {
  u32 most = 0;
  for (u32 bank = 0; bank < 32; bank++) {
    std::vector<u32> word;
    for (u32 o : offset)
      if (o / 4 % 32 == bank) word.push_back(o / 4);
    std::sort(word.begin(), word.end());
    most = std::max(most, (u32)(std::unique(word.begin(), word.end()) - word.begin()));
  }
  return most;
}

static void row(const char *what, const std::vector<u32> &offset) {
  printf("%-28s %2u lines, %2u words of a bank: hits %.2f, of 2 bytes %.2f, past L1 %.2f, misses %.2f, "
         "stores %.2f cycles\n",
         what, lines_of(offset), degree_of(offset), cycles_of<PLAIN, 4, false, 4>(offset, NEAR, 0, NEAR),
         cycles_of<PLAIN, 2, false, 4>(offset, NEAR, 0, NEAR), cycles_of<CG, 4, false, 4>(offset, NEAR, WARPS * 4 * NEAR, FAR),
         cycles_of<PLAIN, 4, false, 4>(offset, NEAR, WARPS * 4 * NEAR, FAR),
         cycles_of<PLAIN, 4, true, 4>(offset, NEAR, 0, NEAR));
}

int main() {
  CK(cudaMalloc(&data_d, FAR + (1 << 20)));
  CK(cudaMemset(data_d, 0, FAR + (1 << 20)));
  CK(cudaMalloc(&offset_d, 128));
  CK(cudaMalloc(&cycles_d, 8));
  CK(cudaMalloc(&out_d, 4));
  for (u32 lines = 1; lines <= 32; lines *= 2)
    for (u32 degree = 1; degree <= lines; degree *= 2) row("regular", regular(lines, degree));
  for (u32 apart : {12, 20, 36, 40, 136, 260, 352, 388, 900}) {
    std::vector<u32> offset(32);
    for (u32 i = 0; i < 32; i++) offset[i] = i * apart / 8 * 8 % NEAR;
    char what[64];
    snprintf(what, sizeof what, "%u bytes apart, to 8s", apart);
    row(what, offset);
  }
  u32 seed = 1;
  for (int i = 0; i < 12; i++) {
    std::vector<u32> offset(32);
    const u32 within = i < 4 ? 512 : i < 8 ? 1024 : NEAR;
    for (u32 &o : offset) o = ((seed = seed * 1664525u + 1013904223u) >> 8) % (within / 8) * 8;
    row("random", offset);
  }
  return 0;
}
