/* emu/machine/flags.c: what CTAs let each other know by flags in global memory, for the check of races.
 *
 * A thread tells others of accesses by a strong write of a scope beyond the CTA: if it releases, of all that
 * the thread knows (know.c); else of that behind which a fence of such a scope has come, by this thread or by
 * one that has met it since. A barrier of the CTA orders the accesses of its threads for each other, and
 * fences none for other CTAs. A CTA that then reads the same address strongly knows them, and all else that
 * had been told until then. So one number a flag is enough: how many times CTAs had told something. Races may
 * hide behind flags, and none is invented.
 *
 * A warp takes another ticket for its stores each time it has let other warps know something, so that what it
 * stores later is not told with them. Loads have a ticket of the CTA: they are told with the first flag
 * behind any fence.
 *
 * By the letter of PTX's memory consistency model the reader needs a fence, too. Many programs have none, and
 * do as they should. */
#include "emu/machine/flags.h"

#include "emu/machine/know.h"

#include <stdlib.h>

/* Only these kernels read flags and can tell; a cluster is one task. */
bool emu_flags_used(const hd_emu_grid *g) {
  return g->emu->race && g->traits.order_sensitive && g->traits.releases && g->cluster_size <= 1;
}

void emu_flags_fence(hd_emu_cta *c) {
  hd_emu_grid *g = c->grid;
  if (!c->touched || !emu_flags_used(g)) return;
  emu_race_task *t = emu_race_find(&g->race, c->ticket);
  if (!t) return;
  g->race.published = true;
  t->before = c->unreleased;
  c->unreleased = c->ticket;
  c->ticket = 0; /* the next access takes another one */
  c->touched = false;
}

uint32_t emu_flags_ticket(emu_warp *w) {
  hd_emu_cta *c = w->cta;
  hd_emu_grid *g = c->grid;
  emu_mwarp *m = (emu_mwarp *)w;
  if (!c->order || !emu_flags_used(g)) return c->ticket;
  const emu_knower *k = &c->order->warps[w->index];
  if (m->ticket >= g->race.first && m->ticket_tells == k->tells) return m->ticket;
  const uint32_t ticket = emu_race_ticket(g->emu, &g->race, c->task);
  emu_race_task *t = emu_race_find(&g->race, ticket);
  if (!t) return 0;
  t->time = k->knows.of[w->index];
  t->before = m->unreleased;
  g->race.published = true;
  m->unreleased = ticket;
  m->ticket_tells = k->tells;
  return m->ticket = ticket;
}

uint32_t emu_flags_copy_ticket(emu_warp *w) {
  hd_emu_grid *g = w->cta->grid;
  emu_mwarp *m = (emu_mwarp *)w;
  if (m->copy_ticket >= g->race.first) return m->copy_ticket;
  m->copy_ticket = emu_race_ticket(g->emu, &g->race, w->cta->task);
  emu_race_task *t = emu_race_find(&g->race, m->copy_ticket);
  if (!t) return 0;
  t->async = true;
  g->race.published = true;
  return m->copy_ticket;
}

void emu_flags_copied(emu_warp *w) {
  hd_emu_cta *c = w->cta;
  hd_emu_grid *g = c->grid;
  emu_mwarp *m = (emu_mwarp *)w;
  /* Without flags nobody learns of what was written: the ticket serves for all of the warp's copies. */
  if (!m->copy_ticket || !emu_flags_used(g)) return;
  const bool lock = !g->ordered;
  if (lock) pthread_mutex_lock(&g->lock);
  emu_race_task *t = m->copy_ticket >= g->race.first ? emu_race_find(&g->race, m->copy_ticket) : NULL;
  if (t && c->order) {
    t->time = c->order->warps[w->index].knows.of[w->index];
    t->before = m->unreleased;
    m->unreleased = t->ticket;
  }
  if (lock) pthread_mutex_unlock(&g->lock);
  m->copy_ticket = 0;
}

