#include <heddle_reference.h>

void heddle_reference(const heddle_args *args) {
  const uint32_t *in = heddle_u32(args, "in");
  uint32_t *out = heddle_u32(args, "out");
  uint64_t n = heddle_count_of(args, "in");
  uint32_t sum = 0;
  for (uint64_t i = 0; i < n; i++) {
    out[i] = sum;
    sum += in[i];
  }
}
