#include "numbers.h"

enum { WIDTH = 64 };

void heddle_reference(const heddle_args *args) {
  const float *x = heddle_f32(args, "x");
  const int32_t *index = heddle_s32(args, "index");
  float *out = heddle_f32(args, "out");
  for (int64_t i = 0; i < heddle_size_of(args, "n"); i++)
    for (int64_t k = 0; k < WIDTH; k++) out[index[i] * WIDTH + k] += x[i * WIDTH + k];
}
