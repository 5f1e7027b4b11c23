#include <heddle_reference.h>

/* One filter tap at a time, over the whole image. */
void heddle_reference(const heddle_args *args) {
  const float *image = heddle_f32(args, "image"), *filter = heddle_f32(args, "filter");
  float *out = heddle_f32(args, "out");
  int64_t width = heddle_size_of(args, "width"), height = heddle_size_of(args, "height"), pitch = width + 6;
  memset(out, 0, (size_t)(width * height) * sizeof *out);
  for (int64_t tap = 0; tap < 49; tap++)
    for (int64_t y = 0; y < height; y++) {
      const float *row = image + (y + tap / 7) * pitch + tap % 7;
      for (int64_t x = 0; x < width; x++) out[y * width + x] += filter[tap] * row[x];
    }
}
