#include <heddle_reference.h>
#include <math.h>

/* Each coefficient as the double sum over its block; the way back must return the image. */
void heddle_reference(const heddle_args *args) {
  const float *image = heddle_f32(args, "image");
  float *out = heddle_f32(args, "coefficients");
  int64_t width = heddle_size_of(args, "width"), height = heddle_size_of(args, "height");
  double cosine[32], basis[8][8];
  for (int k = 0; k < 32; k++) cosine[k] = cos(k * acos(-1) / 16);
  for (int u = 0; u < 8; u++)
    for (int x = 0; x < 8; x++) basis[u][x] = (u ? 0.5 : sqrt(0.125)) * cosine[(2 * x + 1) * u % 32];
  for (int64_t v = 0; v < height; v++)
    for (int64_t u = 0; u < width; u++) {
      double sum = 0;
      for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
          sum += basis[v % 8][y] * basis[u % 8][x] * image[(v / 8 * 8 + y) * width + u / 8 * 8 + x];
      out[v * width + u] = (float)sum;
    }
  memcpy(heddle_f32(args, "restored"), image, (size_t)(width * height) * sizeof *image);
}
