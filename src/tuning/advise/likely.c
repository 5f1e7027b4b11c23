/* Which plans are tried first: one of each lever that the kernel's accesses ask for, before the second of
 * any. */
#include "advise/advice.h"

#include <stdlib.h>
#include <string.h>

/* The lever that a plan is tried for: the first of these that it sets. What changes a task's own accesses
 * gains most where it gains at all; orders go with everything. */
advice_lever advice_lever_of(const hd_plan *p) {
  if (p->threads.kind != HD_ORDER_ROW || p->threads_in_cta) return ADVICE_THREADS;
  if (p->prefetch.kind) return ADVICE_PREFETCH;
  if (p->bypass.kind) return ADVICE_BYPASS;
  if (p->stream.kind) return ADVICE_STREAM;
  if (p->bind != HD_BIND_NONE) return ADVICE_BIND;
  return ADVICE_ORDER;
}

/* The part of its traffic that each lever may save at best, on the level that it works on. */
void advice_needs(const hd_advice *out, double need[ADVICE_LEVERS]) {
  const hd_counters *c = &out->baseline;
  const double used = advice_sector_use(&out->sum.pattern.all), dram = (double)hd_counters_dram(c),
               l1_misses = 1 - advice_part(c->l1_hits, c->l1_sectors),
               shared = advice_part(advice_exploitable(&out->sum.sharing.all), out->sum.sharing.all.pairs);
  for (unsigned i = 0; i < ADVICE_LEVERS; i++) need[i] = 0;
  if (out->sum.pattern.all.sectors) need[ADVICE_THREADS] = 1 - used;
  if (dram > (double)c->compulsory_bytes) need[ADVICE_ORDER] = 1 - (double)c->compulsory_bytes / dram;
  if (c->l1_sectors) {
    need[ADVICE_BIND] = shared * l1_misses;
    need[ADVICE_BYPASS] = need[ADVICE_STREAM] =
        0.5 * l1_misses * (1 - advice_line_use(&out->sum.pattern.all));
  }
}

/* order[0..n-1]: the items' numbers. */
static void order_items(const advice_lever *lever, size_t n, const double need[ADVICE_LEVERS],
                        size_t *order) {
  size_t of[ADVICE_LEVERS] = {0}, rounds = 0, at = 0;
  advice_lever levers[ADVICE_LEVERS];
  for (unsigned i = 0; i < ADVICE_LEVERS; i++) {
    unsigned k = i;
    for (; k && need[levers[k - 1]] < need[i]; k--) levers[k] = levers[k - 1];
    levers[k] = (advice_lever)i;
  }
  for (size_t i = 0; i < n; i++) {
    const size_t mine = ++of[lever[i]];
    if (mine > rounds) rounds = mine;
  }
  for (size_t r = 0; r < rounds; r++)
    for (unsigned l = 0; l < ADVICE_LEVERS; l++) {
      size_t seen = 0;
      for (size_t i = 0; i < n && r < of[levers[l]]; i++) {
        if (lever[i] != levers[l] || seen++ != r) continue;
        order[at++] = i;
        break;
      }
    }
}

hd_status advice_put_likeliest_first(void *items, size_t n, size_t bytes, const double need[ADVICE_LEVERS],
                                     hd_diag *d) {
  char *all = items, *sorted = calloc(n + 1, bytes);
  advice_lever *lever = calloc(n + 1, sizeof *lever);
  size_t *order = calloc(n + 1, sizeof *order);
  const bool room = sorted && lever && order;
  for (size_t i = 0; room && i < n; i++) lever[i] = advice_lever_of((const hd_plan *)(all + i * bytes));
  if (room) order_items(lever, n, need, order);
  for (size_t i = 0; room && i < n; i++) memcpy(sorted + i * bytes, all + order[i] * bytes, bytes);
  if (room && n) memcpy(all, sorted, n * bytes);
  free(sorted);
  free(lever);
  free(order);
  return room ? HD_OK : hd_nomem(d);
}
