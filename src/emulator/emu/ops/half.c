/* emu/ops/half.c: f16, bf16 and their packed pairs.
 *
 * The forms without modifiers are vector code: computed in f32 or f64 and rounded once more.
 * That second rounding is harmless because
 *   - a sum or product in f32 has 24 >= 2 * 11 + 2 bits (Figueroa, "When is double rounding
 *     innocuous?"), unless it is subnormal in f32, which only a bf16 product can be;
 *   - an fma is first rounded to odd, from the exact product and sum in f64; a sum that f64
 *     cannot hold exactly decides no rounding of f16, but may one of bf16.
 * Lanes where one of these exceptions holds, and all forms with modifiers, go through num.h.
 */
#include "emu/ops/lanes.h"

typedef struct half_op {
  num_fmt fmt;
  char op;
  bool ftz, sat, nan, relu;
} half_op;

INLINE half_op half_of(const emu_inst *i) {
  return (half_op){(num_fmt)i->arith.fmt, (char)i->arith.op, i->arith.ftz,
                   i->arith.sat,          i->arith.nan,      i->arith.relu};
}

static uint16_t arith(half_op o, uint16_t a, uint16_t b, uint16_t c) {
  return num_arith_16(o.fmt, o.op, a, b, c, o.ftz, o.sat, o.nan);
}

static uint32_t arith2(half_op o, uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t low = arith(o, (uint16_t)a, (uint16_t)b, (uint16_t)c);
  return low | (uint32_t)arith(o, (uint16_t)(a >> 16), (uint16_t)(b >> 16), (uint16_t)(c >> 16)) << 16;
}

/* ---- By vector ---------------------------------------------------------------------- */

/* x rounded to f32 towards its odd neighbour when it does not fit, which keeps what a later
 * rounding needs to know. */
INLINE float to_odd(double x) {
  const float f = (float)x;
  const uint32_t bits = num_b32(f), cut = bits - (__builtin_fabs((double)f) > __builtin_fabs(x));
  return (double)f != x && x == x && __builtin_fabsf(f) != INFINITY ? num_f32(cut | 1) : f;
}
/* The f64 sum of a and b was rounded: its error is not 0 (Knuth's TwoSum). */
INLINE bool is_inexact(double a, double b, double sum) {
  const double part = sum - a;
  return (a - (sum - part)) + (b - part) != 0;
}
INLINE bool is_tiny(float x) { return __builtin_fabsf(x) < 0x1p-126f && x != 0; }

#define FROM_f16(bits) num_f16_to_f32((uint16_t)(bits))
#define FROM_bf16(bits) num_bf16_to_f32((uint16_t)(bits))
#define TO_f16(x) num_f32_to_f16(x)
#define TO_bf16(x) num_f32_to_bf16(x)

/* One pass over the lanes' half at `shift`, ORed into part; true when a lane is an exception. */
#define HALF_PASS(t, shift, step)                                                                            \
  LANE_LOOP {                                                                                                \
    const float a = FROM_##t(pa[l] >> (shift)), b = FROM_##t(pb[l] >> (shift)),                              \
                c = FROM_##t(pc[l] >> (shift));                                                              \
    bool odd_one = false;                                                                                    \
    float d;                                                                                                 \
    (void)c;                                                                                                 \
    step;                                                                                                    \
    exceptions |= odd_one ? 1 : 0;                                                                           \
    part[l] |= (uint32_t)TO_##t(d) << (shift);                                                               \
  }
