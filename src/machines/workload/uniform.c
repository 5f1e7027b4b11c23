/* Uniform numbers, of the seed and the number of the element alone. */
#include "workload/fill.h"

/* 53 random bits as a multiple of 2^-53 in [0, 1). */
double wl_unit(uint64_t random) { return (double)(random >> 11) * 0x1p-53; }

void wl_uniform(const wl_fill *f, uint64_t seed, uint64_t first, unsigned n, double *v) {
  double low = f->number[0], high = f->number[1];
  for (unsigned i = 0; i < n; i++) {
    double u = wl_unit(hd_random_at(seed, first + i)),
           x = low * (1 - u) + high * u; /* high - low could overflow */
    v[i] = x < low ? low : x > high ? high : x;
  }
}

void wl_uniform_int(const wl_fill *f, uint64_t seed, uint64_t first, unsigned n, int64_t *v) {
  uint64_t low = (uint64_t)f->integer[0], span = (uint64_t)f->integer[1] - low + 1; /* 0: all of 2^64 */
  for (unsigned i = 0; i < n; i++) {
    uint64_t r = hd_random_at(seed, first + i);
    if (span) r = (uint64_t)(((wl_u128)r * span) >> 64);
    v[i] = (int64_t)(low + r);
  }
}
