#include <heddle_reference.h>

/* Both products in one pass over the rows; every sum is a whole number below 2^24. */
void heddle_reference(const heddle_args *args) {
  const float *a = heddle_f32(args, "a"), *p = heddle_f32(args, "p"), *r = heddle_f32(args, "r");
  float *q = heddle_f32(args, "q"), *s = heddle_f32(args, "s");
  int64_t rows = heddle_size_of(args, "rows"), columns = heddle_size_of(args, "columns");
  memset(s, 0, (size_t)columns * sizeof *s);
  for (int64_t i = 0; i < rows; i++) {
    const float *row = a + i * columns;
    int64_t dot = 0;
    for (int64_t j = 0; j < columns; j++) dot += (int64_t)row[j] * (int64_t)p[j];
    for (int64_t j = 0; j < columns; j++) s[j] += r[i] * row[j];
    q[i] = (float)dot;
  }
}
