/* Every plan of a space, measured. */
#include "tune/exhaust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 8, LEAST_ROUNDS = 3, MOST_ROUNDS = 31, CLIMBED = 6 };
static const double default_each = 0.02;
/* Times as slow as the best so far of which one run is enough, for short runs; a first run costs up to so
 * many microseconds besides, so it is more telling for long ones. */
static const double hopeless = 3, first_run_us = 4000;

/* ---- Trials ------------------------------------------------------------------------- */

static int64_t find(const exhaust *x, const hd_plan *p) {
  for (size_t i = 0; i < x->trials.n; i++)
    if (hd_plan_equal(&x->trials.data[i].plan, p)) return (int64_t)i;
  return -1;
}

hd_status exhaust_put(exhaust *x, const search_trial *known, hd_diag *d) {
  search_trial t = *known;
  if (hd_plan_is_baseline(&known->plan) || find(x, &known->plan) >= 0) return HD_OK;
  t.family = hd_plan_family(&t.plan);
  t.ratios = NULL;
  t.ready = false;
  return hd_vec_push(&x->trials, t) ? HD_OK : hd_nomem(d);
}

void exhaust_free(exhaust *x) { hd_vec_free(&x->trials); }

size_t exhaust_rank(const exhaust *x, size_t *out, size_t cap) {
  size_t n = 0;
  for (size_t i = 0; i < x->trials.n; i++) {
    double score = x->trials.data[i].score;
    if (score <= 0) continue;
    size_t k = n < cap ? n++ : cap;
    for (; k && score > x->trials.data[out[k - 1]].score; k--)
      if (k < cap) out[k] = out[k - 1];
    if (k < cap) out[k] = i;
  }
  return n;
}

/* ---- Measuring ---------------------------------------------------------------------- */

typedef struct run {
  exhaust *x;
  const tuner_bench *b;
  const exhaust_options *o;
  uint32_t original; /* slot */
  double original_us, start, best;
  double *us; /* room for a batch's times */
} run;

static bool is_over(const run *r) {
  return r->o->seconds > 0 && r->b->clock(r->b->ctx) - r->start >= r->o->seconds;
}

static hd_status tell(run *r, search_trial *t, hd_diag *d) {
  if (t->score > r->best) r->best = t->score;
  return r->o->found ? r->o->found(r->o->ctx, t, d) : HD_OK;
}

/* A set of its own for the kernel (NULL: for all of them). `room` holds its one kernel. */
static hd_plan_set set_of(const char *kernel, const hd_plan *p, hd_kernel_plan *room) {
  *room = (hd_kernel_plan){kernel, *p};
  return kernel ? (hd_plan_set){.kernels = room, .n = 1} : (hd_plan_set){.all = *p};
}

static double hopelessly_slow(const run *r) {
  return 1 + (hopeless - 1) * fmin(1, first_run_us / r->original_us);
}

/* *ready: it is to be timed; else its result is known already. */
static hd_status admit(run *r, search_trial *t, bool *ready, hd_diag *d) {
  hd_diag e = {0};
  double us = 0;
  *ready = false;
  hd_kernel_plan room;
  const hd_plan_set plans = set_of(r->x->kernel, &t->plan, &room);
  t->status = r->b->admit(r->b->ctx, &plans, &t->slot, &us, &e);
  if (t->status != HD_OK) {
    hd_diag_line(&e, t->why, sizeof t->why);
    if (search_plans_fault(t->status)) return tell(r, t, d);
    if (d) *d = e;
    return t->status;
  }
  double rough = us > 0 ? r->original_us / us : 1;
  *ready = rough * hopelessly_slow(r) >= r->best;
  if (*ready) return HD_OK;
  r->b->release(r->b->ctx, t->slot);
  t->score = rough;
  t->n = 1;
  return tell(r, t, d);
}

static uint32_t rounds_of(const run *r) {
  double each = r->o->each > 0 ? r->o->each : default_each, n = each / (r->original_us * 1e-6);
  if (r->b->exact) return 1;
  return n < LEAST_ROUNDS ? LEAST_ROUNDS : n > MOST_ROUNDS ? MOST_ROUNDS : (uint32_t)n;
}

/* The median of the ratios of two lists of times; overwrites the second. */
static double median_ratio(const double *before, double *after, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) after[i] = before[i] / after[i];
  return hd_median(after, n);
}

