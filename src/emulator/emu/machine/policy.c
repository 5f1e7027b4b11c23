/* emu/machine/policy.c: the effect of cache policies (.L2::cache_hint) on an access.
 *
 * A policy is a value like any other, so each lane may have its own; and the fraction of accesses that a
 * policy gives its first priority to is one of lines, by a hash of their addresses, so that an access to a
 * line always gets the same. A range's first priority holds everywhere: the value does not say where the
 * range begins. */
#include "emu/machine/grid.h"

#include <string.h>

/* PTX ISA, createpolicy: without a second priority the other accesses leave the line's as it is. */
static unsigned priority_of(uint64_t policy, uint64_t address) {
  static const uint8_t bits[16] = {[EMU_POLICY_FIRST] = HD_CACHE_L2_FIRST,
                                   [EMU_POLICY_LAST] = HD_CACHE_L2_LAST,
                                   [EMU_POLICY_UNCHANGED] = HD_CACHE_L2_UNCHANGED};
  unsigned first = policy & 15, second = policy >> EMU_POLICY_SECOND & 15;
  uint32_t share_bits = (uint32_t)(policy >> 32);
  float share;
  memcpy(&share, &share_bits, sizeof share);
  if (policy & EMU_POLICY_RANGE || share >= 1) return bits[first];
  uint64_t hash = address / EMU_LINE_BYTES * UINT64_C(0x9E3779B97F4A7C15);
  hash = (hash ^ hash >> 32) * UINT64_C(0xD6E8FEB86659FD93);
  if ((float)(hash >> 40) * 0x1p-24f < share) return bits[first];
  return bits[second ? second : EMU_POLICY_UNCHANGED];
}

void emu_report_access(const emu_warp *w, const emu_inst *i, hd_access *a) {
  const emu_cta *c = w->cta;
  const hd_emu_hooks *hooks = &c->grid->hooks;
  unsigned cache = a->cache & ~(unsigned)EMU_CACHE_HINT;
  bool hinted = cache != a->cache && a->space == HD_SPACE_GLOBAL;
  uint8_t of[HD_WARP];
  a->cache = (uint8_t)cache;
  if (!hinted) {
    hooks->access(hooks->ctx, c->worker, a);
    return;
  }
  cache &= ~(unsigned)HD_CACHE_L2_PRIORITY;
  for (uint32_t left = a->mask; left; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    of[lane] =
        (uint8_t)(cache | priority_of(emu_lane_u64(w->current->frame->regs, i->src[3], lane), a->addr[lane]));
  }
  for (uint32_t left = a->mask; left; left &= ~a->mask) {
    a->cache = of[__builtin_ctz(left)];
    a->mask = 0;
    for (uint32_t lanes = left; lanes; lanes &= lanes - 1) {
      unsigned lane = (unsigned)__builtin_ctz(lanes);
      a->mask |= (uint32_t)(of[lane] == a->cache) << lane;
    }
    hooks->access(hooks->ctx, c->worker, a);
  }
}
