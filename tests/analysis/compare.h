/* tests/analysis/compare.h: the accesses that the emulator saw, and those that the analysis predicts. */
#ifndef HEDDLE_TESTS_ANALYSIS_COMPARE_H
#define HEDDLE_TESTS_ANALYSIS_COMPARE_H

#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/analysis.h"
#include "heddle/emu.h"

/* ---- Recording ------------------------------------------------------------------------- */

typedef struct event {
  uint32_t stmt, line;
  uint64_t thread; /* task * threads of a CTA + thread in it */
  uint64_t order, address;
} event;

typedef HD_VEC(event) event_list;

typedef struct recorder {
  event_list events;
  uint64_t threads; /* of a CTA */
  bool full;
} recorder;

enum { MAX_EVENTS = 3000000 };

static void record(void *ctx, unsigned worker, const hd_access *a) {
  recorder *r = ctx;
  for (unsigned lane = 0; lane < HD_WARP && !r->full; lane++) {
    if (!(a->mask >> lane & 1)) continue;
    event e = {a->inst, a->line, a->task * r->threads + a->warp * HD_WARP + lane, r->events.n, a->addr[lane]};
    if (r->events.n >= MAX_EVENTS || !hd_vec_push(&r->events, e)) r->full = true;
  }
}

static int by_site(const void *pa, const void *pb) {
  const event *a = pa, *b = pb;
  if (a->stmt != b->stmt) return a->stmt < b->stmt ? -1 : 1;
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
  return (a->order > b->order) - (a->order < b->order);
}

/* ---- Comparing --------------------------------------------------------------------------- */

typedef struct tally {
  uint64_t sites, affine, quasi, exact, compared; /* exact: sites whose accesses were predicted one by one */
  uint64_t starts; /* accesses whose start was compared with that of another thread of the CTA */
  uint64_t failures, assumptions_broken, full;
} tally;

typedef struct expectation {
  const hd_analysis *a;
  const hd_site *site;
  hd_point at;
  const event *next, *end;
  bool wrong, broken, undecided;
} expectation;

/* 1: they all hold at this point, 0: one does not, -1: one cannot be decided. */
static int assumptions_hold(const hd_analysis *a, const hd_site *s, const hd_point *at) {
  int all = 1;
  for (uint32_t i = 0; i < s->n_assumptions; i++) {
    int one = hd_point_assumption(a, &a->assumptions[a->assumption_lists[s->first_assumption + i]], at);
    if (one == 0) return 0;
    if (one < 0) all = -1;
  }
  return all;
}

static bool expect(void *ctx, const uint64_t *counters, uint64_t address) {
  expectation *x = ctx;
  x->at.counters = counters;
  int hold = assumptions_hold(x->a, x->site, &x->at);
  if (hold <= 0) {
    x->broken = hold == 0;
    x->undecided = hold < 0;
    return false;
  }
  if (x->next == x->end || x->next->address != address)
    x->wrong = true;
  else
    x->next++;
  return !x->wrong;
}

static void complain(const hd_analysis *a, const hd_site *s, const char *name, const event *e,
                     const char *what) {
  hd_buf b = {0};
  hd_poly_print(a, s->address, &b);
  print_message("%s line %u thread %" PRIu64 ": %s; the analysis: %.600s\n", name, s->line, e ? e->thread : 0,
                what, b.data ? b.data : "");
  hd_buf_free(&b);
}

static void set_thread(hd_point *p, uint64_t thread) {
  uint64_t threads = (uint64_t)p->block[0] * p->block[1] * p->block[2], task = thread / threads,
           t = thread % threads;
  p->ctaid[0] = (uint32_t)(task % p->grid[0]);
  p->ctaid[1] = (uint32_t)(task / p->grid[0] % p->grid[1]);
  p->ctaid[2] = (uint32_t)(task / p->grid[0] / p->grid[1]);
  p->tid[0] = (uint32_t)(t % p->block[0]);
  p->tid[1] = (uint32_t)(t / p->block[0] % p->block[1]);
  p->tid[2] = (uint32_t)(t / p->block[0] / p->block[1]);
}

