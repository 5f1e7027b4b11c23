/* Finds the plan that wins for a kernel's launches of one shape, on the program's own data.
 *
 * A shape is tuned once, when its launches so far have taken long enough to be worth it. One launch is
 * repeated under plans, whose results are compared byte for byte with the original's; the memory is
 * afterwards as the original left it. Which plans these are, and which of them are followed, is the contest's
 * (heddle/contest.h). Those that are right and were fast then take turns with the original in the launches
 * that follow (live.c), and these decide. If the program launches the kernel too seldom for that, the
 * repetitions decide: a plan is adopted that wins both with L2 as putting memory back leaves it and with L2
 * flushed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/contest.h"
#include "run/watch.h"

enum {
  FINALISTS = 3,
  LEAST_ROUNDS = 8, /* of a decision by repetitions, */
  ROUNDS = 40,      /* at most */
  SELDOM = 40,
};

/* One that was slower than that when it was tried takes no turns. */
static const double worth_turns = 0.95;
/* Of the time that there is: a contest's stages end when a measurement is over. */
static const double contest_share = 0.8;
static const double least_gain = 1e-3; /* what --gain 0 asks for */
static const char too_long[] = "a launch takes too long for its budget";

typedef struct search {
  run_trial *trial;
  run_kernel *k;
  run_shape *shape;
  run_gpu gpu;
  hd_verdict verdict; /* as far as it is known */
  uint32_t tried;     /* plans whose results or times are known */
  run_cut bound, cut; /* what `until` is from; and whether it has ended the search */
  run_ahead *ahead;   /* NULL: plans are made when they are tried */
  hd_plan_space space;
  double until;            /* of all */
  double seconds;          /* of the original */
  double run;              /* and of its repetition, with all that is around it */
  double flushed;          /* and of one with L2 flushed; 0: the launches that follow decide */
  double compile;          /* of making the variant that took longest so far */
  bool known, is_flushing; /* the contest knows the original; its runs find L2 flushed */
} search;

/* Seconds that all launches of a shape have taken so far, of the shape with most. Under run_lock. */
static double largest;

/* ---- What the contest runs --------------------------------------------------------------------- */

/* Of a repetition of each of a pair, in one state of L2 and in the other. */
static double pair(const search *s) { return 2 * (s->run + s->flushed); }

/* Whether there is time for a decision, if repetitions decide, after so many seconds. */
static bool is_time(const search *s, double seconds) {
  return hd_seconds() + seconds + (s->flushed ? LEAST_ROUNDS * pair(s) : 0) < s->until;
}

static bool is_time_for_one(const search *s) {
  enum { TRIAL = 3 };
  return is_time(s, s->compile + TRIAL * s->run);
}

static hd_status make(search *s, const hd_plan *plan, run_variant **v, hd_diag *d) {
  const double begin = hd_seconds();
  hd_status st = HD_OK;
  const bool ahead = run_ahead_take(s->ahead, plan, v);
  if (!ahead) st = run_variant_make(&s->gpu, &s->k->module->own, s->k, plan, &s->verdict, false, v, d);
  if (ahead && !*v) st = HD_ERR_REFUSED;
  const bool made = st == HD_OK;
  if (made && !ahead) (*v)->ready = (*v)->making = hd_seconds() - begin;
  if (made && !run_place_try(*v)) st = hd_fail(d, HD_ERR_UNSUPPORTED, "the driver does not take it");
  const double took = hd_seconds() - begin;
  if (took > s->compile) s->compile = took;
  if (made && st != HD_OK) run_variant_drop(*v);
  return st;
}

static hd_status make_one(void *ctx, const hd_plan *plan, void **variant, hd_diag *d) {
  search *s = ctx;
  run_variant *v = NULL;
  if (!is_time_for_one(s)) return hd_fail_bound(d, HD_BOUND_TIME, "%s", run_no_time);
  const bool made = make(s, plan, &v, d) == HD_OK;
  *variant = v;
  return made ? HD_OK : HD_ERR_REFUSED; /* whatever the reason is, others may do */
}

static void ask(void *ctx, const hd_plan *const *plans, size_t n) {
  run_ahead_ask(((search *)ctx)->ahead, plans, n);
}

static void drop_one(void *ctx, void *variant) { run_variant_drop(variant); }

/* Even for a first run, which finds no code in the caches: it would take up the time of other plans. */
static bool is_hopeless(const search *s, double first) { return first > 4 * s->seconds + 1e-3; }

