/* Which plans are measured how often, and whether the best one is adopted.
 *
 * - screening: candidates in batches, a few rounds each with the original among them, until their share of
 * the budget is spent. The next batch is chosen by the candidates' priors and by what was seen of their
 * families (hd_plan_family): a family that nobody looked at comes early, one that wins is looked into, one
 * that loses waits
 * - halving: the better half again with twice the rounds, until few are left; the best of each family stays
 *   longer than its score alone would let it
 * - climbing: neighbours of the best (SMC 5.1), and its levers with those of others, while that helps
 * - finals: the few best with new rounds that alone decide who is first
 * - the test: the first one against the original, with rounds that decide nothing else, in places that chose
 *   nothing; should it owe its win to where buffers lay, the second one too
 *
 * A plan of which no pair reached the gain that adoption takes is not followed further: with noise as small
 * as long kernels have it that leaves nothing to follow where nothing helps, and the search ends there.
 *
 * Choosing the best of many by noisy times flatters it. The last step is why that does no harm: its pairs are
 * independent of the choice, so that a plan which is not faster is adopted no more often than the interval
 * errs, however many were tried.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tuner.h"

enum {
  BATCH = 8,
  LEAST_SCREENED = 4, /* batches that are screened whatever the budget says: one of so many plans */
  FINALISTS = 4,
  FINAL_ROUNDS = 21,
  CLIMB_ROUNDS = 7,
  MOST_HALVED = 24,
  MOST_RANKED = 96,
  MOST_CLIMBS = 12,
  LEAST_TEST = 8, /* pairs: fewer say nothing at 99% */
  MOST_TEST = 41,
};

/* Parts of the budget at whose end a stage is over; the rest is the test's. */
static const double screening_ends = 0.5, climbing_ends = 0.75, finals_end = 0.88;
/* A first time that much slower than the original's is not worth a second. It also tells what a first run of
 * anything costs, up to so many microseconds. */
static const double hopeless = 0.95, least_hopeless = 0.25, first_run_us = 2000;
static const double losing = 0.85;      /* two pairs as slow as that are enough */
static const double step_worth = 1.003; /* by which a step must be faster to go on from it */
/* What the test alone may take, in budgets; a kernel that is slower still is left alone. */
static const double most_over_budget = 2;
/* Gains below are adopted by nobody: they do not outlive a new driver, or another run. */
static const double least_gain = 1.005;
static const double promising = 1.001; /* to be worth the test */

/* ---- Bookkeeping -------------------------------------------------------------------- */

static double now(const search *s) { return s->bench->clock(s->bench->ctx) - s->start; }

static void report(const search *s, const char *stage, size_t done, size_t n) {
  if (s->o.progress) s->o.progress(s->o.progress_ctx, stage, done, n);
}

static bool plans_business(hd_status st) {
  return st == HD_ERR_REFUSED || st == HD_ERR_UNSUPPORTED || st == HD_ERR_USAGE || st == HD_ERR_INPUT ||
         st == HD_ERR_NOMEM;
}

static void let_go(search *s, search_trial *t) {
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

/* The pair that speaks most for it, or least. */
static double extreme(const search_trial *t, bool best) {
  double x = t->n ? t->ratios[0] : 0;
  for (uint32_t i = 1; i < t->n; i++)
    if (best ? t->ratios[i] > x : t->ratios[i] < x) x = t->ratios[i];
  return x;
}

static bool is_hopeful(const search_trial *t) { return extreme(t, true) >= least_gain; }

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

/* Rounds of the original and of trials, whose ratios they add to. The original runs in the middle of a round:
 * where clocks fall while a GPU warms up, it must not always be first, nor, as rounds rotate, always among
 * the last. */
static hd_status measure(search *s, const size_t *at, size_t n, uint32_t warmups, uint32_t rounds,
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
    double begin = now(s);
    st = s->bench->time(s->bench->ctx, slots, n + 1, warmups, rounds, us, d);
    size_t runs = (n + 1) * (warmups + rounds);
    s->second = (now(s) - begin) / (double)runs;
  }
  for (size_t i = 0; st == HD_OK && i < n; i++) {
    search_trial *t = &s->trials.data[at[i]];
    const double *before = us + middle * rounds, *after = us + (i + (i >= middle)) * rounds;
    for (uint32_t r = 0; st == HD_OK && r < rounds; r++) {
      double ratio = before[r] / after[r];
      if (ratio > 0 && isfinite(ratio)) st = add_ratio(t, ratio, d);
    }
    if (st == HD_OK) st = rescore(t, d);
  }
  free(slots);
  free(us);
  return st;
}