/* The address, when how often loops run is not known: base + step * some whole number. */
static bool reachable(const hd_analysis *a, const hd_site *s, hd_point *p, uint64_t *counters,
                      uint64_t address, bool *known) {
  int64_t base, v;
  uint64_t g = 0;
  memset(counters, 0, a->cfg.n_loops * sizeof *counters);
  p->counters = NULL; /* assumptions that depend on counters cannot be decided here */
  bool sure = assumptions_hold(a, s, p) == 1;
  p->counters = counters;
  *known = s->level <= HD_LEVEL_AFFINE && sure && hd_poly_eval(a, s->address, p, &base);
  if (!*known) return false;
  for (uint32_t l = 0; l < a->cfg.n_loops; l++) {
    counters[l] = 1;
    if (!hd_poly_eval(a, s->address, p, &v)) *known = false;
    counters[l] = 0;
    uint64_t x = (uint64_t)(v > base ? v - base : base - v);
    while (x) {
      uint64_t r = g % x;
      g = x;
      x = r;
    }
  }
  uint64_t d = address - (uint64_t)base;
  if ((int64_t)d < 0) d = 0 - d;
  return g ? d % g == 0 : d == 0;
}

/* One site's accesses by one thread, events [first, last). */
static void compare_thread(const hd_analysis *a, uint32_t site, hd_point p, const event *first,
                           const event *last, uint64_t thread, tally *t, const char *name, bool *exact) {
  const hd_site *s = &a->sites[site];
  expectation x = {a, s, p, first, last, false, false, false};
  set_thread(&x.at, thread);
  int64_t n = hd_site_visit(a, site, &x.at, 1 << 20, expect, &x);
  if (x.broken) {
    if (!t->assumptions_broken++) complain(a, s, name, first, "an assumption does not hold");
    return;
  }
  if (x.undecided) return;
  if (n >= 0) {
    if (x.wrong || x.next != last) {
      char what[160];
      snprintf(what, sizeof what, "access %td of %td is at 0x%" PRIx64 ", another one was predicted",
               x.next - first, last - first, x.next != last ? x.next->address : 0);
      if (t->failures++ < 5) complain(a, s, name, first == last ? NULL : first, what);
    }
    t->compared += (uint64_t)(last - first);
    return;
  }
  *exact = false;
  uint64_t *counters = calloc((size_t)a->cfg.n_loops + 1, sizeof *counters);
  assert_non_null(counters);
  for (const event *e = first; e < last; e++) {
    bool known, ok = reachable(a, s, &x.at, counters, e->address, &known);
    if (known && !ok && t->failures++ < 5) complain(a, s, name, e, "an address that no iteration gives");
    t->compared += known;
  }
  free(counters);
}

static void compare_site(const hd_analysis *a, uint32_t site, const recorder *r, hd_point p, tally *t,
                         const char *name) {
  const hd_site *s = &a->sites[site];
  const hd_inst *inst = &a->cfg.insts[s->inst];
  t->sites++;
  t->affine += s->level <= HD_LEVEL_AFFINE;
  t->quasi += s->level == HD_LEVEL_QUASI;
  if (inst->call || s->level >= HD_LEVEL_DATA) return; /* an inlined body has several copies of one line */
  const event *e = r->events.data, *end = e + r->events.n;
  while (e < end && !(e->stmt == inst->stmt && e->line == s->line)) e++;
  uint64_t n_threads = (uint64_t)p.grid[0] * p.grid[1] * p.grid[2] * r->threads;
  bool exact = true;
  for (uint64_t thread = 0; thread < n_threads && exact; thread++) {
    const event *first = e;
    while (e < end && e->stmt == inst->stmt && e->line == s->line && e->thread == thread) e++;
    compare_thread(a, site, p, first, e, thread, t, name, &exact);
  }
  /* Where the accesses cannot be listed, those that there were are checked. */
  while (!exact && e < end && e->stmt == inst->stmt && e->line == s->line) {
    const event *first = e;
    while (e < end && e->stmt == inst->stmt && e->line == s->line && e->thread == first->thread) e++;
    compare_thread(a, site, p, first, e, first->thread, t, name, &exact);
  }
  t->exact += exact;
}

#endif
