/* emu/machine/progress.c: detects CTAs that run for long without progress.
 *
 * Watching costs, so it is done in windows, ever longer and ever further apart. In a window every fiber that
 * can run runs one instruction in turn, and every change of global and shared memory is noticed, by comparing
 * the bytes after the instruction with those before.
 *
 * The proof. Let memory be unchanged while a warp goes from one state (registers, local memory, places and
 * masks of its fibers) to the same state. Its next steps depend on nothing else, so it repeats this until
 * memory changes. When all warps that do not wait at a barrier are in such loops, memory unchanged all the
 * while, none of them ever changes it, and none reaches a barrier: only a CTA that is not resident could, and
 * none starts before one of these ends. The schedule does not matter, for no warp has written what another
 * one reads. States are compared by a hash of 64 bits, by Brent's method: against one that is replaced after
 * 4, 8, 16, ... steps.
 *
 * Loops that change memory and change it back make no progress, either (`while (add(c, 1) < n) sub(c, 1)`).
 * If the whole machine, memory and barriers included, comes back to a state, it does so for ever in this
 * order of turns. Another order may lead out, so this must happen in many windows, whose orders differ, one
 * after the other, with very many instructions in between, and no CTA may have started or ended.
 *
 * No proof is possible where a loop counts, or reads a clock, to give up or to wait longer. Such loops have
 * made no progress when very many instructions ran, and in each window each warp read the same addresses over
 * and over, and either nothing was stored (counted always) or memory went through the same few states. Loops
 * that read by atomics or past the caches wait for others: of them fewer instructions are enough. */
#include "emu/machine/progress.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
  FIRST_GAP = 128,    /* rounds */
  FIRST_LENGTH = 256, /* instructions of a fiber */
  MOST_LENGTH = 1 << 16,
  ENOUGH_CHANGES = 16,           /* end a window: there is progress */
  ENOUGH_FRESH = EMU_STATES / 4, /* so do changes of memory to states not seen before */
  ENOUGH_REST = 16,              /* steps of a warp without a change, before it is compared */
  ENOUGH_CYCLES = 8,             /* windows */
  CYCLE_SHARE = 64,              /* of the quiet instructions must have run in and between these */
  POLL_SHARE = 64,               /* of them for each warp is enough where all warps poll */
  MOST_PENDING = 512, /* pieces of memory that one instruction may write: more are taken for a change */
};
#define MOST_GAP (UINT64_C(1) << 20)

/* ---- Changes of memory ------------------------------------------------------------------------- */

struct emu_written {
  const char *at;
  unsigned bytes;
  char was[32];
};

/* May an atomic instruction whose lanes act on the same bytes one after the other change them and change them
 * back? Others may see the bytes in between. */
static bool changes_back(const emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[HD_WARP],
                         unsigned bytes) {
  const char *r = w->current->frame->regs;
  const unsigned lead = (unsigned)__builtin_ctz(mask);
  bool shared = false;
  for (uint32_t a = mask; !shared && a; a &= a - 1)
    for (uint32_t b = a & (a - 1); !shared && b; b &= b - 1)
      shared = addr[__builtin_ctz(a)] == addr[__builtin_ctz(b)];
  if (!shared) return false;
  if (i->extra || bytes > 8) return true; /* a vector, a copy */
  const emu_atom_op op = (emu_atom_op)i->mem.atom;
  if (op == EMU_ATOM_AND || op == EMU_ATOM_OR || op == EMU_ATOM_MIN || op == EMU_ATOM_MAX) return false;
  const bool counts = op != EMU_ATOM_EXCH && op != EMU_ATOM_CAS;
  for (uint32_t left = mask; left; left &= left - 1)
    for (unsigned k = 1; k <= 1u + (op == EMU_ATOM_CAS); k++) {
      const unsigned l = (unsigned)__builtin_ctz(left);
      const uint64_t mine = bytes == 8 ? emu_lane_u64(r, i->src[k], l) : emu_lane_u32(r, i->src[k], l);
      const uint64_t first = bytes == 8 ? emu_lane_u64(r, i->src[k], lead) : emu_lane_u32(r, i->src[k], lead);
      if (mine != first || (counts && mine)) return true;
    }
  return false;
}

/* An instruction is about to write: keep the bytes, to see afterwards whether they changed. */
static void note_write(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[HD_WARP],
                       unsigned bytes, hd_access_kind kind, uint64_t delta) {
  emu_quiet *q = w->cta->quiet;
  if (kind == HD_ACCESS_ATOMIC && changes_back(w, i, mask, addr, bytes)) q->changes++;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    emu_quiet_write(w->cta, (const char *)(uintptr_t)(addr[l] + delta), bytes);
  }
}

