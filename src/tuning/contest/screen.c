/* Screening: the choice of candidates to measure, and of those to follow. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contest/search.h"

enum {
  BATCH = 8,
  LEAST_SCREENED = 4, /* plans that are screened whatever the budget says, of long runs */
  LEAST_SEEN = 20,    /* and those that are worth more time than the budget's */
  LEAST_FAMILY = 8,   /* trials of a family that never gained, before it waits */
  SHORT_ROUNDS = 5,   /* of a first measurement, where runs take less than 3 ms */
  STALE = 2,          /* batches without a better plan, before climbing begins */
  MOST_HALVED = 24,
  MOST_FAMILIES = 64,
};
static const double losing = 0.85; /* two pairs as slow as that are enough */
/* A plan that leads by so much is worth climbing from, after so much of the time for screening. */
static const double leading = 1.05, least_screening = 0.64, step_worth = 1.003;

/* ---- Screening --------------------------------------------------------------------------- */

/* Trials of a batch: two rounds tell the clear losers, the others get the rest. */
static hd_status measure_batch(search *s, size_t *at, size_t k, hd_diag *d) {
  enum { LOOK = 2 };
  uint32_t rounds = search_first_rounds(s);
  hd_status st = search_measure(s, at, k, 0, rounds < LOOK ? rounds : LOOK, d);
  if (st != HD_OK || rounds <= LOOK || s->bench->exact) return st;
  size_t left = 0;
  for (size_t i = 0; i < k; i++)
    if (search_extreme(&s->trials.data[at[i]], true) >= losing) at[left++] = at[i];
  return search_measure(s, at, left, 0, rounds - LOOK, d);
}

/* The results of each family's trials so far. */
typedef struct evidence {
  uint32_t family, tried;
  double best; /* score; 0: none was measured */
} evidence;
typedef struct families {
  evidence of[MOST_FAMILIES];
  size_t n;
} families;

static evidence *look_up(families *f, uint32_t family) {
  for (size_t i = 0; i < f->n; i++)
    if (f->of[i].family == family) return &f->of[i];
  return NULL;
}

static void learn(const search *s, families *out) {
  out->n = 0;
  for (size_t i = 0; i < s->trials.n; i++) {
    const search_trial *t = &s->trials.data[i];
    evidence *e = look_up(out, t->family);
    if (!e && out->n == MOST_FAMILIES) continue;
    if (!e) {
      e = &out->of[out->n++];
      *e = (evidence){.family = t->family};
    }
    e->tried++;
    e->best = fmax(e->best, t->score);
  }
}

/* The greater, the sooner the candidate is tried. */
static double promise(families *f, const search_waiting *w) {
  static const double unknown = 0.25, most_for_winning = 0.5, losing_family = 0.5, flat_family = 0.3;
  const evidence *e = look_up(f, w->family);
  double prior = w->candidate.prior;
  if (!e) return prior + unknown;
  if (e->best >= SEARCH_PROMISING) return prior + fmin(most_for_winning, 2 * (e->best - 1));
  if (e->tried > 1 && e->best < losing) return prior - losing_family;
  return e->tried >= LEAST_FAMILY ? prior - flat_family : prior;
}

/* Tell the bench of those that promise most: it prepares them while others are measured, where making them
 * ready one after the other takes most of the time. */
static void announce(search *s, families *f) {
  size_t at[SEARCH_AHEAD], n = 0;
  double score[SEARCH_AHEAD];
  const hd_plan *plans[SEARCH_AHEAD];
  for (size_t i = 0; i < s->waiting.n; i++) {
    if (s->waiting.data[i].announced) continue;
    double p = promise(f, &s->waiting.data[i]);
    size_t k = n < SEARCH_AHEAD ? n++ : SEARCH_AHEAD;
    for (; k && p > score[k - 1]; k--)
      if (k < SEARCH_AHEAD) score[k] = score[k - 1], at[k] = at[k - 1];
    if (k < SEARCH_AHEAD) score[k] = p, at[k] = i;
  }
  for (size_t i = 0; i < n; i++) {
    s->waiting.data[at[i]].announced = true;
    plans[i] = &s->waiting.data[at[i]].candidate.plan;
  }
  search_announce(s, plans, n);
}

/* Make the candidate that promises most a trial. */
static hd_status take_next(search *s, hd_diag *d) {
  families f;
  size_t best = 0, announced = 0;
  double most = -INFINITY;
  if (!hd_vec_reserve(&s->trials, s->trials.n + 1)) return hd_nomem(d);
  learn(s, &f);
  for (size_t i = 0; i < s->waiting.n; i++) {
    double p = promise(&f, &s->waiting.data[i]);
    announced += s->waiting.data[i].announced;
    if (p <= most) continue;
    best = i;
    most = p;
  }
  /* A batch is measured while the next ones are made ready. */
  if (s->bench->ahead && (announced < BATCH || !s->waiting.data[best].announced)) announce(s, &f);
  search_waiting *at = &s->waiting.data[best];
  s->trials.data[s->trials.n++] = (search_trial){.plan = at->candidate.plan, .family = at->family};
  s->waiting.n--;
  memmove(at, at + 1, (s->waiting.n - best) * sizeof *at);
  return HD_OK;
}

/* Candidates that were tried and that the budget still affords, at the pace so far. */
static size_t affordable(const search *s) {
  const size_t all = s->trials.n + s->waiting.n;
  const double used = search_now(s), most = used > 0 ? (double)s->trials.n * s->o.budget / used : (double)all;
  return most >= (double)all ? all : most > (double)s->trials.n ? (size_t)most : s->trials.n;
}

