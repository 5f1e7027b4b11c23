#include "numbers.h"

void heddle_reference(const heddle_args *args) {
  double *a = numbers_of(args, "a"), *b = numbers_of(args, "b");
  const heddle_buffer *c = heddle_find(args, "c");
  int64_t m = heddle_size_of(args, "m"), n = heddle_size_of(args, "n"), k = heddle_size_of(args, "k");
  for (int64_t z = 0; z < heddle_size_of(args, "batch"); z++)
    for (int64_t y = 0; y < m; y++)
      for (int64_t x = 0; x < n; x++) {
        double sum = 0;
        for (int64_t i = 0; i < k; i++) sum += a[(z * m + y) * k + i] * b[(z * k + i) * n + x];
        put_number(c, (z * m + y) * n + x, sum);
      }
  free(a);
  free(b);
}
