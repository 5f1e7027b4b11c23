/* Tunings stored, read back, and measured again. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heddle/verdict.h"
#include "heddle/verdict_options.h"
#include "tune/tuner.h"
#include "verdict/assume.h"

#define DEFAULT_LEAST 0.99
#define DEFAULT_BUDGET 10.0
#define DEFAULT_CONFIDENCE 0.99
enum { VERIFY_ROUNDS = 21, FILE_NAME = 4600 };

/* ---- Keys ------------------------------------------------------------------------- */

void hd_tune_place(const hd_device_info *info, hd_verdict_key *key) {
  if (info->kind == HD_DEVICE_CUDA) {
    hd_verdict_place(info->title, info->mig ? info->n_sms : 0, info->driver_version, key);
    return;
  }
  snprintf(key->gpu, sizeof key->gpu, "%.47s", info->name);
  snprintf(key->driver, sizeof key->driver, "none");
}

typedef struct keys {
  const hd_compiled *code;
  hd_verdict_key place; /* the parts that say where */
  bool model;           /* that is a model */
} keys;

static hd_status open_keys(keys *k, hd_device *dev, const hd_workload *w, const hd_tune_options *o,
                           hd_diag *d) {
  memset(k, 0, sizeof *k);
  const hd_device_info *info = hd_device_get_info(dev);
  hd_tune_place(info, &k->place);
  k->model = info->kind == HD_DEVICE_MODEL;
  return hd_workload_compiled(w, hd_launch_arch(info, o ? o->run.compile.arch : 0), &k->code, d);
}

/* Arguments are not part of it: most are addresses, new in every run. */
static hd_verdict_key key_of(const keys *k, const hd_workload *w, const hd_wl_launch *l) {
  hd_verdict_key key = k->place;
  snprintf(key.size, sizeof key.size, "%.31s", w->size);
  hd_verdict_kernel(k->code->text, k->code->len, l->kernel, key.kernel);
  hd_verdict_launch(l->grid, l->block, l->dynamic_shared, NULL, 0, key.launch);
  return key;
}

static const hd_tuned *tuned_of(const hd_tuning *t, const char *kernel) {
  for (uint32_t i = 0; i < t->n_kernels; i++)
    if (!t->kernels[i].kernel[0] || strcmp(t->kernels[i].kernel, kernel) == 0) return &t->kernels[i];
  return NULL;
}

/* ---- Keeping ------------------------------------------------------------------------- */

/* The plan's notation; with a table, its order is that table. */
static hd_status print_plan(const hd_plan *p, const hd_table *table, char *out, size_t cap, hd_diag *d) {
  hd_plan own = *p;
  hd_buf text = {0};
  hd_status st = HD_OK;
  char name[1 + HD_DIGEST_HEX] = "#";
  if (table) {
    hd_verdict_table(table->task, table->n, name + 1);
    st = hd_plan_order_by(&own, name, d);
  }
  hd_plan_print(&own, &text);
  if (text.failed)
    st = hd_nomem(d);
  else if (text.len >= cap)
    st = hd_fail(d, HD_ERR_UNSUPPORTED, "the plan is too long to be kept: %.200s", text.data);
  else
    memcpy(out, text.data, text.len + 1);
  hd_buf_free(&text);
  return st;
}

/* A program that applies the verdict later has no trace, so a table made from one is kept with the
 * verdict. */
static hd_status put_verdict(hd_store *s, const hd_workload *w, uint32_t launch, const hd_run_options *run,
                             hd_study *study, const hd_plan *p, hd_verdict *v, hd_diag *d) {
  hd_kernel_plan own = {w->launches[launch].kernel, *p};
  hd_plan_set set = {.kernels = &own, .n = 1};
  hd_resolved plans;
  hd_status st = hd_resolve(w, &set, run, study, &plans, d);
  if (st != HD_OK) return st;
  const hd_resolved_kernel *r = &plans.kernels[plans.code->kernel_of[launch]];
  const hd_table *table = r->table.task ? &r->table : NULL;
  st = print_plan(&r->plan, table, v->plan, sizeof v->plan, d);
  if (st == HD_OK) st = table ? hd_store_put_table(s, v, table->task, table->n, d) : hd_store_put(s, v, d);
  hd_resolved_free(&plans);
  return st;
}

