#include "numbers.h"

/* B's rows run along k. */
void heddle_reference(const heddle_args *args) {
  const int8_t *a = heddle_s8(args, "a"), *b = heddle_s8(args, "b");
  int32_t *c = heddle_s32(args, "c");
  int64_t m = heddle_size_of(args, "m"), n = heddle_size_of(args, "n"), k = heddle_size_of(args, "k");
  for (int64_t y = 0; y < m; y++)
    for (int64_t x = 0; x < n; x++) {
      int32_t sum = 0;
      for (int64_t i = 0; i < k; i++) sum += a[y * k + i] * b[x * k + i];
      c[y * n + x] = sum;
    }
}
