/* emu/machine/barrier.c: barriers of a CTA.
 *
 * A barrier counts warps (PTX ISA, barrier): a thread waits until all threads of its warp that have not
 * exited are at a barrier instruction of that number, the warp then arrives with 32 threads, whatever
 * its size. A barrier without a count is complete when all warps that have not exited arrived. */
#include "emu/machine/grid.h"

static const emu_inst *at(const emu_fiber *f) { return &f->frame->code->insts[f->pc]; }
static const emu_bar *bar_of(const emu_fiber *f) { return at(f)->extra; }
static unsigned lead(const emu_fiber *f) { return (unsigned)__builtin_ctz(f->mask); }
static uint32_t id_of(const emu_fiber *f) {
  return emu_lane_u32(f->frame->regs, bar_of(f)->id_slot, lead(f));
}

static uint32_t read_mask(const emu_frame *f, uint32_t slot) { return emu_lane_u32(f->regs, slot, 0); }

/* The lanes of f for which .red counts. */
static uint32_t predicate(const emu_fiber *f) {
  uint32_t p = read_mask(f->frame, bar_of(f)->pred_slot);
  return (bar_of(f)->negate ? ~p : p) & f->mask;
}

static bool reduces(const emu_bar *b) { return b->kind >= EMU_BAR_POPC; }

/* ---- Stuck ----------------------------------------------------------------------- */

/* Runs of consecutive warps, as threads: "threads 64-127, 192-255". */
static void thread_list(const emu_cta *c, uint32_t warps, char *out, size_t cap) {
  size_t n = 0;
  out[0] = 0;
  for (uint32_t k = 0; k < c->n_warps && n < cap; k++) {
    if (!(warps >> k & 1)) continue;
    uint32_t first = k;
    while (k + 1 < c->n_warps && warps >> (k + 1) & 1) k++;
    uint32_t last = (k + 1) * HD_WARP - 1;
    if (last >= c->grid->n_threads) last = c->grid->n_threads - 1;
    n += (size_t)snprintf(out + n, cap - n, "%s%u-%u", n ? ", " : "threads ", first * HD_WARP, last);
  }
}

/* Every warp that has not exited waits at a barrier: report the first of these. */
static void report_stuck(emu_cta *c) {
  c->stuck = true;
  for (uint32_t k = 0; k < c->n_warps; k++) {
    emu_mwarp *m = &c->warps[k];
    if (m->barrier < 0) continue;
    const emu_barrier *b = &c->barriers[m->barrier];
    const emu_fiber *f = &m->w.fibers[0];
    const uint32_t all = c->n_warps == 32 ? UINT32_MAX : (1u << c->n_warps) - 1;
    char missing[256], count[48] = "";
    thread_list(c, all & ~b->arrived & (b->expected ? all : c->live_mask), missing, sizeof missing);
    if (b->expected) snprintf(count, sizeof count, " of the %u it waits for", b->expected);
    emu_fault_at(m, f->frame->code, at(f), f->mask, HD_FAULT_BARRIER,
                 "barrier %d is never complete: %u threads arrived%s, missing are %s", m->barrier,
                 b->arrivals * HD_WARP, count, missing[0] ? missing : "none of this CTA");
    return;
  }
}

/* ---- Completion ---------------------------------------------------------------------- */

static void write_result(emu_fiber *f, const emu_barrier *b) {
  const emu_bar *bar = bar_of(f);
  char *dst = f->frame->regs + (size_t)bar->dst_slot * EMU_SLOT_BYTES;
  if (bar->kind == EMU_BAR_POPC) {
    for (uint32_t left = f->mask; left; left &= left - 1)
      memcpy(dst + (size_t)__builtin_ctz(left) * 4, &b->popc, sizeof b->popc);
    return;
  }
  bool holds = bar->kind == EMU_BAR_AND ? b->popc == b->threads : b->popc != 0;
  uint32_t p = read_mask(f->frame, bar->dst_slot);
  p = holds ? p | f->mask : p & ~f->mask;
  memcpy(dst, &p, sizeof p);
}

static void go_on(emu_mwarp *m, const emu_barrier *b) {
  for (uint32_t k = 0; k < m->w.n_fibers; k++) {
    emu_fiber *f = &m->w.fibers[k];
    if (reduces(bar_of(f))) write_result(f, b);
    f->waiting = EMU_READY;
    f->pc++;
  }
}

static void complete_if_all(emu_cta *c, uint32_t id) {
  emu_barrier *b = &c->barriers[id];
  if (!b->inst) return;
  if (b->expected ? b->arrivals * HD_WARP < b->expected : (c->live_mask & ~b->arrived) != 0) return;
  uint32_t leaving = 0;
  for (uint32_t k = 0; k < c->n_warps; k++) {
    emu_mwarp *m = &c->warps[k];
    if (m->barrier != (int)id) continue;
    m->barrier = -1;
    m->to_store = c->grid->ordered;
    c->blocked_warps--;
    leaving |= 1u << k;
    go_on(m, b);
  }
  emu_order_complete(c, leaving, id, !b->expected);
  *b = (emu_barrier){0};
}

