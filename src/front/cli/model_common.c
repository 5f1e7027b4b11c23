#include "model_common.h"

#include "heddle/advise.h"
#include "heddle/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hd_status model_open_gpu(model_session *s, const model_options *o, hd_diag *d) {
  hd_status st = hd_gpu_load(o->gpu_name ? o->gpu_name : "h100", cli_gpus_dir(), &s->gpu, d);
  if (st == HD_OK) st = hd_gpu_set_l1(&s->gpu, o->l1_bytes, d);
  s->dispatch = s->gpu.dispatch;
  s->timed = o->depth ? o->depth == DEPTH_TIMING : hd_gpu_has_clock(&s->gpu);
  if (st == HD_OK && o->scheduler) st = hd_gpu_parse_scheduler(&s->gpu, o->scheduler, d);
  return st == HD_OK ? hd_dispatch_parse(o->dispatcher, &s->dispatch, d) : st;
}

hd_status model_open_workload(model_session *s, const char *name, const model_options *o, hd_diag *d) {
  const hd_status st = model_open_gpu(s, o, d);
  return st == HD_OK ? cli_open_workload(name, &o->in, "paper", &s->workload, d) : st;
}

static hd_run_options run_options(const model_session *s, const model_options *o) {
  hd_run_options run = {.machine = {.threads = (unsigned)o->threads, .n_sms = s->gpu.n_sms}};
  if (!o->quiet) run.watch = cli_watch;
  return run;
}

static hd_study_options study_options(const model_session *s, const model_options *o, size_t replays) {
  hd_study_options how = {.timed = s->timed,
                          .sample_gpu = &s->gpu,
                          .free_mapping = o->free_mapping,
                          .bypass_register = o->bypass_register};
  if (!o->exact && replays) how.sample_units = hd_sample_units(o->budget ? (double)o->budget : 60, replays);
  return how;
}

/* One line where so many replays of which nothing is sampled take long. */
static hd_status say_how_long(const model_session *s, const model_options *o, size_t replays, hd_diag *d) {
  hd_buf line = {0};
  const hd_status st =
      o->quiet ? HD_OK : hd_estimate_print(s->workload, (unsigned)o->threads, s->timed, replays, &line, d);
  if (line.len && !line.failed) fprintf(stderr, "heddle: %s\n", line.data);
  hd_buf_free(&line);
  return st;
}

hd_status model_open_study(model_session *s, const model_options *o, size_t replays, hd_diag *d) {
  const hd_run_options run = run_options(s, o);
  const hd_study_options how = study_options(s, o, replays);
  const hd_status st = how.sample_units ? HD_OK : say_how_long(s, o, 1, d);
  return st != HD_OK ? st : hd_study_open(s->workload, &run, &how, &s->study, d);
}

hd_status model_read_plans(const cli_list *lists, hd_plan_list *out, hd_diag *d) {
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < lists->n; i++) st = hd_plan_list_read(lists->items[i], out, d);
  return st;
}

hd_status model_list_plans(model_session *s, const model_options *o, hd_diag *d) {
  hd_status st = model_read_plans(&o->plans, &s->plans, d);
  if (st == HD_OK)
    st = hd_advise_rows(s->workload, &s->gpu, o->plans.n > 0, &s->plans, &s->rows, &s->n_rows, d);
  const bool replays = o->exact && !cli_how.n_parts && !cli_how.stream;
  return st == HD_OK && replays ? say_how_long(s, o, s->n_rows, d) : st;
}

hd_status model_sweep(model_session *s, const model_options *o, const hd_work_how *how, bool *whole,
                      hd_diag *d) {
  enum { REPLAYS = 96 };
  hd_status st = model_list_plans(s, o, d);
  if (st != HD_OK) return st;
  const hd_sweep_job j = {.workload = s->workload,
                          .run = run_options(s, o),
                          .how = study_options(s, o, REPLAYS),
                          .study = &s->study,
                          .part = &s->part,
                          .gpu = &s->gpu,
                          .dispatch = s->dispatch,
                          .seed = o->seed,
                          .rows = s->rows,
                          .n = s->n_rows,
                          .threads = (unsigned)o->threads,
                          .progress = cli_progress,
                          .stop = how->journal || how->n_parts || how->stream ? NULL : cli_stopped,
                          .ctx = (void *)"replaying plans"};
  const double start = hd_seconds();
  st = hd_sweep_split(&j, how, whole, d);
  s->sweep_seconds = hd_seconds() - start - (s->study ? hd_study_seconds(s->study) : 0);
  return st;
}

void model_close(model_session *s) {
  hd_plan_list_free(&s->plans);
  free(s->rows);
  hd_study_close(s->study);
  hd_workload_close(s->workload);
  memset(s, 0, sizeof *s);
}