static hd_status run_one(void *ctx, void *variant, double *seconds, bool *same, hd_diag *d) {
  search *s = ctx;
  if (!variant && same && !s->known) { /* as search_in has seen it */
    s->known = *same = true;
    *seconds = s->seconds;
    return HD_OK;
  }
  int r = run_trial_run(s->trial, variant, s->is_flushing, seconds, same);
  if (r == CU_SUCCESS && variant && same && *same && !is_hopeless(s, *seconds))
    r = run_trial_run(s->trial, variant, s->is_flushing, seconds, NULL);
  if (r == CU_SUCCESS) return HD_OK;
  return hd_fail(d, variant ? HD_ERR_UNSUPPORTED : HD_ERR_FAULT, "a launch failed");
}

static void enter(void *ctx, uint32_t state) { ((search *)ctx)->is_flushing = state; }

static double now(void *ctx) { return hd_seconds(); }

/* CTAs of the original per SM; 0: the driver does not say. */
static uint32_t resident(const run_shape *shape, cu_function function) {
  const uint32_t threads = shape->block[0] * shape->block[1] * shape->block[2];
  int n = 0;
  if (!run_real.cuOccupancyMaxActiveBlocksPerMultiprocessor ||
      run_real.cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, function, (int)threads, shape->shared) !=
          CU_SUCCESS)
    return 0;
  return n > 0 ? (uint32_t)n : 0;
}

/* ---- The verdict ------------------------------------------------------------------------------- */

/* The variant is the kernel's from now on. */
static void publish(const search *s, run_variant *v, bool held) {
  memcpy(v->grid, s->shape->grid, sizeof v->grid);
  if (v->code.len) {
    run_cubin_keep(v->text, &v->code);
    hd_buf_free(&v->code);
  } else if (!v->variables.all.n) {
    run_cubin_make(v->text);
  }
  atomic_store(&v->held, held);
  v->next = atomic_load_explicit(&s->k->variants, memory_order_relaxed);
  atomic_store_explicit(&s->k->variants, v, memory_order_release);
}

static void adopt(search *s, run_variant *v) {
  run_shape *shape = s->shape;
  snprintf(s->verdict.plan, sizeof s->verdict.plan, "%s", v->plan ? v->plan : "");
  hd_fit(s->k->plan, sizeof s->k->plan, "%s", s->verdict.plan);
  s->k->speedup = s->verdict.speedup;
  atomic_store(&v->saves, run_saves(s->verdict.before_us, s->verdict.after_us));
  run_note_plan(s->k, &s->verdict, s->verdict.plan, HD_STEER_NEW);
  run_note_ready(s->k, &s->verdict, run_variant_cost(v));
  publish(s, v, false);
  if (!(shape->verdict = malloc(sizeof *shape->verdict))) return;
  *shape->verdict = s->verdict;
  shape->adopted = v;
  v->verdict = shape->verdict;
}

void run_tune_check(run_kernel *k, run_shape *s) {
  const run_arm arm = {.variant = s->adopted};
  if (!s->adopted || s->launches < SELDOM || run_settings.unguarded) return;
  s->adopted = NULL;
  run_probation_open(k, &arm);
}

/* The repetitions decide. NULL: there is a verdict, of what was measured; else why not. */
static const char *decide(search *s, hd_contest *c) {
  hd_contest_end e;
  hd_verdict *v = &s->verdict;
  if (!s->tried) return "no plan could be tried";
  if (hd_contest_decide(c, &e, NULL) != HD_OK) return "its launches could not be timed";
  if (!e.won && s->cut == RUN_CUT_TOTAL) return run_no_time;
  v->tried = s->tried;
  if (e.speedup.pairs) hd_verdict_basis(HD_BASIS_TRIALS, (uint32_t)e.speedup.pairs, v->basis);
  v->before_us = e.before * 1e6;
  v->after_us = e.after * 1e6;
  if (e.won) {
    v->speedup = e.speedup.median;
    v->low = e.speedup.low;
    v->high = e.speedup.high;
    hd_contest_take(c, e.variant);
    adopt(s, e.variant);
  } else {
    run_say_original(s->k, e.decided, s->cut, s->tried);
  }
  run_tune_keep(v);
  return NULL;
}

/* ---- Launches in turns ------------------------------------------------------------------------- */

