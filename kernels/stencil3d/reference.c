#include <heddle_reference.h>
#include <stdlib.h>

/* In double precision: each step gathers the six neighbours direction by direction. */
void heddle_reference(const heddle_args *args) {
  float *a = heddle_f32(args, "a"), *b = heddle_f32(args, "b");
  int64_t nx = heddle_size_of(args, "nx"), ny = heddle_size_of(args, "ny"), nz = heddle_size_of(args, "nz");
  int64_t pairs = heddle_size_of(args, "pairs"), cells = nx * ny * nz;
  const int64_t direction[] = {1, -1, nx, -nx, nx * ny, -nx * ny};
  double *from = malloc((size_t)cells * sizeof *from), *to = malloc((size_t)cells * sizeof *to);
  if (!from || !to) args->fail(args, "out of memory");
  for (int64_t i = 0; i < cells; i++) from[i] = to[i] = a[i];
  for (int64_t step = 0; step < 2 * pairs; step++) {
    for (int64_t z = 1; z < nz - 1; z++)
      for (int64_t y = 1; y < ny - 1; y++)
        for (int64_t i = 1 + nx * (y + ny * z), end = i + nx - 2; i < end; i++) {
          double sum = 0;
          for (int k = 0; k < 6; k++) sum += from[i + direction[k]];
          to[i] = 0.125 * sum - 0.25 * from[i];
        }
    double *swap = from;
    from = to;
    to = swap;
  }
  for (int64_t i = 0; i < cells; i++) {
    a[i] = (float)from[i];
    b[i] = (float)to[i];
  }
  free(from);
  free(to);
}
