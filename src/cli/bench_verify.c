/* Every stored verdict of a device measured once more: never slower, or it is said where. */
#include "bench_verify.h"

#include <stdlib.h>
#include <string.h>

#include "bench_folder.h"
#include "tuning.h"

const char bench_verify_results[] = "verify.jsonl";
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
  HD_VEC(hd_verify_row) rows;
  uint64_t verdicts, unknown; /* of this device; of workloads that are not among the names */
  uint64_t gone;              /* workloads at a size whose kernels are not those of the verdicts */
  hd_status status;
  hd_diag *d;
} verification;

/* ---- Which workloads at which sizes -------------------------------------------------- */

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
  r->verdicts++;
  for (size_t i = 0; r->status == HD_OK && i < r->n_names; i++) {
    if (!is_of(v, r->names[i])) continue;
    known = true;
    if (r->o->size && strcmp(r->o->size, size) != 0) continue;
    if (!add_job(r, r->names[i], size)) r->status = hd_nomem(r->d);
  }
  r->unknown += !known;
  return r->status == HD_OK;
}

/* ---- Rows as JSON ------------------------------------------------------------------------- */

static json_t *row_json(const hd_bench_place *p, const hd_verify_row *r) {
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:f, s:f, s:f}", "heddle",
                   p->version, "device", p->title, "driver", p->driver, "workload", r->workload, "size",
                   r->size, "failed", r->failed, "plan", r->plan, "original", r->original, "tuned",
                   tuning_number_json(r->kept), "speedup", tuning_number_json(r->speedup), "low",
                   tuning_number_json(r->low), "high", tuning_number_json(r->high), "default_us",
                   r->before_us, "plan_us", r->after_us, "seconds", r->seconds);
}

static bool read_text(const json_t *j, const char *key, char *out, size_t cap) {
  const char *s = json_string_value(json_object_get(j, key));
  snprintf(out, cap, "%s", s ? s : "");
  return s && strlen(s) < cap;
}

static double read_number(const json_t *j, const char *key) {
  return json_number_value(json_object_get(j, key));
}

static bool add_row(verification *r, const hd_verify_row *row) {
  for (size_t i = 0; i < r->rows.n; i++) {
    hd_verify_row *known = &r->rows.data[i];
    if (strcmp(known->workload, row->workload) != 0 || strcmp(known->size, row->size) != 0) continue;
    *known = *row;
    return true;
  }
  return hd_vec_push(&r->rows, *row);
}

/* Lines of another version, device or driver are not taken. */
static bool take_line(void *ctx, const json_t *j) {
  verification *r = ctx;
  const hd_bench_place *p = r->o->place;
  hd_verify_row row = {0};
  char version[32], title[128], driver[32];
  if (!read_text(j, "heddle", version, sizeof version) || strcmp(version, p->version) != 0 ||
      !read_text(j, "device", title, sizeof title) || strcmp(title, p->title) != 0 ||
      !read_text(j, "driver", driver, sizeof driver) || strcmp(driver, p->driver) != 0 ||
      !read_text(j, "workload", row.workload, sizeof row.workload) ||
      !read_text(j, "size", row.size, sizeof row.size) || !row.workload[0])
    return true;
  read_text(j, "failed", row.failed, sizeof row.failed);
  read_text(j, "plan", row.plan, sizeof row.plan);
  row.original = json_is_true(json_object_get(j, "original"));
  row.kept = read_number(j, "tuned");
  row.speedup = read_number(j, "speedup");
  row.low = read_number(j, "low");
  row.high = read_number(j, "high");
  row.before_us = read_number(j, "default_us");
  row.after_us = read_number(j, "plan_us");
  row.seconds = read_number(j, "seconds");
  return add_row(r, &row);
}

/* What failed is tried again. */
static bool is_done(const verification *r, const job *j) {
  for (size_t i = 0; i < r->rows.n; i++) {
    const hd_verify_row *row = &r->rows.data[i];
    if (strcmp(row->workload, j->name) == 0 && strcmp(row->size, j->size) == 0) return !row->failed[0];
  }
  return false;
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
    r->gone++;
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
  st = bench_append_json(r->o->folder, bench_verify_results, row_json(r->o->place, &row), d);
  if (st == HD_OK && !add_row(r, &row)) st = hd_nomem(d);
  return st;
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

static void put_rest(const verification *r, hd_buf *out) {
  if (r->unknown)
    hd_buf_printf(out, "%llu of %llu verdicts are of other workloads.\n", (unsigned long long)r->unknown,
                  (unsigned long long)r->verdicts);
  if (r->gone)
    hd_buf_printf(out, "%llu workloads have other kernels or launches now than their verdicts.\n",
                  (unsigned long long)r->gone);
}

static int print(const verification *r, hd_buf *text) {
  if (!r->o->json) return cli_print(text);
  json_t *rows = json_array();
  hd_bench_mean mean = hd_verify_geomean(r->rows.data, r->rows.n);
  hd_buf_free(text);
  for (size_t i = 0; i < r->rows.n; i++) json_array_append_new(rows, row_json(r->o->place, &r->rows.data[i]));
  return cli_print_json(json_pack("{s:o, s:f, s:i, s:i, s:i, s:i}", "rows", rows, "mean", mean.speedup, "n",
                                  (int)mean.n, "below_or_failed",
                                  (int)hd_verify_count_bad(r->rows.data, r->rows.n, least), "other_workloads",
                                  (int)r->unknown, "other_kernels", (int)r->gone));
}

static hd_status finish(const verification *r, int *rc, hd_diag *d) {
  hd_buf text = {0}, copy = {0};
  hd_verify_text(r->o->place, r->rows.data, r->rows.n, least, &text);
  put_rest(r, &text);
  hd_buf_put(&copy, text.data ? text.data : "", text.len);
  hd_status st = bench_write(r->o->folder, "verify.txt", &copy, d);
  int printed = print(r, &text);
  if (printed != EXIT_OK)
    *rc = printed;
  else
    *rc = hd_verify_count_bad(r->rows.data, r->rows.n, least) ? EXIT_NO : EXIT_OK;
  return st;
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
  if (st == HD_OK && !r.verdicts)
    st = hd_fail(&d, HD_ERR_USAGE, "there are no verdicts for %s under driver %s", r.gpu, r.driver);
  if (st == HD_OK && o->resume) st = bench_each_line(o->folder, bench_verify_results, take_line, &r, &d);
  if (st == HD_OK) st = run(&r, &d);
  if (st == HD_OK) st = finish(&r, &rc, &d);
  hd_vec_free(&r.jobs);
  hd_vec_free(&r.rows);
  return st == HD_OK ? rc : cli_fail(&d);
}
