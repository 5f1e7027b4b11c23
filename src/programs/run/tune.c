/* Finds the plan that wins for a launch, on the program's own data, in the moment of the launch.
 *
 * A shape of a kernel's launches is tuned once, when its launches so far have taken long enough to be worth
 * it. Every plan's result is compared byte for byte with the original's; the best is measured against the
 * original in turns, and once more to decide. The memory is afterwards as the original left it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heddle/stats.h"
#include "heddle/trusted.h"
#include "run/watch.h"

enum { FINALISTS = 3, ROUNDS = 5, LEAST_ROUNDS = 8, LAST_ROUNDS = 15, FAMILIES = 32 };

/* A family's best plan goes into others' from this ratio on. */
static const double worth_joining = 1.02;

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
  uint32_t n_unwritten;       /* as in run_facts */
  hd_shape tiles;             /* as run_tiles_of has them */
  double until, search_until; /* of all, and of looking for plans */
  double seconds;             /* of the original */
  double run;                 /* and of its repetition, with all that is around it */
  double compile;             /* of making the variant that took longest so far */
} search;

static double spent; /* seconds of all tuning; under run_lock, as all here */

static const char no_time[] = "there was no time left", best_as_it_is[] = "the original is best";

/* ---- Measuring --------------------------------------------------------------------------------- */

/* Rounds of the original and the variant in turns, who is first changing; false: the driver fails. */
static bool measure(search *s, run_variant *v, size_t rounds, double *original, double *rewritten) {
  for (size_t i = 0; i < rounds; i++) {
    const bool first = i % 2;
    if (run_trial_run(s->trial, first ? v : NULL, first ? &rewritten[i] : &original[i], NULL) != CU_SUCCESS ||
        run_trial_run(s->trial, first ? NULL : v, first ? &original[i] : &rewritten[i], NULL) != CU_SUCCESS)
      return false;
  }
  return true;
}

static bool compare(search *s, run_variant *v, size_t rounds, hd_speedup *out, double *before,
                    double *after) {
  double a[LAST_ROUNDS], b[LAST_ROUNDS];
  if (!measure(s, v, rounds, a, b) || hd_paired_speedup(a, b, rounds, 0.99, out, NULL) != HD_OK) return false;
  *before = hd_median(a, rounds);
  *after = hd_median(b, rounds);
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

/* How many rounds of pairs there is time for, `most` at most. */
static size_t rounds_left(const search *s, size_t most) {
  const double left = s->until - hd_seconds(), rounds = left > 0 ? left / (2 * s->run) : 0;
  return rounds < (double)most ? (size_t)rounds : most;
}

/* Whether one more plan can be tried, and the best measured afterwards, before the time is over. */
static bool is_time(const search *s) {
  enum { TRIAL = 3, LAST = 2 * LEAST_ROUNDS };
  const double tried = hd_seconds() + s->compile + TRIAL * s->run;
  return tried < s->search_until && tried + LAST * s->run < s->until;
}

static bool make(search *s, const hd_plan *plan, run_variant **v) {
  const double begin = hd_seconds();
  const bool made = run_variant_make(&s->gpu, &s->k->module->own, s->k, plan, &s->verdict, v, NULL) == HD_OK,
             ready = made && run_place_try(*v);
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
  const bool ran = run_trial_run(s->trial, v, &first, &same) == CU_SUCCESS,
             fits = ran && same && !is_hopeless(s, first),
             timed = fits && measure(s, v, 1, &original, &rewritten);
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
    hd_speedup u;
    double before, after;
    s->best[i].ratio = compare(s, s->best[i].v, ROUNDS, &u, &before, &after) ? u.median : 0;
  }
  for (size_t i = 1; i < s->n; i++)
    if (s->best[i].ratio > s->best[0].ratio) {
      const finalist f = s->best[0];
      s->best[0] = s->best[i];
      s->best[i] = f;
    }
}

