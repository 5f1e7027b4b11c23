#include "heddle/plan.h"

typedef unsigned __int128 u128;

/* For n*c/d, with m = ceil(c*2^k / d), the error e = m*d - c*2^k is in 0..d-1, and floor(n*m / 2^k) =
 * floor(n*c/d) when n*e < 2^k: n*c/d is a multiple of 1/d, and 1/d or more below the next whole number. For c
 * = 1 not otherwise (the worst n has n mod d = d-1). So the smallest k with max*e < 2^k and m < 2^bits
 * serves. */
bool hd_find_scaled_magic(uint64_t factor, uint64_t divisor, uint64_t max, unsigned bits, hd_magic *out) {
  for (unsigned k = bits; k < 2 * bits; k++) {
    u128 power = (u128)1 << k, scaled, m;
    if (__builtin_mul_overflow(power, (u128)factor, &scaled) ||
        __builtin_add_overflow(scaled, divisor - 1, &m))
      return false;
    m /= divisor;
    if (m >> bits) return false;
    u128 error = m * divisor - scaled;
    if ((u128)max * error < power) {
      *out = (hd_magic){(uint64_t)m, k};
      return true;
    }
  }
  return false;
}

bool hd_find_magic(uint64_t divisor, uint64_t max, unsigned bits, hd_magic *out) {
  return hd_find_scaled_magic(1, divisor, max, bits, out);
}
