/* emu/machine/remote.c: st.async and red.async: a register's bytes go to the shared memory of a CTA of the
 * cluster, and an mbarrier there counts them. They land as a bulk copy does. */
#include "emu/machine/async.h"
#include "emu/machine/cluster.h"

#include <inttypes.h>

static bool send(emu_warp *w, const emu_inst *i, const char *r, unsigned lane) {
  const emu_remote *x = i->extra;
  const unsigned bytes = x->n * x->bytes;
  char value[EMU_REMOTE_BYTES];
  uint64_t to, bar;
  if (!emu_shared_offset(w, i, &x->copy.dst, r, lane, &to) ||
      !emu_shared_offset(w, i, &x->copy.bar, r, lane, &bar))
    return false;
  if (to % bytes) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "its address is 0x%" PRIx64 ", no multiple of %u", to, bytes);
    return false;
  }
  for (unsigned k = 0; k < x->n; k++) {
    const uint64_t bits =
        x->bytes == 8 ? emu_lane_u64(r, x->slot[k], lane) : emu_lane_u32(r, x->slot[k], lane);
    memcpy(value + k * x->bytes, &bits, x->bytes);
  }
  emu_mover m;
  emu_mover_begin(&m, w, i, &x->copy, lane);
  m.bar = bar;
  m.given = value;
  const bool ok = emu_mover_fill(&m, to, bytes) && emu_mover_end(&m);
  ((emu_mwarp *)w)->issuer = 0;
  return ok && emu_mbarrier_complete_tx(w, i, lane, bar, bytes);
}

void emu_run_remote(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  for (uint32_t left = mask; left; left &= left - 1)
    if (!send(w, i, r, (unsigned)__builtin_ctz(left))) return;
}
