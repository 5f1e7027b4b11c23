/* emu/machine/mbarrier.c: mbarrier objects and the threads that wait for them.
 *
 * An object's 64 bits are opaque to kernels. Here (PTX ISA, contents of the mbarrier object):
 *   bits  0..19  pending arrivals of the current phase
 *   bits 20..39  arrivals expected in the next phase
 *   bits 40..60  tx-count, two's complement
 *   bit  61      parity of the current phase
 *   bits 62..63  VALID in an object, so that memory of zeros is none
 * The state that an arrival returns is the object before it.
 *
 * try_wait and test_wait never block: a thread whose phase is not complete is told so, and its warp gives its
 * turn away. A CTA whose warps all do nothing but test, while nothing changes, is stuck. */
#include "emu/machine/async.h"
#include "emu/machine/cluster.h"
#include "emu/machine/know.h"
#include "emu/machine/tmem.h"

#include <inttypes.h>

#define COUNT_MAX 0xfffffu /* 2^20 - 1: of arrivals and of bytes */
#define VALID UINT64_C(2)

enum {
  POLL_LIMIT = 64, /* asked so often in vain, with nothing done meanwhile: the warp is idle */
  POLL_LOOP = 64,  /* warp instructions of a loop that only asks */
};

typedef struct object {
  uint32_t pending, expected;
  int32_t tx;
  uint32_t parity;
} object;

static uint64_t pack(const object *o) {
  return o->pending | (uint64_t)o->expected << 20 | ((uint64_t)(uint32_t)o->tx & 0x1fffff) << 40 |
         (uint64_t)o->parity << 61 | VALID << 62;
}

static bool unpack(uint64_t word, object *o) {
  *o = (object){.pending = word & COUNT_MAX,
                .expected = word >> 20 & COUNT_MAX,
                .tx = (int32_t)((uint32_t)(word >> 40) << 11) >> 11,
                .parity = word >> 61 & 1};
  return word >> 62 == VALID;
}

/* ---- Addresses ---------------------------------------------------------------------------- */

bool emu_shared_offset(emu_warp *w, const emu_inst *i, const emu_pointer *p, const char *r, unsigned lane,
                       uint64_t *offset) {
  uint64_t at = emu_pointer_at(r, p, lane);
  if (p->space == EMU_GENERIC) {
    if ((at & ~(EMU_WINDOW_BYTES - 1)) != EMU_SHARED_BASE) {
      emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "0x%" PRIx64 " is no address in shared memory", at);
      return false;
    }
    at -= EMU_SHARED_BASE;
  }
  *offset = at;
  return true;
}

/* The object's bytes; NULL after a fault. */
static char *locate(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t offset, hd_access_kind kind) {
  uint64_t at[HD_WARP] = {0};
  emu_view v;
  at[lane] = offset;
  if (!emu_access(w, i, 1u << lane, at, 8, 8, kind, 0, HD_SPACE_SHARED, &v)) return NULL;
  return (char *)(uintptr_t)(offset + v.delta);
}

/* Races among the uses of an object are none, but each must be ordered behind its init. */
static bool knows_init(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t offset) {
  const uint32_t line = w->cta->order && !w->cta->cluster ? emu_unknown_init(w, lane, offset) : 0;
  if (line)
    emu_fault(w, i, 1u << lane, HD_FAULT_RACE,
              "race inside a CTA: a use of the mbarrier at shared offset 0x%" PRIx64
              " meets the mbarrier.init at line %u by another thread, with no barrier between them",
              offset, line);
  return !line;
}

static bool load(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t offset, const char *host,
                 object *o) {
  uint64_t word;
  memcpy(&word, host, sizeof word);
  if (unpack(word, o)) return knows_init(w, i, lane, offset);
  emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "there is no mbarrier at shared offset 0x%" PRIx64, offset);
  return false;
}

static void store(emu_warp *w, const emu_inst *i, uint64_t offset, char *host, const object *o) {
  const uint64_t word = pack(o);
  emu_cta *c = emu_owner_of(w, i, 0, &offset);
  if (!c) return;
  emu_quiet_write(c, host, sizeof word);
  memcpy(host, &word, sizeof word);
  c->async.changes++;
}

/* ---- Operations on one object ------------------------------------------------------------------ */

