#include <heddle_reference.h>
#include <stdlib.h>

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

/* In integers, one row of c at a time. */
void heddle_reference(const heddle_args *args) {
  const uint16_t *a = heddle_bf16(args, "a"), *b = heddle_bf16(args, "b");
  uint16_t *c = heddle_bf16(args, "c");
  int64_t m = heddle_size_of(args, "m"), n = heddle_size_of(args, "n"), k = heddle_size_of(args, "k");
  int32_t *whole = malloc((size_t)(k * n) * sizeof *whole), *row = malloc((size_t)n * sizeof *row);
  if (whole && row) {
    for (int64_t i = 0; i < k * n; i++) whole[i] = (int32_t)widen(b[i]);
    for (int64_t y = 0; y < m; y++) {
      memset(row, 0, (size_t)n * sizeof *row);
      for (int64_t z = 0; z < k; z++) {
        int32_t factor = (int32_t)widen(a[y * k + z]);
        for (int64_t x = 0; x < n; x++) row[x] += factor * whole[z * n + x];
      }
      for (int64_t x = 0; x < n; x++) c[y * n + x] = narrow((float)row[x]);
    }
  }
  free(whole);
  free(row);
  if (!whole || !row) args->fail(args, "out of memory");
}
