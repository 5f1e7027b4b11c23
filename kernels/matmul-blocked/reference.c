#include <heddle_reference.h>

/* c = a b, one row of c at a time: b is read along its rows. */
void heddle_reference(const heddle_args *args) {
  const float *a = heddle_f32(args, "a"), *b = heddle_f32(args, "b");
  float *c = heddle_f32(args, "c");
  int64_t n = heddle_size_of(args, "n");
  memset(c, 0, (size_t)(n * n) * sizeof *c);
  for (int64_t y = 0; y < n; y++)
    for (int64_t k = 0; k < n; k++) {
      float factor = a[y * n + k];
      for (int64_t x = 0; x < n; x++) c[y * n + x] += factor * b[k * n + x];
    }
}