/* `offset` may be another CTA's of the cluster: it was located, so there is an owner. */
static void complete_if_due(emu_warp *w, const emu_inst *i, uint64_t offset, object *o) {
  emu_cta *c;
  if (o->pending || o->tx || !(c = emu_owner_of(w, i, 0, &offset))) return;
  o->parity ^= 1;
  o->pending = o->expected;
  emu_order_phase(c, offset);
  emu_bulk_landed(c, offset);
}

static bool add_tx(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t offset, object *o, int64_t bytes) {
  const int64_t tx = o->tx + bytes;
  if (tx < -(int64_t)COUNT_MAX || tx > (int64_t)COUNT_MAX) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER,
              "the mbarrier at shared offset 0x%" PRIx64 " would count %" PRId64
              " bytes of transactions: at most 2^20 - 1 are possible",
              offset, tx);
    return false;
  }
  o->tx = (int32_t)tx;
  return true;
}

static bool check_count(emu_warp *w, const emu_inst *i, unsigned lane, uint32_t count) {
  if (count >= 1 && count <= COUNT_MAX) return true;
  emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "a count of %u arrivals: 1 to 2^20 - 1 are possible", count);
  return false;
}

static bool arrive(emu_warp *w, const emu_inst *i, unsigned lane, const emu_mbarrier *b, uint64_t offset,
                   object *o, uint32_t count) {
  if (!check_count(w, i, lane, count)) return false;
  if (count > o->pending) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER,
              "%u arrivals at the mbarrier at shared offset 0x%" PRIx64 ", where %u of %u are pending", count,
              offset, o->pending, o->expected);
    return false;
  }
  o->pending -= count;
  if (b->op == EMU_MBARRIER_ARRIVE_DROP) {
    if (count > o->expected) {
      emu_fault(w, i, 1u << lane, HD_FAULT_OTHER,
                "the mbarrier at shared offset 0x%" PRIx64 " expects %u arrivals, not %u", offset,
                o->expected, count);
      return false;
    }
    o->expected -= count;
  }
  if (!b->completes && !o->pending && !o->tx) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER,
              "an arrival with .noComplete completes the phase of the mbarrier at shared offset 0x%" PRIx64,
              offset);
    return false;
  }
  complete_if_due(w, i, offset, o);
  return true;
}

/* cp.async.mbarrier.arrive: the thread's earlier copies are complete (emu_copy_hand_over), and the arrival
 * follows at once. */
static bool arrive_for_copies(emu_warp *w, const emu_inst *i, unsigned lane, const emu_mbarrier *b,
                              uint64_t offset, object *o) {
  if (b->increments && o->pending == COUNT_MAX) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER,
              "more than 2^20 - 1 arrivals pend at the mbarrier at shared offset 0x%" PRIx64, offset);
    return false;
  }
  o->pending += b->increments;
  return arrive(w, i, lane, b, offset, o, 1);
}

static bool apply(emu_warp *w, const emu_inst *i, unsigned lane, const emu_mbarrier *b, char *r,
                  uint64_t offset, char *host) {
  const uint32_t count = b->count_slot == EMU_NO_SLOT ? 1 : emu_lane_u32(r, b->count_slot, lane);
  object o;
  if (b->op == EMU_MBARRIER_INIT) {
    if (!check_count(w, i, lane, count)) return false;
    o = (object){.pending = count, .expected = count};
    store(w, i, offset, host, &o);
    emu_know_made(w, lane, offset, i->line, false);
    return true;
  }
  if (!load(w, i, lane, offset, host, &o)) return false;
  const uint64_t before = pack(&o);
  bool ok = true;
  switch (b->op) {
  case EMU_MBARRIER_INVAL:
    emu_quiet_write(w->cta, host, sizeof(uint64_t));
    memset(host, 0, sizeof(uint64_t));
    emu_know_made(w, lane, offset, i->line, true);
    w->cta->async.changes++;
    return true;
  case EMU_MBARRIER_EXPECT_TX:
  case EMU_MBARRIER_COMPLETE_TX:
    ok = add_tx(w, i, lane, offset, &o, b->op == EMU_MBARRIER_EXPECT_TX ? (int64_t)count : -(int64_t)count);
    if (ok) complete_if_due(w, i, offset, &o);
    break;
  case EMU_MBARRIER_COPIES: ok = arrive_for_copies(w, i, lane, b, offset, &o); break;
  default:
    ok = (!b->expects || add_tx(w, i, lane, offset, &o, count)) &&
         arrive(w, i, lane, b, offset, &o, b->expects ? 1 : count);
  }
  if (!ok) return false;
  store(w, i, offset, host, &o);
  if (b->state_slot != EMU_NO_SLOT)
    memcpy(r + (size_t)b->state_slot * EMU_SLOT_BYTES + (size_t)lane * 8, &before, sizeof before);
  return true;
}

