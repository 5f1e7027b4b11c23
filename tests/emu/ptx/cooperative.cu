// Cooperative groups over the grid. nvcc -arch=sm_80 -ptx
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Every step reads what the neighbours' CTAs wrote in the step before.
extern "C" __global__ void diffuse(int *a, int *b, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  for (int s = 0; s < steps; s++) {
    for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size())
      b[i] = a[i ? i - 1 : n - 1] + 2 * a[i] + 3 * a[i + 1 < n ? i + 1 : 0];
    grid.sync();
    int *t = a;
    a = b;
    b = t;
  }
}

// The same without the barrier.
extern "C" __global__ void diffuse_unsynchronised(int *a, int *b, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  for (int s = 0; s < steps; s++) {
    for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size())
      b[i] = a[i ? i - 1 : n - 1] + 2 * a[i] + 3 * a[i + 1 < n ? i + 1 : 0];
    int *t = a;
    a = b;
    b = t;
  }
}

// Arrive and wait apart.
extern "C" __global__ void exchange(int *a, int *b) {
  cg::grid_group grid = cg::this_grid();
  int i = (int)grid.thread_rank(), n = (int)grid.size();
  a[i] = i * i;
  auto token = grid.barrier_arrive();
  int own = 3 * i;
  grid.barrier_wait(static_cast<decltype(token) &&>(token));
  b[i] = a[n - 1 - i] + own;
}

extern "C" __global__ void valid(int *out) { out[blockIdx.x] = cg::this_grid().is_valid(); }

// One CTA does not take part.
extern "C" __global__ void skipped(int *out) {
  if (blockIdx.x != 1) cg::this_grid().sync();
  out[blockIdx.x] = 1;
}

extern "C" __global__ void shared_too(int *out, int n) {
  extern __shared__ int s[];
  cg::grid_group grid = cg::this_grid();
  s[threadIdx.x] = (int)threadIdx.x;
  if (threadIdx.x == 0) out[blockIdx.x] = (int)blockIdx.x + 1;
  grid.sync();
  int sum = s[blockDim.x - 1 - threadIdx.x];
  for (unsigned k = 0; k < gridDim.x; k++) sum += out[k];
  out[gridDim.x + grid.thread_rank()] = sum;
}
