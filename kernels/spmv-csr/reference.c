#include <heddle_inputs.h>
#include <heddle_reference.h>

/* A power-law (R-MAT) matrix, or with half_width not 0 a banded one. */
void heddle_generate(const heddle_args *args) {
  int32_t *row_start = heddle_s32(args, "row_start"), *column = heddle_s32(args, "column");
  int64_t rows = heddle_size_of(args, "rows"), degree = heddle_size_of(args, "degree"),
          half_width = heddle_size_of(args, "half_width");
  if (half_width)
    heddle_banded(1, rows, degree, half_width, row_start, column);
  else
    heddle_rmat(1, rows, rows * degree, row_start, column);
}

/* Value by value in the order of storage, with the row looked for. */
void heddle_reference(const heddle_args *args) {
  const int32_t *row_start = heddle_s32(args, "row_start"), *column = heddle_s32(args, "column");
  const float *value = heddle_f32(args, "value"), *x = heddle_f32(args, "x");
  float *y = heddle_f32(args, "y");
  int64_t rows = heddle_size_of(args, "rows"), entries = row_start[rows];
  memset(y, 0, (size_t)rows * sizeof *y);
  for (int64_t i = 0, row = 0; i < entries; i++) {
    while (row_start[row + 1] <= i) row++;
    y[row] += value[i] * x[column[i]];
  }
}
