/* A program's hot kernels, each optimized by the launch that was recorded of it. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/container.h"
#include "heddle/report.h"
#include "heddle/verdict.h"
#include "whole/whole.h"

enum { MOST = 5, SECONDS = 60 };
/* Of the seconds, for all kernels together; a program on the emulator has had the rest. */
static const double after_emulator = 0.5;
/* Of the seconds, or the default ones if they are more: that traces of all of them may take, and proofs. */
static const double traced_part = 0.25, proofs_part = 0.5;
static const double least_proof = 1e-3; /* seconds: 0 is hd_optimize's default */

typedef struct heating {
  const hd_whole_options *o;
  hd_hot *out;
  hd_store *store; /* of predictions */
  size_t most;     /* kernels that are looked at */
  double seconds;  /* for each of them */
  double traced;   /* that tracing each of them may take; 0: any */
  double proofs;   /* that are left for the proofs of all of them */
} heating;

/* A kernel of the program's report; `hd_hot_kernel` beside it, since they are sorted together. */
typedef struct ranked {
  const json_t *run;
  hd_hot_kernel kernel;
} ranked;

/* ---- A kernel ---------------------------------------------------------------------------------- */

/* Replaces *why. */
static hd_status say_why(hd_hot_kernel *k, const char *why, hd_diag *d) {
  free(k->why);
  k->why = strdup(why);
  return k->why ? HD_OK : hd_nomem(d);
}

/* The same, of a text that is freed. */
static hd_status say_text(hd_hot_kernel *k, hd_buf *why, hd_diag *d) {
  const hd_status st = why->failed ? hd_nomem(d) : say_why(k, why->data ? why->data : "", d);
  hd_buf_free(why);
  return st;
}

static hd_status take_plan(const heating *z, const hd_workload *w, const hd_optimized *f, hd_hot_kernel *k,
                           hd_diag *d) {
  const hd_sweep_row *rows = f->rows;
  hd_buf why = {0};
  k->before_us = k->after_us = rows[0].counters.time_us;
  k->unanswered = !hd_optimize_answers(f);
  z->out->stopped |= f->stopped;
  k->other_launch = f->other_launch;
  if (!f->best) {
    if (f->fixed[0])
      hd_buf_printf(&why, "its order cannot be changed: %s", f->fixed);
    else if (f->no_gain)
      hd_buf_puts(&why, "no gain is predicted; ");
    else
      hd_buf_puts(&why, f->why);
    if (!f->fixed[0] && f->no_gain) hd_bound_print(w, &rows[0].counters, z->o->gpu, &why);
    return say_text(k, &why, d);
  }
  hd_buf plan = {0};
  hd_plan_print(&rows[f->best].plan, &plan);
  if (plan.failed) return hd_nomem(d);
  k->plan = plan.data;
  k->after_us = rows[f->best].counters.time_us;
  k->smaller = f->proof_size[0] != 0;
  hd_bound_print(w, &rows[f->best].counters, z->o->gpu, &why);
  return say_text(k, &why, d);
}

/* The category comes from the traces that the optimization has taken. */
static hd_status take_category(const heating *z, const hd_workload *w, hd_study *study, hd_hot_kernel *k,
                               hd_diag *d) {
  hd_advice a = {0};
  const hd_advise_options options = {
      .run.machine = {.threads = z->o->each.run.machine.threads, .n_sms = z->o->gpu->n_sms},
      .dispatch = z->o->each.dispatch,
      .no_race_check = true,
      .no_proposals = true,
      .no_experiments = true};
  const hd_status st = study ? hd_advise(w, study, z->o->gpu, &options, &a, d) : HD_OK;
  if (st == HD_OK) k->category = a.category;
  if (study) hd_advice_free(&a);
  return st;
}

/* Where there is no GPU: what the model says of the recorded launch, for all instructions of the kernel. */
static void predict_time(hd_hot_kernel *k, const hd_counters *c) {
  const double one = (double)c->thread_instructions;
  if (k->instructions && one > 0) k->seconds = k->before_us * 1e-6 * (double)k->instructions / one;
}