static void print_counters(const hd_tuning *t, char *out, size_t cap) {
  const hd_counters *c[2] = {&t->before, &t->after};
  hd_buf b = {0};
  for (int i = 0; i < 2; i++) {
    const char *before = "";
    hd_buf_puts(&b, i ? ", \"after\": {" : "{\"before\": {");
    for (size_t k = 0; k < HD_COUNTER_FIELDS; k++) {
      const hd_counter *f = &hd_counter_table[k];
      if (!(f->uses & HD_COUNTER_IN_VERDICTS)) continue;
      hd_buf_printf(&b, "%s\"%s\": %" PRIu64, before, f->name, hd_counter_count(f, c[i]));
      before = ", ";
    }
    hd_buf_putc(&b, '}');
  }
  hd_buf_putc(&b, '}');
  snprintf(out, cap, "%s", b.failed || b.len >= cap ? "" : b.data);
  hd_buf_free(&b);
}

/* One plan for all kernels has one time for all: each kernel's verdict gets an equal part, so that they add
 * up. */
static double parts(const keys *k, const hd_tuned *r) {
  return r->kernel[0] || !k->code->n_kernels ? 1 : k->code->n_kernels;
}

static void print_basis(const hd_tuned *r, bool model, char out[48]) {
  const bool places = r->places.n > 0;
  hd_verdict_basis(model    ? HD_BASIS_REPLAYS
                   : places ? HD_BASIS_PLACES
                            : HD_BASIS_ROUNDS,
                   places ? r->places.n : (uint32_t)r->speedup.pairs, out);
}

static hd_status keep_launch(hd_store *s, const keys *k, const hd_workload *w, uint32_t launch,
                             const hd_tune_options *o, const hd_tuning *t, hd_diag *d) {
  const hd_wl_launch *l = &w->launches[launch];
  const hd_tuned *r = tuned_of(t, l->kernel);
  if (!r) return hd_fail(d, HD_ERR_USAGE, "kernel '%s' was not tuned", l->kernel);
  hd_verdict v = {.key = key_of(k, w, l),
                  .speedup = 1,
                  .low = 1,
                  .high = 1,
                  .confidence = r->speedup.confidence,
                  .before_us = r->before_us / parts(k, r),
                  .after_us = r->after_us / parts(k, r),
                  .tried = r->n_trials,
                  .when = (int64_t)time(NULL)};
  bool several = false;
  for (uint32_t i = 0; i < w->n_launches; i++) several |= strcmp(w->launches[i].kernel, l->kernel) != 0;
  snprintf(v.name, sizeof v.name, several ? "%.90s/%.100s" : "%.180s", w->name, l->kernel);
  print_basis(r, k->model, v.basis);
  if (r->adopted) {
    v.speedup = r->speedup.median;
    v.low = r->speedup.low;
    v.high = r->speedup.high;
  }
  if (r->adopted && !verdict_assume_print(w, launch, &r->plan, t->assume, v.assume, sizeof v.assume))
    return hd_fail(d, HD_ERR_UNSUPPORTED, "%s: the plan's assumption is too long to be kept", v.name);
  if (t->has_counters) print_counters(t, v.counters, sizeof v.counters);
  static const hd_tune_options defaults;
  return put_verdict(s, w, launch, &(o ? o : &defaults)->run, NULL, &r->plan, &v, d);
}

/* The first of those that share a key. */
static bool is_first(const hd_workload *w, uint32_t i) {
  const hd_wl_launch *l = &w->launches[i];
  for (uint32_t k = 0; k < i; k++) {
    const hd_wl_launch *other = &w->launches[k];
    if (strcmp(l->kernel, other->kernel) == 0 && memcmp(l->grid, other->grid, sizeof l->grid) == 0 &&
        memcmp(l->block, other->block, sizeof l->block) == 0 && l->dynamic_shared == other->dynamic_shared)
      return false;
  }
  return true;
}

hd_status hd_tuning_keep(hd_store *s, hd_device *dev, const hd_workload *w, const hd_tune_options *o,
                         const hd_tuning *t, hd_diag *d) {
  keys k;
  if (t->unanswered) return HD_OK;
  hd_status st = open_keys(&k, dev, w, o, d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_launches; i++)
    if (is_first(w, i)) st = keep_launch(s, &k, w, i, o, t, d);
  return st;
}

