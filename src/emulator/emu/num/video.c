/* emu/num/video.c: video instructions: vadd ... vmad on parts of registers, vadd2 ... vset4 on lanes of them.
 */
#include "emu/num/video.h"

#include "base/arith.h"

/* Wide enough for every intermediate result: the PTX ISA computes them exactly. */
typedef __int128 wide;

static uint32_t ones(unsigned bits) { return (uint32_t)hd_low_bits(bits); }

static wide extended(uint32_t x, unsigned bits, bool is_signed) {
  return is_signed ? hd_sign_extend(x, bits) : (wide)(x & ones(bits));
}

static wide clamped(wide x, unsigned bits, bool is_signed) {
  const wide least = hd_least_of(bits, is_signed), most = hd_most_of(bits, is_signed);
  return x < least ? least : x > most ? most : x;
}

static bool compare(num_cmp cmp, wide a, wide b) {
  switch (cmp) {
  case NUM_CMP_EQ: return a == b;
  case NUM_CMP_NE: return a != b;
  case NUM_CMP_LT: return a < b;
  case NUM_CMP_LE: return a <= b;
  case NUM_CMP_GT: return a > b;
  default: return a >= b;
  }
}

/* The operation itself, but for vmad. */
static wide operate(const num_video *v, wide a, wide b) {
  switch ((num_video_op)v->op) {
  case NUM_VADD: return a + b;
  case NUM_VSUB: return a - b;
  case NUM_VABSDIFF: return a > b ? a - b : b - a;
  case NUM_VMIN: return a < b ? a : b;
  case NUM_VMAX: return a > b ? a : b;
  case NUM_VSHL:
  case NUM_VSHR: {
    const unsigned by = v->wrap ? (unsigned)b & 31 : b > 32 ? 32 : (unsigned)b;
    return v->op == NUM_VSHL ? a * ((wide)1 << by) : a >> by;
  }
  case NUM_VSET: return compare((num_cmp)v->cmp, a, b);
  case NUM_VAVRG:
    return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1; /* halves away from zero, negative down */
  case NUM_VMAD: break;
  }
  return 0;
}

static uint32_t multiply_add(const num_video *v, wide a, wide b, uint32_t c) {
  const bool is_signed = v->a_signed || v->b_signed || v->minus_product || v->minus_c;
  const wide product = v->minus_product ? -(a * b) : a * b;
  const wide addend = extended(c, 32, is_signed);
  wide sum = (product + (v->minus_c ? -addend : addend) + v->plus_one) >> v->scale;
  if (v->sat) sum = clamped(sum, 32, is_signed);
  return (uint32_t)sum;
}

static uint32_t one(const num_video *v, uint32_t a, uint32_t b, uint32_t c) {
  const wide x = extended(a >> v->a.shift, v->a.bits, v->a_signed);
  const wide y = extended(b >> v->b.shift, v->b.bits, v->b_signed);
  if (v->op == NUM_VMAD) return multiply_add(v, x, y, c);
  wide t = operate(v, x, y);
  if (v->sat) t = clamped(t, v->d.bits, v->d_signed);
  const wide other = extended(c, 32, v->d_signed);
  switch ((num_video_second)v->second) {
  case NUM_VIDEO_NONE: break;
  case NUM_VIDEO_ADD: return (uint32_t)t + c;
  case NUM_VIDEO_MIN: return (uint32_t)(t < other ? t : other);
  case NUM_VIDEO_MAX: return (uint32_t)(t > other ? t : other);
  }
  const uint32_t field = ones(v->d.bits) << v->d.shift;
  return ((uint32_t)t << v->d.shift & field) | (c & ~field);
}

static uint32_t several(const num_video *v, uint32_t a, uint32_t b, uint32_t c) {
  const unsigned bits = 32u / v->lanes;
  const uint64_t both = (uint64_t)b << 32 | a;
  uint32_t sum = c, lanes = 0;
  for (unsigned k = 0; k < v->lanes; k++) {
    const wide x = extended((uint32_t)(both >> v->from_a[k] * bits), bits, v->a_signed);
    const wide y = extended((uint32_t)(both >> v->from_b[k] * bits), bits, v->b_signed);
    wide t = operate(v, x, y);
    if (v->sat) t = clamped(t, bits, v->d_signed);
    const bool taken = v->mask >> k & 1;
    if (taken) sum += (uint32_t)t;
    lanes |= ((taken ? (uint32_t)t : c >> k * bits) & ones(bits)) << k * bits;
  }
  return v->second == NUM_VIDEO_ADD ? sum : lanes;
}

uint32_t num_video_run(const num_video *v, uint32_t a, uint32_t b, uint32_t c) {
  return v->lanes > 1 ? several(v, a, b, c) : one(v, a, b, c);
}
