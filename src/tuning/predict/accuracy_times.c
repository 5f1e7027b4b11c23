/* The clock against a device's times: errors, signs, ranks, regret. */
#include "heddle/accuracy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/process.h"
#include "heddle/stats.h"
#include "predict/distance.h"
#include "predict/study.h"

static const char *const plans[] = {
    "baseline",
    "order=col",
    "order=band:4",
    "order=band:16",
    "order=tile:4x4",
    "order=tile:16x16",
    "order=zigzag:8",
    "order=hilbert",
    "order=reverse",
    "bind=redirect",
    "bind=claim",
    "bind=agents",
    "bind=agents:1",
    "bind=agents:2",
    "bind=agents:4",
    "order=band:8,bind=agents",
    "order=col,bind=agents,split=wave:16",
    "bypass=l1:0",
    "bypass=l1:2",
    "bypass=ro:0",
    "bypass=l2:0",
    "stream=l1",
    "prefetch=l2:1",
    "prefetch=l1:1",
};

const char *const *hd_accuracy_plans(size_t *n) {
  *n = sizeof plans / sizeof *plans;
  return plans;
}

/* ---- Models, each in its process ------------------------------------------------------- */

typedef struct modelling {
  const hd_accuracy_job *job;
  hd_accuracy_row *rows;    /* counters, or */
  hd_accuracy_times *times; /* times */
  size_t done;
} modelling;

static void fail(hd_status *status, char why[256], hd_status st, const char *text) {
  *status = st;
  hd_fit(why, 256, "%s", text);
}

static void count(void *ctx, size_t i, void *answer) {
  const hd_accuracy_job *j = ((const modelling *)ctx)->job;
  hd_accuracy_row *row = answer;
  hd_diag d = {0};
  hd_run_options run = {.machine.threads = 1};
  hd_workload *w = NULL;
  hd_status st = hd_workload_open(j->names[i], j->kernels_dir, j->size, &w, &d);
  if (st == HD_OK) st = hd_accuracy_model(w, j->gpu, &run, j->timed, &row->model, &d);
  if (st != HD_OK) fail(&row->status, row->why, st, d.message);
  hd_workload_close(w);
}

static hd_status replay_plan(hd_model *m, const hd_study *s, const hd_gpu *g, hd_accuracy_plan *p,
                             hd_diag *d) {
  hd_plan plan = {0};
  hd_status st = hd_plan_parse(p->text, &plan, d);
  if (st == HD_OK) st = replay_on(m, s, g, &plan, g->dispatch, 0, &p->model, d);
  if (st == HD_OK) p->model_us = p->model.time_us;
  return st;
}

/* The original must have a time; a plan that has none by the time that is left goes without. */
static hd_status replay_plans(const hd_accuracy_job *j, const hd_study *s, double until,
                              hd_accuracy_times *row, hd_diag *d) {
  hd_model *m;
  hd_status st = hd_model_create(j->gpu, &m, d);
  if (st != HD_OK) return st;
  st = replay_plan(m, s, j->gpu, &row->plans[0], d);
  double longest = 0;
  for (uint32_t k = 1; st == HD_OK && k < row->n; k++) {
    double begin = hd_seconds();
    if (begin + 1.5 * longest > until) break;
    replay_plan(m, s, j->gpu, &row->plans[k], NULL);
    double took = hd_seconds() - begin;
    if (took > longest) longest = took;
  }
  hd_model_destroy(m);
  return st;
}

/* Of the seconds, on two cores, that replays are given: one core has them, and others share it. */
#define PART 0.25

