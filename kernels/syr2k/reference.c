#include <heddle_reference.h>

/* The lower half in integers; a b^T + b a^T is symmetric, beta c is not. */
void heddle_reference(const heddle_args *args) {
  const float *a = heddle_f32(args, "a"), *b = heddle_f32(args, "b");
  float *c = heddle_f32(args, "c");
  int64_t n = heddle_size_of(args, "n"), m = heddle_size_of(args, "m");
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j <= i; j++) {
      int64_t sum = 0;
      for (int64_t k = 0; k < m; k++)
        sum += (int64_t)a[i * m + k] * (int64_t)b[j * m + k] + (int64_t)b[i * m + k] * (int64_t)a[j * m + k];
      float lower = 3 * (float)sum + 2 * c[i * n + j], upper = 3 * (float)sum + 2 * c[j * n + i];
      c[i * n + j] = lower;
      c[j * n + i] = upper;
    }
}
