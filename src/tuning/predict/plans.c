/* Runs plans given as text: resolves them first. */
#include <stdlib.h>

#include "heddle/predict.h"

hd_status hd_check(const hd_workload *w, const hd_plan *p, const hd_check_options *o, hd_check_result *r,
                   hd_diag *d) {
  hd_plan_set plans = {.all = *p};
  hd_resolved resolved;
  *r = (hd_check_result){0};
  hd_status st = hd_resolve(w, &plans, o ? &o->run : NULL, NULL, &resolved, d);
  if (st != HD_OK) return st;
  st = hd_check_resolved(&resolved, o, r, d);
  hd_resolved_free(&resolved);
  return st;
}

hd_status hd_check_on(hd_device *dev, const hd_workload *w, const hd_plan *p, const hd_check_options *o,
                      hd_check_result *r, hd_diag *d) {
  hd_plan_set plans = {.all = *p};
  hd_run_options run = o ? o->run : (hd_run_options){0};
  hd_resolved resolved;
  *r = (hd_check_result){0};
  run.compile.arch = hd_launch_arch(hd_device_get_info(dev), run.compile.arch);
  hd_status st = hd_resolve(w, &plans, &run, NULL, &resolved, d);
  if (st != HD_OK) return st;
  st = hd_check_resolved_on(dev, &resolved, o, r, d);
  hd_resolved_free(&resolved);
  return st;
}

/* ---- Times ----------------------------------------------------------------------------- */

/* A plan that cannot be resolved, or that the GPU is too old for, is its row's own failure. */
static hd_status resolve_row(hd_device *dev, const hd_workload *w, const hd_run_options *run,
                             hd_measure_row *row, hd_resolved *own, const hd_resolved **out, hd_diag *d) {
  const hd_device_info *info = hd_device_get_info(dev);
  const hd_gpu *g = hd_device_get_gpu(dev);
  hd_plan_set set = {.all = row->plan};
  hd_diag e = {0};
  row->status = hd_plan_check_arch(&row->plan, info->name, g ? g->arch : info->arch, &e);
  if (row->status == HD_OK) row->status = hd_resolve(w, &set, run, NULL, own, &e);
  if (row->status == HD_OK) {
    *out = own;
    return HD_OK;
  }
  if (hd_blames_plan(row->status)) {
    hd_fit(row->why, sizeof row->why, "%s", e.message);
    return HD_OK;
  }
  if (d) *d = e;
  return row->status;
}

/* A model runs no kernel that chooses its tasks by its SM. Such a plan is checked on the emulator, and the
 * model replays the original's tasks under it, as it does where it searches for plans. */
static bool is_replayed(const hd_device *dev, const hd_plan *p) {
  return hd_device_get_gpu(dev) && hd_bind_claims(p->bind);
}

static hd_status check_row(const hd_resolved *plans, const hd_run_options *run, hd_measure_row *row,
                           hd_diag *d) {
  static const hd_dispatch_kind demand = HD_DISPATCH_DEMAND;
  const hd_check_options o = {.run = *run, .dispatchers = &demand, .n_dispatchers = 1, .no_reference = true};
  hd_check_result r;
  hd_diag e = {0};
  row->status = hd_check_resolved(plans, &o, &r, &e);
  if (row->status == HD_OK && !r.equal) row->status = hd_fail(&e, HD_ERR_REFUSED, "%.255s", r.what);
  if (row->status == HD_OK) return HD_OK;
  hd_fit(row->why, sizeof row->why, "%s", e.message);
  if (hd_blames_plan(row->status)) return HD_OK;
  if (d) *d = e;
  return row->status;
}

/* Their times are the original's by the ratio of two replays. */
static hd_status replay_row(const hd_study *s, const hd_gpu *g, const hd_counters *original,
                            const hd_measure_row *first, hd_measure_row *row) {
  hd_diag e = {0};
  row->status = hd_study_replay(s, g, &row->plan, g->dispatch, 0, &row->counters, &e);
  hd_fit(row->why, sizeof row->why, "%s", e.message);
  if (row->status != HD_OK) return row->status == HD_ERR_NOMEM ? row->status : HD_OK;
  const double x = row->counters.time_us > 0 ? original->time_us / row->counters.time_us : 1;
  row->median_us = row->least_us = first->median_us / x;
  row->speedup = first->speedup;
  row->speedup.median = row->speedup.low = row->speedup.high = x;
  row->has_counters = first->has_counters;
  return HD_OK;
}

static hd_status replay_rows(const hd_device *dev, const hd_workload *w, const hd_run_options *o,
                             const hd_resolved *const *replayed, hd_measure_row *rows, size_t n, hd_diag *d) {
  const hd_gpu *g = hd_device_get_gpu(dev); /* NULL for a real GPU, of which no row is replayed */
  hd_run_options run = *o;
  const hd_study_options how = {.timed = true};
  hd_counters original;
  hd_study *s = NULL;
  hd_status st = HD_OK;
  for (size_t i = 1; st == HD_OK && i < n; i++) {
    if (!replayed[i]) continue;
    if (!s) {
      run.machine.n_sms = g->n_sms;
      st = hd_study_open(w, &run, &how, &s, d);
      if (st == HD_OK) st = hd_study_replay(s, g, &hd_plan_original, g->dispatch, 0, &original, d);
    }
    if (st == HD_OK) st = check_row(replayed[i], &run, &rows[i], d);
    if (st == HD_OK && rows[i].status == HD_OK) st = replay_row(s, g, &original, &rows[0], &rows[i]);
  }
  hd_study_close(s);
  return st;
}

hd_status hd_measure(hd_device *dev, const hd_workload *w, const hd_measure_options *o, hd_measure_row *rows,
                     size_t n, hd_diag *d) {
  hd_run_options run = o ? o->run : (hd_run_options){0};
  if (!n || !hd_plan_is_baseline(&rows[0].plan))
    return hd_fail(d, HD_ERR_USAGE, "the first plan to measure must be the baseline");
  hd_resolved *own = calloc(n, sizeof *own);
  const hd_resolved **plans = calloc(n, sizeof *plans), **replayed = calloc(n, sizeof *replayed);
  hd_status st = own && plans && replayed ? HD_OK : hd_nomem(d);
  run.compile.arch = hd_launch_arch(hd_device_get_info(dev), run.compile.arch);
  for (size_t i = 1; st == HD_OK && i < n; i++) {
    const bool by_replay = is_replayed(dev, &rows[i].plan);
    st = resolve_row(dev, w, &run, &rows[i], &own[i], by_replay ? &replayed[i] : &plans[i], d);
    if (by_replay && rows[i].status == HD_OK) rows[i].status = HD_ERR_UNSUPPORTED; /* not there, until then */
  }
  if (st == HD_OK) st = hd_measure_resolved(dev, w, plans, o, rows, n, d);
  if (st == HD_OK) st = replay_rows(dev, w, &run, replayed, rows, n, d);
  for (size_t i = 0; own && i < n; i++)
    if ((plans && plans[i]) || (replayed && replayed[i])) hd_resolved_free(&own[i]);
  free(plans);
  free(replayed);
  free(own);
  return st;
}
