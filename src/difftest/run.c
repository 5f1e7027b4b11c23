/* run.c: batches of programs on the emulator and on the other device, over host threads. */
#include "difftest/run.h"
#include "difftest/reduce.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- A run --------------------------------------------------------------------------------------- */

typedef HD_VEC(hd_difftest_report) reports;
typedef HD_VEC(hd_difftest_count) counts;

typedef struct run {
  const hd_difftest_options *o;
  const char *name;
  dt_change change;
  dt_menu menu;
  unsigned sm, n_threads;
  uint32_t per_module;
  pthread_mutex_t lock; /* of all that follows */
  uint64_t next;        /* program to hand out */
  uint64_t done;
  hd_difftest_result *out;
  reports reports;
  counts counts;
  uint32_t reporting; /* reports made or begun */
  hd_status status;
  hd_diag diag;
} run;

static void fail_run(run *r, hd_status st, const hd_diag *d, uint64_t first, uint32_t n) {
  pthread_mutex_lock(&r->lock);
  if (r->status == HD_OK) {
    r->status = st;
    r->diag = *d;
    const size_t len = strlen(r->diag.message);
    if (n)
      snprintf(r->diag.message + len, sizeof r->diag.message - len, " (programs %llu to %llu of seed %llu)",
               (unsigned long long)first, (unsigned long long)(first + n - 1),
               (unsigned long long)r->o->seed);
  }
  pthread_mutex_unlock(&r->lock);
}

/* With the lock. NULL: out of memory. */
static hd_difftest_tally *tally_of(run *r, const char *instruction) {
  hd_difftest_count fresh = {.instruction = ""};
  for (size_t k = 0; k < r->counts.n; k++)
    if (strcmp(r->counts.data[k].instruction, instruction) == 0) return &r->counts.data[k].tally;
  snprintf(fresh.instruction, sizeof fresh.instruction, "%s", instruction);
  return hd_vec_push(&r->counts, fresh) ? &r->counts.data[r->counts.n - 1].tally : NULL;
}

static void count_bounded(run *r, uint32_t rules) {
  pthread_mutex_lock(&r->lock);
  r->out->tally.bounded++;
  for (unsigned k = 0; k < dt_rule_count(); k++) {
    hd_difftest_tally *t = rules >> k & 1 ? tally_of(r, dt_rule_instruction(k)) : NULL;
    if (t) t->bounded++;
  }
  pthread_mutex_unlock(&r->lock);
}

static void count_difference(run *r, bool compiler, const char *instruction) {
  pthread_mutex_lock(&r->lock);
  hd_difftest_tally *const both[] = {&r->out->tally, tally_of(r, instruction)};
  for (unsigned k = 0; k < 2; k++) {
    if (both[k]) both[k]->compiler += compiler;
    if (both[k]) both[k]->different += !compiler;
  }
  pthread_mutex_unlock(&r->lock);
}

/* Room for one more report? */
static bool wants_report(run *r) {
  pthread_mutex_lock(&r->lock);
  const bool yes = r->reporting < r->o->max_reports;
  r->reporting += yes;
  pthread_mutex_unlock(&r->lock);
  return yes;
}

static void add_report(run *r, hd_difftest_report *report) {
  pthread_mutex_lock(&r->lock);
  if (!hd_vec_push(&r->reports, *report)) free(report->text);
  pthread_mutex_unlock(&r->lock);
}

typedef struct worker {
  run *r;
  dt_side emulator, other;
  char *before, *after[2];
  uint64_t cap;
} worker;

static hd_status worker_room(worker *w, uint64_t bytes, hd_diag *d) {
  if (bytes <= w->cap) return HD_OK;
  char *block = malloc(2 * bytes);
  if (!block) return hd_nomem(d);
  free(w->after[0]);
  w->after[0] = block;
  w->after[1] = block + bytes;
  w->cap = bytes;
  return HD_OK;
}

static hd_status fill_both(worker *w, const dt_batch *b, hd_diag *d) {
  hd_status st = worker_room(w, b->offsets[b->n], d);
  if (st != HD_OK) return st;
  w->after[1] = w->after[0] + w->cap;
  memset(w->after[0], 0, b->offsets[b->n]);
  for (uint32_t k = 0; k < b->n; k++) dt_program_fill(&b->programs[k], w->after[0] + b->offsets[k]);
  memcpy(w->after[1], w->after[0], b->offsets[b->n]);
  return HD_OK;
}

/* The machine's fault, not a program's. */
static bool is_final(hd_status st) { return st == HD_ERR_NOMEM || st == HD_ERR_IO || st == HD_ERR_USAGE; }

