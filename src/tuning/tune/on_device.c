/* A tuning on a device, kernel by kernel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tuning.h"

/* One kernel's gain must not be lost by its order's effect on the next kernel's caches: by the median of all
 * places, and in any one. */
static const double together_least = 1, together_worst = 0.99;
/* Seconds, about, of testing that. */
static const double together_seconds = 0.5;

static void take_votes(const tuning *t, device_bench *b, uint32_t launch, hd_plan_space *space, hd_tuned *k) {
  static const hd_plan threshold = {.bypass = {.kind = HD_BYPASS_AUTO}};
  const hd_plan agents = tuning_agents_plan(t);
  if (t->o.strategy == HD_TUNE_SEARCH) return;
  tuning_report(t, "vote");
  vote_take(b, space, &threshold, launch, &k->vote);
  vote_take(b, space, &agents, launch, &k->agents);
  space->has_vote = t->o.strategy == HD_TUNE_VOTE && k->vote.n;
  space->vote = k->vote.winner;
  space->has_agents_vote = t->o.strategy == HD_TUNE_VOTE && k->agents.n;
  space->agents_vote = k->agents.winner;
}

static hd_status tune_unit(tuning *t, device_bench *b, const tuner_unit *u, const hd_plan_set *fixed,
                           double budget, hd_tuned *k, hd_diag *d) {
  tuner_bench bench = device_bench_interface(b);
  hd_plan_space space;
  snprintf(k->kernel, sizeof k->kernel, "%.127s", u->kernel ? u->kernel : "");
  k->before_us = k->after_us = u->us;
  k->speedup = tuning_no_speedup(t);
  if (u->share == 0) {
    snprintf(k->why, sizeof k->why, "it takes less than %.0f%% of the workload's time",
             100 * TUNER_LEAST_SHARE);
    return HD_OK;
  }
  if (tuning_is_at_roofline(t)) {
    snprintf(k->why, sizeof k->why, "it moves each byte of its buffers once, almost as fast as DRAM's peak");
    return HD_OK;
  }
  device_bench_watch(b, u->kernel);
  hd_status st = hd_advise_space(t->w, u->launch, &t->o.run.compile, &space, d);
  if (st != HD_OK) return st;
  space.n_sms = hd_device_get_info(t->dev)->n_sms;
  if (device_bench_resident(b, u->launch, &space.resident, NULL) != HD_OK) space.resident = 0;
  tuning_make_tables(t, b, u->launch, u->us / t->out->before_us, &space);
  take_votes(t, b, u->launch, &space, k);
  st = tuning_search_kernel(t, &bench, &space, u->kernel, fixed, budget, k, d);
  if (st == HD_OK && k->adopted) st = tuning_compare(t, b, fixed, k, d);
  if (st == HD_OK && k->adopted && !t->o.no_proof) tuning_prove(t, k);
  return st;
}

static void drop_all(hd_tuning *out, const char *why) {
  for (uint32_t i = 0; i < out->n_kernels; i++)
    if (out->kernels[i].adopted) tuning_drop(&out->kernels[i], "%s", why);
  out->adopted = false;
  out->after_us = out->before_us;
  out->speedup = (hd_speedup){.median = 1, .low = 1, .high = 1, .confidence = out->speedup.confidence};
}

/* Rounds that do not take much longer than a second. */
static uint32_t rounds_for(double us, uint32_t most) { return search_rounds(us, 0.5, most); }

/* An empty set with room for all kernels; its list is the caller's to free. */
static hd_status make_set(const hd_tuning *t, hd_plan_set *out, hd_diag *d) {
  *out = (hd_plan_set){.kernels = calloc((size_t)t->n_kernels + 1, sizeof *out->kernels)};
  return out->kernels ? HD_OK : hd_nomem(d);
}

static void put_adopted(const hd_tuning *t, hd_plan_set *out) {
  for (uint32_t i = 0; i < t->n_kernels; i++)
    if (t->kernels[i].adopted) tuning_put(out, &t->kernels[i], &t->kernels[i].plan);
}

