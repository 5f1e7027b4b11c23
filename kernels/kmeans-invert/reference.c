#include <heddle_reference.h>

void heddle_reference(const heddle_args *args) {
  const float *input = heddle_f32(args, "input");
  float *inverted = heddle_f32(args, "inverted");
  int64_t points = heddle_size_of(args, "points"), features = heddle_size_of(args, "features");
  for (int64_t i = 0; i < features; i++)
    for (int64_t p = 0; p < points; p++) inverted[i * points + p] = input[p * features + i];
}
