/* emu/machine/flags.c: what CTAs let each other know by flags in global memory, for the check of races.
 *
 * A CTA's accesses up to a fence, or to a barrier of all its threads, are told by its next strong write; a
 * CTA that then reads the same address strongly knows them, and all else that had been told until then. So
 * one number a CTA and one a flag is enough: how many times CTAs had told something. Races may hide behind
 * flags, and none is invented.
 *
 * By the letter of PTX's memory consistency model the barrier is not enough, and the reader needs a fence,
 * too. Many programs have neither, and do as they should.
 */
#include "emu/machine/flags.h"

#include <stdlib.h>

/* Only these kernels read flags; a cluster is one task. */
static bool may_read_flags(const hd_emu_grid *g) {
  return g->emu->race && g->traits.order_sensitive && g->cluster_size <= 1;
}

void emu_flags_publish(hd_emu_cta *c) {
  hd_emu_grid *g = c->grid;
  if (!c->touched || !may_read_flags(g)) return;
  emu_race_task *t = emu_race_find(&g->race, c->ticket);
  if (!t) return;
  g->race.published = true;
  t->before = c->unreleased;
  c->unreleased = c->ticket;
  c->ticket = 0; /* the next access takes another one */
  c->touched = false;
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

/* All that the CTA has published is told; its time. */
static uint64_t release(hd_emu_cta *c) {
  hd_emu_grid *g = c->grid;
  if (!c->unreleased) return c->knows;
  emu_race_told(g->emu, &g->race);
  for (uint32_t ticket = c->unreleased; ticket;) {
    emu_race_task *t = emu_race_find(&g->race, ticket);
    if (!t) break;
    t->released = g->race.releases;
    ticket = t->before;
  }
  c->unreleased = 0;
  return c->knows = g->race.releases;
}

bool emu_flags_access(hd_emu_cta *c, hd_access_kind kind, uint32_t mask, const uint64_t addr[32]) {
  emu_race_log *log = &c->grid->race;
  if (!may_read_flags(c->grid)) return true;
  if (kind != HD_ACCESS_STORE && log->flags_cap)
    for (uint32_t left = mask; left; left &= left - 1) {
      const emu_race_flag *f = slot_of(log->flags, log->flags_cap, addr[__builtin_ctz(left)]);
      if (f->time > c->knows) c->knows = f->time;
    }
  const uint64_t time = kind != HD_ACCESS_LOAD ? release(c) : 0;
  for (uint32_t left = time ? mask : 0; left; left &= left - 1) {
    if (2 * log->n_flags >= log->flags_cap && !grow(log)) return false;
    emu_race_flag *f = slot_of(log->flags, log->flags_cap, addr[__builtin_ctz(left)]);
    log->n_flags += !f->time;
    *f = (emu_race_flag){addr[__builtin_ctz(left)], time};
  }
  return true;
}
