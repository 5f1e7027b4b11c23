/* A program's kernels by time, and what plans could win in them. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/suite.h"

enum { SECONDS = 20 }; /* that a launch is looked at, about */

/* ---- A recorded launch ------------------------------------------------------------------------- */

static double ratio(double a, double b) { return b > 0 ? a / b : 1; }

/* Nothing but caches and DRAM is spared by a plan: the instructions stay, and each byte is moved once. */
static double bound_of(const hd_counters *c) {
  const double moved = (double)hd_counters_dram(c), once = (double)c->compulsory_bytes;
  const double dram = moved > once ? c->cycles_dram * once / moved : c->cycles_dram;
  const double least = c->cycles_issue > dram ? c->cycles_issue : dram;
  if (!hd_counters_timed(c)) return 0;
  return least > 0 && c->cycles > least ? c->cycles / least : 1;
}

static hd_status look_at(const char *folder, const hd_profile_options *o, hd_profile_kernel *k, hd_diag *d) {
  hd_workload *w = NULL;
  hd_study *s = NULL;
  hd_advice a = {0};
  const hd_study_options how = {
      .timed = hd_gpu_has_clock(o->gpu), .sample_gpu = o->gpu, .sample_units = hd_sample_units(SECONDS, 2)};
  const hd_advise_options options = {.run.machine = {.threads = o->threads, .n_sms = o->gpu->n_sms},
                                     .dispatch = o->gpu->dispatch,
                                     .no_race_check = true,
                                     .no_proposals = true,
                                     .no_experiments = true};
  hd_status st = hd_workload_open(folder, NULL, NULL, &w, d);
  if (st == HD_OK) st = hd_study_open(w, &options.run, &how, &s, d);
  if (st == HD_OK) st = hd_advise(w, s, o->gpu, &options, &a, d);
  hd_counters c = {0};
  if (st == HD_OK) st = hd_study_replay(s, o->gpu, &hd_plan_original, options.dispatch, 0, &c, d);
  if (st == HD_OK) {
    k->looked_at = true;
    k->category = a.category;
    k->lost = ratio((double)(c.dram_read_bytes + c.dram_write_bytes), (double)c.compulsory_bytes);
    k->bound = bound_of(&c);
    if (a.n_refusals && !k->why) k->why = strdup(a.refusals[0].what);
  }
  hd_advice_free(&a);
  hd_study_close(s);
  hd_workload_close(w);
  return st;
}

/* ---- The report -------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b) {
  const double x = json_real_value(json_object_get(*(json_t *const *)a, "seconds")),
               y = json_real_value(json_object_get(*(json_t *const *)b, "seconds"));
  return x < y ? 1 : x > y ? -1 : 0;
}

static hd_status take(const json_t *j, bool look, const hd_profile_options *o, hd_profile_kernel *k,
                      hd_diag *d) {
  const char *name = json_string_value(json_object_get(j, "kernel")),
             *why = json_string_value(json_object_get(j, "refused")),
             *folder = json_string_value(json_object_get(j, "folder"));
  k->name = strdup(name ? name : "");
  k->launches = (uint64_t)json_integer_value(json_object_get(j, "launches"));
  k->seconds = json_real_value(json_object_get(j, "seconds"));
  if (!k->name) return hd_nomem(d);
  hd_diag own = {0};
  if (folder && look) {
    const hd_status st = look_at(folder, o, k, &own);
    if (st == HD_ERR_NOMEM) return hd_nomem(d);
  }
  if (why && !k->why && !(k->why = strdup(why))) return hd_nomem(d);
  return HD_OK;
}

static hd_status read_kernels(json_t *list, const hd_profile_options *o, hd_profile *out, hd_diag *d) {
  const size_t n = json_array_size(list), wanted = o->most ? o->most : 5, most = wanted < n ? wanted : n;
  json_t **sorted = calloc(n + 1, sizeof *sorted);
  hd_status st = sorted ? HD_OK : hd_nomem(d);
  out->kernels = calloc(n + 1, sizeof *out->kernels);
  if (!out->kernels) st = hd_nomem(d);
  for (size_t k = 0; st == HD_OK && k < n; k++) sorted[k] = json_array_get(list, k);
  if (st == HD_OK) qsort(sorted, n, sizeof *sorted, by_time);
  for (; st == HD_OK && out->n < n; out->n++) {
    if (out->n <= most) hd_watch_tell(&o->watch, "looking into kernels", out->n, most);
    st = take(sorted[out->n], out->n < most, o, &out->kernels[out->n], d);
    out->seconds += out->kernels[out->n].seconds;
  }
  if (most == n) hd_watch_tell(&o->watch, "looking into kernels", n, n);
  free(sorted);
  return st;
}

hd_status hd_suite_profile(const char *path, const hd_profile_options *o, hd_profile *out, hd_diag *d) {
  json_error_t e;
  json_t *j = json_load_file(path, 0, &e), *kernels = json_object_get(j, "kernels");
  *out = (hd_profile){0};
  hd_status st = json_is_array(kernels) ? read_kernels(kernels, o, out, d)
                                        : hd_fail(d, HD_ERR_INPUT, "%s: it is no report of a program", path);
  json_decref(j);
  if (st != HD_OK) hd_profile_free(out);
  return st;
}
