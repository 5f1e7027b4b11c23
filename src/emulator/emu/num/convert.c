/* emu/num/convert.c: floating-point formats, and conversions between them and integers.
 *
 * Every conversion ends in pack(), which rounds an integer significand once.
 * Formats are rows of a table, and little else here knows a format by name: ue8m0,
 * and the conversions of f32, f16 and bf16 that interpreters run for every lane.
 */
#include "emu/num/num.h"

/* ---- Formats ------------------------------------------------------------- */

typedef struct format {
  uint8_t exp_bits;
  uint8_t man_bits;
  uint8_t pad_bits; /* low bits of the pattern that carry nothing: tf32 */
  bool has_inf;     /* an exponent of all ones holds infinity and NaN only */
  bool saturates;   /* no infinity and no NaN to go to: overflow always clamps */
  uint64_t max;     /* greatest finite value, without pad bits */
  uint64_t nan;     /* canonical NaN, pad bits included */
} format;

/* ue8m0, an exponent alone, is read and written apart. */
static const format formats[] = {
    [NUM_F16] = {5, 10, 0, true, false, 0x7bff, 0x7fff},
    [NUM_BF16] = {8, 7, 0, true, false, 0x7f7f, 0x7fff},
    [NUM_TF32] = {8, 10, 13, true, false, 0x3fbff, 0x7fffe000},
    [NUM_F32] = {8, 23, 0, true, false, 0x7f7fffff, 0x7fffffff},
    [NUM_F64] = {11, 52, 0, true, false, 0x7fefffffffffffff, 0x7ff8000000000000},
    [NUM_E4M3] = {4, 3, 0, false, false, 0x7e, 0x7f},
    [NUM_E5M2] = {5, 2, 0, true, false, 0x7b, 0x7f},
    [NUM_E2M3] = {2, 3, 0, false, true, 0x1f, 0x1f},
    [NUM_E3M2] = {3, 2, 0, false, true, 0x1f, 0x1f},
    [NUM_E2M1] = {2, 1, 0, false, true, 0x7, 0x7},
};

static int bias_of(const format *f) { return (1 << (f->exp_bits - 1)) - 1; }

/* Pattern of `magnitude` (exponent and mantissa fields) with its sign. */
static uint64_t with_sign(const format *f, bool negative, uint64_t magnitude) {
  return (magnitude | (uint64_t)negative << (f->exp_bits + f->man_bits)) << f->pad_bits;
}

/* The result of an overflow, or of an infinity (which no rounding mode makes finite). */
static uint64_t overflow(const format *f, bool negative, bool satfinite, bool to_finite) {
  if (satfinite || to_finite || f->saturates) return with_sign(f, negative, f->max);
  if (!f->has_inf) return with_sign(f, negative, f->nan); /* e4m3, as OCP says without saturation */
  return with_sign(f, negative, f->max + 1);
}

/* Does a magnitude step away from zero? `rest` is the part cut off, `half` one half of the last bit kept,
 * `odd` that bit. */
static bool rounds_away(num_round r, bool negative, bool odd, uint64_t rest, uint64_t half) {
  switch (r) {
  case NUM_RN: return rest > half || (rest == half && odd);
  case NUM_RNA: return rest >= half;
  case NUM_RZ: return false;
  case NUM_RM: return negative && rest != 0;
  case NUM_RP: return !negative && rest != 0;
  }
  return false;
}

/* sig / 2^shift, rounded once to an integer. */
static uint64_t round_shift(uint64_t sig, int shift, bool negative, num_round r) {
  if (shift <= 0) return sig << -shift;
  if (shift > 63) return rounds_away(r, negative, false, 1, 2); /* 53 bits at most: less than a half */
  uint64_t half = UINT64_C(1) << (shift - 1), kept = sig >> shift;
  return kept + rounds_away(r, negative, kept & 1, sig & (2 * half - 1), half);
}