bool emu_mbarrier_complete_tx(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t offset,
                              uint64_t bytes) {
  object o;
  char *host = locate(w, i, lane, offset, HD_ACCESS_ATOMIC);
  if (!host || !load(w, i, lane, offset, host, &o) || !add_tx(w, i, lane, offset, &o, -(int64_t)bytes))
    return false;
  emu_order_signal(w, 1u << lane, offset, false);
  emu_order_step(w);
  complete_if_due(w, i, offset, &o);
  store(w, i, offset, host, &o);
  return true;
}

char *emu_mbarrier_locate(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t offset) {
  return locate(w, i, lane, offset, HD_ACCESS_ATOMIC);
}

bool emu_mbarrier_commit(emu_mwarp *m, const emu_code *code, const emu_inst *i, unsigned lane,
                         uint64_t offset, char *host) {
  emu_warp *w = &m->w;
  object o;
  uint64_t word;
  memcpy(&word, host, sizeof word);
  const bool exists = unpack(word, &o);
  if (!exists || !o.pending) {
    emu_fault_at(m, code, i, 1u << lane, HD_FAULT_OTHER,
                 exists ? "no arrival is pending at the mbarrier at shared offset 0x%" PRIx64
                        : "there is no mbarrier at shared offset 0x%" PRIx64,
                 offset);
    return false;
  }
  o.pending--;
  if (w->cta->order) emu_order_signal(w, 1u << lane, offset, false);
  if (w->cta->order) emu_order_step(w);
  complete_if_due(w, i, offset, &o);
  store(w, i, offset, host, &o);
  return true;
}

/* ---- Waiting ------------------------------------------------------------------------------------------ */

/* Every warp that has not exited is at a barrier or asks in vain. Another CTA of its cluster may come to its
 * help: progress.c sees when none does. */
static bool all_idle(const emu_cta *c) {
  if (c->cluster) return false;
  for (uint32_t k = 0; k < c->n_warps; k++) {
    const emu_mwarp *m = &c->warps[k];
    if (!m->w.live || m->barrier >= 0) continue;
    if (m->polls < POLL_LIMIT || m->poll_changes != c->async.changes ||
        m->w.instructions - m->poll_instructions > POLL_LOOP)
      return false;
  }
  return true;
}

/* A lane of the warp learned that its phase is not complete. */
static void asked_in_vain(emu_mwarp *m, const emu_inst *i, unsigned lane, uint64_t offset, const object *o) {
  emu_cta *c = m->w.cta;
  const bool idle =
      m->poll_changes == c->async.changes && m->w.instructions - m->poll_instructions <= POLL_LOOP;
  m->polls = idle ? m->polls + 1 : 1;
  m->poll_changes = c->async.changes;
  m->poll_instructions = m->w.instructions;
  m->yielded = true;
  m->starving = m->w.n_fibers > 1;
  if (m->polls < POLL_LIMIT || !all_idle(c)) return;
  c->stuck = true;
  emu_fault(&m->w, i, 1u << lane, HD_FAULT_OTHER,
            "the mbarrier at shared offset 0x%" PRIx64
            " never completes its phase of parity %u: it waits for "
            "%u of %u arrivals and %d bytes of transactions, and no warp of the CTA can go on",
            offset, o->parity, o->pending, o->expected, o->tx);
}

uint32_t emu_lanes_as_first(uint32_t mask, const uint64_t offset[HD_WARP]) {
  const uint64_t first = offset[__builtin_ctz(mask)];
  uint32_t same = 0;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    same |= (uint32_t)(offset[l] == first) << l;
  }
  return same;
}