/* Time those of a batch that are ready, beside the original, and let them go. */
static hd_status time_batch(run *r, const size_t *at, size_t n, hd_diag *d) {
  uint32_t slots[BATCH + 1] = {r->original}, rounds = rounds_of(r);
  if (!n) return HD_OK;
  for (size_t i = 0; i < n; i++) slots[i + 1] = r->x->trials.data[at[i]].slot;
  hd_status st = r->b->time(r->b->ctx, slots, n + 1, 0, rounds, r->us, d);
  for (size_t i = 0; i < n; i++) {
    search_trial *t = &r->x->trials.data[at[i]];
    r->b->release(r->b->ctx, t->slot);
    if (st != HD_OK) continue;
    t->score = median_ratio(r->us, r->us + (i + 1) * rounds, rounds);
    t->n = rounds;
    st = tell(r, t, d);
  }
  return st;
}

static bool is_open(const search_trial *t) { return t->score <= 0 && t->status == HD_OK; }

/* Tell the bench of the next trials without a result, from number `from` on. Returns behind the last of them.
 */
static size_t announce(run *r, size_t from) {
  hd_plan_set sets[SEARCH_AHEAD];
  hd_kernel_plan rooms[SEARCH_AHEAD];
  size_t n = 0;
  for (; from < r->x->trials.n && n < SEARCH_AHEAD; from++) {
    const search_trial *t = &r->x->trials.data[from];
    if (!is_open(t)) continue;
    sets[n] = set_of(r->x->kernel, &t->plan, &rooms[n]);
    n++;
  }
  if (n) r->b->ahead(r->b->ctx, sets, n);
  return from;
}

/* Trials from number `from` on without a result. */
static hd_status measure(run *r, size_t from, hd_diag *d) {
  hd_status st = HD_OK;
  size_t at[BATCH], n = 0, i = from, announced = from;
  for (; st == HD_OK && i < r->x->trials.n && !is_over(r); i++) {
    search_trial *t = &r->x->trials.data[i];
    bool ready;
    if (!is_open(t)) continue;
    if (r->b->ahead && i >= announced) announced = announce(r, i);
    st = admit(r, t, &ready, d);
    if (st == HD_OK && ready) at[n++] = i;
    if (st != HD_OK || n < BATCH) continue;
    st = time_batch(r, at, n, d);
    n = 0;
  }
  if (st == HD_OK) return time_batch(r, at, n, d);
  for (size_t k = 0; k < n; k++) r->b->release(r->b->ctx, r->x->trials.data[at[k]].slot);
  return st;
}

/* ---- The space ---------------------------------------------------------------------- */

static bool has_room(const run *r) { return !r->o->most || r->x->trials.n < r->o->most; }

static hd_status put_candidates(run *r, const hd_plan_space *space, hd_diag *d) {
  hd_candidate *list = calloc(HD_CANDIDATES, sizeof *list);
  if (!list) return hd_nomem(d);
  size_t n = hd_candidates(space, list, HD_CANDIDATES);
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < n && has_room(r); i++)
    st = exhaust_put(r->x, &(search_trial){.plan = list[i].plan}, d);
  free(list);
  return st;
}

/* Neighbours of the best ones. */
static hd_status put_neighbours(run *r, const hd_plan_space *space, hd_diag *d) {
  size_t at[CLIMBED], n = exhaust_rank(r->x, at, CLIMBED);
  hd_status st = HD_OK;
  for (size_t k = 0; k < n; k++) {
    hd_plan near[TUNER_NEIGHBOURS];
    if (r->x->trials.data[at[k]].score <= 1) break;
    size_t m = tuner_neighbours(space, r->x->trials.data, r->x->trials.n, at[k], near);
    for (size_t i = 0; st == HD_OK && i < m && has_room(r); i++)
      st = exhaust_put(r->x, &(search_trial){.plan = near[i]}, d);
  }
  return st;
}

static hd_status go_through(run *r, const hd_plan_space *space, hd_diag *d) {
  hd_status st = put_candidates(r, space, d);
  if (st == HD_OK) st = measure(r, 0, d);
  while (st == HD_OK && !is_over(r)) {
    size_t from = r->x->trials.n;
    st = put_neighbours(r, space, d);
    if (r->x->trials.n == from) {
      r->x->complete = st == HD_OK && has_room(r);
      break;
    }
    if (st == HD_OK) st = measure(r, from, d);
  }
  return st;
}

