/* emu/machine/warp.c: fibers, and the loop that runs them.
 *
 * Which fiber runs: the one in the deepest frame; in one frame, the one at the lowest pc.
 * Compilers lay code out so that a branch's sides meet further down, so the laggard catches up with the
 * others, and fibers that meet at one place become one again.
 *
 * Which fiber runs when that one spins: threads of a warp make progress independently, so a thread may
 * wait for another one of its warp. A fiber that took many backward branches while others could have run
 * is starving them; the one that has not run for longest then gets a slice. A loop that reads what others
 * may write (atomics, loads past the caches) is suspected early, any other one late: it is most likely
 * a loop that some threads leave earlier, where waiting for the last one is what brings them together.
 *
 * How far a warp runs: in a launch to its end, warps that start together, or leave a barrier together, each
 * have a turn up to their first store before one goes on. On a GPU, too, all of them have loaded what they
 * need before the results of one are there, and programs that lack a barrier rely on that unawares. */
#include "emu/machine/cluster.h"
#include "emu/machine/tmem.h"

enum {
  SPIN_LIMIT = 1 << 16,          /* in backward branches */
  SPIN_SYNCED = SPIN_LIMIT / 32, /* the weight of a turn in a loop that may wait for others */
  SLICE = 128,                   /* warp instructions of a starved fiber */
};

/* ---- Fibers ------------------------------------------------------------------ */

emu_fiber *emu_split_fiber(emu_warp *w, emu_fiber *f, uint32_t lanes, uint32_t pc) {
  emu_fiber *n = &w->fibers[w->n_fibers++];
  *n = (emu_fiber){.frame = f->frame, .pc = pc, .mask = lanes, .turn = f->turn};
  n->frame->refs++;
  f->mask &= ~lanes;
  return n;
}

static void remove_fiber(emu_mwarp *m, uint32_t k) {
  emu_frame_drop(m, m->w.fibers[k].frame);
  m->w.fibers[k] = m->w.fibers[--m->w.n_fibers];
}

/* Should a run rather than b? */
static bool before(const emu_fiber *a, const emu_fiber *b) {
  if (a->frame == b->frame) return a->pc < b->pc;
  return a->frame->depth > b->frame->depth;
}

/* Join ready fibers at one place. */
static void merge(emu_mwarp *m) {
  emu_warp *w = &m->w;
  for (uint32_t a = 0; a + 1 < w->n_fibers; a++) {
    if (w->fibers[a].waiting) continue;
    for (uint32_t b = w->n_fibers - 1; b > a; b--)
      if (!w->fibers[b].waiting && w->fibers[b].frame == w->fibers[a].frame &&
          w->fibers[b].pc == w->fibers[a].pc) {
        w->fibers[a].mask |= w->fibers[b].mask;
        m->spins = 0;
        remove_fiber(m, b);
      }
  }
}

static emu_fiber *pick(emu_mwarp *m) {
  emu_warp *w = &m->w;
  if (w->n_fibers == 1) return w->fibers[0].waiting ? NULL : &w->fibers[0];
  merge(m);
  emu_fiber *best = NULL;
  for (uint32_t k = 0; k < w->n_fibers; k++)
    if (!w->fibers[k].waiting && (!best || before(&w->fibers[k], best))) best = &w->fibers[k];
  return best;
}

/* The ready fiber that has not run for longest; NULL when the current one is alone. */
static emu_fiber *pick_starved(emu_mwarp *m) {
  emu_warp *w = &m->w;
  merge(m);
  emu_fiber *best = NULL;
  uint32_t ready = 0;
  for (uint32_t k = 0; k < w->n_fibers; k++) {
    emu_fiber *f = &w->fibers[k];
    if (f->waiting) continue;
    ready++;
    if (!best || (int32_t)(f->turn - best->turn) < 0) best = f;
  }
  return ready > 1 ? best : NULL;
}

/* ---- Threads that leave ---------------------------------------------------------- */

static void exit_threads(emu_mwarp *m, emu_fiber *f) {
  emu_warp *w = &m->w;
  emu_cta *c = w->cta;
  w->live &= ~f->mask;
  remove_fiber(m, (uint32_t)(f - w->fibers));
  if (w->live) {
    emu_cluster_exited(c);
    return;
  }
  c->live_warps--;
  emu_order_exit(c, w->index);
  c->live_mask &= ~(1u << w->index);
  if (!c->live_warps) emu_wgmma_cta_over(m);
  if (!c->live_warps && c->tmem) emu_tmem_cta_over(m);
  emu_barrier_warp_exited(c);
  emu_cluster_exited(c);
}

