#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/suite.h"

hd_status suite_add(suite *s, const char *name, const char *size, hd_diag *d) {
  for (size_t i = 0; i < s->jobs.n; i++)
    if (s->jobs.data[i].name == name && strcmp(s->jobs.data[i].size, size) == 0) return HD_OK;
  suite_job j = {.name = name};
  snprintf(j.size, sizeof j.size, "%.31s", size);
  return hd_vec_push(&s->jobs, j) ? HD_OK : hd_nomem(d);
}

/* Frees the line. */
static void say(const suite *s, hd_buf *line) {
  if (s->o->say && line->data) s->o->say(s->o->ctx, line->data);
  hd_buf_free(line);
}

/* A kernel's fault takes the device's context with it: the next job gets a new one. */
static hd_status reopen(suite *s, hd_diag *d) {
  const hd_device_options o = {.emu = {.threads = s->o->threads}, .gpu_dir = s->o->gpus_dir};
  hd_device_close(*s->device);
  *s->device = NULL;
  return hd_device_open(s->o->device, &o, s->device, d);
}

static hd_status run_job(suite *s, size_t i, hd_diag *d) {
  const suite_job *j = &s->jobs.data[i];
  suite_row row;
  hd_diag e = {0};
  char failed[512] = "";
  bool gone = false;
  hd_buf line = {0};
  memset(&row, 0, sizeof row);
  if (s->kind->run(s, j, &row, &gone, &e) != HD_OK) {
    memset(&row, 0, sizeof row);
    hd_diag_line(&e, failed, sizeof failed);
    hd_status st = reopen(s, d);
    if (st != HD_OK) return st;
  }
  if (gone) return HD_OK;
  hd_buf_printf(&line, "[%zu/%zu] %s", i + 1, s->jobs.n, j->name);
  hd_status st = s->kind->keep(s, j, &row, failed, &line, d);
  say(s, &line);
  return st;
}

hd_status suite_run(suite *s, hd_diag *d) {
  const double start = hd_seconds();
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < s->jobs.n; i++) {
    if (s->o->resume && s->kind->is_done(s, &s->jobs.data[i])) continue;
    if (s->o->total > 0 && hd_seconds() - start > s->o->total) {
      hd_buf line = {0};
      hd_buf_printf(&line, "heddle: %zu of %zu workloads are left for --resume", s->jobs.n - i, s->jobs.n);
      say(s, &line);
      break;
    }
    st = run_job(s, i, d);
  }
  return st;
}

void suite_free(suite *s) { hd_vec_free(&s->jobs); }
