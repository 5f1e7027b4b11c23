#include "numbers.h"

enum { GROUP = 32 };

static double element(const uint8_t *x, const uint8_t *scale, int64_t i) {
  return small_float(x[i], 5, 2) * ldexp(1, scale[i / GROUP] - 127);
}

void heddle_reference(const heddle_args *args) {
  const uint8_t *a = heddle_find(args, "a")->data, *b = heddle_find(args, "b")->data;
  const uint8_t *scale_a = heddle_find(args, "scale_a")->data, *scale_b = heddle_find(args, "scale_b")->data;
  float *c = heddle_f32(args, "c");
  int64_t m = heddle_size_of(args, "m"), n = heddle_size_of(args, "n"), k = heddle_size_of(args, "k");
  for (int64_t y = 0; y < m; y++)
    for (int64_t x = 0; x < n; x++) {
      double sum = 0;
      for (int64_t i = 0; i < k; i++) sum += element(a, scale_a, y * k + i) * element(b, scale_b, x * k + i);
      c[y * n + x] = (float)sum;
    }
}
