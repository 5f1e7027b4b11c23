#include <heddle_reference.h>
#include <stdlib.h>

/* One step in double, along x first. */
static void step(const double *in, double *out, int64_t nx, int64_t ny, int64_t nz) {
  memcpy(out, in, (size_t)(nx * ny * nz) * sizeof *out);
  for (int64_t z = 1; z < nz - 1; z++)
    for (int64_t y = 1; y < ny - 1; y++)
      for (int64_t x = 1; x < nx - 1; x++) {
        const double *p = in + (z * ny + y) * nx + x;
        out[p - in] = (p[-1] + p[1] + p[-nx] + p[nx] + p[-nx * ny] + p[nx * ny]) / 6;
      }
}

static void store(const double *from, float *to, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] = (float)from[i];
}

void heddle_reference(const heddle_args *args) {
  float *even = heddle_f32(args, "even"), *odd = heddle_f32(args, "odd");
  int64_t nx = heddle_size_of(args, "nx"), ny = heddle_size_of(args, "ny"), nz = heddle_size_of(args, "nz");
  int64_t steps = heddle_size_of(args, "steps"), n = nx * ny * nz;
  double *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b);
  if (a && b) {
    for (int64_t i = 0; i < n; i++) a[i] = even[i];
    for (int64_t s = 0; s < steps; s += 2) {
      step(a, b, nx, ny, nz);
      step(b, a, nx, ny, nz);
    }
    store(a, even, n);
    store(b, odd, n);
  }
  free(a);
  free(b);
  if (!a || !b) args->fail(args, "out of memory");
}
