#include <heddle_reference.h>

/* Row x of the result is column x of the matrix. */
void heddle_reference(const heddle_args *args) {
  const float *in = heddle_f32(args, "in");
  float *out = heddle_f32(args, "out");
  int64_t width = heddle_size_of(args, "width"), height = heddle_size_of(args, "height");
  for (int64_t x = 0; x < width; x++)
    for (int64_t y = 0; y < height; y++) memcpy(out++, in + y * width + x, sizeof *out);
}
