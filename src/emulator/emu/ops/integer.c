/* emu/ops/integer.c: integer arithmetic.
 *
 * Sums and products wrap, so one unsigned handler serves both signs where the result
 * does not tell them apart: a row named .i32 stands for .s32 and .u32.
 */
#include "emu/ops/lanes.h"

/* ---- Single lanes ------------------------------------------------------------- */

INLINE int32_t clamp_s32(int64_t x) {
  return (int32_t)(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x);
}

/* Division by zero gives all ones, and so does its remainder, as on GPUs. The
 * quotient of 32-bit values is exact in double: it is an integer or differs from one by
 * at least 2^-32 of its value. */
INLINE uint32_t div_u32(uint32_t a, uint32_t b) {
  uint32_t q = (uint32_t)((double)a / (b ? b : 1));
  return b ? q : UINT32_MAX;
}
INLINE int32_t div_s32(int32_t a, int32_t b) {
  int64_t q = (int64_t)((double)a / (b ? b : 1)); /* not 32 bits: INT32_MIN / -1 wraps */
  return b ? (int32_t)(uint32_t)q : -1;
}
INLINE uint32_t rem_u32(uint32_t a, uint32_t b) { return b ? a - div_u32(a, b) * b : UINT32_MAX; }
INLINE int32_t rem_s32(int32_t a, int32_t b) {
  return b ? (int32_t)((uint32_t)a - (uint32_t)div_s32(a, b) * (uint32_t)b) : -1;
}
INLINE uint64_t div_u64(uint64_t a, uint64_t b) { return b ? a / b : UINT64_MAX; }
INLINE uint64_t rem_u64(uint64_t a, uint64_t b) { return b ? a % b : UINT64_MAX; }
INLINE int64_t div_s64(int64_t a, int64_t b) {
  return b == 0 ? -1 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}
INLINE int64_t rem_s64(int64_t a, int64_t b) { return b == 0 ? -1 : b == -1 ? 0 : a % b; }

INLINE uint64_t mulhi_u64(uint64_t a, uint64_t b) { return (uint64_t)(((unsigned __int128)a * b) >> 64); }
INLINE uint64_t mulhi_s64(int64_t a, int64_t b) { return (uint64_t)(((__int128)a * b) >> 64); }
INLINE uint32_t mulhi_u32(uint32_t a, uint32_t b) { return (uint32_t)(((uint64_t)a * b) >> 32); }
INLINE uint32_t mulhi_s32(int32_t a, int32_t b) { return (uint32_t)((uint64_t)((int64_t)a * b) >> 32); }

/* mul24: the 48-bit product of the low 24 bits; .lo are its bits 0..31, .hi 16..47. */
INLINE uint64_t mul24_u(uint32_t a, uint32_t b) { return (uint64_t)(a & 0xffffff) * (b & 0xffffff); }
INLINE int64_t mul24_s(uint32_t a, uint32_t b) {
  return (int64_t)((int32_t)(a << 8) >> 8) * ((int32_t)(b << 8) >> 8);
}

/* Two 16-bit halves at once. */
INLINE uint32_t add_16x2(uint32_t a, uint32_t b) {
  return ((a & 0x7fff7fffu) + (b & 0x7fff7fffu)) ^ ((a ^ b) & 0x80008000u);
}
#define HALVES(type, op)                                                                                     \
  ((uint32_t)(uint16_t)op((type)(uint16_t)a, (type)(uint16_t)b) |                                            \
   (uint32_t)(uint16_t)op((type)(uint16_t)(a >> 16), (type)(uint16_t)(b >> 16)) << 16)
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define RELU(x) MAX(x, 0)
#define MIN_RELU(a, b) RELU(MIN(a, b))
#define MAX_RELU(a, b) RELU(MAX(a, b))
#define ABS_DIFF(a, b) ((a) > (b) ? (a) - (b) : (b) - (a))

/* ---- One operand ---------------------------------------------------------------- */

