/* Plans on a device: the proof on the workload's input, and times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/placement.h"
#include "launch/reference.h"

enum { DEFAULT_RUNS = 3, DEFAULT_WARMUPS = 3, DEFAULT_REPETITIONS = 31 };
#define DEFAULT_CONFIDENCE 0.99

/* ---- Check -------------------------------------------------------------------------- */

static hd_status check_original(placement *p, const hd_check_options *o, void ***want, hd_check_result *r,
                                hd_diag *d) {
  variant v;
  hd_diag e = {0};
  hd_status st = variant_open(&v, p, NULL, &e);
  if (st == HD_OK) st = variant_run_once(&v, &e);
  if (st == HD_OK) st = placement_read(p, want, &e);
  variant_close(&v);
  st = launch_as_answer(st, &e, "original kernel", r, d);
  if (st == HD_OK && r->equal && p->w->reference && !o->no_reference)
    st = reference_compare(p->w, p->initial, p->filled, *want, r, d);
  return st;
}

/* Run once more, the k-th time, and compare. */
static hd_status check_run(variant *v, uint32_t k, void *const *want, hd_check_result *r, hd_diag *d) {
  const char *name = hd_device_get_info(v->p->device)->name;
  hd_status st = variant_run_once(v, d);
  if (st != HD_OK) return st;
  r->runs++;
  st = placement_compare(v->p, want, &r->bytes_compared, d);
  if (st != HD_ERR_REFUSED) return st;
  r->equal = false;
  snprintf(r->dispatcher, sizeof r->dispatcher, "%.31s", name);
  hd_fit(r->what, sizeof r->what, "rewritten kernel on %s, run %u: %s", name, k + 1, d->message);
  return HD_OK;
}

static hd_status check_rewritten(placement *p, const hd_resolved *plans, const hd_check_options *o,
                                 void *const *want, hd_check_result *r, hd_diag *d) {
  variant v;
  hd_diag e = {0};
  hd_status st = variant_open(&v, p, plans, &e);
  for (uint32_t k = 0; st == HD_OK && r->equal && k < (o->runs ? o->runs : DEFAULT_RUNS); k++)
    st = check_run(&v, k, want, r, &e);
  variant_close(&v);
  return launch_as_answer(st, &e, "rewritten kernel", r, d);
}

hd_status hd_check_resolved_on(hd_device *dev, const hd_resolved *plans, const hd_check_options *o,
                               hd_check_result *r, hd_diag *d) {
  static const hd_check_options defaults;
  const hd_workload *w = plans->code->workload;
  if (!o) o = &defaults;
  *r = (hd_check_result){.equal = true, .assume = o->run.compile.assume};
  double start = hd_seconds();
  placement p;
  void **want = NULL;
  hd_run_options run = o->run;
  run.compile.arch = plans->code->arch; /* the original is the one that the plans were resolved for */
  hd_status st = placement_open(&p, dev, w, &run, d);
  if (st == HD_OK) st = check_original(&p, o, &want, r, d);
  if (st == HD_OK && r->equal) st = check_rewritten(&p, plans, o, want, r, d);
  launch_bytes_free(w, want);
  placement_close(&p);
  r->seconds = hd_seconds() - start;
  return st;
}

/* ---- Times ------------------------------------------------------------------------------- */

static hd_status refuse_row(hd_measure_row *row, hd_status st, const char *why) {
  row->status = st;
  hd_fit(row->why, sizeof row->why, "%s", why);
  return HD_OK;
}

/* Load a row's kernels and check that they compute the same as the first row's. A plan's failure is the row's
 * own; a failure of the original or the device ends everything. */
static hd_status admit(placement *p, variant *v, const hd_resolved *plans, hd_measure_row *row,
                       void *const *want, hd_diag *d) {
  hd_diag e = {0};
  uint64_t compared;
  if (row->status != HD_OK) return HD_OK;
  hd_status st = variant_open(v, p, plans, &e);
  if (st == HD_OK) st = variant_run_once(v, &e);
  if (st == HD_OK) st = placement_compare(p, want, &compared, &e);
  if (st == HD_OK) return HD_OK;
  variant_close(v);
  if (hd_blames_plan(st)) return refuse_row(row, st, e.message);
  if (d) *d = e;
  return st;
}

