/* Runs plans given as text: resolves them first. */
#include <stdio.h>
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
  run.arch = hd_launch_arch(hd_device_get_info(dev), run.arch);
  hd_status st = hd_resolve(w, &plans, &run, NULL, &resolved, d);
  if (st != HD_OK) return st;
  st = hd_check_resolved_on(dev, &resolved, o, r, d);
  hd_resolved_free(&resolved);
  return st;
}

/* ---- Times ----------------------------------------------------------------------------- */

/* A plan that cannot be resolved is its row's own failure. */
static hd_status resolve_row(const hd_workload *w, const hd_run_options *run, hd_measure_row *row,
                             hd_resolved *own, const hd_resolved **out, hd_diag *d) {
  hd_plan_set set = {.all = row->plan};
  hd_diag e = {0};
  row->status = hd_resolve(w, &set, run, NULL, own, &e);
  if (row->status == HD_OK) {
    *out = own;
    return HD_OK;
  }
  if (row->status == HD_ERR_REFUSED || row->status == HD_ERR_UNSUPPORTED) {
    hd_fit(row->why, sizeof row->why, "%s", e.message);
    return HD_OK;
  }
  if (d) *d = e;
  return row->status;
}

hd_status hd_measure(hd_device *dev, const hd_workload *w, const hd_measure_options *o, hd_measure_row *rows,
                     size_t n, hd_diag *d) {
  hd_run_options run = o ? o->run : (hd_run_options){0};
  if (!n || !hd_plan_is_baseline(&rows[0].plan))
    return hd_fail(d, HD_ERR_USAGE, "the first plan to measure must be the baseline");
  hd_resolved *own = calloc(n, sizeof *own);
  const hd_resolved **plans = calloc(n, sizeof *plans);
  hd_status st = own && plans ? HD_OK : hd_nomem(d);
  run.arch = hd_launch_arch(hd_device_get_info(dev), run.arch);
  for (size_t i = 1; st == HD_OK && i < n; i++) st = resolve_row(w, &run, &rows[i], &own[i], &plans[i], d);
  if (st == HD_OK) st = hd_measure_resolved(dev, w, plans, o, rows, n, d);
  for (size_t i = 0; own && i < n; i++)
    if (plans && plans[i]) hd_resolved_free(&own[i]);
  free(plans);
  free(own);
  return st;
}
