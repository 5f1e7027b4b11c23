/* Loads whose data is not requested again, by a workload's traces: the loads that stream=auto stands for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predict/study.h"

enum { MOST_LAUNCHES = 16 };

/* ---- From traces ---------------------------------------------------------------------- */

/* Up to MOST_LAUNCHES of the kernel's launches, evenly spread. */
static hd_status follow(const hd_study *s, uint32_t kernel, hd_load_reuses *sum, hd_diag *d) {
  uint64_t all = s->code->kernels[kernel].n_launches, number = 0;
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && i < s->w->n_launches; i++) {
    if (s->code->kernel_of[i] != kernel) continue;
    bool measured =
        all <= MOST_LAUNCHES || number * MOST_LAUNCHES / all != (number + 1) * MOST_LAUNCHES / all;
    number++;
    if (measured) st = hd_reuse_add_loads(hd_study_trace(s, i), 0, sum, d);
  }
  return st;
}

static hd_load_facts facts_of(const hd_load_reuses *r, uint32_t stmt, uint32_t number) {
  hd_load_facts f = {.number = number};
  for (uint32_t i = 0; i < r->n; i++)
    if (r->loads[i].inst == stmt) {
      f.requests = r->loads[i].requests;
      f.reused = r->loads[i].reused;
    }
  return f;
}

/* From statements to the numbers of loads. */
static hd_status number_loads(const hd_compiled *code, uint32_t kernel, const hd_load_reuses *r,
                              hd_load_facts **out, uint32_t *n, hd_diag *d) {
  uint32_t func = code->kernels[kernel].func;
  size_t all = hd_rewrite_loads(code->module, func, NULL, 0);
  hd_global_load *sites = calloc(all + 1, sizeof *sites);
  *out = calloc(all + 1, sizeof **out);
  hd_status st = sites && *out ? HD_OK : hd_nomem(d);
  if (st == HD_OK) hd_rewrite_loads(code->module, func, sites, all);
  for (size_t i = 0; st == HD_OK && i < all; i++)
    if (!sites[i].kept) (*out)[(*n)++] = facts_of(r, sites[i].stmt, (uint32_t)i);
  free(sites);
  return st;
}

/* ---- Kept -------------------------------------------------------------------------------- */

/* How many loads, then a line for each: number, requests, reused. False unless that is all of the text. */
static bool parse(const char *text, size_t len, hd_load_facts **out, uint32_t *n) {
  uint32_t all = 0;
  int used = 0;
  const char *at = text;
  if (sscanf(at, "%" SCNu32 "\n%n", &all, &used) != 1 || all > len) return false;
  *out = calloc((size_t)all + 1, sizeof **out);
  for (; *out && *n < all; ++*n) {
    hd_load_facts *l = &(*out)[*n];
    at += used;
    used = 0;
    if (sscanf(at, "%" SCNu32 " %" SCNu64 " %" SCNu64 "\n%n", &l->number, &l->requests, &l->reused, &used) !=
            3 ||
        (*n && l->number <= l[-1].number))
      return false;
  }
  return *out && (size_t)(at + used - text) == len;
}

static bool recall(const char *path, hd_load_facts **out, uint32_t *n) {
  hd_file f;
  if (!path[0] || hd_file_open(path, &f, NULL) != HD_OK) return false;
  char *text = strndup(f.data, f.len);
  bool ok = text && parse(text, f.len, out, n);
  free(text);
  hd_file_close(&f);
  if (ok) return true;
  free(*out);
  *out = NULL;
  *n = 0;
  return false;
}

static void keep(const char *path, const hd_load_facts *loads, uint32_t n) {
  hd_buf text = {0};
  if (!path[0]) return;
  hd_buf_printf(&text, "%" PRIu32 "\n", n);
  for (uint32_t i = 0; i < n; i++)
    hd_buf_printf(&text, "%" PRIu32 " %" PRIu64 " %" PRIu64 "\n", loads[i].number, loads[i].requests,
                  loads[i].reused);
  if (!text.failed) hd_file_write(path, text.data, text.len, NULL); /* a cache: it may fail */
  hd_buf_free(&text);
}

/* ---- All of it ------------------------------------------------------------------------------ */

hd_status study_loads(study_source *from, uint32_t launch, hd_load_facts **out, uint32_t *n, hd_diag *d) {
  const hd_compiled *code = from->code;
  const hd_study *study;
  char path[PREDICT_PATH];
  hd_load_reuses sum = {0};
  *out = NULL;
  *n = 0;
  if (launch >= code->workload->n_launches) return hd_fail(d, HD_ERR_USAGE, "there is no launch %u", launch);
  uint32_t kernel = code->kernel_of[launch];
  hd_status st = predict_path(code, code->kernels[kernel].first, "loads 2", "loads", path, d);
  if (st != HD_OK || recall(path, out, n)) return st;
  st = study_source_get(from, &study, d);
  if (st == HD_OK) st = follow(study, kernel, &sum, d);
  if (st == HD_OK) st = number_loads(code, kernel, &sum, out, n, d);
  if (st == HD_OK && !study->sample) keep(path, *out, *n);
  hd_load_reuses_free(&sum);
  if (st != HD_OK) {
    free(*out);
    *out = NULL;
  }
  return st;
}

hd_status hd_study_loads(const hd_workload *w, uint32_t launch, const hd_run_options *o,
                         const hd_study *study, hd_load_facts **out, uint32_t *n, hd_diag *d) {
  study_source from = {.given = study};
  *out = NULL;
  *n = 0;
  if (o) from.run = *o;
  hd_status st = hd_workload_compiled(w, hd_launch_arch(NULL, from.run.compile.arch), &from.code, d);
  if (st == HD_OK) st = study_loads(&from, launch, out, n, d);
  study_source_close(&from);
  return st;
}

hd_stream hd_streaming_loads(const hd_load_facts *loads, uint32_t n, double most) {
  hd_stream s = {0};
  for (uint32_t i = 0; i < n; i++)
    if (loads[i].requests && (double)loads[i].reused <= most * (double)loads[i].requests &&
        hd_numbers_add(&s.loads, loads[i].number, loads[i].number))
      s.kind = HD_STREAM_LOADS;
  return s;
}