static void wait(emu_warp *w, const emu_inst *i, const emu_mbarrier *b, char *r, uint32_t mask) {
  uint32_t done = 0;
  unsigned waiting = HD_WARP;
  uint64_t waits_at = 0, at[HD_WARP];
  object waits_for = {0};
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    uint64_t offset;
    object o, state;
    if (!emu_shared_offset(w, i, &b->at, r, l, &offset)) return;
    const char *host = locate(w, i, l, offset, HD_ACCESS_LOAD);
    if (!host || !load(w, i, l, offset, host, &o)) return;
    uint32_t parity;
    if (b->parity) {
      parity = emu_lane_u32(r, b->count_slot, l) & 1;
    } else {
      if (!unpack(emu_lane_u64(r, b->count_slot, l), &state)) {
        emu_fault(w, i, 1u << l, HD_FAULT_OTHER, "0x%" PRIx64 " is no state of an mbarrier",
                  emu_lane_u64(r, b->count_slot, l));
        return;
      }
      parity = state.parity;
    }
    at[l] = offset;
    if (parity != o.parity) {
      done |= 1u << l;
    } else if (waiting == HD_WARP) {
      waiting = l;
      waits_at = offset;
      waits_for = o;
    }
  }
  for (uint32_t left = w->cta->order ? done : 0, same; left; left &= ~same) {
    same = emu_lanes_as_first(left, at);
    emu_order_wait(w, same, at[__builtin_ctz(left)], b->relaxed);
  }
  uint32_t p;
  char *dst = r + (size_t)b->dst_slot * EMU_SLOT_BYTES;
  memcpy(&p, dst, sizeof p);
  p = (p & ~mask) | done;
  memcpy(dst, &p, sizeof p);
  if (waiting < HD_WARP) asked_in_vain((emu_mwarp *)w, i, waiting, waits_at, &waits_for);
}

/* ---- Handlers ------------------------------------------------------------------------------------------ */

static bool arrives(emu_mbarrier_op op) {
  return op == EMU_MBARRIER_ARRIVE || op == EMU_MBARRIER_ARRIVE_DROP || op == EMU_MBARRIER_COPIES;
}

/* Lanes that arrive at one object together do so at one time. */
static bool signal_all(emu_warp *w, const emu_inst *i, const emu_mbarrier *b, const char *r, uint32_t mask) {
  uint64_t at[HD_WARP];
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    if (!emu_shared_offset(w, i, &b->at, r, l, &at[l])) return false;
  }
  if (b->op == EMU_MBARRIER_COPIES && !emu_copy_hand_over(w, mask, at)) return false;
  for (uint32_t left = w->cta->order ? mask : 0, same; left; left &= ~same) {
    same = emu_lanes_as_first(left, at);
    emu_order_signal(w, same, at[__builtin_ctz(left)], b->relaxed);
  }
  return true;
}

void emu_run_mbarrier(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  const emu_mbarrier *b = i->extra;
  if (b->op == EMU_MBARRIER_WAIT) {
    if (!emu_tmem_drain((emu_mwarp *)w)) return;
    wait(w, i, b, r, mask);
    return;
  }
  const bool plain = b->op == EMU_MBARRIER_INIT || b->op == EMU_MBARRIER_INVAL;
  const hd_access_kind kind = plain ? HD_ACCESS_STORE : HD_ACCESS_ATOMIC;
  const bool signals = arrives(b->op) && (w->cta->order || b->op == EMU_MBARRIER_COPIES);
  if (signals) emu_order_step(w);
  if (signals && !signal_all(w, i, b, r, mask)) return;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    uint64_t offset;
    char *host;
    if (!emu_shared_offset(w, i, &b->at, r, l, &offset) || !(host = locate(w, i, l, offset, kind)) ||
        !apply(w, i, l, b, r, offset, host))
      return;
  }
  if (signals) emu_order_step(w);
}

void emu_run_pending_count(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    const uint64_t state = emu_lane_u64(r, i->src[0], l);
    object o;
    if (!unpack(state, &o)) {
      emu_fault(w, i, 1u << l, HD_FAULT_OTHER, "0x%" PRIx64 " is no state of an mbarrier", state);
      return;
    }
    memcpy(r + (size_t)i->dst * EMU_SLOT_BYTES + (size_t)l * 4, &o.pending, sizeof o.pending);
  }
}
