/* Many workloads tuned on a device: the papers' tables there. */
#include <stdio.h>
#include <string.h>

#include "suite/suite.h"

static bool is_done(const suite *s, const suite_job *j) {
  const hd_bench_row *row = hd_bench_find(s->r, j->name, j->size);
  return row && !row->failed[0];
}

static hd_status run(suite *s, const suite_job *j, suite_row *row, bool *gone, hd_diag *d) {
  const hd_suite_options *o = s->o;
  const hd_tune_options how = {.run = {.threads = o->threads},
                               .budget = o->budget,
                               .no_counters = o->no_counters,
                               .shared = o->shared,
                               .each_lever = true,
                               .advisor = o->advisor,
                               .progress = o->progress,
                               .ctx = (void *)j->name};
  hd_workload *w;
  hd_tuning t;
  hd_status st = hd_workload_open(j->name, o->kernels_dir, j->size, &w, d);
  if (st != HD_OK) return st;
  st = hd_tune(*s->device, w, &how, &t, d);
  if (st == HD_OK) {
    hd_bench_fill(w, &t, &s->r->place, &row->tuned);
    if (o->store) st = hd_tuning_keep(o->store, *s->device, w, &how, &t, d);
    hd_tuning_free(&t);
  }
  hd_workload_close(w);
  return st;
}

static hd_status keep(suite *s, const suite_job *j, suite_row *row, const char *failed, hd_buf *line,
                      hd_diag *d) {
  hd_bench_row *r = &row->tuned;
  snprintf(r->failed, sizeof r->failed, "%s", failed);
  if (failed[0]) snprintf(r->size, sizeof r->size, "%s", j->size);
  snprintf(r->workload, sizeof r->workload, "%.95s", j->name);
  if (failed[0])
    hd_buf_printf(line, ": %s", failed);
  else
    hd_buf_printf(line, ": %.3fx, %s, %.1f s", r->speedup, r->plan, r->seconds);
  return hd_bench_add(s->r, r, d);
}

static const suite_kind tuned = {is_done, run, keep};

/* A workload that cannot be opened has the usual size, and fails in its turn. */
static hd_status add(suite *s, const char *name, hd_diag *d) {
  const hd_workload_request q = {.name = name,
                                 .kernels_dir = s->o->kernels_dir,
                                 .size = s->o->size,
                                 .preferred = hd_tune_size(hd_device_get_info(*s->device))};
  hd_workload *w = NULL;
  const bool opened = hd_workload_request_open(&q, &w, NULL) == HD_OK;
  hd_status st = suite_add(s, name, opened ? w->size : q.size ? q.size : q.preferred, d);
  if (opened) hd_workload_close(w);
  return st;
}

hd_status hd_suite_tune(hd_device **dev, char *const *names, size_t n, const hd_suite_options *o,
                        hd_bench_results *r, hd_diag *d) {
  suite s = {.o = o, .kind = &tuned, .device = dev, .r = r};
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < n; i++) st = add(&s, names[i], d);
  if (st == HD_OK) st = suite_run(&s, d);
  suite_free(&s);
  return st == HD_OK ? hd_bench_draw(r, d) : st;
}
