#include "numbers.h"

static int by_value(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

void heddle_reference(const heddle_args *args) {
  float *out = heddle_f32(args, "out");
  int64_t rows = heddle_size_of(args, "rows");
  memcpy(out, heddle_f32(args, "x"), (size_t)rows * 256 * sizeof *out);
  for (int64_t r = 0; r < rows; r++) qsort(out + r * 256, 256, sizeof *out, by_value);
}
