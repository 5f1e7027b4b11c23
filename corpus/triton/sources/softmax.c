#include "numbers.h"

void heddle_reference(const heddle_args *args) {
  const float *x = heddle_f32(args, "x");
  float *out = heddle_f32(args, "out");
  int64_t rows = heddle_size_of(args, "rows"), width = heddle_size_of(args, "width");
  for (int64_t r = 0; r < rows; r++) {
    double sum = 0;
    for (int64_t i = 0; i < width; i++) sum += exp(x[r * width + i]);
    for (int64_t i = 0; i < width; i++) out[r * width + i] = (float)(exp(x[r * width + i]) / sum);
  }
}