static bool is_known(const search *s, const hd_plan *p) {
  if (hd_plan_is_baseline(p)) return true;
  for (size_t i = 0; i < s->trials.n; i++)
    if (hd_plan_equal(&s->trials.data[i].plan, p)) return true;
  return false;
}

static double worth_another_run(const search *s) {
  return fmax(least_hopeless, hopeless - first_run_us / s->original_us);
}

/* Make a trial ready. One whose first time is hopeless is let go at once. */
static hd_status admit(search *s, size_t at, hd_diag *d) {
  search_trial *t = &s->trials.data[at];
  hd_diag e = {0};
  double us = 0;
  hd_status st = s->bench->admit(s->bench->ctx, &t->plan, &t->slot, &us, &e);
  t->status = st;
  if (st == HD_OK) {
    t->ready = true;
    if (us > 0 && s->original_us > 0 && s->original_us / us < worth_another_run(s)) {
      if ((st = add_ratio(t, s->original_us / us, d)) == HD_OK) st = rescore(t, d);
      let_go(s, t);
    }
    return st;
  }
  hd_diag_line(&e, t->why, sizeof t->why);
  if (plans_business(st)) return HD_OK;
  if (d) *d = e;
  return st;
}

/* Rounds in the first measurement of a plan: enough for a median where they cost next to nothing. */
static uint32_t first_rounds(const search *s) {
  double us = s->original_us;
  return us < 300 ? 7 : us < 3000 ? 5 : us < 30000 ? 3 : us < 100000 ? 2 : 1;
}

/* ---- Screening --------------------------------------------------------------------------- */

/* Trials of a batch: two rounds tell the clear losers, the others get the rest. */
static hd_status measure_batch(search *s, size_t *at, size_t k, hd_diag *d) {
  enum { LOOK = 2 };
  uint32_t rounds = first_rounds(s);
  hd_status st = measure(s, at, k, 0, rounds < LOOK ? rounds : LOOK, d);
  if (st != HD_OK || rounds <= LOOK || s->bench->exact) return st;
  size_t left = 0;
  for (size_t i = 0; i < k; i++)
    if (extreme(&s->trials.data[at[i]], true) >= losing) at[left++] = at[i];
  return measure(s, at, left, 0, rounds - LOOK, d);
}

/* What the trials of a family have shown. */
typedef struct evidence {
  uint32_t tried;
  double best; /* score; 0: none was measured */
} evidence;

static evidence look_up(const search *s, uint32_t family) {
  evidence e = {0};
  for (size_t i = 0; i < s->trials.n; i++) {
    const search_trial *t = &s->trials.data[i];
    if (t->family != family) continue;
    e.tried++;
    e.best = fmax(e.best, t->score);
  }
  return e;
}

/* The greater, the sooner the candidate is tried. */
static double promise(const search *s, const hd_candidate *c) {
  static const double unknown = 0.25, most_for_winning = 0.5, losing_family = 0.5;
  evidence e = look_up(s, hd_plan_family(&c->plan));
  if (!e.tried) return c->prior + unknown;
  if (e.best >= promising) return c->prior + fmin(most_for_winning, 2 * (e.best - 1));
  return e.tried > 1 && e.best < losing ? c->prior - losing_family : c->prior;
}

/* Make the candidate that promises most a trial; false when none is left. */
static hd_status take_next(search *s, bool *took, hd_diag *d) {
  size_t best = s->waiting.n;
  double most = 0;
  *took = false;
  for (size_t i = 0; i < s->waiting.n; i++) {
    double p = promise(s, &s->waiting.data[i]);
    if (best < s->waiting.n && p <= most) continue;
    best = i;
    most = p;
  }
  if (best == s->waiting.n) return HD_OK;
  if (!hd_vec_reserve(&s->trials, s->trials.n + 1)) return hd_nomem(d);
  hd_plan plan = s->waiting.data[best].plan;
  s->trials.data[s->trials.n++] = (search_trial){.plan = plan, .family = hd_plan_family(&plan)};
  s->waiting.n--;
  memmove(&s->waiting.data[best], &s->waiting.data[best + 1],
          (s->waiting.n - best) * sizeof *s->waiting.data);
  *took = true;
  return HD_OK;
}

