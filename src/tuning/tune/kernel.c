/* One kernel: its candidates, and the search's result in words. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tuning.h"

/* The plans to begin with, the caller's own before all others; then the candidates of the launch.
 */
static hd_status collect(tuning *t, const hd_plan_space *space, const hd_tuned *k, hd_candidate **out,
                         size_t *n, hd_diag *d) {
  static const double first_of_all = 3, advised = 2, also_advised = 1;
  *n = 0;
  *out = calloc(t->first.n + HD_TUNE_NUMBERS + HD_CANDIDATES, sizeof **out);
  if (!*out) return hd_nomem(d);
  for (size_t i = 0; i < t->first.n; i++) {
    hd_candidate *c = *out + (*n)++;
    c->prior = i < t->n_given ? first_of_all : i < t->n_given + t->n_likeliest ? advised : also_advised;
    c->plan = t->first.data[i];
  }
  /* Beside the vote on agents, all of their numbers are timed. */
  for (uint32_t i = 0; t->o.strategy == HD_TUNE_COMPARE && i < k->agents.n; i++) {
    hd_candidate *c = *out + (*n)++;
    c->prior = advised;
    c->plan = tuning_agents_plan(t);
    c->plan.agents_voted = false;
    c->plan.agents = i + 1 < k->agents.n ? i + 1 : 0;
  }
  const size_t given = *n, all = given + hd_candidates(space, *out + given, HD_CANDIDATES);
  const hd_gpu *g = hd_device_get_gpu(t->dev);
  const unsigned arch = g ? g->arch : hd_device_get_info(t->dev)->arch;
  for (size_t i = given; i < all; i++)
    if (!arch || hd_plan_arch(&(*out)[i].plan, NULL) <= arch) (*out)[(*n)++] = (*out)[i];
  return HD_OK;
}

static int by_speedup(const void *a, const void *b, void *adopted) {
  const hd_tune_trial *x = a, *y = b;
  const hd_plan *first = adopted;
  if (first && hd_plan_equal(&x->plan, first)) return -1;
  if (first && hd_plan_equal(&y->plan, first)) return 1;
  if ((x->status == HD_OK) != (y->status == HD_OK)) return x->status == HD_OK ? -1 : 1;
  return x->speedup < y->speedup ? 1 : x->speedup > y->speedup ? -1 : 0;
}

static void say_why_not(const search *s, hd_tuned *k) {
  const hd_tune_places *p = &s->tested.places;
  const hd_speedup *speedup = &s->tested.speedup;
  size_t measured = 0, refused = 0;
  double best = 0;
  for (size_t i = 0; i < s->trials.n; i++) {
    const search_trial *t = &s->trials.data[i];
    measured += t->status == HD_OK;
    refused += t->status != HD_OK && t->status != HD_ERR_BUDGET;
    best = fmax(best, t->score);
  }
  if (s->cut)
    snprintf(k->why, sizeof k->why, "no answer: %zu of %zu plans measured when %s (%s)", measured,
             s->trials.n - refused + s->left, hd_bound_reached(HD_BOUND_TIME),
             hd_bound_remedy(HD_BOUND_TIME));
  else if (s->unaffordable)
    snprintf(k->why, sizeof k->why, "a run takes %.1f s: a budget of %.0f s is too short to compare plans",
             s->original_us * 1e-6, s->o.budget);
  else if (!measured && s->trials.n)
    hd_fit(k->why, sizeof k->why, "no plan can be applied: %s", s->trials.data[0].why);
  else if (!s->trials.n)
    snprintf(k->why, sizeof k->why, "there is nothing to try");
  else if (s->best < 0 || s->trials.data[s->best].score < 1.001)
    snprintf(k->why, sizeof k->why, "no plan was faster, of %zu: the best one runs at %.3fx%s", measured,
             best, s->left ? " (others are beyond the budget)" : "");
  else if (s->asked > 0)
    snprintf(k->why, sizeof k->why,
             "the best plan, of %zu, is predicted at %.3fx, but such a plan must promise %.2fx", measured,
             speedup->median, s->asked);
  else if (p->n && p->least <= 1)
    snprintf(k->why, sizeof k->why,
             "the best plan, of %zu, is not faster wherever buffers lie: %.3fx, then %.3fx", measured,
             fmax(s->trials.data[s->best].score, p->most), p->least);
  else
    snprintf(k->why, sizeof k->why, "the best plan, of %zu, runs at %.3f to %.3fx when measured afresh: %s",
             measured, speedup->low, speedup->high,
             speedup->low > 1 ? "too little to be kept" : "not faster for sure");
}

static hd_status take_result(const tuning *t, search *s, hd_tuned *k, hd_diag *d) {
  k->trials = calloc(s->trials.n + 1, sizeof *k->trials);
  if (!k->trials) return hd_nomem(d);
  k->before_us = s->tested.before_us;
  k->after_us = s->adopted ? s->tested.after_us : s->tested.before_us;
  k->speedup = s->tested.speedup;
  k->places = s->tested.places;
  k->adopted = s->adopted;
  k->n_left = (uint32_t)s->left;
  t->out->unanswered |= s->cut;
  if (s->adopted)
    k->plan = s->trials.data[s->best].plan;
  else
    say_why_not(s, k);
  for (size_t i = 0; i < s->trials.n; i++) {
    const search_trial *from = &s->trials.data[i];
    hd_tune_trial *to = &k->trials[k->n_trials++];
    *to =
        (hd_tune_trial){.plan = from->plan, .status = from->status, .speedup = from->score, .pairs = from->n};
    memcpy(to->why, from->why, sizeof to->why);
  }
  qsort_r(k->trials, k->n_trials, sizeof *k->trials, by_speedup, k->adopted ? &k->plan : NULL);
  for (uint32_t i = 0; i < k->n_trials; i++) t->out->tried += k->trials[i].status != HD_ERR_BUDGET;
  if (!k->adopted) k->after_us = k->before_us;
  return HD_OK;
}

hd_status tuning_search_kernel(tuning *t, const tuner_bench *b, const hd_plan_space *space,
                               const char *kernel, const hd_plan_set *fixed, double budget, hd_tuned *k,
                               hd_diag *d) {
  search s = {0};
  /* Seconds that a user asked for are kept to. */
  search_options so = {.budget = budget,
                       .overtime = t->o.budget > 0 ? 0 : SEARCH_OVERTIME,
                       .confidence = tuning_confidence(t),
                       .kernel = kernel,
                       .fixed = fixed,
                       .progress = t->o.progress,
                       .progress_ctx = t->o.ctx};
  hd_candidate *list;
  size_t n;
  hd_status st = collect(t, space, k, &list, &n, d);
  if (st == HD_OK) st = tuner_search(&s, b, space, list, n, &so, d);
  free(list);
  if (st == HD_OK) st = take_result(t, &s, k, d);
  search_free(&s);
  return st;
}
