/* emu/ops/float.c: f32, f64 and f32x2 arithmetic.
 *
 * The host rounds to nearest, so those forms are plain vector code; fma is the host's instruction, or the C
 * library's fma in the portable build. Directed roundings and the approximations without a correctly rounded
 * vector form go lane by lane through num.h. lanes.h says which NaN a result is.
 */
#include "emu/ops/lanes.h"

/* ---- Single lanes ------------------------------------------------------------- */

#define FTZ(x) num_ftz(x)
#define SAT(x) sat_f(x)
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#define QUIET(x) num_f64(num_b64(x) | 0x0008000000000000ull)

/* min and max: a NaN operand is dropped, or taken by .NaN; -0 < +0. Equal operands differ
 * at most in the sign of a zero, which OR and AND of the patterns decide. */
INLINE float min_f(float a, float b, bool nan) {
  float d = a < b ? a : b;
  if (a == b) d = num_f32(num_b32(a) | num_b32(b));
  const float numbers = a == a ? (b == b ? d : a) : b;
  return !nan || (a == a && b == b) ? numbers : NAN;
}
INLINE float max_f(float a, float b, bool nan) {
  float d = a > b ? a : b;
  if (a == b) d = num_f32(num_b32(a) & num_b32(b));
  const float numbers = a == a ? (b == b ? d : a) : b;
  return !nan || (a == a && b == b) ? numbers : NAN;
}
INLINE double min_g(double a, double b) {
  double d = a < b ? a : b;
  if (a == b) d = num_f64(num_b64(a) | num_b64(b));
  return nan_g(a == a ? (b == b ? d : a) : b, b, a, 0);
}
INLINE double max_g(double a, double b) {
  double d = a > b ? a : b;
  if (a == b) d = num_f64(num_b64(a) & num_b64(b));
  return nan_g(a == a ? (b == b ? d : a) : b, b, a, 0);
}
/* .xorsign.abs: of the magnitudes, with the product's sign. */
#define XORSIGN(fn, a, b, nan)                                                                               \
  num_f32(num_b32(fn(num_f32(num_b32(a) & 0x7fffffffu), num_f32(num_b32(b) & 0x7fffffffu), nan)) |           \
          ((num_b32(a) ^ num_b32(b)) & 0x80000000u))

#define APPROX(op, a, b, ftz) num_approx_f32(op, a, b, ftz)
INLINE float rsqrt_f(float a) { return (float)(1 / __builtin_sqrt((double)a)); }
/* div.approx takes |b| in (2^126, 2^128) for a zero reciprocal. */
INLINE float div_approx(float a, float b) {
  const uint32_t magnitude = num_b32(b) & 0x7fffffffu;
  const bool zero = magnitude > 0x7e800000u && magnitude < 0x7f800000u;
  return zero ? a * num_f32(num_b32(b) & 0x80000000u) : a / b;
}

/* ---- Tables --------------------------------------------------------------------- */

