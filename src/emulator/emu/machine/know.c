/* emu/machine/know.c: what the warps of a CTA, and their lanes, know of each other's accesses.
 *
 * Each warp has a clock, which advances each time it lets others know something. What it knows is a time of
 * every other warp: the accesses that the other warp made up to that time happened before its own next ones.
 * Warps learn of each other
 *   - at barriers: a warp that leaves knows what all those that arrived knew;
 *   - by mbarriers: a thread that has waited for a phase knows what those that arrived knew (.relaxed: what
 *     they knew at their last fence, and it knows it behind its next one), and the bytes of the copies that
 *     were to complete in it. Those have the mbarrier as their writer: nobody knows of
 *     them otherwise;
 *   - by flags: a strong write lets others know what the warp knew at its last fence (or now, if it
 *     releases); a warp that reads strongly and then fences (or acquires) knows it. All flags of a CTA count
 *     as one, so races may hide behind them.
 *
 * The lanes of a warp know of each other's accesses up to the last barrier of the CTA or of the warp.
 * A lane that arrives at an mbarrier, or sets a flag, speaks for itself beyond that, and one that waits
 * learns for itself. Of lanes that speak at different times the latest is kept for all of them: a race may
 * hide there, and none is invented. Shuffles and votes order no accesses, but what one lane has learned from
 * elsewhere is known to the lanes that it meets there: programs rely on that.
 *
 * With every time goes whether a thread has fenced behind it: for other CTAs (flags.c), by a fence of the
 * GPU's scope, and for asynchronous copies (order.c), by fence.proxy.async. */
#include "emu/machine/know.h"

#include "emu/machine/flags.h"

#include <stdlib.h>

/* ---- Times ---------------------------------------------------------------------------------------- */

static void raise_all(uint32_t *a, const uint32_t *b, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) a[k] = a[k] > b[k] ? a[k] : b[k];
}
static void raise_one(uint64_t *a, uint64_t b) { *a = *a > b ? *a : b; }

/* Times of some lanes that say more than a's for all of them. */
static void learn_some(const emu_order *o, emu_times *a, const emu_times *b) {
  for (uint32_t k = 0; k < o->n_warps; k++) {
    if (b->some[k] <= a->of[k]) continue;
    const bool join = a->some[k] > a->of[k];
    a->lanes[k] = (join ? a->lanes[k] : 0) | b->lanes[k];
    a->some[k] = join && a->some[k] > b->some[k] ? a->some[k] : b->some[k];
  }
}

static void learn(const emu_order *o, emu_times *a, const emu_times *b) {
  raise_all(a->of, b->of, o->n_warps);
  raise_all(a->of + EMU_MAX_WARPS, b->of + EMU_MAX_WARPS, o->n_copiers);
  if (o->some) learn_some(o, a, b);
  if (o->gpu) raise_all(a->gpu, b->gpu, o->n_warps);
  if (o->async) raise_all(a->async, b->async, o->n_warps);
  raise_one(&a->told, b->told);
  raise_one(&a->gpu_told, b->gpu_told);
  a->waited |= b->waited;
}

/* Advance the warp's clock: warps that know its time so far do not know of its next accesses. The new time is
 * greater than all that the warp knows, so that times of different warps can be compared and the least of
 * several readers' kept. */
static void tick(emu_order *o, uint32_t w) {
  emu_times *knows = &o->warps[w].knows;
  uint32_t most = 0;
  for (uint32_t k = 0; k < o->n_warps; k++) most = knows->of[k] > most ? knows->of[k] : most;
  knows->of[w] = most + 1;
}

static void told_others(emu_order *o, uint32_t w) {
  o->warps[w].tells++;
  tick(o, w);
}

/* ---- A CTA's life ---------------------------------------------------------------------------------- */

emu_order *emu_know_new(uint32_t n_warps) {
  emu_order *o = calloc(1, sizeof *o + n_warps * sizeof o->warps[0]);
  if (o) o->n_warps = n_warps;
  return o;
}

void emu_know_reset(emu_order *o) {
  o->n_copiers = o->copies = 0;
  o->some = o->gpu = o->async = false;
  o->signals.n = 0;
  memset(o->barriers, 0, sizeof o->barriers);
  memset(&o->exited, 0, sizeof o->exited);
  memset(&o->flags, 0, sizeof o->flags);
  memset(o->warps, 0, o->n_warps * sizeof o->warps[0]);
  for (uint32_t w = 0; w < o->n_warps; w++) {
    o->warps[w].knows.of[w] = 1;
    o->warps[w].informed = UINT32_MAX;
  }
}

/* ---- Lanes of a warp -------------------------------------------------------------------------------- */

/* All lanes know what any of them knows, and all that they did. */
static void unite(emu_knower *k, uint32_t now) {
  k->synced = now;
  k->informed = UINT32_MAX;
  if (k->apart) memset(k->met, 0, sizeof k->met);
  k->apart = false;
}

static bool all_live(const emu_warp *w, uint32_t lanes) { return !(w->live & ~lanes); }

