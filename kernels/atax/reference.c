#include <heddle_reference.h>
#include <stdlib.h>

/* Row by row: a row's product with x is used at once. In integers. */
void heddle_reference(const heddle_args *args) {
  const float *a = heddle_f32(args, "a"), *x = heddle_f32(args, "x");
  float *product = heddle_f32(args, "product"), *y = heddle_f32(args, "y");
  int64_t rows = heddle_size_of(args, "rows"), columns = heddle_size_of(args, "columns");
  int64_t *sums = calloc((size_t)columns, sizeof *sums);
  if (!sums) {
    args->fail(args, "no memory");
    return;
  }
  for (int64_t i = 0; i < rows; i++) {
    int64_t dot = 0;
    for (int64_t j = 0; j < columns; j++) dot += (int64_t)a[i * columns + j] * (int64_t)x[j];
    for (int64_t j = 0; j < columns; j++) sums[j] += dot * (int64_t)a[i * columns + j];
    product[i] = (float)dot;
  }
  for (int64_t j = 0; j < columns; j++) y[j] = (float)sums[j];
  free(sums);
}