void emu_quiet_write(emu_cta *c, const char *at, unsigned bytes) {
  emu_quiet *q = c->quiet;
  if (!q) return;
  for (uint32_t k = 0; k < q->n; k++) /* another lane wrote there */
    if (q->written[k].at == at && q->written[k].bytes == bytes) return;
  if (q->n == MOST_PENDING || bytes > sizeof q->written->was) {
    emu_quiet_changed(c);
    return;
  }
  struct emu_written *p = &q->written[q->n++];
  p->at = at;
  p->bytes = bytes;
  memcpy(p->was, at, bytes);
}

void emu_quiet_access(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[HD_WARP],
                      unsigned bytes, hd_access_kind kind, hd_space space, uint64_t delta) {
  emu_quiet *q = w->cta->quiet;
  emu_spin *s = &((emu_mwarp *)w)->spin;
  s->reads |= kind != HD_ACCESS_STORE;
  s->polls |= kind == HD_ACCESS_ATOMIC || (kind == HD_ACCESS_LOAD && i->mem.strong != EMU_WEAK);
  if (kind != HD_ACCESS_STORE || !s->window.inst) {
    s->window.inst = i;
    s->window.code = w->current->frame->code;
    s->window.lanes = mask;
    s->window.address = addr[__builtin_ctz(mask)];
  }
  if (kind != HD_ACCESS_STORE || !s->inst) {
    s->inst = i;
    s->code = w->current->frame->code;
    s->lanes = mask;
    s->address = addr[__builtin_ctz(mask)];
  }
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    if (!q->settling) s->roams |= addr[l] < s->least || addr[l] > s->greatest;
    if (q->settling && addr[l] < s->least) s->least = addr[l];
    if (q->settling && addr[l] > s->greatest) s->greatest = addr[l];
  }
  if (kind != HD_ACCESS_LOAD) note_write(w, i, mask, addr, bytes, kind, delta);
}

static uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
  return h ^ h >> 29;
}

/* What a byte of memory adds to the hash of all of them. */
static uint64_t byte_hash(const char *at, char v) { return mix(mix(1, (uintptr_t)at), (uint8_t)v); }

/* After an instruction: did bytes that it may have written change? */
static void settle(emu_quiet *q) {
  bool changed = false;
  for (uint32_t k = 0; k < q->n; k++) {
    const struct emu_written *p = &q->written[k];
    if (memcmp(p->at, p->was, p->bytes) == 0) continue;
    q->changes++;
    changed = true;
    for (unsigned b = 0; b < p->bytes; b++)
      q->memory += byte_hash(p->at + b, p->at[b]) - byte_hash(p->at + b, p->was[b]);
  }
  q->n = 0;
  if (!changed) return;
  uint64_t *seen = &q->seen[mix(0, q->memory) % EMU_STATES];
  if (*seen == q->memory) return;
  *seen = q->memory;
  q->fresh++;
  q->late += !q->settling;
}

/* ---- States of a warp ----------------------------------------------------------------------------- */

static uint64_t mix_bytes(uint64_t h, const char *p, size_t n) {
  uint64_t lane[4] = {h, ~h, h << 1, h >> 1};
  for (; n >= sizeof lane; n -= sizeof lane, p += sizeof lane)
    for (unsigned k = 0; k < 4; k++) {
      uint64_t v;
      memcpy(&v, p + (size_t)k * 8, sizeof v);
      lane[k] = mix(lane[k], v);
    }
  for (unsigned k = 0; k < 4; k++) h = mix(h, lane[k]);
  for (; n; n--) h = mix(h, (uint8_t)*p++);
  return h;
}

/* A hash of where the threads are, which does not depend on the fibers' order. */
static uint64_t places(const emu_mwarp *m) {
  uint64_t sum = 0;
  for (uint32_t k = 0; k < m->w.n_fibers; k++) {
    const emu_fiber *f = &m->w.fibers[k];
    sum += mix(mix((uint64_t)f->pc << 32 | f->mask, (uint64_t)f->frame->depth << 8 | f->waiting),
               (uintptr_t)f->frame->code);
  }
  return sum;
}

static uint64_t registers(const emu_frame *f) {
  uint64_t h = 1;
  for (; f; f = f->caller) {
    const size_t init = (size_t)f->code->n_init * EMU_SLOT_BYTES;
    h = mix(mix(h, (uintptr_t)f->code), f->return_pc);
    h = mix_bytes(h, f->regs + init, (size_t)f->code->n_slots * EMU_SLOT_BYTES - init);
  }
  return h;
}