hd_status exhaust_run(exhaust *x, const tuner_bench *b, const hd_plan_space *space, const exhaust_options *o,
                      hd_diag *d) {
  run r = {.x = x, .b = b, .o = o, .start = b->clock(b->ctx)};
  for (size_t i = 0; i < x->trials.n; i++) r.best = fmax(r.best, x->trials.data[i].score);
  r.best = fmax(r.best, 1);
  x->complete = false;
  r.us = calloc((BATCH + 1) * (size_t)MOST_ROUNDS, sizeof *r.us);
  if (!r.us) return hd_nomem(d);
  hd_status st = b->admit(b->ctx, &hd_plan_set_original, &r.original, &r.original_us, d);
  if (st == HD_OK) {
    /* The first run of all finds everything cold. */
    st = b->time(b->ctx, &r.original, 1, b->exact ? 0 : 1, 1, r.us, d);
    if (st == HD_OK) r.original_us = r.us[0];
    if (st == HD_OK) st = go_through(&r, space, d);
    b->release(b->ctx, r.original);
  }
  free(r.us);
  return st;
}

/* ---- The contest -------------------------------------------------------------------- */

typedef struct contest {
  const tuner_bench *b;
  uint32_t *slots;  /* of the original, then of the plans that are ready */
  size_t *of;       /* their plans */
  size_t n;         /* plans that are ready */
  double *us, *all; /* of a place; of the original and each plan over all places */
  uint32_t rounds, done;
  bool entered; /* the original is ready */
} contest;

static hd_status enter(contest *c, const char *kernel, const hd_plan *plans, size_t n, hd_diag *d) {
  double us;
  hd_status st = c->b->admit(c->b->ctx, &hd_plan_set_original, &c->slots[0], &us, d);
  if (st != HD_OK) return st;
  c->entered = true;
  for (size_t i = 0; st == HD_OK && i < n; i++) {
    hd_diag e = {0};
    hd_kernel_plan room;
    const hd_plan_set set = set_of(kernel, &plans[i], &room);
    hd_status ready = c->b->admit(c->b->ctx, &set, &c->slots[c->n + 1], &us, &e);
    if (ready == HD_OK)
      c->of[c->n++] = i;
    else if (!search_plans_fault(ready)) {
      st = ready;
      if (d) *d = e;
    }
  }
  return st;
}

static void leave(contest *c) {
  if (!c->entered) return;
  for (size_t i = 0; i <= c->n; i++) c->b->release(c->b->ctx, c->slots[i]);
}

static hd_status run_in_place(contest *c, uint32_t places, uint32_t place, hd_diag *d) {
  uint32_t rounds = c->rounds / places, total = rounds * places;
  double part;
  hd_status st = HD_OK;
  if (c->b->move) st = c->b->move(c->b->ctx, 2 * place >= places, &part, d);
  if (st == HD_OK) st = c->b->time(c->b->ctx, c->slots, c->n + 1, c->b->exact ? 0 : 1, rounds, c->us, d);
  for (size_t i = 0; st == HD_OK && i <= c->n; i++)
    memcpy(c->all + i * total + c->done, c->us + i * rounds, rounds * sizeof *c->us);
  c->done += rounds;
  return st;
}

hd_status exhaust_contest(const tuner_bench *b, const char *kernel, const hd_plan *plans, size_t n,
                          uint32_t rounds, uint32_t places, hd_speedup *speedups, hd_diag *d) {
  contest c = {.b = b, .rounds = rounds};
  if (!b->move || places < 1) places = 1;
  if (c.rounds < places) c.rounds = places;
  c.rounds -= c.rounds % places;
  c.slots = calloc(n + 1, sizeof *c.slots);
  c.of = calloc(n + 1, sizeof *c.of);
  c.us = calloc(2 * (n + 1) * c.rounds, sizeof *c.us);
  for (size_t i = 0; i < n; i++) speedups[i] = (hd_speedup){0};
  hd_status st = c.slots && c.of && c.us ? HD_OK : hd_nomem(d);
  if (st == HD_OK) {
    c.all = c.us + (n + 1) * c.rounds;
    st = enter(&c, kernel, plans, n, d);
    for (uint32_t p = 0; st == HD_OK && p < places; p++) st = run_in_place(&c, places, p, d);
    for (size_t i = 0; st == HD_OK && i < c.n; i++)
      st = hd_paired_speedup(c.all, c.all + (i + 1) * c.rounds, c.rounds, 0.99, &speedups[c.of[i]], d);
    leave(&c);
    if (b->move) b->settle(b->ctx);
  }
  free(c.slots);
  free(c.of);
  free(c.us);
  return st;
}
