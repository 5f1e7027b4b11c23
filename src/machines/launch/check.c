/* The proof that original and rewritten kernel give the same bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/reference.h"
#include "launch/runner.h"

/* CTAs alive at once per SM: enough that neighbours interleave, few enough that the order shows. */
enum { RESIDENT = 4 };

struct hd_checker {
  const hd_workload *w;
  const hd_compiled *code;
  void **initial; /* per buffer: its bytes before a run */
  bool *filled;   /* per buffer: the workload gives it contents */
  void **result;  /* per buffer: its bytes after the original; NULL when that fails */
  char *others;   /* then: what variables that are no buffers held */
};

/* Copies of all buffers as they are on the emulator now. */
static void **snapshot(const runner *r) {
  void **copy = launch_bytes_new(r->w);
  for (uint32_t i = 0; copy && i < r->w->n_buffers; i++)
    memcpy(copy[i], runner_bytes(r, i), r->w->buffers[i].bytes);
  return copy;
}

/* A race is found in one run, and a flag that orders CTAs is not seen. */
static const char racy[] = "the original's result may depend on its schedule";
static const char any_schedule[] = "the original's result depends on its schedule";

/* A kernel that meets all CTAs traps where its launch is not cooperative. */
static void suggest_cooperative(const hd_compiled *code, hd_check_result *out) {
  const hd_workload *w = code->workload;
  for (uint32_t i = 0; i < w->n_launches; i++) {
    enum { MOST = 16 };
    hd_refusal why[MOST];
    const uint32_t func = code->kernels[code->kernel_of[i]].func;
    const size_t n = w->launches[i].cooperative ? 0 : hd_rewrite_refusals(code->module, func, why, MOST);
    for (size_t k = 0; k < n && k < MOST; k++) {
      const size_t used = strlen(out->what);
      if (why[k].kind != HD_REFUSE_GRID_SYNC) continue;
      snprintf(
          out->what + used, sizeof out->what - used,
          "; %s meets all CTAs, as in grid.sync(), and its launch is not cooperative: --cooperative (in a "
          "workload.toml: cooperative = true)",
          w->launches[i].kernel);
      return;
    }
  }
}

bool launch_has_time_for_reference(double began, double now, double until) {
  return until <= 0 || now + 2 * (now - began) <= until;
}

/* Compare the original's result with the reference's, if there is one. `began`: when the original did. */
static hd_status compare_reference(const hd_checker *c, const hd_check_options *o, double began,
                                   hd_check_result *out, hd_diag *d) {
  hd_diag e = {0};
  if (!c->w->reference || o->no_reference) return HD_OK;
  if (!launch_has_time_for_reference(began, hd_seconds(), o->run.budget.until)) {
    hd_fit(out->no_reference, sizeof out->no_reference, "no time was left");
    return HD_OK;
  }
  const hd_status st = reference_compare(c->w, c->initial, c->filled, c->result, out, &e);
  if (st == HD_ERR_MISSING && o->spare_reference) {
    hd_fit(out->no_reference, sizeof out->no_reference, "%s", hd_diag_reason(&e));
    return HD_OK;
  }
  if (st == HD_ERR_MISSING) return hd_fail(d, st, "%.600s; --no-reference leaves it out", e.message);
  if (st != HD_OK && d) *d = e;
  return st;
}

/* Run the original and keep its result. With the race check on, tasks that touch each other's output are
 * found here. */
static hd_status run_original(hd_checker *c, const hd_check_options *o, hd_check_result *out, hd_diag *d) {
  runner r;
  hd_emu_stats stats = {0};
  hd_diag e = {0};
  unsigned checks = HD_CHECK_BOUNDS | HD_CHECK_INIT | HD_CHECK_NC | (o->no_race_check ? 0u : HD_CHECK_RACE);
  const double began = hd_seconds();
  hd_dispatch how = {.kind = HD_DISPATCH_ROUND_ROBIN, .seed = o->seed, .resident = RESIDENT};
  hd_status st = runner_open(&r, c->code, NULL, &o->run, checks, d);
  if (st == HD_OK) st = runner_find_undescribed(&r, d);
  if (st == HD_OK) {
    runner_fill_from(&r, c->initial, c->filled);
    st = runner_run(&r, &how, NULL, &stats, &e);
    st = launch_as_answer(st, &e, e.fault == HD_FAULT_RACE ? racy : "original kernel", out, d);
    if (st == HD_OK && !out->equal && e.fault != HD_FAULT_RACE) suggest_cooperative(c->code, out);
  }
  out->thread_instructions = stats.thread_instructions;
  out->race_free = st == HD_OK && out->equal && !o->no_race_check;
  if (st == HD_OK && out->equal) st = runner_keep_undescribed(&r, &c->others, d);
  if (st == HD_OK && out->equal) {
    c->result = snapshot(&r);
    if (!c->result)
      st = hd_nomem(d);
    else
      out->equal = launch_keeps_word(c->w, c->initial, c->filled, c->result, out->what, sizeof out->what);
  }
  runner_close(&r);
  return st == HD_OK && out->equal ? compare_reference(c, o, began, out, d) : st;
}

