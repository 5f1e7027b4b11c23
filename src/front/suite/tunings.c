/* Workloads tuned on devices, and told one after the other. */
#include <string.h>

#include "suite/suite.h"

/* The text to report and the verdicts' text lie behind it. */
typedef struct tunings_answer {
  hd_diag why;      /* there is none; status HD_OK: there is */
  uint64_t adopted; /* kernels that get a plan by this very run */
  uint64_t unanswered;
  uint64_t text; /* bytes */
} tunings_answer;

static hd_status put(const tunings_answer *head, hd_buf *text, hd_buf *verdicts, hd_buf *answer, hd_diag *d) {
  tunings_answer a = *head;
  a.text = text->len;
  hd_buf_put(answer, (const char *)&a, sizeof a);
  hd_buf_put(answer, text->data ? text->data : "", text->len);
  hd_buf_put(answer, verdicts->data ? verdicts->data : "", verdicts->len);
  const bool failed = text->failed || verdicts->failed;
  hd_buf_free(text);
  hd_buf_free(verdicts);
  return failed ? hd_nomem(d) : HD_OK;
}

/* The parts of an answer; false: it is none. */
static bool take_apart(const char *bytes, size_t len, tunings_answer *a, const char **verdicts, size_t *n) {
  if (len < sizeof *a) return false;
  memcpy(a, bytes, sizeof *a);
  if (a->text > len - sizeof *a) return false;
  *verdicts = bytes + sizeof *a + a->text;
  *n = len - sizeof *a - (size_t)a->text;
  return true;
}

static hd_status open_workload(const hd_tunings *o, size_t i, hd_workload **out, hd_diag *d) {
  hd_workload_request q = o->like;
  q.name = o->names[i];
  q.preferred = hd_tune_size(hd_device_get_info(o->device));
  return hd_workload_request_open(&q, out, d);
}

static hd_tune_options options_of(const hd_tunings *o, size_t i) {
  hd_tune_options how = o->tune;
  if (!how.ctx) how.ctx = o->names[i];
  return how;
}

/* In the store; where answers are carried to another process, as text. */
static hd_status keep(const hd_tunings *o, const hd_workload *w, const hd_tune_options *how,
                      const hd_tuning *t, hd_buf *verdicts, hd_diag *d) {
  if (o->how && o->how->stream) return suite_put_verdicts(o->device, w, how, t, verdicts, d);
  return o->store ? hd_tuning_keep(o->store, o->device, w, how, t, d) : HD_OK;
}

static void tell(const hd_tunings *o, const hd_workload *w, const hd_tuning *t, bool verified, hd_buf *text) {
  const hd_tuning_report r = {.workload = w,
                              .device = hd_device_get_info(o->device),
                              .gpu = hd_device_get_gpu(o->device),
                              .tuning = t,
                              .strategy = o->tune.strategy,
                              .most_trials = o->most_trials,
                              .verified = verified};
  (o->json ? hd_tuning_json : hd_tuning_text)(&r, text);
}

/* ---- Items ------------------------------------------------------------------------------------- */

/* *fresh: found out now. *t is to be freed on HD_OK. */
static hd_status find_plans(const hd_tunings *o, const hd_workload *w, const hd_tune_options *how,
                            hd_tuning *t, bool *fresh, hd_diag *d) {
  bool found = false;
  hd_status st = HD_OK;
  if (!o->again && o->store) st = hd_tuning_recall(o->store, o->device, w, how, t, &found, d);
  *fresh = !found || o->verify;
  if (st != HD_OK || !*fresh) return st;
  if (o->verify && !found)
    return hd_fail(d, HD_ERR_USAGE, "%s (%s): there is no verdict to verify", w->name, w->size);
  st = found ? hd_tuning_verify(o->device, w, how, 0, t, d) : hd_tune(o->device, w, how, t, d);
  if (st != HD_OK && found) hd_tuning_free(t);
  return st;
}

static hd_status tune_one(const hd_tunings *o, const hd_workload *w, const hd_tune_options *how,
                          tunings_answer *a, hd_buf *text, hd_buf *verdicts, hd_diag *d) {
  hd_tuning t;
  bool fresh;
  hd_status st = find_plans(o, w, how, &t, &fresh, d);
  if (st != HD_OK) return st;
  if (fresh) st = keep(o, w, how, &t, verdicts, d);
  a->adopted = fresh ? suite_count_adopted(&t) : 0;
  a->unanswered = t.unanswered;
  tell(o, w, &t, o->verify, text);
  hd_tuning_free(&t);
  return st;
}