/* Admit up to k of the candidates that promise most: at[*n] are ready. */
static hd_status admit_batch(search *s, size_t k, double until, size_t *at, size_t *n, hd_diag *d) {
  hd_status st = HD_OK;
  bool took = true;
  *n = 0;
  while (st == HD_OK && took && *n < k && (now(s) < until || !*n)) {
    st = take_next(s, &took, d);
    if (st != HD_OK || !took) break;
    st = admit(s, s->trials.n - 1, d);
    if (st == HD_OK && s->trials.data[s->trials.n - 1].ready) at[(*n)++] = s->trials.n - 1;
    report(s, "screening", s->trials.n, s->trials.n + s->waiting.n);
  }
  return st;
}

static hd_status screen(search *s, double until, hd_diag *d) {
  size_t batch = s->o.batch ? s->o.batch : BATCH, n, measured = 0;
  size_t *at = calloc(batch, sizeof *at);
  if (!at) return hd_nomem(d);
  hd_status st = HD_OK;
  while (st == HD_OK && s->waiting.n && (now(s) < until || measured < LEAST_SCREENED)) {
    size_t from = s->trials.n;
    bool over = now(s) >= until; /* as few as must be */
    st = admit_batch(s, over ? 1 : batch, until, at, &n, d);
    for (size_t i = from; i < s->trials.n; i++) measured += s->trials.data[i].status == HD_OK;
    if (st == HD_OK) st = measure_batch(s, at, n, d);
    for (size_t i = from; i < s->trials.n; i++)
      if (!is_hopeful(&s->trials.data[i])) let_go(s, &s->trials.data[i]);
  }
  free(at);
  report(s, "screening", s->trials.n, s->trials.n);
  return st;
}

/* ---- Halving -------------------------------------------------------------------------------- */

