// The two halves of an H100's L2: which SMs and which lines belong to which, and how fast SMs read the lines
// of their own half, of the other one, and of both. Prints a row for each.
//
//     nvcc -O3 -std=c++17 -arch=sm_90a -o halves halves.cu && ./halves
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "check.cuh"

typedef unsigned u32;
typedef unsigned short u16;
enum { LINE = 128, PROBES = 256, MOST_SMS = 256, NEAR = 0, FAR = 1, BOTH = 2 };
static int sms;
static char *memory;
static u32 *line_d, *taken_d;
static u16 *cycles_d;

// One thread on SM `target`: the fewest cycles that an atomic on each line takes in `rounds` tries, the first
// of which only brings the line into L2. Atomics are done in the half that the line belongs to.
__global__ void latency(char *base, const u32 *line, int n, int rounds, u32 target, u16 *out, u32 *taken) {
  if (threadIdx.x || sm_of_this() != target || atomicExch(taken, 1u)) return;
  for (int i = 0; i < n; i++) {
    u32 best = 65535, v, t0, t1;
    for (int r = 0; r < rounds; r++) {
      asm volatile("mov.u32 %0, %%clock;\n atom.relaxed.gpu.global.add.u32 %2, [%3], 0;\n"
                   " add.u32 %2, %2, %0;\n mov.u32 %1, %%clock;"
                   : "=&r"(t0), "=r"(t1), "=&r"(v)
                   : "l"(base + (size_t)line[i] * LINE)
                   : "memory");
      if (v == 0x5eed5eed) t1++; // so that the result is waited for
      if (r) best = min(best, t1 - t0);
    }
    out[i] = (u16)best;
  }
}
static std::vector<u16> latencies(const std::vector<u32> &lines, int rounds, int sm) {
  std::vector<u16> out(lines.size());
  CK(cudaMemcpy(line_d, lines.data(), lines.size() * sizeof(u32), cudaMemcpyHostToDevice));
  CK(cudaMemset(taken_d, 0, sizeof *taken_d));
  latency<<<2 * sms, 1024>>>(memory, line_d, (int)lines.size(), rounds, (u32)sm, cycles_d, taken_d);
  CK(cudaMemcpy(out.data(), cycles_d, out.size() * sizeof(u16), cudaMemcpyDeviceToHost));
  return out;
}

// Without the means of its rows and columns a matrix of cycles, SMs by lines, is +-1 times +-1 where there
// are halves: its first singular vectors tell them. They come from power iteration.
static void first_singular(const std::vector<double> &m, std::vector<double> &u, std::vector<double> &v,
                           double *part) {
  double power = 0, all = 0;
  for (int i = 0; i < PROBES; i++) v[i] = m[i];
  for (int round = 0; round < 60; round++) {
    double norm = 0;
    for (int s = 0; s < sms; s++) {
      u[s] = 0;
      for (int i = 0; i < PROBES; i++) u[s] += m[s * PROBES + i] * v[i];
      norm += u[s] * u[s];
    }
    for (double &x : u) x /= sqrt(norm) + 1e-30;
    power = 0;
    for (int i = 0; i < PROBES; i++) {
      v[i] = 0;
      for (int s = 0; s < sms; s++) v[i] += m[s * PROBES + i] * u[s];
      power += v[i] * v[i];
    }
    for (double &x : v) x /= sqrt(power) + 1e-30;
  }
  for (double x : m) all += x * x;
  *part = power / (all + 1e-30);
}