static uint64_t state_of(const emu_mwarp *m) {
  const emu_warp *w = &m->w;
  const uint64_t stack = w->cta->grid->stack_bytes;
  uint64_t sum = 0, used = 0;
  for (uint32_t k = 0; k < w->n_fibers; k++) {
    const emu_fiber *f = &w->fibers[k];
    const uint64_t end = f->frame->local_base + emu_local_bytes(f->frame->code);
    if (end > used) used = end;
    sum += mix(registers(f->frame), (uint64_t)f->pc << 32 | f->mask);
  }
  for (unsigned l = 0; used && l < HD_WARP; l++) sum = mix_bytes(sum, m->local + l * stack, used);
  return sum;
}

static void remember(emu_spin *s, const emu_mwarp *m, uint64_t place) {
  s->steps = 0;
  s->place = place;
  s->state = state_of(m);
  s->first_line = UINT32_MAX;
  s->last_line = 0;
  s->inst = NULL;
}

/* The warp ran: is it where it was? While memory changes now and then no state is kept: hashes are most of
 * what a window costs. */
static void compare(emu_mwarp *m, uint64_t changes) {
  emu_spin *s = &m->spin;
  if (s->changes != changes) {
    s->changes = changes;
    s->repeats = false;
    s->power = s->steps = 0;
    return;
  }
  if (!s->power && ++s->steps < ENOUGH_REST) return;
  const uint64_t place = places(m);
  if (!s->power) {
    s->power = 4;
    remember(s, m, place);
  } else if (place == s->place && state_of(m) == s->state) {
    s->repeats = true;
  } else if (++s->steps == s->power) {
    s->power *= 2;
    remember(s, m, place);
  }
}

/* ---- Windows ---------------------------------------------------------------------------------------- */

void emu_progress_begin(emu_progress *p) {
  *p = (emu_progress){.gap = FIRST_GAP, .length = FIRST_LENGTH, .quiet = UINT64_MAX};
}
void emu_progress_again(emu_progress *p) {
  p->rounds = 0;
  p->gap = 1;
  p->length = FIRST_LENGTH;
  p->quiet = UINT64_MAX;
  p->cycles = 0;
  p->again = true;
}
/* Stores are counted always; what changes, by them or by atomics, shows in windows only. */
bool emu_progress_moved(emu_progress *p, emu_verdict v) {
  const bool still = v == EMU_DEADLOCK ? p->again && p->watch.changes == 1 : p->stores == p->told;
  p->told = p->stores;
  return !still;
}
void emu_progress_end(emu_progress *p) {
  free(p->watch.written);
  p->watch.written = NULL;
}

static void open_window(emu_quiet *q, hd_emu_cta *const *ctas, size_t n) {
  q->changes = 1;
  q->others = q->memory = q->fresh = q->late = 0;
  q->n = 0;
  memset(q->seen, 0, sizeof q->seen);
  for (size_t k = 0; k < n; k++) {
    ctas[k]->quiet = q;
    ctas[k]->watch |= EMU_WATCH_QUIET;
    for (uint32_t w = 0; w < ctas[k]->n_warps; w++)
      ctas[k]->warps[w].spin =
          (emu_spin){.least = UINT64_MAX, .first_line = UINT32_MAX, .window.first_line = UINT32_MAX};
  }
}

static void close_window(hd_emu_cta *const *ctas, size_t n) {
  for (size_t k = 0; k < n; k++) {
    ctas[k]->quiet = NULL;
    ctas[k]->watch &= ~(unsigned)EMU_WATCH_QUIET;
  }
}

typedef enum outcome { ALL_REPEAT, SOME_DO_NOT, OVER } outcome;

static outcome step_cta(emu_progress *p, hd_emu_cta *c) {
  emu_quiet *q = &p->watch;
  outcome all = ALL_REPEAT;
  const uint64_t clock = c->clock;
  for (uint32_t w = 0; w < c->n_warps; w++) {
    emu_mwarp *m = &c->warps[w];
    if (!m->w.live || m->barrier >= 0) continue;
    if (m->spin.repeats && m->spin.changes == q->changes) continue;
    all = SOME_DO_NOT;
    emu_warp_each(m);
    settle(q);
    if (emu_cta_over(c) || !c->live_warps) return OVER;
    if (m->w.live && m->barrier < 0) compare(m, q->changes);
  }
  p->clock += c->clock - clock;
  return all;
}

