#include <heddle_inputs.h>
#include <heddle_reference.h>
#include <math.h>
#include <stdlib.h>

/* Three pictures as colours, with noise of their own on most pixels. */
void heddle_generate(const heddle_args *args) {
  uint32_t *image = heddle_u32(args, "image");
  int64_t width = heddle_size_of(args, "width"), height = heddle_size_of(args, "height");
  for (int64_t y = 0; y < height; y++)
    for (int64_t x = 0; x < width; x++) {
      uint32_t rgba = 0;
      for (int c = 0; c < 3; c++) rgba |= (uint32_t)heddle_pixel((uint64_t)(10 * c), x, y) << (8 * c);
      image[y * width + x] = rgba;
    }
}

typedef struct picture {
  const uint32_t *image;
  int64_t width, height;
} picture;

/* Channel c of pixel (x, y), the nearest of the picture where there is none. */
static int colour(const picture *p, int64_t x, int64_t y, int c) {
  x = x < 0 ? 0 : x >= p->width ? p->width - 1 : x;
  y = y < 0 ? 0 : y >= p->height ? p->height - 1 : y;
  return p->image[y * p->width + x] >> (8 * c) & 255;
}

static int64_t difference(const picture *p, int64_t x, int64_t y, int64_t dx, int64_t dy) {
  int64_t sum = 0;
  for (int c = 0; c < 3; c++) {
    int d = colour(p, x + dx, y + dy, c) - colour(p, x, y, c);
    sum += d * d;
  }
  return sum;
}

/* Offset by offset over the whole picture. The distance of two blocks is a sum over a square, here kept
 * in `column` as the sums of its columns (which move down by one row at a time) and moved along the row. */
void heddle_reference(const heddle_args *args) {
  picture p = {heddle_u32(args, "image"), heddle_size_of(args, "width"), heddle_size_of(args, "height")};
  uint8_t *out = heddle_u8(args, "out");
  int64_t window = heddle_size_of(args, "window"), block = heddle_size_of(args, "block");
  int64_t n = p.width * p.height, side = 2 * window + 1, padded = p.width + 2 * block;
  double(*mean)[4] = calloc((size_t)n, sizeof *mean);
  int32_t *alike = calloc((size_t)n, sizeof *alike);
  int64_t *column = malloc((size_t)padded * sizeof *column);
  if (!mean || !alike || !column) {
    args->fail(args, "no memory");
    return;
  }
  for (int64_t dy = -window; dy <= window; dy++)
    for (int64_t dx = -window; dx <= window; dx++)
      for (int64_t y = 0; y < p.height; y++) {
        for (int64_t k = 0; k < padded; k++)
          if (y == 0) {
            column[k] = 0;
            for (int64_t v = -block; v <= block; v++) column[k] += difference(&p, k - block, v, dx, dy);
          } else {
            column[k] += difference(&p, k - block, y + block, dx, dy) -
                         difference(&p, k - block, y - block - 1, dx, dy);
          }
        int64_t distance = 0;
        for (int64_t k = 0; k < 2 * block; k++) distance += column[k];
        for (int64_t x = 0; x < p.width; x++) {
          distance += column[x + 2 * block];
          double exponent = (double)distance / 8192 + (double)(dx * dx + dy * dy) / 64;
          double weight = exp(-exponent);
          double *m = mean[y * p.width + x];
          for (int c = 0; c < 3; c++) m[c] += weight * colour(&p, x + dx, y + dy, c);
          m[3] += weight;
          alike[y * p.width + x] += exponent < 2.25;
          distance -= column[x];
        }
      }
  for (int64_t i = 0; i < n; i++) {
    double own = alike[i] > side * side * 4 / 5 ? 0.2 : 0.8;
    for (int c = 0; c < 3; c++)
      out[4 * i + c] =
          (uint8_t)((1 - own) * mean[i][c] / mean[i][3] + own * (p.image[i] >> (8 * c) & 255) + 0.5);
    out[4 * i + 3] = 0;
  }
  free(column);
  free(alike);
  free(mean);
}
