/* emu/num/arith.c: arithmetic rounded once, in any direction, on f64, f32, f16 and bf16.
 *
 * The three narrow formats share one method. Their operands have at most 24
 * significant bits, so a double holds either the exact result or that result
 * rounded to odd: truncated, with the last bit set when anything was cut off.
 * Rounding such a double again, to 51 bits or fewer, gives in every mode what
 * rounding the exact result would have given (Boldo and Melquiond, "Emulation of
 * FMA and correctly rounded sums", theorem 2). The error term that says whether
 * and where the exact result lies beside the double is itself exact.
 *
 * f64 has no wider type to lean on: its directed modes run under the host's.
 */
#include "emu/num/num.h"

#include <fenv.h>

static const uint64_t f64_quiet = UINT64_C(1) << 51;
static const uint64_t f64_invalid = UINT64_C(0xfff8000000000000);
static const uint32_t f32_nan = 0x7fffffffu;
static const uint16_t nan_16 = 0x7fff;

/* ---- Exact, or rounded to odd -------------------------------------------- */

/* x is a sum rounded to nearest, the exact one is x + err, of which only the sign matters.
 * An even x moves one step towards the exact value, to an odd neighbour. */
static double to_odd(double x, double err) {
  uint64_t b = num_b64(x);
  if (!(err < 0 || err > 0) || (b & 1)) return x;
  return num_f64((err > 0) == (x > 0) ? b + 1 : b - 1);
}

/* a + b. An exact zero from operands of opposite signs is -0 in .rm only. */
static double sum_odd(double a, double b, num_round r) {
  double s = a + b;
  if (s == 0) return r == NUM_RM && signbit(a) != signbit(b) ? -0.0 : s;
  double b_part = s - a;
  return to_odd(s, (a - (s - b_part)) + (b - b_part)); /* Knuth's TwoSum */
}

/* The operation on operands of at most 24 significant bits, exact or as good as rounded to
 * odd. Quotients and roots need no error term: unless exact, they lie 2^-51 and more of their
 * size away from every number of 25 bits, so that a double is on the right side of each. */
static double compute(char op, double a, double b, double c, num_round r) {
  switch (op) {
  case '+': return sum_odd(a, b, r);
  case '-': return sum_odd(a, -b, r);
  case '*': return a * b; /* 48 bits */
  case '/': return a / b;
  case 'f':
  case 'x': return sum_odd(a * b, c, r);
  case 's': return sqrt(a);
  case 'r': return 1 / a;
  }
  return NAN;
}

/* ---- f32 ----------------------------------------------------------------- */

/* The host's f32 operations round to nearest; false: none of them does this operation. */
static bool host_f32(char op, float a, float b, float *d) {
  switch (op) {
  case '+': *d = a + b; return true;
  case '-': *d = a - b; return true;
  case '*': *d = a * b; return true;
  case '/': *d = a / b; return true;
  case 's': *d = sqrtf(a); return true;
  case 'r': *d = 1 / a; return true;
  }
  return false;
}

float num_arith_f32(char op, float a, float b, float c, num_round r, bool ftz, bool sat) {
  if (ftz) {
    a = num_ftz(a);
    b = num_ftz(b);
    c = num_ftz(c);
  }
  float d;
  /* The host's result does unless it was rounded to the least normal, perhaps from below. */
  bool is_done = r == NUM_RN && host_f32(op, a, b, &d) && !(ftz && fabsf(d) <= 0x1p-126f);
  if (!is_done) d = num_f64_to_f32(compute(op, a, b, c, r), r, ftz);
  if (sat) return d > 0 ? (d < 1 ? d : 1.0f) : 0.0f;
  return isnan(d) ? num_f32(f32_nan) : d;
}

/* ---- f64 ----------------------------------------------------------------- */

/* The operands are volatile so that no compiler moves the operation out of the span in
 * which the rounding mode is set. */
static double compute_f64(char op, volatile double a, volatile double b, volatile double c) {
  switch (op) {
  case '+': return a + b;
  case '-': return a - b;
  case '*': return a * b;
  case '/': return a / b;
  case 'f': return fma(a, b, c);
  case 's': return sqrt(a);
  case 'r': return 1 / a;
  }
  return NAN;
}

