/* The plans that are tried on a modelled GPU: the traces' proposals, then the candidates; where there are
 * traces, one of each lever that the accesses ask for before the second of any. */
#include <stdlib.h>
#include <string.h>

#include "advise/advice.h"

/* A plan that changes nothing but the kernel's text, for callers that cannot change the launch. */
static bool keeps_launch(const hd_plan *p) { return !hd_bind_claims(p->bind) && !hd_numbers_count(&p->sms); }

/* A plan that changes a task's accesses, and so costs a trace of its own. */
static bool changes_tasks(const hd_plan *p) {
  return p->threads.kind != HD_ORDER_ROW || p->bypass.kind || p->stream.kind || p->prefetch.kind;
}

void hd_plan_list_free(hd_plan_list *l) {
  for (size_t i = 0; i < l->n; i++) free((char *)l->at[i].reason);
  free(l->at);
  *l = (hd_plan_list){0};
}

hd_status hd_plan_list_add(hd_plan_list *l, const hd_plan *p, double prior, const char *reason, hd_diag *d) {
  for (size_t i = 0; i < l->n; i++)
    if (hd_plan_equal(&l->at[i].plan, p)) return HD_OK;
  hd_candidate *more = realloc(l->at, (l->n + 1) * sizeof *more), c = {.plan = *p, .prior = prior};
  if (!more) return hd_nomem(d);
  l->at = more;
  c.reason = strdup(reason);
  if (!c.reason) return hd_nomem(d);
  l->at[l->n++] = c;
  return HD_OK;
}

static hd_status add(hd_plan_list *l, const hd_plan *p, double prior, const char *reason,
                     const hd_list_options *o, hd_diag *d) {
  return o->keep_launch && !keeps_launch(p) ? HD_OK : hd_plan_list_add(l, p, prior, reason, d);
}

/* Add the traces' proposals, and set the facts in *space that the candidates need and only traces supply. */
static hd_status add_proposals(hd_plan_list *l, const hd_workload *w, hd_study *s, const hd_gpu *g,
                               const hd_list_options *o, hd_plan_space *space, double need[ADVICE_LEVERS],
                               hd_diag *d) {
  static const double proposed = 1;
  const hd_advise_options options = {.run = o->run,
                                     .dispatch = o->dispatch,
                                     .seed = o->seed,
                                     .launches = 2,
                                     .no_race_check = true,
                                     .no_experiments = true,
                                     .no_predictions = true};
  hd_advice advice;
  hd_status st = hd_advise(w, s, g, &options, &advice, d);
  if (st != HD_OK) return st;
  l->replayed = true;
  l->original = advice.baseline;
  space->resident = advice.baseline.resident;
  advice_needs(&advice, need);
  for (uint32_t i = 0; st == HD_OK && i < advice.n_proposals; i++) {
    const hd_proposal *p = &advice.proposals[i];
    space->has_affinity |= p->plan.order.kind == HD_ORDER_AFFINITY;
    space->has_heavy_first |= p->plan.order.kind == HD_ORDER_HEAVY_FIRST;
    space->has_streams |= p->plan.stream.kind == HD_STREAM_AUTO;
    st = add(l, &p->plan, proposed, p->reason, o, d);
  }
  hd_advice_free(&advice);
  return st;
}

static uint32_t largest_launch(const hd_workload *w) {
  uint32_t at = 0;
  uint64_t tasks, most = 0;
  for (uint32_t i = 0; i < w->n_launches; i++)
    if (hd_grid_tasks(w->launches[i].grid, &tasks) && tasks > most) {
      most = tasks;
      at = i;
    }
  return at;
}

hd_status hd_advise_list(const hd_workload *w, hd_study *s, const hd_gpu *g, const hd_list_options *o,
                         hd_plan_list *out, hd_diag *d) {
  static const double worth_a_trace = 0.5;
  hd_plan_space space;
  double need[ADVICE_LEVERS];
  hd_candidate *list = calloc(HD_CANDIDATES, sizeof *list);
  *out = (hd_plan_list){0};
  if (!list) return hd_nomem(d);
  hd_status st = hd_advise_space(w, largest_launch(w), &o->run.compile, &space, d);
  space.n_sms = g->n_sms;
  if (st == HD_OK && o->facts) st = add_proposals(out, w, s, g, o, &space, need, d);
  size_t n = st == HD_OK ? hd_candidates(&space, list, HD_CANDIDATES) : 0, proposed = out->n;
  for (size_t i = 0; st == HD_OK && i < n && (!o->most || out->n < proposed + o->most); i++) {
    if (list[i].prior < worth_a_trace && changes_tasks(&list[i].plan)) continue;
    if (hd_plan_arch(&list[i].plan, NULL) > g->arch) continue;
    st = add(out, &list[i].plan, list[i].prior, list[i].reason, o, d);
  }
  free(list);
  if (st == HD_OK && o->facts) st = advice_put_likeliest_first(out->at, out->n, sizeof *out->at, need, d);
  if (st != HD_OK) hd_plan_list_free(out);
  return st;
}

hd_status hd_advise_rows(const hd_workload *w, const hd_gpu *g, bool named, hd_plan_list *plans,
                         hd_sweep_row **rows, size_t *n, hd_diag *d) {
  enum { SWEPT = 96 };
  const hd_list_options list = {.most = SWEPT};
  *rows = NULL;
  *n = 0;
  hd_status st = named ? HD_OK : hd_advise_list(w, NULL, g, &list, plans, d);
  if (st != HD_OK) return st;
  *rows = calloc(plans->n + 1, sizeof **rows);
  if (!*rows) return hd_nomem(d);
  *n = plans->n + 1;
  for (size_t i = 0; i < plans->n; i++) (*rows)[i + 1].plan = plans->at[i].plan;
  return HD_OK;
}

hd_status hd_advise_unseen(const hd_workload *w, const hd_gpu *g, const hd_compile_options *o,
                           hd_plan_list *out, hd_diag *d) {
  static const double worth_a_try = 0.35; /* of the thresholds, those that the tuner tries early */
  hd_plan_space space;
  hd_candidate *list = calloc(HD_CANDIDATES, sizeof *list);
  *out = (hd_plan_list){0};
  if (!list) return hd_nomem(d);
  hd_status st = hd_advise_space(w, largest_launch(w), o, &space, d);
  size_t n = st == HD_OK ? hd_candidates(&space, list, HD_CANDIDATES) : 0;
  for (size_t i = 0; st == HD_OK && i < n; i++)
    if (list[i].prior >= worth_a_try && hd_plan_is_unseen(&list[i].plan) &&
        hd_plan_arch(&list[i].plan, NULL) <= g->arch)
      st = hd_plan_list_add(out, &list[i].plan, list[i].prior, list[i].reason, d);
  free(list);
  if (st != HD_OK) hd_plan_list_free(out);
  return st;
}
