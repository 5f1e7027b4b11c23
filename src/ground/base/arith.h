/* base/arith.h: 64-bit arithmetic on numbers that input decides, defined for all of them.
 *
 * C leaves shifts by a negative number or by the width, sums beyond the type, and the negation and the
 * quotient of INT64_MIN undefined. Numbers of a PTX file reach all of these. hd_wrap_* compute modulo 2^64,
 * as PTX does; hd_clamp_* stop at the type's ends; hd_low_bits and the shifts take any count. */
#ifndef HEDDLE_BASE_ARITH_H
#define HEDDLE_BASE_ARITH_H

#include <stdbool.h>
#include <stdint.h>

static inline int64_t hd_wrap_add(int64_t x, int64_t y) { return (int64_t)((uint64_t)x + (uint64_t)y); }
static inline int64_t hd_wrap_neg(int64_t x) { return (int64_t)(0 - (uint64_t)x); }

static inline int64_t hd_clamp_add(int64_t x, int64_t y) {
  int64_t sum;
  if (!__builtin_add_overflow(x, y, &sum)) return sum;
  return y < 0 ? INT64_MIN : INT64_MAX;
}

/* |x|, which is 2^63 for INT64_MIN. */
/* The greatest number that divides both; of 0 and x it is x. */
static inline uint64_t hd_gcd(uint64_t x, uint64_t y) {
  while (y) {
    const uint64_t rest = x % y;
    x = y;
    y = rest;
  }
  return x;
}

static inline uint64_t hd_magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

/* The n lowest bits set: none for n <= 0, all from 64 on. */
static inline uint64_t hd_low_bits(int64_t n) {
  return n <= 0 ? 0 : n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* Bits that are shifted out are lost: 0 for a count of 64 or more, and for a negative one. */
static inline uint64_t hd_shift_left(uint64_t x, int64_t n) { return n < 0 || n > 63 ? 0 : x << n; }
static inline uint64_t hd_shift_right(uint64_t x, int64_t n) { return n < 0 || n > 63 ? 0 : x >> n; }

/* 2^n as a 64-bit number: 2^63 is INT64_MIN, and all higher ones are 0. */
static inline int64_t hd_power_of_two(int64_t n) { return (int64_t)hd_shift_left(1, n); }

/* The range of integers of that many bits; none of more than 64. No bits: only 0. */
static inline int64_t hd_least_of(unsigned bits, bool is_signed) {
  return !is_signed || !bits ? 0 : bits >= 64 ? INT64_MIN : -hd_power_of_two(bits - 1);
}
static inline int64_t hd_most_of(unsigned bits,
                                 bool is_signed) { /* unsigned 64 bits: as far as int64_t goes */
  return (int64_t)(hd_low_bits(is_signed && bits ? (int64_t)bits - 1 : bits) & INT64_MAX);
}

/* The lowest `bits` bits of x as a signed number; of 64 or more x itself, of none 0. */
static inline int64_t hd_sign_extend(uint64_t x, unsigned bits) {
  if (!bits) return 0;
  return bits >= 64 ? (int64_t)x : (int64_t)(x << (64 - bits)) >> (64 - bits);
}

/* x / d rounded down; d > 0. */
static inline int64_t hd_floor_div(int64_t x, int64_t d) { return x / d - (x % d < 0); }

#endif
