#include <heddle_reference.h>

/* Each pixel is the one above it, which lies before it, plus the image's. */
void heddle_reference(const heddle_args *args) {
  const float *image = heddle_f32(args, "image");
  float *out = heddle_f32(args, "out");
  int64_t width = heddle_size_of(args, "width"), height = heddle_size_of(args, "height");
  for (int64_t i = 0; i < width * height; i++) out[i] = image[i] + (i % height ? out[i - 1] : 0);
}
