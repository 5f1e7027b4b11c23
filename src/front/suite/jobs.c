#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/suite.h"

hd_status suite_add(suite *s, const char *name, const char *size, double cost, hd_diag *d) {
  for (size_t i = 0; i < s->jobs.n; i++)
    if (s->jobs.data[i].name == name && strcmp(s->jobs.data[i].size, size) == 0) return HD_OK;
  suite_job j = {.name = name};
  snprintf(j.size, sizeof j.size, "%.31s", size);
  return hd_vec_push(&s->jobs, j) && hd_vec_push(&s->costs, cost) ? HD_OK : hd_nomem(d);
}

void suite_free(suite *s) {
  hd_vec_free(&s->jobs);
  hd_vec_free(&s->costs);
}

bool suite_carries(const suite *s) { return s->o->how && s->o->how->stream; }

/* Frees the line. */
static void say(const suite *s, hd_buf *line) {
  if (s->o->say && line->data) s->o->say(s->o->ctx, line->data);
  hd_buf_free(line);
}

/* ---- One job ------------------------------------------------------------------------------- */

/* A kernel's fault takes the device's context with it: the next job gets a new one. */
static hd_status reopen(suite *s, hd_diag *d) {
  const hd_device_options o = {.emu = {.threads = s->o->threads}, .gpu_dir = s->o->gpus_dir};
  char name[sizeof((hd_device_info *)0)->name];
  snprintf(name, sizeof name, "%s", hd_device_get_info(*s->device)->name);
  hd_device_close(*s->device);
  *s->device = NULL;
  return hd_device_open(name, &o, s->device, d);
}

static hd_status put_answer(suite_answer *a, hd_buf *verdicts, hd_buf *answer, hd_diag *d) {
  hd_buf_put(answer, (const char *)a, sizeof *a);
  hd_buf_put(answer, verdicts->data ? verdicts->data : "", verdicts->len);
  const bool failed = verdicts->failed;
  hd_buf_free(verdicts);
  free(a);
  return failed ? hd_nomem(d) : HD_OK;
}

/* To be freed by put_answer; NULL: out of memory. */
static suite_answer *new_answer(const suite *s) {
  suite_answer *a = calloc(1, sizeof *a);
  if (a) a->gpu = s->r->place.gpu;
  return a;
}

static hd_status do_job(void *ctx, size_t i, unsigned thread, hd_buf *answer, hd_diag *d) {
  suite *s = ctx;
  suite_answer *a = new_answer(s);
  hd_buf verdicts = {0};
  hd_diag e = {0};
  hd_status st = HD_OK;
  if (!a) return hd_nomem(d);
  a->left = s->o->total > 0 && hd_seconds() - s->start > s->o->total;
  if (!a->left && s->kind->run(s, &s->jobs.data[i], a, &verdicts, &e) != HD_OK) {
    memset(&a->row, 0, sizeof a->row);
    hd_diag_line(&e, a->failed, sizeof a->failed);
    hd_buf_free(&verdicts);
    st = reopen(s, d);
  }
  const hd_status put = put_answer(a, &verdicts, answer, d);
  return st == HD_OK ? put : st;
}

/* ---- A second opinion ------------------------------------------------------------------------ */

static bool is_doubted(void *ctx, const void *answer, size_t len) {
  const suite *s = ctx;
  suite_answer *a = new_answer(s);
  if (a && len >= sizeof *a) memcpy(a, answer, sizeof *a);
  const bool doubted = a && !a->failed[0] && !a->gone && !a->left && a->gpu.uuid[0] && s->kind->doubted(a);
  free(a);
  return doubted;
}

/* A winner that cannot be measured once more counts as a failure of that GPU. */
static hd_status do_second(void *ctx, size_t i, const void *first, size_t len, hd_buf *answer, hd_diag *d) {
  suite *s = ctx;
  suite_answer *a = new_answer(s);
  hd_buf verdicts = {0};
  hd_diag e = {0};
  hd_status st = HD_OK;
  if (!a) return hd_nomem(d);
  if (len >= sizeof *a) memcpy(a, first, sizeof *a);
  const size_t used = len < sizeof *a ? len : sizeof *a;
  if (s->kind->second(s, &s->jobs.data[i], a, (const char *)first + used, len - used, &verdicts, &e) !=
      HD_OK) {
    char line[400];
    snprintf(a->failed, sizeof a->failed, "on %s: %s", s->r->place.gpu.uuid,
             hd_diag_line(&e, line, sizeof line));
    hd_buf_free(&verdicts);
    st = reopen(s, d);
  }
  const hd_status put = put_answer(a, &verdicts, answer, d);
  return st == HD_OK ? put : st;
}