#define ROWS_1(X)                                                                                            \
  X(abs_s16, "abs.s16", k, k, a < 0 ? -a : a)                                                                \
  X(abs_s32, "abs.s32", w, i, a < 0 ? 0u - (uint32_t)a : (uint32_t)a)                                        \
  X(abs_s64, "abs.s64", d, j, a < 0 ? 0ull - (uint64_t)a : (uint64_t)a)                                      \
  X(neg_s16, "neg.s16", h, h, 0u - a)                                                                        \
  X(neg_s32, "neg.s32", w, w, 0u - a)                                                                        \
  X(neg_s64, "neg.s64", d, d, 0ull - a)                                                                      \
  X(popc_b32, "popc.b32", w, w, __builtin_popcount(a))                                                       \
  X(popc_b64, "popc.b64", w, d, __builtin_popcountll(a))                                                     \
  X(clz_b32, "clz.b32", w, w, a ? __builtin_clz(a) : 32)                                                     \
  X(clz_b64, "clz.b64", w, d, a ? __builtin_clzll(a) : 64)                                                   \
  X(bfind_u32, "bfind.u32", w, w, num_bfind(a, 32, false, false))                                            \
  X(bfind_s32, "bfind.s32", w, w, num_bfind(a, 32, true, false))                                             \
  X(bfind_u64, "bfind.u64", w, d, num_bfind(a, 64, false, false))                                            \
  X(bfind_s64, "bfind.s64", w, d, num_bfind(a, 64, true, false))                                             \
  X(bfind_shiftamt_u32, "bfind.shiftamt.u32", w, w, num_bfind(a, 32, false, true))                           \
  X(bfind_shiftamt_s32, "bfind.shiftamt.s32", w, w, num_bfind(a, 32, true, true))                            \
  X(bfind_shiftamt_u64, "bfind.shiftamt.u64", w, d, num_bfind(a, 64, false, true))                           \
  X(bfind_shiftamt_s64, "bfind.shiftamt.s64", w, d, num_bfind(a, 64, true, true))

ROWS_1(DEFINE_1)

/* ---- Two operands --------------------------------------------------------------- */

