/* Every stored verdict of a device measured once more; the verdicts that are slower are named. */
#include "bench_verify.h"

#include <stdlib.h>

#include <string.h>

#include "tuning.h"

static const double least = 0.99;

typedef struct job {
  const char *name; /* of the workload */
  char size[32];
} job;

typedef struct verification {
  const bench_verify_options *o;
  char gpu[96], driver[32];
  char **names;
  size_t n_names;
  HD_VEC(job) jobs;
  hd_status status;
  hd_diag *d;
} verification;

/* ---- Workloads and sizes ------------------------------------------------------------- */

/* A verdict goes by the last part of its workload's name, and, of several kernels, by the kernel's. */
static bool is_of(const hd_verdict *v, const char *workload) {
  const char *slash = strrchr(workload, '/'), *last = slash ? slash + 1 : workload;
  size_t n = strlen(last);
  return strncmp(v->name, last, n) == 0 && (!v->name[n] || v->name[n] == '/');
}

static bool add_job(verification *r, const char *name, const char *size) {
  for (size_t i = 0; i < r->jobs.n; i++)
    if (r->jobs.data[i].name == name && strcmp(r->jobs.data[i].size, size) == 0) return true;
  job j = {.name = name};
  snprintf(j.size, sizeof j.size, "%.31s", size);
  return hd_vec_push(&r->jobs, j);
}

static bool take_verdict(void *ctx, const hd_verdict *v) {
  verification *r = ctx;
  bool known = false;
  if (strcmp(v->key.gpu, r->gpu) != 0 || strcmp(v->key.driver, r->driver) != 0) return true;
  const char *size = v->key.size[0] ? v->key.size : tuning_size(*r->o->device);
  r->o->results->verdicts++;
  for (size_t i = 0; r->status == HD_OK && i < r->n_names; i++) {
    if (!is_of(v, r->names[i])) continue;
    known = true;
    if (r->o->size && strcmp(r->o->size, size) != 0) continue;
    if (!add_job(r, r->names[i], size)) r->status = hd_nomem(r->d);
  }
  r->o->results->unknown += !known;
  return r->status == HD_OK;
}

/* The workload has a row that did not fail; a failed one is tried again. */
static bool is_done(const verification *r, const job *j) {
  const hd_verify_row *row = hd_verify_find(r->o->results, j->name, j->size);
  return row && !row->failed[0];
}

/* ---- One of them ------------------------------------------------------------------------------ */

static hd_status verify(verification *r, const job *j, hd_verify_row *row, bool *found, hd_diag *d) {
  hd_workload *w;
  hd_tuning t;
  hd_tune_options o = {.run = {.threads = r->o->threads}, .budget = r->o->budget};
  *found = true;
  hd_status st = hd_workload_open(j->name, cli_kernels_dir(), j->size, &w, d);
  if (st != HD_OK) return st;
  st = hd_tuning_recall(r->o->store, *r->o->device, w, &o, &t, found, d);
  if (st == HD_OK && *found) {
    hd_verify_begin(w, &t, row);
    if (t.adopted) {
      st = hd_tuning_verify(*r->o->device, w, &o, least, &t, d);
      if (st == HD_OK) hd_verify_end(&t, row);
    }
    hd_tuning_free(&t);
  }
  hd_workload_close(w);
  return st;
}

static hd_status run_job(verification *r, size_t i, hd_diag *d) {
  const job *j = &r->jobs.data[i];
  hd_verify_row row = {0};
  hd_diag e = {0};
  bool found;
  hd_status st = verify(r, j, &row, &found, &e);
  if (st == HD_OK && !found) {
    r->o->results->gone++;
    return HD_OK;
  }
  if (st != HD_OK) {
    hd_diag_line(&e, row.failed, sizeof row.failed);
    /* A kernel's fault takes the device's context with it. */
    hd_device_close(*r->o->device);
    *r->o->device = NULL;
    st = cli_open_device(r->o->device_name, r->o->threads, r->o->device, d);
    if (st != HD_OK) return st;
  }
  snprintf(row.workload, sizeof row.workload, "%.95s", j->name);
  snprintf(row.size, sizeof row.size, "%.31s", j->size);
  if (row.failed[0])
    fprintf(stderr, "[%zu/%zu] %s (%s): %s\n", i + 1, r->jobs.n, j->name, j->size, row.failed);
  else
    fprintf(stderr, "[%zu/%zu] %s (%s): %.3fx, %s, %.1f s\n", i + 1, r->jobs.n, j->name, j->size, row.speedup,
            row.original ? "original kept" : row.plan, row.seconds);
  return hd_verify_add(r->o->results, &row, d);
}

static hd_status run(verification *r, hd_diag *d) {
  double start = hd_seconds();
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < r->jobs.n; i++) {
    if (r->o->resume && is_done(r, &r->jobs.data[i])) continue;
    if (r->o->total > 0 && hd_seconds() - start > r->o->total) {
      fprintf(stderr, "heddle: %zu of %zu workloads are left for --resume\n", r->jobs.n - i, r->jobs.n);
      break;
    }
    st = run_job(r, i, d);
  }
  return st;
}

/* ---- All of them ----------------------------------------------------------------------------------- */

static int print(const bench_verify_options *o) {
  hd_buf out = {0};
  (o->json ? hd_verify_json : hd_verify_results_text)(o->results, least, &out);
  int printed = cli_print(&out);
  if (printed != EXIT_OK) return printed;
  return hd_verify_count_bad(o->results->verified.data, o->results->verified.n, least) ? EXIT_NO : EXIT_OK;
}

int bench_verify(const bench_verify_options *o, char **names, size_t n) {
  hd_diag d = {0};
  verification r = {.o = o, .names = names, .n_names = n, .d = &d};
  int rc = EXIT_OK;
  hd_status st = HD_OK;
  hd_tune_place(hd_device_get_info(*o->device), r.gpu, r.driver);
  if (!o->store) st = hd_fail(&d, HD_ERR_USAGE, "bench: --verify needs a store of verdicts");
  if (st == HD_OK) st = hd_store_each(o->store, NULL, take_verdict, &r, &d);
  if (st == HD_OK) st = r.status;
  if (st == HD_OK && !o->results->verdicts)
    st = hd_fail(&d, HD_ERR_USAGE, "there are no verdicts for %s under driver %s", r.gpu, r.driver);
  if (st == HD_OK) st = run(&r, &d);
  if (st == HD_OK) {
    rc = print(o);
    st = hd_verify_draw(o->results, least, &d);
  }
  hd_vec_free(&r.jobs);
  return st == HD_OK ? rc : cli_fail(&d);
}
