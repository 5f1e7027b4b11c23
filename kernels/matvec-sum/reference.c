#include <heddle_reference.h>

/* Column by column; every sum is a whole number below 2^24. */
void heddle_reference(const heddle_args *args) {
  const float *a = heddle_f32(args, "a"), *b = heddle_f32(args, "b"), *x = heddle_f32(args, "x");
  float *y = heddle_f32(args, "y");
  int64_t rows = heddle_size_of(args, "rows"), columns = heddle_size_of(args, "columns");
  memset(y, 0, (size_t)rows * sizeof *y);
  for (int64_t j = 0; j < columns; j++)
    for (int64_t i = 0; i < rows; i++) y[i] += (3 * a[j * rows + i] + 2 * b[j * rows + i]) * x[j];
}
