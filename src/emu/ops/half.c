/* ops/half.c: f16, bf16 and their packed pairs.
 *
 * Sums and products of two values are computed in f32 and fma in f64, where they are
 * exact or close enough that rounding once more gives the correctly rounded result
 * (24 >= 2 * 11 + 2 and 53 >= 2 * 24 + 2 bits); num.h does the rounding.
 */
#include "emu/ops/lanes.h"

typedef struct half_op {
  num_fmt fmt;
  char op;
  bool ftz, sat, nan, relu;
} half_op;

INLINE half_op half_of(const emu_inst *i) {
  return (half_op){(num_fmt)i->x[X_FMT], (char)i->x[X_OP], i->x[X_FTZ], i->x[X_SAT], i->x[X_NAN], i->x[X_RELU]};
}

static uint16_t arith(half_op o, uint16_t a, uint16_t b, uint16_t c) {
  return num_arith_16(o.fmt, o.op, a, b, c, o.ftz, o.sat, o.nan);
}

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
  FOR_LANES(l, mask) {
    const uint32_t low = arith(o, (uint16_t)pa[l], (uint16_t)pb[l], (uint16_t)pc[l]);
    const uint32_t high = arith(o, (uint16_t)(pa[l] >> 16), (uint16_t)(pb[l] >> 16), (uint16_t)(pc[l] >> 16));
    dst[l] = low | high << 16;
  }
}

/* half.approx, half.approx2: ex2 and tanh. */
HANDLER(half_approx) {
  const uint32_t *pa = slot(r, i->src[0]);
  uint32_t *dst = slot(r, i->dst);
  FOR_LANES(l, mask)
  dst[l] = num_approx_16((num_approx)i->x[X_OP], (num_fmt)i->x[X_FMT], (uint16_t)pa[l], i->x[X_FTZ]);
}
HANDLER(half_approx2) {
  const uint32_t *pa = slot(r, i->src[0]);
  uint32_t *dst = slot(r, i->dst);
  FOR_LANES(l, mask) {
    const num_approx op = (num_approx)i->x[X_OP];
    const num_fmt fmt = (num_fmt)i->x[X_FMT];
    const uint32_t low = num_approx_16(op, fmt, (uint16_t)pa[l], i->x[X_FTZ]);
    const uint32_t high = num_approx_16(op, fmt, (uint16_t)(pa[l] >> 16), i->x[X_FTZ]);
    dst[l] = low | high << 16;
  }
}

const emu_op EMU_OPS(half)[] = {{"half.arith", "", half_arith},
                                {"half.arith2", "", half_arith2},
                                {"half.approx", "", half_approx},
                                {"half.approx2", "", half_approx2},
                                {0}};
