/* emu/ops/compare.c: setp, set, selp, slct. */
#include "emu/ops/lanes.h"

/* ---- Results of comparisons -------------------------------------------------------- */

INLINE uint32_t combine(const emu_inst *i, char *r, uint32_t m) {
  const uint32_t c = i->compare.combine ? get_pred(r, i->src[2]) ^ (i->compare.negate ? ALL_LANES : 0) : 0;
  switch (i->compare.combine) {
  case EMU_BOOL_AND: return m & c;
  case EMU_BOOL_OR: return m | c;
  case EMU_BOOL_XOR: return m ^ c;
  }
  return m;
}
/* setp p|q: q is the negated comparison, combined with the same predicate. */
INLINE void finish_setp(const emu_inst *i, char *r, uint32_t mask, uint32_t m) {
  const uint32_t p = combine(i, r, m);
  if (i->compare.pair) put_pred(r, i->dst2, combine(i, r, ~m), mask);
  if (i->dst != EMU_NO_SLOT) put_pred(r, i->dst, p, mask);
}
/* set: imm is the value for true, -1 or 1.0 in the destination's type. */
INLINE void finish_set(const emu_inst *i, char *r, uint32_t mask, uint32_t m) {
  const uint32_t p = combine(i, r, m), truth = (uint32_t)i->imm;
  uint32_t *d = slot(r, i->dst), part[32] __attribute__((aligned(64)));
  LANE_LOOP part[l] = p & lane_bit[l] ? truth : 0;
  blend32(d, part, mask);
}

