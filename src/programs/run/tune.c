/* Finds the plan that wins for a kernel's launches of one shape, on the program's own data.
 *
 * A shape is tuned once, when its launches so far have taken long enough to be worth it. One launch is
 * repeated under each plan, whose result is compared byte for byte with the original's; the memory is
 * afterwards as the original left it. The plans that are right and were fast then take turns with the
 * original in the launches that follow (live.c), and these decide. If the program launches the kernel too
 * seldom for that, the repetitions decide: a plan is adopted that wins both with L2 as putting memory back
 * leaves it and with L2 flushed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heddle/stats.h"
#include "heddle/trusted.h"
#include "run/watch.h"

enum { FINALISTS = 3, ROUNDS = 5, LEAST_ROUNDS = 8, LAST_ROUNDS = 15, FAMILIES = 32, SELDOM = 40 };

/* A family's best plan goes into others' from this ratio on. */
static const double worth_joining = 1.02;
/* One that was slower than that when it was tried takes no turns. */
static const double worth_turns = 0.95;

typedef struct finalist {
  run_variant *v;
  const hd_plan *plan;
  double ratio; /* of the original's time over the plan's */
} finalist;

typedef struct search {
  run_trial *trial;
  run_kernel *k;
  run_gpu gpu;
  hd_verdict verdict; /* as far as it is known */
  finalist best[FINALISTS + 1];
  size_t n;
  struct {
    const hd_plan *plan; /* the best of its family (hd_plan_family) */
    double ratio;
  } family[FAMILIES];
  size_t n_families;
  uint32_t tried;             /* plans whose results or times are known */
  run_cut bound, cut;         /* what `until` is from; and whether it has ended the search */
  uint32_t n_unwritten;       /* as in run_facts */
  hd_shape tiles;             /* as run_tiles_of has them */
  double until, search_until; /* of all, and of looking for plans */
  double seconds;             /* of the original */
  double run;                 /* and of its repetition, with all that is around it */
  double flushed;             /* and of one with L2 flushed; 0: the launches that follow decide */
  double compile;             /* of making the variant that took longest so far */
} search;

/* Seconds that all launches of a shape have taken so far, of the shape with most. Under run_lock. */
static double largest;

/* ---- Measuring --------------------------------------------------------------------------------- */

/* Rounds of the original and the variant in turns, who is first changing; false: the driver fails. */
static bool measure(search *s, run_variant *v, size_t rounds, bool flushed, double *original,
                    double *rewritten) {
  for (size_t i = 0; i < rounds; i++) {
    const bool first = i % 2;
    if (run_trial_run(s->trial, first ? v : NULL, flushed, first ? &rewritten[i] : &original[i], NULL) !=
            CU_SUCCESS ||
        run_trial_run(s->trial, first ? NULL : v, flushed, first ? &original[i] : &rewritten[i], NULL) !=
            CU_SUCCESS)
      return false;
  }
  return true;
}

/* A verdict's figures, of pairs of launches. */
typedef struct figures {
  hd_speedup u;
  double before, after; /* seconds */
} figures;

static bool compare(search *s, run_variant *v, size_t rounds, bool flushed, figures *out) {
  double a[LAST_ROUNDS], b[LAST_ROUNDS];
  if (!measure(s, v, rounds, flushed, a, b) || hd_paired_speedup(a, b, rounds, 0.99, &out->u, NULL) != HD_OK)
    return false;
  out->before = hd_median(a, rounds);
  out->after = hd_median(b, rounds);
  return true;
}

/* ---- Searching --------------------------------------------------------------------------------- */

static void enter(search *s, finalist f) {
  size_t i = s->n++;
  for (; i && s->best[i - 1].ratio < f.ratio; i--) s->best[i] = s->best[i - 1];
  s->best[i] = f;
  if (s->n > FINALISTS) run_variant_drop(s->best[--s->n].v);
}

static void note_family(search *s, const hd_plan *plan, double ratio) {
  const uint32_t family = hd_plan_family(plan);
  size_t k = 0;
  while (k < s->n_families && hd_plan_family(s->family[k].plan) != family) k++;
  if (k == FAMILIES) return;
  if (k == s->n_families) s->family[s->n_families++].ratio = 0;
  if (ratio > s->family[k].ratio) {
    s->family[k].plan = plan;
    s->family[k].ratio = ratio;
  }
}

/* Of a repetition of each of a pair, in one state of L2 and in the other. */
static double pair(const search *s) { return 2 * (s->run + s->flushed); }

