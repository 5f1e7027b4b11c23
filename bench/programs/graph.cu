// Breadth-first search, level by level, one thread per vertex, from several roots, over a random graph whose vertices mostly
// know others nearby. `graph ROOTS`
#include "check.h"
#include <vector>

enum { VERTICES = 1 << 22, DEGREE = 8 };

__global__ void expand(int *first, int *edge, int *level, int *changed, int depth, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || level[v] != depth) return;
  for (int k = first[v]; k < first[v + 1]; k++)
    if (level[edge[k]] < 0) {
      level[edge[k]] = depth + 1;
      *changed = 1;
    }
}

__global__ void begin(int *level, int root, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n) level[v] = v == root ? 0 : -1;
}

__global__ void add_levels(int *level, int *sum, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n) sum[v] += level[v];
}

int main(int argc, char **argv) {
  const int roots = steps_of(argc, argv, 20), ctas = VERTICES / 256;
  std::vector<int> first(VERTICES + 1), edge((size_t)VERTICES * DEGREE);
  unsigned h = 1;
  for (int v = 0; v <= VERTICES; v++) first[v] = v * DEGREE;
  for (size_t k = 0; k < edge.size(); k++) {
    h = h * 1664525u + 1013904223u;
    const int near = (int)(h >> 16) % 512 - 256, v = (int)(k / DEGREE);
    edge[k] = k % DEGREE == 0 ? (int)(h >> 10) % VERTICES : (v + near + VERTICES) % VERTICES;
  }
  int *firsts = device_array<int>(first.size()), *edges = device_array<int>(edge.size());
  int *level = device_array<int>(VERTICES), *sum = device_array<int>(VERTICES), *changed = device_array<int>(1);
  CHECK(cudaMemcpy(firsts, first.data(), first.size() * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(edges, edge.data(), edge.size() * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(sum, 0, VERTICES * sizeof(int)));
  CHECK(cudaDeviceSynchronize());
  const double from = seconds();
  for (int r = 0; r < roots; r++) {
    begin<<<ctas, 256>>>(level, r * 7919, VERTICES);
    for (int depth = 0, more = 1; more; depth++) {
      CHECK(cudaMemset(changed, 0, sizeof(int)));
      expand<<<ctas, 256>>>(firsts, edges, level, changed, depth, VERTICES);
      CHECK(cudaMemcpy(&more, changed, sizeof(int), cudaMemcpyDeviceToHost));
    }
    add_levels<<<ctas, 256>>>(level, sum, VERTICES);
  }
  tell_steps(from, roots);
  std::vector<int> sums(VERTICES);
  CHECK(cudaMemcpy(sums.data(), sum, VERTICES * sizeof(int), cudaMemcpyDeviceToHost));
  printf("levels %016llx\n", digest(sums.data(), VERTICES * sizeof(int)));
  return 0;
}
