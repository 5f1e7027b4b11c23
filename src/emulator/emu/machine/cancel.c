/* emu/machine/cancel.c: CTAs that take over what the launch has not started yet (clusterlaunchcontrol).
 *
 * A request takes the next cluster, or CTA, away from the dispatcher, which then never starts it. The PTX ISA
 * leaves open how the answer's 16 bytes are laid out: here they are the coordinates of its first CTA, and 1
 * where there was one. They land as a bulk copy does. Drivers that start CTAs themselves give none away. */
#include "emu/machine/async.h"
#include "emu/machine/cluster.h"

#include <inttypes.h>

enum { TAKEN = 3, ANSWER_WORDS = 4, ANSWER_BYTES = 16 };

static void take(hd_emu_grid *g, uint32_t answer[ANSWER_WORDS]) {
  uint64_t unit;
  memset(answer, 0, ANSWER_BYTES);
  if (!g->cancel || !g->cancel(g->cancel_ctx, &unit)) return;
  const uint64_t first = emu_cluster_task(g, unit, 0);
  const uint32_t *grid = g->view.grid;
  answer[0] = (uint32_t)(first % grid[0]);
  answer[1] = (uint32_t)(first / grid[0] % grid[1]);
  answer[2] = (uint32_t)(first / grid[0] / grid[1]);
  answer[TAKEN] = 1;
}

static bool land(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t to, uint64_t bar,
                 const uint32_t answer[ANSWER_WORDS]) {
  const emu_cancel *x = i->extra;
  emu_mover m;
  emu_mover_begin(&m, w, i, &x->copy, lane);
  m.bar = bar;
  m.given = (const char *)answer;
  bool ok = emu_mover_fill(&m, to, ANSWER_BYTES) && emu_mover_end(&m);
  ((emu_mwarp *)w)->issuer = 0;
  return ok && emu_mbarrier_complete_tx(w, i, lane, bar, ANSWER_BYTES);
}

static bool request(emu_warp *w, const emu_inst *i, const char *r, unsigned lane) {
  const emu_cancel *x = i->extra;
  uint32_t answer[ANSWER_WORDS];
  uint64_t to, bar;
  if (!emu_shared_offset(w, i, &x->copy.dst, r, lane, &to) ||
      !emu_shared_offset(w, i, &x->copy.bar, r, lane, &bar))
    return false;
  if (to % ANSWER_BYTES) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "the answer's address is 0x%" PRIx64 ", no multiple of %d",
              to, ANSWER_BYTES);
    return false;
  }
  take(w->cta->grid, answer);
  if (!x->to_all || !w->cta->cluster) return land(w, i, lane, to, bar, answer);
  for (uint32_t rank = 0; rank < emu_unit_size(w->cta); rank++)
    if (!land(w, i, lane, emu_ranked(to, rank), emu_ranked(bar, rank), answer)) return false;
  return true;
}

void emu_run_try_cancel(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  for (uint32_t left = mask; left; left &= left - 1)
    if (!request(w, i, r, (unsigned)__builtin_ctz(left))) return;
}

/* Word k of the answer that a lane holds: a register of 128 bits is two of 64. */
static uint32_t answer_word(const char *r, uint32_t slot, unsigned lane, unsigned k) {
  return (uint32_t)(emu_lane_u64(r, slot + k / 2 * 2, lane) >> 32 * (k % 2));
}

void emu_run_query_cancel(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  const emu_query *q = i->extra;
  uint32_t taken = 0;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    taken |= answer_word(r, q->answer_slot, l, TAKEN) << l;
  }
  if (q->taken_slot != EMU_NO_SLOT) {
    uint32_t *p = (uint32_t *)(uintptr_t)(r + (size_t)q->taken_slot * EMU_SLOT_BYTES);
    *p = (*p & ~mask) | taken;
    return;
  }
  if (taken != mask) {
    emu_fault(w, i, mask & ~taken, HD_FAULT_OTHER, "it asks which CTA was taken over, and none was");
    return;
  }
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    for (unsigned k = 0; k < TAKEN; k++) {
      if (q->at_slot[k] == EMU_NO_SLOT) continue;
      const uint32_t at = answer_word(r, q->answer_slot, l, k);
      memcpy(r + (size_t)q->at_slot[k] * EMU_SLOT_BYTES + l * sizeof at, &at, sizeof at);
    }
  }
}