/* The value (-1)^negative * sig * 2^exp, sig != 0, rounded once. */
static uint64_t pack(const format *f, bool negative, uint64_t sig, int exp, num_round r, bool satfinite,
                     bool ftz) {
  int lead = 63 - __builtin_clzll(sig); /* the value lies in [2^(exp+lead), 2^(exp+lead+1)) */
  int biased = exp + lead + bias_of(f);
  int full = lead - f->man_bits; /* bits of sig past a full significand */
  if (ftz && biased < 1) {
    /* Flushed is what is below the least normal value when rounded as if exponents had no
     * end. (No document says so; GPUs do it, and it is IEEE 754's tininess after rounding.) */
    bool is_normal = biased == 0 && round_shift(sig, full, negative, r) >> (f->man_bits + 1);
    return with_sign(f, negative, is_normal ? UINT64_C(1) << f->man_bits : 0);
  }
  int field = biased > 1 ? biased : 1; /* subnormals share the first binade's quantum */
  uint64_t kept = round_shift(sig, full + (field - biased), negative, r);
  /* kept has the hidden bit from the first normal value on, hence the -1; a carry out
   * of the mantissa lands in the exponent, where it belongs. */
  uint64_t magnitude = ((uint64_t)(field - 1) << f->man_bits) + kept;
  if (magnitude > f->max) {
    bool to_finite = r == NUM_RZ || r == (negative ? NUM_RP : NUM_RM);
    return overflow(f, negative, satfinite, to_finite);
  }
  return with_sign(f, negative, magnitude);
}

/* ue8m0 is 2^(code-127) with no zero and no sign: the sign of x is ignored, what lies
 * below the least power is that power, and .rp is the only mode that goes up. */
static uint64_t pack_ue8m0(double x, num_round r, bool satfinite) {
  if (isnan(x)) return 0xff;
  if (isinf(x)) return satfinite ? 0xfe : 0xff;
  if (x == 0) return 0;
  int exp;
  double fraction = frexp(fabs(x), &exp); /* |x| = fraction * 2^exp, fraction in [0.5, 1) */
  int code = exp - 1 + 127 + (r == NUM_RP && fraction > 0.5);
  if (code < 0) return 0;
  return code < 0xff ? (uint64_t)code : (satfinite ? 0xfe : 0xff);
}

uint64_t num_from_f64(num_fmt fmt, double x, num_round r, bool satfinite, bool ftz) {
  if (fmt == NUM_UE8M0) return pack_ue8m0(x, r, satfinite);
  const format *f = &formats[fmt];
  uint64_t bits = num_b64(x), sig = bits & UINT64_C(0xfffffffffffff);
  bool negative = bits >> 63;
  int exp = (int)(bits >> 52 & 0x7ff);
  if (exp == 0x7ff && sig) return fmt == NUM_F64 ? bits | UINT64_C(1) << 51 : f->nan;
  if (exp == 0x7ff) return overflow(f, negative, satfinite, false);
  if (exp != 0) sig |= UINT64_C(1) << 52;
  if (sig == 0) return with_sign(f, negative, 0);
  return pack(f, negative, sig, (exp ? exp : 1) - 1075, r, satfinite, ftz);
}

uint32_t num_from_f32_stochastic(num_fmt fmt, float x, uint32_t random, unsigned n, bool satfinite) {
  enum { LOST = 48 }; /* cut-off bits beyond which value and random number do not make a last place */
  const format *f = &formats[fmt];
  const uint32_t bits = num_b32(x);
  const bool negative = bits >> 31;
  const int exp = (int)(bits >> 23 & 0xff);
  if (isnan(x)) return (uint32_t)f->nan;
  if (isinf(x)) return (uint32_t)overflow(f, negative, satfinite, false);
  const uint64_t sig = (bits & 0x7fffff) | (exp ? 0x800000 : 0);
  const int biased = (exp ? exp : 1) - 127 + bias_of(f), field = biased > 1 ? biased : 1;
  const int cut = 23 - f->man_bits + field - biased;
  const uint64_t kept = cut > LOST ? 0 : (sig + ((uint64_t)random << (cut - (int)n))) >> cut;
  const uint64_t magnitude = ((uint64_t)(field - 1) << f->man_bits) + kept;
  return (uint32_t)(magnitude > f->max ? overflow(f, negative, satfinite, false)
                                       : with_sign(f, negative, magnitude));
}