static void say_different(const char *kind, const char *name, const char *who, const char *dispatcher,
                          const char *what, hd_check_result *out) {
  out->equal = false;
  snprintf(out->dispatcher, sizeof out->dispatcher, "%s", dispatcher);
  snprintf(out->what, sizeof out->what, "%s: %s %s: %s", who, kind, name, what);
}

static void compare_runs(const runner *r, const hd_checker *c, const char *who, const char *dispatcher,
                         hd_check_result *out) {
  const hd_workload *w = r->w;
  char what[512];
  out->bytes_compared = 0;
  for (uint32_t i = 0; out->equal && i < w->n_buffers; i++) {
    const hd_wl_buffer *b = &w->buffers[i];
    out->bytes_compared += b->bytes;
    if (launch_same_buffer(b, runner_bytes(r, i), c->result[i], b->count, what, sizeof what)) continue;
    launch_explain_sums(r->code, b, runner_bytes(r, i), c->result[i], what, sizeof what);
    say_different("buffer", b->name, who, dispatcher, what, out);
  }
  const char *name =
      out->equal ? runner_compare_undescribed(r, c->others, &out->bytes_compared, what, sizeof what) : NULL;
  if (name) say_different("variable", name, who, dispatcher, what, out);
}

/* A loop waits for another CTA, against the caller's word. */
static bool breaks_word(const hd_run_options *o, const hd_diag *e, hd_check_result *out) {
  if (!(o->compile.assume & HD_ASSUME_NO_WAITS) || e->fault != HD_FAULT_HANG) return false;
  char what[sizeof out->what];
  memcpy(what, out->what, sizeof what);
  hd_fit(out->what, sizeof out->what, "'%s' does not hold: %s", hd_assume_text(HD_ASSUME_NO_WAITS), what);
  return true;
}

/* The rewritten kernel gave another result. If the original does so too under some dispatcher, it is to
 * blame. */
static hd_status blame_original(const hd_checker *c, const hd_run_options *o, const hd_dispatch *like,
                                hd_check_result *out, hd_diag *d) {
  runner r;
  hd_check_result own = {.equal = true};
  hd_status st = runner_open(&r, c->code, NULL, o, HD_CHECK_BOUNDS | HD_CHECK_INIT, d);
  if (st == HD_OK) st = runner_find_undescribed(&r, d);
  for (int kind = 0; st == HD_OK && own.equal && kind < HD_DISPATCH_COUNT; kind++) {
    const hd_dispatch how = {(hd_dispatch_kind)kind, like->seed, like->resident};
    hd_emu_stats stats = {0};
    hd_diag e = {0};
    char who[96];
    snprintf(who, sizeof who, "original kernel, dispatcher %s", hd_dispatch_name(how.kind));
    runner_fill_from(&r, c->initial, c->filled);
    st = launch_as_answer(runner_run(&r, &how, NULL, &stats, &e), &e, who, &own, d);
    if (st == HD_OK) compare_runs(&r, c, who, hd_dispatch_name(how.kind), &own);
  }
  runner_close(&r);
  if (st == HD_OK && !own.equal) hd_fit(out->what, sizeof out->what, "%s: %s", any_schedule, own.what);
  return st;
}

static hd_status run_rewritten(const hd_checker *c, const hd_resolved *plans, const hd_run_options *o,
                               const hd_dispatch *how, size_t n, hd_check_result *out, hd_diag *d) {
  runner r;
  const hd_dispatch *failed = NULL;
  hd_status st = runner_open(&r, c->code, plans, o, HD_CHECK_BOUNDS | HD_CHECK_INIT | HD_CHECK_NC, d);
  if (st == HD_OK) st = runner_find_undescribed(&r, d);
  for (size_t k = 0; st == HD_OK && out->equal && k < n; k++) {
    const char *name = hd_dispatch_name(how[k].kind);
    hd_emu_stats stats = {0};
    hd_diag e = {0};
    char who[96];
    runner_fill_from(&r, c->initial, c->filled);
    snprintf(who, sizeof who, "rewritten kernel, dispatcher %s", name);
    st = launch_as_answer(runner_run(&r, &how[k], NULL, &stats, &e), &e, who, out, d);
    if (st != HD_OK) break;
    if (!out->equal) snprintf(out->dispatcher, sizeof out->dispatcher, "%s", name);
    out->different = (uint32_t)k;
    out->runs++;
    out->thread_instructions_rewritten = stats.thread_instructions;
    compare_runs(&r, c, who, name, out);
    failed = out->equal || breaks_word(o, &e, out) ? NULL : &how[k];
  }
  runner_close(&r);
  return st == HD_OK && failed ? blame_original(c, o, failed, out, d) : st;
}

/* ---- Many plans against one original ------------------------------------------------ */

static hd_status fill(hd_checker *c, hd_diag *d) {
  c->initial = launch_bytes_new(c->w);
  c->filled = calloc((size_t)c->w->n_buffers + 1, sizeof *c->filled);
  if (!c->initial || !c->filled) return hd_nomem(d);
  return launch_first_contents(c->w, c->initial, c->filled, d);
}

