/* The advice from a small size of the workload. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tuning.h"

/* Of the budget that advice may take. */
static const double advice_share = 0.15;
/* That the advice makes at least: the category's experiments, and one of a candidate. */
enum { ADVICE_REPLAYS = 5 };

hd_status tuning_try_first(tuning *t, const hd_plan *p, hd_diag *d) {
  if (hd_plan_is_baseline(p) || p->agents_voted) return HD_OK;
  return hd_vec_push(&t->first, *p) ? HD_OK : hd_nomem(d);
}

hd_plan tuning_agents_plan(const tuning *t) {
  for (size_t i = 0; i < t->o.n_plans; i++)
    if (t->o.plans[i].agents_voted) return t->o.plans[i];
  return (hd_plan){.bind = HD_BIND_AGENTS, .agents_voted = true};
}

/* Where all addresses follow from the grid, orders by shapes gather those who share as well as a table does,
 * which takes a trace. */
static bool data_decides(const hd_advice *a) {
  bool found = a->unknown_sites;
  for (uint32_t i = 0; i < a->sum.pattern.n_arrays; i++)
    found |= a->buffers[i].sites && a->buffers[i].address > HD_LEVEL_QUASI;
  return found;
}

hd_status tuning_ask(tuning *t, const hd_workload *w, hd_study *s, const hd_gpu *g, hd_diag *d) {
  hd_advice a;
  hd_advise_options o = {
      .run = {.compile = {.arch = t->o.run.compile.arch, .assume = t->o.run.compile.assume},
              .machine = {.threads = t->o.run.machine.threads, .n_sms = g->n_sms}},
      .dispatch = g->dispatch,
      .no_race_check = true,
      .no_predictions = w == t->w, /* the search replays them itself */
      .seconds = advice_share * tuning_budget(t)};
  hd_status st = hd_advise(w, s, g, &o, &a, d);
  if (st != HD_OK) return st;
  /* A small size's predictions for such orders tell little about a large one. But that data decides which
   * tasks share, or that work is uneven, holds for all sizes. */
  const hd_sharing_row *r = &a.sum.sharing.all;
  t->wants_affinity =
      (a.category & HD_CATEGORY_DATA) || (r->pairs && (double)r->apart > 0.1 * (double)r->pairs);
  for (uint32_t i = 0; i < a.n_launches; i++) {
    const hd_reuse_spread *work = &a.launches[i].reuse.work;
    if (work->mean > 0) t->uneven = fmax(t->uneven, (double)work->most / work->mean);
  }
  for (uint32_t i = 0; st == HD_OK && i < a.n_proposals; i++) {
    hd_order_kind k = a.proposals[i].plan.order.kind;
    bool streams = a.proposals[i].plan.stream.kind == HD_STREAM_AUTO;
    t->wants_affinity |= k == HD_ORDER_AFFINITY;
    t->wants_streams |= streams;
    if (k != HD_ORDER_AFFINITY && k != HD_ORDER_HEAVY_FIRST && !streams)
      st = tuning_try_first(t, &a.proposals[i].plan, d);
    if (a.proposals[i].predicted || a.proposals[i].likeliest) t->n_likeliest = t->first.n - t->n_given;
  }
  t->wants_affinity &= data_decides(&a);
  hd_advice_free(&a);
  return st;
}

static void learn_work(tuning *t, const hd_study *s, const hd_workload *w) {
  double instructions = 0, threads = 0, accesses = 0;
  for (uint32_t i = 0; i < w->n_launches; i++) {
    hd_trace_info info = hd_trace_get_info(hd_study_trace(s, i));
    if (!info.tasks) continue;
    instructions += (double)info.thread_instructions;
    accesses += (double)info.warp_accesses;
    threads += (double)tuner_threads(&w->launches[i]) * (double)info.recorded / (double)info.tasks;
  }
  if (threads > 0) {
    t->work = instructions / threads;
    t->accesses = 32 * accesses / threads;
  }
}

/* A recorded launch or a kernel's file has no small size: its launches are sampled. Those that cannot be run
 * in part end the advice when they take too long. */
static hd_status open_small(const tuning *t, const hd_workload *small, hd_study **out) {
  hd_run_options run = {.compile.assume = t->o.run.compile.assume,
                        .machine = {.threads = t->o.run.machine.threads, .n_sms = t->o.advisor->n_sms}};
  hd_study_options how = {.timed = hd_gpu_has_clock(t->o.advisor)};
  if (t->w->n_sizes <= 1) {
    run.budget.trace_seconds = advice_share * tuning_budget(t);
    how.sample_gpu = t->o.advisor;
    how.sample_units =
        hd_sample_units(run.budget.trace_seconds, 2 * ADVICE_REPLAYS); /* which run on one core */
  }
  return hd_study_open(small, &run, &how, out, NULL);
}

void tuning_seek_advice(tuning *t) {
  hd_workload *small = NULL;
  hd_study *s = NULL;
  double start = hd_seconds();
  tuning_report(t, "advice");
  hd_status st = hd_workload_reopen(t->w, "small", &small, NULL);
  if (st != HD_OK) st = hd_workload_reopen(t->w, "tiny", &small, NULL);
  if (st == HD_OK) st = open_small(t, small, &s);
  if (st == HD_OK) {
    learn_work(t, s, small);
    tuning_ask(t, small, s, t->o.advisor, NULL);
  }
  hd_study_close(s);
  hd_workload_close(small);
  t->out->spent.advice = hd_seconds() - start;
}
