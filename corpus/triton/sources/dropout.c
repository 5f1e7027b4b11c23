#include "numbers.h"

/* Philox 4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011). */
static uint32_t philox(uint64_t seed, uint32_t counter) {
  uint32_t c[4] = {counter, 0, 0, 0}, key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  for (int round = 0; round < 10; round++) {
    uint64_t a = (uint64_t)0xD2511F53 * c[0], b = (uint64_t)0xCD9E8D57 * c[2];
    uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ key[0], (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ key[1],
                        (uint32_t)a};
    memcpy(c, next, sizeof c);
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c[0];
}

void heddle_reference(const heddle_args *args) {
  const float *x = heddle_f32(args, "x");
  float *out = heddle_f32(args, "out");
  for (int64_t i = 0; i < heddle_size_of(args, "n"); i++) {
    /* Triton's uniform numbers: the random bits as a signed number, folded to 31 bits, times just below
     * 2^-31. */
    int32_t bits = (int32_t)philox(4711 * 16, (uint32_t)i);
    float uniform = (float)(bits < 0 ? ~bits : bits) * 4.6566127342e-10f;
    out[i] = uniform > 0.5f ? x[i] * 2 : 0;
  }
}