#define ROWS_1(X)                                                                                            \
  X(abs_f32, "abs.f32", f, f, num_f32(num_b32(a) & 0x7fffffffu))                                             \
  X(abs_ftz_f32, "abs.ftz.f32", f, f, num_f32(num_b32(FTZ(a)) & 0x7fffffffu))                                \
  X(abs_f64, "abs.f64", g, g, a == a ? num_f64(num_b64(a) & INT64_MAX) : QUIET(a))                           \
  X(neg_f32, "neg.f32", f, f, num_f32(num_b32(a) ^ 0x80000000u))                                             \
  X(neg_ftz_f32, "neg.ftz.f32", f, f, num_f32(num_b32(FTZ(a)) ^ 0x80000000u))                                \
  X(neg_f64, "neg.f64", g, g, a == a ? num_f64(num_b64(a) ^ 1ull << 63) : QUIET(a))                          \
  X(rcp_f32, "rcp.f32", f, f, 1.0f / a)                                                                      \
  X(rcp_ftz_f32, "rcp.ftz.f32", f, f, FTZ(1.0f / FTZ(a)))                                                    \
  X(rcp_approx_f32, "rcp.approx.f32", f, f, 1.0f / a)                                                        \
  X(rcp_approx_ftz_f32, "rcp.approx.ftz.f32", f, f, FTZ(1.0f / FTZ(a)))                                      \
  X(rcp_f64, "rcp.f64", g, g, nan_g(1.0 / a, a, 0, 0))                                                       \
  X(sqrt_f32, "sqrt.f32", f, f, __builtin_sqrtf(a))                                                          \
  X(sqrt_ftz_f32, "sqrt.ftz.f32", f, f, __builtin_sqrtf(FTZ(a)))                                             \
  X(sqrt_approx_f32, "sqrt.approx.f32", f, f, __builtin_sqrtf(a))                                            \
  X(sqrt_approx_ftz_f32, "sqrt.approx.ftz.f32", f, f, __builtin_sqrtf(FTZ(a)))                               \
  X(sqrt_f64, "sqrt.f64", g, g, nan_g(__builtin_sqrt(a), a, 0, 0))                                           \
  X(rsqrt_approx_f32, "rsqrt.approx.f32", f, f, rsqrt_f(a))                                                  \
  X(rsqrt_approx_ftz_f32, "rsqrt.approx.ftz.f32", f, f, rsqrt_f(FTZ(a)))                                     \
  X(rsqrt_approx_f64, "rsqrt.approx.f64", g, g, num_approx_f64(NUM_RSQRT, a))                                \
  X(sin_approx_f32, "sin.approx.f32", f, f, APPROX(NUM_SIN, a, 1, false))                                    \
  X(sin_approx_ftz_f32, "sin.approx.ftz.f32", f, f, APPROX(NUM_SIN, a, 1, true))                             \
  X(cos_approx_f32, "cos.approx.f32", f, f, APPROX(NUM_COS, a, 1, false))                                    \
  X(cos_approx_ftz_f32, "cos.approx.ftz.f32", f, f, APPROX(NUM_COS, a, 1, true))                             \
  X(lg2_approx_f32, "lg2.approx.f32", f, f, APPROX(NUM_LG2, a, 1, false))                                    \
  X(lg2_approx_ftz_f32, "lg2.approx.ftz.f32", f, f, APPROX(NUM_LG2, a, 1, true))                             \
  X(tanh_approx_f32, "tanh.approx.f32", f, f, APPROX(NUM_TANH, a, 1, false))

/* Reciprocals of f64 from the upper word: NaN results are not the usual canonical one. */
#define ROWS_BITS_1(X)                                                                                       \
  X(rcp_approx_ftz_f64, "rcp.approx.ftz.f64", d, g, num_b64(num_approx_f64(NUM_RCP, a)))                     \
  X(rsqrt_approx_ftz_f64, "rsqrt.approx.ftz.f64", d, g, num_b64(num_approx_f64(NUM_RSQRT_FTZ, a)))