#define DEFINE_HALF(id, name, shape, t, pair, letter, step)                                                  \
  HANDLER(id) {                                                                                              \
    const uint32_t *pa = slot(r, i->src[0]), *pb = slot(r, i->src[1]), *pc = slot(r, i->src[2]);             \
    uint32_t part[32] __attribute__((aligned(64))) = {0}, exceptions = 0;                                    \
    HALF_PASS(t, 0, step)                                                                                    \
    if (pair) HALF_PASS(t, 16, step)                                                                         \
    if (exceptions) {                                                                                        \
      const half_op o = {.fmt = FORMAT_##t, .op = letter};                                                   \
      FOR_LANES(l, mask)                                                                                     \
      part[l] = pair ? arith2(o, pa[l], pb[l], pc[l])                                                        \
                     : arith(o, (uint16_t)pa[l], (uint16_t)pb[l], (uint16_t)pc[l]);                          \
    }                                                                                                        \
    blend32(slot(r, i->dst), part, mask);                                                                    \
  }
#define FORMAT_f16 NUM_F16
#define FORMAT_bf16 NUM_BF16
#define ROW_HALF(id, name, shape, t, pair, letter, step) {name, shape, id},

#define FMA_STEP(exception)                                                                                  \
  const double product = (double)a * (double)b;                                                              \
  const double sum = product + (double)c;                                                                    \
  odd_one = (exception);                                                                                     \
  d = to_odd(sum)
#define HALF_OP(X, op, t, two, one, letter, step)                                                            \
  X(op##_##t, #op "." #t, one, t, false, letter, step)                                                       \
  X(op##_##t##x2, #op "." #t "x2", two, t, true, letter, step)
#define ROWS_HALF(X)                                                                                         \
  HALF_OP(X, add, f16, "w=ww", "h=hh", '+', d = a + b)                                                       \
  HALF_OP(X, sub, f16, "w=ww", "h=hh", '-', d = a - b)                                                       \
  HALF_OP(X, mul, f16, "w=ww", "h=hh", '*', d = a * b)                                                       \
  HALF_OP(X, fma, f16, "w=www", "h=hhh", 'f', FMA_STEP(false))                                               \
  HALF_OP(X, add, bf16, "w=ww", "h=hh", '+', d = a + b)                                                      \
  HALF_OP(X, sub, bf16, "w=ww", "h=hh", '-', d = a - b)                                                      \
  HALF_OP(X, mul, bf16, "w=ww", "h=hh", '*', d = a * b; odd_one = is_tiny(d))                                \
  HALF_OP(X, fma, bf16, "w=www", "h=hhh", 'f', FMA_STEP(is_inexact(product, (double)c, sum)))
ROWS_HALF(DEFINE_HALF)

/* ---- Lane by lane -------------------------------------------------------------------- */

/* half.arith: one value in a 16-bit register; half.arith2: two in a 32-bit one. */
HANDLER(half_arith) {
  const half_op o = half_of(i);
  const uint32_t *pa = slot(r, i->src[0]), *pb = slot(r, i->src[1]), *pc = slot(r, i->src[2]);
  uint32_t *dst = slot(r, i->dst);
  FOR_LANES(l, mask) dst[l] = arith(o, (uint16_t)pa[l], (uint16_t)pb[l], (uint16_t)pc[l]);
}
HANDLER(half_arith2) {
  const half_op o = half_of(i);
  const uint32_t *pa = slot(r, i->src[0]), *pb = slot(r, i->src[1]), *pc = slot(r, i->src[2]);
  uint32_t *dst = slot(r, i->dst);
  FOR_LANES(l, mask) dst[l] = arith2(o, pa[l], pb[l], pc[l]);
}

/* half.approx, half.approx2: ex2 and tanh. */
HANDLER(half_approx) {
  const uint32_t *pa = slot(r, i->src[0]);
  uint32_t *dst = slot(r, i->dst);
  FOR_LANES(l, mask)
  dst[l] = num_approx_16((num_approx)i->arith.op, (num_fmt)i->arith.fmt, (uint16_t)pa[l], i->arith.ftz);
}
HANDLER(half_approx2) {
  const uint32_t *pa = slot(r, i->src[0]);
  uint32_t *dst = slot(r, i->dst);
  FOR_LANES(l, mask) {
    const num_approx op = (num_approx)i->arith.op;
    const num_fmt fmt = (num_fmt)i->arith.fmt;
    const uint32_t low = num_approx_16(op, fmt, (uint16_t)pa[l], i->arith.ftz);
    const uint32_t high = num_approx_16(op, fmt, (uint16_t)(pa[l] >> 16), i->arith.ftz);
    dst[l] = low | high << 16;
  }
}

const emu_op EMU_OPS(half)[] = {ROWS_HALF(ROW_HALF){"half.arith", "", half_arith},
                                {"half.arith2", "", half_arith2},
                                {"half.approx", "", half_approx},
                                {"half.approx2", "", half_approx2},
                                {0}};