static const emu_inst *at(const emu_fiber *f) { return &f->frame->code->insts[f->pc]; }

/* ---- The run loop ---------------------------------------------------------------------- */

/* Where f, at pc, meets another ready fiber of its frame if it goes straight on; UINT32_MAX: nowhere.
 * *yield_to_other: that one should run first. */
static uint32_t meeting_pc(const emu_warp *w, emu_fiber *f, uint32_t pc, bool *yield_to_other) {
  uint32_t meet_at = UINT32_MAX;
  f->pc = pc;
  for (uint32_t k = 0; k < w->n_fibers; k++) {
    const emu_fiber *g = &w->fibers[k];
    if (g == f || g->waiting) continue;
    if (before(g, f)) *yield_to_other = true;
    if (g->frame == f->frame && g->pc >= pc && g->pc < meet_at) meet_at = g->pc;
  }
  return meet_at;
}

/* By sums of bits, pairs and so on: processors of the portable build may lack an instruction for it, and its
 * replacement is a call. */
static inline unsigned lanes_in(uint32_t mask) {
  if (mask == UINT32_MAX) return HD_WARP;
  uint32_t n = mask - (mask >> 1 & 0x55555555u);
  n = (n & 0x33333333u) + (n >> 2 & 0x33333333u);
  n = (n + (n >> 4)) & 0x0f0f0f0fu;
  return n * 0x01010101u >> 24;
}

/* Count a backward branch; true when others should get a turn. */
static inline bool spins_too_long(emu_mwarp *m) {
  m->spins += m->synced ? SPIN_SYNCED : 1;
  m->synced = false;
  if (m->spins < SPIN_LIMIT) return false;
  m->spins = 0;
  m->starving = true;
  return true;
}

static uint32_t brx_target(const emu_mwarp *m, emu_fiber *f, const emu_inst *i) {
  emu_warp *w = (emu_warp *)(uintptr_t)&m->w;
  const emu_targets *t = i->extra;
  const char *r = f->frame->regs;
  const unsigned lead = (unsigned)__builtin_ctz(f->mask);
  const uint32_t index = emu_lane_u32(r, i->src[0], lead);
  if (index >= t->n) {
    emu_fault(w, i, f->mask, HD_FAULT_OTHER, "branch index %u of %u targets", index, t->n);
    return 0;
  }
  uint32_t others = 0;
  for (unsigned l = 0; l < HD_WARP; l++) others |= (uint32_t)(emu_lane_u32(r, i->src[0], l) != index) << l;
  if (others & f->mask) emu_split_fiber(w, f, others & f->mask, f->pc);
  return t->target[index];
}

/* How many instructions f may run from its pc, up to a place where it might meet others; 0: others first. */
static uint64_t room(const emu_warp *w, emu_fiber *f, uint64_t budget, bool pinned) {
  uint64_t n = f->frame->code->n_insts - f->pc;
  if (w->n_fibers > 1) {
    bool yield_to_other = false;
    const uint32_t meet_at = meeting_pc(w, f, f->pc, &yield_to_other);
    if (meet_at == f->pc || (yield_to_other && !pinned)) return 0;
    if (meet_at != UINT32_MAX) n = meet_at - f->pc;
  }
  return n < budget ? n : budget;
}

/* How many of the next `most` instructions come before a store; 0 ends the warp's turn. */
static uint64_t up_to_store(emu_mwarp *m, const emu_fiber *f, uint64_t most) {
  const uint32_t *next = f->frame->code->next_store, store = next ? next[f->pc] : UINT32_MAX;
  if (store - f->pc >= most) return most;
  m->to_store = store != f->pc;
  m->yielded |= !m->to_store;
  return store - f->pc;
}

/* Run plain instructions from i on, up to m->stop or another kind. Returns the one behind the last.
 * *masked: how many lanes guards kept from running one, in sum. */
static inline const emu_inst *run_plain(emu_mwarp *m, const emu_inst *i, char *r, uint32_t mask,
                                        uint64_t *masked) {
  uint64_t off = 0;
  while (i < m->stop) {
    uint16_t special;
    memcpy(&special, &i->control, sizeof special);
    if (__builtin_expect(special == 0, 1)) {
      i->fn(&m->w, i, r, mask);
    } else {
      if (i->control != EMU_PLAIN) break;
      uint32_t active = emu_guard(i, r, mask);
      off += active == mask ? 0 : lanes_in(mask & ~active);
      if (active) i->fn(&m->w, i, r, active);
    }
    i++;
  }
  *masked = off;
  return i;
}