#define ARITH_2(X, name, op)                                                                                 \
  X(name##_f32, #name ".f32", f, f, f, a op b)                                                               \
  X(name##_sat_f32, #name ".sat.f32", f, f, f, SAT(a op b))                                                  \
  X(name##_f64, #name ".f64", g, g, g, nan_g(a op b, b, a, 0))

#define MINMAX(X, name)                                                                                      \
  X(name##_f32, #name ".f32", f, f, f, name##_f(a, b, false))                                                \
  X(name##_ftz_f32, #name ".ftz.f32", f, f, f, name##_f(FTZ(a), FTZ(b), false))                              \
  X(name##_nan_f32, #name ".NaN.f32", f, f, f, name##_f(a, b, true))                                         \
  X(name##_ftz_nan_f32, #name ".ftz.NaN.f32", f, f, f, name##_f(FTZ(a), FTZ(b), true))                       \
  X(name##_xs_f32, #name ".xorsign.abs.f32", f, f, f, XORSIGN(name##_f, a, b, false))                        \
  X(name##_ftz_xs_f32, #name ".ftz.xorsign.abs.f32", f, f, f, XORSIGN(name##_f, FTZ(a), FTZ(b), false))      \
  X(name##_nan_xs_f32, #name ".NaN.xorsign.abs.f32", f, f, f, XORSIGN(name##_f, a, b, true))                 \
  X(name##_ftz_nan_xs_f32, #name ".ftz.NaN.xorsign.abs.f32", f, f, f,                                        \
    XORSIGN(name##_f, FTZ(a), FTZ(b), true))                                                                 \
  X(name##_f64, #name ".f64", g, g, g, name##_g(a, b))

#define ROWS_2(X)                                                                                            \
  ARITH_2(X, add, +)                                                                                         \
  ARITH_2(X, sub, -)                                                                                         \
  ARITH_2(X, mul, *)                                                                                         \
  X(add_ftz_f32, "add.ftz.f32", f, f, f, FTZ(FTZ(a) + FTZ(b)))                                               \
  X(add_ftz_sat_f32, "add.ftz.sat.f32", f, f, f, FTZ(SAT(FTZ(a) + FTZ(b))))                                  \
  X(sub_ftz_f32, "sub.ftz.f32", f, f, f, FTZ(FTZ(a) - FTZ(b)))                                               \
  X(sub_ftz_sat_f32, "sub.ftz.sat.f32", f, f, f, FTZ(SAT(FTZ(a) - FTZ(b))))                                  \
  X(div_f32, "div.f32", f, f, f, a / b)                                                                      \
  X(div_full_f32, "div.full.f32", f, f, f, a / b)                                                            \
  X(div_full_ftz_f32, "div.full.ftz.f32", f, f, f, FTZ(FTZ(a) / FTZ(b)))                                     \
  X(div_approx_f32, "div.approx.f32", f, f, f, div_approx(a, b))                                             \
  X(div_approx_ftz_f32, "div.approx.ftz.f32", f, f, f, FTZ(div_approx(FTZ(a), FTZ(b))))                      \
  X(div_f64, "div.f64", g, g, g, nan_g(a / b, a, b, 0))                                                      \
  MINMAX(X, min)                                                                                             \
  MINMAX(X, max)

/* copysign takes the sign of a and the magnitude of b; no arithmetic, so NaNs pass. */
#define ROWS_BITS_2(X)                                                                                       \
  X(copysign_f32, "copysign.f32", w, w, w, (a & 0x80000000u) | (b & 0x7fffffffu))                            \
  X(copysign_f64, "copysign.f64", d, d, d, (a & 1ull << 63) | (b & (uint64_t)INT64_MAX))

/* Of three operands: .abs takes their magnitudes. */
#define ABS(x) num_f32(num_b32(x) & 0x7fffffffu)
#define EXTREME_3(X, name, words, op, value, nan)                                                            \
  X(name##3##words##_f32, #name "3" op ".f32", f, f, f, f,                                                   \
    name##_f(name##_f(value(a), value(b), nan), value(c), nan))
#define SAME(x) (x)
#define FTZ_ABS(x) ABS(FTZ(x))
#define MINMAX_3(X, name)                                                                                    \
  EXTREME_3(X, name, , "", SAME, false)                                                                      \
  EXTREME_3(X, name, _ftz, ".ftz", FTZ, false)                                                               \
  EXTREME_3(X, name, _nan, ".NaN", SAME, true)                                                               \
  EXTREME_3(X, name, _ftz_nan, ".ftz.NaN", FTZ, true)                                                        \
  EXTREME_3(X, name, _abs, ".abs", ABS, false)                                                               \
  EXTREME_3(X, name, _ftz_abs, ".ftz.abs", FTZ_ABS, false)                                                   \
  EXTREME_3(X, name, _nan_abs, ".NaN.abs", ABS, true)                                                        \
  EXTREME_3(X, name, _ftz_nan_abs, ".ftz.NaN.abs", FTZ_ABS, true)

#define ROWS_3(X)                                                                                            \
  X(fma_f32, "fma.f32", f, f, f, f, FMA(a, b, c))                                                            \
  X(fma_sat_f32, "fma.sat.f32", f, f, f, f, SAT(FMA(a, b, c)))                                               \
  X(fma_f64, "fma.f64", g, g, g, g, nan_g(__builtin_fma(a, b, c), b, c, a))                                  \
  MINMAX_3(X, min)                                                                                           \
  MINMAX_3(X, max)

ROWS_1(DEFINE_1)
ROWS_BITS_1(DEFINE_1)
ROWS_2(DEFINE_2)
ROWS_BITS_2(DEFINE_2)
ROWS_3(DEFINE_3)

/* ---- Flushed results ------------------------------------------------------------- */

/* GPUs flush a value below 2^-126 before it is rounded to a subnormal's precision. Sums are exact there. A
 * product, quotient or fma that the host rounds up to 2^-126 itself may have to go: rare enough to leave
 * those lanes to num.h. */
INLINE bool is_edge(float x) { return (num_b32(x) & 0x7fffffffu) == 0x00800000u; }

#define DEFINE_FLUSHED(id, name, shape, op, sat, expr)                                                       \
  HANDLER(id) {                                                                                              \
    const float *pa = slot(r, i->src[0]), *pb = slot(r, i->src[1]), *pc = slot(r, i->src[2]);                \
    float part[32] __attribute__((aligned(64)));                                                             \
    uint32_t edges = 0;                                                                                      \
    LANE_LOOP {                                                                                              \
      const float a = FTZ(pa[l]), b = FTZ(pb[l]), c = FTZ(pc[l]);                                            \
      (void)c;                                                                                               \
      const float d = (expr);                                                                                \
      edges |= is_edge(d) ? 1 : 0;                                                                           \
      part[l] = canon_f(FTZ(sat ? SAT(d) : d));                                                              \
    }                                                                                                        \
    if (edges) FOR_LANES(l, mask) part[l] = num_arith_f32(op, pa[l], pb[l], pc[l], NUM_RN, true, sat);       \
    blend32(slot(r, i->dst), part, mask);                                                                    \
  }
#define ROW_FLUSHED(id, name, shape, op, sat, expr) {name, shape, id},
#define ROWS_FLUSHED(X)                                                                                      \
  X(mul_ftz_f32, "mul.ftz.f32", "f=ff", '*', false, (a * b))                                                 \
  X(mul_ftz_sat_f32, "mul.ftz.sat.f32", "f=ff", '*', true, (a * b))                                          \
  X(div_ftz_f32, "div.ftz.f32", "f=ff", '/', false, a / b)                                                   \
  X(fma_ftz_f32, "fma.ftz.f32", "f=fff", 'f', false, FMA(a, b, c))                                           \
  X(fma_ftz_sat_f32, "fma.ftz.sat.f32", "f=fff", 'f', true, FMA(a, b, c))
ROWS_FLUSHED(DEFINE_FLUSHED)

/* ---- f32x2 ------------------------------------------------------------------------ */

/* Two f32 in a 64-bit register: u64[32] read as float[64]. */
#define DEFINE_X2(id, name, shape, expr)                                                                     \
  HANDLER(id) {                                                                                              \
    const float *pa = slot(r, i->src[0]), *pb = slot(r, i->src[1]), *pc = slot(r, i->src[2]);                \
    float *dst = slot(r, i->dst), part[64] __attribute__((aligned(64)));                                     \
    for (unsigned half = 0; half < 64; half += 32) {                                                         \
      LANE_LOOP {                                                                                            \
        const float a = pa[half + l], b = pb[half + l], c = pc[half + l];                                    \
        (void)c;                                                                                             \
        part[half + l] = canon_f(expr);                                                                      \
      }                                                                                                      \
    }                                                                                                        \
    blend64(dst, part, mask);                                                                                \
  }
#define ROW_X2(id, name, shape, expr) {name, shape, id},
#define ROWS_X2(X)                                                                                           \
  X(add_f32x2, "add.f32x2", "d=dd", a + b)                                                                   \
  X(add_ftz_f32x2, "add.ftz.f32x2", "d=dd", FTZ(FTZ(a) + FTZ(b)))                                            \
  X(sub_f32x2, "sub.f32x2", "d=dd", a - b)                                                                   \
  X(sub_ftz_f32x2, "sub.ftz.f32x2", "d=dd", FTZ(FTZ(a) - FTZ(b)))                                            \
  X(mul_f32x2, "mul.f32x2", "d=dd", (a * b))                                                                 \
  X(fma_f32x2, "fma.f32x2", "d=ddd", FMA(a, b, c))
ROWS_X2(DEFINE_X2)

/* ---- Directed rounding ---------------------------------------------------------------- */

/* fma.f32 in a direction, which expf is made of, all lanes at once. False: a lane in the mask has a special
 * result, or one next to the least normal. The sum in double is rounded to nearest; its error tells on which
 * side of the exact one the nearest f32 lies, and the exact one's neighbour on the other side is one step
 * off. */
INLINE bool fma_directed(const float *a, const float *b, const float *c, num_round round, bool ftz,
                         uint32_t mask, float *out) {
  uint32_t special = 0;
  LANE_LOOP {
    const double p = (double)(ftz ? FTZ(a[l]) : a[l]) * (ftz ? FTZ(b[l]) : b[l]), q = ftz ? FTZ(c[l]) : c[l],
                 s = p + q, t = s - p, e = (p - (s - t)) + (q - t);
    const float f = (float)s, size = f < 0 ? -f : f;
    const double g = f;
    const bool above = g > s || (g == s && e < 0), below = g < s || (g == s && e > 0), negative = f < 0;
    const bool down = above && (round == NUM_RM || (round == NUM_RZ && !negative)),
               up = below && (round == NUM_RP || (round == NUM_RZ && negative));
    out[l] = num_f32(num_b32(f) + (negative ? down : up) - (negative ? up : down));
    special |= size > 0x1p-126f && size < 0x1p127f ? 0 : lane_bit[l];
  }
  return !(special & mask);
}

/* ---- Powers of two --------------------------------------------------------------------- */

/* ln(2)^k / k! */
static const double powers_series[] = {0x1.0000000000000p+0,  0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58fp-3,
                                       0x1.c6b08d704a0c0p-5,  0x1.3b2ab6fba4e77p-7,  0x1.5d87fe78a6731p-10,
                                       0x1.430912f86c787p-13, 0x1.ffcbfc588b0c7p-17, 0x1.62c0223a5c824p-20,
                                       0x1.b5253d395e7c4p-24, 0x1.e4cf5158b8ecap-28, 0x1.e8cac7351bb25p-32,
                                       0x1.c3bd650fc2986p-36};

/* 2^a of all lanes at once: a's whole part goes to the exponent, and the rest, of at most a half, through the
 * series, to 2^-50 of the result. Returns the lanes in which that does not decide what num_approx_f32 gives:
 * those whose result is not normal, or lies within 2^-46 of its size of the middle between two f32. */
INLINE uint32_t powers_of_two(const float *a, float *out) {
  enum { TERMS = sizeof powers_series / sizeof *powers_series };
  const double whole = 0x1.8p52, off = 0x1p-46;
  uint32_t undecided = 0;
  LANE_LOOP {
    const double x = a[l], shifted = x + whole, rest = x - (shifted - whole);
    double sum = powers_series[TERMS - 1];
    for (unsigned k = TERMS - 1; k--;) sum = sum * rest + powers_series[k];
    const double y = num_f64(num_b64(sum) + (num_b64(shifted) << 52));
    const float least = (float)(y - y * off), most = (float)(y + y * off);
    out[l] = least;
    undecided |= a[l] > -125 && a[l] < 128 && least == most ? 0 : lane_bit[l];
  }
  return undecided;
}
INLINE void put_powers(const emu_inst *i, char *r, uint32_t mask, bool ftz) {
  const float *pa = slot(r, i->src[0]);
  float part[32] __attribute__((aligned(64)));
  const uint32_t undecided = powers_of_two(pa, part) & mask;
  FOR_LANES(l, undecided) part[l] = num_approx_f32(NUM_EX2, pa[l], 1, ftz);
  blend32(slot(r, i->dst), part, mask);
}
HANDLER(ex2_approx_f32) { put_powers(i, r, mask, false); }
HANDLER(ex2_approx_ftz_f32) { put_powers(i, r, mask, true); }

/* round.OP: any of add sub mul div fma rcp sqrt in mode x->round. */
HANDLER(round_f32) {
  const float *pa = slot(r, i->src[0]), *pb = slot(r, i->src[1]), *pc = slot(r, i->src[2]);
  float *dst = slot(r, i->dst), fast[32] __attribute__((aligned(64)));
  if (i->arith.op == 'f' && !i->arith.sat && i->arith.round != NUM_RN &&
      fma_directed(pa, pb, pc, (num_round)i->arith.round, i->arith.ftz, mask, fast)) {
    blend32(dst, fast, mask);
    return;
  }
  FOR_LANES(l, mask)
  dst[l] = num_arith_f32((char)i->arith.op, pa[l], pb[l], pc[l], (num_round)i->arith.round, i->arith.ftz,
                         i->arith.sat);
}
HANDLER(round_f64) {
  const double *pa = slot(r, i->src[0]), *pb = slot(r, i->src[1]), *pc = slot(r, i->src[2]);
  double *dst = slot(r, i->dst);
  FOR_LANES(l, mask)
  dst[l] = num_arith_f64((char)i->arith.op, pa[l], pb[l], pc[l], (num_round)i->arith.round);
}
HANDLER(round_f32x2) {
  const float *pa = slot(r, i->src[0]), *pb = slot(r, i->src[1]), *pc = slot(r, i->src[2]);
  float *dst = slot(r, i->dst);
  FOR_LANES(l, mask)
  for (unsigned k = 2 * l; k < 2 * l + 2; k++)
    dst[k] =
        num_arith_f32((char)i->arith.op, pa[k], pb[k], pc[k], (num_round)i->arith.round, i->arith.ftz, false);
}

/* mixed.sum: a half and an f32; mixed.fma: the product of two halves, and an f32. */
INLINE float half_value(const emu_inst *i, uint32_t bits) {
  return i->arith.fmt == NUM_F16 ? num_f16_to_f32((uint16_t)bits) : num_bf16_to_f32((uint16_t)bits);
}
HANDLER(mixed_sum) {
  const uint32_t *pa = slot(r, i->src[0]);
  const float *pb = slot(r, i->src[1]);
  float *dst = slot(r, i->dst);
  FOR_LANES(l, mask)
  dst[l] = num_arith_f32((char)i->arith.op, half_value(i, pa[l]), pb[l], 0, (num_round)i->arith.round, false,
                         i->arith.sat);
}
HANDLER(mixed_fma) {
  const uint32_t *pa = slot(r, i->src[0]), *pb = slot(r, i->src[1]);
  const float *pc = slot(r, i->src[2]);
  float *dst = slot(r, i->dst);
  FOR_LANES(l, mask)
  dst[l] = num_arith_f32('f', half_value(i, pa[l]), half_value(i, pb[l]), pc[l], (num_round)i->arith.round,
                         false, i->arith.sat);
}

/* A zero is a normal number (PTX ISA, testp). */
/* ---- testp ------------------------------------------------------------------------------ */

#define TESTP(id, T, P, cond)                                                                                \
  HANDLER(id) {                                                                                              \
    const T *pa = slot(r, i->src[0]);                                                                        \
    PRED_OF(({                                                                                               \
      const T m = pa[l] & (T)(P##_SIGN - 1);                                                                 \
      cond;                                                                                                  \
    }));                                                                                                     \
    put_pred(r, i->dst, bits, mask);                                                                         \
  }
#define F32_SIGN 0x80000000u
#define F32_INF 0x7f800000u
#define F32_MIN 0x00800000u
#define F64_SIGN 0x8000000000000000ull
#define F64_INF 0x7ff0000000000000ull
#define F64_MIN 0x0010000000000000ull
#define TESTPS(X, s, T, P, shape)                                                                            \
  X(testp_finite_##s, "testp.finite." #s, T, P, shape, m < P##_INF)                                          \
  X(testp_infinite_##s, "testp.infinite." #s, T, P, shape, m == P##_INF)                                     \
  X(testp_number_##s, "testp.number." #s, T, P, shape, m <= P##_INF)                                         \
  X(testp_notanumber_##s, "testp.notanumber." #s, T, P, shape, m > P##_INF)                                  \
  X(testp_normal_##s, "testp.normal." #s, T, P, shape, (m >= P##_MIN && m < P##_INF) || m == 0)              \
  X(testp_subnormal_##s, "testp.subnormal." #s, T, P, shape, m != 0 && m < P##_MIN)
#define ROWS_TESTP(X) TESTPS(X, f32, uint32_t, F32, "p=w") TESTPS(X, f64, uint64_t, F64, "p=d")
#define DEFINE_TESTP(id, name, T, P, shape, cond) TESTP(id, T, P, cond)
#define ROW_TESTP(id, name, T, P, shape, cond) {name, shape, id},
ROWS_TESTP(DEFINE_TESTP)

const emu_op EMU_OPS(float)[] = {ROWS_1(ROW_1) ROWS_BITS_1(ROW_1) ROWS_2(ROW_2) ROWS_BITS_2(ROW_2)
                                     ROWS_3(ROW_3) ROWS_FLUSHED(ROW_FLUSHED) ROWS_X2(ROW_X2)
                                         ROWS_TESTP(ROW_TESTP){"round.f32", "", round_f32},
                                 {"round.f64", "", round_f64},
                                 {"round.f32x2", "", round_f32x2},
                                 {"ex2.approx.f32", "f=f", ex2_approx_f32},
                                 {"ex2.approx.ftz.f32", "f=f", ex2_approx_ftz_f32},
                                 {"mixed.sum", "f=hf", mixed_sum},
                                 {"mixed.fma", "f=hhf", mixed_fma},
                                 {0}};
