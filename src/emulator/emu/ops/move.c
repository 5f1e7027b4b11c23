/* emu/ops/move.c: mov, packing and unpacking, addresses, clocks, alloca. */
#include "emu/ops/lanes.h"

#define ROWS_1(X)                                                                                            \
  X(mov_b16, "mov.b16", h, h, a)                                                                             \
  X(mov_b32, "mov.b32", w, w, a)                                                                             \
  X(mov_b64, "mov.b64", d, d, a)
ROWS_1(DEFINE_1)

HANDLER(mov_pred) { put_pred(r, i->dst, get_pred(r, i->src[0]), mask); }
HANDLER(mov_b128) {
  char part[2 * 256] __attribute__((aligned(64)));
  memcpy(part, slot(r, i->src[0]), sizeof part);
  blend64(slot(r, i->dst), part, mask);
  blend64(slot(r, i->dst + 2), part + 256, mask);
}

/* Special registers are 32-bit slots whatever they are read as. */
HANDLER(mov_narrow) {
  const uint32_t *pa = slot(r, i->src[0]);
  LANES_OF(w, out[l] = (uint16_t)pa[l];)
}

/* d = a + imm: cvta. */
HANDLER(add_imm) {
  const uint64_t *pa = slot(r, i->src[0]);
  const uint64_t imm = (uint64_t)i->imm;
  LANES_OF(d, out[l] = pa[l] + imm;)
}

/* The clock shifted right by imm. */
HANDLER(clock_32) {
  const uint32_t now = (uint32_t)(emu_clock(w) >> i->imm);
  LANES_OF(w, out[l] = now;)
}
HANDLER(clock_64) {
  const uint64_t now = emu_clock(w);
  LANES_OF(d, out[l] = now;)
}

/* ---- Parts --------------------------------------------------------------------------- */

INLINE uint64_t part_of(char *r, uint32_t s, unsigned bits, unsigned l) {
  return bits == 64 ? ((const uint64_t *)slot(r, s))[l] : ((const uint32_t *)slot(r, s))[l];
}
INLINE uint64_t low_bits(uint64_t v, unsigned bits) { return v << (64 - bits) >> (64 - bits); }

/* dst = {part 0, part 1, ...}, the first lowest. Sources may be slots of the destination's
 * neighbours but never of the destination itself, whose size differs. */
HANDLER(join_32) {
  const emu_parts *p = i->extra;
  LANES_OF(w, uint32_t v = 0;
           for (unsigned k = 0; k < p->n; k++) v |=
           (uint32_t)low_bits(part_of(r, p->slot[k], p->bits, l), p->bits) << (k * p->bits);
           out[l] = v;)
}
HANDLER(join_64) {
  const emu_parts *p = i->extra;
  LANES_OF(d, uint64_t v = 0; for (unsigned k = 0; k < p->n; k++) v |=
                              low_bits(part_of(r, p->slot[k], p->bits, l), p->bits) << (k * p->bits);
           out[l] = v;)
}
/* The common case: two 32-bit registers. */
HANDLER(join_2x32) {
  const emu_parts *p = i->extra;
  const uint32_t *pa = slot(r, p->slot[0]), *pb = slot(r, p->slot[1]);
  LANES_OF(d, out[l] = (uint64_t)pb[l] << 32 | pa[l];)
}
HANDLER(join_2x64) {
  const emu_parts *p = i->extra;
  for (unsigned k = 0; k < 2; k++) blend64(slot(r, i->dst + 2 * k), slot(r, p->slot[k]), mask);
}

/* {part 0, part 1, ...} = src[0]. */
INLINE void split(const emu_inst *i, char *r, uint32_t mask, bool wide) {
  const emu_parts *p = i->extra;
  for (unsigned k = 0; k < p->n; k++) {
    if (p->slot[k] == EMU_NO_SLOT) continue;
    uint32_t part[32] __attribute__((aligned(64)));
    const unsigned shift = k * p->bits;
    const uint32_t keep = (uint32_t)(UINT64_MAX >> (64 - p->bits));
    LANE_LOOP part[l] = (wide ? (uint32_t)(((const uint64_t *)slot(r, i->src[0]))[l] >> shift)
                              : ((const uint32_t *)slot(r, i->src[0]))[l] >> shift) &
                        keep;
    blend32(slot(r, p->slot[k]), part, mask);
  }
}
HANDLER(split_32) { split(i, r, mask, false); }
HANDLER(split_64) { split(i, r, mask, true); }
HANDLER(split_2x64) {
  const emu_parts *p = i->extra;
  for (unsigned k = 0; k < 2; k++)
    if (p->slot[k] != EMU_NO_SLOT) blend64(slot(r, p->slot[k]), slot(r, i->src[0] + 2 * k), mask);
}

/* Elements may be among the destinations, too: all are read first. */
HANDLER(mov_v) {
  const emu_vector *v = i->extra;
  char part[4][256] __attribute__((aligned(64)));
  const size_t bytes = v->bits == 64 ? 256 : 128;
  for (unsigned k = 0; k < v->n; k++) memcpy(part[k], slot(r, v->from[k]), bytes);
  for (unsigned k = 0; k < v->n; k++) {
    if (v->to[k] == EMU_NO_SLOT) continue;
    uint32_t *words = (uint32_t *)(void *)part[k];
    if (v->bits == 16) LANE_LOOP words[l] &= 0xffff;
    if (v->bits == 64)
      blend64(slot(r, v->to[k]), part[k], mask);
    else
      blend32(slot(r, v->to[k]), part[k], mask);
  }
}

/* ---- The stack ------------------------------------------------------------------------- */

/* Functions that use alloca hold a reserve of EMU_ALLOCA_BYTES in their frame: src[1] is its
 * address, src[3] the number of bytes in use, a 64-bit hidden register that starts at 0. */
HANDLER(alloca_64) {
  const uint64_t *size = slot(r, i->src[0]), *reserve = slot(r, i->src[1]);
  uint64_t *used = slot(r, i->src[3]), *dst = slot(r, i->dst);
  const uint64_t align = (uint64_t)i->imm;
  FOR_LANES(l, mask) {
    const uint64_t base = reserve[l], at = (base + used[l] + align - 1) / align * align - base;
    if (size[l] > EMU_ALLOCA_BYTES || at + size[l] > EMU_ALLOCA_BYTES) {
      emu_fault(w, i, 1u << l, HD_FAULT_OTHER,
                "alloca of %llu bytes: the emulator keeps %u bytes for a function's allocations",
                (unsigned long long)size[l], (unsigned)EMU_ALLOCA_BYTES);
      return;
    }
    used[l] = at + size[l];
    dst[l] = base + at;
  }
}

const emu_op EMU_OPS(move)[] = {ROWS_1(ROW_1){"mov.pred", "p=p", mov_pred},
                                {"mov.b128", "q=q", mov_b128},
                                {"mov.narrow", "h=w", mov_narrow},
                                {"mov.add_imm", "d=d", add_imm},
                                {"mov.v", "", mov_v},
                                {"mov.clock32", "w=", clock_32},
                                {"mov.clock64", "d=", clock_64},
                                {"join.32", "", join_32},
                                {"join.64", "", join_64},
                                {"join.2x32", "", join_2x32},
                                {"join.2x64", "", join_2x64},
                                {"split.32", "", split_32},
                                {"split.64", "", split_64},
                                {"split.2x64", "", split_2x64},
                                {"alloca.u64", "", alloca_64},
                                {0}};
