#include "heddle/plan.h"

typedef unsigned __int128 u128;

/* With m = ceil(2^k / d), the error e = m*d - 2^k is in 0..d-1, and floor(n*m / 2^k) = floor(n/d) exactly
 * when n*e < 2^k (the worst n has n mod d = d-1). So the smallest k with max*e < 2^k and m < 2^bits serves. */
bool hd_find_magic(uint64_t divisor, uint64_t max, unsigned bits, hd_magic *out) {
  for (unsigned k = bits; k < 2 * bits; k++) {
    u128 power = (u128)1 << k, m = (power + divisor - 1) / divisor;
    if (m >> bits) return false;
    u128 error = m * divisor - power;
    if ((u128)max * error < power) {
      *out = (hd_magic){(uint64_t)m, k};
      return true;
    }
  }
  return false;
}