/* Whether the program agrees when the device's compiler does not optimize. */
static hd_status agrees_unoptimized(worker *w, const dt_program *p, bool *yes, hd_diag *d) {
  dt_batch b;
  hd_status st = dt_batch_make(p, NULL, 1, w->r->sm, &b, d);
  char *data = st == HD_OK ? calloc(2, b.offsets[1]) : NULL;
  *yes = false;
  if (st == HD_OK && !data) st = hd_nomem(d);
  if (st == HD_OK) {
    char *const other = data + b.offsets[1];
    b.unoptimized = true;
    dt_program_fill(p, data);
    dt_program_fill(p, other);
    st = dt_side_run(&w->emulator, &b, data, d);
    if (st == HD_OK) st = dt_side_run(&w->other, &b, other, d);
    *yes = st == HD_OK && !dt_compare(p, data, other).found;
  }
  free(data);
  dt_batch_free(&b);
  return is_final(st) ? st : HD_OK;
}

static void report_difference(worker *w, const dt_program *p) {
  hd_difftest_report report = {.program = p->number, .culprit = "not reduced"};
  hd_diag d = {0};
  hd_status st = agrees_unoptimized(w, p, &report.compiler, &d);
  if (st == HD_OK && wants_report(w->r)) {
    st = dt_reduce(&w->emulator, &w->other, p, w->r->sm, &report, &d);
    if (st == HD_OK) add_report(w->r, &report);
  }
  count_difference(w->r, report.compiler, report.culprit);
  if (st != HD_OK) fail_run(w->r, st, &d, p->number, 1);
}

/* Programs of a batch that one side does not run to the end are found one by one. */
static hd_status run_batch(worker *w, const dt_program *programs, uint32_t n, hd_diag *d) {
  dt_batch b;
  hd_status st = dt_batch_make(programs, NULL, n, w->r->sm, &b, d);
  if (st == HD_OK) st = fill_both(w, &b, d);
  if (st == HD_OK) st = dt_side_run(&w->emulator, &b, w->after[0], d);
  if (st == HD_OK) st = dt_side_run(&w->other, &b, w->after[1], d);
  if (st != HD_OK && !is_final(st)) {
    st = HD_OK;
    if (n == 1)
      report_difference(w, programs);
    else
      for (uint32_t k = 0; k < n && st == HD_OK; k++) st = run_batch(w, &programs[k], 1, d);
  } else if (st == HD_OK) {
    for (uint32_t k = 0; k < n; k++) {
      const dt_difference x =
          dt_compare(&programs[k], w->after[0] + b.offsets[k], w->after[1] + b.offsets[k]);
      if (x.found)
        report_difference(w, &programs[k]);
      else if (x.bounded)
        count_bounded(w->r, x.bounded);
    }
  }
  dt_batch_free(&b);
  return st;
}

static void work(worker *w) {
  run *r = w->r;
  const uint64_t end = r->o->first + r->o->programs;
  dt_program *programs = calloc(r->per_module, sizeof *programs);
  hd_diag d = {0};
  if (!programs) {
    hd_nomem(&d);
    fail_run(r, HD_ERR_NOMEM, &d, 0, 0);
  }
  while (programs) {
    pthread_mutex_lock(&r->lock);
    const uint64_t first = r->next;
    const uint32_t n = r->status != HD_OK            ? 0
                       : end - first < r->per_module ? (uint32_t)(end - first)
                                                     : r->per_module;
    r->next += n;
    pthread_mutex_unlock(&r->lock);
    if (!n) break;
    uint64_t instructions = 0;
    bool failed = false;
    for (uint32_t k = 0; k < n; k++) {
      dt_program_make(&r->menu, r->o->seed, first + k, &programs[k]);
      instructions += programs[k].instructions;
      failed |= programs[k].failed;
    }
    hd_status st = failed ? hd_nomem(&d) : run_batch(w, programs, n, &d);
    if (st != HD_OK) fail_run(r, st, &d, first, n);
    for (uint32_t k = 0; k < n; k++) dt_program_free(&programs[k]);
    pthread_mutex_lock(&r->lock);
    r->done += n;
    r->out->programs += n;
    r->out->instructions += instructions;
    if (r->o->progress) r->o->progress(r->o->ctx, (size_t)r->done, (size_t)r->o->programs);
    pthread_mutex_unlock(&r->lock);
  }
  free(programs);
}

static void run_worker(void *ctx, unsigned number) {
  worker *w = (worker *)ctx + number;
  hd_diag d = {0};
  hd_status st = dt_side_open("emu", &w->r->o->devices, &w->emulator, &d);
  if (st == HD_OK)
    work(w);
  else
    fail_run(w->r, st, &d, 0, 0);
}

