#include <heddle_reference.h>
#include <math.h>

/* In double, with the variance as the mean square less the square of the mean. */
void heddle_reference(const heddle_args *args) {
  const float *in = heddle_f32(args, "in");
  const float *scale = heddle_f32(args, "scale"), *shift = heddle_f32(args, "shift");
  float *out = heddle_f32(args, "out");
  int64_t rows = heddle_size_of(args, "rows"), width = heddle_size_of(args, "width");
  for (int64_t r = 0; r < rows; r++) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < width; i++) {
      double x = in[r * width + i];
      sum += x;
      squares += x * x;
    }
    double mean = sum / (double)width, variance = squares / (double)width - mean * mean;
    for (int64_t i = 0; i < width; i++)
      out[r * width + i] = (float)((in[r * width + i] - mean) / sqrt(variance + 1e-5f) * scale[i] + shift[i]);
  }
}