hd_status hd_optimized_predict(hd_store *s, const hd_workload *w, const hd_gpu *g, const hd_optimized *f,
                               hd_diag *d) {
  if (!f->best || !hd_optimize_answers(f)) return HD_OK;
  const hd_sweep_row *rows = f->rows, *best = &rows[f->best];
  const hd_run_options run = {.machine.n_sms = g->n_sms, .compile.assume = f->proof.assume};
  keys k = {.code = NULL, .place = {.gpu = HD_VERDICT_ANY, .driver = HD_VERDICT_ANY}};
  hd_status st = hd_workload_compiled(w, hd_launch_arch(NULL, 0), &k.code, d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_launches; i++) {
    if (!is_first(w, i)) continue;
    hd_verdict v = {.key = key_of(&k, w, &w->launches[i]),
                    .speedup = rows->counters.time_us / best->counters.time_us,
                    .low = 1,
                    .before_us = rows->counters.time_us / w->n_launches,
                    .after_us = best->counters.time_us / w->n_launches,
                    .tried = f->tried,
                    .when = (int64_t)time(NULL)};
    v.high = v.speedup;
    v.key.size[0] = 0; /* a program's own data, whatever its size */
    snprintf(v.name, sizeof v.name, "%.180s", w->launches[i].kernel);
    hd_verdict_basis(HD_BASIS_REPLAYS, 0, v.basis);
    if (!verdict_assume_print(w, i, &best->plan, f->proof.assume, v.assume, sizeof v.assume))
      return hd_fail(d, HD_ERR_UNSUPPORTED, "%s: what the plan rests on is too long to be kept", v.name);
    st = put_verdict(s, w, i, &run, f->study, &best->plan, &v, d);
  }
  return st;
}

/* ---- Recalling ---------------------------------------------------------------------------- */

/* A table of the store as a file, which plans name theirs by. */
static hd_status unpack_table(hd_store *s, const char *name, hd_plan *p, hd_diag *d) {
  hd_table t;
  char folder[4096], path[FILE_NAME];
  bool found;
  hd_cache_folder(folder, sizeof folder);
  if (!folder[0]) return hd_fail(d, HD_ERR_IO, "there is no cache folder to put the order's table in");
  hd_status st = hd_store_get_table(s, name, &t.task, &t.n, &found, d);
  if (st != HD_OK) return st;
  if (!found) return hd_fail(d, HD_ERR_INPUT, "the store has the verdict, but not its table %s", name);
  snprintf(path, sizeof path, "%s/verdict-%s.table", folder, name);
  st = hd_plan_order_by(p, path, d);
  if (st == HD_OK) st = hd_table_write(path, &t, d);
  hd_table_free(&t);
  return st;
}

static hd_status recall_kernel(hd_store *s, const hd_verdict *v, const char *kernel, hd_tuned *out,
                               hd_diag *d) {
  char table[HD_DIGEST_HEX];
  hd_status st = hd_plan_parse(v->plan, &out->plan, d);
  if (st == HD_OK && hd_verdict_table_of(v->plan, table)) st = unpack_table(s, table, &out->plan, d);
  if (st != HD_OK) return st;
  snprintf(out->kernel, sizeof out->kernel, "%.127s", kernel);
  out->adopted = !hd_plan_is_baseline(&out->plan);
  out->speedup =
      (hd_speedup){.median = v->speedup, .low = v->low, .high = v->high, .confidence = v->confidence};
  snprintf(out->basis, sizeof out->basis, "%s", v->basis);
  out->before_us = v->before_us;
  out->after_us = v->after_us;
  if (!out->adopted && v->tried) snprintf(out->why, sizeof out->why, "no plan won, of %u", v->tried);
  if (!out->adopted && !v->tried) snprintf(out->why, sizeof out->why, "no plan was tried");
  return HD_OK;
}

