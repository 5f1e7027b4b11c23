#include "numbers.h"

void heddle_reference(const heddle_args *args) {
  const int32_t *x = heddle_s32(args, "x");
  int32_t *out = heddle_s32(args, "out");
  memset(out, 0, 64 * sizeof *out);
  for (int64_t i = 0; i < heddle_size_of(args, "n"); i++) out[x[i]]++;
}
