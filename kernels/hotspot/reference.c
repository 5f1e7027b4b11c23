#include <heddle_reference.h>
#include <stdlib.h>

/* All cells step by step, in double precision. */
static void step(const float *power, const double *old, double *next, int64_t columns, int64_t rows) {
  const double cap = (float)4.2724609375e-7, rx = 10, ry = 10, rz = 5120, dt = (float)1.458333333e-7;
  for (int64_t y = 0; y < rows; y++)
    for (int64_t x = 0; x < columns; x++) {
      const double *at = old + y * columns + x;
      double north = y > 0 ? at[-columns] : *at, south = y + 1 < rows ? at[columns] : *at;
      double west = x > 0 ? at[-1] : *at, east = x + 1 < columns ? at[1] : *at;
      double flow = power[y * columns + x] + (north + south - 2 * *at) / ry + (west + east - 2 * *at) / rx +
                    (80 - *at) / rz;
      next[y * columns + x] = *at + dt / cap * flow;
    }
}

void heddle_reference(const heddle_args *args) {
  const float *power = heddle_f32(args, "power");
  float *temperature = heddle_f32(args, "temperature"), *result = heddle_f32(args, "result");
  int64_t columns = heddle_size_of(args, "columns"), rows = heddle_size_of(args, "rows"),
          steps = heddle_size_of(args, "steps");
  int64_t n = columns * rows;
  double *old = malloc((size_t)n * sizeof *old), *next = malloc((size_t)n * sizeof *next);
  if (!old || !next) {
    args->fail(args, "no memory");
    return;
  }
  for (int64_t i = 0; i < n; i++) old[i] = temperature[i];
  for (int64_t k = 0; k < 2 * steps; k++) {
    step(power, old, next, columns, rows);
    double *t = old;
    old = next;
    next = t;
    if (k + 1 == steps)
      for (int64_t i = 0; i < n; i++) result[i] = (float)old[i];
  }
  for (int64_t i = 0; i < n; i++) temperature[i] = (float)old[i];
  free(old);
  free(next);
}