/* How many rounds of pairs there is time for, `most` at most. */
static size_t rounds_left(const search *s, size_t most) {
  const double time = s->until - hd_seconds(), rounds = time > 0 ? time / pair(s) : 0;
  return rounds < (double)most ? (size_t)rounds : most;
}

/* Whether one more plan can be tried, and the best measured afterwards if repetitions decide, before the time
 * is over. */
static bool is_time(const search *s) {
  enum { TRIAL = 3 };
  const double tried = hd_seconds() + s->compile + TRIAL * s->run,
               last = s->flushed ? LEAST_ROUNDS * pair(s) : 0;
  return tried < s->search_until && tried + last < s->until;
}

static bool make(search *s, const hd_plan *plan, run_variant **v) {
  const double begin = hd_seconds();
  const bool made = run_variant_make(&s->gpu, &s->k->module->own, s->k, plan, &s->verdict, v, NULL) == HD_OK;
  if (made) (*v)->ready = (*v)->making = hd_seconds() - begin;
  const bool ready = made && run_place_try(*v);
  const double took = hd_seconds() - begin;
  if (took > s->compile) s->compile = took;
  if (made && !ready) run_variant_drop(*v);
  return ready;
}

/* Even for a first run, which finds no code in the caches: it would take up the time of other plans. */
static bool is_hopeless(const search *s, double first) { return first > 4 * s->seconds + 1e-3; }

static void try(search *s, const hd_plan *plan) {
  run_variant *v;
  double first, original, rewritten;
  bool same = false;
  if (!make(s, plan, &v)) return;
  const bool ran = run_trial_run(s->trial, v, false, &first, &same) == CU_SUCCESS,
             fits = ran && same && !is_hopeless(s, first),
             timed = fits && measure(s, v, 1, false, &original, &rewritten);
  s->tried += timed || (ran && !fits);
  if (timed) {
    note_family(s, plan, original / rewritten);
    enter(s, (finalist){v, plan, original / rewritten});
  } else {
    run_variant_drop(v);
  }
}

/* The best plan with what the other families' best have beyond it, as long as that wins. `joined` has room
 * for as many as there may be families. */
static void try_joined(search *s, hd_plan *joined) {
  const size_t n = s->n_families;
  for (size_t k = 0; s->n && k < n && is_time(s); k++)
    if (s->family[k].ratio > worth_joining && hd_plan_join(s->best[0].plan, s->family[k].plan, &joined[k]) &&
        hd_plan_check(&joined[k], NULL) == HD_OK)
      try(s, &joined[k]);
}

/* The finalists once more, the best of them first; where there is no time for all, the best so far stays. */
static void run_finals(search *s) {
  if (rounds_left(s, SIZE_MAX) < s->n * ROUNDS + LEAST_ROUNDS) return;
  for (size_t i = 0; i < s->n; i++) {
    figures f;
    s->best[i].ratio = compare(s, s->best[i].v, ROUNDS, false, &f) ? f.u.median : 0;
  }
  for (size_t i = 1; i < s->n; i++)
    if (s->best[i].ratio > s->best[0].ratio) {
      const finalist f = s->best[0];
      s->best[0] = s->best[i];
      s->best[i] = f;
    }
}

static hd_plan_space space_of(const search *s, const run_shape *shape, cu_function function) {
  hd_plan_space p = {.n_sms = s->gpu.n_sms,
                     .loads = 1,
                     .readonly = s->n_unwritten,
                     .can_order = true,
                     .can_loop = true,
                     .can_cancel = s->gpu.arch >= HD_CANCEL_ARCH,
                     .can_swap_threads = true,
                     .can_turn_threads = true};
  int n = 0;
  const uint32_t threads = shape->block[0] * shape->block[1] * shape->block[2];
  memcpy(p.grid, shape->grid, sizeof p.grid);
  memcpy(p.block, shape->block, sizeof p.block);
  p.warps = (threads + 31) / 32;
  hd_grid_tasks(shape->grid, &p.tasks);
  p.shape = s->tiles;
  for (int k = 0; p.shape.kind != HD_SHAPE_LAUNCH && k < 3; k++) p.grid[k] = p.shape.n[k] ? p.shape.n[k] : 1;
  if (run_real.cuOccupancyMaxActiveBlocksPerMultiprocessor &&
      run_real.cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, function, (int)threads, shape->shared) ==
          CU_SUCCESS &&
      n > 0)
    p.resident = (uint32_t)n;
  return p;
}