/* Plans that are right take turns with the original from now on. NULL: they do; else why not. */
static const char *take_turns(search *s, run_variant *const *variants, uint32_t n) {
  const char *state = s->cut == RUN_CUT_TOTAL ? HD_STEER_CUT : HD_STEER_OPEN;
  run_arm arms[FINALISTS];
  s->shape->tried = s->tried;
  s->shape->cut = s->cut;
  for (uint32_t i = 0; i < n; i++) {
    arms[i] = (run_arm){.variant = variants[i]};
    publish(s, variants[i], true);
    if (variants[i]->plan) run_note_plan(s->k, &s->verdict, variants[i]->plan, state);
  }
  if (run_live_open(s->k, s->shape, arms, n, NULL, HD_TRUST_FOUND, run_tune_settle)) return NULL;
  for (uint32_t i = 0; i < n; i++) atomic_store(&variants[i]->off, true);
  return "its launches could not be timed";
}

/* ---- A search ---------------------------------------------------------------------------------- */

/* The contest has its finalists: the launches that follow decide between them, or repetitions do. */
static const char *choose(search *s, hd_contest *c) {
  run_variant *variants[FINALISTS];
  hd_contest_seen seen;
  uint32_t n = 0;
  hd_contest_look(c, &seen);
  s->tried = seen.tried;
  if (seen.untried) s->cut = s->bound;
  if (s->flushed && seen.n_finalists && !is_time(s, 0)) return run_no_time;
  if (s->flushed || !seen.n_finalists) return decide(s, c);
  for (; n < seen.n_finalists && n < FINALISTS; n++) {
    variants[n] = seen.finalists[n].variant;
    hd_contest_take(c, variants[n]);
  }
  return take_turns(s, variants, n);
}

static const char *find(search *s, cu_function function) {
  s->space.resident = resident(s->shape, function);
  hd_candidate *plans = calloc(HD_CANDIDATES, sizeof *plans);
  const size_t n = plans ? hd_candidates(&s->space, plans, HD_CANDIDATES) : 0;
  const double gain = run_settings.gain > 0 ? run_settings.gain : least_gain;
  const run_ahead_job job = {.gpu = &s->gpu, .kernel = s->k, .verdict = &s->verdict};
  s->ahead = run_ahead_open(&job);
  const hd_contest_bench bench = {.ctx = s,
                                  .make = make_one,
                                  .drop = drop_one,
                                  .run = run_one,
                                  .ahead = s->ahead ? ask : NULL,
                                  .now = now,
                                  .states = 2,
                                  .enter = enter};
  const hd_contest_options o = {.budget = contest_share * (s->until - hd_seconds()),
                                .error = 1 - s->verdict.confidence,
                                .gain = gain,
                                .seed = s->k->hash,
                                .least = !s->flushed ? worth_turns
                                         : gain < 1  ? gain
                                                     : 0,
                                .most = ROUNDS,
                                .handed = !s->flushed};
  hd_contest *c = NULL;
  hd_status st = plans ? hd_contest_open(&bench, &o, &s->space, plans, n, &c, NULL) : HD_ERR_NOMEM;
  free(plans);
  const char *why = st == HD_OK                 ? choose(s, c)
                    : st == HD_ERR_NOMEM        ? "no memory"
                    : st != HD_ERR_BUDGET       ? "a launch failed"
                    : s->bound == RUN_CUT_TOTAL ? run_no_time
                                                : too_long;
  hd_contest_close(c);
  run_ahead_close(s->ahead);
  s->ahead = NULL;
  return why;
}

/* An earlier process has proved plans for the shape, and ended before it was known which of them is best. */
static bool resume(search *s) {
  const char *plans[FINALISTS];
  run_variant *variants[FINALISTS];
  uint32_t made = 0;
  bool cut;
  const size_t n = run_notes_open(&s->verdict.key, plans, FINALISTS, &cut);
  if (cut) s->cut = RUN_CUT_TOTAL;
  for (size_t i = 0; i < n; i++) {
    hd_plan plan;
    if (hd_plan_parse(plans[i], &plan, NULL) == HD_OK && make(s, &plan, &variants[made], NULL) == HD_OK)
      made++;
  }
  s->tried = made;
  return made && !take_turns(s, variants, made);
}

/* ---- A launch ---------------------------------------------------------------------------------- */

