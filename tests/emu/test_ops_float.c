/* f32, f64 and half-precision instructions and comparisons, bit for bit against C. */
#include "emu/num/num.h"
#include "emu/ops_run.h"

#include <fenv.h>

#define F(x) f32_of(x)
#define G(x) f64_of(x)
#define SIGN32 0x80000000u
#define SIGN64 (1ull << 63)

#define DEFINE(id, name, shape, expr) WANT(want_##id, expr)
#define ROW(id, name, shape, expr) {name, shape, want_##id, NULL},

/* ---- Rounded to nearest ------------------------------------------------------------- */

static uint64_t z(float f) { return bits_f32(flush(f)); }
static float fz(uint64_t b) { return flush(f32_of(b)); }
/* The emulator flushes a result that is subnormal before rounding, even if it rounds to a normal number. The
 * host's rounded sum does not show this, so num.h is the reference. */
static uint64_t flushed(char op, uint64_t a, uint64_t b, uint64_t c, bool sat) {
  return num_b32(num_arith_f32(op, F(a), F(b), F(c), NUM_RN, true, sat));
}

/* clang-format off */
#define OPERATOR(X, op, sym) \
  X(op##_f32, #op ".f32", "w=ww", bits_f32(F(a) sym F(b))) \
  X(op##_rn_f32, #op ".rn.f32", "w=ww", bits_f32(F(a) sym F(b))) \
  X(op##_ftz_f32, #op ".ftz.f32", "w=ww", flushed(#sym[0], a, b, 0, false)) \
  X(op##_sat_f32, #op ".sat.f32", "w=ww", bits_f32(clamp01(F(a) sym F(b)))) \
  X(op##_ftz_sat_f32, #op ".rn.ftz.sat.f32", "w=ww", flushed(#sym[0], a, b, 0, true)) \
  X(op##_f64, #op ".f64", "d=dd", bits_f64(G(a) sym G(b), b, a, 0))
#define NEAREST(X) \
  OPERATOR(X, add, +) OPERATOR(X, sub, -) OPERATOR(X, mul, *) \
  X(fma_f32, "fma.rn.f32", "w=www", bits_f32(fmaf(F(a), F(b), F(c)))) \
  X(fma_ftz, "fma.rn.ftz.f32", "w=www", flushed('f', a, b, c, false)) \
  X(fma_sat, "fma.rn.sat.f32", "w=www", bits_f32(clamp01(fmaf(F(a), F(b), F(c))))) \
  X(fma_ftz_sat, "fma.rn.ftz.sat.f32", "w=www", flushed('f', a, b, c, true)) \
  X(mad_f32, "mad.rn.f32", "w=www", bits_f32(fmaf(F(a), F(b), F(c)))) \
  X(fma_f64, "fma.rn.f64", "d=ddd", bits_f64(fma(G(a), G(b), G(c)), b, c, a)) \
  X(mad_f64, "mad.rn.f64", "d=ddd", bits_f64(fma(G(a), G(b), G(c)), b, c, a)) \
  X(div_f32, "div.rn.f32", "w=ww", bits_f32(F(a) / F(b))) \
  X(div_ftz, "div.rn.ftz.f32", "w=ww", flushed('/', a, b, 0, false)) \
  X(div_f64, "div.rn.f64", "d=dd", bits_f64(G(a) / G(b), a, b, 0)) \
  X(rcp_f32, "rcp.rn.f32", "w=w", bits_f32(1 / F(a))) \
  X(rcp_ftz, "rcp.rn.ftz.f32", "w=w", z(1 / fz(a))) \
  X(rcp_f64, "rcp.rn.f64", "d=d", bits_f64(1 / G(a), a, 0, 0)) \
  X(sqrt_f32, "sqrt.rn.f32", "w=w", bits_f32(sqrtf(F(a)))) \
  X(sqrt_ftz, "sqrt.rn.ftz.f32", "w=w", z(sqrtf(fz(a)))) \
  X(sqrt_f64, "sqrt.rn.f64", "d=d", bits_f64(sqrt(G(a)), a, 0, 0)) \
  X(abs_f32, "abs.f32", "w=w", bits_f32(fabsf(F(a)))) \
  X(abs_ftz, "abs.ftz.f32", "w=w", bits_f32(fabsf(fz(a)))) \
  X(abs_f64, "abs.f64", "d=d", bits_f64(fabs(G(a)), a, 0, 0)) \
  X(neg_f32, "neg.f32", "w=w", bits_f32(-F(a))) X(neg_ftz, "neg.ftz.f32", "w=w", bits_f32(-fz(a))) \
  X(neg_f64, "neg.f64", "d=d", bits_f64(-G(a), a, 0, 0)) \
  X(cs_f32, "copysign.f32", "w=ww", (a & SIGN32) | (b & 0x7fffffff)) \
  X(cs_f64, "copysign.f64", "d=dd", (a & SIGN64) | (b & ~SIGN64))
/* clang-format on */
NEAREST(DEFINE)
static const op_case nearest[] = {NEAREST(ROW)};
static void rounded_to_nearest(void **state) { op_check(nearest, sizeof nearest / sizeof nearest[0]); }

/* ---- Directed rounding ------------------------------------------------------------------ */

/* The host's own rounding modes are the reference. */
static double volatile directed_a, directed_b, directed_c;
#define DIRECTED(fe, T, expr)                                                                                \
  ({                                                                                                         \
    directed_a = a_;                                                                                         \
    directed_b = b_;                                                                                         \
    directed_c = c_;                                                                                         \
    fesetround(fe);                                                                                          \
    volatile T x = (T)directed_a, y = (T)directed_b, w = (T)directed_c;                                      \
    (void)x, (void)y, (void)w;                                                                               \
    volatile T r = (expr);                                                                                   \
    fesetround(FE_TONEAREST);                                                                                \
    r;                                                                                                       \
  })
/* clang-format off */
#define MODES(X, op, text, sh32, sh64, e32, e64) \
  X(op##_rz_f32, text ".rz.f32", sh32, e32(FE_TOWARDZERO)) \
  X(op##_rm_f32, text ".rm.f32", sh32, e32(FE_DOWNWARD)) \
  X(op##_rp_f32, text ".rp.f32", sh32, e32(FE_UPWARD)) \
  X(op##_rz_f64, text ".rz.f64", sh64, e64(FE_TOWARDZERO)) \
  X(op##_rm_f64, text ".rm.f64", sh64, e64(FE_DOWNWARD)) \
  X(op##_rp_f64, text ".rp.f64", sh64, e64(FE_UPWARD))
/* clang-format on */
#define IN32(mode, expr)                                                                                     \
  bits_f32(({                                                                                                \
    const double a_ = F(a), b_ = F(b), c_ = F(c);                                                            \
    DIRECTED(mode, float, expr);                                                                             \
  }))
#define IN64(mode, expr, ...)                                                                                \
  bits_f64(({                                                                                                \
             const double a_ = G(a), b_ = G(b), c_ = G(c);                                                   \
             DIRECTED(mode, double, expr);                                                                   \
           }),                                                                                               \
           __VA_ARGS__)
#define ADD32(m) IN32(m, x + y)
#define ADD64(m) IN64(m, x + y, b, a, 0)
#define SUB32(m) IN32(m, x - y)
#define SUB64(m) IN64(m, x - y, b, a, 0)
#define MUL32(m) IN32(m, x *y)
#define MUL64(m) IN64(m, x *y, b, a, 0)
#define DIV32(m) IN32(m, x / y)
#define DIV64(m) IN64(m, x / y, a, b, 0)
#define FMA32(m) IN32(m, fmaf(x, y, w))
#define FMA64(m) IN64(m, fma(x, y, w), b, c, a)
#define SQRT32(m) IN32(m, sqrtf(x))
#define SQRT64(m) IN64(m, sqrt(x), a, 0, 0)
#define RCP32(m) IN32(m, 1 / x)
#define RCP64(m) IN64(m, 1 / x, a, 0, 0)
/* clang-format off */
#define ROUNDED(X) \
  MODES(X, add, "add", "w=ww", "d=dd", ADD32, ADD64) \
  MODES(X, sub, "sub", "w=ww", "d=dd", SUB32, SUB64) \
  MODES(X, mul, "mul", "w=ww", "d=dd", MUL32, MUL64) \
  MODES(X, div, "div", "w=ww", "d=dd", DIV32, DIV64) \
  MODES(X, fma, "fma", "w=www", "d=ddd", FMA32, FMA64) \
  MODES(X, sqrt, "sqrt", "w=w", "d=d", SQRT32, SQRT64) \
  MODES(X, rcp, "rcp", "w=w", "d=d", RCP32, RCP64)
/* clang-format on */
ROUNDED(DEFINE)
static const op_case rounded[] = {ROUNDED(ROW)};
static void rounded_otherwise(void **state) { op_check(rounded, sizeof rounded / sizeof rounded[0]); }

/* ---- min and max, testp ------------------------------------------------------------------- */

static float least(float a, float b, bool max, bool nan) {
  if (isnan(a) || isnan(b)) return nan || (isnan(a) && isnan(b)) ? NAN : isnan(a) ? b : a;
  if (a == b) return max == (signbit(a) != 0) ? b : a; /* -0 < +0 */
  return (a > b) == max ? a : b;
}
static double least64(double a, double b, bool max) {
  if (isnan(a) || isnan(b)) return isnan(a) ? b : a;
  if (a == b) return max == (signbit(a) != 0) ? b : a;
  return (a > b) == max ? a : b;
}
static uint64_t xorsign(float a, float b, bool max, bool nan) {
  const float d = least(fabsf(a), fabsf(b), max, nan);
  return isnan(d) ? 0x7fffffff : bits_f32(d) | (signbit(a) != signbit(b) ? SIGN32 : 0);
}
/* clang-format off */
#define MINMAX(X, op, max) \
  X(op##_f32, #op ".f32", "w=ww", bits_f32(least(F(a), F(b), max, false))) \
  X(op##_ftz, #op ".ftz.f32", "w=ww", bits_f32(least(fz(a), fz(b), max, false))) \
  X(op##_nan, #op ".NaN.f32", "w=ww", bits_f32(least(F(a), F(b), max, true))) \
  X(op##_ftz_nan, #op ".ftz.NaN.f32", "w=ww", bits_f32(least(fz(a), fz(b), max, true))) \
  X(op##_xs, #op ".xorsign.abs.f32", "w=ww", xorsign(F(a), F(b), max, false)) \
  X(op##_ftz_nan_xs, #op ".ftz.NaN.xorsign.abs.f32", "w=ww", xorsign(fz(a), fz(b), max, true)) \
  X(op##_f64, #op ".f64", "d=dd", bits_f64(least64(G(a), G(b), max), b, a, 0))
#define CLASSES(X, t, sh, v) \
  X(tp_f_##t, "testp.finite." #t, sh, isfinite(v)) \
  X(tp_i_##t, "testp.infinite." #t, sh, isinf(v) != 0) X(tp_n_##t, "testp.number." #t, sh, !isnan(v)) \
  X(tp_nn_##t, "testp.notanumber." #t, sh, isnan(v) != 0) \
  X(tp_no_##t, "testp.normal." #t, sh, fpclassify(v) == FP_NORMAL || v == 0) \
  X(tp_su_##t, "testp.subnormal." #t, sh, fpclassify(v) == FP_SUBNORMAL)
#define ORDERED(X) \
  MINMAX(X, min, false) MINMAX(X, max, true) CLASSES(X, f32, "p=w", F(a)) CLASSES(X, f64, "p=d", G(a))
/* clang-format on */
ORDERED(DEFINE)
static const op_case ordered[] = {ORDERED(ROW)};
static void minima_and_classes(void **state) { op_check(ordered, sizeof ordered / sizeof ordered[0]); }

/* ---- Comparisons --------------------------------------------------------------------------- */

/* clang-format off */
#define INT_COMPARES(X, t, sh, T) \
  X(eq_##t, "setp.eq." #t, sh, (T)a == (T)b) X(ne_##t, "setp.ne." #t, sh, (T)a != (T)b) \
  X(lt_##t, "setp.lt." #t, sh, (T)a < (T)b) X(le_##t, "setp.le." #t, sh, (T)a <= (T)b) \
  X(gt_##t, "setp.gt." #t, sh, (T)a > (T)b) X(ge_##t, "setp.ge." #t, sh, (T)a >= (T)b)
#define UNSIGNED_NAMES(X, t, sh) \
  X(lo_##t, "setp.lo." #t, sh, a < b) X(ls_##t, "setp.ls." #t, sh, a <= b) \
  X(hi_##t, "setp.hi." #t, sh, a > b) X(hs_##t, "setp.hs." #t, sh, a >= b)
/* clang-format on */
#define UNORDERED(V) (isnan(V(a)) || isnan(V(b)))
/* clang-format off */
#define FLOAT_COMPARES(X, id, t, sh, V) \
  X(eq_##id, "setp.eq." t, sh, V(a) == V(b)) \
  X(ne_##id, "setp.ne." t, sh, V(a) != V(b) && !UNORDERED(V)) \
  X(lt_##id, "setp.lt." t, sh, V(a) < V(b)) X(le_##id, "setp.le." t, sh, V(a) <= V(b)) \
  X(gt_##id, "setp.gt." t, sh, V(a) > V(b)) X(ge_##id, "setp.ge." t, sh, V(a) >= V(b)) \
  X(equ_##id, "setp.equ." t, sh, V(a) == V(b) || UNORDERED(V)) \
  X(neu_##id, "setp.neu." t, sh, V(a) != V(b)) \
  X(ltu_##id, "setp.ltu." t, sh, V(a) < V(b) || UNORDERED(V)) \
  X(leu_##id, "setp.leu." t, sh, V(a) <= V(b) || UNORDERED(V)) \
  X(gtu_##id, "setp.gtu." t, sh, V(a) > V(b) || UNORDERED(V)) \
  X(geu_##id, "setp.geu." t, sh, V(a) >= V(b) || UNORDERED(V)) \
  X(num_##id, "setp.num." t, sh, !UNORDERED(V)) X(nan_##id, "setp.nan." t, sh, UNORDERED(V))
/* clang-format on */
#define H16(x) ((float)num_to_f64(NUM_F16, (x)&0xffff))
#define BH16(x) ((float)num_to_f64(NUM_BF16, (x)&0xffff))
/* clang-format off */
#define COMPARES(X) \
  INT_COMPARES(X, u16, "p=hh", uint16_t) INT_COMPARES(X, s16, "p=hh", int16_t) \
  INT_COMPARES(X, u32, "p=ww", uint32_t) INT_COMPARES(X, s32, "p=ww", int32_t) \
  INT_COMPARES(X, u64, "p=dd", uint64_t) INT_COMPARES(X, s64, "p=dd", int64_t) \
  UNSIGNED_NAMES(X, u16, "p=hh") UNSIGNED_NAMES(X, u32, "p=ww") UNSIGNED_NAMES(X, u64, "p=dd") \
  X(eq_b16, "setp.eq.b16", "p=hh", a == b) X(ne_b32, "setp.ne.b32", "p=ww", a != b) \
  X(eq_b64, "setp.eq.b64", "p=dd", a == b) FLOAT_COMPARES(X, f32, "f32", "p=ww", F) \
  FLOAT_COMPARES(X, z32, "ftz.f32", "p=ww", fz) FLOAT_COMPARES(X, f64, "f64", "p=dd", G) \
  FLOAT_COMPARES(X, f16, "f16", "p=hh", H16) FLOAT_COMPARES(X, bf16, "bf16", "p=hh", BH16) \
  X(and_s32, "setp.lt.and.s32", "p=wwp", ((int32_t)a < (int32_t)b) & c) \
  X(or_f32, "setp.gt.or.f32", "p=wwp", (F(a) > F(b)) | c) \
  X(xor_u64, "setp.eq.xor.u64", "p=ddp", (a == b) ^ c) \
  X(set_u32, "set.lt.u32.s32", "w=ww", (int32_t)a < (int32_t)b ? ~0u : 0) \
  X(set_f32, "set.gtu.f32.f64", "w=dd", G(a) > G(b) || UNORDERED(G) ? 0x3f800000 : 0) \
  X(set_and, "set.eq.and.u32.u32", "w=wwp", (a == b) & c ? ~0u : 0) \
  X(set_h, "set.le.f16.f16", "h=hh", H16(a) <= H16(b) ? 0x3c00 : 0) \
  X(set_hu, "set.le.u32.f16", "w=hh", H16(a) <= H16(b) ? ~0u : 0) \
  X(set_h2, "set.lt.f16x2.f16x2", "w=ww", \
    (H16(a) < H16(b) ? 0x3c00u : 0) | (H16(a >> 16) < H16(b >> 16) ? 0x3c000000u : 0)) \
  X(set_b2, "set.lt.u32.bf16x2", "w=ww", \
    (BH16(a) < BH16(b) ? 0xffffu : 0) | (BH16(a >> 16) < BH16(b >> 16) ? 0xffff0000u : 0))
/* clang-format on */
COMPARES(DEFINE)
static const op_case compares[] = {COMPARES(ROW)};
static void comparisons(void **state) { op_check(compares, sizeof compares / sizeof compares[0]); }

/* ---- f16, bf16 ------------------------------------------------------------------------------- */

/* A value rounded once: operands of 11 or 8 bits are exact in double, and a double holds enough of their sum
 * or product to round it. */
static uint64_t r16(num_fmt f, double x) {
  return isnan(x) ? 0x7fff : num_from_f64(f, x, NUM_RN, false, false);
}
static double v16(num_fmt f, uint64_t b) { return num_to_f64(f, b & 0xffff); }
static uint64_t min16(num_fmt f, uint64_t a, uint64_t b, bool max, bool nan) {
  const float d = least((float)v16(f, a), (float)v16(f, b), max, nan);
  return isnan(d) ? 0x7fff : r16(f, d);
}
#define PAIRED(f) ((f(a, b, c) & 0xffff) | (f(a >> 16, b >> 16, c >> 16) & 0xffff) << 16)
#define HALF_FNS(t, FMT)                                                                                     \
  static uint64_t add_##t(uint64_t a, uint64_t b, uint64_t c) {                                              \
    return r16(FMT, v16(FMT, a) + v16(FMT, b));                                                              \
  }                                                                                                          \
  static uint64_t sub_##t(uint64_t a, uint64_t b, uint64_t c) {                                              \
    return r16(FMT, v16(FMT, a) - v16(FMT, b));                                                              \
  }                                                                                                          \
  static uint64_t mul_##t(uint64_t a, uint64_t b, uint64_t c) {                                              \
    return r16(FMT, v16(FMT, a) * v16(FMT, b));                                                              \
  }                                                                                                          \
  static uint64_t fma_##t(uint64_t a, uint64_t b, uint64_t c) {                                              \
    return num_arith_16(FMT, 'f', (uint16_t)a, (uint16_t)b, (uint16_t)c, 0, 0, 0);                           \
  }                                                                                                          \
  static uint64_t relu_##t(uint64_t a, uint64_t b, uint64_t c) {                                             \
    const uint64_t d = fma_##t(a, b, c);                                                                     \
    return v16(FMT, d) <= 0 ? 0 : d;                                                                         \
  }                                                                                                          \
  static uint64_t min_##t(uint64_t a, uint64_t b, uint64_t c) { return min16(FMT, a, b, false, false); }     \
  static uint64_t max_##t(uint64_t a, uint64_t b, uint64_t c) { return min16(FMT, a, b, true, false); }      \
  static uint64_t maxn_##t(uint64_t a, uint64_t b, uint64_t c) { return min16(FMT, a, b, true, true); }      \
  static uint64_t neg_##t(uint64_t a, uint64_t b, uint64_t c) {                                              \
    return isnan(v16(FMT, a)) ? 0x7fff : a ^ 0x8000;                                                         \
  }                                                                                                          \
  static uint64_t abs_##t(uint64_t a, uint64_t b, uint64_t c) {                                              \
    return isnan(v16(FMT, a)) ? 0x7fff : a & 0x7fff;                                                         \
  }
HALF_FNS(f16, NUM_F16)
HALF_FNS(bf16, NUM_BF16)
/* clang-format off */
#define HALF_OPS(X, t) \
  X(h_add_##t, "add.rn." #t, "h=hh", add_##t(a, b, c)) \
  X(h2_add_##t, "add.rn." #t "x2", "w=ww", PAIRED(add_##t)) \
  X(h_sub_##t, "sub." #t, "h=hh", sub_##t(a, b, c)) \
  X(h2_mul_##t, "mul." #t "x2", "w=ww", PAIRED(mul_##t)) \
  X(h_mul_##t, "mul.rn." #t, "h=hh", mul_##t(a, b, c)) \
  X(h_fma_##t, "fma.rn." #t, "h=hhh", fma_##t(a, b, c)) \
  X(h2_fma_##t, "fma.rn." #t "x2", "w=www", PAIRED(fma_##t)) \
  X(h_rel_##t, "fma.rn.relu." #t, "h=hhh", relu_##t(a, b, c)) \
  X(h_min_##t, "min." #t, "h=hh", min_##t(a, b, c)) \
  X(h2_max_##t, "max." #t "x2", "w=ww", PAIRED(max_##t)) \
  X(h_maxn_##t, "max.NaN." #t, "h=hh", maxn_##t(a, b, c)) \
  X(h_neg_##t, "neg." #t, "h=h", neg_##t(a, b, c)) \
  X(h2_abs_##t, "abs." #t "x2", "w=w", PAIRED(abs_##t))
/* clang-format on */
#define HALVES(X) HALF_OPS(X, f16) HALF_OPS(X, bf16)
HALVES(DEFINE)
static const op_case half_cases[] = {HALVES(ROW)};
static void half_precision(void **state) { op_check(half_cases, sizeof half_cases / sizeof half_cases[0]); }

/* ---- f32x2 -------------------------------------------------------------------------------------- */

#define BOTH(expr)                                                                                           \
  ({                                                                                                         \
    uint64_t r_ = 0;                                                                                         \
    for (unsigned k = 0; k < 64; k += 32) {                                                                  \
      const float x = F(a >> k), y = F(b >> k), w = F(c >> k);                                               \
      (void)x, (void)y, (void)w;                                                                             \
      r_ |= (uint64_t)(expr) << k;                                                                           \
    }                                                                                                        \
    r_;                                                                                                      \
  })
/* clang-format off */
#define PAIRS(X) \
  X(x2_add, "add.rn.f32x2", "d=dd", BOTH(bits_f32(x + y))) \
  X(x2_mul, "mul.rn.f32x2", "d=dd", BOTH(bits_f32(x * y))) \
  X(x2_mulz, "mul.rn.ftz.f32x2", "d=dd", BOTH(flushed('*', num_b32(x), num_b32(y), 0, false))) \
  X(x2_rz, "fma.rz.f32x2", "d=ddd", BOTH(num_b32(num_arith_f32('f', x, y, w, NUM_RZ, false, false)))) \
  X(x2_fma, "fma.rn.f32x2", "d=ddd", BOTH(bits_f32(fmaf(x, y, w)))) \
  X(x2_addz, "add.ftz.f32x2", "d=dd", BOTH(flushed('+', num_b32(x), num_b32(y), 0, false))) \
  X(x2_fmaz, "fma.rn.ftz.f32x2", "d=ddd", BOTH(flushed('f', num_b32(x), num_b32(y), num_b32(w), false)))
/* clang-format on */
PAIRS(DEFINE)
static const op_case pairs[] = {PAIRS(ROW)};
static void packed_f32(void **state) { op_check(pairs, sizeof pairs / sizeof pairs[0]); }

/* ---- Approximations -------------------------------------------------------------------------------- */

/* clang-format off */
#define APPROXIMATIONS(X) \
  X(ap_rcp, "rcp.approx.f32", "w=w", bits_f32(num_approx_f32(NUM_RCP, F(a), 1, false))) \
  X(ap_rcpz, "rcp.approx.ftz.f32", "w=w", bits_f32(num_approx_f32(NUM_RCP, F(a), 1, true))) \
  X(ap_sqrt, "sqrt.approx.f32", "w=w", bits_f32(num_approx_f32(NUM_SQRT, F(a), 1, false))) \
  X(ap_sqrtz, "sqrt.approx.ftz.f32", "w=w", bits_f32(num_approx_f32(NUM_SQRT, F(a), 1, true))) \
  X(ap_rsqrt, "rsqrt.approx.f32", "w=w", bits_f32(num_approx_f32(NUM_RSQRT, F(a), 1, false))) \
  X(ap_rsqrtz, "rsqrt.approx.ftz.f32", "w=w", bits_f32(num_approx_f32(NUM_RSQRT, F(a), 1, true))) \
  X(ap_div, "div.approx.f32", "w=ww", bits_f32(num_approx_f32(NUM_DIV, F(a), F(b), false))) \
  X(ap_divz, "div.approx.ftz.f32", "w=ww", bits_f32(num_approx_f32(NUM_DIV, F(a), F(b), true))) \
  X(ap_divf, "div.full.f32", "w=ww", bits_f32(num_approx_f32(NUM_DIVFULL, F(a), F(b), false))) \
  X(ap_divfz, "div.full.ftz.f32", "w=ww", bits_f32(num_approx_f32(NUM_DIVFULL, F(a), F(b), true))) \
  X(ap_sin, "sin.approx.f32", "w=w", bits_f32(num_approx_f32(NUM_SIN, F(a), 1, false))) \
  X(ap_cos, "cos.approx.ftz.f32", "w=w", bits_f32(num_approx_f32(NUM_COS, F(a), 1, true))) \
  X(ap_lg2, "lg2.approx.f32", "w=w", bits_f32(num_approx_f32(NUM_LG2, F(a), 1, false))) \
  X(ap_ex2n, "ex2.approx.f32", "w=w", bits_f32(num_approx_f32(NUM_EX2, F(a), 1, false))) \
  X(ap_ex2, "ex2.approx.ftz.f32", "w=w", bits_f32(num_approx_f32(NUM_EX2, F(a), 1, true))) \
  X(ap_tanh, "tanh.approx.f32", "w=w", bits_f32(num_approx_f32(NUM_TANH, F(a), 1, false))) \
  X(ap_rcp64, "rcp.approx.ftz.f64", "d=d", num_b64(num_approx_f64(NUM_RCP, G(a)))) \
  X(ap_rsq64, "rsqrt.approx.f64", "d=d", num_b64(num_approx_f64(NUM_RSQRT, G(a)))) \
  X(ap_rsq64z, "rsqrt.approx.ftz.f64", "d=d", num_b64(num_approx_f64(NUM_RSQRT_FTZ, G(a)))) \
  X(ap_ex2h, "ex2.approx.f16", "h=h", num_approx_16(NUM_EX2, NUM_F16, (uint16_t)a, false)) \
  X(ap_tanhb, "tanh.approx.bf16x2", "w=w", num_approx_16(NUM_TANH, NUM_BF16, (uint16_t)a, \
    false) | (uint32_t)num_approx_16(NUM_TANH, NUM_BF16, (uint16_t)(a >> 16), false) << 16)
/* clang-format on */
APPROXIMATIONS(DEFINE)
static const op_case approximations[] = {APPROXIMATIONS(ROW)};
static void approximate_functions(void **state) {
  op_check(approximations, sizeof approximations / sizeof approximations[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("f32 and f64 round to nearest like the host, NaN is canonical", rounded_to_nearest),
      BEHAVIOUR("f32 and f64 round towards zero, down and up", rounded_otherwise),
      BEHAVIOUR("min and max order zeros and drop NaN, testp tells classes apart", minima_and_classes),
      BEHAVIOUR("setp and set compare every type in every way", comparisons),
      BEHAVIOUR("f16 and bf16 are rounded once", half_precision),
      BEHAVIOUR("f32x2 works on both halves", packed_f32),
      BEHAVIOUR("approximations are num.h's, vectorised or not", approximate_functions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