/* The lanes `active` of f take branch i. True: f may go on. */
static inline bool branch(emu_mwarp *m, emu_fiber *f, const emu_inst *i, uint32_t active) {
  const uint32_t pc = f->pc;
  if (active == f->mask) {
    f->pc = i->target;
  } else {
    f->pc = pc + 1;
    if (active) emu_split_fiber(&m->w, f, active, i->target);
  }
  return !active || i->target > pc || !spins_too_long(m);
}

/* f, all its lanes active, is at control instruction i, which is no branch. True: f may go on; otherwise it
 * may be gone. *threads: its lanes are counted already; those that come here again are taken off. */
static bool control(emu_mwarp *m, emu_fiber *f, const emu_inst *i, uint64_t *threads) {
  emu_warp *w = &m->w;
  const uint32_t pc = f->pc, active = f->mask;
  bool go_on = false;
  switch ((emu_control)i->control) {
  case EMU_BRX:
    f->pc = brx_target(m, f, i);
    go_on = f->pc > pc || !spins_too_long(m);
    break;
  case EMU_CALL: go_on = emu_call_enter(m, f, i); break;
  case EMU_RET:
    if (f->frame->caller) {
      emu_call_leave(m, f);
      return true;
    }
    exit_threads(m, f);
    return false;
  case EMU_EXIT: exit_threads(m, f); return false;
  case EMU_BAR: emu_barrier_meet(m, f, i); break;
  case EMU_CLUSTER_BAR: go_on = emu_cluster_barrier(m, f, i); break;
  case EMU_GATHER: go_on = emu_gather_meet(m, f, i); break;
  case EMU_TRAP: emu_fault(w, i, f->mask, HD_FAULT_TRAP, "trap"); break;
  case EMU_YIELD:
    f->pc = pc + 1;
    m->yielded = true;
    m->starving = w->n_fibers > 1;
    break;
  case EMU_POLL:
    i->fn(w, i, f->frame->regs, f->mask);
    f->pc = pc + 1;
    go_on = !m->yielded;
    break;
  case EMU_PLAIN:
  case EMU_BRA:
  case EMU_NOP: break; /* not here */
  }
  /* Lanes that were split off because they wait for or go to something else come here again. */
  if (active & ~f->mask) *threads -= lanes_in(active & ~f->mask);
  return go_on && m->stop;
}

/* Tell the hooks that f has run the instructions from..last. */
static void report_ran(const emu_warp *w, const emu_fiber *f, const emu_inst *from, const emu_inst *last) {
  const emu_cta *c = w->cta;
  const hd_emu_hooks *h = &c->grid->hooks;
  const emu_code *code = f->frame->code;
  if (code->program && code->program != c->grid->program) return; /* its functions have other numbers */
  h->ran(h->ctx, c->worker, c->task, w->index, code->index, (uint32_t)(from - code->insts),
         (uint32_t)(last - code->insts));
}

/* Run f until it waits, exits, diverges, meets or must let others run, for at most `budget` (> 0) warp
 * instructions; returns how many it ran. A pinned fiber runs regardless of turns. */
static uint64_t run_fiber(emu_mwarp *m, emu_fiber *f, uint64_t budget, bool pinned) {
  emu_warp *w = &m->w;
  const uint64_t given = budget;
  uint64_t threads = 0;
  bool go_on = true;
  w->current = f;
  f->turn = ++m->turn;
  while (go_on && budget) {
    uint64_t most = room(w, f, budget, pinned);
    if (m->to_store && !pinned) most = up_to_store(m, f, most);
    if (!most) break;
    char *const r = f->frame->regs;
    const uint32_t mask = f->mask;
    const emu_inst *const from = at(f);
    uint64_t masked;
    m->stop = from + most;
    const emu_inst *i = run_plain(m, from, r, mask, &masked);
    const uint64_t ran = (uint64_t)(i - from);
    threads += ran * lanes_in(mask) - masked;
    budget -= ran;
    w->cta->clock += ran;
    if (ran && w->cta->grid->hooks.ran) report_ran(w, f, from, i - 1);
    f->pc += (uint32_t)ran;
    if (!m->stop) break;
    if (i >= m->stop) continue;

    const uint32_t active = emu_guard(i, r, mask);
    budget--;
    w->cta->clock++;
    threads += lanes_in(active);
    if (w->cta->grid->hooks.ran) report_ran(w, f, i, i);
    if (i->control == EMU_BRA) {
      go_on = branch(m, f, i, active);
    } else if (!active || i->control == EMU_NOP) {
      f->pc++;
    } else {
      if (active != mask) emu_split_fiber(w, f, mask & ~active, f->pc + 1);
      go_on = control(m, f, i, &threads);
    }
  }
  w->instructions += given - budget;
  w->thread_instructions += threads;
  return given - budget;
}