#define ROWS_2(X)                                                                                            \
  X(add_i16, "add.i16", h, h, h, a + b)                                                                      \
  X(add_i32, "add.i32", w, w, w, a + b)                                                                      \
  X(add_i64, "add.i64", d, d, d, a + b)                                                                      \
  X(add_sat_s32, "add.sat.s32", i, i, i, clamp_s32((int64_t)a + b))                                          \
  X(add_u16x2, "add.u16x2", w, w, w, add_16x2(a, b))                                                         \
  X(add_s16x2, "add.s16x2", w, w, w, add_16x2(a, b))                                                         \
  X(sub_i16, "sub.i16", h, h, h, a - b)                                                                      \
  X(sub_i32, "sub.i32", w, w, w, a - b)                                                                      \
  X(sub_i64, "sub.i64", d, d, d, a - b)                                                                      \
  X(sub_sat_s32, "sub.sat.s32", i, i, i, clamp_s32((int64_t)a - b))                                          \
  X(mul_lo_i16, "mul.lo.i16", h, h, h, (a * b))                                                              \
  X(mul_lo_i32, "mul.lo.i32", w, w, w, (a * b))                                                              \
  X(mul_lo_i64, "mul.lo.i64", d, d, d, (a * b))                                                              \
  X(mul_hi_u16, "mul.hi.u16", h, h, h, (a * b) >> 16)                                                        \
  X(mul_hi_s16, "mul.hi.s16", k, k, k, (a * b) >> 16)                                                        \
  X(mul_hi_u32, "mul.hi.u32", w, w, w, mulhi_u32(a, b))                                                      \
  X(mul_hi_s32, "mul.hi.s32", w, i, i, mulhi_s32(a, b))                                                      \
  X(mul_hi_u64, "mul.hi.u64", d, d, d, mulhi_u64(a, b))                                                      \
  X(mul_hi_s64, "mul.hi.s64", d, j, j, mulhi_s64(a, b))                                                      \
  X(mul_wide_u16, "mul.wide.u16", w, h, h, (a * b))                                                          \
  X(mul_wide_s16, "mul.wide.s16", w, k, k, (a * b))                                                          \
  X(mul_wide_u32, "mul.wide.u32", d, w, w, ((uint64_t)a * b))                                                \
  X(mul_wide_s32, "mul.wide.s32", j, i, i, ((int64_t)a * b))                                                 \
  X(mul24_lo_u32, "mul24.lo.u32", w, w, w, mul24_u(a, b))                                                    \
  X(mul24_lo_s32, "mul24.lo.s32", w, w, w, mul24_s(a, b))                                                    \
  X(mul24_hi_u32, "mul24.hi.u32", w, w, w, mul24_u(a, b) >> 16)                                              \
  X(mul24_hi_s32, "mul24.hi.s32", w, w, w, mul24_s(a, b) >> 16)                                              \
  X(div_u16_h, "div.u16", h, h, h, b ? a / (b ? b : 1) : 0xffff)                                             \
  X(div_s16_k, "div.s16", k, k, k, b ? a / (b ? b : 1) : -1)                                                 \
  X(div_u32_w, "div.u32", w, w, w, div_u32(a, b))                                                            \
  X(div_s32_i, "div.s32", i, i, i, div_s32(a, b))                                                            \
  X(div_u64_d, "div.u64", d, d, d, div_u64(a, b))                                                            \
  X(div_s64_j, "div.s64", j, j, j, div_s64(a, b))                                                            \
  X(rem_u16_h, "rem.u16", h, h, h, b ? a % (b ? b : 1) : 0xffff)                                             \
  X(rem_s16_k, "rem.s16", k, k, k, b ? a % (b ? b : 1) : -1)                                                 \
  X(rem_u32_w, "rem.u32", w, w, w, rem_u32(a, b))                                                            \
  X(rem_s32_i, "rem.s32", i, i, i, rem_s32(a, b))                                                            \
  X(rem_u64_d, "rem.u64", d, d, d, rem_u64(a, b))                                                            \
  X(rem_s64_j, "rem.s64", j, j, j, rem_s64(a, b))                                                            \
  X(min_u16, "min.u16", h, h, h, MIN(a, b))                                                                  \
  X(min_s16, "min.s16", k, k, k, MIN(a, b))                                                                  \
  X(min_u32, "min.u32", w, w, w, MIN(a, b))                                                                  \
  X(min_s32, "min.s32", i, i, i, MIN(a, b))                                                                  \
  X(min_u64, "min.u64", d, d, d, MIN(a, b))                                                                  \
  X(min_s64, "min.s64", j, j, j, MIN(a, b))                                                                  \
  X(min_relu_s32, "min.relu.s32", i, i, i, MIN_RELU(a, b))                                                   \
  X(min_u16x2, "min.u16x2", w, w, w, HALVES(uint16_t, MIN))                                                  \
  X(min_s16x2, "min.s16x2", w, w, w, HALVES(int16_t, MIN))                                                   \
  X(min_relu_s16x2, "min.relu.s16x2", w, w, w, HALVES(int16_t, MIN_RELU))                                    \
  X(max_u16, "max.u16", h, h, h, MAX(a, b))                                                                  \
  X(max_s16, "max.s16", k, k, k, MAX(a, b))                                                                  \
  X(max_u32, "max.u32", w, w, w, MAX(a, b))                                                                  \
  X(max_s32, "max.s32", i, i, i, MAX(a, b))                                                                  \
  X(max_u64, "max.u64", d, d, d, MAX(a, b))                                                                  \
  X(max_s64, "max.s64", j, j, j, MAX(a, b))                                                                  \
  X(max_relu_s32, "max.relu.s32", i, i, i, MAX_RELU(a, b))                                                   \
  X(max_u16x2, "max.u16x2", w, w, w, HALVES(uint16_t, MAX))                                                  \
  X(max_s16x2, "max.s16x2", w, w, w, HALVES(int16_t, MAX))                                                   \
  X(max_relu_s16x2, "max.relu.s16x2", w, w, w, HALVES(int16_t, MAX_RELU))

ROWS_2(DEFINE_2)

/* ---- Three operands -------------------------------------------------------------- */