/* The other sides are opened here, before there are threads, and closed when there are none. */
static hd_status run_workers(run *r, hd_diag *d) {
  worker *workers = calloc(r->n_threads, sizeof *workers);
  if (!workers) return hd_nomem(d);
  hd_status st = HD_OK;
  for (unsigned k = 0; k < r->n_threads && st == HD_OK; k++) {
    workers[k].r = r;
    st = dt_side_open(r->name, &r->o->devices, &workers[k].other, d);
    workers[k].other.change = r->change;
  }
  if (st == HD_OK && !hd_parallel(r->n_threads, run_worker, workers))
    st = hd_fail(d, HD_ERR_NOMEM, "a thread could not be started");
  for (unsigned k = 0; k < r->n_threads; k++) {
    worker *w = &workers[k];
    r->out->seconds_emulator += w->emulator.seconds_load + w->emulator.seconds_run;
    r->out->seconds_compile += w->other.seconds_load;
    r->out->seconds_device += w->other.seconds_run;
    dt_side_close(&w->emulator);
    dt_side_close(&w->other);
    free(w->after[0]);
  }
  free(workers);
  return st;
}

/* Find out the device's name, and the forms that programs are made from. */
static hd_status prepare(run *r, hd_diag *d) {
  dt_side s;
  hd_status st = dt_side_open(r->name, &r->o->devices, &s, d);
  hd_device_info info;
  if (st == HD_OK) st = dt_side_info(&s, &info, d);
  dt_side_close(&s);
  if (st != HD_OK) return st;
  hd_difftest_select select = r->o->select;
  memcpy(r->out->title, info.title, sizeof r->out->title);
  select.emulated |= info.kind != HD_DEVICE_CUDA;
  if (!select.sm) select.sm = info.arch;
  r->sm = r->out->sm = select.sm;
  return dt_menu_make(&select, &r->menu, d);
}

static int by_program(const void *a, const void *b) {
  const hd_difftest_report *x = a, *y = b;
  return x->program < y->program ? -1 : x->program > y->program;
}

static int by_importance(const void *a, const void *b) {
  const hd_difftest_count *x = a, *y = b;
  if ((x->tally.different != 0) != (y->tally.different != 0)) return x->tally.different ? -1 : 1;
  return strcmp(x->instruction, y->instruction);
}

hd_status dt_run_changed(const hd_difftest_options *options, dt_change change, hd_difftest_result *out,
                         hd_diag *d) {
  hd_difftest_options o = *options;
  *out = (hd_difftest_result){0};
  if (!o.max_reports) o.max_reports = 20;
  run r = {.o = &o,
           .name = o.device ? o.device : "cuda:0",
           .change = change,
           .per_module = o.per_module ? o.per_module : 64,
           .next = o.first,
           .out = out,
           .lock = PTHREAD_MUTEX_INITIALIZER};
  const double start = hd_seconds();
  if (o.programs > UINT64_MAX - o.first) return hd_fail(d, HD_ERR_USAGE, "program numbers end at 2^64");
  hd_status st = prepare(&r, d);
  if (st != HD_OK) return st;
  const uint64_t modules = (o.programs + r.per_module - 1) / r.per_module;
  r.n_threads = o.threads ? o.threads : hd_cpu_count();
  if (r.n_threads > modules) r.n_threads = modules ? (unsigned)modules : 1;
  hd_diag failure = {0};
  st = run_workers(&r, &failure);
  if (st != HD_OK && r.status == HD_OK) {
    r.status = st;
    r.diag = failure;
  }
  dt_menu_free(&r.menu);
  pthread_mutex_destroy(&r.lock);
  if (r.reports.n) qsort(r.reports.data, r.reports.n, sizeof *r.reports.data, by_program);
  out->reports = r.reports.data;
  out->n_reports = r.reports.n;
  if (r.counts.n) qsort(r.counts.data, r.counts.n, sizeof *r.counts.data, by_importance);
  out->counts = r.counts.data;
  out->n_counts = r.counts.n;
  out->seconds = hd_seconds() - start;
  if (r.status != HD_OK && d) *d = r.diag;
  if (r.status != HD_OK) hd_difftest_result_free(out);
  return r.status;
}

hd_status hd_difftest_run(const hd_difftest_options *o, hd_difftest_result *out, hd_diag *d) {
  return dt_run_changed(o, NULL, out, d);
}

void hd_difftest_result_free(hd_difftest_result *r) {
  for (size_t k = 0; k < r->n_reports; k++) free(r->reports[k].text);
  free(r->reports);
  free(r->counts);
  *r = (hd_difftest_result){0};
}