/* NaN results of f64 operations, as GPUs give them: the first NaN of the operands in the
 * order given, made quiet; if none of them is NaN, the one with the sign set. */
static double nan_of(double first, double second, double third) {
  double d = isnan(first) ? first : isnan(second) ? second : isnan(third) ? third : num_f64(f64_invalid);
  return num_f64(num_b64(d) | f64_quiet);
}

double num_arith_f64(char op, double a, double b, double c, num_round r) {
  volatile double d;
  if (r == NUM_RN) {
    d = compute_f64(op, a, b, c);
  } else {
    static const int modes[] = {
        [NUM_RN] = FE_TONEAREST, [NUM_RZ] = FE_TOWARDZERO, [NUM_RM] = FE_DOWNWARD, [NUM_RP] = FE_UPWARD};
    int before = fegetround();
    fesetround(modes[r]);
    d = compute_f64(op, a, b, c);
    fesetround(before);
  }
  double result = d;
  if (!isnan(result)) return result;
  switch (op) {
  case 'f': return nan_of(b, c, a);
  case '/': return nan_of(a, b, 0);
  case 's':
  case 'r': return nan_of(a, 0, 0);
  }
  return nan_of(b, a, 0);
}

uint64_t num_add_f64_memory(uint64_t old, uint64_t b) {
  if (isnan(num_f64(b))) return b;
  if (isnan(num_f64(old))) return old;
  return num_b64(num_arith_f64('+', num_f64(old), num_f64(b), 0, NUM_RN));
}

/* ---- min and max --------------------------------------------------------- */

/* Which operand min (max) of two numbers takes: true for a. -0 < +0. */
static bool takes_a(double a, double b, bool max) {
  if (a == b) return max ? !signbit(a) : signbit(a);
  return max ? a > b : a < b;
}

float num_min_f32(float a, float b, bool max, bool ftz, bool nan, bool xorsign) {
  if (ftz) {
    a = num_ftz(a);
    b = num_ftz(b);
  }
  uint32_t sign = (num_b32(a) ^ num_b32(b)) & 0x80000000u;
  if (xorsign) {
    a = fabsf(a);
    b = fabsf(b);
  }
  float d;
  if (isnan(a) || isnan(b)) {
    if (nan || (isnan(a) && isnan(b))) return num_f32(f32_nan);
    d = isnan(a) ? b : a;
  } else {
    d = takes_a(a, b, max) ? a : b;
  }
  return xorsign ? num_f32(num_b32(d) | sign) : d;
}

double num_min_f64(double a, double b, bool max) {
  if (isnan(a)) return isnan(b) ? nan_of(b, a, 0) : b;
  if (isnan(b)) return a;
  return takes_a(a, b, max) ? a : b;
}

/* ---- f16 and bf16 -------------------------------------------------------- */

/* The formats differ in these functions only. */
static bool is_nan_16(num_fmt fmt, uint16_t h) { return (h & 0x7fff) > (fmt == NUM_F16 ? 0x7c00 : 0x7f80); }
static uint16_t ftz_16(num_fmt fmt, uint16_t h) {
  return h & (fmt == NUM_F16 ? 0x7c00 : 0x7f80) ? h : h & 0x8000;
}
static double value_16(num_fmt fmt, uint16_t h) {
  return fmt == NUM_F16 ? num_f16_to_f32(h) : num_bf16_to_f32(h);
}

static uint16_t min_16(num_fmt fmt, uint16_t a, uint16_t b, bool max, bool nan) {
  bool a_nan = is_nan_16(fmt, a), b_nan = is_nan_16(fmt, b);
  if (a_nan || b_nan) {
    if (nan || (a_nan && b_nan)) return nan_16;
    return a_nan ? b : a;
  }
  return takes_a(value_16(fmt, a), value_16(fmt, b), max) ? a : b;
}

