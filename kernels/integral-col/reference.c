#include <heddle_reference.h>

/* Each row is the one above it plus the image's. */
void heddle_reference(const heddle_args *args) {
  const float *image = heddle_f32(args, "image");
  float *out = heddle_f32(args, "out");
  int64_t width = heddle_size_of(args, "width"), height = heddle_size_of(args, "height");
  for (int64_t x = 0; x < width; x++) out[x] = image[x];
  for (int64_t i = width; i < width * height; i++) out[i] = out[i - width] + image[i];
}
