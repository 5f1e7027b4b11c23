#include <heddle_reference.h>
#include <stdlib.h>

enum { RADIUS = 5, SIDE = 2 * RADIUS + 1 };

/* Row by row in double: every filter weight is added, shifted, into a whole row. */
void heddle_reference(const heddle_args *args) {
  const float *image = heddle_f32(args, "image"), *filter = heddle_f32(args, "filter");
  float *out = heddle_f32(args, "out");
  int64_t width = heddle_size_of(args, "width"), height = heddle_size_of(args, "height");
  double *row = calloc((size_t)width, sizeof *row);
  if (!row) args->fail(args, "out of memory");
  for (int64_t y = 0; y < height; y++) {
    memset(row, 0, (size_t)width * sizeof *row);
    for (int64_t fy = 0; fy < SIDE; fy++) {
      int64_t from = y + fy - RADIUS;
      if (from < 0 || from >= height) continue;
      for (int64_t fx = 0; fx < SIDE; fx++) {
        int64_t shift = fx - RADIUS, first = shift < 0 ? -shift : 0, last = shift > 0 ? width - shift : width;
        for (int64_t x = first; x < last; x++)
          row[x] += (double)filter[fy * SIDE + fx] * image[from * width + x + shift];
      }
    }
    for (int64_t x = 0; x < width; x++) out[y * width + x] = (float)row[x];
  }
  free(row);
}