hd_status hd_checker_open(const hd_workload *w, const hd_check_options *o, hd_checker **out,
                          hd_check_result *r, hd_diag *d) {
  static const hd_check_options defaults;
  hd_checker *c = calloc(1, sizeof *c);
  *out = NULL;
  *r = (hd_check_result){.equal = true};
  if (!c) return hd_nomem(d);
  if (!o) o = &defaults;
  c->w = w;
  hd_status st = hd_workload_compiled(w, hd_launch_arch(NULL, o->run.compile.arch), &c->code, d);
  if (st == HD_OK) st = fill(c, d);
  if (st == HD_OK) st = run_original(c, o, r, d);
  if (st != HD_OK)
    hd_checker_close(c);
  else
    *out = c;
  return st;
}

void hd_checker_close(hd_checker *c) {
  if (!c) return;
  launch_bytes_free(c->w, c->initial);
  launch_bytes_free(c->w, c->result);
  free(c->others);
  free(c->filled);
  free(c);
}

hd_status hd_checker_run(const hd_checker *c, const hd_resolved *plans, const hd_run_options *o,
                         const hd_dispatch *dispatches, size_t n, hd_check_result *r, hd_diag *d) {
  static const hd_run_options defaults;
  *r = (hd_check_result){.equal = true, .assume = o ? o->compile.assume : 0};
  if (!c->result) return hd_fail(d, HD_ERR_USAGE, "%s: the original kernel gave no result", c->w->name);
  if (plans->code != c->code)
    return hd_fail(d, HD_ERR_USAGE, "%s: the plans were resolved for another architecture", c->w->name);
  double start = hd_seconds();
  hd_status st = run_rewritten(c, plans, o ? o : &defaults, dispatches, n, r, d);
  r->seconds = hd_seconds() - start;
  return st;
}

hd_status hd_check_dispatches(const hd_check_options *o, hd_dispatch how[HD_DISPATCH_COUNT + 1], size_t *n,
                              hd_diag *d) {
  bool serial = !(o->run.compile.assume & HD_ASSUME_NO_WAITS);
  *n = o->dispatchers ? o->n_dispatchers : HD_DISPATCH_COUNT;
  if (*n > HD_DISPATCH_COUNT) return hd_fail(d, HD_ERR_USAGE, "a dispatcher is named twice");
  for (size_t k = 0; k < *n; k++)
    how[k] = (hd_dispatch){.kind = o->dispatchers ? o->dispatchers[k] : (hd_dispatch_kind)k,
                           .seed = o->seed + k,
                           .resident = o->resident ? o->resident : RESIDENT};
  for (size_t k = 0; k < *n; k++) serial |= how[k].kind == HD_DISPATCH_SERIAL;
  if (!serial) how[(*n)++] = (hd_dispatch){.kind = HD_DISPATCH_SERIAL, .seed = o->seed + *n, .resident = 1};
  return HD_OK;
}

hd_status hd_check_resolved(const hd_resolved *plans, const hd_check_options *o, hd_check_result *r,
                            hd_diag *d) {
  hd_check_options own = o ? *o : (hd_check_options){0};
  hd_dispatch how[HD_DISPATCH_COUNT + 1];
  hd_checker *c = NULL;
  size_t n;
  own.run.compile.arch = plans->code->arch; /* the original is the one that the plans were resolved for */
  double start = hd_seconds();
  hd_status st = hd_check_dispatches(&own, how, &n, d);
  if (st == HD_OK) st = hd_checker_open(plans->code->workload, &own, &c, r, d);
  if (st == HD_OK && r->equal) {
    hd_check_result original = *r;
    st = hd_checker_run(c, plans, &own.run, how, n, r, d);
    r->against_reference = original.against_reference;
    memcpy(r->no_reference, original.no_reference, sizeof r->no_reference);
    r->race_free = original.race_free;
    r->thread_instructions = original.thread_instructions;
  }
  hd_checker_close(c);
  r->seconds = hd_seconds() - start;
  return st;
}

hd_status hd_check_parse_dispatchers(const char *text, hd_dispatch_kind out[HD_DISPATCH_COUNT], size_t *n,
                                     hd_diag *d) {
  *n = 0;
  if (!text || strcmp(text, "all") == 0) {
    for (int k = 0; k < HD_DISPATCH_COUNT; k++) out[(*n)++] = (hd_dispatch_kind)k;
    return HD_OK;
  }
  while (*text) {
    char name[64];
    size_t len = strcspn(text, ",");
    snprintf(name, sizeof name, "%.*s", (int)(len < 63 ? len : 63), text);
    if (*n == HD_DISPATCH_COUNT) return hd_fail(d, HD_ERR_USAGE, "a dispatcher is named twice");
    hd_status st = hd_dispatch_parse(name, &out[*n], d);
    if (st != HD_OK) return st;
    ++*n;
    text += len + (text[len] == ',');
  }
  return *n ? HD_OK : hd_fail(d, HD_ERR_USAGE, "--dispatcher names none");
}