#define COMPARE(id, T, cond)                                                                                 \
  INLINE uint32_t cmp_##id(const emu_inst *i, char *r) {                                                     \
    const T *pa = slot(r, i->src[0]);                                                                        \
    const T *pb = slot(r, i->src[1]);                                                                        \
    PRED_OF(({                                                                                               \
      const T a = pa[l], b = pb[l];                                                                          \
      cond;                                                                                                  \
    }));                                                                                                     \
    return bits;                                                                                             \
  }                                                                                                          \
  HANDLER(setp_##id) { finish_setp(i, r, mask, cmp_##id(i, r)); }                                            \
  HANDLER(set_##id) { finish_set(i, r, mask, cmp_##id(i, r)); }

/* ---- Integers ------------------------------------------------------------------------ */

/* eq and ne do not tell signs apart: rows .iN. Values of 16 bits are zero-extended in
 * their slots, so unsigned ones compare as they are. */
#define EQUALITY(X, t, T, shape)                                                                             \
  X(eq_##t, "eq." #t, T, shape, a == b)                                                                      \
  X(ne_##t, "ne." #t, T, shape, a != b)
#define ORDER(X, t, T, shape, G)                                                                             \
  X(lt_##t, "lt." #t, T, shape, G(a) < G(b))                                                                 \
  X(le_##t, "le." #t, T, shape, G(a) <= G(b))                                                                \
  X(gt_##t, "gt." #t, T, shape, G(a) > G(b))                                                                 \
  X(ge_##t, "ge." #t, T, shape, G(a) >= G(b))

/* ---- Floats -------------------------------------------------------------------------- */

#define FLOATS(X, t, p, T, shape, G)                                                                         \
  X(eq_##t, "eq." p, T, shape, G(a) == G(b))                                                                 \
  X(ne_##t, "ne." p, T, shape, G(a) < G(b) || G(a) > G(b))                                                   \
  X(lt_##t, "lt." p, T, shape, G(a) < G(b))                                                                  \
  X(le_##t, "le." p, T, shape, G(a) <= G(b))                                                                 \
  X(gt_##t, "gt." p, T, shape, G(a) > G(b))                                                                  \
  X(ge_##t, "ge." p, T, shape, G(a) >= G(b))                                                                 \
  X(equ_##t, "equ." p, T, shape, !(G(a) < G(b) || G(a) > G(b)))                                              \
  X(neu_##t, "neu." p, T, shape, G(a) != G(b))                                                               \
  X(ltu_##t, "ltu." p, T, shape, !(G(a) >= G(b)))                                                            \
  X(leu_##t, "leu." p, T, shape, !(G(a) > G(b)))                                                             \
  X(gtu_##t, "gtu." p, T, shape, !(G(a) <= G(b)))                                                            \
  X(geu_##t, "geu." p, T, shape, !(G(a) < G(b)))                                                             \
  X(num_##t, "num." p, T, shape, a == a && b == b)                                                           \
  X(nan_##t, "nan." p, T, shape, a != a || b != b)

#define COMPARISONS(X)                                                                                       \
  EQUALITY(X, i16, uint32_t, "hh")                                                                           \
  EQUALITY(X, i32, uint32_t, "ww")                                                                           \
  EQUALITY(X, i64, uint64_t, "dd")                                                                           \
  ORDER(X, u16, uint32_t, "hh", GET_h)                                                                       \
  ORDER(X, s16, uint32_t, "kk", GET_k)                                                                       \
  ORDER(X, u32, uint32_t, "ww", GET_w)                                                                       \
  ORDER(X, s32, int32_t, "ii", GET_i)                                                                        \
  ORDER(X, u64, uint64_t, "dd", GET_d)                                                                       \
  ORDER(X, s64, int64_t, "jj", GET_j)                                                                        \
  FLOATS(X, f32, "f32", float, "ff", GET_f)                                                                  \
  FLOATS(X, ftz_f32, "ftz.f32", float, "ff", num_ftz)                                                        \
  FLOATS(X, f64, "f64", double, "gg", GET_g)

#define DEFINE_COMPARE(id, name, T, shape, cond) COMPARE(id, T, cond)
#define ROW_COMPARE(id, name, T, shape, cond)                                                                \
  {"setp." name, "p=" shape, setp_##id}, {"set." name, "w=" shape, set_##id},
COMPARISONS(DEFINE_COMPARE)

/* f16 and bf16, through f64; the pairs set p from the low half and q from the high one. */
static uint32_t compare_half(const emu_inst *i, char *r, unsigned shift) {
  const uint32_t *pa = slot(r, i->src[0]), *pb = slot(r, i->src[1]);
  const num_fmt fmt = (num_fmt)i->compare.fmt;
  uint32_t m = 0;
  for (unsigned l = 0; l < 32; l++) {
    uint16_t a = (uint16_t)(pa[l] >> shift), b = (uint16_t)(pb[l] >> shift);
    if (i->compare.ftz) { /* f16 only */
      a &= a & 0x7c00 ? 0xffff : 0x8000;
      b &= b & 0x7c00 ? 0xffff : 0x8000;
    }
    m |= (uint32_t)num_compare_f((num_cmp)i->compare.op, num_to_f64(fmt, a), num_to_f64(fmt, b)) << l;
  }
  return m;
}
HANDLER(setp_half) { finish_setp(i, r, mask, compare_half(i, r, 0)); }
HANDLER(set_half) { finish_set(i, r, mask, compare_half(i, r, 0)); }
HANDLER(setp_half2) {
  const uint32_t p = combine(i, r, compare_half(i, r, 0)), q = combine(i, r, compare_half(i, r, 16));
  if (i->dst != EMU_NO_SLOT) put_pred(r, i->dst, p, mask);
  if (i->compare.pair) put_pred(r, i->dst2, q, mask);
}
/* imm is the value for true in one half. */
HANDLER(set_half2) {
  const uint32_t p = combine(i, r, compare_half(i, r, 0)), q = combine(i, r, compare_half(i, r, 16));
  const uint32_t truth = (uint32_t)i->imm;
  uint32_t *d = slot(r, i->dst);
  FOR_LANES(l, mask) d[l] = (p >> l & 1 ? truth : 0) | (q >> l & 1 ? truth << 16 : 0);
}

/* ---- Selection --------------------------------------------------------------------- */

#define DEFINE_SELP(id, T)                                                                                   \
  HANDLER(id) {                                                                                              \
    const T *pa = slot(r, i->src[0]), *pb = slot(r, i->src[1]);                                              \
    const uint32_t c = get_pred(r, i->src[2]);                                                               \
    T *dst = slot(r, i->dst), part[32] __attribute__((aligned(64)));                                         \
    T *out = mask == ALL_LANES ? dst : part;                                                                 \
    LANE_LOOP out[l] = c & lane_bit[l] ? pa[l] : pb[l];                                                      \
    if (mask != ALL_LANES) BLEND(dst, part, mask);                                                           \
  }
DEFINE_SELP(selp_b32, uint32_t)
DEFINE_SELP(selp_b64, uint64_t)

#define ROWS_SLCT(X)                                                                                         \
  X(slct_b16_s32, "slct.b16.s32", h, h, h, i, c >= 0 ? a : b)                                                \
  X(slct_b32_s32, "slct.b32.s32", w, w, w, i, c >= 0 ? a : b)                                                \
  X(slct_b64_s32, "slct.b64.s32", d, d, d, i, c >= 0 ? a : b)                                                \
  X(slct_b16_f32, "slct.b16.f32", h, h, h, f, c >= 0 ? a : b)                                                \
  X(slct_b32_f32, "slct.b32.f32", w, w, w, f, c >= 0 ? a : b)                                                \
  X(slct_b64_f32, "slct.b64.f32", d, d, d, f, c >= 0 ? a : b)                                                \
  X(slct_ftz_b16_f32, "slct.ftz.b16.f32", h, h, h, f, num_ftz(c) >= 0 ? a : b)                               \
  X(slct_ftz_b32_f32, "slct.ftz.b32.f32", w, w, w, f, num_ftz(c) >= 0 ? a : b)                               \
  X(slct_ftz_b64_f32, "slct.ftz.b64.f32", d, d, d, f, num_ftz(c) >= 0 ? a : b)
ROWS_SLCT(DEFINE_3)

const emu_op EMU_OPS(compare)[] = {COMPARISONS(ROW_COMPARE) ROWS_SLCT(ROW_3){"setp.half", "", setp_half},
                                   {"setp.half2", "", setp_half2},
                                   {"set.half", "", set_half},
                                   {"set.half2", "", set_half2},
                                   {"selp.b16", "h=hhp", selp_b32},
                                   {"selp.b32", "w=wwp", selp_b32},
                                   {"selp.b64", "d=ddp", selp_b64},
                                   {0}};
