// A breadth-first search with frontiers that threads append to, and a sparse matrix times a vector.
#include "check.h"
#include <vector>

__global__ void expand(const int *rows, const int *columns, const int *frontier, int n, int level, int *levels, int *next,
                       int *n_next) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int e = rows[frontier[i]]; e < rows[frontier[i] + 1]; e++)
    if (atomicCAS(&levels[columns[e]], -1, level) == -1) next[atomicAdd(n_next, 1)] = columns[e];
}
__global__ void multiply(const int *rows, const int *columns, const double *x, double *y, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  double sum = 0;
  for (int e = rows[row] + lane; e < rows[row + 1]; e += 32) sum += x[columns[e]] / (1 + row % 3);
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (!lane) y[row] = sum;
}

template <typename T> static T *upload(const std::vector<T> &v) {
  T *p;
  OK(cudaMalloc(&p, v.size() * sizeof(T)));
  OK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

int main() {
  const int n = 2000;
  std::vector<int> rows = {0}, columns;
  for (int v = 0; v < n; v++) {
    for (int k = 0; k < 1 + v % 6; k++) columns.push_back(int((v * 2654435761u + k * 40503u) % unsigned(n)));
    columns.push_back((v + 1) % n);
    rows.push_back(int(columns.size()));
  }
  std::vector<int> want(n, -1), order = {0}, levels(n, -1);
  want[0] = levels[0] = 0;
  for (size_t k = 0; k < order.size(); k++)
    for (int e = rows[order[k]]; e < rows[order[k] + 1]; e++)
      if (want[columns[e]] < 0) {
        want[columns[e]] = want[order[k]] + 1;
        order.push_back(columns[e]);
      }
  int *dr = upload(rows), *dc = upload(columns), *dl = upload(levels), *a = upload(std::vector<int>(n, 0)), *b, *count;
  OK(cudaMalloc(&b, n * sizeof *b));
  OK(cudaMalloc(&count, sizeof *count));
  int depth = 0;
  for (int size = 1; size; depth++) {
    OK(cudaMemset(count, 0, sizeof *count));
    expand<<<(size + 127) / 128, 128>>>(dr, dc, a, size, depth + 1, dl, b, count);
    OK(cudaMemcpy(&size, count, sizeof size, cudaMemcpyDeviceToHost));
    int *t = a;
    a = b;
    b = t;
  }
  OK(cudaMemcpy(levels.data(), dl, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(levels == want);
  std::vector<double> x(n), y(n);
  for (int i = 0; i < n; i++) x[i] = i % 17;
  double *dx = upload(x), *dy = upload(y), sum = 0;
  multiply<<<n / 4, 128>>>(dr, dc, dx, dy, n);
  OK(cudaMemcpy(y.data(), dy, n * sizeof(double), cudaMemcpyDeviceToHost));
  for (int r = 0; r < n; r++) {
    double s = 0;
    for (int e = rows[r]; e < rows[r + 1]; e++) s += x[columns[e]] / (1 + r % 3);
    CHECK(s - y[r] < 1e-9 && y[r] - s < 1e-9);
    sum += y[r];
  }
  printf("%d levels, sum %.3f\n", depth, sum);
  for (void *p : {(void *)dr, (void *)dc, (void *)dl, (void *)a, (void *)b, (void *)count, (void *)dx, (void *)dy})
    OK(cudaFree(p));
}
