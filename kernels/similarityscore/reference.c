#include <heddle_reference.h>
#include <math.h>

void heddle_reference(const heddle_args *args) {
  const int32_t *features = heddle_s32(args, "features");
  float *length = heddle_f32(args, "length"), *score = heddle_f32(args, "score");
  int64_t n = heddle_size_of(args, "documents"), dims = heddle_size_of(args, "dims");
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j <= i; j++) {
      double dot = 0, a = 0, b = 0;
      for (int64_t k = 0; k < dims; k++) {
        double x = features[i * dims + k], y = features[j * dims + k];
        dot += x * y;
        a += x * x;
        b += y * y;
      }
      score[i * n + j] = score[j * n + i] = (float)(dot / sqrt(a * b));
      if (i == j) length[i] = (float)sqrt(a);
    }
}
