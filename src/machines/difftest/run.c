/* run.c: batches of programs on the emulator and on the other device, over host threads. */
#include "difftest/run.h"
#include "difftest/reduce.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- A run --------------------------------------------------------------------------------------- */

typedef struct worker {
  struct run *r;
  dt_side emulator, other;
  dt_program *programs; /* per_module of them */
  char *after[2];
  uint64_t cap;
  struct answer *answer; /* of the module at hand */
  hd_buf differences;    /* its, see below */
} worker;

typedef struct run {
  const hd_difftest_options *o;
  const char *device; /* the other side; `own`, where the options leave it open */
  char own[24];
  dt_change change;
  dt_menu menu;
  unsigned sm, n_threads;
  uint32_t per_module, max_reports;
  worker *workers;
  hd_difftest_result *out;
  HD_VEC(hd_difftest_report) reports;
  HD_VEC(hd_difftest_count) counts;
  pthread_mutex_t lock;      /* of what follows */
  HD_VEC(uint64_t) reducing; /* numbers of programs that were reduced here, or are being so */
} run;

/* ---- Answers ----------------------------------------------------------------------------------------- */

enum { MOST_RULES = 32 }; /* dt_difference.bounded has a bit for each */

/* One program that differs beyond all bounds; the reduced one's text is behind it. */
typedef struct difference {
  uint64_t program, len;
  bool compiler;
  char culprit[96]; /* "": it was not reduced */
} difference;

/* What a module of programs comes to; its differences are behind it, by program number. */
typedef struct answer {
  uint64_t programs, instructions, bounded, n_differences, rules[MOST_RULES];
  double seconds_emulator, seconds_compile, seconds_device;
} answer;

/* NULL: out of memory. */
static hd_difftest_tally *tally_of(run *r, const char *instruction) {
  hd_difftest_count fresh = {.instruction = ""};
  for (size_t k = 0; k < r->counts.n; k++)
    if (strcmp(r->counts.data[k].instruction, instruction) == 0) return &r->counts.data[k].tally;
  snprintf(fresh.instruction, sizeof fresh.instruction, "%s", instruction);
  return hd_vec_push(&r->counts, fresh) ? &r->counts.data[r->counts.n - 1].tally : NULL;
}

/* The first max_reports are kept, whichever others were reduced. */
static hd_status take_difference(run *r, const difference *x, const char *text, hd_diag *d) {
  const bool kept = x->culprit[0] && r->reports.n < r->max_reports;
  hd_difftest_report report = {.program = x->program, .compiler = x->compiler};
  hd_difftest_tally *const both[] = {&r->out->tally, tally_of(r, kept ? x->culprit : "not reduced")};
  if (!both[1]) return hd_nomem(d);
  for (unsigned k = 0; k < 2; k++) {
    both[k]->compiler += x->compiler;
    both[k]->different += !x->compiler;
  }
  if (!kept) return HD_OK;
  memcpy(report.culprit, x->culprit, sizeof report.culprit);
  report.text = strndup(text, x->len);
  if (report.text && hd_vec_push(&r->reports, report)) return HD_OK;
  free(report.text);
  return hd_nomem(d);
}

static hd_status take_module(void *ctx, size_t i, const void *bytes, size_t len, hd_diag *d) {
  run *r = ctx;
  answer a;
  if (len < sizeof a) return hd_fail(d, HD_ERR_INPUT, "an answer of no module");
  memcpy(&a, bytes, sizeof a);
  const char *at = (const char *)bytes + sizeof a, *end = (const char *)bytes + len;
  r->out->programs += a.programs;
  r->out->instructions += a.instructions;
  r->out->tally.bounded += a.bounded;
  r->out->seconds_emulator += a.seconds_emulator;
  r->out->seconds_compile += a.seconds_compile;
  r->out->seconds_device += a.seconds_device;
  for (unsigned k = 0; k < dt_rule_count(); k++) {
    hd_difftest_tally *t = a.rules[k] ? tally_of(r, dt_rule_instruction(k)) : NULL;
    if (a.rules[k] && !t) return hd_nomem(d);
    if (t) t->bounded += a.rules[k];
  }
  hd_status st = HD_OK;
  for (uint64_t k = 0; st == HD_OK && k < a.n_differences; k++) {
    difference x;
    if ((size_t)(end - at) < sizeof x) return hd_fail(d, HD_ERR_INPUT, "an answer that was cut off");
    memcpy(&x, at, sizeof x);
    x.culprit[sizeof x.culprit - 1] = 0;
    at += sizeof x;
    if ((size_t)(end - at) < x.len) return hd_fail(d, HD_ERR_INPUT, "an answer that was cut off");
    st = take_difference(r, &x, at, d);
    at += x.len;
  }
  return st;
}

/* ---- Programs on both sides -------------------------------------------------------------------------- */

/* Is the program one of the first max_reports that differ, as far as is known here? */
static bool wants_report(run *r, uint64_t program) {
  uint32_t before = 0;
  pthread_mutex_lock(&r->lock);
  for (size_t k = 0; k < r->reducing.n; k++) before += r->reducing.data[k] < program;
  const bool yes = before < r->max_reports && hd_vec_push(&r->reducing, program);
  pthread_mutex_unlock(&r->lock);
  return yes;
}

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