/* ---- Answers ----------------------------------------------------------------------------------- */

static hd_status take_job(void *ctx, size_t i, const void *answer, size_t len, hd_diag *d) {
  suite *s = ctx;
  uint64_t imported;
  hd_buf line = {0};
  if (!len) return HD_OK; /* it is done already */
  suite_answer *a = malloc(sizeof *a);
  if (!a) return hd_nomem(d);
  hd_status st = len >= sizeof *a ? HD_OK : hd_fail(d, HD_ERR_INPUT, "an answer that is no job's");
  if (st == HD_OK) {
    memcpy(a, answer, sizeof *a);
    s->n_left += a->left;
    if (!a->left && !a->gone) {
      hd_buf_printf(&line, "[%zu/%zu] %s", i + 1, s->jobs.n, s->jobs.data[i].name);
      st = s->kind->keep(s, &s->jobs.data[i], a, &line, d);
      say(s, &line);
    }
    s->r->gone += a->gone;
  }
  if (st == HD_OK && len > sizeof *a && s->o->store)
    st = hd_store_import(s->o->store, (const char *)answer + sizeof *a, len - sizeof *a, s->jobs.data[i].name,
                         &imported, d);
  free(a);
  return st;
}

static bool is_known(void *ctx, size_t i) {
  const suite *s = ctx;
  return s->o->resume && s->kind->is_done(s, &s->jobs.data[i]);
}

/* Of what answers follow from, all but the device, which a fleet may mix. */
static hd_digest identify(const suite *s) {
  const hd_suite_options *o = s->o;
  const bool flags[] = {o->no_counters, o->shared, o->advisor != NULL, o->once, o->mixed};
  hd_digest h = hd_digest_begin();
  hd_digest_text(&h, s->kind->name);
  hd_digest_text(&h, s->r->place.version);
  hd_digest_bytes(&h, &o->budget, sizeof o->budget);
  hd_digest_bytes(&h, flags, sizeof flags);
  for (size_t i = 0; i < s->jobs.n; i++) {
    hd_digest_text(&h, s->jobs.data[i].name);
    hd_digest_text(&h, s->jobs.data[i].size);
  }
  return h;
}

hd_worker suite_worker(const hd_bench_gpu *g) {
  hd_worker w = {0};
  snprintf(w.kind, sizeof w.kind, "%s, driver %s", g->title, g->driver);
  snprintf(w.unit, sizeof w.unit, "%s", g->uuid);
  return w;
}

hd_status suite_run(suite *s, bool *whole, hd_diag *d) {
  const hd_work_how *how = s->o->how;
  hd_work w = {.identity = identify(s),
               .n = s->jobs.n,
               .costs = how && (how->pool || how->shards) ? s->costs.data : NULL,
               .item = do_job,
               .take = take_job,
               .ctx = s,
               .known = is_known,
               .worker = suite_worker(&s->r->place.gpu),
               .mixed = s->o->mixed};
  if (s->kind->second && !s->o->once) w.doubted = is_doubted, w.second = do_second;
  if (!s->o->mixed) hd_digest_text(&w.identity, w.worker.kind);
  if (how && how->journal && s->o->total > 0)
    return hd_fail(d, HD_ERR_USAGE, "a journal's work has no --total: it may be ended at any time");
  s->start = hd_seconds();
  hd_status st = hd_work_run(&w, how, whole, d);
  if (st == HD_OK && s->n_left) {
    hd_buf line = {0};
    hd_buf_printf(&line, "heddle: %zu of %zu workloads are left for --resume", s->n_left, s->jobs.n);
    say(s, &line);
  }
  return st;
}