#define DP4A(as, bs) ((uint32_t)num_dp4a(a, b, (int32_t)c, as, bs))
#define DP2A(as, bs, hi) ((uint32_t)num_dp2a(a, b, (int32_t)c, as, bs, hi))
#define ROWS_3(X)                                                                                            \
  X(mad_lo_i16, "mad.lo.i16", h, h, h, h, c + a * b)                                                         \
  X(mad_lo_i32, "mad.lo.i32", w, w, w, w, c + a * b)                                                         \
  X(mad_lo_i64, "mad.lo.i64", d, d, d, d, c + a * b)                                                         \
  X(mad_hi_u16, "mad.hi.u16", h, h, h, h, ((a * b) >> 16) + c)                                               \
  X(mad_hi_s16, "mad.hi.s16", k, k, k, k, ((a * b) >> 16) + c)                                               \
  X(mad_hi_u32, "mad.hi.u32", w, w, w, w, mulhi_u32(a, b) + c)                                               \
  X(mad_hi_s32, "mad.hi.s32", w, i, i, w, mulhi_s32(a, b) + c)                                               \
  X(mad_hi_u64, "mad.hi.u64", d, d, d, d, mulhi_u64(a, b) + c)                                               \
  X(mad_hi_s64, "mad.hi.s64", d, j, j, d, mulhi_s64(a, b) + c)                                               \
  X(mad_hi_sat_s32, "mad.hi.sat.s32", i, i, i, i, clamp_s32((((int64_t)a * b) >> 32) + c))                   \
  X(mad_wide_u16, "mad.wide.u16", w, h, h, w, c + a * b)                                                     \
  X(mad_wide_s16, "mad.wide.s16", w, k, k, w, (uint32_t)(a * b) + c)                                         \
  X(mad_wide_u32, "mad.wide.u32", d, w, w, d, c + (uint64_t)a * b)                                           \
  X(mad_wide_s32, "mad.wide.s32", d, i, i, d, (uint64_t)((int64_t)a * b) + c)                                \
  X(mad24_lo_u32, "mad24.lo.u32", w, w, w, w, mul24_u(a, b) + c)                                             \
  X(mad24_lo_s32, "mad24.lo.s32", w, w, w, w, (uint64_t)mul24_s(a, b) + c)                                   \
  X(mad24_hi_u32, "mad24.hi.u32", w, w, w, w, (mul24_u(a, b) >> 16) + c)                                     \
  X(mad24_hi_s32, "mad24.hi.s32", w, w, w, w, (uint64_t)(mul24_s(a, b) >> 16) + c)                           \
  X(mad24_hi_sat_s32, "mad24.hi.sat.s32", i, w, w, i, clamp_s32((mul24_s(a, b) >> 16) + c))                  \
  X(sad_u16, "sad.u16", h, h, h, h, c + ABS_DIFF(a, b))                                                      \
  X(sad_s16, "sad.s16", k, k, k, k, c + ABS_DIFF(a, b))                                                      \
  X(sad_u32, "sad.u32", w, w, w, w, c + ABS_DIFF(a, b))                                                      \
  X(sad_s32, "sad.s32", w, i, i, w, c + (uint32_t)ABS_DIFF((int64_t)a, (int64_t)b))                          \
  X(sad_u64, "sad.u64", d, d, d, d, c + ABS_DIFF(a, b))                                                      \
  X(sad_s64, "sad.s64", d, j, j, d, c + (a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a))     \
  X(fns_b32, "fns.b32", w, w, w, i, num_fns(a, b, c))                                                        \
  X(dp4a_u32_u32, "dp4a.u32.u32", w, w, w, w, DP4A(false, false))                                            \
  X(dp4a_u32_s32, "dp4a.u32.s32", w, w, w, w, DP4A(false, true))                                             \
  X(dp4a_s32_u32, "dp4a.s32.u32", w, w, w, w, DP4A(true, false))                                             \
  X(dp4a_s32_s32, "dp4a.s32.s32", w, w, w, w, DP4A(true, true))                                              \
  X(dp2a_lo_u32_u32, "dp2a.lo.u32.u32", w, w, w, w, DP2A(false, false, false))                               \
  X(dp2a_lo_u32_s32, "dp2a.lo.u32.s32", w, w, w, w, DP2A(false, true, false))                                \
  X(dp2a_lo_s32_u32, "dp2a.lo.s32.u32", w, w, w, w, DP2A(true, false, false))                                \
  X(dp2a_lo_s32_s32, "dp2a.lo.s32.s32", w, w, w, w, DP2A(true, true, false))                                 \
  X(dp2a_hi_u32_u32, "dp2a.hi.u32.u32", w, w, w, w, DP2A(false, false, true))                                \
  X(dp2a_hi_u32_s32, "dp2a.hi.u32.s32", w, w, w, w, DP2A(false, true, true))                                 \
  X(dp2a_hi_s32_u32, "dp2a.hi.s32.u32", w, w, w, w, DP2A(true, false, true))                                 \
  X(dp2a_hi_s32_s32, "dp2a.hi.s32.s32", w, w, w, w, DP2A(true, true, true))

ROWS_3(DEFINE_3)

/* ---- Extended precision ------------------------------------------------------------ */

/* The carry flag CC.CF is a predicate of the function: the forms with carry in (opcodes that
 * end in c) read it as src[3], those with .cc write it as dst2. */