hd_status hd_tuning_recall(hd_store *s, hd_device *dev, const hd_workload *w, const hd_tune_options *o,
                           hd_tuning *out, bool *found, hd_diag *d) {
  keys k;
  *found = false;
  memset(out, 0, sizeof *out);
  hd_status st = open_keys(&k, dev, w, o, d);
  if (st == HD_OK && !(out->kernels = calloc((size_t)w->n_launches + 1, sizeof *out->kernels)))
    st = hd_nomem(d);
  bool all = st == HD_OK && w->n_launches;
  out->recalled = true;
  for (uint32_t i = 0; st == HD_OK && all && i < w->n_launches; i++) {
    hd_verdict v;
    if (k.code->kernels[k.code->kernel_of[i]].first != i) continue;
    hd_verdict_key key = key_of(&k, w, &w->launches[i]);
    st = hd_store_get(s, &key, &v, &all, d);
    if (st != HD_OK || !all) break;
    hd_tuned *r = &out->kernels[out->n_kernels++];
    st = recall_kernel(s, &v, w->launches[i].kernel, r, d);
    unsigned assume = 0;
    char unwritten[sizeof v.assume];
    if (st == HD_OK) st = hd_verdict_assume(&v, &assume, unwritten, d);
    out->assume |= assume;
    out->adopted |= r->adopted;
    out->before_us += r->before_us;
    out->after_us += r->after_us;
    out->tried += v.tried;
    out->when = v.when;
  }
  *found = st == HD_OK && all;
  if (*found)
    out->speedup = out->n_kernels == 1
                       ? out->kernels[0].speedup
                       : (hd_speedup){.median = out->before_us / out->after_us, .low = 0, .high = INFINITY};
  else
    hd_tuning_free(out);
  return st;
}

/* ---- Verifying -------------------------------------------------------------------------------- */

static void drop(hd_tuned *k, const char *why) {
  k->plan = hd_plan_original;
  k->adopted = false;
  k->after_us = k->before_us;
  hd_fit(k->why, sizeof k->why, "%s", why);
}

static void judge(hd_tuned *k, hd_status st, const hd_diag *e, double least) {
  char why[256];
  if (st == HD_OK && k->speedup.median >= least) return;
  if (st == HD_OK)
    snprintf(why, sizeof why, "measured again it runs at %.3fx (%.3f to %.3f)", k->speedup.median,
             k->speedup.low, k->speedup.high);
  else
    hd_fit(why, sizeof why, "measured again: %s", e->message);
  drop(k, why);
}

static bool ends_all(hd_status st) { return st == HD_ERR_FAULT || st == HD_ERR_IO; }

static hd_status verify_kernel(device_bench *b, const hd_tune_options *o, double seconds, double least,
                               hd_tuned *k, hd_diag *d) {
  tuner_bench bench = device_bench_interface(b);
  hd_diag e = {0};
  hd_kernel_plan own = {k->kernel, k->plan};
  const hd_plan_set plans =
      k->kernel[0] ? (hd_plan_set){.kernels = &own, .n = 1} : (hd_plan_set){.all = k->plan};
  uint32_t rounds = search_rounds(k->before_us + k->after_us, seconds, VERIFY_ROUNDS);
  device_bench_watch(b, k->kernel[0] ? k->kernel : NULL);
  hd_status st = search_compare(&bench, &hd_plan_set_original, &plans, rounds, o->confidence, &k->speedup,
                                &k->before_us, &k->after_us, &e);
  if (ends_all(st)) {
    if (d) *d = e;
    return st;
  }
  if (st != HD_OK) k->speedup = (hd_speedup){.high = INFINITY, .confidence = o->confidence};
  judge(k, st, &e, least);
  return HD_OK;
}

/* All kept plans together: a kernel finds the caches as the one before left them. */
static hd_status verify_together(device_bench *b, const hd_tune_options *o, double seconds,
                                 const hd_plan_set *plans, hd_tuning *t, hd_diag *d) {
  tuner_bench bench = device_bench_interface(b);
  uint32_t rounds = search_rounds(t->before_us + t->after_us, seconds, VERIFY_ROUNDS);
  hd_diag e = {0};
  device_bench_watch(b, NULL);
  hd_status st = search_compare(&bench, &hd_plan_set_original, plans, rounds, o->confidence, &t->verified,
                                &t->before_us, &t->after_us, &e);
  if (st == HD_OK || !ends_all(st)) return HD_OK;
  if (d) *d = e;
  return st;
}