/* The slot of a flag, or where it would be. */
static emu_race_flag *slot_of(emu_race_flag *flags, size_t cap, uint64_t address) {
  size_t k = (size_t)(address * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (cap - 1);
  while (flags[k].time && flags[k].address != address) k = (k + 1) & (cap - 1);
  return &flags[k];
}

static bool grow(emu_race_log *log) {
  const size_t cap = log->flags_cap ? 2 * log->flags_cap : 64;
  emu_race_flag *flags = calloc(cap, sizeof *flags);
  if (!flags) return false;
  for (size_t k = 0; k < log->flags_cap; k++)
    if (log->flags[k].time) *slot_of(flags, cap, log->flags[k].address) = log->flags[k];
  free(log->flags);
  log->flags = flags;
  log->flags_cap = cap;
  return true;
}

/* Tickets from *head on are told with the next release: those up to `time`. False: there are none. */
static bool release_tickets(emu_race_log *log, uint32_t *head, uint32_t time) {
  emu_race_task *t;
  while ((t = emu_race_find(log, *head)) && t->time > time) head = &t->before;
  if (!t) return false;
  for (uint32_t ticket = *head; (t = emu_race_find(log, ticket)); ticket = t->before)
    t->released = log->releases + 1;
  *head = 0;
  return true;
}

/* The warp tells what it may; the time of that, or of what it may tell already. */
static uint64_t release(emu_warp *w, bool all) {
  hd_emu_cta *c = w->cta;
  hd_emu_grid *g = c->grid;
  emu_race_log *log = &g->race;
  emu_knower *k = &c->order->warps[w->index];
  const emu_times *knows = &k->knows;
  if (all) emu_flags_fence(c);
  uint64_t time = all ? knows->told : knows->gpu_told;
  bool news = c->unreleased && release_tickets(log, &c->unreleased, UINT32_MAX);
  for (uint32_t u = 0; u < c->n_warps; u++) {
    emu_mwarp *m = &c->warps[u];
    const uint32_t some = all && knows->some[u] > knows->of[u] ? knows->some[u] : 0;
    const uint32_t known = !all ? knows->gpu[u] : some ? some : knows->of[u];
    if (m->unreleased && release_tickets(log, &m->unreleased, known)) {
      news = true;
      m->told_first = m->told_first ? m->told_first : known;
      m->told = log->releases + 1;
    } else if (m->told_first && known >= m->told_first && m->told > time) {
      time = m->told;
    }
  }
  if (!news) return time;
  emu_race_told(g->emu, log);
  k->knows.told = k->knows.gpu_told = log->releases;
  return log->releases;
}

bool emu_flags_access(emu_warp *w, const emu_inst *i, hd_access_kind kind, uint32_t mask,
                      const uint64_t addr[32]) {
  hd_emu_cta *c = w->cta;
  emu_race_log *log = &c->grid->race;
  uint64_t seen = 0;
  if (!c->order || !emu_flags_used(c->grid)) return true;
  if (kind != HD_ACCESS_STORE && log->flags_cap)
    for (uint32_t left = mask; left; left &= left - 1) {
      const emu_race_flag *f = slot_of(log->flags, log->flags_cap, addr[__builtin_ctz(left)]);
      if (f->time > seen) seen = f->time;
    }
  if (seen) emu_know_told(w, emu_acting(w, mask), seen);
  uint64_t time = kind != HD_ACCESS_LOAD ? release(w, i->mem.sync & EMU_RELEASES) : 0;
  if (kind == HD_ACCESS_ATOMIC && seen > time) time = seen; /* what was told there goes on being told */
  for (uint32_t left = time ? mask : 0; left; left &= left - 1) {
    if (2 * log->n_flags >= log->flags_cap && !grow(log)) return false;
    emu_race_flag *f = slot_of(log->flags, log->flags_cap, addr[__builtin_ctz(left)]);
    log->n_flags += !f->time;
    *f = (emu_race_flag){addr[__builtin_ctz(left)], time};
  }
  return true;
}
