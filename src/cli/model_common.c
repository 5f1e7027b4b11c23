#include "model_common.h"

#include "heddle/advise.h"

#include <stdlib.h>
#include <string.h>

/* Fermi and Kepler split 64 KB between L1 and shared memory, as the launch asks; the file has one of the
 * ways. */
static hd_status set_l1(hd_gpu *g, uint64_t bytes, hd_diag *d) {
  uint64_t unit = (uint64_t)g->l1.line * g->l1.ways;
  if (!bytes) return HD_OK;
  if (bytes % unit)
    return hd_fail(d, HD_ERR_USAGE, "--l1 %llu: this GPU's L1 is a multiple of %llu bytes, line x ways",
                   (unsigned long long)bytes, (unsigned long long)unit);
  g->l1.bytes = bytes;
  return HD_OK;
}

hd_status model_open_workload(model_session *s, const char *name, const model_options *o, hd_diag *d) {
  hd_status st = hd_gpu_load(o->gpu_name ? o->gpu_name : "h100", cli_gpus_dir(), &s->gpu, d);
  if (st == HD_OK) st = set_l1(&s->gpu, o->l1_bytes, d);
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

static bool has_row(const model_session *s, const hd_plan *p) {
  for (size_t i = 0; i < s->n_rows; i++)
    if (hd_plan_equal(&s->rows[i].plan, p)) return true;
  return false;
}

/* Plans of which the kernel's text is all that changes: nobody but its owner launches it. */
static bool keeps_launch(const hd_plan *p) {
  return p->bind != HD_BIND_AGENTS && p->bind != HD_BIND_CLAIM && !p->sms.n;
}

/* Rows for what the facts propose; *seconds gets what one replay costs. */
static hd_status add_advised(model_session *s, const model_options *o, double *seconds, hd_diag *d) {
  hd_advise_options options = {.run = {.threads = (unsigned)o->threads, .n_sms = s->gpu.n_sms},
                               .dispatch = s->dispatch,
                               .seed = o->seed,
                               .launches = 2,
                               .no_race_check = true,
                               .no_experiments = true,
                               .no_predictions = true};
  hd_advice advice;
  hd_plan baseline = {0};
  hd_counters counters;
  double start = hd_seconds();
  hd_status st = hd_study_replay(s->study, &s->gpu, &baseline, s->dispatch, o->seed, &counters, d);
  *seconds = hd_seconds() - start;
  if (st == HD_OK) st = hd_advise(s->workload, s->study, &s->gpu, &options, &advice, d);
  if (st != HD_OK) return st;
  for (uint32_t i = 0; st == HD_OK && i < advice.n_proposals; i++) {
    hd_plan *p = &advice.proposals[i].plan;
    if ((o->keep_launch && !keeps_launch(p)) || has_row(s, p)) continue;
    if (add_row(s, p))
      *p = (hd_plan){0}; /* the row's now */
    else
      st = hd_nomem(d);
  }
  hd_advice_free(&advice);
  return st;
}

static uint32_t largest_launch(const hd_workload *w) {
  uint32_t most = 0;
  uint64_t tasks, best = 0;
  for (uint32_t i = 0; i < w->n_launches; i++)
    if (hd_grid_tasks(w->launches[i].grid, &tasks) && tasks > best) {
      best = tasks;
      most = i;
    }
  return most;
}

/* The candidates of the launch with most CTAs, the most promising `most` of them. */
static hd_status add_candidates(model_session *s, const model_options *o, size_t most, hd_diag *d) {
  hd_plan_space space;
  hd_candidate *list = calloc(HD_CANDIDATES, sizeof *list);
  if (!list) return hd_nomem(d);
  hd_status st = hd_advise_space(s->workload, largest_launch(s->workload), NULL, &space, d);
  space.n_sms = s->gpu.n_sms;
  size_t n = st == HD_OK ? hd_candidates(&space, list, HD_CANDIDATES) : 0;
  for (size_t i = 0; st == HD_OK && i < n && i < most; i++) {
    const hd_plan *p = &list[i].plan;
    if ((o->keep_launch && !keeps_launch(p)) || has_row(s, p)) continue;
    if (!add_row(s, p)) st = hd_nomem(d);
  }
  free(list);
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
      hd_status st = one ? hd_plan_parse(one, &p, d) : hd_nomem(d);
      free(one);
      if (st != HD_OK) return st;
      if (hd_plan_is_baseline(&p)) {
        hd_plan_free(&p);
      } else if (!add_row(s, &p)) {
        hd_plan_free(&p);
        return hd_nomem(d);
      }
      i += n;
    }
  }
  return HD_OK;
}

static hd_status collect_rows(model_session *s, const model_options *o, hd_diag *d) {
  enum { AFFORDABLE = 60 }; /* seconds for candidates that nothing speaks for */
  hd_plan baseline = {0};
  const char *plans = o->plans;
  if (!add_row(s, &baseline)) return hd_nomem(d);
  if (!plans && !o->advised) return add_candidates(s, o, HD_CANDIDATES, d);
  if (!plans) {
    double seconds = 0, threads = o->threads ? (double)o->threads : hd_cpu_count();
    hd_status st = add_advised(s, o, &seconds, d);
    double most = seconds > 0 ? AFFORDABLE * threads / seconds : HD_CANDIDATES;
    return st == HD_OK ? add_candidates(s, o, most < HD_CANDIDATES ? (size_t)most : HD_CANDIDATES, d) : st;
  }
  if (plans[0] != '@') return add_listed(s, plans, strlen(plans), d);
  hd_file f;
  hd_status st = hd_file_open(plans + 1, &f, d);
  if (st != HD_OK) return st;
  st = add_listed(s, f.data, f.len, d);
  hd_file_close(&f);
  return st;
}

hd_status model_sweep(model_session *s, const model_options *o, hd_diag *d) {
  hd_status st = collect_rows(s, o, d);
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
