#include <heddle_reference.h>

/* Running sums along each row. */
void heddle_reference(const heddle_args *args) {
  const float *image = heddle_f32(args, "image");
  float *out = heddle_f32(args, "out");
  int64_t width = heddle_size_of(args, "width"), height = heddle_size_of(args, "height");
  for (int64_t y = 0; y < height; y++) {
    float sum = 0;
    for (int64_t x = 0; x < width; x++) out[y * width + x] = sum += image[y * width + x];
  }
}