static hd_status report_difference(worker *w, const dt_program *p, hd_diag *d) {
  hd_difftest_report report = {.program = p->number};
  difference x = {.program = p->number};
  hd_status st = agrees_unoptimized(w, p, &x.compiler, d);
  report.compiler = x.compiler;
  if (st == HD_OK && wants_report(w->r, p->number))
    st = dt_reduce(&w->emulator, &w->other, p, w->r->sm, &report, d);
  memcpy(x.culprit, report.culprit, sizeof x.culprit);
  x.compiler = report.compiler;
  x.len = report.text ? strlen(report.text) : 0;
  hd_buf_put(&w->differences, (const char *)&x, sizeof x);
  hd_buf_put(&w->differences, report.text ? report.text : "", x.len);
  w->answer->n_differences++;
  free(report.text);
  return st;
}

static void count_bounded(answer *a, uint32_t rules) {
  a->bounded++;
  for (unsigned k = 0; k < MOST_RULES; k++) a->rules[k] += rules >> k & 1;
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
      st = report_difference(w, programs, d);
    else
      for (uint32_t k = 0; k < n && st == HD_OK; k++) st = run_batch(w, &programs[k], 1, d);
  } else if (st == HD_OK) {
    for (uint32_t k = 0; k < n && st == HD_OK; k++) {
      const dt_difference x =
          dt_compare(&programs[k], w->after[0] + b.offsets[k], w->after[1] + b.offsets[k]);
      if (x.found)
        st = report_difference(w, &programs[k], d);
      else if (x.bounded)
        count_bounded(w->answer, x.bounded);
    }
  }
  dt_batch_free(&b);
  return st;
}

/* ---- Modules as items -------------------------------------------------------------------------------- */

static hd_status run_programs(worker *w, uint64_t first, uint32_t n, hd_diag *d) {
  run *r = w->r;
  bool failed = false;
  for (uint32_t k = 0; k < n; k++) {
    dt_program_make(&r->menu, r->o->seed, first + k, &w->programs[k]);
    w->answer->instructions += w->programs[k].instructions;
    failed |= w->programs[k].failed;
  }
  hd_status st = failed ? hd_nomem(d) : run_batch(w, w->programs, n, d);
  for (uint32_t k = 0; k < n; k++) dt_program_free(&w->programs[k]);
  return st;
}

static void take_seconds(worker *w) {
  w->answer->seconds_emulator = w->emulator.seconds_load + w->emulator.seconds_run;
  w->answer->seconds_compile = w->other.seconds_load;
  w->answer->seconds_device = w->other.seconds_run;
  w->emulator.seconds_load = w->emulator.seconds_run = w->other.seconds_load = w->other.seconds_run = 0;
}

static hd_status run_module(void *ctx, size_t i, unsigned thread, hd_buf *out, hd_diag *d) {
  run *r = ctx;
  worker *w = &r->workers[thread];
  const uint64_t first = r->o->first + (uint64_t)i * r->per_module,
                 left = r->o->first + r->o->programs - first;
  const uint32_t n = left < r->per_module ? (uint32_t)left : r->per_module;
  answer a = {.programs = n};
  hd_diag why = {0};
  w->answer = &a;
  hd_buf_clear(&w->differences);
  hd_status st = run_programs(w, first, n, &why);
  take_seconds(w);
  hd_buf_put(out, (const char *)&a, sizeof a);
  hd_buf_put(out, w->differences.data ? w->differences.data : "", w->differences.len);
  if (st == HD_OK) return w->differences.failed ? hd_nomem(d) : HD_OK;
  return hd_fail(d, st, "%s (programs %llu to %llu of seed %llu)", why.message, (unsigned long long)first,
                 (unsigned long long)(first + n - 1), (unsigned long long)r->o->seed);
}

/* Before there are threads: a GPU's side is a process. */
static hd_status open_workers(run *r, hd_diag *d) {
  hd_status st = HD_OK;
  r->workers = calloc(r->n_threads, sizeof *r->workers);
  if (!r->workers) return hd_nomem(d);
  for (unsigned k = 0; k < r->n_threads && st == HD_OK; k++) {
    worker *w = &r->workers[k];
    w->r = r;
    w->programs = calloc(r->per_module, sizeof *w->programs);
    st = w->programs ? dt_side_open(r->device, &r->o->devices, &w->other, d) : hd_nomem(d);
    w->other.change = r->change;
    if (st == HD_OK) st = dt_side_open("emu", &r->o->devices, &w->emulator, d);
  }
  return st;
}

static void close_workers(run *r) {
  for (unsigned k = 0; r->workers && k < r->n_threads; k++) {
    worker *w = &r->workers[k];
    dt_side_close(&w->emulator);
    dt_side_close(&w->other);
    hd_buf_free(&w->differences);
    free(w->programs);
    free(w->after[0]);
  }
  free(r->workers);
}

