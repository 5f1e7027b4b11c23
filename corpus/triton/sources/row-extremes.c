#include "numbers.h"

void heddle_reference(const heddle_args *args) {
  const int32_t *x = heddle_s32(args, "x");
  int32_t *top = heddle_s32(args, "top"), *where = heddle_s32(args, "where");
  int64_t rows = heddle_size_of(args, "rows"), width = heddle_size_of(args, "width");
  for (int64_t r = 0; r < rows; r++) {
    where[r] = 0;
    for (int32_t i = 1; i < width; i++)
      if (x[r * width + i] > x[r * width + where[r]]) where[r] = i;
    top[r] = x[r * width + where[r]];
  }
}