#define SUM(x, y, in) ((int)__builtin_add_overflow((x), (y), &t) | (int)__builtin_add_overflow(t, (in), &t))
#define DIFFERENCE(x, y, in)                                                                                 \
  ((int)__builtin_sub_overflow((x), (y), &t) | (int)__builtin_sub_overflow(t, (in), &t))
#define DEFINE_CARRY(id, name, shape, T, cc, step)                                                           \
  HANDLER(id) {                                                                                              \
    const T *pa = slot(r, i->src[0]), *pb = slot(r, i->src[1]), *pc = slot(r, i->src[2]);                    \
    T *dst = slot(r, i->dst), part[32] __attribute__((aligned(64)));                                         \
    const uint32_t carry_in = get_pred(r, i->src[3]);                                                        \
    uint32_t carry_out = 0;                                                                                  \
    for (unsigned l = 0; l < 32; l++) {                                                                      \
      const T a = pa[l], b = pb[l], c = pc[l], in = carry_in >> l & 1;                                       \
      T t;                                                                                                   \
      (void)c, (void)in;                                                                                     \
      carry_out |= (uint32_t)(step) << l;                                                                    \
      part[l] = t;                                                                                           \
    }                                                                                                        \
    BLEND(dst, part, mask);                                                                                  \
    if (cc) put_pred(r, i->dst2, carry_out, mask);                                                           \
  }
#define ROW_CARRY(id, name, shape, T, cc, step) {name, shape, id},

#define ROWS_CARRY_OF(X, bits, T, two, three)                                                                \
  X(add_cc_i##bits, "add.cc.i" #bits, two, T, true, SUM(a, b, (T)0))                                         \
  X(addc_i##bits, "addc.i" #bits, two, T, false, SUM(a, b, in))                                              \
  X(addc_cc_i##bits, "addc.cc.i" #bits, two, T, true, SUM(a, b, in))                                         \
  X(sub_cc_i##bits, "sub.cc.i" #bits, two, T, true, DIFFERENCE(a, b, (T)0))                                  \
  X(subc_i##bits, "subc.i" #bits, two, T, false, DIFFERENCE(a, b, in))                                       \
  X(subc_cc_i##bits, "subc.cc.i" #bits, two, T, true, DIFFERENCE(a, b, in))                                  \
  X(mad_lo_cc_i##bits, "mad.lo.cc.i" #bits, three, T, true, SUM((T)(a * b), c, (T)0))                        \
  X(madc_lo_i##bits, "madc.lo.i" #bits, three, T, false, SUM((T)(a * b), c, in))                             \
  X(madc_lo_cc_i##bits, "madc.lo.cc.i" #bits, three, T, true, SUM((T)(a * b), c, in))                        \
  X(mad_hi_cc_u##bits, "mad.hi.cc.u" #bits, three, T, true, SUM(mulhi_u##bits(a, b), c, (T)0))               \
  X(madc_hi_u##bits, "madc.hi.u" #bits, three, T, false, SUM(mulhi_u##bits(a, b), c, in))                    \
  X(madc_hi_cc_u##bits, "madc.hi.cc.u" #bits, three, T, true, SUM(mulhi_u##bits(a, b), c, in))               \
  X(mad_hi_cc_s##bits, "mad.hi.cc.s" #bits, three, T, true,                                                  \
    SUM(mulhi_s##bits((int##bits##_t)a, (int##bits##_t)b), c, (T)0))                                         \
  X(madc_hi_s##bits, "madc.hi.s" #bits, three, T, false,                                                     \
    SUM(mulhi_s##bits((int##bits##_t)a, (int##bits##_t)b), c, in))                                           \
  X(madc_hi_cc_s##bits, "madc.hi.cc.s" #bits, three, T, true,                                                \
    SUM(mulhi_s##bits((int##bits##_t)a, (int##bits##_t)b), c, in))
#define ROWS_CARRY(X)                                                                                        \
  ROWS_CARRY_OF(X, 32, uint32_t, "w=ww", "w=www") ROWS_CARRY_OF(X, 64, uint64_t, "d=dd", "d=ddd")

ROWS_CARRY(DEFINE_CARRY)

const emu_op EMU_OPS(integer)[] = {ROWS_1(ROW_1) ROWS_2(ROW_2) ROWS_3(ROW_3) ROWS_CARRY(ROW_CARRY){0}};
