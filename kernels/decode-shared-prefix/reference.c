#include <heddle_reference.h>
#include <math.h>

enum { DIM = 128 };

static double widen(uint16_t v) {
  uint32_t bits = (uint32_t)v << 16;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

/* Adds the keys' terms, not divided by their sum of weights yet; scores up to 12 need no maximum. */
static double attend(const float *query, const uint16_t *keys, const uint16_t *values, int64_t n,
                     double *out) {
  double weights = 0;
  for (int64_t i = 0; i < n; i++) {
    double score = 0;
    for (int64_t d = 0; d < DIM; d++) score += query[d] * widen(keys[i * DIM + d]);
    double weight = exp(score / sqrt(DIM));
    for (int64_t d = 0; d < DIM; d++) out[d] += weight * widen(values[i * DIM + d]);
    weights += weight;
  }
  return weights;
}

/* In double. */
void heddle_reference(const heddle_args *args) {
  const int32_t *group_of = heddle_s32(args, "group_of");
  const float *query = heddle_f32(args, "query");
  const uint16_t *prefix_keys = heddle_bf16(args, "prefix_keys"), *own_keys = heddle_bf16(args, "own_keys");
  const uint16_t *prefix_values = heddle_bf16(args, "prefix_values");
  const uint16_t *own_values = heddle_bf16(args, "own_values");
  float *out = heddle_f32(args, "out");
  int64_t heads = heddle_size_of(args, "heads"), sequences = heddle_size_of(args, "sequences");
  int64_t prefix = heddle_size_of(args, "prefix"), own = heddle_size_of(args, "own");
  for (int64_t row = 0; row < sequences * heads; row++) {
    int64_t shared = (group_of[row / heads] * heads + row % heads) * prefix * DIM;
    double sum[DIM] = {0};
    const float *q = query + row * DIM;
    double weights = attend(q, own_keys + row * own * DIM, own_values + row * own * DIM, own, sum);
    weights += attend(q, prefix_keys + shared, prefix_values + shared, prefix, sum);
    for (int64_t d = 0; d < DIM; d++) out[row * DIM + d] = (float)(sum[d] / weights);
  }
}
