#include "numbers.h"

void heddle_reference(const heddle_args *args) {
  double *x = numbers_of(args, "x"), *grad = numbers_of(args, "grad"), *weight = numbers_of(args, "weight");
  const heddle_buffer *dx = heddle_find(args, "dx");
  float *dweight = heddle_f32(args, "dweight"), *dbias = heddle_f32(args, "dbias");
  int64_t rows = heddle_size_of(args, "rows"), n = heddle_size_of(args, "width");
  int64_t programs = heddle_size_of(args, "programs");
  double *sums = calloc((size_t)(2 * programs * n), sizeof *sums);
  if (!sums) args->fail(args, "out of memory");
  for (int64_t r = 0; r < rows; r++) {
    const double *v = x + r * n, *g = grad + r * n;
    double *own = sums + 2 * (r % programs) * n, mean = 0, variance = 0, with_unit = 0, alone = 0;
    for (int64_t i = 0; i < n; i++) mean += v[i] / (double)n;
    for (int64_t i = 0; i < n; i++) variance += pow(v[i] - mean, 2) / (double)n;
    double inverse = 1 / sqrt(variance + 1e-5f);
    for (int64_t i = 0; i < n; i++) {
      with_unit += (v[i] - mean) * inverse * weight[i] * g[i] / (double)n;
      alone += weight[i] * g[i] / (double)n;
      own[i] += g[i] * (v[i] - mean) * inverse;
      own[n + i] += g[i];
    }
    for (int64_t i = 0; i < n; i++)
      put_number(dx, r * n + i, (weight[i] * g[i] - (v[i] - mean) * inverse * with_unit - alone) * inverse);
  }
  for (int64_t i = 0; i < programs * n; i++) {
    dweight[i] = (float)sums[2 * (i / n) * n + i % n];
    dbias[i] = (float)sums[(2 * (i / n) + 1) * n + i % n];
  }
  free(x);
  free(grad);
  free(weight);
  free(sums);
}