/* ---- The verdict ------------------------------------------------------------------------------- */

/* The variant is the kernel's from now on: the first of the finalists. */
static void publish(search *s, const run_shape *shape, bool held) {
  run_variant *v = s->best[0].v;
  memcpy(v->grid, shape->grid, sizeof v->grid);
  if (!v->variables.all.n) run_cubin_make(v->text);
  atomic_store(&v->held, held);
  v->next = atomic_load_explicit(&s->k->variants, memory_order_relaxed);
  atomic_store_explicit(&s->k->variants, v, memory_order_release);
  for (size_t i = 1; i < s->n; i++) s->best[i - 1] = s->best[i];
  s->n--;
}

static void adopt(search *s, run_shape *shape) {
  run_variant *v = s->best[0].v;
  snprintf(s->verdict.plan, sizeof s->verdict.plan, "%s", v->plan ? v->plan : "");
  hd_fit(s->k->plan, sizeof s->k->plan, "%s", s->verdict.plan);
  s->k->speedup = s->verdict.speedup;
  run_note_plan(s->k, &s->verdict, s->verdict.plan, HD_STEER_NEW);
  run_note_ready(s->k, &s->verdict, run_variant_cost(v));
  publish(s, shape, false);
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

/* The best plan against the original once more, in both states of L2; *out: that in which it gains less.
 * NULL: it is measured; else why not. */
static const char *measure_best(search *s, figures *out) {
  run_finals(s);
  const size_t rounds = rounds_left(s, LAST_ROUNDS);
  figures flushed;
  if (rounds < LEAST_ROUNDS) return run_no_time;
  if (!compare(s, s->best[0].v, rounds, false, out) || !compare(s, s->best[0].v, rounds, true, &flushed))
    return "its launches could not be timed";
  if (flushed.u.low < out->u.low) *out = flushed;
  return NULL;
}

/* The repetitions decide. NULL: there is a verdict, of what was measured; else why not. */
static const char *decide(search *s, run_shape *shape) {
  figures f = {.before = s->seconds, .after = s->seconds}; /* where no plan was as good as to be timed */
  hd_verdict *v = &s->verdict;
  const char *why = s->tried ? NULL : "no plan could be tried";
  if (!why && s->n) why = measure_best(s, &f);
  const double gain = run_settings.gain;
  if (!why && f.u.low <= gain && s->cut == RUN_CUT_TOTAL) why = run_no_time;
  v->tried = s->tried;
  if (f.u.pairs) hd_verdict_basis(HD_BASIS_TRIALS, (uint32_t)f.u.pairs, v->basis);
  v->before_us = f.before * 1e6;
  v->after_us = f.after * 1e6;
  if (!why && f.u.low > gain) {
    v->speedup = f.u.median;
    v->low = f.u.low;
    v->high = f.u.high;
    atomic_store(&s->best[0].v->saves, run_saves(v->before_us, v->after_us));
    adopt(s, shape);
  } else if (!why) {
    run_say_original(s->k, f.u.high <= gain, s->cut, s->tried);
  }
  if (!why) run_tune_keep(v);
  return why;
}

/* ---- Launches in turns ------------------------------------------------------------------------- */

/* The plans that are right take turns with the original from now on. NULL: they do, or none is worth it. */
static const char *take_turns(search *s, run_shape *shape) {
  run_arm arms[FINALISTS];
  uint32_t n = 0;
  while (s->n && s->best[s->n - 1].ratio < worth_turns) run_variant_drop(s->best[--s->n].v);
  if (!s->n) return decide(s, shape);
  while (s->n) {
    arms[n++].variant = s->best[0].v;
    arms[n - 1].lever = NULL;
    publish(s, shape, true);
  }
  shape->tried = s->tried;
  shape->cut = s->cut;
  const char *state = s->cut == RUN_CUT_TOTAL ? HD_STEER_CUT : HD_STEER_OPEN;
  for (uint32_t i = 0; i < n; i++)
    if (arms[i].variant->plan) run_note_plan(s->k, &s->verdict, arms[i].variant->plan, state);
  if (run_live_open(s->k, shape, arms, n, NULL, RUN_TRUST_FOUND, run_tune_settle)) return NULL;
  for (uint32_t i = 0; i < n; i++) atomic_store(&arms[i].variant->off, true);
  return "its launches could not be timed";
}

/* ---- A search ---------------------------------------------------------------------------------- */

static const char *find(search *s, run_shape *shape, cu_function function) {
  hd_candidate *plans = calloc(HD_CANDIDATES, sizeof *plans);
  const hd_plan_space space = space_of(s, shape, function);
  const size_t n = plans ? hd_candidates(&space, plans, HD_CANDIDATES) : 0;
  hd_plan joined[FAMILIES];
  const double begin = hd_seconds();
  s->search_until = begin + (s->until - begin) * 0.8;
  size_t k = 0;
  for (; k < n && is_time(s); k++) try(s, &plans[k].plan);
  if (k < n) s->cut = s->bound;
  s->search_until = s->until;
  try_joined(s, joined);
  const char *why = !plans ? "no memory" : s->flushed || !s->tried ? decide(s, shape) : take_turns(s, shape);
  while (s->n) run_variant_drop(s->best[--s->n].v);
  free(plans);
  return why;
}

/* An earlier process has proved plans for the shape, and ended before it was known which of them is best. */
static bool resume(search *s, run_shape *shape) {
  const char *plans[FINALISTS];
  bool cut;
  const size_t n = run_notes_open(&s->verdict.key, plans, FINALISTS, &cut);
  if (cut) s->cut = RUN_CUT_TOTAL;
  for (size_t i = 0; i < n; i++) {
    run_variant *v;
    hd_plan plan;
    if (hd_plan_parse(plans[i], &plan, NULL) != HD_OK) continue;
    if (make(s, &plan, &v)) {
      s->tried++;
      enter(s, (finalist){v, NULL, 1});
    }
  }
  return s->n && !take_turns(s, shape);
}

/* ---- A launch ---------------------------------------------------------------------------------- */

static hd_shape tiles_of(const run_kernel *k, const run_facts *f, const run_launch *l) {
  char *params = calloc(1, f->bytes + 1);
  hd_shape out = {0};
  if (params && run_gather(f, l, params))
    out = run_tiles_of(&k->module->own, k->name, l->grid, l->block, params, f->bytes);
  free(params);
  return out;
}

/* Whether the launches to come are too few to decide: as many as an earlier process has made, or as there
 * have been. */
static bool is_seldom(const search *s, const run_shape *shape) {
  const double known = run_notes_launches(&s->verdict.key), so_far = 2.0 * (double)shape->launches;
  return (known > so_far ? known : so_far) < SELDOM;
}

/* The trial is open. NULL: the shape has been tuned, or takes turns; else why not. */
static const char *search_in(search *s, run_shape *shape, cu_function function, double begin) {
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
  if (is_seldom(s, shape)) {
    /* The first takes the memory. */
    double third = second;
    for (int k = 0; k < 2; k++) {
      third = hd_seconds();
      if (run_trial_run(s->trial, NULL, true, &seconds, NULL) != CU_SUCCESS)
        return "there is no room to flush L2, and launches are too few to decide";
    }
    s->flushed = hd_seconds() - third;
  }
  s->until = s->search_until = begin + own;
  const char *why = is_time(s) ? NULL : "a launch takes too long for its budget";
  s->bound = budget < own ? RUN_CUT_TOTAL : RUN_CUT_BUDGET;
  if (budget < own) s->until = s->search_until = begin + budget;
  if (!why) why = is_time(s) ? find(s, shape, function) : run_no_time;
  shape->settled = why != run_no_time || run_settings.share <= 0;
  return why;
}

/* NULL: it has been tuned; else why not. */
static const char *tune(run_kernel *k, run_shape *shape, cu_function function, const run_launch *l,
                        bool *launched, int *result) {
  run_facts facts;
  hd_diag d = {0};
  search s = {.k = k};
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
  s.n_unwritten = facts.n_unwritten;
  s.tiles = tiles_of(k, &facts, l);
  /* A driver that loads lazily may load the module's data when it is asked where they are. */
  const char *why = facts.variables.all.n ? run_not_alone(RUN_PATIENCE) : NULL;
  if (!why) why = run_variables_find(&facts.variables, k->module);
  if (!why && !run_not_alone(RUN_PATIENCE) && resume(&s, shape)) {
    shape->settled = true;
    run_facts_free(&facts);
    return NULL;
  }
  while (s.n) run_variant_drop(s.best[--s.n].v);
  s.tried = 0;
  s.cut = RUN_CUT_NOT;
  if (!why) why = run_trial_open(&facts, function, l, &s.trial, launched, result);
  run_facts_free(&facts);
  if (why) return why;
  why = search_in(&s, shape, function, begin);
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