void emu_order_meet(emu_warp *w, uint32_t lanes, bool orders) {
  emu_order *o = w->cta->order;
  if (!o) return;
  emu_knower *k = &o->warps[w->index];
  if (lanes & k->informed) k->informed |= lanes;
  if (!orders) return;
  const uint32_t now = k->knows.of[w->index];
  if (all_live(w, lanes)) {
    unite(k, now);
  } else {
    uint32_t with = lanes;
    for (uint32_t left = lanes; left; left &= left - 1) with |= k->met[__builtin_ctz(left)];
    for (uint32_t left = lanes; left; left &= left - 1) {
      k->met[__builtin_ctz(left)] = with;
      k->met_at[__builtin_ctz(left)] = now;
    }
    k->apart = true;
  }
  tick(o, w->index);
}

/* What these lanes can let others know is added to *to. */
static void tell(emu_order *o, const emu_warp *w, uint32_t lanes, emu_times *to) {
  const emu_knower *k = &o->warps[w->index];
  const emu_times *knows = lanes & k->informed ? &k->knows : &k->base;
  const uint32_t now = k->knows.of[w->index];
  if (all_live(w, lanes)) {
    learn(o, to, knows);
    return;
  }
  emu_times t = *knows;
  t.of[w->index] = k->synced;
  t.some[w->index] = now;
  t.lanes[w->index] = lanes;
  if (k->apart)
    for (uint32_t left = lanes; left; left &= left - 1) t.lanes[w->index] |= k->met[__builtin_ctz(left)];
  o->some = true;
  learn(o, to, &t);
}

/* The warp is about to learn by these lanes: the others keep what they know. */
static void part(const emu_warp *w, uint32_t lanes) {
  emu_knower *k = &w->cta->order->warps[w->index];
  if (all_live(w, lanes)) return;
  if (k->informed == UINT32_MAX) {
    k->base = k->knows;
    k->informed = 0;
  }
  k->informed |= lanes;
}

/* These lanes learn what somebody let others know. */
static void hear(emu_order *o, const emu_warp *w, uint32_t lanes, const emu_times *from) {
  emu_knower *k = &o->warps[w->index];
  const uint32_t self = w->index;
  part(w, lanes);
  if (k->informed != UINT32_MAX && all_live(w, lanes)) learn(o, &k->base, from);
  const uint32_t now = k->knows.of[self];
  learn(o, &k->knows, from);
  k->knows.of[self] = now;
  const bool of_all = from->of[self] > k->synced;
  const uint32_t up_to = of_all && from->of[self] > from->some[self] ? from->of[self] : from->some[self];
  if (up_to <= k->synced) return;
  for (uint32_t left = lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    if (!k->apart || !k->met[l] || k->met_at[l] < up_to) k->met_at[l] = up_to;
    k->met[l] |= of_all ? UINT32_MAX : from->lanes[self];
  }
  k->apart = true;
}

void emu_know_told(emu_warp *w, uint32_t lanes, uint64_t told) {
  emu_order *o = w->cta->order;
  emu_knower *k = &o->warps[w->index];
  if (told <= (lanes & ~k->informed ? k->base.told : k->knows.told)) return;
  part(w, lanes);
  if (k->informed != UINT32_MAX && all_live(w, lanes)) raise_one(&k->base.told, told);
  raise_one(&k->knows.told, told);
  /* Which CTA told is not known here. */
  if (w->cta->grid->waited) emu_know_waited(w, lanes);
}

void emu_know_waited(emu_warp *w, uint32_t lanes) {
  emu_knower *k = &w->cta->order->warps[w->index];
  part(w, lanes);
  if (k->informed != UINT32_MAX && all_live(w, lanes)) k->base.waited = true;
  k->knows.waited = true;
}

/* ---- Barriers ----------------------------------------------------------------------------------------- */

void emu_order_arrive(hd_emu_cta *c, uint32_t warp, uint32_t id) {
  emu_order *o = c->order;
  if (!o) return;
  unite(&o->warps[warp], o->warps[warp].knows.of[warp]);
  learn(o, &o->barriers[id], &o->warps[warp].knows);
  told_others(o, warp);
}

void emu_order_complete(hd_emu_cta *c, uint32_t leaving, uint32_t id, bool whole) {
  emu_order *o = c->order;
  if (!o) return;
  if (whole) learn(o, &o->barriers[id], &o->exited);
  for (uint32_t left = leaving; left; left &= left - 1) {
    const uint32_t warp = (uint32_t)__builtin_ctz(left);
    learn(o, &o->warps[warp].knows, &o->barriers[id]);
    tick(o, warp);
  }
  o->barriers[id] = (emu_times){0};
}

void emu_order_exit(hd_emu_cta *c, uint32_t warp) {
  emu_order *o = c->order;
  if (o) learn(o, &o->exited, &o->warps[warp].knows);
}

/* ---- mbarriers ----------------------------------------------------------------------------------------- */

static emu_signal *signal_at(emu_order *o, uint64_t offset) {
  for (size_t k = 0; k < o->signals.n; k++)
    if (o->signals.data[k].offset == offset) return &o->signals.data[k];
  if (!hd_vec_push(&o->signals, ((emu_signal){.offset = offset}))) return NULL;
  return &o->signals.data[o->signals.n - 1];
}

