/* Every stored verdict of a device measured once more. */
#include <stdio.h>
#include <string.h>

#include "suite/suite.h"

/* ---- One of them ---------------------------------------------------------------------- */

static bool is_done(const suite *s, const suite_job *j) {
  const hd_verify_row *row = hd_verify_find(s->r, j->name, j->size);
  return row && !row->failed[0];
}

static hd_status run(suite *s, const suite_job *j, suite_answer *a, hd_buf *verdicts, hd_diag *d) {
  hd_workload *w;
  hd_tuning t;
  bool found = true;
  const hd_tune_options how = {.run = {.machine.threads = s->o->threads}, .budget = s->o->budget};
  hd_status st = hd_workload_open(j->name, s->o->kernels_dir, j->size, &w, d);
  if (st != HD_OK) return st;
  st = hd_tuning_recall(s->o->store, *s->device, w, &how, &t, &found, d);
  if (st == HD_OK && found) {
    hd_verify_begin(w, &t, &a->row.verified);
    if (t.adopted) {
      st = hd_tuning_verify(*s->device, w, &how, s->least, &t, d);
      if (st == HD_OK) hd_verify_end(&t, &a->row.verified);
    }
    hd_tuning_free(&t);
  }
  a->gone = st == HD_OK && !found;
  hd_workload_close(w);
  return st;
}

static hd_status keep(suite *s, const suite_job *j, suite_answer *a, hd_buf *line, hd_diag *d) {
  hd_verify_row *r = &a->row.verified;
  if (a->failed[0]) memcpy(r->failed, a->failed, sizeof r->failed);
  r->gpu = a->gpu;
  snprintf(r->workload, sizeof r->workload, "%.95s", j->name);
  memcpy(r->size, j->size, sizeof r->size);
  hd_buf_printf(line, " (%s): ", j->size);
  if (r->failed[0])
    hd_buf_puts(line, r->failed);
  else
    hd_buf_printf(line, "%.3fx, %s, %.1f s", r->speedup, r->original ? "original kept" : r->plan, r->seconds);
  return hd_verify_add(s->r, r, d);
}

static const suite_kind verified = {"verify", is_done, run, keep, NULL, NULL};

/* ---- Workloads and sizes ---------------------------------------------------------------- */

typedef struct search {
  suite s;
  hd_verdict_key place; /* where it is measured */
  char *const *names;
  size_t n_names;
  hd_status status;
  hd_diag *d;
} search;

/* A verdict goes by the last part of its workload's name, and, of several kernels, by the kernel's. */
static bool is_of(const hd_verdict *v, const char *workload) {
  const char *slash = strrchr(workload, '/'), *last = slash ? slash + 1 : workload;
  const size_t n = strlen(last);
  return strncmp(v->name, last, n) == 0 && (!v->name[n] || v->name[n] == '/');
}

static bool take_verdict(void *ctx, const hd_verdict *v) {
  search *x = ctx;
  const hd_suite_options *o = x->s.o;
  bool known = false;
  if (strcmp(v->key.gpu, x->place.gpu) != 0 || strcmp(v->key.driver, x->place.driver) != 0) return true;
  const char *size = v->key.size[0] ? v->key.size : hd_tune_size(hd_device_get_info(*x->s.device));
  x->s.r->verdicts++;
  for (size_t i = 0; x->status == HD_OK && i < x->n_names; i++) {
    if (!is_of(v, x->names[i])) continue;
    known = true;
    if (!o->size || strcmp(o->size, size) == 0) x->status = suite_add(&x->s, x->names[i], size, 1, x->d);
  }
  x->s.r->unknown += !known;
  return x->status == HD_OK;
}

hd_status hd_suite_verify(hd_device **dev, char *const *names, size_t n, double least,
                          const hd_suite_options *o, hd_bench_results *r, bool *whole, hd_diag *d) {
  search x = {.s = {.o = o, .kind = &verified, .device = dev, .r = r, .least = least},
              .names = names,
              .n_names = n,
              .d = d};
  hd_tune_place(hd_device_get_info(*dev), &x.place);
  if (!o->store) return hd_fail(d, HD_ERR_USAGE, "there is no store with verdicts to measure");
  hd_status st = hd_store_each(o->store, NULL, take_verdict, &x, d);
  if (st == HD_OK) st = x.status;
  if (st == HD_OK && !r->verdicts)
    st =
        hd_fail(d, HD_ERR_USAGE, "there are no verdicts for %s under driver %s", x.place.gpu, x.place.driver);
  if (st == HD_OK) st = suite_run(&x.s, whole, d);
  suite_free(&x.s);
  return st == HD_OK && *whole ? hd_verify_draw(r, least, d) : st;
}
