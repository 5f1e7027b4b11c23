// Far more memory than the machine has, of which little is used; and what is refused.
// check: none
#include "check.h"
#include <vector>

__global__ void touch(char *p, size_t step, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i * step] = char(i);
}

int main() {
  const size_t giga = size_t(1) << 30;
  size_t left, total;
  char *p, *more[6]; /* and 10 GB are left, for contexts and heddle run take some memory, too */
  OK(cudaMalloc(&p, 40 * giga));
  touch<<<2, 128>>>(p, 40 * giga / 256, 256); /* 256 pages, all over it */
  OK(cudaMemset(p + 20 * giga, 9, 1 << 20));
  std::vector<char> h(1 << 20);
  OK(cudaMemcpy(h.data(), p + 20 * giga, h.size(), cudaMemcpyDeviceToHost));
  CHECK(h[12345] == 9);
  OK(cudaMemcpy(h.data(), p + 255 * (40 * giga / 256), 1, cudaMemcpyDeviceToHost));
  CHECK(h[0] == char(255));
  OK(cudaMemGetInfo(&left, &total));
  CHECK(left <= total - 40 * giga);
  EXPECT(cudaMalloc(&more[0], total), cudaErrorMemoryAllocation);
  cudaGetLastError();
  for (auto &m : more) OK(cudaMalloc(&m, 5 * giga));
  EXPECT(cudaMalloc(&p, 11 * giga), cudaErrorMemoryAllocation);
  for (auto &m : more) OK(cudaFree(m));
  OK(cudaMalloc(&p, 30 * giga));
  long pages = 0, resident = 0;
  if (FILE *f = fopen("/proc/self/statm", "r")) {
    CHECK(fscanf(f, "%ld %ld", &pages, &resident) == 2);
    fclose(f);
  }
  puts(resident * 4096l < 500l << 20 ? "less than 500 MB of the host's memory" : "too much of the host's memory");
}
