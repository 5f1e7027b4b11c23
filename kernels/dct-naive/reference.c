#include <heddle_reference.h>
#include <math.h>

/* basis[u][x] = s(u) cos((2x + 1) u pi / 16), s(0) = sqrt(1/8), else 1/2; from the cosines of the first
 * quadrant, so that every machine has the same. */
void heddle_generate(const heddle_args *args) {
  static const float quarter[9] = {1.0f,         0.980785280f, 0.923879533f, 0.831469612f, 0.707106781f,
                                   0.555570233f, 0.382683432f, 0.195090322f, 0.0f};
  float *basis = heddle_f32(args, "basis");
  for (int u = 0; u < 8; u++)
    for (int x = 0; x < 8; x++) {
      int k = (2 * x + 1) * u % 32; /* the angle in 16ths of pi */
      k = k > 16 ? 32 - k : k;
      float cosine = k > 8 ? -quarter[16 - k] : quarter[k];
      basis[u * 8 + x] = u ? 0.5f * cosine : 0.353553391f;
    }
}

/* Rows of a block, then columns, in double precision. */
void heddle_reference(const heddle_args *args) {
  const float *image = heddle_f32(args, "image");
  float *out = heddle_f32(args, "out");
  int64_t width = heddle_size_of(args, "width"), height = heddle_size_of(args, "height");
  double cosine[32], rows[8][8];
  for (int k = 0; k < 32; k++) cosine[k] = cos(k * acos(-1) / 16);
  for (int64_t y = 0; y < height; y += 8)
    for (int64_t x = 0; x < width; x += 8) {
      for (int j = 0; j < 8; j++)
        for (int u = 0; u < 8; u++) {
          rows[j][u] = 0;
          for (int i = 0; i < 8; i++)
            rows[j][u] += cosine[(2 * i + 1) * u % 32] * image[(y + j) * width + x + i];
        }
      for (int v = 0; v < 8; v++)
        for (int u = 0; u < 8; u++) {
          double sum = 0;
          for (int j = 0; j < 8; j++) sum += cosine[(2 * j + 1) * v % 32] * rows[j][u];
          out[(y + v) * width + x + u] = (float)(sum / 4 * (u ? 1 : sqrt(0.5)) * (v ? 1 : sqrt(0.5)));
        }
    }
}
