#include <heddle_reference.h>

/* Every pixel is taken for a maximum until a neighbour proves that it is none. */
void heddle_reference(const heddle_args *args) {
  const float *image = heddle_f32(args, "image");
  float *out = heddle_f32(args, "out");
  int64_t width = heddle_size_of(args, "width"), height = heddle_size_of(args, "height"), pitch = width + 2;
  for (int64_t i = 0; i < width * height; i++) out[i] = 1;
  for (int64_t j = 0; j < 3; j++)
    for (int64_t i = 0; i < 3; i++)
      for (int64_t y = 0; y < height && (i != 1 || j != 1); y++)
        for (int64_t x = 0; x < width; x++)
          if (image[(y + j) * pitch + x + i] >= image[(y + 1) * pitch + x + 1]) out[y * width + x] = 0;
}
