#include "numbers.h"

void heddle_reference(const heddle_args *args) {
  double *gate = numbers_of(args, "gate"), *up = numbers_of(args, "up");
  const heddle_buffer *out = heddle_find(args, "out");
  for (int64_t i = 0; i < heddle_size_of(args, "n"); i++) {
    double g = gate[i];
    put_number(out, i, g / (1 + exp(-g)) * up[i]);
  }
  free(gate);
  free(up);
}
