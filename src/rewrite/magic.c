#include "rewrite/rewrite_internal.h"

typedef unsigned __int128 u128;

/* With k = bits + shift and m = floor(2^k / d) + 1, the error e = m*d - 2^k is in 1..d, and
 * floor(n*m / 2^k) = floor(n/d) exactly when n*e < 2^k (the worst n has n mod d = d-1). So the
 * smallest shift with max*e < 2^k and m < 2^bits serves. */
bool rewrite_find_magic(uint64_t divisor, uint64_t max, unsigned bits, rewrite_magic *out) {
  for (unsigned shift = 0; shift < bits; shift++) {
    unsigned k = bits + shift;
    u128 power = k < 128 ? (u128)1 << k : 0;
    u128 m = power / divisor + 1;
    if (m >> bits) return false;
    u128 error = m * divisor - power;
    if ((u128)max * error < power) {
      *out = (rewrite_magic){(uint64_t)m, shift};
      return true;
    }
  }
  return false;
}