static hd_status optimize(heating *z, const char *folder, hd_hot_kernel *k, hd_diag *d) {
  const hd_gpu *g = z->o->gpu;
  hd_workload *w = NULL;
  hd_optimized f = {0};
  hd_optimized_files files;
  hd_report report;
  hd_optimize_options how = z->o->each;
  how.seconds = z->seconds;
  how.proof = fmax(z->proofs, least_proof);
  how.run.budget.trace_seconds = z->traced;
  if (!how.ctx) how.ctx = k->title;
  hd_status st = hd_workload_open(folder, NULL, NULL, &w, d);
  if (st == HD_OK) st = hd_optimize(w, g, &how, &f, d);
  if (st == HD_OK) {
    if (!(f.ended >> HD_BOUND_PROOF & 1)) z->proofs -= f.whole_proof_seconds;
    st = take_plan(z, w, &f, k, d);
    if (st == HD_OK) st = take_category(z, w, f.study, k, d);
    if (st == HD_OK) st = hd_optimized_write(w, g, how.dispatch, &f, z->o->folder, &files, &report, d);
    if (st == HD_OK) st = hd_optimized_predict(z->store, w, g, &f, d);
    if (st == HD_OK && !(k->workload = strdup(w->name))) st = hd_nomem(d);
    if (st == HD_OK && z->out->emulated) predict_time(k, &f.rows[0].counters);
    k->looked_at = st == HD_OK;
    hd_optimized_free(&f);
  }
  hd_workload_close(w);
  return st;
}

/* A kernel that cannot be looked at has a row that says why. */
static hd_status look_at(heating *z, const ranked *r, size_t number, hd_hot_kernel *k, hd_diag *d) {
  const char *folder = json_string_value(json_object_get(r->run, "folder")),
             *why = json_string_value(json_object_get(r->run, "why"));
  hd_diag own = {0};
  if (number >= z->most) return say_why(k, "not looked at: others are hotter (--most N)", d);
  z->out->stopped |= z->o->each.stop && z->o->each.stop(z->o->each.ctx ? z->o->each.ctx : k->title);
  if (z->out->stopped) return say_why(k, "not looked at: it was stopped", d);
  if (!folder) return say_why(k, why ? why : "its launches were not recorded", d);
  const hd_status st = optimize(z, folder, k, &own);
  if (st == HD_OK) return HD_OK;
  if (st == HD_ERR_NOMEM || st == HD_ERR_IO) {
    if (d) *d = own;
    return st;
  }
  return say_why(k, own.message, d);
}

/* Kernels that were not looked at take, for each instruction, what the others take. */
static void estimate_others(hd_hot *h) {
  double seconds = 0, instructions = 0;
  for (size_t i = 0; i < h->n; i++) {
    seconds += h->kernels[i].seconds;
    if (h->kernels[i].seconds > 0) instructions += (double)h->kernels[i].instructions;
  }
  for (size_t i = 0; i < h->n && instructions > 0; i++) {
    hd_hot_kernel *k = &h->kernels[i];
    if (!(k->seconds > 0)) k->seconds = seconds * (double)k->instructions / instructions;
  }
}

/* ---- The program's reports ---------------------------------------------------------------------- */

static uint64_t instructions_of(const json_t *emulated, const char *symbol) {
  size_t i;
  const json_t *k;
  json_array_foreach(json_object_get(emulated, "kernels"), i, k) {
    const char *name = json_string_value(json_object_get(k, "kernel"));
    if (name && strcmp(name, symbol) == 0)
      return (uint64_t)json_integer_value(json_object_get(k, "thread_instructions"));
  }
  return 0;
}

static int hottest_first(const void *a, const void *b) {
  const hd_hot_kernel *x = &((const ranked *)a)->kernel, *y = &((const ranked *)b)->kernel;
  if (x->instructions != y->instructions) return x->instructions < y->instructions ? 1 : -1;
  if (x->seconds < y->seconds || x->seconds > y->seconds) return x->seconds < y->seconds ? 1 : -1;
  return strcmp(x->symbol, y->symbol);
}

static hd_status take(const heating *z, const json_t *run, const json_t *emulated, ranked *r, hd_diag *d) {
  const char *symbol = json_string_value(json_object_get(run, "kernel")),
             *title = json_string_value(json_object_get(run, "title"));
  *r = (ranked){.run = run};
  hd_hot_kernel *k = &r->kernel;
  k->symbol = strdup(symbol ? symbol : "");
  k->title = strdup(title ? title : k->symbol ? k->symbol : "");
  if (!k->symbol || !k->title) return hd_nomem(d);
  k->launches = (uint64_t)json_integer_value(json_object_get(run, "launches"));
  if (z->out->emulated)
    k->instructions = instructions_of(emulated, k->symbol);
  else
    k->seconds = json_real_value(json_object_get(run, "seconds"));
  return HD_OK;
}

