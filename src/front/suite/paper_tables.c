/* Many workloads tuned on a device: the papers' tables there. */
#include <stdio.h>
#include <string.h>

#include "suite/suite.h"

static hd_tune_options options_of(const suite *s, const suite_job *j) {
  const hd_suite_options *o = s->o;
  return (hd_tune_options){.run = {.machine.threads = o->threads},
                           .budget = o->budget,
                           .no_counters = o->no_counters,
                           .shared = o->shared,
                           .each_lever = true,
                           .advisor = o->advisor,
                           .progress = o->progress,
                           .ctx = (void *)j->name};
}

hd_status suite_put_verdicts(hd_device *dev, const hd_workload *w, const hd_tune_options *how,
                             const hd_tuning *t, hd_buf *out, hd_diag *d) {
  hd_store *own = NULL;
  hd_status st = hd_store_open(":memory:", &own, d);
  if (st == HD_OK) st = hd_tuning_keep(own, dev, w, how, t, d);
  if (st == HD_OK) st = hd_store_export(own, NULL, out, d);
  hd_store_close(own);
  return st;
}

/* In the store; where answers are carried, as text. */
static hd_status keep_verdicts(const suite *s, const hd_workload *w, const hd_tune_options *how,
                               const hd_tuning *t, hd_buf *verdicts, hd_diag *d) {
  if (suite_carries(s)) return suite_put_verdicts(*s->device, w, how, t, verdicts, d);
  return s->o->store ? hd_tuning_keep(s->o->store, *s->device, w, how, t, d) : HD_OK;
}

static hd_status run(suite *s, const suite_job *j, suite_answer *a, hd_buf *verdicts, hd_diag *d) {
  const hd_tune_options how = options_of(s, j);
  hd_workload *w;
  hd_tuning t;
  hd_status st = hd_workload_open(j->name, s->o->kernels_dir, j->size, &w, d);
  if (st != HD_OK) return st;
  st = hd_tune(*s->device, w, &how, &t, d);
  if (st == HD_OK) {
    hd_bench_fill(w, &t, &s->r->place, &a->row.tuned);
    st = keep_verdicts(s, w, &how, &t, verdicts, d);
    hd_tuning_free(&t);
  }
  hd_workload_close(w);
  return st;
}

/* ---- A second GPU ------------------------------------------------------------------------------ */

static bool doubted(const suite_answer *a) { return strcmp(a->row.tuned.plan, "baseline") != 0; }

unsigned suite_count_adopted(const hd_tuning *t) {
  unsigned n = 0;
  for (uint32_t i = 0; i < t->n_kernels; i++) n += t->kernels[i].adopted;
  return n;
}

hd_status suite_measure_again(hd_device *dev, const hd_workload *w, const hd_tune_options *how,
                              const char *text, size_t len, hd_tuning *t, bool *held, hd_diag *d) {
  hd_tune_options short_one = *how;
  hd_store *own = NULL;
  uint64_t imported;
  bool found = false;
  short_one.budget = 1;
  hd_status st = hd_store_open(":memory:", &own, d);
  if (st == HD_OK) st = hd_store_import(own, text, len, w->name, &imported, d);
  if (st == HD_OK) st = hd_tuning_recall(own, dev, w, how, t, &found, d);
  if (st == HD_OK && !found) st = hd_fail(d, HD_ERR_INPUT, "the verdict belongs to another kernel or GPU");
  const unsigned adopted = found ? suite_count_adopted(t) : 0;
  if (st == HD_OK) st = hd_tuning_verify(dev, w, &short_one, 0, t, d);
  *held = st == HD_OK && suite_count_adopted(t) == adopted;
  if (st != HD_OK && found) hd_tuning_free(t);
  hd_store_close(own);
  return st;
}

/* A kernel that won on the first GPU only keeps its original. */
static hd_status second(suite *s, const suite_job *j, suite_answer *a, const char *text, size_t len,
                        hd_buf *verdicts, hd_diag *d) {
  const hd_tune_options how = options_of(s, j);
  hd_workload *w;
  hd_tuning t;
  bool held;
  hd_status st = hd_workload_open(j->name, s->o->kernels_dir, j->size, &w, d);
  if (st != HD_OK) return st;
  st = suite_measure_again(*s->device, w, &how, text, len, &t, &held, d);
  if (st == HD_OK) {
    hd_bench_fill_second(&t, &s->r->place.gpu, held, &a->row.tuned);
    if (held)
      hd_buf_put(verdicts, text, len);
    else
      st = keep_verdicts(s, w, &how, &t, verdicts, d);
    hd_tuning_free(&t);
  }
  hd_workload_close(w);
  return st;
}

static bool is_done(const suite *s, const suite_job *j) {
  const hd_bench_row *row = hd_bench_find(s->r, j->name, j->size);
  return row && !row->failed[0];
}

static hd_status keep(suite *s, const suite_job *j, suite_answer *a, hd_buf *line, hd_diag *d) {
  hd_bench_row *r = &a->row.tuned;
  memcpy(r->failed, a->failed, sizeof r->failed);
  if (a->failed[0]) {
    memcpy(r->size, j->size, sizeof r->size);
    r->gpu = a->gpu;
  }
  snprintf(r->workload, sizeof r->workload, "%.95s", j->name);
  if (a->failed[0])
    hd_buf_printf(line, ": %s", a->failed);
  else
    hd_buf_printf(line, ": %.3fx, %s, %.1f s", r->speedup, r->plan, r->seconds);
  return hd_bench_add(s->r, r, d);
}

static const suite_kind tuned = {"tune", is_done, run, keep, doubted, second};

/* A workload that cannot be opened has the usual size, and fails in its turn. */
static hd_status add(suite *s, const char *name, hd_diag *d) {
  const hd_workload_request q = {.name = name,
                                 .kernels_dir = s->o->kernels_dir,
                                 .size = s->o->size,
                                 .preferred = hd_tune_size(hd_device_get_info(*s->device))};
  hd_workload *w = NULL;
  const bool opened = hd_workload_request_open(&q, &w, NULL) == HD_OK;
  double bytes = 0;
  for (uint32_t i = 0; opened && i < w->n_buffers; i++) bytes += (double)w->buffers[i].bytes;
  hd_status st = suite_add(s, name, opened ? w->size : q.size ? q.size : q.preferred, bytes, d);
  if (opened) hd_workload_close(w);
  return st;
}

hd_status hd_suite_tune(hd_device **dev, char *const *names, size_t n, const hd_suite_options *o,
                        hd_bench_results *r, bool *whole, hd_diag *d) {
  suite s = {.o = o, .kind = &tuned, .device = dev, .r = r};
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < n; i++) st = add(&s, names[i], d);
  if (st == HD_OK) st = suite_run(&s, whole, d);
  suite_free(&s);
  return st == HD_OK && *whole ? hd_bench_draw(r, d) : st;
}
