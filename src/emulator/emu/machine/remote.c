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

/* ---- st.bulk ------------------------------------------------------------------------------------- */

enum { FILL_UNIT = 8 }; /* bytes of an access's lane; the address and the size are multiples of it */

static bool fill(emu_warp *w, const emu_inst *i, const char *r, unsigned lane) {
  static const char zeros[HD_WARP * FILL_UNIT];
  const emu_fill *x = i->extra;
  emu_mwarp *m = (emu_mwarp *)w;
  const uint64_t size = emu_lane_u64(r, x->size_slot, lane);
  uint64_t at;
  if (!emu_shared_offset(w, i, &x->at, r, lane, &at)) return false;
  if ((at | size) % FILL_UNIT) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER,
              "its offset is 0x%" PRIx64 " and its size %" PRIu64 ", not both multiples of %d", at, size,
              FILL_UNIT);
    return false;
  }
  for (uint64_t done = 0; done < size;) {
    uint64_t to[HD_WARP];
    emu_view v;
    const uint64_t left = (size - done) / FILL_UNIT;
    const unsigned n = left < HD_WARP ? (unsigned)left : HD_WARP;
    /* Lanes that take no part must not look like far addresses to a trace. */
    for (unsigned k = 0; k < HD_WARP; k++) to[k] = at + done + (k < n ? k : 0) * FILL_UNIT;
    m->issuer = 1 + lane;
    w->storing = zeros;
    const bool ok = emu_access(w, i, n == HD_WARP ? UINT32_MAX : (1u << n) - 1, to, FILL_UNIT, FILL_UNIT,
                               HD_ACCESS_STORE, 0, HD_SPACE_SHARED, &v);
    w->storing = NULL;
    m->issuer = 0;
    if (!ok) return false;
    for (unsigned k = 0; k < n; k++) memset((char *)(uintptr_t)(to[k] + v.delta), 0, FILL_UNIT);
    done += n * FILL_UNIT;
  }
  return true;
}

void emu_run_fill(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  for (uint32_t left = mask; left; left &= left - 1)
    if (!fill(w, i, r, (unsigned)__builtin_ctz(left))) return;
}