static void predict(void *ctx, size_t i, void *answer) {
  const modelling *m = ctx;
  const hd_accuracy_job *j = m->job;
  hd_accuracy_times *row = answer;
  hd_diag d = {0};
  const hd_run_options run = {.machine = {.threads = 1, .n_sms = j->gpu->n_sms}};
  const hd_study_options how = {
      .timed = true, .sample_gpu = j->gpu, .sample_units = hd_sample_units(j->seconds * PART, m->times[i].n)};
  hd_workload *w = NULL;
  hd_study *s = NULL;
  double until = hd_seconds() + 0.9 * j->seconds;
  *row = m->times[i];
  hd_status st = hd_workload_open(j->names[i], j->kernels_dir, j->size, &w, &d);
  if (st == HD_OK) st = hd_study_open(w, &run, &how, &s, &d);
  if (st == HD_OK) st = replay_plans(j, s, until, row, &d);
  if (st == HD_OK) row->part = hd_study_part(s);
  if (st != HD_OK) fail(&row->status, row->why, st, d.message);
  hd_study_close(s);
  hd_workload_close(w);
}

static void take(void *ctx, size_t i, hd_job_end end, const void *answer) {
  modelling *m = ctx;
  hd_status *status = m->rows ? &m->rows[i].status : &m->times[i].status;
  char *why = m->rows ? m->rows[i].why : m->times[i].why, late[96];
  switch (end) {
  case HD_JOB_ANSWERED:
    if (m->rows)
      memcpy(&m->rows[i], answer, sizeof *m->rows);
    else
      memcpy(&m->times[i], answer, sizeof *m->times);
    break;
  case HD_JOB_DIED: fail(status, why, HD_ERR_FAULT, "the process that modelled it died"); break;
  case HD_JOB_UNBEGUN: fail(status, why, HD_ERR_NOMEM, strerror(errno)); break;
  case HD_JOB_LATE:
    snprintf(late, sizeof late, "not modelled within %.0f s", m->job->seconds);
    fail(status, why, HD_ERR_UNSUPPORTED, late);
    break;
  }
  if (m->job->progress) m->job->progress(m->job->ctx, ++m->done, m->job->n);
}

static hd_status model_all(modelling *m, size_t answer, hd_diag *d) {
  const hd_jobs jobs = {.n = m->job->n,
                        .at_once = m->job->at_once,
                        .seconds = m->job->seconds,
                        .answer_bytes = answer,
                        .work = m->rows ? count : predict,
                        .done = take,
                        .ctx = m};
  return hd_jobs_run(&jobs, d);
}

hd_status hd_accuracy_models(const hd_accuracy_job *j, hd_accuracy_row *rows, hd_diag *d) {
  modelling m = {.job = j, .rows = rows};
  return model_all(&m, sizeof *rows, d);
}

hd_status hd_accuracy_model_times(const hd_accuracy_job *j, hd_accuracy_times *rows, hd_diag *d) {
  modelling m = {.job = j, .times = rows};
  const hd_status st = hd_gpu_need_clock(j->gpu, d);
  return st == HD_OK ? model_all(&m, sizeof *rows, d) : st;
}

/* ---- The device -------------------------------------------------------------------------- */

hd_status hd_accuracy_device_times(hd_device *dev, const hd_workload *w, uint32_t repetitions,
                                   hd_accuracy_times *row, hd_diag *d) {
  hd_measure_row rows[HD_ACCURACY_PLANS];
  hd_measure_options o = {.warmups = 1, .repetitions = repetitions, .no_counters = true};
  uint32_t n = 0;
  hd_status st = HD_OK;
  memset(rows, 0, sizeof rows);
  for (; st == HD_OK && n < row->n; n++) st = hd_plan_parse(row->plans[n].text, &rows[n].plan, d);
  if (st == HD_OK) st = hd_measure(dev, w, &o, rows, row->n, d);
  for (uint32_t k = 0; st == HD_OK && k < row->n; k++)
    if (rows[k].status == HD_OK) row->plans[k].measured_us = rows[k].median_us;
  return st;
}

/* ---- Judging -------------------------------------------------------------------------------- */

static bool known(const hd_accuracy_plan *p) { return p->measured_us > 0 && p->model_us > 0; }

static double rank_correlation(const hd_accuracy_times *row) {
  int64_t pairs = 0, sum = 0;
  for (uint32_t i = 0; i < row->n; i++)
    for (uint32_t k = 0; k < i; k++) {
      const hd_accuracy_plan *a = &row->plans[i], *b = &row->plans[k];
      if (!known(a) || !known(b)) continue;
      double less = fmin(a->measured_us, b->measured_us), more = fmax(a->measured_us, b->measured_us);
      if (more - less <= HD_ACCURACY_NOISE * less) continue;
      pairs++;
      if (a->model_us == b->model_us) continue;
      sum += (a->model_us < b->model_us) == (a->measured_us < b->measured_us) ? 1 : -1;
    }
  return pairs ? (double)sum / (double)pairs : NAN;
}