static hd_status count(device_bench *b, const hd_plan_set *plans, hd_counters *c, hd_tuning *out,
                       hd_diag *d) {
  tuner_bench bench = device_bench_interface(b);
  uint32_t slot;
  double us;
  hd_status st = bench.admit(bench.ctx, plans, &slot, &us, d);
  if (st != HD_OK) return st;
  st = device_bench_count(b, slot, c, &out->has_counters, out->no_counters, sizeof out->no_counters, d);
  bench.release(bench.ctx, slot);
  return st;
}

/* The original's counters show how much can be gained at all; a run that takes long is not counted, which
 * takes many.
 */
static hd_status count_before(tuning *t, device_bench *b, hd_diag *d) {
  hd_tuning *out = t->out;
  if (t->o.no_counters) return HD_OK;
  if (out->before_us * 1e-6 > tuning_budget(t) / 20) {
    snprintf(out->no_counters, sizeof out->no_counters, "a run takes %.1f s, and counters need many runs",
             out->before_us * 1e-6);
    return HD_OK;
  }
  double start = hd_seconds();
  tuning_report(t, "counters");
  device_bench_watch(b, NULL);
  hd_status st = count(b, &hd_plan_set_original, &out->before, out, d);
  out->after = out->before;
  out->spent.count += hd_seconds() - start;
  return st;
}

static hd_status count_after(device_bench *b, const hd_plan_set *plans, hd_tuning *out, hd_diag *d) {
  if (!out->adopted || !out->has_counters) return HD_OK;
  double start = hd_seconds();
  device_bench_watch(b, NULL);
  hd_status st = count(b, plans, &out->after, out, d);
  out->spent.count += hd_seconds() - start;
  return st;
}

/* All adopted plans at once, or none. */
static hd_status confirm_together(tuning *t, device_bench *b, const hd_plan_set *plans, hd_diag *d) {
  hd_tuning *out = t->out;
  search_test r;
  tuner_bench bench = device_bench_interface(b);
  confirm_options o = {.confidence = tuning_confidence(t), .least = together_worst};
  confirm_afford(&bench, out->before_us * 1e-6,
                 together_seconds + confirm_places(o.confidence) * bench.moving, &o);
  device_bench_watch(b, NULL);
  hd_status st = search_confirm(&bench, &hd_plan_set_original, plans, &o, &r, d);
  if (st != HD_OK) return st;
  out->speedup = r.speedup;
  out->places = r.places;
  out->before_us = r.before_us;
  out->after_us = r.after_us;
  if (r.places.least <= together_worst || r.speedup.median < together_least)
    drop_all(out, "faster alone, but the workload as a whole is slower");
  return HD_OK;
}

static bool was_adopted(const hd_tuning *t, const hd_plan_set *plans) {
  bool all = t->adopted;
  for (uint32_t i = 0; all && i < t->n_kernels; i++) {
    const hd_tuned *k = &t->kernels[i];
    all = hd_plan_equal(&k->plan, k->kernel[0] ? hd_plan_set_of(plans, k->kernel) : &plans->all);
  }
  return all;
}

/* The best plans of one lever alone, for the whole workload. */
static hd_status measure_lever(tuning *t, device_bench *b, int lever, hd_diag *d) {
  hd_tuning *out = t->out;
  hd_plan_set plans;
  tuner_bench bench = device_bench_interface(b);
  double score = 0, before, after;
  hd_status st = make_set(out, &plans, d);
  if (st == HD_OK) tuning_best_alone(out, lever, &plans, &score);
  if (st == HD_OK && score > 0) {
    hd_tune_lever *l = &out->levers[out->n_levers++];
    *l = (hd_tune_lever){.lever = tuning_lever_names[lever],
                         .plan = plans.n ? plans.kernels[0].plan : plans.all,
                         .speedup = tuning_no_speedup(t)};
    l->speedup.median = score;
    uint32_t rounds = rounds_for(out->before_us, 15);
    double takes = 2 * rounds * out->before_us * 1e-6;
    device_bench_watch(b, NULL);
    /* Plans that lose, or take long, the search has measured well enough. */
    if (was_adopted(out, &plans))
      l->speedup = out->speedup;
    else if (score > 1 && takes < tuning_budget(t) / 32)
      st = search_compare(&bench, &hd_plan_set_original, &plans, rounds, tuning_confidence(t), &l->speedup,
                          &before, &after, d);
  }
  free(plans.kernels);
  return st;
}

