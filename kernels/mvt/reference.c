#include <heddle_reference.h>

/* Both products in one pass over the rows; every sum is a whole number below 2^24. */
void heddle_reference(const heddle_args *args) {
  const float *a = heddle_f32(args, "a"), *y1 = heddle_f32(args, "y1"), *y2 = heddle_f32(args, "y2");
  float *x1 = heddle_f32(args, "x1"), *x2 = heddle_f32(args, "x2");
  int64_t n = heddle_size_of(args, "n");
  for (int64_t i = 0; i < n; i++) {
    const float *row = a + i * n;
    int64_t dot = 0;
    for (int64_t j = 0; j < n; j++) dot += (int64_t)row[j] * (int64_t)y1[j];
    for (int64_t j = 0; j < n; j++) x2[j] += y2[i] * row[j];
    x1[i] += (float)dot;
  }
}