// The half of each SM.
static std::vector<unsigned char> halves_of_sms(int n_lines) {
  std::vector<double> m(sms * PROBES), of_sm(sms), of_line(PROBES), rest(m.size()), u(sms), v(PROBES);
  std::vector<u32> lines(PROBES);
  double mean = 0, part, cycles[2] = {0, 0};
  int n[2] = {0, 0};
  for (u32 i = 0; i < PROBES; i++) lines[i] = (u32)((size_t)i * n_lines / PROBES + i * 37 % 64);
  for (int s = 0; s < sms; s++) {
    const std::vector<u16> row = latencies(lines, 7, s);
    for (int i = 0; i < PROBES; i++) {
      m[s * PROBES + i] = row[i];
      of_sm[s] += (double)row[i] / PROBES;
      of_line[i] += (double)row[i] / sms;
      mean += (double)row[i] / PROBES / sms;
    }
  }
  for (int s = 0; s < sms; s++)
    for (int i = 0; i < PROBES; i++) rest[s * PROBES + i] = m[s * PROBES + i] - of_sm[s] - of_line[i] + mean;
  first_singular(rest, u, v, &part);
  std::vector<unsigned char> half(MOST_SMS);
  for (int s = 0; s < sms; s++) {
    half[s] = u[s] > 0;
    for (int i = 0; i < PROBES; i++) {
      const int far = (u[s] > 0) == (v[i] > 0); // far pairs take longer, so u and v agree in sign
      cycles[far] += m[s * PROBES + i];
      n[far]++;
    }
  }
  const int a = (int)std::count(half.begin(), half.begin() + sms, 1);
  printf("%d + %d SMs; atomics on near lines %.0f cycles, on far ones %.0f; halves explain %.0f%% of what SM "
         "and line do not\n",
         a, sms - a, cycles[0] / std::max(n[0], 1), cycles[1] / std::max(n[1], 1), 100 * part);
  printf("  SMs of one half:");
  for (int s = 0; s < sms; s++)
    if (half[s]) printf(" %d", s);
  printf("\n");
  return half;
}

// The lines of each half, by atomics of one SM of each, and all lines; each list in a random order.
static void split_lines(const std::vector<unsigned char> &half, int n_lines, std::vector<u32> list[3]) {
  std::vector<u32> lines(n_lines);
  std::vector<u16> cycles[2];
  std::vector<int> runs(20);
  for (int i = 0; i < n_lines; i++) lines[i] = (u32)i;
  for (int h = 0; h < 2; h++) {
    const int sm = (int)(std::find(half.begin(), half.begin() + sms, h) - half.begin());
    cycles[h] = latencies(lines, 4, sm);
  }
  std::vector<int> difference(n_lines);
  for (int i = 0; i < n_lines; i++) difference[i] = (int)cycles[0][i] - (int)cycles[1][i];
  std::vector<int> sorted = difference;
  std::nth_element(sorted.begin(), sorted.begin() + n_lines / 2, sorted.end());
  const int middle = sorted[n_lines / 2];
  for (int i = 0, run = 0; i < n_lines; i++, run++) {
    const bool one = difference[i] >= middle;
    if (i && one != (difference[i - 1] >= middle)) {
      runs[std::min(19, (int)log2(run))]++;
      run = 0;
    }
    list[one].push_back((u32)i);
    list[BOTH].push_back((u32)i);
  }
  for (int k = 0; k < 3; k++) {
    std::mt19937 random((u32)k + 1);
    std::shuffle(list[k].begin(), list[k].end(), random);
  }
  printf("%d MB: %zu + %zu lines; runs of lines of one half, by log2 of their length:", n_lines / 8192,
         list[0].size(), list[1].size());
  for (int r = 0; r < 12; r++) printf(" %d", runs[r]);
  printf("\n");
}

// Every eight lanes read a line of the list that belongs to their SM: 16 bytes each, four lines in flight.
__global__ void __launch_bounds__(1024)
    stream(const char *base, const u32 *lists, const u32 *first, const u32 *count, const unsigned char *half,
           int way, u32 n, uint4 *sink) {
  const u32 which = way == BOTH ? BOTH : half[sm_of_this()] ^ (u32)way;
  const u32 *list = lists + first[which], total = count[which];
  const u32 lanes = gridDim.x * blockDim.x / 8, me = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
  uint4 a = {0, 0, 0, 0};
  for (u32 i = me; i < n; i += lanes * 4)
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
      uint4 x;
      const char *p = base + (size_t)list[(i + k * lanes) % total] * LINE + threadIdx.x % 8 * 16;
      asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                   : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                   : "l"(p));
      a.x ^= x.x, a.y ^= x.y, a.z ^= x.z, a.w ^= x.w;
    }
  if (a.x == 0x5eed5eed) sink[threadIdx.x] = a;
}

