#include <heddle_reference.h>
#include <math.h>

enum { DIM = 64 };

static float widen(uint16_t v) {
  uint32_t bits = (uint32_t)v << 16;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

/* To the nearest, ties to even. */
static uint16_t narrow(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* In double, query by query; scores of at most 32 need no maximum. */
void heddle_reference(const heddle_args *args) {
  const uint16_t *query = heddle_bf16(args, "query"), *key = heddle_bf16(args, "key");
  const uint16_t *value = heddle_bf16(args, "value");
  uint16_t *out = heddle_bf16(args, "out");
  int64_t tokens = heddle_size_of(args, "tokens"), heads = heddle_size_of(args, "heads");
  for (int64_t row = 0; row < heads * tokens; row++) {
    double weights = 0, sum[DIM] = {0};
    for (int64_t j = row - row % tokens; j <= row; j++) {
      double score = 0;
      for (int64_t d = 0; d < DIM; d++) score += widen(query[row * DIM + d]) * widen(key[j * DIM + d]);
      double weight = exp(score / 8);
      weights += weight;
      for (int64_t d = 0; d < DIM; d++) sum[d] += weight * widen(value[j * DIM + d]);
    }
    for (int64_t d = 0; d < DIM; d++) out[row * DIM + d] = narrow((float)(sum[d] / weights));
  }
}