double num_to_f64(num_fmt fmt, uint64_t bits) {
  if (fmt == NUM_UE8M0) return (bits & 0xff) == 0xff ? NAN : ldexp(1, (int)(bits & 0xff) - 127);
  if (fmt == NUM_F64) return num_f64(bits);
  if (fmt == NUM_F32) return num_f32((uint32_t)bits);
  const format *f = &formats[fmt];
  bits >>= f->pad_bits;
  uint64_t man = bits & ((UINT64_C(1) << f->man_bits) - 1);
  uint64_t magnitude = bits & ((UINT64_C(1) << (f->exp_bits + f->man_bits)) - 1);
  int field = (int)(magnitude >> f->man_bits);
  double x;
  if (magnitude > f->max) {
    if (!f->has_inf) return NAN;
    x = num_f64(UINT64_C(0x7ff) << 52 | man << (52 - f->man_bits)); /* infinity, or a NaN with its payload */
    x += x;                                                         /* quiet */
  } else if (field == 0) {
    x = ldexp((double)man, 1 - bias_of(f) - f->man_bits);
  } else {
    x = ldexp((double)(man | UINT64_C(1) << f->man_bits), field - bias_of(f) - f->man_bits);
  }
  return bits >> (f->exp_bits + f->man_bits) & 1 ? -x : x;
}

/* ---- f32, once per lane -------------------------------------------------- */

float num_f64_to_f32(double x, num_round r, bool ftz) {
  if (ftz && fabs(x) < 0x1p-127) return (float)copysign(0, x); /* subnormal in every mode */
  /* The host rounds to nearest: right but just below the least normal, and otherwise next to what is right.
   */
  const float f = (float)x;
  if (isnan(f) || r == NUM_RNA || (ftz && fabsf(f) <= 0x1p-126f) || (r != NUM_RN && f == 0 && x != 0))
    return num_f32((uint32_t)num_from_f64(NUM_F32, x, r, false, ftz));
  if (r == NUM_RN || (double)f == x) return f;
  const bool inwards = r == NUM_RZ || (r == NUM_RM) == (x > 0), is_outside = fabs((double)f) > fabs(x);
  return num_f32(num_b32(f) - (inwards && is_outside) + (!inwards && !is_outside));
}

/* ---- Integers ------------------------------------------------------------ */

double num_round_integral(double x, num_round r) {
  if (isnan(x)) return x + x; /* quiet */
  switch (r) {
  case NUM_RN: return rint(x); /* the host rounds to nearest even between calls into this file */
  case NUM_RZ: return trunc(x);
  case NUM_RM: return floor(x);
  case NUM_RP: return ceil(x);
  case NUM_RNA: return round(x);
  }
  return x;
}

uint64_t num_float_to_int(num_fmt src_fmt, double x, unsigned bits, bool is_signed, num_round r) {
  uint64_t top = UINT64_C(1) << (bits - 1);
  if (isnan(x)) {
    /* "Zero if source is not .f64 and destination is not .s64, .u64; otherwise
     * 1 << (BitWidth(dst) - 1)", PTX ISA, cvt, integer notes. */
    if (src_fmt != NUM_F64 && bits != 64) return 0;
    return is_signed ? -top : top;
  }
  x = num_round_integral(x, r);
  if (is_signed) {
    double limit = (double)top; /* a power of two, exact */
    if (x >= limit) return top - 1;
    if (x < -limit) return -top;
    return (uint64_t)(int64_t)x;
  }
  if (x >= 2 * (double)top) return top + (top - 1);
  return x > 0 ? (uint64_t)x : 0;
}

uint64_t num_int_to_float(num_fmt fmt, uint64_t v, bool is_signed, num_round r) {
  bool negative = is_signed && v >> 63;
  uint64_t magnitude = negative ? -v : v;
  if (magnitude == 0) return 0;
  return pack(&formats[fmt], negative, magnitude, 0, r, false, false);
}