/* A workload that cannot be tuned has an answer that says why. */
static hd_status do_item(void *ctx, size_t i, unsigned thread, hd_buf *answer, hd_diag *d) {
  const hd_tunings *o = ctx;
  const hd_tune_options how = options_of(o, i);
  tunings_answer a = {.adopted = 0};
  hd_buf text = {0}, verdicts = {0};
  hd_workload *w;
  hd_status st = open_workload(o, i, &w, &a.why);
  if (st == HD_OK) {
    st = tune_one(o, w, &how, &a, &text, &verdicts, &a.why);
    hd_workload_close(w);
  }
  a.why.status = st;
  return put(&a, &text, &verdicts, answer, d);
}

static bool is_doubted(void *ctx, const void *answer, size_t len) {
  tunings_answer a;
  const char *verdicts;
  size_t n;
  return take_apart(answer, len, &a, &verdicts, &n) && a.why.status == HD_OK && a.adopted && n;
}

/* The verdicts, `text`, lie behind the report of the first GPU's worker. Plans that won only on the first GPU
 * are reported with this GPU's results. */
static hd_status measure_again(const hd_tunings *o, size_t i, const hd_workload *w, const tunings_answer *a,
                               const char *text, size_t n, hd_buf *told, hd_buf *verdicts, hd_diag *d) {
  const hd_tune_options how = options_of(o, i);
  hd_tuning t;
  bool held;
  hd_status st = suite_measure_again(o->device, w, &how, text, n, &t, &held, d);
  if (st != HD_OK) return st;
  if (held) {
    hd_buf_put(verdicts, text, n);
    hd_buf_put(told, text - a->text, (size_t)a->text);
  } else {
    st = keep(o, w, &how, &t, verdicts, d);
    tell(o, w, &t, true, told);
  }
  hd_tuning_add_second(o->place.gpu.uuid, &t, o->json, told);
  hd_tuning_free(&t);
  return st;
}

static hd_status do_second(void *ctx, size_t i, const void *first, size_t len, hd_buf *answer, hd_diag *d) {
  const hd_tunings *o = ctx;
  tunings_answer a;
  const char *text;
  hd_buf told = {0}, verdicts = {0};
  hd_workload *w;
  size_t n;
  if (!take_apart(first, len, &a, &text, &n)) return hd_fail(d, HD_ERR_INPUT, "an answer that is no tuning");
  hd_status st = open_workload(o, i, &w, &a.why);
  if (st == HD_OK) {
    st = measure_again(o, i, w, &a, text, n, &told, &verdicts, &a.why);
    hd_workload_close(w);
  }
  a.why.status = st;
  return put(&a, &told, &verdicts, answer, d);
}

static hd_status take_item(void *ctx, size_t i, const void *answer, size_t len, hd_diag *d) {
  const hd_tunings *o = ctx;
  tunings_answer a;
  const char *verdicts;
  size_t n;
  uint64_t imported;
  if (!take_apart(answer, len, &a, &verdicts, &n))
    return hd_fail(d, HD_ERR_INPUT, "an answer that is no tuning");
  if (a.why.status != HD_OK) {
    o->failed(o->ctx, &a.why);
    return HD_OK;
  }
  if (a.unanswered && o->unanswered) o->unanswered(o->ctx);
  if (!o->told(o->ctx, verdicts - a.text, (size_t)a.text))
    return hd_fail(d, HD_ERR_IO, "cannot write the results");
  return n && o->store ? hd_store_import(o->store, verdicts, n, o->names[i], &imported, d) : HD_OK;
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* By the command's words: they say which workloads, and how. */
static hd_digest identify(const hd_tunings *o) {
  hd_digest h = hd_digest_begin();
  hd_digest_text(&h, o->place.version);
  for (size_t i = 0; o->how && i < o->how->n_words; i++) hd_digest_text(&h, o->how->command[i]);
  if (!o->mixed) hd_digest_text(&h, o->place.gpu.title), hd_digest_text(&h, o->place.gpu.driver);
  return h;
}

hd_status hd_suite_tunings(const hd_tunings *o, bool *whole, hd_diag *d) {
  const hd_bench_gpu *g = &o->place.gpu;
  hd_work w = {.identity = identify(o),
               .n = o->n,
               .item = do_item,
               .take = take_item,
               .ctx = (void *)o,
               .worker = suite_worker(g),
               .mixed = o->mixed};
  if (g->uuid[0] && !o->once) w.doubted = is_doubted, w.second = do_second;
  return hd_work_run(&w, o->how, whole, d);
}
