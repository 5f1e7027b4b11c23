#include <heddle_reference.h>

/* A column of c at a time, as a sum of columns of a. */
void heddle_reference(const heddle_args *args) {
  const float *a = heddle_f32(args, "a"), *b = heddle_f32(args, "b");
  float *c = heddle_f32(args, "c");
  int64_t m = heddle_size_of(args, "m"), n = heddle_size_of(args, "n"), k = heddle_size_of(args, "k");
  for (int64_t j = 0; j < n; j++) {
    float *column = c + j * m;
    for (int64_t i = 0; i < m; i++) column[i] *= 3;
    for (int64_t p = 0; p < k; p++) {
      float factor = 2 * b[p * n + j];
      for (int64_t i = 0; i < m; i++) column[i] += factor * a[p * m + i];
    }
  }
}