/* By how much it is faster than the original. */
static double gain(double base_us, double us) { return base_us / us - 1; }

bool hd_accuracy_is_effect(const hd_accuracy_times *row, uint32_t plan) {
  const hd_accuracy_plan *base = &row->plans[0], *p = &row->plans[plan];
  return known(base) && known(p) && fabs(gain(base->measured_us, p->measured_us)) > HD_ACCURACY_EFFECT;
}

bool hd_accuracy_is_contradicted(const hd_accuracy_times *row, uint32_t plan) {
  const hd_accuracy_plan *base = &row->plans[0], *p = &row->plans[plan];
  return hd_accuracy_is_effect(row, plan) &&
         gain(base->measured_us, p->measured_us) * gain(base->model_us, p->model_us) <= 0;
}

hd_accuracy_verdict hd_accuracy_judge(const hd_accuracy_times *row) {
  hd_accuracy_verdict v = {.ratio = NAN, .tau = NAN, .regret = NAN};
  const hd_accuracy_plan *base = &row->plans[0];
  if (row->status != HD_OK || !row->n || !known(base)) return v;
  double least = base->measured_us;
  v.ratio = base->model_us / base->measured_us;
  for (uint32_t k = 1; k < row->n; k++) {
    const hd_accuracy_plan *p = &row->plans[k];
    if (!known(p)) continue;
    if (p->measured_us < least) least = p->measured_us;
    if (p->model_us < row->plans[v.best].model_us) v.best = k;
    v.effects += hd_accuracy_is_effect(row, k);
    v.right += hd_accuracy_is_effect(row, k) && !hd_accuracy_is_contradicted(row, k);
  }
  v.tau = rank_correlation(row);
  v.regret = row->plans[v.best].measured_us / least - 1;
  return v;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

hd_status hd_accuracy_rank(const hd_accuracy_times *rows, size_t n, hd_accuracy_ranking *out, hd_diag *d) {
  *out = (hd_accuracy_ranking){0};
  double *all = calloc(3 * n + 1, sizeof *all), *errors = all, *taus = all + n, *regrets = all + 2 * n;
  distance *distances = calloc(n + 1, sizeof *distances);
  if (!all || !distances) {
    free(all);
    free(distances);
    return hd_nomem(d);
  }
  double sum = 0, logs = 0;
  for (size_t i = 0; i < n; i++) {
    hd_accuracy_verdict v = hd_accuracy_judge(&rows[i]);
    if (isnan(v.ratio)) continue;
    errors[out->n] = fabs(v.ratio - 1);
    sum += errors[out->n];
    logs += fabs(log(v.ratio));
    regrets[out->n] = v.regret;
    distances[out->n++] = (distance){fmax(v.ratio, 1 / v.ratio), i};
    if (!isnan(v.tau)) taus[out->n_tau++] = v.tau;
    out->effects += v.effects;
    out->right += v.right;
  }
  qsort(distances, out->n, sizeof *distances, distance_order);
  qsort(regrets, out->n, sizeof *regrets, ascending);
  out->n_worst = out->n < HD_ACCURACY_WORST ? out->n : HD_ACCURACY_WORST;
  for (size_t i = 0; i < out->n_worst; i++) out->worst[i] = distances[i].row;
  out->mean_error = out->n ? sum / (double)out->n : NAN;
  out->geometric = out->n ? exp(logs / (double)out->n) : NAN;
  out->median_error = hd_median(errors, out->n);
  out->median_tau = hd_median(taus, out->n_tau);
  out->p90_regret = out->n ? regrets[(9 * out->n + 9) / 10 - 1] : NAN;
  out->median_regret = hd_median(regrets, out->n);
  free(all);
  free(distances);
  return HD_OK;
}
