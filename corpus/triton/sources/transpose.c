#include "numbers.h"

void heddle_reference(const heddle_args *args) {
  const uint16_t *x = heddle_f16(args, "x");
  uint16_t *out = heddle_f16(args, "out");
  int64_t m = heddle_size_of(args, "m"), n = heddle_size_of(args, "n");
  for (int64_t y = 0; y < m; y++)
    for (int64_t i = 0; i < n; i++) out[i * m + y] = x[y * n + i];
}
