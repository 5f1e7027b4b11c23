// Conjugate gradients for a sparse matrix in rows (CSR), one thread per row: a grid of 27 neighbours. `solver STEPS`
#include "check.h"
#include <vector>

enum { SIDE = 112, ROWS = SIDE * SIDE * SIDE, PARTS = 1024 };

__global__ void multiply(int *row, int *column, double *value, double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum = 0;
  for (int k = row[i]; k < row[i + 1]; k++) sum += value[k] * x[column[k]];
  y[i] = sum;
}

__global__ void dot_parts(double *x, double *y, double *part, int n) {
  __shared__ double sums[256];
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i] * y[i];
  sums[threadIdx.x] = sum;
  for (int k = 128; k; k /= 2) {
    __syncthreads();
    if (threadIdx.x < k) sums[threadIdx.x] += sums[threadIdx.x + k];
  }
  if (threadIdx.x == 0) part[blockIdx.x] = sums[0];
}

__global__ void dot_sum(double *part, double *out) {
  double sum = 0;
  for (int k = 0; k < PARTS; k++) sum += part[k];
  *out = sum;
}

// x += (a / b) y, or minus that.
__global__ void add(double *x, double *y, double *a, double *b, double sign, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += sign * *a / *b * y[i];
}

// p = r + (a / b) p
__global__ void turn(double *p, double *r, double *a, double *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = r[i] + *a / *b * p[i];
}

template <typename T> static T *copied(const std::vector<T> &v) {
  T *p = device_array<T>(v.size());
  CHECK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

int main(int argc, char **argv) {
  const int steps = steps_of(argc, argv, 200), ctas = (ROWS + 255) / 256;
  std::vector<int> row(1, 0), column;
  std::vector<double> value, b(ROWS);
  for (int z = 0; z < SIDE; z++)
    for (int y = 0; y < SIDE; y++)
      for (int x = 0; x < SIDE; x++) {
        const int i = (z * SIDE + y) * SIDE + x;
        for (int n = 0; n < 27; n++) {
          const int u = x + n % 3 - 1, v = y + n / 3 % 3 - 1, w = z + n / 9 - 1;
          if (u < 0 || v < 0 || w < 0 || u >= SIDE || v >= SIDE || w >= SIDE) continue;
          column.push_back((w * SIDE + v) * SIDE + u);
          value.push_back(n == 13 ? 26.5 : -1.0);
        }
        row.push_back((int)column.size());
        b[i] = (i * 7919) % 1000 / 1000.0;
      }
  int *rows = copied(row), *columns = copied(column);
  double *values = copied(value), *r = copied(b), *p = copied(b), *x = copied(std::vector<double>(ROWS)), *q = device_array<double>(ROWS);
  double *part = device_array<double>(PARTS), *scalar = device_array<double>(3), *rr = scalar, *pq = scalar + 1, *next = scalar + 2;
  dot_parts<<<PARTS, 256>>>(r, r, part, ROWS);
  dot_sum<<<1, 1>>>(part, rr);
  CHECK(cudaDeviceSynchronize());
  const double from = seconds();
  for (int k = 0; k < steps; k++) {
    multiply<<<ctas, 256>>>(rows, columns, values, p, q, ROWS);
    dot_parts<<<PARTS, 256>>>(p, q, part, ROWS);
    dot_sum<<<1, 1>>>(part, pq);
    add<<<ctas, 256>>>(x, p, rr, pq, 1, ROWS);
    add<<<ctas, 256>>>(r, q, rr, pq, -1, ROWS);
    dot_parts<<<PARTS, 256>>>(r, r, part, ROWS);
    dot_sum<<<1, 1>>>(part, next);
    turn<<<ctas, 256>>>(p, r, next, rr, ROWS);
    CHECK(cudaMemcpyAsync(rr, next, sizeof(double), cudaMemcpyDeviceToDevice));
  }
  tell_steps(from, steps);
  CHECK(cudaMemcpy(b.data(), x, ROWS * sizeof(double), cudaMemcpyDeviceToHost));
  printf("x %016llx\n", digest(b.data(), ROWS * sizeof(double)));
  return 0;
}