/* The whole workload under all adopted plans. */
static hd_status confirm_all(tuning *t, device_bench *b, const hd_plan_set *plans, hd_diag *d) {
  hd_tuning *out = t->out;
  const hd_tuned *only = &out->kernels[0];
  hd_status st = HD_OK;
  out->adopted = !hd_plan_set_is_baseline(plans);
  if (out->n_kernels == 1) {
    out->speedup = only->speedup;
    out->before_us = only->before_us;
    out->after_us = only->after_us;
    out->places = only->places;
  } else if (out->adopted) {
    st = confirm_together(t, b, plans, d);
  }
  if (out->adopted) return st;
  out->after_us = out->before_us;
  out->speedup = (hd_speedup){.median = 1, .low = 1, .high = 1, .confidence = tuning_confidence(t)};
  return st;
}

/* The whole workload under all adopted plans, and its counters. */
static hd_status sum_up(tuning *t, device_bench *b, hd_diag *d) {
  hd_plan_set plans;
  hd_status st = make_set(t->out, &plans, d);
  if (st == HD_OK) put_adopted(t->out, &plans);
  if (st == HD_OK) st = confirm_all(t, b, &plans, d);
  if (st == HD_OK) st = count_after(b, &plans, t->out, d);
  free(plans.kernels);
  return st;
}

static hd_status measure_levers(tuning *t, device_bench *b, hd_diag *d) {
  double start = hd_seconds();
  hd_status st = HD_OK;
  tuning_report(t, "each lever alone");
  for (int i = 0; st == HD_OK && i < HD_TUNE_LEVERS; i++) st = measure_lever(t, b, i, d);
  t->out->lever_seconds = hd_seconds() - start;
  return st;
}

static hd_status tune_units(tuning *t, device_bench *b, tuner_unit *units, hd_plan_set *fixed, hd_diag *d) {
  hd_tuning *out = t->out;
  uint32_t n = tuner_list_units(t->w, t->o.whole, units);
  tuner_bench bench = device_bench_interface(b);
  hd_status st = HD_OK;
  out->kernels = calloc((size_t)n + 1, sizeof *out->kernels);
  if (!out->kernels) return hd_nomem(d);
  tuning_report(t, "first run");
  for (uint32_t i = 0; st == HD_OK && i < n; i++) {
    st = tuner_time_unit(b, &units[i], d);
    out->before_us += units[i].us;
  }
  out->n_kernels = st == HD_OK ? n : 0;
  if (st == HD_OK) st = count_before(t, b, d);
  tuner_share_out(units, n);
  for (uint32_t i = 0; st == HD_OK && i < n; i++) {
    hd_tuned *k = &out->kernels[i];
    double budget = tuner_unit_budget(units, n, i, &bench, tuning_confidence(t), tuning_search_budget(t));
    st = tune_unit(t, b, &units[i], fixed, budget, k, d);
    if (st == HD_OK && k->adopted && n > 1) tuning_put(fixed, k, &k->plan);
  }
  return st;
}

hd_status tuning_on_device(tuning *t, hd_diag *d) {
  device_bench *b = NULL;
  const hd_workload *w = t->w;
  double start = hd_seconds();
  tuning_report(t, "buffers");
  tuner_unit *units = calloc((size_t)w->n_launches + 1, sizeof *units);
  hd_plan_set fixed = {.kernels = calloc((size_t)w->n_launches + 1, sizeof *fixed.kernels)};
  hd_status st = units && fixed.kernels ? HD_OK : hd_nomem(d);
  if (tuning_table_seconds(t) > 0) t->o.run.budget.trace_seconds = tuning_table_seconds(t);
  if (st == HD_OK) st = device_bench_open(t->dev, w, &t->o, t->until, &b, d);
  t->out->spent.buffers += hd_seconds() - start;
  if (st == HD_OK) st = tune_units(t, b, units, &fixed, d);
  hd_study_close(t->whole_study);
  if (st == HD_OK && t->out->unanswered) drop_all(t->out, "no answer: another kernel has none");
  if (st == HD_OK) st = sum_up(t, b, d);
  if (b) device_bench_spent(b, &t->out->spent);
  if (st == HD_OK && t->o.each_lever) st = measure_levers(t, b, d);
  device_bench_close(b);
  free(units);
  free(fixed.kernels);
  return st;
}
