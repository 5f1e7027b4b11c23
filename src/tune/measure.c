/* Plans on a device: the proof on the input at hand, and times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/placement.h"
#include "tune/reference.h"

enum { DEFAULT_RUNS = 3, DEFAULT_WARMUPS = 3, DEFAULT_REPETITIONS = 31 };
#define DEFAULT_CONFIDENCE 0.99

/* ---- Comparing ------------------------------------------------------------------- */

/* Run once from the first contents and read the result. */
static hd_status run_and_read(variant *v, void ***result, hd_diag *d) {
  hd_status st = placement_restore(v->p, d);
  if (st == HD_OK) st = placement_poison(v->p, d);
  if (st == HD_OK) st = variant_run(v, d);
  if (st == HD_OK) st = hd_device_sync(v->p->device, d);
  return st == HD_OK ? placement_read(v->p, result, d) : st;
}

/* ---- Check -------------------------------------------------------------------------- */

/* A fault of the kernel is an answer of the check; anything else is an error. */
static hd_status as_answer(hd_status st, const char *who, const hd_diag *e, hd_check_result *r, hd_diag *d) {
  if (st != HD_OK && st != HD_ERR_FAULT && d) *d = *e;
  if (st != HD_ERR_FAULT) return st;
  r->equal = false;
  snprintf(r->what, sizeof r->what, "%s: %.640s", who, e->message);
  return HD_OK;
}

static hd_status check_original(placement *p, const hd_check_options *o, void ***want, hd_check_result *r,
                                hd_diag *d) {
  variant v;
  hd_diag e = {0};
  hd_status st = variant_open(&v, p, NULL, &e);
  if (st == HD_OK) st = run_and_read(&v, want, &e);
  variant_close(&v);
  st = as_answer(st, "original kernel", &e, r, d);
  if (st == HD_OK && r->equal && p->w->reference && !o->no_reference)
    st = reference_compare(p->w, p->initial, p->filled, *want, r, d);
  return st;
}

static hd_status check_rewritten(placement *p, const hd_plan *plan, const hd_check_options *o,
                                 void *const *want, hd_check_result *r, hd_diag *d) {
  variant v;
  hd_diag e = {0};
  const char *name = hd_device_get_info(p->device)->name;
  hd_status st = variant_open(&v, p, plan, &e);
  for (uint32_t k = 0; st == HD_OK && r->equal && k < (o->runs ? o->runs : DEFAULT_RUNS); k++) {
    void **got = NULL;
    char what[600];
    if ((st = run_and_read(&v, &got, &e)) != HD_OK) break;
    r->runs++;
    r->bytes_compared = 0;
    for (uint32_t i = 0; i < p->w->n_buffers; i++) r->bytes_compared += p->w->buffers[i].bytes;
    r->equal = placement_same(p->w, got, want, what, sizeof what);
    placement_free_bytes(p, got);
    if (r->equal) continue;
    snprintf(r->dispatcher, sizeof r->dispatcher, "%.31s", name);
    snprintf(r->what, sizeof r->what, "rewritten kernel on %s, run %u: %s", name, k + 1, what);
  }
  variant_close(&v);
  return as_answer(st, "rewritten kernel", &e, r, d);
}

hd_status hd_check_on(hd_device *dev, const hd_workload *w, const hd_plan *plan, const hd_check_options *o,
                      hd_check_result *r, hd_diag *d) {
  static const hd_check_options defaults;
  if (!o) o = &defaults;
  *r = (hd_check_result){.equal = true};
  double start = hd_seconds();
  placement p;
  void **want = NULL;
  hd_status st = placement_open(&p, dev, w, &o->run, d);
  if (st == HD_OK) st = check_original(&p, o, &want, r, d);
  if (st == HD_OK && r->equal) st = check_rewritten(&p, plan, o, want, r, d);
  placement_free_bytes(&p, want);
  placement_close(&p);
  r->seconds = hd_seconds() - start;
  return st;
}

/* ---- Times ------------------------------------------------------------------------------- */

static hd_status refuse_row(hd_measure_row *row, hd_status st, const char *why) {
  row->status = st;
  snprintf(row->why, sizeof row->why, "%.255s", why);
  return HD_OK;
}

/* Load row i's kernels and see that they compute what the first row's do. What is wrong with a plan is the
 * row's own; what is wrong with the baseline or the device ends everything. */
static hd_status admit(placement *p, variant *v, hd_measure_row *row, bool first, void ***want, hd_diag *d) {
  hd_diag e = {0};
  char what[600];
  void **got = NULL;
  hd_status st = variant_open(v, p, first ? NULL : &row->plan, &e);
  if (st == HD_OK) st = run_and_read(v, &got, &e);
  if (st != HD_OK) {
    variant_close(v);
    if (!first && (st == HD_ERR_REFUSED || st == HD_ERR_UNSUPPORTED)) return refuse_row(row, st, e.message);
    if (d) *d = e;
    return st;
  }
  row->status = HD_OK;
  if (first) {
    *want = got;
    return placement_learn(p, got, d);
  }
  bool equal = placement_same(p->w, got, *want, what, sizeof what);
  placement_free_bytes(p, got);
  if (equal) return HD_OK;
  variant_close(v);
  return refuse_row(row, HD_ERR_REFUSED, what);
}

static hd_status count_rows(placement *p, const variant *variants, const hd_measure_options *o,
                            hd_measure_row *rows, size_t n, hd_diag *d) {
  for (size_t i = 0; i < n; i++) {
    if (rows[i].status != HD_OK) continue;
    hd_device_job job = variant_job((variant *)&variants[i]);
    hd_status st = hd_device_count(p->device, &job, o->keep_l2, &rows[i].counters, &rows[i].has_counters,
                                   rows[i].no_counters, sizeof rows[i].no_counters, d);
    if (st != HD_OK) return st;
  }
  return HD_OK;
}

static hd_status time_rows(placement *p, variant *variants, const hd_measure_options *o, hd_measure_row *rows,
                           size_t n, hd_diag *d) {
  uint32_t reps = o->repetitions ? o->repetitions : DEFAULT_REPETITIONS;
  hd_timing_options timing = {
      .warmups = o->warmups ? o->warmups : DEFAULT_WARMUPS, .repetitions = reps, .keep_l2 = o->keep_l2};
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

hd_status hd_measure(hd_device *dev, const hd_workload *w, const hd_measure_options *o, hd_measure_row *rows,
                     size_t n, hd_diag *d) {
  static const hd_measure_options defaults;
  if (!o) o = &defaults;
  if (!n || !hd_plan_is_baseline(&rows[0].plan))
    return hd_fail(d, HD_ERR_USAGE, "the first plan to measure must be the baseline");
  if (!hd_device_get_info(dev)->has_times)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "device %s measures no times", hd_device_get_info(dev)->name);
  variant *variants = calloc(n, sizeof *variants);
  if (!variants) return hd_nomem(d);
  placement p;
  void **want = NULL;
  hd_status st = placement_open(&p, dev, w, &o->run, d);
  for (size_t i = 0; st == HD_OK && i < n; i++) st = admit(&p, &variants[i], &rows[i], i == 0, &want, d);
  placement_free_bytes(&p, want);
  if (st == HD_OK) st = time_rows(&p, variants, o, rows, n, d);
  if (st == HD_OK && !o->no_counters) st = count_rows(&p, variants, o, rows, n, d);
  for (size_t i = 0; i < n; i++) variant_close(&variants[i]);
  placement_close(&p);
  free(variants);
  return st;
}
