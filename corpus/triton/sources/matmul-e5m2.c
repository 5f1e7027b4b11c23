#include "numbers.h"

#ifndef EXPONENT
#define EXPONENT 5
#define MANTISSA 2
#endif

/* B's rows run along k. */
void heddle_reference(const heddle_args *args) {
  const uint8_t *a = heddle_u8(args, "a"), *b = heddle_u8(args, "b");
  float *c = heddle_f32(args, "c");
  int64_t m = heddle_size_of(args, "m"), n = heddle_size_of(args, "n"), k = heddle_size_of(args, "k");
  for (int64_t y = 0; y < m; y++)
    for (int64_t x = 0; x < n; x++) {
      double sum = 0;
      for (int64_t i = 0; i < k; i++)
        sum += small_float(a[y * k + i], EXPONENT, MANTISSA) * small_float(b[x * k + i], EXPONENT, MANTISSA);
      c[y * n + x] = (float)sum;
    }
}
