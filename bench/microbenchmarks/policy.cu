// Which of its ready warps does a scheduler let go first? Warps do the same work, in parts, and note the
// cycle at which each part ends. Under loose round robin all are done at about the same time; under
// greedy-then-oldest one after the other, the oldest first. CTAs of one warp start in order, so that a warp's
// age is its number.
//
//     nvcc -O3 -std=c++17 -arch=sm_90a -o policy policy.cu && ./policy
#include <algorithm>
#include <vector>

#include "loads.cuh"

enum { PARTS = 16, MOST = 64, SMS = 256 };
typedef struct note {
  u32 sm, warp;
  u64 at[PARTS + 1];
} note;

// Four chains of dependent additions and multiplications: two warps fill a scheduler.
__device__ static u32 compute(u32 x, u32 rounds) {
  u32 a = x, b = x + 1, c = x + 2, e = x + 3;
  for (u32 i = 0; i < rounds; i++) {
#pragma unroll
    for (int k = 0; k < 16; k++) {
      asm volatile("mad.lo.u32 %0, %0, %0, 1;" : "+r"(a));
      asm volatile("mad.lo.u32 %0, %0, %0, 2;" : "+r"(b));
      asm volatile("mad.lo.u32 %0, %0, %0, 3;" : "+r"(c));
      asm volatile("mad.lo.u32 %0, %0, %0, 4;" : "+r"(e));
    }
  }
  return a ^ b ^ c ^ e;
}

// K loads at once that hit L1.
template <int K> __device__ static u32 hit(const char *base, u32 rounds) {
  u32 sum = 0, at = 0;
  for (u32 i = 0; i < rounds; i++) {
    u32 v[K];
#pragma unroll
    for (int k = 0; k < K; k++) v[k] = load<PLAIN>(base + at + k * 128, 0);
#pragma unroll
    for (int k = 0; k < K; k++) sum ^= v[k];
    asm volatile("" : "+r"(sum));
    at = (at + K * 128) & 8191;
  }
  return sum;
}

template <int HOW> __global__ void work(const char *base, u32 rounds, note *notes, u32 *out) {
  const u32 lane = threadIdx.x & 31;
  u32 x = hit<4>(base + lane * 4, 16);
  note n = {sm_of_this(), blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5), {}};
  n.at[0] = clock64();
  for (int p = 1; p <= PARTS; p++) {
    x ^= HOW == 0   ? compute(x, rounds)
         : HOW == 1 ? hit<4>(base + lane * 4, rounds)
                    : hit<16>(base + lane * 4, rounds);
    asm volatile("" : "+r"(x));
    n.at[p] = clock64();
  }
  if (!lane) notes[n.warp] = n;
  if (x == 0x5eed5eed) *out = x;
}

static char *base_d;
static note *notes_d;
static u32 *out_d;

// How much of the work a warp has done at a cycle.
static double done(const note &n, double cycle) {
  if ((double)n.at[0] >= cycle) return 0;
  for (int p = 1; p <= PARTS; p++)
    if ((double)n.at[p] >= cycle)
      return (p - 1 + (cycle - (double)n.at[p - 1]) / (double)(n.at[p] - n.at[p - 1])) / PARTS;
  return 1;
}

template <int HOW> static void one(const char *what, u32 ctas_per_sm, u32 warps, u32 rounds) {
  int sms;
  CK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const u32 ctas = ctas_per_sm * (u32)sms;
  std::vector<note> notes(ctas * warps);
  for (int i = 0; i < 2; i++) {
    work<HOW><<<ctas, warps * 32>>>(base_d, rounds, notes_d, out_d);
    CK(cudaGetLastError());
    CK(cudaMemcpy(notes.data(), notes_d, notes.size() * sizeof(note), cudaMemcpyDeviceToHost));
  }
  std::vector<note> here;
  for (const note &n : notes)
    if (n.sm == notes[0].sm) here.push_back(n);
  std::sort(here.begin(), here.end(), [](const note &a, const note &b) { return a.warp < b.warp; });
  u64 begin = ~0ull, end = 0;
  for (const note &n : here) begin = std::min(begin, n.at[0]), end = std::max(end, n.at[PARTS]);
  const double whole = (double)(end - begin), half = (double)begin + whole / 2;
  double resident = 0;
  for (const note &n : here) resident += (double)(n.at[PARTS] - n.at[0]);
  printf("%s, %u CTAs of %u warps on an SM: %.0f cycles; warps run for %.0f%% of them; by age, ends in %% of "
         "the "
         "cycles (work done at half of them):\n",
         what, ctas_per_sm, warps, whole, 100 * resident / whole / (double)here.size());
  for (size_t i = 0; i < here.size(); i++)
    printf(" %.0f (%.0f)", 100 * (double)(here[i].at[PARTS] - begin) / whole, 100 * done(here[i], half));
  printf("\n");
}

// More CTAs than have room at once, which a limit on registers or shared memory sets: is one that comes later
// behind the others, or does it take the rank of the one whose place it has?
template <int HOW> static void waves(const char *what, u32 resident, u32 rows, u32 warps, u32 rounds) {
  int sms, bytes;
  CK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0));
  const u32 ctas = resident * rows * (u32)sms, shared = (u32)bytes / resident - 2048;
  CK(cudaFuncSetAttribute(work<HOW>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  std::vector<note> notes(ctas * warps);
  for (int i = 0; i < 2; i++) {
    work<HOW><<<ctas, warps * 32, shared>>>(base_d, rounds, notes_d, out_d);
    CK(cudaGetLastError());
    CK(cudaMemcpy(notes.data(), notes_d, notes.size() * sizeof(note), cudaMemcpyDeviceToHost));
  }
  std::vector<note> here;
  for (size_t i = 0; i < notes.size(); i += warps)
    if (notes[i].sm == notes[0].sm) here.push_back(notes[i]);
  std::sort(here.begin(), here.end(), [](const note &a, const note &b) { return a.at[0] < b.at[0]; });
  u64 begin = here[0].at[0], end = 0;
  for (const note &n : here) end = std::max(end, n.at[PARTS]);
  const double whole = (double)(end - begin);
  printf("%s, room for %u CTAs of %u warps, %zu on the SM: from start to end of their first warps in %% of "
         "%.0f cycles, by start:\n",
         what, resident, warps, here.size(), whole);
  for (const note &n : here)
    printf(" %.0f-%.0f", 100 * (double)(n.at[0] - begin) / whole,
           100 * (double)(n.at[PARTS] - begin) / whole);
  printf("\n");
}

int main() {
  CK(cudaMalloc(&base_d, 1 << 20));
  CK(cudaMemset(base_d, 0, 1 << 20));
  CK(cudaMalloc(&notes_d, SMS * 4 * MOST * sizeof(note)));
  CK(cudaMalloc(&out_d, 4));
  one<0>("arithmetic", 16, 1, 64);
  one<0>("arithmetic", 1, 16, 64);
  one<0>("arithmetic", 8, 8, 32);
  one<1>("4 loads at once that hit", 32, 1, 64);
  one<1>("4 loads at once that hit", 1, 32, 64);
  one<1>("4 loads at once that hit", 8, 8, 32);
  one<2>("16 loads at once that hit", 32, 1, 32);
  one<2>("16 loads at once that hit", 8, 8, 16);
  waves<0>("arithmetic", 4, 4, 4, 32);
  waves<0>("arithmetic", 8, 3, 4, 32);
  waves<1>("4 loads at once that hit", 4, 4, 8, 16);
  return 0;
}