/* The first row, with which the others are compared. */
static hd_status admit_original(placement *p, variant *v, void ***want, hd_diag *d) {
  hd_status st = variant_open(v, p, NULL, d);
  if (st == HD_OK) st = variant_run_once(v, d);
  if (st == HD_OK) st = placement_read(p, want, d);
  return st == HD_OK ? placement_learn(p, *want, d) : st;
}

static hd_status count_rows(placement *p, const variant *variants, const hd_measure_options *o,
                            hd_measure_row *rows, size_t n, hd_diag *d) {
  for (size_t i = 0; i < n; i++) {
    hd_watch_tell(&o->run.watch, "counting", i, n);
    if (rows[i].status != HD_OK) continue;
    hd_device_job job = variant_job((variant *)&variants[i]);
    hd_status st = hd_device_count(p->device, &job, o->keep_l2, &rows[i].counters, &rows[i].has_counters,
                                   rows[i].no_counters, sizeof rows[i].no_counters, d);
    if (st != HD_OK) return st;
  }
  hd_watch_tell(&o->run.watch, "counting", n, n);
  return HD_OK;
}

static hd_status time_rows(placement *p, variant *variants, const hd_measure_options *o, hd_measure_row *rows,
                           size_t n, hd_diag *d) {
  /* A model's rounds are all alike. */
  const bool model = hd_device_get_info(p->device)->kind == HD_DEVICE_MODEL;
  const uint32_t reps = o->repetitions ? o->repetitions : model ? 1 : DEFAULT_REPETITIONS;
  hd_timing_options timing = {.warmups = o->warmups ? o->warmups
                                         : model    ? 0
                                                    : DEFAULT_WARMUPS,
                              .repetitions = reps,
                              .keep_l2 = o->keep_l2,
                              .watch = o->run.watch};
  hd_device_job *jobs = calloc(n, sizeof *jobs);
  double *us = calloc(n, reps * sizeof *us), *sorted = calloc(reps, sizeof *sorted);
  size_t n_jobs = 0;
  hd_status st = jobs && us && sorted ? HD_OK : hd_nomem(d);
  for (size_t i = 0; st == HD_OK && i < n; i++)
    if (rows[i].status == HD_OK) jobs[n_jobs++] = variant_job(&variants[i]);
  if (st == HD_OK) st = hd_device_time(p->device, jobs, n_jobs, &timing, us, d);
  for (size_t i = 0, job = 0; st == HD_OK && i < n; i++) {
    if (rows[i].status != HD_OK) continue;
    const double *t = us + reps * job++;
    memcpy(sorted, t, reps * sizeof *sorted);
    rows[i].median_us = hd_median(sorted, reps);
    rows[i].least_us = sorted[0];
    st = hd_paired_speedup(us, t, reps, o->confidence > 0 ? o->confidence : DEFAULT_CONFIDENCE,
                           &rows[i].speedup, d);
  }
  free(jobs);
  free(us);
  free(sorted);
  return st;
}

hd_status hd_measure_resolved(hd_device *dev, const hd_workload *w, const hd_resolved *const *plans,
                              const hd_measure_options *o, hd_measure_row *rows, size_t n, hd_diag *d) {
  static const hd_measure_options defaults;
  if (!o) o = &defaults;
  if (!n || plans[0]) return hd_fail(d, HD_ERR_USAGE, "the first plan to measure must be the baseline");
  hd_status st = hd_device_need_times(dev, d);
  if (st != HD_OK) return st;
  variant *variants = calloc(n, sizeof *variants);
  if (!variants) return hd_nomem(d);
  placement p;
  void **want = NULL;
  st = placement_open(&p, dev, w, &o->run, d);
  if (st == HD_OK) st = admit_original(&p, &variants[0], &want, d);
  for (size_t i = 1; st == HD_OK && i < n; i++) {
    hd_watch_tell(&o->run.watch, "checking plans", i - 1, n - 1);
    st = admit(&p, &variants[i], plans[i], &rows[i], want, d);
  }
  if (n > 1) hd_watch_tell(&o->run.watch, "checking plans", n - 1, n - 1);
  launch_bytes_free(w, want);
  if (st == HD_OK) st = time_rows(&p, variants, o, rows, n, d);
  if (st == HD_OK && !o->no_counters) st = count_rows(&p, variants, o, rows, n, d);
  for (size_t i = 0; i < n; i++) variant_close(&variants[i]);
  placement_close(&p);
  free(variants);
  return st;
}