/* ---- All of it --------------------------------------------------------------------------------------- */

static hd_status ask(run *r, const char *name, hd_device_info *info, hd_diag *d) {
  dt_side s;
  r->device = name;
  snprintf(r->out->device, sizeof r->out->device, "%s", name);
  hd_status st = dt_side_open(name, &r->o->devices, &s, d);
  if (st == HD_OK) st = dt_side_info(&s, info, d);
  dt_side_close(&s);
  return st;
}

/* Find out the device, and the forms that programs are made from. */
static hd_status prepare(run *r, uint32_t local, hd_diag *d) {
  hd_difftest_select select = r->o->select;
  hd_device_info info;
  snprintf(r->own, sizeof r->own, "cuda:%u", local);
  const bool any = strcmp(r->o->device, "cuda") == 0;
  hd_status st = ask(r, any ? r->own : r->o->device, &info, d);
  if (st != HD_OK && any && local) st = ask(r, "cuda:0", &info, d); /* it sees no other */
  if (st != HD_OK) return st;
  memcpy(r->out->title, info.title, sizeof r->out->title);
  select.emulated |= info.kind != HD_DEVICE_CUDA;
  if (!select.sm) select.sm = info.arch;
  r->sm = r->out->sm = select.sm;
  return dt_menu_make(&select, &r->menu, d);
}

static hd_digest identify(const run *r) {
  const hd_difftest_options *o = r->o;
  const uint64_t numbers[] = {o->seed, o->first, o->programs, r->per_module, r->max_reports, r->sm};
  hd_digest h = hd_digest_begin();
  hd_digest_text(&h, "difftest");
  hd_digest_text(&h, o->device);
  hd_digest_text(&h, r->out->title);
  hd_digest_text(&h, o->select.pattern ? o->select.pattern : "*");
  hd_digest_bytes(&h, numbers, sizeof numbers);
  return h;
}

static hd_status run_modules(run *r, const hd_work_how *how, bool *whole, hd_diag *d) {
  const hd_difftest_options *o = r->o;
  hd_work w = {.identity = identify(r),
               .n = (size_t)(o->programs / r->per_module + (o->programs % r->per_module != 0)),
               .item = run_module,
               .take = take_module,
               .ctx = r,
               .progress = o->progress,
               .progress_ctx = o->ctx};
  const bool elsewhere = how && (how->pool || how->n_parts);
  snprintf(w.worker.kind, sizeof w.worker.kind, "%s", r->out->title);
  r->n_threads = o->threads ? o->threads : hd_cpu_count();
  if (r->n_threads > w.n) r->n_threads = w.n ? (unsigned)w.n : 1;
  w.threads = r->n_threads;
  hd_status st = elsewhere ? HD_OK : open_workers(r, d);
  if (st == HD_OK) st = hd_work_run(&w, how, whole, d);
  close_workers(r);
  return st;
}

static int by_importance(const void *a, const void *b) {
  const hd_difftest_count *x = a, *y = b;
  if ((x->tally.different != 0) != (y->tally.different != 0)) return x->tally.different ? -1 : 1;
  return strcmp(x->instruction, y->instruction);
}

hd_status dt_run_changed(const hd_difftest_options *options, dt_change change, const hd_work_how *how,
                         bool *whole, hd_difftest_result *out, hd_diag *d) {
  hd_difftest_options o = *options;
  const double start = hd_seconds();
  *out = (hd_difftest_result){0};
  *whole = false;
  if (!o.device) o.device = "cuda";
  run r = {.o = &o,
           .change = change,
           .per_module = o.per_module ? o.per_module : 64,
           .max_reports = o.max_reports ? o.max_reports : 20,
           .out = out,
           .lock = PTHREAD_MUTEX_INITIALIZER};
  if (o.programs > UINT64_MAX - o.first) return hd_fail(d, HD_ERR_USAGE, "program numbers end at 2^64");
  hd_status st = prepare(&r, how ? how->local : 0, d);
  if (st == HD_OK) st = run_modules(&r, how, whole, d);
  dt_menu_free(&r.menu);
  hd_vec_free(&r.reducing);
  pthread_mutex_destroy(&r.lock);
  if (r.counts.n) qsort(r.counts.data, r.counts.n, sizeof *r.counts.data, by_importance);
  out->reports = r.reports.data;
  out->n_reports = r.reports.n;
  out->counts = r.counts.data;
  out->n_counts = r.counts.n;
  out->seconds = hd_seconds() - start;
  if (st != HD_OK) hd_difftest_result_free(out);
  return st;
}

hd_status hd_difftest_run(const hd_difftest_options *o, const hd_work_how *how, bool *whole,
                          hd_difftest_result *out, hd_diag *d) {
  return dt_run_changed(o, NULL, how, whole, out, d);
}

void hd_difftest_result_free(hd_difftest_result *r) {
  for (size_t k = 0; k < r->n_reports; k++) free(r->reports[k].text);
  free(r->reports);
  free(r->counts);
  *r = (hd_difftest_result){0};
}
