#include <heddle_reference.h>

/* The colour that the sensor of pixel (x, y) sees: 0 red, 1 green, 2 blue. */
static int colour_at(int64_t x, int64_t y) { return (int)(x & 1) + (int)(y & 1); }

/* A colour at a pixel is the pixel itself if it sees that colour, else the average of those of the 3 x 3
 * pixels around it that do. */
void heddle_reference(const heddle_args *args) {
  static const char *const names[3] = {"red", "green", "blue"};
  const float *raw = heddle_f32(args, "raw");
  int64_t width = heddle_size_of(args, "width"), height = heddle_size_of(args, "height"), pitch = width + 2;
  for (int colour = 0; colour < 3; colour++) {
    float *out = heddle_f32(args, names[colour]);
    for (int64_t y = 0; y < height; y++)
      for (int64_t x = 0; x < width; x++) {
        double sum = 0, n = 0;
        int64_t reach = colour_at(x, y) != colour;
        for (int64_t j = -reach; j <= reach; j++)
          for (int64_t i = -reach; i <= reach; i++)
            if (colour_at(x + i, y + j) == colour) sum += raw[(y + 1 + j) * pitch + x + 1 + i], n++;
        out[y * width + x] = (float)(sum / n);
      }
  }
}
