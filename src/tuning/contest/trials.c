/* The trials of a search: made ready, measured, let go, ranked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contest/search.h"

enum { MOST_RANKED = 96 };
/* A first time that much slower than the original's is not worth a second. A first run costs up to
 * first_run_us (microseconds) more than later ones. */
static const double hopeless = 0.95, least_hopeless = 0.25, first_run_us = 2000;
static const double hopeless_beside = 0.92; /* of the best so far */

/* ---- The clock ------------------------------------------------------------------------ */

bool search_meter_is_over(search_meter *m) {
  m->cut |= hd_is_over(m->until, m->stop);
  return m->cut;
}

double search_meter_now(search_meter *m) {
  static const double after_all = 1e9;
  return search_meter_is_over(m) ? after_all : m->worked;
}

hd_status search_meter_admits(search_meter *m, hd_diag *d) {
  return search_meter_is_over(m) ? hd_fail_bound(d, HD_BOUND_TIME, "the time was over before it was tried")
                                 : HD_OK;
}

/* ---- Bookkeeping -------------------------------------------------------------------- */

static bool lacks_its_table(const hd_plan *p) {
  return p->order.kind == HD_ORDER_TABLE && access(p->table, R_OK) != 0;
}

hd_status tuner_blame(hd_status st, const hd_plan_set *plans) {
  bool lacks = lacks_its_table(&plans->all);
  for (size_t i = 0; i < plans->n; i++) lacks |= lacks_its_table(&plans->kernels[i].plan);
  return st == HD_ERR_IO && lacks ? HD_ERR_INPUT : st;
}

hd_plan_set search_plans(const search *s, const hd_plan *p) {
  hd_plan_set set = s->o.fixed ? *s->o.fixed : (hd_plan_set){0};
  if (!s->o.kernel) {
    set.all = *p;
    return set;
  }
  if (set.n) memcpy(s->room, set.kernels, set.n * sizeof *set.kernels);
  s->room[set.n] = (hd_kernel_plan){s->o.kernel, *p};
  return (hd_plan_set){.all = set.all, .kernels = s->room, .n = set.n + !hd_plan_is_baseline(p)};
}

double search_now(const search *s) { return s->bench->clock(s->bench->ctx) - s->start; }

void search_report(const search *s, const char *stage, size_t done, size_t n) {
  if (s->o.progress) s->o.progress(s->o.progress_ctx, stage, done, n);
}

bool search_plans_fault(hd_status st) {
  return hd_blames_plan(st) || st == HD_ERR_INPUT || st == HD_ERR_NOMEM || st == HD_ERR_BUDGET;
}

