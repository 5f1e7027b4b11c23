/* emu/ops/bits.c: logic, shifts, bit fields, byte permutes. */
#include "emu/ops/lanes.h"

/* ---- Single lanes ------------------------------------------------------------- */

INLINE uint32_t brev32(uint32_t x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
INLINE uint64_t brev64(uint64_t x) {
  return (uint64_t)brev32((uint32_t)x) << 32 | brev32((uint32_t)(x >> 32));
}

/* prmt without a mode: each selector nibble picks one of the eight bytes of {b, a}, or
 * spreads that byte's sign. */
INLINE uint32_t prmt_byte(uint64_t ba, uint32_t selector, unsigned k) {
  const uint32_t nibble = selector >> (4 * k) & 15;
  const uint32_t byte = (uint32_t)(ba >> (8 * (nibble & 7))) & 0xff;
  const uint32_t sign = byte & 0x80 ? 0xff : 0;
  return (nibble & 8 ? sign : byte) << (8 * k);
}
INLINE uint32_t prmt(uint32_t a, uint32_t b, uint32_t c) {
  const uint64_t ba = (uint64_t)b << 32 | a;
  return prmt_byte(ba, c, 0) | prmt_byte(ba, c, 1) | prmt_byte(ba, c, 2) | prmt_byte(ba, c, 3);
}

/* Funnel shifts of {b, a} by n <= 32. */
INLINE uint32_t funnel_left(uint32_t a, uint32_t b, uint32_t n) {
  return (uint32_t)((((uint64_t)b << 32 | a) << n) >> 32);
}
INLINE uint32_t funnel_right(uint32_t a, uint32_t b, uint32_t n) {
  return (uint32_t)(((uint64_t)b << 32 | a) >> n);
}
#define AT_MOST(x, n) ((x) < (n) ? (x) : (n))

/* bfe of 32 bits: a field that begins or ends outside takes zeros, or the sign bit of the
 * field's last bit inside; position and length are 8-bit numbers. */
INLINE uint32_t bfe_u32_lane(uint32_t a, uint32_t pos, uint32_t len) {
  pos &= 0xff;
  len &= 0xff;
  const uint32_t shifted = pos > 31 ? 0 : a >> (pos & 31);
  return len > 31 ? shifted : shifted & ((1u << (len & 31)) - 1);
}

/* szext: the low n bits of a extended; .clamp takes n >= 32 as all of a, .wrap modulo 32. */
INLINE uint32_t szext(uint32_t a, uint32_t n, bool is_signed, bool clamp) {
  const uint32_t k = n & 31;
  const bool too_large = clamp && n >= 32;
  const uint32_t above = too_large ? 0 : UINT32_MAX << k;
  const bool sign = is_signed && k != 0 && !too_large && (a >> ((k - 1) & 31) & 1);
  return (a & ~above) | (sign ? above : 0);
}
/* bmsk: b ones from bit a on. */
INLINE uint32_t bmsk(uint32_t a, uint32_t b, bool clamp) {
  const uint32_t first = a & 31, n = b & 31, end = first + n;
  const uint32_t from = clamp && a >= 32 ? 0 : UINT32_MAX << first;
  uint32_t beyond = UINT32_MAX << (end & 31);
  if (end >= 32 || (clamp && (a >= 32 || b >= 32)))
    beyond = 0;
  else if (n == 0)
    beyond = UINT32_MAX;
  return from & ~beyond;
}

/* ---- Tables --------------------------------------------------------------------- */

#define ROWS_1(X)                                                                                            \
  X(not_b16, "not.b16", h, h, ~a)                                                                            \
  X(not_b32, "not.b32", w, w, ~a)                                                                            \
  X(not_b64, "not.b64", d, d, ~a)                                                                            \
  X(cnot_b16, "cnot.b16", h, h, a == 0)                                                                      \
  X(cnot_b32, "cnot.b32", w, w, a == 0)                                                                      \
  X(cnot_b64, "cnot.b64", d, d, a == 0)                                                                      \
  X(brev_b32, "brev.b32", w, w, brev32(a))                                                                   \
  X(brev_b64, "brev.b64", d, d, brev64(a))

#define ROWS_2(X)                                                                                            \
  X(and_b16, "and.b16", h, h, h, (a & b))                                                                    \
  X(and_b32, "and.b32", w, w, w, (a & b))                                                                    \
  X(and_b64, "and.b64", d, d, d, (a & b))                                                                    \
  X(or_b16, "or.b16", h, h, h, a | b)                                                                        \
  X(or_b32, "or.b32", w, w, w, a | b)                                                                        \
  X(or_b64, "or.b64", d, d, d, a | b)                                                                        \
  X(xor_b16, "xor.b16", h, h, h, a ^ b)                                                                      \
  X(xor_b32, "xor.b32", w, w, w, a ^ b)                                                                      \
  X(xor_b64, "xor.b64", d, d, d, a ^ b)                                                                      \
  X(shl_b16, "shl.b16", h, h, w, b > 15 ? 0 : a << (b & 15))                                                 \
  X(shl_b32, "shl.b32", w, w, w, b > 31 ? 0 : a << (b & 31))                                                 \
  X(shl_b64, "shl.b64", d, d, w, b > 63 ? 0 : a << (b & 63))                                                 \
  X(shr_b16, "shr.b16", h, h, w, b > 15 ? 0 : a >> (b & 15))                                                 \
  X(shr_b32, "shr.b32", w, w, w, b > 31 ? 0 : a >> (b & 31))                                                 \
  X(shr_b64, "shr.b64", d, d, w, b > 63 ? 0 : a >> (b & 63))                                                 \
  X(shr_s16, "shr.s16", k, k, w, a >> AT_MOST(b, 15))                                                        \
  X(shr_s32, "shr.s32", i, i, w, a >> AT_MOST(b, 31))                                                        \
  X(shr_s64, "shr.s64", j, j, w, a >> AT_MOST(b, 63))                                                        \
  X(szext_clamp_s32, "szext.clamp.s32", w, w, w, szext(a, b, true, true))                                    \
  X(szext_clamp_u32, "szext.clamp.u32", w, w, w, szext(a, b, false, true))                                   \
  X(szext_wrap_s32, "szext.wrap.s32", w, w, w, szext(a, b, true, false))                                     \
  X(szext_wrap_u32, "szext.wrap.u32", w, w, w, szext(a, b, false, false))                                    \
  X(bmsk_clamp_b32, "bmsk.clamp.b32", w, w, w, bmsk(a, b, true))                                             \
  X(bmsk_wrap_b32, "bmsk.wrap.b32", w, w, w, bmsk(a, b, false))

#define ROWS_3(X)                                                                                            \
  X(shf_l_clamp_b32, "shf.l.clamp.b32", w, w, w, w, funnel_left(a, b, AT_MOST(c, 32)))                       \
  X(shf_l_wrap_b32, "shf.l.wrap.b32", w, w, w, w, funnel_left(a, b, c & 31))                                 \
  X(shf_r_clamp_b32, "shf.r.clamp.b32", w, w, w, w, funnel_right(a, b, AT_MOST(c, 32)))                      \
  X(shf_r_wrap_b32, "shf.r.wrap.b32", w, w, w, w, funnel_right(a, b, c & 31))                                \
  X(prmt_b32, "prmt.b32", w, w, w, w, prmt(a, b, c))                                                         \
  X(prmt_f4e_b32, "prmt.b32.f4e", w, w, w, w, num_prmt(a, b, c, NUM_PRMT_F4E))                               \
  X(prmt_b4e_b32, "prmt.b32.b4e", w, w, w, w, num_prmt(a, b, c, NUM_PRMT_B4E))                               \
  X(prmt_rc8_b32, "prmt.b32.rc8", w, w, w, w, num_prmt(a, b, c, NUM_PRMT_RC8))                               \
  X(prmt_ecl_b32, "prmt.b32.ecl", w, w, w, w, num_prmt(a, b, c, NUM_PRMT_ECL))                               \
  X(prmt_ecr_b32, "prmt.b32.ecr", w, w, w, w, num_prmt(a, b, c, NUM_PRMT_ECR))                               \
  X(prmt_rc16_b32, "prmt.b32.rc16", w, w, w, w, num_prmt(a, b, c, NUM_PRMT_RC16))                            \
  X(bfe_u32, "bfe.u32", w, w, w, w, bfe_u32_lane(a, b, c))                                                   \
  X(bfe_s32, "bfe.s32", w, w, w, w, num_bfe(a, b, c, 32, true))                                              \
  X(bfe_u64, "bfe.u64", d, d, w, w, num_bfe(a, b, c, 64, false))                                             \
  X(bfe_s64, "bfe.s64", d, d, w, w, num_bfe(a, b, c, 64, true))

#define ROWS_4(X)                                                                                            \
  X(bfi_b32, "bfi.b32", w, w, w, w, w, num_bfi(a, b, c, e, 32))                                              \
  X(bfi_b64, "bfi.b64", d, d, d, w, w, num_bfi(a, b, c, e, 64))

ROWS_1(DEFINE_1)
ROWS_2(DEFINE_2)
ROWS_3(DEFINE_3)
ROWS_4(DEFINE_4)

/* ---- lop3 ------------------------------------------------------------------------- */

/* imm holds the function's exclusive-or normal form, one bit for each of the
 * terms 1, c, b, bc, a, ac, ab, abc from bit 0 up. */
INLINE void lop3(const emu_inst *i, char *r, uint32_t *out) {
  const uint32_t *pa = slot(r, i->src[0]), *pb = slot(r, i->src[1]), *pc = slot(r, i->src[2]);
  uint32_t k[8];
  for (unsigned t = 0; t < 8; t++) k[t] = i->imm >> t & 1 ? UINT32_MAX : 0;
  LANE_LOOP {
    const uint32_t a = pa[l], b = pb[l], c = pc[l];
    out[l] =
        k[0] ^ (c & k[1]) ^ (b & (k[2] ^ (c & k[3]))) ^ (a & (k[4] ^ (c & k[5]) ^ (b & (k[6] ^ (c & k[7])))));
  }
}
HANDLER(lop3_b32) {
  uint32_t *dst = slot(r, i->dst), part[32] __attribute__((aligned(64)));
  lop3(i, r, mask == ALL_LANES ? dst : part);
  if (mask != ALL_LANES) blend32(dst, part, mask);
}
/* lop3.or, lop3.and: predicate dst2 is "not zero" combined with predicate src[3]. */
HANDLER(lop3_pred) {
  uint32_t value[32] __attribute__((aligned(64)));
  const uint32_t q = get_pred(r, i->src[3]) ^ (i->compare.negate ? ALL_LANES : 0);
  lop3(i, r, value);
  PRED_OF(value[l] != 0);
  if (i->dst != EMU_NO_SLOT) blend32(slot(r, i->dst), value, mask);
  put_pred(r, i->dst2, i->compare.combine == EMU_BOOL_OR ? bits | q : bits & q, mask);
}

/* ---- Predicates --------------------------------------------------------------------- */

#define PRED_2(id, expr)                                                                                     \
  HANDLER(id) {                                                                                              \
    const uint32_t a = get_pred(r, i->src[0]), b = get_pred(r, i->src[1]);                                   \
    put_pred(r, i->dst, (expr), mask);                                                                       \
  }
PRED_2(and_pred, (a & b))
PRED_2(or_pred, a | b)
PRED_2(xor_pred, a ^ b)
HANDLER(not_pred) { put_pred(r, i->dst, ~get_pred(r, i->src[0]), mask); }
HANDLER(cnot_pred) { put_pred(r, i->dst, ~get_pred(r, i->src[0]), mask); }

/* isspacep: which window a generic address lies in; imm is the window's base, 0 for
 * global, which is what lies in none. */
HANDLER(isspacep) {
  const uint64_t *pa = slot(r, i->src[0]);
  if (i->imm) {
    const uint64_t base = (uint64_t)i->imm;
    PRED_OF(pa[l] - base < EMU_WINDOW_BYTES);
    put_pred(r, i->dst, bits, mask);
  } else {
    PRED_OF(pa[l] < EMU_SHARED_BASE || pa[l] >= EMU_GLOBAL_BASE);
    put_pred(r, i->dst, bits, mask);
  }
}

const emu_op EMU_OPS(bits)[] = {ROWS_1(ROW_1) ROWS_2(ROW_2) ROWS_3(ROW_3)
                                    ROWS_4(ROW_4){"lop3.b32", "", lop3_b32},
                                {"lop3.pred", "", lop3_pred},
                                {"and.pred", "p=pp", and_pred},
                                {"or.pred", "p=pp", or_pred},
                                {"xor.pred", "p=pp", xor_pred},
                                {"not.pred", "p=p", not_pred},
                                {"cnot.pred", "p=p", cnot_pred},
                                {"isspacep", "p=d", isspacep},
                                {0}};