/* x rounded to f32 to odd, and then by the fast path: 24 bits are enough for both formats. */
static uint16_t narrow_16(num_fmt fmt, double x, bool ftz) {
  if (ftz && fabs(x) < (fmt == NUM_F16 ? 0x1p-14 : 0x1p-126))
    return (uint16_t)num_from_f64(fmt, x, NUM_RN, false, true);
  float f = (float)x;
  uint32_t b = num_b32(f);
  if (f != x && isfinite(f) && !(b & 1)) f = num_f32(fabs(x) > fabsf(f) ? b + 1 : b - 1);
  return fmt == NUM_F16 ? num_f32_to_f16(f) : num_f32_to_bf16(f);
}

uint16_t num_arith_16(num_fmt fmt, char op, uint16_t a, uint16_t b, uint16_t c, bool ftz, bool sat,
                      bool nan) {
  if (ftz) {
    a = ftz_16(fmt, a);
    b = ftz_16(fmt, b);
    c = ftz_16(fmt, c);
  }
  switch (op) {
  case 'n': return is_nan_16(fmt, a) ? nan_16 : a ^ 0x8000;
  case 'a': return is_nan_16(fmt, a) ? nan_16 : a & 0x7fff;
  case 'm':
  case 'M': return min_16(fmt, a, b, op == 'M', nan);
  case 'y':
  case 'Y': {
    uint16_t d = min_16(fmt, a & 0x7fff, b & 0x7fff, op == 'Y', nan);
    return is_nan_16(fmt, d) ? d : d | ((a ^ b) & 0x8000);
  }
  }
  double x = compute(op, value_16(fmt, a), value_16(fmt, b), value_16(fmt, c), NUM_RN);
  if (sat) x = num_sat(x);
  if (op == 'x') x = num_relu(x);
  return narrow_16(fmt, x, ftz);
}

/* ---- Comparison ---------------------------------------------------------- */

/* How two operands may compare; a comparison operator is the set of outcomes that it accepts. */
enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

static const struct {
  char text[4];
  uint8_t accepts;
} comparisons[] = {
    [NUM_CMP_NONE] = {"", 0},
    [NUM_CMP_EQ] = {"eq", EQUAL},
    [NUM_CMP_NE] = {"ne", LESS | GREATER},
    [NUM_CMP_LT] = {"lt", LESS},
    [NUM_CMP_LE] = {"le", LESS | EQUAL},
    [NUM_CMP_GT] = {"gt", GREATER},
    [NUM_CMP_GE] = {"ge", GREATER | EQUAL},
    [NUM_CMP_EQU] = {"equ", EQUAL | UNORDERED},
    [NUM_CMP_NEU] = {"neu", LESS | GREATER | UNORDERED},
    [NUM_CMP_LTU] = {"ltu", LESS | UNORDERED},
    [NUM_CMP_LEU] = {"leu", LESS | EQUAL | UNORDERED},
    [NUM_CMP_GTU] = {"gtu", GREATER | UNORDERED},
    [NUM_CMP_GEU] = {"geu", GREATER | EQUAL | UNORDERED},
    [NUM_CMP_NUM] = {"num", LESS | EQUAL | GREATER},
    [NUM_CMP_NAN] = {"nan", UNORDERED},
    [NUM_CMP_LO] = {"lo", LESS},
    [NUM_CMP_LS] = {"ls", LESS | EQUAL},
    [NUM_CMP_HI] = {"hi", GREATER},
    [NUM_CMP_HS] = {"hs", GREATER | EQUAL},
};

num_cmp num_cmp_from_text(const char *op) {
  for (unsigned i = NUM_CMP_EQ; i <= NUM_CMP_HS; i++)
    if (strcmp(op, comparisons[i].text) == 0) return (num_cmp)i;
  return NUM_CMP_NONE;
}

bool num_compare_f(num_cmp op, double a, double b) {
  unsigned relation = a < b ? LESS : a > b ? GREATER : a == b ? EQUAL : UNORDERED;
  return comparisons[op].accepts & relation;
}

bool num_compare_u(num_cmp op, uint64_t a, uint64_t b) {
  return comparisons[op].accepts & (a < b ? LESS : a > b ? GREATER : EQUAL);
}

bool num_compare_s(num_cmp op, int64_t a, int64_t b) {
  return comparisons[op].accepts & (a < b ? LESS : a > b ? GREATER : EQUAL);
}

bool num_compare(const char *op, double a, double b) { return num_compare_f(num_cmp_from_text(op), a, b); }