static hd_step state(const emu_mwarp *m) {
  if (emu_cta_over(m->w.cta)) return HD_STEP_FAULT;
  if (!m->w.live) return HD_STEP_DONE;
  return m->barrier >= 0 ? HD_STEP_BARRIER : HD_STEP_RUNNING;
}

hd_step hd_emu_warp_step(hd_emu_cta *c, uint32_t k, uint64_t quantum) {
  emu_mwarp *m = &c->warps[k];
  const uint64_t max = c->grid->emu->opt.max_instructions;
  hd_step s = state(m);
  m->yielded = false;
  while (quantum && s == HD_STEP_RUNNING && !m->yielded) {
    if (c->clock >= max) {
      emu_fiber *f = &m->w.fibers[0];
      emu_fault_at(m, f->frame->code, at(f), f->mask, HD_FAULT_HANG,
                   "the CTA has run %llu warp instructions without coming to its end and counts as hung",
                   (unsigned long long)c->clock);
      return HD_STEP_FAULT;
    }
    uint64_t budget = quantum < max - c->clock ? quantum : max - c->clock;
    emu_fiber *starved = m->starving ? pick_starved(m) : NULL;
    /* A lone fiber that spins waits for another warp. */
    if (m->starving && !starved) m->yielded = true;
    m->starving = false;
    emu_fiber *f = starved ? starved : m->yielded ? NULL : pick(m);
    if (f) {
      quantum -= run_fiber(m, f, starved && budget > SLICE ? SLICE : budget, starved != NULL);
    } else if (!m->yielded && !emu_gather_release(m)) {
      emu_barrier_settle_warp(m);
      if (state(m) == HD_STEP_RUNNING && !pick(m) && !emu_cluster_blocks(m)) emu_gather_stuck(m);
    }
    s = state(m);
  }
  return s;
}

/* Whether the instruction affects other warps by other means than memory and barriers. */
static bool is_heard(const emu_fiber *f) {
  const uint8_t control = at(f)->control;
  return control == EMU_EXIT || control == EMU_TRAP || (control == EMU_RET && !f->frame->caller);
}

void emu_warp_each(emu_mwarp *m) {
  emu_warp *w = &m->w;
  uint32_t todo = 0;
  merge(m);
  for (uint32_t k = 0; k < w->n_fibers; k++) todo |= w->fibers[k].waiting ? 0 : w->fibers[k].mask;
  if (!todo) {
    emu_quiet_changed(w->cta);
    hd_emu_warp_step(w->cta, w->index, 1);
    return;
  }
  while (todo && state(m) == HD_STEP_RUNNING) {
    const uint32_t lane = todo & -todo;
    emu_fiber *f = NULL;
    for (uint32_t k = 0; !f && k < w->n_fibers; k++)
      if (w->fibers[k].mask & lane && !w->fibers[k].waiting) f = &w->fibers[k];
    todo &= f ? ~f->mask : ~lane;
    if (!f) continue;
    const uint32_t line = at(f)->line;
    if (line < m->spin.first_line) m->spin.first_line = line;
    if (line > m->spin.last_line) m->spin.last_line = line;
    if (line < m->spin.window.first_line) m->spin.window.first_line = line;
    if (line > m->spin.window.last_line) m->spin.window.last_line = line;
    const bool acts = emu_guard(at(f), f->frame->regs, f->mask);
    if (acts && at(f)->control == EMU_BAR)
      emu_quiet_arrived(w->cta);
    else if (acts && is_heard(f))
      emu_quiet_changed(w->cta);
    run_fiber(m, f, 1, true);
  }
  m->yielded = m->starving = false;
}

uint64_t emu_clock(const emu_warp *w) {
  /* Straight runs are counted at their end: looks in between still have to differ. A loop that waits by the
   * clock turns about as often as on an H100, where a turn takes 34 cycles
   * (bench/results/H100-2026-11-24/waits.txt). */
  enum { LOOK = 30 };
  return (w->cta->clock_looks += LOOK) + w->cta->clock;
}