/* Every fiber of every warp runs an instruction, or two, in an order that differs from window to window. */
static outcome step_all(emu_progress *p, hd_emu_cta *const *ctas, size_t n) {
  const bool backward = p->cycles & 1, twice = p->cycles % 3 == 2;
  outcome all = ALL_REPEAT;
  for (size_t k = 0; k < n; k++) {
    const size_t at = backward ? n - 1 - k : k;
    for (unsigned turn = 0; turn < 1u + (twice && at & 1); turn++) {
      const outcome one = step_cta(p, ctas[at]);
      if (one == OVER) return OVER;
      if (one == SOME_DO_NOT) all = SOME_DO_NOT;
    }
  }
  return all;
}

/* ---- Cycles of the machine ---------------------------------------------------------------------------- */

/* A state in the past, and when it is replaced; by Brent's method. */
typedef struct cycle {
  uint64_t places, state, others;
  uint32_t power, steps;
} cycle;

static uint64_t all_places(const emu_quiet *q, hd_emu_cta *const *ctas, size_t n) {
  uint64_t h = q->memory;
  for (size_t k = 0; k < n; k++)
    for (uint32_t w = 0; w < ctas[k]->n_warps; w++) {
      const emu_mwarp *m = &ctas[k]->warps[w];
      h = mix(h, places(m) + (uint32_t)m->barrier);
    }
  return h;
}

static uint64_t all_states(hd_emu_cta *const *ctas, size_t n) {
  uint64_t h = 0;
  for (size_t k = 0; k < n; k++) {
    const hd_emu_cta *c = ctas[k];
    for (uint32_t w = 0; w < c->n_warps; w++) h = mix(h, state_of(&c->warps[w]));
    for (unsigned b = 0; b < EMU_BARRIERS; b++)
      h = mix(mix(h, (uint64_t)c->barriers[b].arrived << 32 | c->barriers[b].popc), c->barriers[b].threads);
  }
  return h;
}

/* Has the machine come back to a state? */
static bool comes_back(cycle *s, const emu_quiet *q, hd_emu_cta *const *ctas, size_t n) {
  const uint64_t where = all_places(q, ctas, n);
  if (s->power && s->others == q->others && where == s->places && all_states(ctas, n) == s->state)
    return true;
  if (s->power && ++s->steps < s->power) return false;
  *s = (cycle){where, all_states(ctas, n), q->others, s->power ? 2 * s->power : 4, 0};
  return false;
}

/* In this window, did every warp that can run read the same addresses again and again, and no more? *polls:
 * how many did by atomics or past the caches; 0: not all did. */
static bool all_wait(hd_emu_cta *const *ctas, size_t n, uint64_t *polls) {
  bool all = true;
  *polls = 0;
  for (size_t k = 0; k < n; k++)
    for (uint32_t w = 0; w < ctas[k]->n_warps; w++) {
      const emu_mwarp *m = &ctas[k]->warps[w];
      if (!m->w.live || m->barrier >= 0) continue;
      if (!m->spin.reads || m->spin.roams) return false;
      all &= m->spin.polls;
      ++*polls;
    }
  if (!all) *polls = 0;
  return true;
}

static uint64_t all_stores(hd_emu_cta *const *ctas, size_t n) {
  uint64_t stores = 0;
  for (size_t k = 0; k < n; k++) stores += ctas[k]->stores;
  return stores;
}

/* What the windows up to this one say, in which the machine came back to a state, or did not. */
static emu_verdict judge(emu_progress *p, hd_emu_cta *const *ctas, size_t n, outcome all, bool back) {
  const emu_quiet *q = &p->watch;
  const uint64_t stores = all_stores(ctas, n), most = ctas[0]->emu->opt.quiet_instructions;
  uint64_t polls = 0;
  const bool still = (stores == p->stores && q->changes == 1) || (q->fresh && !q->late && !q->others);
  const bool same = still && all != OVER && all_wait(ctas, n, &polls);
  p->stores = stores;
  if (all == ALL_REPEAT) return EMU_DEADLOCK;
  p->again = false;
  if (!back)
    p->cycles = 0;
  else if (!p->cycles++)
    p->cycling = p->clock;
  if (p->cycles >= ENOUGH_CYCLES && p->clock - p->cycling >= most / CYCLE_SHARE) return EMU_LIVELOCK;
  if (!same)
    p->quiet = UINT64_MAX;
  else if (p->quiet == UINT64_MAX)
    p->quiet = p->clock;
  const uint64_t enough = polls && polls < POLL_SHARE ? most / POLL_SHARE * polls : most;
  if (!back && p->quiet != UINT64_MAX && p->clock - p->quiet >= enough) return EMU_NO_PROGRESS;
  return EMU_GOES_ON;
}

