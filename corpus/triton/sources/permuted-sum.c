#include <heddle_reference.h>

void heddle_reference(const heddle_args *args) {
  enum { TOKENS = 96, HEADS = 6, WIDTH = 64 };
  const float *x = heddle_f32(args, "x"), *bias = heddle_f32(args, "bias");
  float *out = heddle_f32(args, "out");
  for (int64_t b = 0; b < heddle_size_of(args, "batch"); b++)
    for (int64_t t = 0; t < TOKENS; t++)
      for (int64_t h = 0; h < HEADS; h++)
        for (int64_t d = 0; d < WIDTH; d++)
          out[((b * HEADS + h) * TOKENS + t) * WIDTH + d] =
              x[((b * TOKENS + t) * HEADS + h) * WIDTH + d] + bias[h * WIDTH + d];
}
