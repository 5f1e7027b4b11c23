#include "numbers.h"

void heddle_reference(const heddle_args *args) {
  double *x = numbers_of(args, "x");
  const heddle_buffer *out = heddle_find(args, "out");
  const float *weight = heddle_f32(args, "weight"), *bias = heddle_f32(args, "bias");
  int64_t rows = heddle_size_of(args, "rows"), width = heddle_size_of(args, "width");
  for (int64_t r = 0; r < rows; r++) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < width; i++) sum += x[r * width + i];
    double mean = sum / (double)width;
    for (int64_t i = 0; i < width; i++) squares += pow(x[r * width + i] - mean, 2);
    double scale = 1 / sqrt(squares / (double)width + 1e-5f);
    for (int64_t i = 0; i < width; i++)
      put_number(out, r * width + i, (x[r * width + i] - mean) * scale * weight[i] + bias[i]);
  }
  free(x);
}
