#include <heddle_inputs.h>
#include <heddle_reference.h>

void heddle_generate(const heddle_args *args) {
  uint32_t *data = heddle_u32(args, "data");
  int64_t words = heddle_size_of(args, "pieces") * 4;
  int skewed = heddle_size_of(args, "skewed") != 0;
  for (int64_t i = 0; i < words; i++) {
    data[i] = (uint32_t)heddle_random(1, (uint64_t)i);
    if (!skewed) continue;
    for (int k = 0; k < 4; k++) {
      uint32_t bin =
          (uint32_t)heddle_zipf(2, (uint64_t)(i * 4 + k), 64) * 37 % 64; /* the popular ones apart */
      data[i] = (data[i] & ~(63u << (8 * k + 2))) | bin << (8 * k + 2);
    }
  }
}

void heddle_reference(const heddle_args *args) {
  const uint8_t *data = (const uint8_t *)heddle_u32(args, "data");
  uint32_t *histogram = heddle_u32(args, "histogram");
  int64_t bytes = heddle_size_of(args, "pieces") * 16;
  memset(histogram, 0, 64 * sizeof *histogram);
  for (int64_t i = 0; i < bytes; i++) histogram[data[i] / 4]++;
}