/* Admit candidates that promise most, until k are ready, or until then, but one at least: at[*n] are ready.
 */
static hd_status admit_batch(search *s, size_t k, double until, size_t *at, size_t *n, hd_diag *d) {
  hd_status st = HD_OK;
  *n = 0;
  for (bool first = true; st == HD_OK && s->waiting.n && *n < k && (first || search_now(s) < until);
       first = false) {
    st = take_next(s, d);
    if (st == HD_OK) st = search_admit(s, s->trials.n - 1, d);
    if (st == HD_OK && s->trials.data[s->trials.n - 1].ready) at[(*n)++] = s->trials.n - 1;
    search_report(s, "screening", s->trials.n, affordable(s));
  }
  return st;
}

static size_t count_measured(const search *s) {
  size_t n = 0;
  for (size_t i = 0; i < s->trials.n; i++) n += s->trials.data[i].status == HD_OK;
  return n;
}

/* Where runs are short, the bench has prepared plans whose runs cost next to nothing: all of these. */
static bool least_is_screened(const search *s) {
  bool cheap = s->bench->ahead && search_first_rounds(s) >= SHORT_ROUNDS;
  return count_measured(s) >= (cheap ? SEARCH_AHEAD : LEAST_SCREENED);
}

/* Few plans were seen, or one of a kind that nothing is known of is likely to win: fetching ahead with
 * bind=redirect won 1.25x in backprop on an H100, behind thirty plans of better known kinds. */
static bool worth_more_time(const search *s) {
  static const double likely = 0.6;
  families f;
  if (count_measured(s) < LEAST_SEEN) return true;
  learn(s, &f);
  for (size_t i = 0; i < s->waiting.n; i++)
    if (!look_up(&f, s->waiting.data[i].family) && promise(&f, &s->waiting.data[i]) >= likely) return true;
  return false;
}

static double best_score(const search *s) {
  double best = 0;
  for (size_t i = 0; i < s->trials.n; i++)
    if (s->trials.data[i].ready) best = fmax(best, s->trials.data[i].score);
  return best;
}

hd_status search_screen(search *s, double until, hd_diag *d) {
  size_t batch = s->o.batch ? s->o.batch : BATCH, n, stale = 0;
  double best = 0, begin = search_now(s), enough = begin + least_screening * (until - begin);
  size_t *at = calloc(batch, sizeof *at);
  if (!at) return hd_nomem(d);
  hd_status st = HD_OK;
  const double latest = search_overtime(s, until);
  while (st == HD_OK && s->waiting.n) {
    size_t from = s->trials.n;
    bool over = search_now(s) >= until, over_all = search_now(s) >= latest; /* as few as must be */
    if (over && (over_all || !worth_more_time(s)) && least_is_screened(s)) break;
    if (best >= leading && stale >= STALE && search_now(s) >= enough && !worth_more_time(s)) break;
    st = admit_batch(s, over_all ? 1 : batch, over ? latest : until, at, &n, d);
    if (st == HD_OK) st = measure_batch(s, at, n, d);
    for (size_t i = from; i < s->trials.n; i++)
      if (!search_is_hopeful(&s->trials.data[i])) search_let_go(s, &s->trials.data[i]);
    stale = best_score(s) > best * step_worth ? 0 : stale + 1;
    best = fmax(best, best_score(s));
  }
  free(at);
  search_ran_late(s, until);
  search_report(s, "screening", s->trials.n, s->trials.n);
  return st;
}

/* ---- Halving -------------------------------------------------------------------------------- */

/* Those of which no pair is as fast as the leader's slowest one, and those that lost their hope. Returns how
 * many are left. */
static size_t drop_losers(search *s, const size_t *at, size_t n, size_t *out) {
  size_t left = 0;
  double least = n ? search_extreme(&s->trials.data[at[0]], false) : 0;
  for (size_t i = 0; i < n; i++) {
    const search_trial *t = &s->trials.data[at[i]];
    if (search_is_hopeful(t) && (!i || t->n < SEARCH_LEAST_TEST || search_extreme(t, true) >= least))
      out[left++] = at[i];
  }
  return left;
}

hd_status search_halve(search *s, double until, hd_diag *d) {
  size_t at[MOST_HALVED];
  size_t n = search_rank_families(s, at, MOST_HALVED), half = 0;
  for (size_t i = 0; i < s->trials.n; i++) half += s->trials.data[i].ready;
  half = (half + 1) / 2;
  uint32_t rounds = search_first_rounds(s);
  hd_status st = HD_OK;
  if (n > half && half >= SEARCH_FINALISTS) n = search_rank_families(s, at, half);
  while (st == HD_OK && n > SEARCH_FINALISTS && search_now(s) < until) {
    search_keep_only(s, at, n);
    rounds = rounds < SEARCH_FINAL_ROUNDS ? 2 * rounds : rounds;
    st = search_measure(s, at, n, 0, rounds, d);
    n = search_rank_families(s, at, (n + 1) / 2 > SEARCH_FINALISTS ? (n + 1) / 2 : SEARCH_FINALISTS);
    n = drop_losers(s, at, n, at);
    search_report(s, "halving", SEARCH_FINALISTS, n > SEARCH_FINALISTS ? n : SEARCH_FINALISTS);
  }
  search_keep_only(s, at, n);
  n = search_rank_families(s, at, SEARCH_FINALISTS);
  search_keep_only(s, at, n);
  return st;
}

void search_ran_late(search *s, double until) {
  double late = fmin(fmax(search_now(s) - until, 0), s->spare);
  s->spare -= late;
  s->o.budget += late;
}
