#include <heddle_reference.h>

/* Each pixel is handed to where it counts: its own place and one block width to either side. */
void heddle_reference(const heddle_args *args) {
  const int32_t *in = heddle_s32(args, "in");
  int32_t *out = heddle_s32(args, "out");
  int64_t width = heddle_size_of(args, "width"), height = heddle_size_of(args, "height");
  memset(out, 0, (size_t)(width * height) * sizeof *out);
  for (int64_t y = 0; y < height; y++)
    for (int64_t shift = -16; shift <= 16; shift += 16)
      for (int64_t x = 0; x < width; x++)
        if (x + shift >= 0 && x + shift < width) out[y * width + x + shift] += in[y * width + x];
}