void emu_know_made(emu_warp *w, unsigned lane, uint64_t offset, uint32_t line, bool ends) {
  emu_order *o = w->cta->order;
  emu_signal *s = o ? signal_at(o, offset) : NULL;
  if (!s) return;
  s->made = ends ? 0 : o->warps[w->index].knows.of[w->index];
  s->made_by = w->index;
  s->made_lane = lane;
  s->made_line = line;
}

uint32_t emu_unknown_init(const emu_warp *w, unsigned lane, uint64_t offset) {
  emu_order *o = w->cta->order;
  const emu_signal *s = o ? signal_at(o, offset) : NULL;
  if (!s || !s->made) return 0;
  const emu_knower *me = &o->warps[w->index];
  const bool known = s->made_by == w->index
                         ? emu_lane_knows(me, lane, s->made_lane, s->made)
                         : emu_knows(o, emu_known_to(me, lane), s->made_by, s->made_lane, s->made);
  return known ? 0 : s->made_line;
}

bool emu_know_copy(emu_order *o, uint64_t offset, uint32_t *writer, uint32_t *number) {
  emu_signal *s = signal_at(o, offset);
  if (!s) return false;
  const uint32_t k = (uint32_t)(s - o->signals.data) % EMU_COPIERS;
  if (k >= o->n_copiers) o->n_copiers = k + 1;
  *writer = EMU_MAX_WARPS + k;
  *number = s->pending.of[*writer] = ++o->copies;
  return true;
}

void emu_know_copied(emu_warp *w, uint32_t lanes, const uint32_t copies[EMU_COPIERS]) {
  emu_times t = {0};
  memcpy(t.of + EMU_MAX_WARPS, copies, EMU_COPIERS * sizeof *copies);
  hear(w->cta->order, w, lanes, &t);
}

void emu_order_signal(emu_warp *w, uint32_t lanes, uint64_t offset, bool relaxed) {
  emu_order *o = w->cta->order;
  emu_signal *s = o ? signal_at(o, offset) : NULL;
  if (!s) return;
  if (relaxed)
    learn(o, &s->pending, &o->warps[w->index].fenced);
  else
    tell(o, w, lanes, &s->pending);
  o->warps[w->index].tells++;
}

void emu_order_step(emu_warp *w) {
  if (w->cta->order) tick(w->cta->order, w->index);
}

void emu_order_phase(hd_emu_cta *c, uint64_t offset) {
  emu_signal *s = c->order ? signal_at(c->order, offset) : NULL;
  if (s) learn(c->order, &s->done, &s->pending);
}

void emu_order_wait(emu_warp *w, uint32_t lanes, uint64_t offset, bool relaxed) {
  emu_order *o = w->cta->order;
  const emu_signal *s = o ? signal_at(o, offset) : NULL;
  if (!s) return;
  if (relaxed)
    learn(o, &o->warps[w->index].heard, &s->done);
  else
    hear(o, w, lanes, &s->done);
  tick(o, w->index);
}

/* ---- Fences and flags ------------------------------------------------------------------------------- */

/* Behind all accesses that the warp knows of there has been a fence now. */
static void fence_behind(const emu_order *o, const emu_times *knows, uint32_t *fenced) {
  raise_all(fenced, knows->of, o->n_warps);
  if (o->some) raise_all(fenced, knows->some, o->n_warps);
}

void emu_run_fence(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  emu_order *o = w->cta->order;
  (void)r;
  if (!o) return; /* nor are there copies, which have shared memory */
  emu_knower *k = &o->warps[w->index];
  if (i->mem.sync & EMU_ASYNC_GLOBAL)
    __atomic_store_n(&w->cta->grid->race.proxy_fence, true, __ATOMIC_RELAXED);
  if (i->mem.sync & EMU_ASYNC_PROXY) {
    o->async = true;
    fence_behind(o, &k->knows, k->knows.async);
  }
  if (i->mem.sync & EMU_ACQUIRES) hear(o, w, mask, &k->heard);
  if (i->mem.sync & EMU_RELEASES) {
    if (i->mem.strong >= EMU_STRONG) {
      o->gpu = true;
      fence_behind(o, &k->knows, k->knows.gpu);
      k->knows.gpu_told = k->knows.told;
      emu_flags_fence(w->cta);
    }
    tell(o, w, mask, &k->fenced);
  }
  told_others(o, w->index);
}

void emu_order_flag(emu_warp *w, const emu_inst *i, hd_access_kind kind, uint32_t mask) {
  emu_order *o = w->cta->order;
  emu_knower *k = &o->warps[w->index];
  if (kind != HD_ACCESS_STORE) {
    if (i->mem.sync & EMU_ACQUIRES)
      hear(o, w, mask, &o->flags);
    else
      learn(o, &k->heard, &o->flags);
  }
  if (kind == HD_ACCESS_LOAD) return;
  if (i->mem.sync & EMU_RELEASES) {
    tell(o, w, mask, &o->flags);
    told_others(o, w->index);
  } else {
    learn(o, &o->flags, &k->fenced);
  }
}
