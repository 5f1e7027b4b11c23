/* emu/num/approx.c: the .approx instructions.
 *
 * Computed in double and rounded once, which is well inside every bound that the
 * PTX ISA documents. A GPU's own tables give other low bits: results agree with a
 * GPU's within that bound, not bit for bit. Special cases follow the ISA's tables;
 * most of them are what the C functions do anyway.
 */
#include "emu/num/num.h"

static const uint64_t f64_nan_approx = UINT64_C(0x7fffffff00000000);

/* div.approx is a * (1/b): above 2^126 the reciprocal is subnormal and flushed to zero,
 * which the ISA makes part of its meaning. */
static double div_approx(float a, float b) {
  if (fabsf(b) > 0x1p126f && isfinite(b)) return (double)a * copysign(0, b);
  return (double)a / (double)b;
}

/* The function in double, before rounding; a and b are f32 values. */
static double evaluate(num_approx op, double a, double b) {
  switch (op) {
  case NUM_RCP: return 1 / a;
  case NUM_RSQRT: return 1 / sqrt(a);
  case NUM_SQRT: return sqrt(a);
  case NUM_SIN: return sin(a);
  case NUM_COS: return cos(a);
  case NUM_LG2: return log2(a);
  case NUM_EX2: return exp2(a);
  case NUM_TANH: return tanh(a);
  case NUM_DIV: return div_approx((float)a, (float)b);
  case NUM_DIVFULL: return a / b;
  case NUM_RSQRT_FTZ: break; /* f64 only */
  }
  return NAN;
}

float num_approx_f32(num_approx op, float a, float b, bool ftz) {
  if (ftz) {
    a = num_ftz(a);
    b = num_ftz(b);
  }
  return num_f64_to_f32(evaluate(op, a, b), NUM_RN, ftz);
}

uint16_t num_approx_16(num_approx op, num_fmt fmt, uint16_t a, bool ftz) {
  double x = num_to_f64(fmt, a);
  if (ftz && fabs(x) < (fmt == NUM_F16 ? 0x1p-14 : 0x1p-126)) x = copysign(0, x);
  return (uint16_t)num_from_f64(fmt, evaluate(op, x, 1), NUM_RN, false, ftz);
}

/* rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 see and make only the upper word, "1.11.20
 * IEEE floating-point format", and flush subnormals on both sides. */
static double approx_upper_word(num_approx op, double a) {
  const uint64_t upper = UINT64_C(0xffffffff00000000);
  a = num_f64(num_b64(a) & upper); /* a NaN with no more than low bits set is an infinity here */
  if (fabs(a) < 0x1p-1022) a = copysign(0, a);
  double d = op == NUM_RCP ? 1 / a : 1 / sqrt(a);
  if (isnan(d)) return num_f64(f64_nan_approx);
  if (fabs(d) < 0x1p-1022) return copysign(0, d);
  return num_f64(num_b64(d) & upper);
}

double num_approx_f64(num_approx op, double a) {
  if (op == NUM_RCP || op == NUM_RSQRT_FTZ) return approx_upper_word(op, a);
  if (isnan(a)) return num_f64(num_b64(a) | UINT64_C(1) << 51);
  return a < 0 ? num_f64(UINT64_C(0xfff8000000000000)) : 1 / sqrt(a);
}
