#include "numbers.h"

void heddle_reference(const heddle_args *args) {
  double *a = numbers_of(args, "a"), *b = numbers_of(args, "b");
  const int32_t *heights = heddle_s32(args, "heights");
  const heddle_buffer *c = heddle_find(args, "c");
  int64_t most = 3 * heddle_size_of(args, "m"), n = heddle_size_of(args, "n"), k = heddle_size_of(args, "k");
  for (int64_t i = 0; i < heddle_size_of(args, "problems"); i++)
    for (int64_t y = 0; y < heights[i]; y++)
      for (int64_t x = 0; x < n; x++) {
        double sum = 0;
        for (int64_t j = 0; j < k; j++) sum += a[(i * most + y) * k + j] * b[(i * k + j) * n + x];
        put_number(c, (i * most + y) * n + x, sum);
      }
  free(a);
  free(b);
}
