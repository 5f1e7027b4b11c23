/* Integer and bit instructions, bit for bit against plain C, on every instruction set. */
#include "emu/ops_run.h"

#define S32(x) ((int32_t)(x))
#define S16(x) ((int16_t)(x))
#define S64(x) ((int64_t)(x))
#define W(x) ((uint32_t)(x))
#define LEAST(T, a, b) ((T)(a) < (T)(b) ? (a) : (b))
#define MOST(T, a, b) ((T)(a) > (T)(b) ? (a) : (b))

static int64_t clamp32(int64_t x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x; }
static uint64_t hi64u(uint64_t a, uint64_t b) { return (uint64_t)((unsigned __int128)a * b >> 64); }
static uint64_t hi64s(uint64_t a, uint64_t b) { return (uint64_t)((__int128)S64(a) * S64(b) >> 64); }
static int64_t low24(uint64_t x) {
  return (x & 0x800000) ? (int64_t)(x & 0xffffff) - 0x1000000 : (int64_t)(x & 0xffffff);
}

/* Halves, one at a time. */
static uint64_t halves(uint64_t a, uint64_t b, uint64_t (*f)(uint64_t, uint64_t)) {
  return (f(a & 0xffff, b & 0xffff) & 0xffff) | (f(a >> 16 & 0xffff, b >> 16 & 0xffff) & 0xffff) << 16;
}
static uint64_t plus(uint64_t a, uint64_t b) { return a + b; }
static uint64_t min16u(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t max16u(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t min16s(uint64_t a, uint64_t b) { return S16(a) < S16(b) ? a : b; }
static uint64_t max16s(uint64_t a, uint64_t b) { return S16(a) > S16(b) ? a : b; }
static uint64_t max16s_relu(uint64_t a, uint64_t b) { return S16(max16s(a, b)) > 0 ? max16s(a, b) : 0; }
static uint64_t min16s_relu(uint64_t a, uint64_t b) { return S16(min16s(a, b)) > 0 ? min16s(a, b) : 0; }

/* ---- Arithmetic ------------------------------------------------------------------- */

/* clang-format off */
#define ARITHMETIC(X) \
  X(add_u16, "add.u16", "h=hh", a + b) X(add_s16, "add.s16", "h=hh", a + b) \
  X(add_u32, "add.u32", "w=ww", a + b) X(add_s32, "add.s32", "w=ww", a + b) \
  X(add_u64, "add.u64", "d=dd", a + b) X(add_s64, "add.s64", "d=dd", a + b) \
  X(add_sat, "add.sat.s32", "w=ww", clamp32((int64_t)S32(a) + S32(b))) \
  X(add_2, "add.u16x2", "w=ww", halves(a, b, plus)) X(add_s2, "add.s16x2", "w=ww", halves(a, b, plus)) \
  X(sub_u16, "sub.u16", "h=hh", a - b) X(sub_s32, "sub.s32", "w=ww", a - b) \
  X(sub_s64, "sub.s64", "d=dd", a - b) \
  X(sub_sat, "sub.sat.s32", "w=ww", clamp32((int64_t)S32(a) - S32(b))) \
  X(mul_lo_s16, "mul.lo.s16", "h=hh", a * b) X(mul_lo_u32, "mul.lo.u32", "w=ww", a * b) \
  X(mul_lo_s64, "mul.lo.s64", "d=dd", a * b) X(mul_hi_u16, "mul.hi.u16", "h=hh", a * b >> 16) \
  X(mul_hi_s16, "mul.hi.s16", "h=hh", (int32_t)S16(a) * S16(b) >> 16) \
  X(mul_hi_u32, "mul.hi.u32", "w=ww", a * b >> 32) \
  X(mul_hi_s32, "mul.hi.s32", "w=ww", (int64_t)S32(a) * S32(b) >> 32) \
  X(mul_hi_u64, "mul.hi.u64", "d=dd", hi64u(a, b)) X(mul_hi_s64, "mul.hi.s64", "d=dd", hi64s(a, b)) \
  X(mul_wide_u16, "mul.wide.u16", "w=hh", a * b) \
  X(mul_wide_s16, "mul.wide.s16", "w=hh", (int32_t)S16(a) * S16(b)) \
  X(mul_wide_u32, "mul.wide.u32", "d=ww", a * b) \
  X(mul_wide_s32, "mul.wide.s32", "d=ww", (int64_t)S32(a) * S32(b)) \
  X(mul24_lo_u, "mul24.lo.u32", "w=ww", (a & 0xffffff) * (b & 0xffffff)) \
  X(mul24_lo_s, "mul24.lo.s32", "w=ww", low24(a) * low24(b)) \
  X(mul24_hi_u, "mul24.hi.u32", "w=ww", (a & 0xffffff) * (b & 0xffffff) >> 16) \
  X(mul24_hi_s, "mul24.hi.s32", "w=ww", low24(a) * low24(b) >> 16) \
  X(mad_lo_u16, "mad.lo.u16", "h=hhh", c + a * b) X(mad_lo_s32, "mad.lo.s32", "w=www", c + a * b) \
  X(mad_lo_u64, "mad.lo.u64", "d=ddd", a * b + c) \
  X(mad_hi_u16, "mad.hi.u16", "h=hhh", (a * b >> 16) + c) \
  X(mad_hi_s16, "mad.hi.s16", "h=hhh", ((int32_t)S16(a) * S16(b) >> 16) + (int64_t)c) \
  X(mad_hi_u32, "mad.hi.u32", "w=www", (a * b >> 32) + c) \
  X(mad_hi_s32, "mad.hi.s32", "w=www", ((int64_t)S32(a) * S32(b) >> 32) + (int64_t)c) \
  X(mad_hi_sat, "mad.hi.sat.s32", "w=www", clamp32(((int64_t)S32(a) * S32(b) >> 32) + S32(c))) \
  X(mad_hi_u64, "mad.hi.u64", "d=ddd", hi64u(a, b) + c) \
  X(mad_hi_s64, "mad.hi.s64", "d=ddd", hi64s(a, b) + c) \
  X(mad_wide_u16, "mad.wide.u16", "w=hhw", c + a * b) \
  X(mad_wide_s16, "mad.wide.s16", "w=hhw", (int32_t)S16(a) * S16(b) + (int64_t)c) \
  X(mad_wide_u32, "mad.wide.u32", "d=wwd", a * b + c) \
  X(mad_wide_s32, "mad.wide.s32", "d=wwd", (uint64_t)((int64_t)S32(a) * S32(b)) + c) \
  X(mad24_lo_u, "mad24.lo.u32", "w=www", (a & 0xffffff) * (b & 0xffffff) + c) \
  X(mad24_lo_s, "mad24.lo.s32", "w=www", low24(a) * low24(b) + (int64_t)c) \
  X(mad24_hi_u, "mad24.hi.u32", "w=www", ((a & 0xffffff) * (b & 0xffffff) >> 16) + c) \
  X(mad24_hi_sat, "mad24.hi.sat.s32", "w=www", clamp32((low24(a) * low24(b) >> 16) + S32(c))) \
  X(sad_u16, "sad.u16", "h=hhh", c + (a > b ? a - b : b - a)) \
  X(sad_s32, "sad.s32", "w=www", (int64_t)c + llabs((int64_t)S32(a) - S32(b))) \
  X(sad_u64, "sad.u64", "d=ddd", c + (a > b ? a - b : b - a)) \
  X(sad_s64, "sad.s64", "d=ddd", c + (S64(a) > S64(b) ? a - b : b - a)) \
  X(div_u16, "div.u16", "h=hh", b ? a / b : 0xffff) \
  X(div_s16, "div.s16", "h=hh", b ? S16(a) / S16(b) : -1) \
  X(div_u32, "div.u32", "w=ww", b ? a / b : 0xffffffff) \
  X(div_s32, "div.s32", "w=ww", b ? (int64_t)S32(a) / S32(b) : -1) \
  X(div_u64, "div.u64", "d=dd", b ? a / b : UINT64_MAX) \
  X(div_s64, "div.s64", "d=dd", b ? (uint64_t)((__int128)S64(a) / S64(b)) : UINT64_MAX) \
  X(rem_u16, "rem.u16", "h=hh", b ? a % b : UINT64_MAX) \
  X(rem_s16, "rem.s16", "h=hh", b ? S16(a) % S16(b) : -1) \
  X(rem_u32, "rem.u32", "w=ww", b ? a % b : UINT64_MAX) \
  X(rem_s32, "rem.s32", "w=ww", b ? (int64_t)S32(a) % S32(b) : -1) \
  X(rem_u64, "rem.u64", "d=dd", b ? a % b : UINT64_MAX) \
  X(rem_s64, "rem.s64", "d=dd", b ? (uint64_t)((__int128)S64(a) % S64(b)) : UINT64_MAX) \
  X(abs_s16, "abs.s16", "h=h", abs(S16(a))) X(abs_s32, "abs.s32", "w=w", llabs((int64_t)S32(a))) \
  X(abs_s64, "abs.s64", "d=d", S64(a) < 0 ? 0 - a : a) X(neg_s16, "neg.s16", "h=h", 0 - a) \
  X(neg_s32, "neg.s32", "w=w", 0 - a) X(neg_s64, "neg.s64", "d=d", 0 - a) \
  X(min_u16, "min.u16", "h=hh", LEAST(uint16_t, a, b)) \
  X(min_s16, "min.s16", "h=hh", LEAST(int16_t, a, b)) \
  X(min_u32, "min.u32", "w=ww", LEAST(uint32_t, a, b)) \
  X(min_s32, "min.s32", "w=ww", LEAST(int32_t, a, b)) \
  X(min_u64, "min.u64", "d=dd", LEAST(uint64_t, a, b)) \
  X(min_s64, "min.s64", "d=dd", LEAST(int64_t, a, b)) \
  X(max_u16, "max.u16", "h=hh", MOST(uint16_t, a, b)) \
  X(max_s16, "max.s16", "h=hh", MOST(int16_t, a, b)) \
  X(max_u32, "max.u32", "w=ww", MOST(uint32_t, a, b)) \
  X(max_s32, "max.s32", "w=ww", MOST(int32_t, a, b)) \
  X(max_u64, "max." "u64", "d=dd", MOST(uint64_t, a, b)) \
  X(max_s64, "max.s64", "d=dd", MOST(int64_t, a, b)) \
  X(min_relu, "min.relu.s32", "w=ww", MOST(int32_t, LEAST(int32_t, a, b), 0)) \
  X(max_relu, "max.relu." "s32", "w=ww", MOST(int32_t, MOST(int32_t, a, b), 0)) \
  X(min_u2, "min.u16x2", "w=ww", halves(a, b, min16u)) \
  X(max_u2, "max." "u16x" "2", "w=" "ww", halves(a, b, max16u)) \
  X(min_s2, "mi" "n." "s1" "6x" "2", "w=" "w" "w", halves(a, b, min16s)) \
  X(max_s2, "max." "s16x" "2", "w=" "ww", halves(a, b, max16s)) \
  X(min_s2r, "mi" "n." "re" "lu" ".s" "16" "x" "2", "w=" "w" "w", halves(a, b, min16s_relu)) \
  X(max_s2r, "max.relu.s16x2", "w=ww", halves(a, b, max16s_relu))
/* clang-format on */

#define DEFINE(id, name, shape, expr) WANT(want_##id, expr)
#define ROW(id, name, shape, expr) {name, shape, want_##id, NULL},
ARITHMETIC(DEFINE)
static const op_case arithmetic[] = {ARITHMETIC(ROW)};
static void integer_arithmetic(void **state) {
  op_check(arithmetic, sizeof arithmetic / sizeof arithmetic[0]);
}

/* ---- Video -------------------------------------------------------------------------------------------- */

/* The sum of the absolute differences of a's and b's values of so many bits; or, unless `sum`, each in its
 * place. */
static uint64_t differences(uint64_t a, uint64_t b, unsigned bits, bool sum) {
  uint64_t d = 0;
  for (unsigned k = 0; k < 32; k += bits) {
    const int64_t x = (int64_t)(a >> k & ((1u << bits) - 1)), y = (int64_t)(b >> k & ((1u << bits) - 1));
    d += (uint64_t)llabs(x - y) << (sum ? 0 : k);
  }
  return d;
}
static uint64_t shifted(int64_t a, uint64_t by, bool left) {
  if (by > 32) by = 32;
  return left ? (uint64_t)a << by : (uint64_t)(a >> by);
}

/* clang-format off */
#define TWICE(X, id, name, expr) X(id, name, "w=ww", expr) X(id##_add, name ".add", "w=www", (uint64_t)(expr) + c)
#define VIDEO(X) \
  TWICE(X, vadd_u, "vadd.u32.u32.u32", a + b) TWICE(X, vadd_s, "vadd.s32.s32.s32", a + b) \
  TWICE(X, vsub_u, "vsub.u32.u32.u32", a - b) TWICE(X, vsub_s, "vsub.s32.s32.s32", a - b) \
  TWICE(X, vabsdiff_u, "vabsdiff.u32.u32.u32", llabs((int64_t)W(a) - (int64_t)W(b))) \
  TWICE(X, vabsdiff_s, "vabsdiff.s32.s32.s32", llabs((int64_t)S32(a) - S32(b))) \
  TWICE(X, vmin_u, "vmin.u32.u32.u32", LEAST(uint32_t, a, b)) \
  TWICE(X, vmin_s, "vmin.s32.s32.s32", LEAST(int32_t, a, b)) \
  TWICE(X, vmax_u, "vmax.u32.u32.u32", MOST(uint32_t, a, b)) \
  TWICE(X, vmax_s, "vmax.s32.s32.s32", MOST(int32_t, a, b)) \
  TWICE(X, vshl_c, "vshl.u32.u32.u32.clamp", shifted(W(a), W(b), true)) \
  TWICE(X, vshl_w, "vshl.u32.u32.u32.wrap", shifted(W(a), b & 31, true)) \
  TWICE(X, vshr_uc, "vshr.u32.u32.u32.clamp", shifted(W(a), W(b), false)) \
  TWICE(X, vshr_uw, "vshr.u32.u32.u32.wrap", shifted(W(a), b & 31, false)) \
  TWICE(X, vshr_sc, "vshr.s32.s32.u32.clamp", shifted(S32(a), W(b), false)) \
  TWICE(X, vshr_sw, "vshr.s32.s32.u32.wrap", shifted(S32(a), b & 31, false)) \
  X(vabsdiff4, "vabsdiff4.u32.u32.u32", "w=www", differences(a, b, 8, false)) \
  X(vabsdiff2, "vabsdiff2.u32.u32.u32", "w=www", differences(a, b, 16, false)) \
  X(vabsdiff4_add, "vabsdiff4.u32.u32.u32.add", "w=www", differences(a, b, 8, true) + c) \
  X(vabsdiff2_add, "vabsdiff2.u32.u32.u32.add", "w=www", differences(a, b, 16, true) + c)
/* clang-format on */
VIDEO(DEFINE)
static const op_case video[] = {VIDEO(ROW)};
static void video_instructions(void **state) { op_check(video, sizeof video / sizeof video[0]); }

/* ---- Dot products --------------------------------------------------------------------- */

static int64_t byte_of(uint64_t x, unsigned k, bool is_signed) {
  const uint64_t b = x >> (8 * k) & 0xff;
  return is_signed && b & 0x80 ? (int64_t)b - 256 : (int64_t)b;
}
static int64_t half_of(uint64_t x, unsigned k, bool is_signed) {
  const uint64_t b = x >> (16 * k) & 0xffff;
  return is_signed && b & 0x8000 ? (int64_t)b - 65536 : (int64_t)b;
}
static uint64_t dp4(uint64_t a, uint64_t b, uint64_t c, bool as, bool bs) {
  int64_t sum = (int64_t)c;
  for (unsigned k = 0; k < 4; k++) sum += byte_of(a, k, as) * byte_of(b, k, bs);
  return (uint64_t)sum;
}
static uint64_t dp2(uint64_t a, uint64_t b, uint64_t c, bool as, bool bs, unsigned hi) {
  int64_t sum = (int64_t)c;
  for (unsigned k = 0; k < 2; k++) sum += half_of(a, k, as) * byte_of(b, k + 2 * hi, bs);
  return (uint64_t)sum;
}
/* clang-format off */
#define DOT(X) \
  X(dp4_uu, "dp4a.u32.u32", "w=www", dp4(a, b, c, 0, 0)) \
  X(dp4_us, "dp4a.u32.s32", "w=www", dp4(a, b, c, 0, 1)) \
  X(dp4_su, "dp4a.s32.u32", "w=www", dp4(a, b, c, 1, 0)) \
  X(dp4_ss, "dp4a.s32.s32", "w=www", dp4(a, b, c, 1, 1)) \
  X(dp2_lo_uu, "dp2a.lo.u32.u32", "w=www", dp2(a, b, c, 0, 0, 0)) \
  X(dp2_hi_us, "dp2a.hi.u32.s32", "w=www", dp2(a, b, c, 0, 1, 1)) \
  X(dp2_lo_su, "dp2a.lo.s32.u32", "w=www", dp2(a, b, c, 1, 0, 0)) \
  X(dp2_hi_ss, "dp2a.hi.s32.s32", "w=www", dp2(a, b, c, 1, 1, 1))
/* clang-format on */
DOT(DEFINE)
static const op_case dots[] = {DOT(ROW)};
static void dot_products(void **state) { op_check(dots, sizeof dots / sizeof dots[0]); }

/* ---- Bits ---------------------------------------------------------------------------------- */

static uint64_t reverse(uint64_t x, unsigned bits) {
  uint64_t r = 0;
  for (unsigned k = 0; k < bits; k++) r |= (x >> k & 1) << (bits - 1 - k);
  return r;
}
static unsigned ones(uint64_t x) {
  unsigned n = 0;
  for (; x; x >>= 1) n += x & 1;
  return n;
}
static int top(uint64_t x) { /* highest set bit, -1: none */
  int n = -1;
  for (; x; x >>= 1) n++;
  return n;
}
/* PTX ISA, bfe: the field's bits one by one, its sign bit beyond. */
static uint64_t extract(uint64_t a, uint64_t pos, uint64_t len, unsigned bits, bool is_signed) {
  const unsigned msb = bits - 1;
  pos &= 0xff;
  len &= 0xff;
  uint64_t sign = !is_signed || len == 0 ? 0 : a >> (pos + len - 1 < msb ? pos + len - 1 : msb) & 1;
  uint64_t d = 0;
  for (unsigned i = 0; i <= msb; i++) d |= (i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign) << i;
  return d;
}
static uint64_t insert(uint64_t a, uint64_t b, uint64_t pos, uint64_t len, unsigned bits) {
  pos &= 0xff;
  len &= 0xff;
  for (unsigned i = 0; i < len && pos + i < bits; i++)
    b = (b & ~(1ull << (pos + i))) | (a >> i & 1) << (pos + i);
  return b;
}
static uint64_t permute(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t d = 0;
  for (unsigned k = 0; k < 4; k++) {
    const unsigned s = (unsigned)(c >> (4 * k) & 15);
    uint64_t byte = (b << 32 | a) >> (8 * (s & 7)) & 0xff;
    if (s & 8) byte = byte & 0x80 ? 0xff : 0;
    d |= byte << (8 * k);
  }
  return d;
}
static uint64_t lut3(uint64_t a, uint64_t b, uint64_t c, unsigned table) {
  uint64_t d = 0;
  for (unsigned k = 0; k < 32; k++)
    d |= (uint64_t)(table >> ((a >> k & 1) * 4 + (b >> k & 1) * 2 + (c >> k & 1)) & 1) << k;
  return d;
}
static uint64_t left(uint64_t x, uint64_t n, unsigned bits) { return n >= bits ? 0 : x << n; }
static uint64_t right(uint64_t x, uint64_t n, unsigned bits) { return n >= bits ? 0 : x >> n; }
static uint64_t right_s(int64_t x, uint64_t n, unsigned bits) {
  return (uint64_t)(x >> (n >= bits ? bits - 1 : n));
}
static uint64_t funnel_l(uint64_t a, uint64_t b, uint64_t n) {
  return n ? (n >= 32 ? a : b << n | a >> (32 - n)) : b;
}
static uint64_t funnel_r(uint64_t a, uint64_t b, uint64_t n) {
  return n ? (n >= 32 ? b : a >> n | b << (32 - n)) : a;
}
/* The n low bits, extended; .clamp takes n > 31 for all. */
static uint64_t extend_low(uint64_t a, uint64_t n, bool is_signed, bool clamp) {
  if (clamp && n > 31) return a;
  n &= 31;
  if (n == 0) return 0;
  const uint64_t low = a & ((1ull << n) - 1);
  return is_signed && low >> (n - 1) ? low | UINT64_MAX << n : low;
}
static uint64_t mask_of(uint64_t from, uint64_t n, bool clamp) {
  uint64_t d = 0;
  if (clamp) {
    if (from > 31) return 0;
    if (n > 32) n = 32;
  } else {
    from &= 31;
    n &= 31;
  }
  for (uint64_t k = from; k < from + n && k < 32; k++) d |= 1ull << k;
  return d;
}

/* clang-format off */
#define BITS(X) \
  X(and16, "and.b16", "h=hh", (a & b)) X(and32, "and.b32", "w=ww", (a & b)) \
  X(and64, "and.b64", "d=dd", (a & b)) X(or16, "or.b16", "h=hh", a | b) \
  X(or32, "or.b32", "w=ww", a | b) X(or64, "or.b64", "d=dd", a | b) X(xor16, "xor.b16", "h=hh", a ^ b) \
  X(xor32, "xor.b32", "w=ww", a ^ b) X(xor64, "xor.b64", "d=dd", a ^ b) \
  X(andp, "and.pred", "p=pp", (a & b)) X(orp, "or.pred", "p=pp", a | b) \
  X(xorp, "xor.pred", "p=pp", a ^ b) X(not16, "not.b16", "h=h", ~a) X(not32, "not.b32", "w=w", ~a) \
  X(not64, "not.b64", "d=d", ~a) X(notp, "not.pred", "p=p", ~a) X(cnot16, "cnot.b16", "h=h", a == 0) \
  X(cnot32, "cnot.b32", "w=w", a == 0) X(cnot64, "cnot.b64", "d=d", a == 0) \
  X(shl16, "shl.b16", "h=hw", left(a, b, 16)) X(shl32, "shl.b32", "w=ww", left(a, b, 32)) \
  X(shl64, "shl.b64", "d=dw", left(a, b, 64)) X(shru16, "shr.u16", "h=hw", right(a, b, 16)) \
  X(shru32, "shr.u32", "w=ww", right(a, b, 32)) X(shru64, "shr.u64", "d=dw", right(a, b, 64)) \
  X(shrb32, "shr.b32", "w=ww", right(a, b, 32)) X(shrs16, "shr.s16", "h=hw", right_s(S16(a), b, 16)) \
  X(shrs32, "shr.s32", "w=ww", right_s(S32(a), b, 32)) \
  X(shrs64, "shr.s64", "d=dw", right_s(S64(a), b, 64)) \
  X(shflc, "shf.l.clamp.b32", "w=www", funnel_l(a, b, c > 32 ? 32 : c)) \
  X(shflw, "shf.l.wrap.b32", "w=www", funnel_l(a, b, c & 31)) \
  X(shfrc, "shf.r.clamp.b32", "w=www", funnel_r(a, b, c > 32 ? 32 : c)) \
  X(shfrw, "shf.r.wrap.b32", "w=www", funnel_r(a, b, c & 31)) X(popc32, "popc.b32", "w=w", ones(a)) \
  X(popc64, "popc.b64", "w=d", ones(a)) X(clz32, "clz.b32", "w=w", 31 - top(a)) \
  X(clz64, "clz.b64", "w=d", 63 - top(a)) X(brev32, "brev.b32", "w=w", reverse(a, 32)) \
  X(brev64, "brev.b64", "d=d", reverse(a, 64)) X(bfindu32, "bfind.u32", "w=w", top(a)) \
  X(bfindu64, "bfind.u64", "w=d", top(a)) X(bfinds32, "bfind.s32", "w=w", top(S32(a) < 0 ? W(~a) : a)) \
  X(bfinds64, "bfind.s64", "w=d", top(S64(a) < 0 ? ~a : a)) \
  X(bfindsh, "bfind.shiftamt.u32", "w=w", a ? 31 - top(a) : -1) \
  X(bfindshs, "bfind.shiftamt.s64", "w=d", (S64(a) < 0 ? ~a : a) ? 63 - top(S64(a) < 0 ? ~a : a) : -1) \
  X(bfeu32, "bfe.u32", "w=www", extract(a, b, c, 32, 0)) \
  X(bfes32, "bfe.s32", "w=www", extract(a, b, c, 32, 1)) \
  X(bfeu64, "bfe.u64", "d=dww", extract(a, b, c, 64, 0)) \
  X(bfes64, "bfe.s64", "d=dww", extract(a, b, c, 64, 1)) \
  X(bfi32, "bfi.b32", "w=wwww", insert(a, b, c, e, 32)) \
  X(bfi64, "bfi.b64", "d=ddww", insert(a, b, c, e, 64)) \
  X(szc_s, "szext.clamp.s32", "w=ww", extend_low(a, b, 1, 1)) \
  X(szc_u, "szext.clamp.u32", "w=ww", extend_low(a, b, 0, 1)) \
  X(szw_s, "szext.wrap.s32", "w=ww", extend_low(a, b, 1, 0)) \
  X(szw_u, "szext.wrap.u32", "w=ww", extend_low(a, b, 0, 0)) \
  X(bmc, "bmsk.clamp.b32", "w=ww", mask_of(a, b, 1)) \
  X(bmw, "bmsk.wrap.b32", "w=ww", mask_of(a, b, 0)) X(prmt, "prmt.b32", "w=www", permute(a, b, c)) \
  X(selp16, "selp.b16", "h=hhp", c ? a : b) X(selp32, "selp.s32", "w=wwp", c ? a : b) \
  X(selp64, "selp.f64", "d=ddp", c ? a : b) X(selpf, "selp.f32", "w=wwp", c ? a : b) \
  X(slct32, "slct.u32." "s32", "w=www", S32(c) >= 0 ? a : b) \
  X(slct64, "slct.f64.s32", "d=ddw", S32(c) >= 0 ? a : b) \
  X(slctf, "slct." "b32." "f32", "w=www", f32_of(c) >= 0 ? a : b) \
  X(slctz, "slct.ftz.b64." "f32", "d=ddw", flush(f32_of(c)) >= 0 ? a : b) \
  X(mov16, "mov.b16", "h=h", a) X(mov32, "mov." "f32", "w=w", a) X(mov64, "mov." "s64", "d=d", a) \
  X(movp, "mo" "v." "pr" "e" "d", "p=" "p", a)
/* clang-format on */
BITS(DEFINE)
static const op_case bits[] = {BITS(ROW)};
static void bit_manipulation(void **state) { op_check(bits, sizeof bits / sizeof bits[0]); }

/* All 256 functions of three inputs. */
#define LUT(k)                                                                                               \
  static uint64_t lut_##k(uint64_t a, uint64_t b, uint64_t c, uint64_t e) { return lut3(a, b, c, 0x##k); }
/* clang-format off */
#define LUT16(X, h) \
  X(h##0) X(h##1) X(h##2) X(h##3) X(h##4) X(h##5) X(h##6) X(h##7) X(h##8) X(h##9) X(h##a) X(h##b) \
  X(h##c) X(h##d) X(h##e) X(h##f)
#define LUT256(X) \
  LUT16(X, 0) LUT16(X, 1) LUT16(X, 2) LUT16(X, 3) LUT16(X, 4) LUT16(X, 5) LUT16(X, 6) LUT16(X, 7) \
  LUT16(X, 8) LUT16(X, 9) LUT16(X, a) LUT16(X, b) LUT16(X, c) LUT16(X, d) LUT16(X, e) LUT16(X, f)
/* clang-format on */
LUT256(LUT)
#define LUT_ROW(k) {"lop3.b32", "w=www", lut_##k, ", 0x" #k},
static const op_case luts[] = {LUT256(LUT_ROW)};
static void all_lop3_tables(void **state) { op_check(luts, sizeof luts / sizeof luts[0]); }

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("integer arithmetic is C's, modulo the width", integer_arithmetic),
      BEHAVIOUR("video instructions of whole registers, and differences of their parts", video_instructions),
      BEHAVIOUR("dp4a and dp2a add products of bytes and halves", dot_products),
      BEHAVIOUR("logic, shifts, fields, permutes and selections work bit by bit", bit_manipulation),
      BEHAVIOUR("lop3 computes each of the 256 functions", all_lop3_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
