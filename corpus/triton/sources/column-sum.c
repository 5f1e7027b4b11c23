#include "numbers.h"

void heddle_reference(const heddle_args *args) {
  const int8_t *x = heddle_s8(args, "x");
  int32_t *out = heddle_s32(args, "out");
  int64_t rows = heddle_size_of(args, "rows"), width = heddle_size_of(args, "width");
  for (int64_t i = 0; i < width; i++) {
    out[i] = 0;
    for (int64_t r = 0; r < rows; r++) out[i] += x[r * width + i];
  }
}
