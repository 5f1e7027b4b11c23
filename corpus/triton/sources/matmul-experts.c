#include "numbers.h"

enum { BLOCK = 64 };

void heddle_reference(const heddle_args *args) {
  double *a = numbers_of(args, "a"), *b = numbers_of(args, "b");
  const int32_t *tokens = heddle_s32(args, "tokens"), *expert_of = heddle_s32(args, "expert_of");
  const heddle_buffer *c = heddle_find(args, "c");
  int64_t rows = BLOCK * heddle_size_of(args, "blocks"), n = heddle_size_of(args, "n");
  int64_t k = heddle_size_of(args, "k");
  for (int64_t y = 0; y < rows; y++)
    for (int64_t x = 0; x < n; x++) {
      const double *matrix = b + expert_of[y / BLOCK] * k * n;
      double sum = 0;
      for (int64_t i = 0; i < k; i++) sum += a[tokens[y] * k + i] * matrix[i * n + x];
      put_number(c, y * n + x, sum);
    }
  free(a);
  free(b);
}