void emu_barrier_warp_exited(emu_cta *c) {
  for (uint32_t id = 0; id < EMU_BARRIERS; id++)
    if (c->barriers[id].inst && !c->barriers[id].expected) complete_if_all(c, id);
  if (c->live_warps && c->blocked_warps == c->live_warps) report_stuck(c);
}

/* ---- Arrival -------------------------------------------------------------------------- */

/* All threads of the warp are at barrier `id`. */
static void arrive(emu_mwarp *m, uint32_t id) {
  emu_warp *w = &m->w;
  emu_cta *c = w->cta;
  emu_barrier *b = &c->barriers[id];
  emu_fiber *f = &w->fibers[0];
  const emu_bar *bar = bar_of(f);
  const emu_inst *i = at(f);
  const uint32_t count = bar->has_count ? emu_lane_u32(f->frame->regs, bar->count_slot, lead(f)) : 0;
  const uint32_t whole = c->n_warps * HD_WARP;
  if (bar->has_count && (count == 0 || count % HD_WARP)) {
    emu_fault_at(m, f->frame->code, i, f->mask, HD_FAULT_OTHER,
                 "a barrier's count of %u threads is no multiple of %u", count, HD_WARP);
    return;
  }
  if (!b->inst) {
    b->inst = i;
    b->expected = count;
  } else if (b->expected != count && (b->expected ? b->expected : whole) != (count ? count : whole)) {
    emu_fault_at(m, f->frame->code, i, f->mask, HD_FAULT_OTHER,
                 "barrier %u is used for %u threads here and for %u at line %u", id, count ? count : whole,
                 b->expected ? b->expected : whole, b->inst->line);
    return;
  }
  emu_order_arrive(c, w->index, id);
  b->arrivals++;
  b->arrived |= 1u << w->index;
  for (uint32_t k = 0; k < w->n_fibers; k++) {
    if (!reduces(bar_of(&w->fibers[k]))) continue;
    b->popc += (unsigned)__builtin_popcount(predicate(&w->fibers[k]));
    b->threads += (unsigned)__builtin_popcount(w->fibers[k].mask);
  }
  const hd_emu_hooks *h = &c->grid->hooks;
  if (h->barrier) h->barrier(h->ctx, c->worker, c->task, w->index);
  if (bar->kind == EMU_BAR_ARRIVE) {
    go_on(m, b);
  } else {
    m->barrier = (int)id;
    c->blocked_warps++;
  }
  complete_if_all(c, id);
  if (c->blocked_warps == c->live_warps) report_stuck(c);
}

void emu_barrier_settle_warp(emu_mwarp *m) {
  emu_warp *w = &m->w;
  uint32_t there = 0;
  for (uint32_t k = 0; k < w->n_fibers; k++) {
    const emu_fiber *f = &w->fibers[k];
    if (f->waiting != EMU_AT_BARRIER || id_of(f) != id_of(&w->fibers[0])) return;
    there |= f->mask;
  }
  if (!there || there != w->live) return;
  for (uint32_t k = 1; k < w->n_fibers; k++) {
    const emu_fiber *f = &w->fibers[k], *g = &w->fibers[0];
    if (at(f) == at(g)) continue;
    const bool arrives = bar_of(f)->kind == EMU_BAR_ARRIVE, other_arrives = bar_of(g)->kind == EMU_BAR_ARRIVE;
    if (!bar_of(f)->aligned && !bar_of(g)->aligned && arrives == other_arrives) continue;
    emu_fault_at(m, f->frame->code, at(f), f->mask, HD_FAULT_OTHER,
                 "threads of one warp reach barrier %u at different instructions: the other ones at line %u",
                 id_of(f), at(g)->line);
    return;
  }
  arrive(m, id_of(&w->fibers[0]));
}

void emu_barrier_meet(emu_mwarp *m, emu_fiber *f, const emu_inst *i) {
  const emu_bar *bar = i->extra;
  const char *r = f->frame->regs;
  const uint32_t id = emu_lane_u32(r, bar->id_slot, lead(f));
  if (bar->id_slot >= f->frame->code->n_init) {
    uint32_t others = 0;
    for (unsigned l = 0; l < HD_WARP; l++) others |= (uint32_t)(emu_lane_u32(r, bar->id_slot, l) != id) << l;
    if (others & f->mask) emu_split_fiber(&m->w, f, others & f->mask, f->pc);
  }
  if (id >= EMU_BARRIERS) {
    emu_fault(&m->w, i, f->mask, HD_FAULT_OTHER, "barrier %u of %u", id, EMU_BARRIERS);
    return;
  }
  f->waiting = EMU_AT_BARRIER;
  emu_barrier_settle_warp(m);
}
