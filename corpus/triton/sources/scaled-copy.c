#include "numbers.h"

void heddle_reference(const heddle_args *args) {
  double *x = numbers_of(args, "x");
  const heddle_buffer *out = heddle_find(args, "out");
  for (int64_t i = 0; i < heddle_size_of(args, "m") * heddle_size_of(args, "n"); i++)
    put_number(out, i, x[i] * 2);
  free(x);
}