/* The held trials by their score, best first; returns how many, at most cap. */
static size_t rank(const search *s, size_t *out, size_t cap) {
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
static size_t rank_families(const search *s, size_t *out, size_t cap) {
  size_t all[MOST_RANKED], n = rank(s, all, MOST_RANKED), by_score = n < cap ? n : cap - cap / 4, k = 0;
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

static void keep_only(search *s, const size_t *kept, size_t n) {
  for (size_t i = 0; i < s->trials.n; i++) {
    bool keep = false;
    for (size_t k = 0; k < n; k++) keep |= kept[k] == i;
    if (!keep) let_go(s, &s->trials.data[i]);
  }
}

/* Those of which no pair is as fast as the leader's slowest one, and those that lost their hope. Returns how
 * many are left. */
static size_t drop_losers(search *s, const size_t *at, size_t n, size_t *out) {
  size_t left = 0;
  double least = n ? extreme(&s->trials.data[at[0]], false) : 0;
  for (size_t i = 0; i < n; i++) {
    const search_trial *t = &s->trials.data[at[i]];
    if (is_hopeful(t) && (!i || t->n < LEAST_TEST || extreme(t, true) >= least)) out[left++] = at[i];
  }
  return left;
}

static hd_status halve(search *s, double until, hd_diag *d) {
  size_t at[MOST_HALVED];
  size_t n = rank_families(s, at, MOST_HALVED), half = 0;
  for (size_t i = 0; i < s->trials.n; i++) half += s->trials.data[i].ready;
  half = (half + 1) / 2;
  uint32_t rounds = first_rounds(s);
  hd_status st = HD_OK;
  if (n > half && half >= FINALISTS) n = rank_families(s, at, half);
  while (st == HD_OK && n > FINALISTS && now(s) < until) {
    keep_only(s, at, n);
    rounds = rounds < FINAL_ROUNDS ? 2 * rounds : rounds;
    st = measure(s, at, n, 0, rounds, d);
    n = rank_families(s, at, (n + 1) / 2 > FINALISTS ? (n + 1) / 2 : FINALISTS);
    n = drop_losers(s, at, n, at);
    report(s, "halving", FINALISTS, n > FINALISTS ? n : FINALISTS);
  }
  keep_only(s, at, n);
  n = rank_families(s, at, FINALISTS);
  keep_only(s, at, n);
  return st;
}

/* ---- Climbing ---------------------------------------------------------------------------------- */

/* Admit those neighbours of a trial that are new and measure them with it. *better: one of them is. */
static hd_status step(search *s, size_t from, double until, size_t *better, hd_diag *d) {
  hd_plan plans[TUNER_NEIGHBOURS];
  size_t at[TUNER_NEIGHBOURS + 1], n = 0;
  size_t m = tuner_neighbours(s->space, s->trials.data, s->trials.n, from, plans);
  hd_status st = HD_OK;
  *better = from;
  at[n++] = from;
  for (size_t i = 0; st == HD_OK && i < m && now(s) < until; i++) {
    if (is_known(s, &plans[i])) continue;
    if (!hd_vec_reserve(&s->trials, s->trials.n + 1)) return hd_nomem(d);
    search_trial *t = &s->trials.data[s->trials.n];
    *t = (search_trial){.family = hd_plan_family(&plans[i])};
    if ((st = hd_plan_copy(&plans[i], &t->plan, d)) != HD_OK) return st;
    s->trials.n++;
    st = admit(s, s->trials.n - 1, d);
    if (st == HD_OK && s->trials.data[s->trials.n - 1].ready) at[n++] = s->trials.n - 1;
  }
  if (st != HD_OK || n == 1) return st;
  uint32_t rounds = first_rounds(s);
  st = measure(s, at, n, 0, rounds < 3 ? rounds : CLIMB_ROUNDS, d);
  for (size_t i = 1; st == HD_OK && i < n; i++) {
    search_trial *t = &s->trials.data[at[i]];
    /* Even where it beats what it came from, which new rounds may have shown to be slow. */
    if (!is_hopeful(t))
      let_go(s, t);
    else if (t->score > s->trials.data[*better].score * step_worth)
      *better = at[i];
  }
  return st;
}

/* Where a second climb begins: the best of another family than the first one's, unless that is far behind. */
static size_t second_start(const search *s, const size_t *at, size_t n) {
  static const double far_behind = 0.95;
  const search_trial *first = &s->trials.data[at[0]];
  for (size_t k = 1; k < n; k++) {
    const search_trial *t = &s->trials.data[at[k]];
    if (t->family != first->family && t->score >= far_behind * first->score) return at[k];
  }
  return n > 1 ? at[1] : at[0];
}

static hd_status climb_from(search *s, size_t from, double until, hd_diag *d) {
  hd_status st = HD_OK;
  if (s->trials.data[from].score < promising) return HD_OK;
  for (size_t i = 0, to; st == HD_OK && i < MOST_CLIMBS && now(s) < until; i++) {
    st = step(s, from, until, &to, d);
    report(s, "climbing", i, MOST_CLIMBS);
    if (to == from) break;
    from = to;
  }
  return st;
}

static hd_status climb(search *s, double until, hd_diag *d) {
  size_t at[FINALISTS];
  size_t n = rank(s, at, FINALISTS);
  if (!n) return HD_OK;
  size_t second = second_start(s, at, n);
  hd_status st = climb_from(s, at[0], until, d);
  if (st == HD_OK && second != at[0] && s->trials.data[second].ready) st = climb_from(s, second, until, d);
  n = rank_families(s, at, FINALISTS);
  keep_only(s, at, n);
  return st;
}

/* ---- Finals and the test --------------------------------------------------------------------------- */

/* Rounds of n slots that fit until then. */
static uint32_t affordable(const search *s, size_t n, double until, uint32_t least, uint32_t most) {
  double left = until - now(s), round = s->second * (double)n;
  double rounds = round > 0 ? left / round : most;
  return rounds <= least ? least : rounds >= most ? most : (uint32_t)rounds;
}

static hd_status finals(search *s, double until, hd_diag *d) {
  size_t at[FINALISTS];
  size_t n = rank(s, at, FINALISTS);
  if (n < 2 || s->bench->exact) {
    s->best = n ? (int64_t)at[0] : -1;
    return HD_OK;
  }
  /* Earlier rounds chose these: they speak for all of them too well. */
  for (size_t i = 0; i < n; i++) s->trials.data[at[i]].n = 0;
  hd_status st = measure(s, at, n, 1, affordable(s, n + 1, until, 2, FINAL_ROUNDS), d);
  rank(s, at, n);
  s->best = (int64_t)at[0];
  return st;
}

hd_status search_compare(const tuner_bench *b, const hd_plan *p, uint32_t rounds, double confidence,
                         hd_speedup *speedup, double *before_us, double *after_us, hd_diag *d) {
  static const hd_plan original;
  /* Two halves, each with both loaded anew: where code and tables come to lie is chance as well. */
  bool slow = rounds <= LEAST_TEST;
  uint32_t halves = b->exact || slow ? 1 : 2, done = 0;
  if (b->exact) rounds = LEAST_TEST;
  double *before = calloc(2 * (size_t)rounds, sizeof *before), *after = before ? before + rounds : NULL;
  double *us = calloc(2 * (size_t)rounds, sizeof *us);
  hd_status st = before && us ? HD_OK : hd_nomem(d);
  for (uint32_t h = 0; st == HD_OK && h < halves; h++) {
    uint32_t n = h + 1 < halves ? rounds / 2 : rounds - done, slots[2], held = 0;
    double rough;
    st = b->admit(b->ctx, h ? p : &original, &slots[h ? 1 : 0], &rough, d);
    held += st == HD_OK;
    if (st == HD_OK) st = b->admit(b->ctx, h ? &original : p, &slots[h ? 0 : 1], &rough, d);
    held += st == HD_OK;
    if (st == HD_OK) st = b->time(b->ctx, slots, 2, b->exact || slow ? 0 : 1, n, us, d);
    if (st == HD_OK) {
      memcpy(before + done, us, n * sizeof *us);
      memcpy(after + done, us + n, n * sizeof *us);
      done += n;
    }
    if (held) b->release(b->ctx, slots[h ? 1 : 0]);
    if (held > 1) b->release(b->ctx, slots[h ? 0 : 1]);
  }
  if (st == HD_OK) st = hd_paired_speedup(before, after, done, confidence, speedup, d);
  if (st == HD_OK) {
    *before_us = hd_median(before, done);
    *after_us = hd_median(after, done);
  }
  free(before);
  free(us);
  return st;
}

uint32_t search_rounds(double us, double seconds, uint32_t most) {
  double n = us > 0 ? seconds * 1e6 / us : most;
  return n < LEAST_TEST ? LEAST_TEST : n > most ? most : (uint32_t)n;
}

/* Measure a plan afresh, in other places where there are any. */
static hd_status test_one(const search *s, const hd_plan *p, search_test *out, hd_diag *d) {
  const tuner_bench *b = s->bench;
  *out = (search_test){0};
  if (!b->move) {
    uint32_t rounds = affordable(s, 2, s->o.budget, LEAST_TEST, MOST_TEST);
    return search_compare(b, p, rounds, s->o.confidence, &out->speedup, &out->before_us, &out->after_us, d);
  }
  confirm_options o = {.confidence = s->o.confidence, .least = 1};
  confirm_afford(b, s->second, s->o.budget - now(s), &o);
  return search_confirm(b, p, &o, out, d);
}

static double least_test(const search *s) {
  const tuner_bench *b = s->bench;
  if (b->exact) return 0;
  return b->move ? confirm_takes(b, s->second, s->o.confidence) : (2 * LEAST_TEST + 2) * s->second;
}

/* The best one is the first that passes; else the first. Where a plan wins may be where buffers lay while it
 * was chosen: then the next one is worth a test, if there is time left. With two tests of a plan that gains
 * nothing, each passed in one of 2^8 cases, the rate of false adoptions stays below 1%. */
static hd_status test(search *s, hd_diag *d) {
  enum { TESTS = 2 };
  size_t at[FINALISTS], n = rank(s, at, FINALISTS);
  keep_only(s, NULL, 0);
  s->best = -1;
  for (size_t i = 0; i < n && i < TESTS && !s->adopted; i++) {
    search_trial *t = &s->trials.data[at[i]];
    search_test result;
    hd_diag e = {0};
    if (t->score < promising || (i && now(s) + least_test(s) > s->o.budget)) break;
    report(s, "testing", i, TESTS);
    hd_status st = test_one(s, &t->plan, &result, &e);
    if (st != HD_OK && !plans_business(st)) {
      if (d) *d = e;
      return st;
    }
    if (st != HD_OK) {
      /* It was ready before, and is not now. */
      t->status = st;
      hd_diag_line(&e, t->why, sizeof t->why);
      continue;
    }
    s->adopted = result.speedup.low > 1 && result.speedup.median >= least_gain;
    if (s->best < 0 || s->adopted) {
      s->best = (int64_t)at[i];
      s->tested = result;
    }
    if (!s->bench->move) break;
  }
  report(s, "testing", TESTS, TESTS);
  return HD_OK;
}

/* ---- All of it ----------------------------------------------------------------------------------------- */

static hd_status take_candidates(search *s, const hd_candidate *list, size_t n, hd_diag *d) {
  hd_status st = hd_vec_reserve(&s->waiting, n) ? HD_OK : hd_nomem(d);
  for (size_t i = 0; i < n; i++) {
    hd_candidate c = list[i];
    bool known = st != HD_OK || hd_plan_is_baseline(&c.plan);
    for (size_t k = 0; !known && k < s->waiting.n; k++)
      known = hd_plan_equal(&s->waiting.data[k].plan, &c.plan);
    if (known)
      hd_plan_free(&c.plan);
    else
      s->waiting.data[s->waiting.n++] = c;
  }
  return st;
}

/* The first run of all finds cold clocks; the second one is what others are measured by. Where a run takes
 * long that makes no difference. */
static hd_status time_original(search *s, hd_diag *d) {
  const tuner_bench *b = s->bench;
  s->second = s->original_us * 1e-6;
  if (s->original_us < 100e3) {
    double us[2], begin = now(s);
    hd_status st = b->time(b->ctx, &s->original, 1, b->exact ? 0 : 1, 1, us, d);
    if (st != HD_OK) return st;
    s->second = (now(s) - begin) / 2;
    s->original_us = us[0];
  }
  s->tested.before_us = s->tested.after_us = s->original_us;
  return HD_OK;
}

static void forget_candidates(search *s) {
  for (size_t i = 0; i < s->waiting.n; i++) hd_plan_free(&s->waiting.data[i].plan);
  s->waiting.n = 0;
}

hd_status tuner_search(search *s, const tuner_bench *b, const hd_plan_space *space, const hd_candidate *list,
                       size_t n, const search_options *o, hd_diag *d) {
  static const hd_plan original;
  *s = (search){.bench = b,
                .space = space,
                .o = *o,
                .best = -1,
                .tested.speedup = {.median = 1, .low = 0, .high = INFINITY}};
  s->start = b->clock(b->ctx);
  hd_status st = take_candidates(s, list, n, d), before = st;
  if (st == HD_OK) before = st = b->admit(b->ctx, &original, &s->original, &s->original_us, d);
  if (st == HD_OK) st = time_original(s, d);
  /* The test is worth more than any other measurement: its least is set aside first. */
  double test_takes = least_test(s), budget = s->o.budget - test_takes;
  s->unaffordable = test_takes > most_over_budget * s->o.budget;
  if (budget < s->o.budget / 4) budget = s->o.budget / 4;
  if (s->unaffordable) forget_candidates(s);
  if (st == HD_OK) st = screen(s, screening_ends * budget, d);
  forget_candidates(s); /* what the budget did not reach was not tried */
  if (st == HD_OK) st = halve(s, climbing_ends * budget, d);
  if (st == HD_OK) st = climb(s, climbing_ends * budget, d);
  if (st == HD_OK) st = finals(s, finals_end * budget, d);
  if (st == HD_OK && s->best >= 0 && s->trials.data[s->best].score >= promising) st = test(s, d);
  keep_only(s, NULL, 0);
  if (before == HD_OK) b->release(b->ctx, s->original);
  return st;
}

void search_free(search *s) {
  forget_candidates(s);
  hd_vec_free(&s->waiting);
  for (size_t i = 0; i < s->trials.n; i++) {
    free(s->trials.data[i].ratios);
    hd_plan_free(&s->trials.data[i].plan);
  }
  hd_vec_free(&s->trials);
}