static void compare(const std::vector<unsigned char> &half, const std::vector<u32> list[3]) {
  static const char *const names[] = {"near", "far", "both"};
  const u32 n = (u32)list[BOTH].size() * 10, counts[3] = {(u32)list[0].size(), (u32)list[1].size(), n / 10};
  const u32 firsts[3] = {0, counts[0], counts[0] + counts[1]};
  std::vector<u32> flat;
  for (int k = 0; k < 3; k++) flat.insert(flat.end(), list[k].begin(), list[k].end());
  u32 *lists_d, *first_d, *count_d;
  unsigned char *half_d;
  uint4 *sink;
  CK(cudaMalloc(&lists_d, flat.size() * sizeof(u32)));
  CK(cudaMalloc(&first_d, sizeof firsts));
  CK(cudaMalloc(&count_d, sizeof counts));
  CK(cudaMalloc(&half_d, half.size()));
  CK(cudaMalloc(&sink, 1024 * sizeof *sink));
  CK(cudaMemcpy(lists_d, flat.data(), flat.size() * sizeof(u32), cudaMemcpyHostToDevice));
  CK(cudaMemcpy(first_d, firsts, sizeof firsts, cudaMemcpyHostToDevice));
  CK(cudaMemcpy(count_d, counts, sizeof counts, cudaMemcpyHostToDevice));
  CK(cudaMemcpy(half_d, half.data(), half.size(), cudaMemcpyHostToDevice));
  std::vector<float> ms[3];
  cudaEvent_t from, to;
  CK(cudaEventCreate(&from));
  CK(cudaEventCreate(&to));
  for (int round = 0; round < 13; round++)
    for (int way = 0; way < 3; way++) {
      float t;
      CK(cudaEventRecord(from));
      stream<<<2 * sms, 1024>>>(memory, lists_d, first_d, count_d, half_d, way, n, sink);
      CK(cudaEventRecord(to));
      CK(cudaEventSynchronize(to));
      CK(cudaEventElapsedTime(&t, from, to));
      if (round > 1) ms[way].push_back(t);
    }
  for (int way = 0; way < 3; way++) {
    std::nth_element(ms[way].begin(), ms[way].begin() + 5, ms[way].end());
    printf("  %-4s %5.0f GB/s\n", names[way], (double)n * LINE / (double)ms[way][5] / 1e6);
  }
  CK(cudaFree(lists_d));
  CK(cudaFree(first_d));
  CK(cudaFree(count_d));
  CK(cudaFree(half_d));
  CK(cudaFree(sink));
}

int main() {
  static const int megabytes[] = {12, 24, 32, 40, 48};
  const size_t most = 48u << 20;
  cudaDeviceProp p;
  CK(cudaGetDeviceProperties(&p, 0));
  sms = std::min(p.multiProcessorCount, (int)MOST_SMS);
  printf("%s, %d SMs, L2 %d MB\n", p.name, sms, p.l2CacheSize >> 20);
  CK(cudaMalloc(&memory, most));
  CK(cudaMemset(memory, 0, most));
  CK(cudaMalloc(&line_d, most / LINE * sizeof(u32)));
  CK(cudaMalloc(&cycles_d, most / LINE * sizeof(u16)));
  CK(cudaMalloc(&taken_d, sizeof *taken_d));
  const std::vector<unsigned char> half = halves_of_sms(24 << 13);
  if (std::count(half.begin(), half.begin() + sms, 1) % sms == 0) return 0; // one half only
  for (int mb : megabytes) {
    std::vector<u32> list[3];
    split_lines(half, mb << 13, list);
    compare(half, list);
  }
  CK(cudaDeviceSynchronize());
}
