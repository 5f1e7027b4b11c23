/* values.c: mixtures of random bits and special values. */
#include "difftest/values.h"

/* ---- Integers ------------------------------------------------------------------------ */

static uint64_t integer(dt_random *r, unsigned bits) {
  const uint64_t random = dt_next(r), sign = 1ull << (bits - 1);
  switch (dt_below(r, 8)) {
  case 0:
  case 1: return random;
  case 2: return random >> dt_below(r, 64);
  case 3: return (uint64_t)((int64_t)random >> dt_below(r, 64));
  case 4: return (uint64_t)((int64_t)dt_below(r, 40) - 20);
  case 5: return (1ull << dt_below(r, bits)) + (uint64_t)((int64_t)dt_below(r, 3) - 1);
  case 6: return sign + (uint64_t)((int64_t)dt_below(r, 3) - 1);
  default: return (random & 0xff) * 0x0101010101010101ull;
  }
}

/* ---- Floats ---------------------------------------------------------------------------- */

typedef struct format {
  uint8_t exponent, mantissa; /* bits */
  uint8_t coarser[3];         /* mantissa bits of formats that it is converted to; 0 ends */
} format;
static const format formats[] = {
    [DT_F16] = {5, 10, {3, 2}},      [DT_BF16] = {8, 7, {3, 2}},     [DT_F16X2] = {5, 10, {3, 2}},
    [DT_BF16X2] = {8, 7, {3, 2}},    [DT_F32] = {8, 23, {10, 7, 3}}, [DT_F32X2] = {8, 23, {10, 7}},
    [DT_F64] = {11, 52, {23, 10, 7}}};

static uint64_t exponent_of(dt_random *r, const format *f) {
  const uint32_t top = (1u << f->exponent) - 1, bias = top >> 1;
  switch (dt_below(r, 10)) {
  case 0: return 0;
  case 1: return top;
  case 2: return dt_chance(r, 50) ? 1 : top - 1;
  case 3: return dt_below(r, top + 1);
  case 4: return f->exponent > 8 ? bias - 150 + dt_below(r, 290) : dt_below(r, top + 1); /* f32's range */
  default: {
    const uint32_t e = bias + dt_below(r, 12); /* moderate: sums cancel, products stay */
    return e > 6 ? e - 6 : e;
  }
  }
}

static uint64_t mantissa_of(dt_random *r, const format *f) {
  const uint64_t all = (1ull << f->mantissa) - 1, random = dt_next(r) & all;
  switch (dt_below(r, 6)) {
  case 0: return 0;
  case 1: return all;
  case 2: return 1ull << dt_below(r, f->mantissa);
  case 3: {
    /* Halfway between two values of a coarser format, or just beside it. */
    const unsigned coarse = f->coarser[dt_below(r, 3)];
    if (!coarse) return random;
    const unsigned cut = f->mantissa - coarse;
    return ((random >> cut << cut) + (1ull << (cut - 1)) + (uint64_t)((int64_t)dt_below(r, 3) - 1)) & all;
  }
  case 4: return random >> (f->mantissa / 2) << (f->mantissa / 2); /* products are exact */
  default: return random;
  }
}

static uint64_t one_float(dt_random *r, const format *f) {
  if (dt_chance(r, 10)) return dt_next(r) & ((2ull << (f->exponent + f->mantissa)) - 1);
  const uint64_t sign = dt_below(r, 2);
  return (sign << f->exponent | exponent_of(r, f)) << f->mantissa | mantissa_of(r, f);
}

uint64_t dt_value(dt_random *r, dt_flavour flavour, unsigned bits) {
  const uint64_t all = UINT64_MAX >> (64 - bits);
  if (flavour == DT_INT || flavour == DT_ANY) return integer(r, bits) & all;
  const format *f = &formats[flavour];
  const uint64_t v = one_float(r, f);
  const bool pair = flavour == DT_F16X2 || flavour == DT_BF16X2 || flavour == DT_F32X2;
  return pair ? v | one_float(r, f) << (bits / 2) : v;
}
