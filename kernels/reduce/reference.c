#include <heddle_reference.h>

void heddle_reference(const heddle_args *args) {
  const int32_t *in = heddle_s32(args, "in");
  int64_t n = heddle_size_of(args, "n"), sum = 0;
  for (int64_t i = 0; i < n; i++) sum += in[i];
  heddle_s32(args, "sum")[0] = (int32_t)sum;
}
