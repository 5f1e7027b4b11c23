/* num_reference.h: slow, exact arithmetic that the num tests judge by.
 *
 * A value is sign, 128-bit integer and power of two; results are rounded from
 * it by the definition of the format. Shares no method with src/emulator/emu.
 */
#ifndef HEDDLE_TESTS_NUM_REFERENCE_H
#define HEDDLE_TESTS_NUM_REFERENCE_H

#include "emu/num/num.h"

/* ---- Random inputs ------------------------------------------------------- */

static inline uint64_t ref_random(uint64_t *state) {
  uint64_t x = *state;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  *state = x;
  return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* f32 patterns: any bits, special ones, a narrow band of exponents, few mantissa bits. */
static inline float ref_random_f32(uint64_t *state) {
  static const uint32_t special[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x807fffff,
                                     0x00800000, 0x80800000, 0x00800001, 0x00ffffff, 0x7f7fffff, 0xff7fffff,
                                     0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffffffff, 0x3f800000,
                                     0xbf800000, 0x3f7fffff, 0x3f800001, 0x40000000, 0x7e800000, 0x7f000000};
  uint64_t r = ref_random(state), choice = r >> 56;
  uint32_t bits = (uint32_t)r;
  switch (choice % 6) {
  case 0: return num_f32(special[bits % (sizeof special / sizeof special[0])]);
  case 1: return num_f32(bits);
  case 2: return num_f32((bits & 0x807fffff) | (uint32_t)(100 + (r >> 32) % 56) << 23);
  case 3: return num_f32((bits & 0x807fffff) | (uint32_t)((r >> 32) % 30) << 23);
  case 4: return num_f32((bits & 0x80700000) | (uint32_t)(60 + (r >> 32) % 130) << 23);
  default: return num_f32((bits & 0x80000000) | (uint32_t)(60 + (r >> 32) % 10) << 23 | (bits & 15));
  }
}

static inline double ref_random_f64(uint64_t *state) {
  static const uint64_t special[] = {
      0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff,
      0x0010000000000000, 0x8010000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
      0xfff0000000000000, 0x7ff8000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x3fefffffffffffff,
      0x380fffffffffffff, 0x380fffffe0000000, 0x3810000000000000, 0x36a0000000000000, 0x3690000000000000};
  uint64_t r = ref_random(state), bits = ref_random(state);
  switch (r % 6) {
  case 0: return num_f64(special[bits % (sizeof special / sizeof special[0])]);
  case 1: return num_f64(bits);
  case 2: return num_f64((bits & 0x800fffffffffffff) | (990 + (r >> 8) % 70) << 52);
  case 3: return num_f64((bits & 0x800fffffffffffff) | ((r >> 8) % 60) << 52);
  case 4: return (double)ref_random_f32(state);
  default: return num_f64((bits & 0x800000000000000f) | (1000 + (r >> 8) % 50) << 52);
  }
}

/* ---- Exact values -------------------------------------------------------- */

typedef unsigned __int128 ref_u128;

/* (-1)^negative * (mag + something in (0,1) if sticky) * 2^exp */
typedef struct ref_exact {
  bool negative, sticky;
  ref_u128 mag;
  int exp;
} ref_exact;

typedef struct ref_format {
  int precision, emin, emax; /* significand bits with the hidden one; least and greatest exponents */
} ref_format;

static const ref_format ref_f16 = {11, -14, 15}, ref_bf16 = {8, -126, 127}, ref_f32 = {24, -126, 127},
                        ref_f64 = {53, -1022, 1023};

static inline ref_exact ref_of(double x) {
  int exp;
  double fraction = frexp(fabs(x), &exp);
  return (ref_exact){signbit(x), false, (ref_u128)(uint64_t)ldexp(fraction, 53), exp - 53};
}

static inline int ref_length(ref_u128 v) {
  int n = 0;
  for (; v; v >>= 1) n++;
  return n;
}

/* Rounds; the result is exact in a double. A zero keeps its sign. */
static inline double ref_round(ref_exact v, ref_format f, num_round r) {
  int length = ref_length(v.mag);
  int quantum = v.exp + length - f.precision;
  if (quantum < f.emin - f.precision + 1) quantum = f.emin - f.precision + 1;
  int drop = quantum - v.exp;
  ref_u128 kept = v.mag;
  int versus_half = -1; /* the dropped part, against half a quantum */
  bool inexact = v.sticky;
  if (drop <= 0) {
    quantum = v.exp; /* exact: sticky never comes with so short a magnitude */
  } else if (drop > length) {
    kept = 0;
    inexact = inexact || v.mag != 0;
  } else {
    ref_u128 half = (ref_u128)1 << (drop - 1), rest = v.mag - (drop == 128 ? 0 : (v.mag >> drop) << drop);
    kept = drop == 128 ? 0 : v.mag >> drop;
    versus_half = rest < half ? -1 : rest > half || v.sticky ? 1 : 0;
    inexact = inexact || rest != 0;
  }
  bool away = false;
  if (inexact && r == NUM_RN) away = versus_half > 0 || (versus_half == 0 && (kept & 1));
  if (inexact && r == NUM_RNA) away = versus_half >= 0;
  if (inexact && r == NUM_RM) away = v.negative;
  if (inexact && r == NUM_RP) away = !v.negative;
  kept += away;
  double d;
  if (kept && ref_length(kept) + quantum - 1 > f.emax) {
    bool finite = r == NUM_RZ || (r == NUM_RM && !v.negative) || (r == NUM_RP && v.negative);
    d = finite ? ldexp(2 - ldexp(1, 1 - f.precision), f.emax) : INFINITY;
  } else {
    while (ref_length(kept) > 53) kept >>= 1, quantum++; /* zeros: the value fits the format */
    d = ldexp((double)(uint64_t)kept, quantum);
  }
  return v.negative ? -d : d;
}

/* The same where .ftz flushes: below the least normal when rounded with unbounded exponent. */
static inline double ref_round_ftz(ref_exact v, ref_format f, num_round r) {
  ref_format unbounded = {f.precision, -1100 + f.precision, 1023};
  if (fabs(ref_round(v, unbounded, r)) < ldexp(1, f.emin)) return v.negative ? -0.0 : 0.0;
  return ref_round(v, f, r);
}

static inline ref_exact ref_multiply(ref_exact a, ref_exact b) {
  return (ref_exact){a.negative != b.negative, false, a.mag * b.mag, a.exp + b.exp};
}

static inline ref_exact ref_add(ref_exact a, ref_exact b, num_round r) {
  if (!a.mag && !b.mag)
    return (ref_exact){a.negative == b.negative ? a.negative : r == NUM_RM, false, 0, a.exp};
  int top_a = ref_length(a.mag) + a.exp, top_b = ref_length(b.mag) + b.exp;
  if (!a.mag || (b.mag && top_b > top_a)) {
    ref_exact t = a;
    a = b;
    b = t;
  }
  int up = 125 - ref_length(a.mag);
  a.mag <<= up;
  a.exp -= up;
  int down = a.exp - b.exp;
  if (!b.mag) return a;
  if (down <= 0) {
    b.mag <<= -down;
  } else {
    ref_u128 shifted = down > 127 ? 0 : b.mag >> down;
    b.sticky = down > 127 || shifted << down != b.mag;
    b.mag = shifted;
  }
  if (a.negative == b.negative) return (ref_exact){a.negative, b.sticky, a.mag + b.mag, a.exp};
  if (b.mag > a.mag) return (ref_exact){b.negative, false, b.mag - a.mag, a.exp}; /* same binade: exact */
  ref_u128 mag = a.mag - b.mag - b.sticky;
  if (mag == 0 && !b.sticky) return (ref_exact){r == NUM_RM, false, 0, a.exp};
  return (ref_exact){a.negative, b.sticky, mag, a.exp};
}

static inline ref_exact ref_divide(ref_exact a, ref_exact b) {
  ref_u128 n = a.mag << 70; /* operands have 53 bits: the quotient has 69 at least */
  return (ref_exact){a.negative != b.negative, n % b.mag != 0, n / b.mag, a.exp - 70 - b.exp};
}

static inline ref_exact ref_root(ref_exact a) {
  int up = 120 - ref_length(a.mag);
  if ((a.exp - up) & 1) up--;
  ref_u128 n = a.mag << up, root = 0;
  for (int bit = 60; bit >= 0; bit--) {
    ref_u128 with = root | (ref_u128)1 << bit;
    if (with * with <= n) root = with;
  }
  return (ref_exact){false, root * root != n, root, (a.exp - up) / 2};
}

#endif
