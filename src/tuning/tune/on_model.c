/* A tuning on a modelled GPU: one plan for all kernels. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tuning.h"

static hd_status count_on_model(model_bench *m, const hd_plan *p, hd_counters *out, hd_diag *d) {
  tuner_bench b = model_bench_interface(m);
  uint32_t slot;
  double us;
  hd_status st = b.admit(b.ctx, &(hd_plan_set){.all = *p}, &slot, &us, d);
  if (st == HD_OK) *out = *model_bench_counters(m, slot);
  return st;
}

static void levers_on_model(hd_tuning *out) {
  for (int i = 0; i < HD_TUNE_LEVERS; i++) {
    hd_kernel_plan room[1]; /* of the one kernel that a model tunes, at most */
    hd_plan_set best = {.kernels = room};
    double x;
    tuning_best_alone(out, i, &best, &x);
    if (x <= 0) continue;
    hd_speedup speedup = {
        .median = x, .low = x, .high = x, .pairs = 1, .confidence = out->kernels[0].speedup.confidence};
    out->levers[out->n_levers++] = (hd_tune_lever){
        .lever = tuning_lever_names[i], .plan = best.n ? room[0].plan : best.all, .speedup = speedup};
  }
}

/* A model's search makes so many replays within its budget, about, one after the other. */
enum { REPLAYS = 24 };

/* Long launches are sampled, so that replays take the time that there is. Votes are of all CTAs. */
static hd_study_options replays_of(const tuning *t) {
  const hd_gpu *g = hd_device_get_gpu(t->dev);
  hd_study_options how = {.timed = true, .sample_gpu = g};
  if (t->o.strategy == HD_TUNE_SEARCH)
    how.sample_units = hd_sample_units(tuning_budget(t), 2 * REPLAYS); /* of two cores each has one */
  return how;
}

static void find_numbers(const tuning *t, const hd_study *s, uint32_t launch, hd_plan_space *space,
                         hd_tuned *k) {
  const hd_gpu *g = hd_device_get_gpu(t->dev);
  const hd_tune_strategy how = t->o.strategy;
  const bool votes = how == HD_TUNE_VOTE || how == HD_TUNE_COMPARE,
             samples = how == HD_TUNE_SAMPLE || how == HD_TUNE_COMPARE;
  static const hd_plan threshold = {.bypass = {.kind = HD_BYPASS_AUTO}};
  const hd_plan agents = tuning_agents_plan(t);
  if (votes || samples) tuning_report(t, votes ? "vote" : "sampling");
  if (votes) vote_on_model(s, g, space, &threshold, launch, &k->vote);
  if (votes) vote_on_model(s, g, space, &agents, launch, &k->agents);
  if (samples) vote_sample(s, g, space, launch, &k->sampled);
  const hd_tune_vote *chosen = how == HD_TUNE_SAMPLE ? &k->sampled : &k->vote;
  space->has_vote = how != HD_TUNE_COMPARE && chosen->n;
  space->vote = chosen->winner;
  space->has_agents_vote = how == HD_TUNE_VOTE && k->agents.n;
  space->agents_vote = k->agents.winner;
}

static hd_status tune_on_model(tuning *t, hd_study *s, model_bench *m, hd_diag *d) {
  hd_tuning *out = t->out;
  tuner_bench bench = model_bench_interface(m);
  hd_plan_space space;
  tuner_unit *units = calloc((size_t)t->w->n_launches + 1, sizeof *units);
  out->kernels = calloc(1, sizeof *out->kernels);
  if (!units || !out->kernels) {
    free(units);
    return hd_nomem(d);
  }
  t->o.whole = true;
  tuner_list_units(t->w, t->o.whole, units);
  tuner_unit all = units[0];
  free(units);
  hd_status st = count_on_model(m, &hd_plan_original, &out->before, d);
  if (st == HD_OK) st = hd_advise_space(t->w, all.launch, &t->o.run.compile, &space, d);
  if (st != HD_OK) return st;
  space.n_sms = hd_device_get_gpu(t->dev)->n_sms;
  space.resident = out->before.resident;
  space.has_affinity = t->wants_affinity;
  space.has_heavy_first = t->uneven > 1.5;
  space.has_streams = t->wants_streams;
  hd_tuned *k = &out->kernels[0];
  find_numbers(t, s, all.launch, &space, k);
  if (all.kernel) snprintf(k->kernel, sizeof k->kernel, "%.127s", all.kernel);
  out->n_kernels = 1;
  st = tuning_search_kernel(t, &bench, &space, NULL, NULL, tuning_search_budget(t), k, d);
  if (st == HD_OK && k->adopted && !t->o.no_proof) tuning_prove(t, k);
  if (st != HD_OK) return st;
  out->adopted = k->adopted;
  out->speedup =
      k->adopted
          ? k->speedup
          : (hd_speedup){.median = 1, .low = 1, .high = 1, .pairs = 1, .confidence = tuning_confidence(t)};
  out->before_us = k->before_us;
  out->after_us = k->after_us;
  out->has_counters = true;
  out->after = out->before;
  if (k->adopted) st = count_on_model(m, &k->plan, &out->after, d);
  if (st == HD_OK && t->o.each_lever && !out->unanswered) levers_on_model(out);
  return st;
}

hd_status tuning_on_model(tuning *t, hd_diag *d) {
  const hd_gpu *g = hd_device_get_gpu(t->dev);
  hd_study *s = NULL;
  model_bench *m = NULL;
  hd_run_options run = t->o.run;
  const hd_study_options how = replays_of(t);
  run.machine.n_sms = g->n_sms;
  run.budget.until = t->until;
  double start = hd_seconds();
  tuning_report(t, "traces");
  hd_status st = hd_study_open(t->w, &run, &how, &s, d);
  t->out->spent.buffers = hd_seconds() - start;
  if (st == HD_OK) t->out->part = hd_study_part(s);
  if (st == HD_OK) t->out->lack_ends = hd_study_leaves_ends(s);
  if (st == HD_OK && t->o.advisor) {
    tuning_report(t, "advice");
    start = hd_seconds();
    tuning_ask(t, t->w, s, g, NULL); /* without advice all the rest is tried all the same */
    t->out->spent.advice = hd_seconds() - start;
  }
  if (st == HD_OK) st = model_bench_open(s, g, t->w, &run, &how, &m, d);
  if (st == HD_OK) st = tune_on_model(t, s, m, d);
  model_bench_close(m);
  hd_study_close(s);
  return st;
}