void run_tune_describe(const run_kernel *k, const run_shape *shape, const run_gpu *gpu, hd_verdict *v) {
  hd_digest code = k->module->code;
  *v = (hd_verdict){
      .confidence = 0.99, .plan = "baseline", .speedup = 1, .low = 1, .high = 1, .when = (int64_t)time(NULL)};
  if (k->module->own.data) {
    hd_verdict_kernel(k->module->own.data, k->module->own.len, k->name, v->key.kernel);
  } else {
    hd_digest_text(&code, k->name);
    hd_digest_hex(&code, v->key.kernel);
  }
  hd_verdict_launch(shape->grid, shape->block, shape->shared, NULL, 0, v->key.launch);
  snprintf(v->key.gpu, sizeof v->key.gpu, "%s", gpu->name);
  snprintf(v->key.driver, sizeof v->key.driver, "%s", gpu->driver);
  snprintf(v->name, sizeof v->name, "%s", k->name);
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

/* A file of its own, whole or not at all: whatever ends the process, what was found until then is kept. */
void run_tune_keep(const hd_verdict *v) {
  hd_buf line = {0};
  char path[HD_STEER_PATH + 64], hex[HD_DIGEST_HEX];
  hd_digest h = hd_digest_begin();
  hd_digest_text(&h, v->key.kernel);
  hd_digest_text(&h, v->key.launch);
  hd_digest_text(&h, v->key.gpu);
  hd_digest_text(&h, v->key.driver);
  hd_steer_verdict_print(v, &line);
  snprintf(path, sizeof path, "%s/%s.found", run_settings.found, hd_digest_hex(&h, hex));
  if (run_settings.found[0] && !line.failed) hd_trusted_write(path, line.data, line.len, NULL);
  hd_buf_free(&line);
}

static void adopt(search *s, const run_shape *shape) {
  hd_buf text = {0};
  run_variant *v = s->best[0].v;
  hd_plan_print(s->best[0].plan, &text);
  if (!text.failed && text.data) {
    snprintf(s->verdict.plan, sizeof s->verdict.plan, "%s", text.data);
    snprintf(s->k->plan, sizeof s->k->plan, "%s", text.data);
  }
  hd_buf_free(&text);
  s->k->speedup = s->verdict.speedup;
  memcpy(v->grid, shape->grid, sizeof v->grid);
  if (!v->variables.all.n) run_cubin_make(v->text);
  v->next = atomic_load_explicit(&s->k->variants, memory_order_relaxed);
  atomic_store_explicit(&s->k->variants, v, memory_order_release);
  s->best[0] = s->best[--s->n];
}

/* The best plan against the original once more, which decides. NULL: it is measured; else why not. */
static const char *measure_best(search *s, hd_speedup *u, double *before, double *after) {
  run_finals(s);
  const size_t rounds = rounds_left(s, LAST_ROUNDS);
  if (rounds < LEAST_ROUNDS) return no_time;
  return compare(s, s->best[0].v, rounds, u, before, after) ? NULL : "its launches could not be timed";
}

/* NULL: there is a verdict, of what was measured; else why not. */
static const char *decide(search *s, const run_shape *shape) {
  hd_speedup u = {0};
  double before = s->seconds, after = s->seconds; /* where no plan was as good as to be timed */
  hd_verdict *v = &s->verdict;
  const char *why = s->tried ? NULL : "no plan could be tried";
  if (!why && s->n) why = measure_best(s, &u, &before, &after);
  v->tried = s->tried;
  v->before_us = before * 1e6;
  v->after_us = after * 1e6;
  if (!why && u.low > run_number(run_settings.gain, 1.01)) {
    v->speedup = u.median;
    v->low = u.low;
    v->high = u.high;
    s->best[0].v->saves = run_saves(v->before_us, v->after_us);
    adopt(s, shape);
  } else if (!why) {
    s->k->tuned = best_as_it_is;
  }
  if (!why) run_tune_keep(v);
  while (s->n) run_variant_drop(s->best[--s->n].v);
  return why;
}

static const char *find(search *s, const run_shape *shape, cu_function function) {
  hd_candidate *plans = calloc(HD_CANDIDATES, sizeof *plans);
  const hd_plan_space space = space_of(s, shape, function);
  const size_t n = plans ? hd_candidates(&space, plans, HD_CANDIDATES) : 0;
  hd_plan joined[FAMILIES];
  const double begin = hd_seconds();
  s->search_until = begin + (s->until - begin) * 0.8;
  for (size_t k = 0; k < n && is_time(s); k++) try(s, &plans[k].plan);
  s->search_until = s->until;
  try_joined(s, joined);
  const char *why = plans ? decide(s, shape) : "no memory";
  free(plans);
  return why;
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

/* NULL: it has been tuned; else why not. */
static const char *tune(run_kernel *k, run_shape *shape, cu_function function, const run_launch *l,
                        bool *launched, int *result) {
  run_facts facts;
  hd_diag d = {0};
  search s = {.k = k};
  bool same = false;
  const double begin = hd_seconds();
  if (!run_gpu_of(&s.gpu)) return "the driver is too old";
  if (run_facts_of(&k->module->own, k->name, &facts, &d) != HD_OK) {
    hd_diag_line(&d, k->why, sizeof k->why);
    return k->why;
  }
  run_tune_describe(k, shape, &s.gpu, &s.verdict);
  if (run_has_verdict(&s.verdict.key)) {
    run_facts_free(&facts);
    shape->settled = true;
    if (!atomic_load(&k->variants)) k->tuned = best_as_it_is;
    return NULL;
  }
  s.n_unwritten = facts.n_unwritten;
  s.tiles = tiles_of(k, &facts, l);
  /* A driver that loads lazily may load the module's data when it is asked where they are. */
  const char *why = facts.variables.all.n ? run_not_alone(RUN_PATIENCE) : NULL;
  if (!why) why = run_variables_find(&facts.variables, k->module);
  if (!why) why = run_trial_open(&facts, function, l, &s.trial, launched, result);
  run_facts_free(&facts);
  if (why) return why;
  const double first = hd_seconds();
  if (run_trial_run(s.trial, NULL, &shape->seconds, &same) != CU_SUCCESS)
    why = "a launch failed";
  else if (!same)
    why = "its results differ from run to run";
  else if (shape->seconds * (double)shape->launches >= run_worth()) {
    const double own = run_number(run_settings.budget, 5), left = run_number(run_settings.total, 60) - spent;
    s.seconds = shape->seconds;
    s.run = hd_seconds() - first;
    s.until = s.search_until = begin + own;
    if (!is_time(&s)) why = "a launch takes too long for its budget";
    if (left < own) s.until = s.search_until = begin + left;
    if (!why) why = is_time(&s) ? find(&s, shape, function) : no_time;
    shape->settled = true;
  } else if (!k->tuned) {
    k->tuned = "too short to be tuned";
  }
  run_trial_close(s.trial);
  run_cubins_write();
  return why;
}

const char *run_tune(run_kernel *k, run_shape *s, cu_function function, const run_launch *l, bool *launched,
                     int *result) {
  const double begin = hd_seconds();
  if (spent >= run_number(run_settings.total, 60)) return no_time;
  const char *why = tune(k, s, function, l, launched, result);
  spent += hd_seconds() - begin;
  return why;
}
