/* The proof: original and rewritten kernel give the same bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/rewrite.h"
#include "tune/runner.h"

/* CTAs alive at once per SM: enough that neighbours interleave, few enough that the order shows. */
enum { RESIDENT = 4 };

static void free_all(void **p, uint32_t n) {
  for (uint32_t i = 0; p && i < n; i++) free(p[i]);
  free(p);
}

/* Copies of all buffers as they are on the device now. */
static void **snapshot(const runner *r) {
  uint32_t n = r->w->n_buffers;
  void **copy = calloc((size_t)n + 1, sizeof *copy);
  for (uint32_t i = 0; copy && i < n; i++) {
    uint64_t bytes = r->w->buffers[i].bytes;
    copy[i] = malloc(bytes ? bytes : 1);
    if (!copy[i]) {
      free_all(copy, n);
      return NULL;
    }
    memcpy(copy[i], runner_bytes(r, i), bytes);
  }
  return copy;
}

/* A fault of the kernel is an answer of the check; anything else is an error. */
static hd_status as_answer(hd_status st, const hd_diag *e, const char *who, hd_check_result *r) {
  if (st != HD_ERR_FAULT) return st;
  char line[sizeof r->what];
  hd_diag_line(e, line, sizeof line);
  r->equal = false;
  snprintf(r->what, sizeof r->what, "%s: %.640s", who, line);
  return HD_OK;
}

static hd_status compare_with_reference(const runner *r, void **result, hd_check_result *out, hd_diag *d) {
  const hd_workload *w = r->w;
  void **want = calloc((size_t)w->n_buffers + 1, sizeof *want);
  bool *written = calloc((size_t)w->n_buffers + 1, sizeof *written);
  if (!want || !written) {
    free(want);
    free(written);
    return hd_fail(d, HD_ERR_NOMEM, "out of memory");
  }
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && i < w->n_buffers; i++) {
    want[i] = calloc(1, w->buffers[i].bytes ? w->buffers[i].bytes : 1);
    if (!want[i]) st = hd_fail(d, HD_ERR_NOMEM, "out of memory");
  }
  if (st == HD_OK) st = hd_workload_fill_all(w, want, written, d);
  free(written);
  if (st == HD_OK) st = hd_workload_reference(w, want, d);
  for (uint32_t i = 0; st == HD_OK && out->equal && i < w->n_buffers; i++) {
    const hd_wl_buffer *b = &w->buffers[i];
    char what[512];
    if (b->compare == HD_COMPARE_NONE) continue;
    if (hd_elem_compare(b->type, b->compare, b->abs, b->rel, result[i], want[i], b->count, what, sizeof what))
      continue;
    out->equal = false;
    snprintf(out->what, sizeof out->what, "original kernel against reference: buffer %s: %s", b->name, what);
  }
  if (st == HD_OK) out->against_reference = true;
  free_all(want, w->n_buffers);
  return st;
}

/* Run the original; *result gets its buffers. With the race check on, tasks that touch each other's
 * output are found here. */
static hd_status run_original(const hd_workload *w, const hd_check_options *o, hd_check_result *out,
                              void ***result, hd_diag *d) {
  runner r;
  hd_emu_stats stats = {0};
  hd_diag e = {0};
  unsigned checks = HD_CHECK_BOUNDS | HD_CHECK_INIT | (o->no_race_check ? 0u : HD_CHECK_RACE);
  hd_dispatch how = {.kind = HD_DISPATCH_ROUND_ROBIN, .seed = o->seed, .resident = RESIDENT};
  hd_status st = runner_open(&r, w, NULL, &o->run, checks, d);
  if (st == HD_OK) st = runner_fill(&r, d);
  if (st == HD_OK) {
    st = runner_run(&r, &how, NULL, &stats, &e);
    if (st != HD_OK && st != HD_ERR_FAULT && d) *d = e;
    st = as_answer(st, &e, "original kernel", out);
  }
  out->thread_instructions = stats.thread_instructions;
  out->race_free = st == HD_OK && out->equal && !o->no_race_check;
  if (st == HD_OK && out->equal) {
    *result = snapshot(&r);
    if (!*result) st = hd_fail(d, HD_ERR_NOMEM, "out of memory");
  }
  if (st == HD_OK && out->equal && w->reference && !o->no_reference)
    st = compare_with_reference(&r, *result, out, d);
  runner_close(&r);
  return st;
}

static void compare_runs(const runner *r, void **want, const char *dispatcher, hd_check_result *out) {
  const hd_workload *w = r->w;
  out->bytes_compared = 0;
  for (uint32_t i = 0; out->equal && i < w->n_buffers; i++) {
    const hd_wl_buffer *b = &w->buffers[i];
    char what[512];
    hd_compare_kind how = b->atomics ? HD_COMPARE_NEAR : HD_COMPARE_EXACT;
    out->bytes_compared += b->bytes;
    if (hd_elem_compare(b->type, how, b->abs, b->rel, runner_bytes(r, i), want[i], b->count, what,
                        sizeof what))
      continue;
    out->equal = false;
    snprintf(out->dispatcher, sizeof out->dispatcher, "%s", dispatcher);
    snprintf(out->what, sizeof out->what, "rewritten kernel, dispatcher %s: buffer %s: %s", dispatcher,
             b->name, what);
  }
}

static hd_status run_rewritten(const hd_workload *w, const hd_plan *p, const hd_check_options *o, void **want,
                               hd_check_result *out, hd_diag *d) {
  runner r;
  hd_status st = runner_open(&r, w, p, &o->run, HD_CHECK_BOUNDS | HD_CHECK_INIT, d);
  size_t n = o->dispatchers ? o->n_dispatchers : HD_DISPATCH_COUNT;
  for (size_t k = 0; st == HD_OK && out->equal && k < n; k++) {
    hd_dispatch_kind kind = o->dispatchers ? o->dispatchers[k] : (hd_dispatch_kind)k;
    hd_dispatch how = {.kind = kind, .seed = o->seed + k, .resident = RESIDENT};
    hd_emu_stats stats = {0};
    hd_diag e = {0};
    char who[96];
    if ((st = runner_fill(&r, d)) != HD_OK) break;
    st = runner_run(&r, &how, NULL, &stats, &e);
    if (st != HD_OK && st != HD_ERR_FAULT && d) *d = e;
    snprintf(who, sizeof who, "rewritten kernel, dispatcher %s", hd_dispatch_name(kind));
    if ((st = as_answer(st, &e, who, out)) != HD_OK) break;
    if (!out->equal) snprintf(out->dispatcher, sizeof out->dispatcher, "%s", hd_dispatch_name(kind));
    out->runs++;
    out->thread_instructions_rewritten = stats.thread_instructions;
    compare_runs(&r, want, hd_dispatch_name(kind), out);
  }
  runner_close(&r);
  return st;
}

hd_status hd_check(const hd_workload *w, const hd_plan *p, const hd_check_options *o, hd_check_result *r,
                   hd_diag *d) {
  static const hd_check_options defaults;
  if (!o) o = &defaults;
  memset(r, 0, sizeof *r);
  r->equal = true;
  double start = hd_seconds();
  void **want = NULL;
  hd_status st = run_original(w, o, r, &want, d);
  if (st == HD_OK && r->equal) st = run_rewritten(w, p, o, want, r, d);
  free_all(want, w->n_buffers);
  r->seconds = hd_seconds() - start;
  return st;
}
