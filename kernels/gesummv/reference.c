#include <heddle_reference.h>

/* One sum of alpha a + beta b, in integers. */
void heddle_reference(const heddle_args *args) {
  const float *a = heddle_f32(args, "a"), *b = heddle_f32(args, "b"), *x = heddle_f32(args, "x");
  float *product = heddle_f32(args, "product"), *y = heddle_f32(args, "y");
  int64_t n = heddle_size_of(args, "n");
  for (int64_t i = 0; i < n; i++) {
    int64_t sum = 0, first = 0;
    for (int64_t j = 0; j < n; j++) {
      int64_t in_a = (int64_t)a[i * n + j], in_b = (int64_t)b[i * n + j], factor = (int64_t)x[j];
      sum += (3 * in_a + 2 * in_b) * factor;
      first += in_a * factor;
    }
    product[i] = (float)first;
    y[i] = (float)sum;
  }
}