void search_let_go(search *s, search_trial *t) {
  if (t->ready) s->bench->release(s->bench->ctx, t->slot);
  t->ready = false;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static hd_status rescore(search_trial *t, hd_diag *d) {
  double *copy = malloc((t->n ? t->n : 1) * sizeof *copy);
  if (!copy) return hd_nomem(d);
  memcpy(copy, t->ratios, t->n * sizeof *copy);
  qsort(copy, t->n, sizeof *copy, ascending);
  t->score = t->n ? hd_median(copy, t->n) : 0;
  free(copy);
  return HD_OK;
}

double search_extreme(const search_trial *t, bool best) {
  double x = t->n ? t->ratios[0] : 0;
  for (uint32_t i = 1; i < t->n; i++)
    if (best ? t->ratios[i] > x : t->ratios[i] < x) x = t->ratios[i];
  return x;
}

bool search_is_hopeful(const search_trial *t) { return search_extreme(t, true) >= SEARCH_LEAST_GAIN; }

static hd_status add_ratio(search_trial *t, double ratio, hd_diag *d) {
  if (t->n == t->cap) {
    uint32_t cap = t->cap ? 2 * t->cap : 8;
    double *more = realloc(t->ratios, cap * sizeof *more);
    if (!more) return hd_nomem(d);
    t->ratios = more;
    t->cap = cap;
  }
  t->ratios[t->n++] = ratio;
  return HD_OK;
}

/* ---- Measuring ------------------------------------------------------------------------ */

/* A trial that cannot be run any more has infinite times. */
static void give_up(search *s, search_trial *t) {
  t->n = 0;
  t->score = 0;
  t->status = HD_ERR_UNSUPPORTED;
  snprintf(t->why, sizeof t->why, "it cannot be run any more");
  search_let_go(s, t);
}

/* Rounds of the original and of trials, whose ratios they add to. The original runs in the middle of a round:
 * where clocks fall while a GPU warms up, it must not always be first, nor, as rounds rotate, always among
 * the last. */
hd_status search_measure(search *s, const size_t *at, size_t n, uint32_t warmups, uint32_t rounds,
                         hd_diag *d) {
  if (!n) return HD_OK;
  if (s->bench->exact) warmups = 0, rounds = 1;
  uint32_t *slots = calloc(n + 1, sizeof *slots);
  double *us = calloc((n + 1) * rounds, sizeof *us);
  size_t middle = (n + 1) / 2;
  hd_status st = slots && us ? HD_OK : hd_nomem(d);
  if (st == HD_OK) {
    slots[middle] = s->original;
    for (size_t i = 0; i < n; i++) slots[i + (i >= middle)] = s->trials.data[at[i]].slot;
    double begin = search_now(s);
    st = s->bench->time(s->bench->ctx, slots, n + 1, warmups, rounds, us, d);
    size_t runs = (n + 1) * (warmups + rounds);
    s->second = (search_now(s) - begin) / (double)runs;
  }
  for (size_t i = 0; st == HD_OK && i < n; i++) {
    search_trial *t = &s->trials.data[at[i]];
    const double *before = us + middle * rounds, *after = us + (i + (i >= middle)) * rounds;
    for (uint32_t r = 0; st == HD_OK && r < rounds; r++) {
      double ratio = before[r] / after[r];
      if (ratio > 0 && isfinite(ratio)) st = add_ratio(t, ratio, d);
    }
    if (st == HD_OK) st = rescore(t, d);
    if (isinf(after[rounds - 1])) give_up(s, t);
  }
  free(slots);
  free(us);
  return st;
}

bool search_is_known(const search *s, const hd_plan *p) {
  if (hd_plan_is_baseline(p)) return true;
  for (size_t i = 0; i < s->trials.n; i++)
    if (hd_plan_equal(&s->trials.data[i].plan, p)) return true;
  return false;
}

/* The best plan's slowest pair: among few pairs, one with an outlier would favour it. */
static double surely_reached(const search *s) {
  double best = 1;
  for (size_t i = 0; i < s->trials.n; i++) {
    const search_trial *t = &s->trials.data[i];
    if (t->ready && t->n > 1) best = fmax(best, search_extreme(t, false));
  }
  return best;
}

void search_announce(search *s, const hd_plan *const *plans, size_t n) {
  size_t room = (s->o.fixed ? s->o.fixed->n : 0) + 1;
  if (!s->bench->ahead || !n) return;
  hd_plan_set *sets = calloc(n, sizeof *sets);
  hd_kernel_plan *kernels = calloc(n * room, sizeof *kernels);
  for (size_t i = 0; sets && kernels && i < n; i++) {
    sets[i] = search_plans(s, plans[i]);
    if (!s->o.kernel) continue;
    memcpy(kernels + i * room, sets[i].kernels, sets[i].n * sizeof *kernels);
    sets[i].kernels = kernels + i * room;
  }
  if (sets && kernels) s->bench->ahead(s->bench->ctx, sets, n);
  free(kernels);
  free(sets);
}

static double worth_another_run(const search *s) {
  const double cost = first_run_us / s->original_us,
               least = s->o.least > 0 ? fmin(s->o.least, least_hopeless) : least_hopeless;
  return fmax(least, fmax(hopeless, hopeless_beside * surely_reached(s)) - cost);
}

hd_status search_admit(search *s, size_t at, hd_diag *d) {
  search_trial *t = &s->trials.data[at];
  hd_diag e = {0};
  double us = 0;
  const hd_plan_set plans = search_plans(s, &t->plan);
  hd_status st = s->bench->admit(s->bench->ctx, &plans, &t->slot, &us, &e);
  t->status = st;
  if (st == HD_OK) {
    t->ready = true;
    if (us > 0 && s->original_us > 0 && s->original_us / us < worth_another_run(s)) {
      if ((st = add_ratio(t, s->original_us / us, d)) == HD_OK) st = rescore(t, d);
      search_let_go(s, t);
    }
    return st;
  }
  hd_diag_line(&e, t->why, sizeof t->why);
  if (search_plans_fault(st)) return HD_OK;
  if (d) *d = e;
  return st;
}

uint32_t search_first_rounds(const search *s) {
  double us = s->original_us;
  return us < 300 ? 7 : us < 3000 ? 5 : us < 30000 ? 3 : us < 100000 ? 2 : 1;
}

/* ---- Ranks --------------------------------------------------------------------------- */

size_t search_rank(const search *s, size_t *out, size_t cap) {
  size_t n = 0;
  for (size_t i = 0; i < s->trials.n; i++) {
    const search_trial *t = &s->trials.data[i];
    if (!t->ready || t->score <= 0) continue;
    size_t k = n < cap ? n++ : cap;
    while (k && t->score > s->trials.data[out[k - 1]].score) {
      if (k < cap) out[k] = out[k - 1];
      k--;
    }
    if (k < cap) out[k] = i;
  }
  return n;
}

/* The best `cap` of the held trials, of which a quarter are left to families that the others do not belong
 * to. Best first. */
size_t search_rank_families(const search *s, size_t *out, size_t cap) {
  size_t all[MOST_RANKED], n = search_rank(s, all, MOST_RANKED), by_score = n < cap ? n : cap - cap / 4,
                           k = 0;
  bool in[MOST_RANKED] = {false};
  for (size_t i = 0; i < by_score; i++) in[i] = true;
  k = by_score;
  for (size_t i = by_score; i < n && k < cap; i++) {
    bool known = false;
    for (size_t j = 0; j < i; j++)
      known |= in[j] && s->trials.data[all[j]].family == s->trials.data[all[i]].family;
    in[i] = !known;
    k += !known;
  }
  for (size_t i = by_score; i < n && k < cap; i++) {
    k += !in[i];
    in[i] = true;
  }
  k = 0;
  for (size_t i = 0; i < n; i++)
    if (in[i]) out[k++] = all[i];
  return k;
}

void search_keep_only(search *s, const size_t *kept, size_t n) {
  for (size_t i = 0; i < s->trials.n; i++) {
    bool keep = false;
    for (size_t k = 0; k < n; k++) keep |= kept[k] == i;
    if (!keep) search_let_go(s, &s->trials.data[i]);
  }
}