static hd_plan_space space_of(const search *s, const run_facts *f, const run_launch *l) {
  const run_kernel *k = s->k;
  char *params = calloc(1, f->bytes + 1);
  hd_plan_space out = {0};
  if (params && run_gather(f, l, params))
    out = run_space_of(&s->gpu, &k->module->own, k->name, l->grid, l->block, params, f->bytes);
  out.n_sms = s->gpu.n_sms;
  out.readonly = f->n_unwritten;
  free(params);
  return out;
}

/* Whether the launches to come are too few to decide: as many as an earlier process has made, or as there
 * have been. */
static bool is_seldom(const search *s) {
  const double known = run_notes_launches(&s->verdict.key), so_far = 2.0 * (double)s->shape->launches;
  return (known > so_far ? known : so_far) < SELDOM;
}

/* The trial is open. NULL: the shape has been tuned, or takes turns; else why not. */
static const char *search_in(search *s, cu_function function, double begin) {
  run_shape *shape = s->shape;
  bool same = false;
  double seconds;
  const double first = hd_seconds();
  if (run_trial_run(s->trial, NULL, false, &shape->seconds, &same) != CU_SUCCESS) return "a launch failed";
  if (!same) return "its results differ from run to run";
  const double all = shape->seconds * (double)shape->launches;
  if (all > largest) largest = all;
  if (all < run_settings.worth) {
    if (!s->k->tuned[0]) run_say_tuned(s->k, "too short to be tuned");
    return NULL;
  }
  const double own = run_settings.budget, budget = run_budget_left(), second = hd_seconds();
  s->seconds = shape->seconds;
  s->run = second - first;
  if (is_seldom(s)) {
    /* The first takes the memory. */
    double third = second;
    for (int k = 0; k < 2; k++) {
      third = hd_seconds();
      if (run_trial_run(s->trial, NULL, true, &seconds, NULL) != CU_SUCCESS)
        return "there is no room to flush L2, and launches are too few to decide";
    }
    s->flushed = hd_seconds() - third;
  }
  s->until = begin + own;
  const char *why = is_time_for_one(s) ? NULL : too_long;
  s->bound = budget < own ? RUN_CUT_TOTAL : RUN_CUT_BUDGET;
  if (budget < own) s->until = begin + budget;
  if (!why) why = is_time_for_one(s) ? find(s, function) : run_no_time;
  shape->settled = why != run_no_time || run_settings.share <= 0;
  return why;
}

/* NULL: it has been tuned; else why not. */
static const char *tune(run_kernel *k, run_shape *shape, cu_function function, const run_launch *l,
                        bool *launched, int *result) {
  run_facts facts;
  hd_diag d = {0};
  search s = {.k = k, .shape = shape};
  const double begin = hd_seconds();
  if (!run_gpu_of(&s.gpu)) return "the driver is too old";
  run_tune_describe(k, shape, &s.gpu, &s.verdict);
  if (run_has_verdict(&s.verdict.key)) {
    shape->settled = true;
    if (!atomic_load(&k->variants) && !k->why[0]) run_say_tuned(k, run_best_as_it_is);
    return k->why[0] ? k->why : NULL;
  }
  if (run_facts_of(&k->module->own, k->name, &facts, &d) != HD_OK) {
    hd_diag_line(&d, k->why, sizeof k->why);
    return k->why;
  }
  s.space = space_of(&s, &facts, l);
  /* A driver that loads lazily may load the module's data when it is asked where they are. */
  const char *why = facts.variables.all.n ? run_not_alone(RUN_PATIENCE) : NULL;
  if (!why) why = run_variables_find(&facts.variables, k->module);
  if (!why && !run_not_alone(RUN_PATIENCE) && resume(&s)) {
    shape->settled = true;
    run_facts_free(&facts);
    return NULL;
  }
  s.tried = 0;
  s.cut = RUN_CUT_NOT;
  if (!why) why = run_trial_open(&facts, function, l, &s.trial, launched, result);
  run_facts_free(&facts);
  if (why) return why;
  why = search_in(&s, function, begin);
  run_trial_close(s.trial);
  run_cubins_write();
  return why;
}

const char *run_tune(run_kernel *k, run_shape *s, cu_function function, const run_launch *l, bool *launched,
                     int *result) {
  const double begin = hd_seconds();
  const char *why = tune(k, s, function, l, launched, result);
  run_budget_spend(hd_seconds() - begin);
  return why;
}

bool run_is_small(const run_shape *s) {
  enum { SMALL = 20 };
  return s->seconds * (double)s->launches * SMALL < largest;
}
