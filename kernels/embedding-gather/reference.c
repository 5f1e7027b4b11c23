#include <heddle_inputs.h>
#include <heddle_reference.h>

/* A row's popularity does not depend on its index: ranks are scattered over the table. */
void heddle_generate(const heddle_args *args) {
  int32_t *indices = heddle_s32(args, "indices");
  int64_t rows = heddle_size_of(args, "rows"), n = (int64_t)heddle_count_of(args, "indices");
  for (int64_t i = 0; i < n; i++)
    indices[i] = (int32_t)heddle_below(2, (uint64_t)heddle_zipf(1, (uint64_t)i, rows), rows);
}

/* One lookup of all bags at a time. */
void heddle_reference(const heddle_args *args) {
  const float *table = heddle_f32(args, "table");
  const int32_t *indices = heddle_s32(args, "indices");
  float *out = heddle_f32(args, "out");
  int64_t bags = heddle_size_of(args, "bags"), pooling = heddle_size_of(args, "pooling");
  memset(out, 0, (size_t)(bags * 128) * sizeof *out);
  for (int64_t i = 0; i < pooling; i++)
    for (int64_t bag = 0; bag < bags; bag++)
      for (int64_t f = 0; f < 128; f++)
        out[bag * 128 + f] += table[indices[bag * pooling + i] * (int64_t)128 + f];
}
