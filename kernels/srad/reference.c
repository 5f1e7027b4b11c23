#include <heddle_inputs.h>
#include <heddle_reference.h>
#include <stdlib.h>

/* A speckled picture as Rodinia's first kernel leaves it, between 1 and e, and the neighbours' coordinates.
 */
void heddle_generate(const heddle_args *args) {
  int64_t rows = heddle_size_of(args, "rows"), columns = heddle_size_of(args, "columns");
  float *image = heddle_f32(args, "image");
  for (int64_t x = 0; x < columns; x++)
    for (int64_t y = 0; y < rows; y++) {
      int64_t i = x * rows + y;
      image[i] = (float)(1 + heddle_pixel(1, x, y) * (1 + 0.3 * heddle_bell(9, (uint64_t)i)) / 195);
    }
  int32_t *north = heddle_s32(args, "north"), *south = heddle_s32(args, "south"),
          *west = heddle_s32(args, "west"), *east = heddle_s32(args, "east");
  for (int64_t y = 0; y < rows; y++) {
    north[y] = (int32_t)(y > 0 ? y - 1 : 0);
    south[y] = (int32_t)(y + 1 < rows ? y + 1 : y);
  }
  for (int64_t x = 0; x < columns; x++) {
    west[x] = (int32_t)(x > 0 ? x - 1 : 0);
    east[x] = (int32_t)(x + 1 < columns ? x + 1 : x);
  }
}

/* The flow from a pixel to its neighbour `step` further, 0 outside of the picture. */
static float difference(const float *p, ptrdiff_t step, int inside) { return inside ? p[step] - p[0] : 0; }

static float limited(float c) { return c < 0 ? 0 : c > 1 ? 1 : c; }

/* How much may flow around a pixel whose differences are d. */
static float coefficient(float centre, const float d[4], float q0) {
  float gradient = ((d[0] * d[0] + d[1] * d[1]) + (d[2] * d[2] + d[3] * d[3])) / (centre * centre);
  float laplacian = ((d[0] + d[1]) + (d[2] + d[3])) / centre;
  float spread = 1 + laplacian / 4, q = (gradient / 2 - laplacian * laplacian / 16) / (spread * spread);
  return limited(1 / (1 + (q - q0) / (q0 * (1 + q0))));
}

/* The same roundings, on one picture framed by bounds checks instead of index tables. */
void heddle_reference(const heddle_args *args) {
  int64_t rows = heddle_size_of(args, "rows"), columns = heddle_size_of(args, "columns"), n = rows * columns,
          steps = heddle_size_of(args, "steps");
  float *image = heddle_f32(args, "image"), *c = heddle_f32(args, "coefficient");
  float(*d)[4] = malloc((size_t)n * sizeof *d);
  if (!d) args->fail(args, "out of memory");
  for (int64_t step = 0; step < steps; step++) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
      float square = image[i] * image[i];
      sum += image[i];
      squares += square;
    }
    double mean = sum / (double)n;
    float q0 = (float)((squares / (double)n - mean * mean) / (mean * mean));
    for (int64_t x = 0; x < columns; x++)
      for (int64_t y = 0; y < rows; y++) {
        int64_t i = x * rows + y;
        d[i][0] = difference(&image[i], -1, y > 0);
        d[i][1] = difference(&image[i], 1, y + 1 < rows);
        d[i][2] = difference(&image[i], -rows, x > 0);
        d[i][3] = difference(&image[i], rows, x + 1 < columns);
        c[i] = coefficient(image[i], d[i], q0);
      }
    for (int64_t x = 0; x < columns; x++)
      for (int64_t y = 0; y < rows; y++) {
        int64_t i = x * rows + y;
        float below = c[y + 1 < rows ? i + 1 : i], right = c[x + 1 < columns ? i + rows : i];
        image[i] += ((c[i] * d[i][0] + below * d[i][1]) + (c[i] * d[i][2] + right * d[i][3])) / 8;
      }
  }
  free(d);
}