emu_verdict emu_progress_watch(emu_progress *p, hd_emu_cta *const *ctas, size_t n) {
  emu_quiet *q = &p->watch;
  p->rounds = 0;
  p->gap = p->gap < MOST_GAP ? 2 * p->gap : p->gap;
  if (!n || (!q->written && !(q->written = calloc(MOST_PENDING, sizeof *q->written)))) return EMU_GOES_ON;
  open_window(q, ctas, n);
  outcome all = SOME_DO_NOT;
  bool back = false;
  cycle past = {0};
  for (uint32_t k = 0; all == SOME_DO_NOT && !back && k < p->length && q->fresh <= ENOUGH_FRESH &&
                       q->others <= ENOUGH_CHANGES;
       k++) {
    q->settling = k < p->length / 2;
    all = step_all(p, ctas, n);
    /* While nothing changes, warps are compared one by one. */
    back = all == SOME_DO_NOT && q->changes > 1 && comes_back(&past, q, ctas, n);
  }
  close_window(ctas, n);
  if (q->fresh <= ENOUGH_FRESH && q->others <= ENOUGH_CHANGES && p->length < MOST_LENGTH) p->length *= 2;
  return judge(p, ctas, n, all, back);
}

/* ---- Reports ------------------------------------------------------------------------------------------ */

/* All warps wait at barriers, of which none is complete: that is only seen here where one is a cluster's. */
static void report_barrier(hd_emu_cta *const *ctas, size_t n) {
  for (size_t k = 0; k < n; k++)
    for (uint32_t w = 0; w < ctas[k]->n_warps; w++) {
      emu_mwarp *m = &ctas[k]->warps[w];
      if (!m->w.live || m->barrier != EMU_CLUSTER_BARRIER) continue;
      const emu_fiber *f = &m->w.fibers[0];
      emu_fault_at(m, f->frame->code, &f->frame->code->insts[f->pc], f->mask, HD_FAULT_HANG,
                   "deadlock: the barrier of the cluster is never complete, because threads that have not "
                   "arrived wait elsewhere");
      return;
    }
}

void emu_progress_fault(const emu_progress *p, emu_verdict v, hd_emu_cta *const *ctas, size_t n,
                        uint64_t waiting, const char *dispatcher) {
  emu_mwarp *m = NULL;
  for (uint32_t w = 0; !m && w < ctas[0]->n_warps; w++)
    if (ctas[0]->warps[w].w.live && ctas[0]->warps[w].barrier < 0) m = &ctas[0]->warps[w];
  if (!m) {
    report_barrier(ctas, n);
    return;
  }
  const emu_spin *s = &m->spin;
  const emu_fiber *f = &m->w.fibers[0];
  char others[160];
  snprintf(others, sizeof others, "resident CTAs: %zu, not started: %" PRIu64 ", dispatcher %s", n, waiting,
           dispatcher);
  if (v == EMU_LIVELOCK && s->window.inst) {
    emu_fault_at(m, s->window.code, s->window.inst, s->window.lanes, HD_FAULT_HANG,
                 "livelock: the loop at lines %u to %u changes memory and changes it back for ever, and "
                 "waits for another "
                 "value at 0x%" PRIx64 "; %s",
                 s->window.first_line, s->window.last_line, s->window.address, others);
    return;
  }
  const bool whole = v == EMU_NO_PROGRESS && s->window.inst;
  const emu_code *code = whole ? s->window.code : s->inst ? s->code : f->frame->code;
  const emu_inst *i = whole ? s->window.inst : s->inst ? s->inst : &code->insts[f->pc];
  const uint32_t lanes = whole ? s->window.lanes : s->inst ? s->lanes : f->mask;
  char what[96] = "any memory";
  if (whole || s->inst)
    snprintf(what, sizeof what, "the memory that it reads, at 0x%" PRIx64,
             whole ? s->window.address : s->address);
  if (v == EMU_DEADLOCK)
    emu_fault_at(
        m, code, i, lanes, HD_FAULT_HANG,
        "deadlock: the loop at lines %u to %u never ends, because no warp can change %s any more; %s",
        s->first_line, s->last_line, s->inst ? what : "the memory that it reads", others);
  else
    emu_fault_at(m, code, i, lanes, HD_FAULT_HANG,
                 "no progress: the loop at lines %u to %u waits for a change of %s, and in %" PRIu64
                 " warp instructions memory has come to no other state; %s",
                 s->window.first_line, s->window.last_line, what, p->clock - p->quiet, others);
}
