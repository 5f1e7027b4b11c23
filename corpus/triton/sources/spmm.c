#include "numbers.h"

enum { BLOCK = 32 };

void heddle_reference(const heddle_args *args) {
  double *blocks = numbers_of(args, "blocks"), *dense = numbers_of(args, "dense");
  const int32_t *start = heddle_s32(args, "start"), *column = heddle_s32(args, "column");
  const heddle_buffer *out = heddle_find(args, "out");
  int64_t rows = BLOCK * heddle_size_of(args, "rows"), n = heddle_size_of(args, "n");
  for (int64_t y = 0; y < rows; y++)
    for (int64_t x = 0; x < n; x++) {
      double sum = 0;
      for (int64_t e = start[y / BLOCK]; e < start[y / BLOCK + 1]; e++)
        for (int64_t i = 0; i < BLOCK; i++)
          sum += blocks[(e * BLOCK + y % BLOCK) * BLOCK + i] * dense[(column[e] * BLOCK + i) * n + x];
      put_number(out, y * n + x, sum);
    }
  free(blocks);
  free(dense);
}