static hd_status verify_on_device(hd_device *dev, const hd_workload *w, const hd_tune_options *o,
                                  double least, hd_tuning *t, hd_diag *d) {
  device_bench *b;
  uint32_t n = 0;
  hd_kernel_plan *plans = calloc((size_t)t->n_kernels + 1, sizeof *plans);
  if (!plans) return hd_nomem(d);
  for (uint32_t i = 0; i < t->n_kernels; i++)
    if (t->kernels[i].adopted) plans[n++] = (hd_kernel_plan){t->kernels[i].kernel, t->kernels[i].plan};
  bool together = t->n_kernels > 1;
  double seconds = o->budget / (n + together + !n);
  hd_status st = device_bench_open(dev, w, o, 0, &b, d);
  /* First, while every plan is still there. */
  if (st == HD_OK && together && n)
    st = verify_together(b, o, seconds, &(hd_plan_set){.kernels = plans, .n = n}, t, d);
  t->adopted = false;
  for (uint32_t i = 0; st == HD_OK && i < t->n_kernels; i++) {
    hd_tuned *k = &t->kernels[i];
    if (!k->adopted) continue;
    st = verify_kernel(b, o, seconds, least, k, d);
    if (!together) t->verified = k->speedup;
    t->adopted |= k->adopted;
  }
  if (b) device_bench_spent(b, &t->spent);
  device_bench_close(b);
  free(plans);
  return st;
}

static hd_status verify_on_model(hd_device *dev, const hd_workload *w, const hd_tune_options *o, double least,
                                 hd_tuning *t, hd_diag *d) {
  const hd_gpu *g = hd_device_get_gpu(dev);
  hd_run_options run = o->run;
  hd_study *s;
  run.machine.n_sms = g->n_sms;
  const hd_study_options how = {.timed = true,
                                .sample_gpu = g,
                                .sample_units = hd_sample_units(
                                    o->budget, 2 * ((size_t)t->n_kernels + 1))}; /* on one core of two each */
  hd_status st = hd_study_open(w, &run, &how, &s, d);
  if (st != HD_OK) return st;
  t->part = hd_study_part(s);
  t->lack_ends = hd_study_leaves_ends(s);
  t->adopted = false;
  st = hd_study_replay(s, g, &hd_plan_original, g->dispatch, 0, &t->before, d);
  t->after = t->before;
  for (uint32_t i = 0; st == HD_OK && i < t->n_kernels; i++) {
    hd_tuned *k = &t->kernels[i];
    hd_diag e = {0};
    if (!k->adopted) continue;
    st = hd_study_replay(s, g, &k->plan, g->dispatch, 0, &t->after, &e);
    double x = st == HD_OK ? t->before.time_us / t->after.time_us : 0;
    k->speedup.median = k->speedup.low = k->speedup.high = x;
    t->verified = k->speedup; /* one plan for all kernels */
    k->before_us = t->before.time_us;
    k->after_us = t->after.time_us;
    judge(k, st, &e, least);
    t->adopted |= k->adopted;
    st = HD_OK;
  }
  t->has_counters = st == HD_OK;
  hd_study_close(s);
  return st;
}

hd_status hd_tuning_verify(hd_device *dev, const hd_workload *w, const hd_tune_options *o, double least,
                           hd_tuning *t, hd_diag *d) {
  hd_tune_options own = o ? *o : (hd_tune_options){0};
  own.run.compile.assume |= t->assume;
  double start = hd_seconds();
  if (!(own.budget > 0)) own.budget = DEFAULT_BUDGET;
  if (!(own.confidence > 0)) own.confidence = DEFAULT_CONFIDENCE;
  if (!(least > 0)) least = DEFAULT_LEAST;
  t->verified = (hd_speedup){.median = t->adopted ? 0 : 1, .low = t->adopted ? 0 : 1, .high = 1};
  bool model = hd_device_get_info(dev)->kind == HD_DEVICE_MODEL;
  hd_status st =
      model ? verify_on_model(dev, w, &own, least, t, d) : verify_on_device(dev, w, &own, least, t, d);
  if (st != HD_OK) return st;
  t->before_us = t->after_us = 0;
  for (uint32_t i = 0; i < t->n_kernels; i++) {
    t->before_us += t->kernels[i].before_us;
    t->after_us += t->kernels[i].after_us;
  }
  t->speedup = t->n_kernels == 1
                   ? t->kernels[0].speedup
                   : (hd_speedup){.median = t->before_us / t->after_us, .low = 0, .high = INFINITY};
  if (!t->adopted) t->speedup = (hd_speedup){.median = 1, .low = 1, .high = 1};
  t->seconds = hd_seconds() - start;
  return HD_OK;
}
