#include "model_common.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CANDIDATES = 512 };

hd_status model_open_workload(model_session *s, const char *name, const model_options *o, hd_diag *d) {
  hd_status st = hd_gpu_load(o->gpu_name ? o->gpu_name : "h100", cli_gpus_dir(), &s->gpu, d);
  s->dispatch = s->gpu.dispatch;
  if (st == HD_OK) st = cli_dispatch(o->dispatcher, &s->dispatch, d);
  if (st == HD_OK) st = hd_workload_open(name, cli_kernels_dir(), o->size, &s->workload, d);
  if (st != HD_OK || o->size) return st;
  for (uint32_t i = 0; i < s->workload->n_sizes; i++) {
    if (strcmp(s->workload->sizes[i].name, "paper") != 0) continue;
    hd_workload_close(s->workload);
    s->workload = NULL;
    return hd_workload_open(name, cli_kernels_dir(), "paper", &s->workload, d);
  }
  return st;
}

hd_status model_open_study(model_session *s, const model_options *o, hd_diag *d) {
  hd_run_options run = {.threads = (unsigned)o->threads, .n_sms = s->gpu.n_sms};
  return hd_study_open(s->workload, &run, &s->study, d);
}

/* ---- Plans ---------------------------------------------------------------------- */

static bool add_row(model_session *s, const hd_plan *p) {
  hd_sweep_row *rows = realloc(s->rows, (s->n_rows + 1) * sizeof *rows);
  if (!rows) return false;
  s->rows = rows;
  s->rows[s->n_rows++] = (hd_sweep_row){.plan = *p};
  return true;
}

static hd_status add_candidates(model_session *s, hd_diag *d) {
  hd_plan *plans = calloc(MAX_CANDIDATES, sizeof *plans);
  if (!plans) return hd_fail(d, HD_ERR_NOMEM, "out of memory");
  size_t n = hd_plan_candidates(s->workload->launches[0].grid, plans, MAX_CANDIDATES);
  if (n > MAX_CANDIDATES) n = MAX_CANDIDATES;
  hd_status st = HD_OK;
  for (size_t i = 0; i < n; i++) {
    if (hd_plan_is_baseline(&plans[i]) || st != HD_OK || !add_row(s, &plans[i])) {
      if (!hd_plan_is_baseline(&plans[i]) && st == HD_OK) st = hd_fail(d, HD_ERR_NOMEM, "out of memory");
      hd_plan_free(&plans[i]);
    }
  }
  free(plans);
  return st;
}

/* Plans separated by white space; lines of a file may hold '#' comments. */
static hd_status add_listed(model_session *s, const char *text, size_t len, hd_diag *d) {
  for (size_t i = 0; i < len;) {
    if (strchr(" \t\r\n", text[i])) {
      i++;
    } else if (text[i] == '#') {
      while (i < len && text[i] != '\n') i++;
    } else {
      size_t n = 0;
      while (i + n < len && text[i + n] && !strchr(" \t\r\n", text[i + n])) n++;
      if (!n) return hd_fail(d, HD_ERR_INPUT, "the list of plans is not text");
      char *one = strndup(text + i, n);
      hd_plan p = {0};
      hd_status st = one ? hd_plan_parse(one, &p, d) : hd_fail(d, HD_ERR_NOMEM, "out of memory");
      free(one);
      if (st != HD_OK) return st;
      if (hd_plan_is_baseline(&p)) {
        hd_plan_free(&p);
      } else if (!add_row(s, &p)) {
        hd_plan_free(&p);
        return hd_fail(d, HD_ERR_NOMEM, "out of memory");
      }
      i += n;
    }
  }
  return HD_OK;
}

static hd_status collect_rows(model_session *s, const char *plans, hd_diag *d) {
  hd_plan baseline = {0};
  if (!add_row(s, &baseline)) return hd_fail(d, HD_ERR_NOMEM, "out of memory");
  if (!plans) return add_candidates(s, d);
  if (plans[0] != '@') return add_listed(s, plans, strlen(plans), d);
  hd_file f;
  hd_status st = hd_file_open(plans + 1, &f, d);
  if (st != HD_OK) return st;
  st = add_listed(s, f.data, f.len, d);
  hd_file_close(&f);
  return st;
}

hd_status model_sweep(model_session *s, const model_options *o, hd_diag *d) {
  hd_status st = collect_rows(s, o->plans, d);
  if (st != HD_OK) return st;
  double start = hd_seconds();
  st = hd_sweep(s->study, &s->gpu, s->dispatch, o->seed, s->rows, s->n_rows, (unsigned)o->threads,
                cli_progress, (void *)"replaying plans", d);
  s->sweep_seconds = hd_seconds() - start;
  return st;
}

void model_close(model_session *s) {
  for (size_t i = 0; i < s->n_rows; i++) hd_plan_free(&s->rows[i].plan);
  free(s->rows);
  hd_study_close(s->study);
  hd_workload_close(s->workload);
  memset(s, 0, sizeof *s);
}
