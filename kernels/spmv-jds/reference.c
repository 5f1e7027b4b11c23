#include <heddle_inputs.h>
#include <heddle_reference.h>

enum { GROUP = 32 };

static int64_t entries_of(const heddle_args *args, int64_t row) {
  int64_t shortest = heddle_size_of(args, "shortest"), longest = heddle_size_of(args, "longest");
  return shortest + heddle_below(1, (uint64_t)row, longest - shortest + 1);
}

/* A row's entries are at columns around its own, one may meet another. */
static int64_t column_of(const heddle_args *args, int64_t row, int64_t k) {
  int64_t rows = heddle_size_of(args, "rows"), half = heddle_size_of(args, "half_width");
  int64_t column = row - half + heddle_below(2, (uint64_t)(row * 1024 + k), 2 * half + 1);
  return column < 0 ? 0 : column >= rows ? rows - 1 : column;
}

static int64_t value_of(int64_t row, int64_t k) {
  return heddle_below(3, (uint64_t)(row * 1024 + k), 5) - 2;
}

/* Rows by their lengths, the longest first, then by their numbers. */
static void sort_rows(const heddle_args *args, int32_t *row) {
  int64_t rows = heddle_size_of(args, "rows"), n = 0;
  for (int64_t entries = heddle_size_of(args, "longest"); n < rows; entries--)
    for (int64_t r = 0; r < rows; r++)
      if (entries_of(args, r) == entries) row[n++] = (int32_t)r;
}

void heddle_generate(const heddle_args *args) {
  int32_t *start = heddle_s32(args, "diagonal_start"), *length = heddle_s32(args, "length"),
          *column = heddle_s32(args, "column"), *row = heddle_s32(args, "row");
  float *value = heddle_f32(args, "value");
  int64_t rows = heddle_size_of(args, "rows"), longest = heddle_size_of(args, "longest"),
          groups = (rows + GROUP - 1) / GROUP, at = 0;
  sort_rows(args, row);
  for (int64_t g = 0; g < groups; g++) length[g] = (int32_t)entries_of(args, row[g * GROUP]);
  for (int64_t k = 0; k < longest; k++) {
    start[k] = (int32_t)at;
    for (int64_t i = 0; i < groups * GROUP && length[i / GROUP] > k; i++, at++) {
      bool padding = i >= rows || k >= entries_of(args, row[i]);
      column[at] = padding ? 0 : (int32_t)column_of(args, row[i], k);
      value[at] = padding ? 0 : (float)value_of(row[i], k);
    }
  }
}

/* By rows, from their entries themselves. */
void heddle_reference(const heddle_args *args) {
  const float *x = heddle_f32(args, "x");
  float *y = heddle_f32(args, "y");
  int64_t rows = heddle_size_of(args, "rows");
  for (int64_t r = 0; r < rows; r++) {
    int64_t sum = 0;
    for (int64_t k = 0; k < entries_of(args, r); k++)
      sum += value_of(r, k) * (int64_t)x[column_of(args, r, k)];
    y[r] = (float)sum;
  }
}