static bool is_meant(const heating *z, const json_t *run) {
  const char *symbol = json_string_value(json_object_get(run, "kernel"));
  return !z->o->kernel || (symbol && hd_kernel_matches(symbol, z->o->kernel));
}

static hd_status look_at_all(heating *z, const json_t *list, const json_t *emulated, hd_diag *d) {
  const size_t n = json_array_size(list);
  ranked *rows = calloc(n + 1, sizeof *rows);
  hd_hot *h = z->out;
  h->kernels = calloc(n + 1, sizeof *h->kernels);
  hd_status st = rows && h->kernels ? HD_OK : hd_nomem(d);
  size_t taken = 0;
  for (size_t i = 0; st == HD_OK && i < n; i++)
    if (is_meant(z, json_array_get(list, i)))
      st = take(z, json_array_get(list, i), emulated, &rows[taken++], d);
  if (taken) qsort(rows, taken, sizeof *rows, hottest_first);
  for (size_t i = 0; h->kernels && i < taken; i++) h->kernels[h->n++] = rows[i].kernel;
  const size_t wanted = z->o->most ? z->o->most : MOST;
  z->most = wanted < taken ? wanted : taken;
  const double seconds = z->o->each.seconds > 0 ? z->o->each.seconds : SECONDS;
  z->seconds = (h->emulated ? after_emulator : 1) * seconds / (double)(z->most ? z->most : 1);
  if (!z->o->each.exact) z->traced = traced_part * fmax(seconds, SECONDS) / (double)(z->most ? z->most : 1);
  z->proofs = proofs_part * fmax(seconds, SECONDS);
  for (size_t i = 0; st == HD_OK && i < taken; i++) st = look_at(z, &rows[i], i, &h->kernels[i], d);
  if (st == HD_OK && h->emulated) estimate_others(h);
  free(rows);
  return st;
}

/* ---- Files --------------------------------------------------------------------------------------- */

static hd_status write_files(const heating *z, hd_diag *d) {
  static const hd_store_filter all;
  hd_hot *h = z->out;
  hd_buf page = {0}, pins = {0};
  hd_status st = HD_OK;
  bool any = false;
  for (size_t i = 0; i < h->n; i++) any |= h->kernels[i].plan && !h->kernels[i].unanswered;
  snprintf(h->page, sizeof h->page, "%s/index.html", z->o->folder);
  if (any) snprintf(h->pins, sizeof h->pins, "%s/predictions.json", z->o->folder);
  hd_hot_html(h, &page);
  if (any) st = hd_store_export(z->store, &all, &pins, d);
  if (st == HD_OK && (page.failed || pins.failed)) st = hd_nomem(d);
  if (st == HD_OK) st = hd_file_write(h->page, page.data, page.len, d);
  if (st == HD_OK && any) st = hd_file_write(h->pins, pins.data, pins.len, d);
  hd_buf_free(&page);
  hd_buf_free(&pins);
  return st;
}

hd_status whole_optimize(const hd_whole_options *o, const char *report, const char *emulated, hd_hot *out,
                         hd_diag *d) {
  json_error_t e;
  json_t *run = json_load_file(report, 0, &e), *kernels = json_object_get(run, "kernels"),
         *counted = emulated ? json_load_file(emulated, 0, &e) : NULL;
  heating z = {.o = o, .out = out};
  out->emulated = emulated != NULL;
  out->cut = json_is_true(json_object_get(counted, "cut"));
  out->alone = json_is_true(json_object_get(counted, "alone"));
  snprintf(out->gpu, sizeof out->gpu, "%s", o->gpu->title);
  hd_status st = json_is_array(kernels) ? hd_store_open(":memory:", &z.store, d)
                                        : hd_fail(d, HD_ERR_INPUT, "%s: %s", report, e.text);
  if (st == HD_OK) st = look_at_all(&z, kernels, counted, d);
  if (st == HD_OK && !out->n)
    st = hd_fail(d, HD_ERR_INPUT, "%s launched no kernel%s", o->argv[0],
                 o->kernel ? " that is meant by -k" : "");
  if (st == HD_OK) st = write_files(&z, d);
  hd_store_close(z.store);
  json_decref(run);
  json_decref(counted);
  return st;
}
