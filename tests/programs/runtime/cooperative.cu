// A cooperative launch: all CTAs meet at a barrier of the grid, many times; too large a grid is refused.
// check: init,race,streams
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void rounds(unsigned *a, unsigned *b, int n, int times) {
  cg::grid_group grid = cg::this_grid();
  unsigned i = unsigned(grid.thread_rank());
  for (int k = 0; k < times; k++) {
    if (i < unsigned(n)) b[i] = a[(i + 1) % n] + 1;
    grid.sync();
    unsigned *t = a;
    a = b;
    b = t;
  }
}

int main() {
  int n = 4096, times = 10, blocks;
  unsigned *a, *b;
  OK(cudaMallocManaged(&a, n * sizeof *a));
  OK(cudaMallocManaged(&b, n * sizeof *b));
  for (int i = 0; i < n; i++) a[i] = unsigned(i);
  void *args[] = {&a, &b, &n, &times};
  OK(cudaLaunchCooperativeKernel((void *)rounds, n / 128, 128, args));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) CHECK(a[i] == unsigned((i + times) % n + times));
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, rounds, 128, 0));
  EXPECT(cudaLaunchCooperativeKernel((void *)rounds, blocks * 132 + 1, 128, args), cudaErrorCooperativeLaunchTooLarge);
  puts("cooperative: ok");
}
