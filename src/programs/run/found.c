/* What came of tuning: verdicts that later processes have, and what the report says. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "heddle/trusted.h"
#include "run/watch.h"

/* ---- What is said ------------------------------------------------------------------------------ */

const char run_no_time[] = "there was no time left", run_best_as_it_is[] = "the original is best";

void run_say_tuned(run_kernel *k, const char *what) { hd_fit(k->tuned, sizeof k->tuned, "%s", what); }

static void say_not_tuned(run_kernel *k, const char *why) {
  k->cut = why == run_no_time;
  hd_fit(k->why, sizeof k->why, "not tuned: %s%s", k->module->own.data ? "" : "no PTX, and ", why);
}

void run_say_original(run_kernel *k, bool sure, run_cut cut, uint32_t tried) {
  if (!sure)
    run_say_tuned(k, "no plan is surely faster");
  else if (cut == RUN_CUT_BUDGET)
    hd_fit(k->tuned, sizeof k->tuned, "none of the %u plan%s that --budget had time for is faster", tried,
           tried == 1 ? "" : "s");
  else
    run_say_tuned(k, run_best_as_it_is);
}

/* ---- Verdicts ---------------------------------------------------------------------------------- */

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

/* ---- Launches in turns ------------------------------------------------------------------------- */

/* The shape's plans are decided; `won`: that one is adopted. */
static void note_plans(run_kernel *k, const run_shape *shape, const hd_verdict *v, const run_variant *won) {
  run_launch of = {.shared = shape->shared};
  memcpy(of.grid, shape->grid, sizeof of.grid);
  memcpy(of.block, shape->block, sizeof of.block);
  for (const run_variant *w = atomic_load(&k->variants); w; w = w->next)
    if (w->plan && run_is_shape(&of, w->grid, w->block, w->shared))
      run_note_plan(k, v, w->plan, w == won ? HD_STEER_NEW : "");
}

/* What was found of a shape; of its original alone if no plan is better. Nothing stays if --total ended the
 * search before a plan was found. */
static void keep(run_kernel *k, const run_shape *shape, uint32_t tried, const run_lived *known) {
  const bool won = known->end == RUN_LIVE_WON;
  const char *plan = !won                  ? "baseline"
                     : known->best.lever   ? run_lever_text(known->best.lever)
                     : known->best.variant ? known->best.variant->plan
                                           : NULL;
  run_gpu gpu;
  hd_verdict v;
  if (!plan || !run_gpu_of(&gpu)) return;
  run_tune_describe(k, shape, &gpu, &v);
  v.tried = tried;
  v.before_us = v.after_us = known->original * 1e6;
  hd_verdict_basis(HD_BASIS_TURNS, (uint32_t)(won ? known->pairs : known->rounds), v.basis);
  if (won) {
    snprintf(v.plan, sizeof v.plan, "%s", plan);
    hd_fit(k->plan, sizeof k->plan, "%s", plan);
    v.after_us = known->seconds * 1e6;
    k->speedup = v.speedup = known->median;
    v.low = known->low;
    v.high = known->high < known->median * 1e3 ? known->high : known->median;
    k->why[0] = 0;
  }
  note_plans(k, shape, &v, won ? known->best.variant : NULL);
  if (won && known->best.variant) run_note_ready(k, &v, run_variant_cost(known->best.variant));
  if (won || shape->cut != RUN_CUT_TOTAL) run_tune_keep(&v);
}

/* NULL: it is decided; else why not. */
static const char *why_undecided(const run_lived *known) {
  switch (known->end) {
  case RUN_LIVE_OPEN:
  case RUN_LIVE_LEFT: return "its launches were too few to decide";
  case RUN_LIVE_COSTLY: return "not decided: launches in turns would lose more than --total leaves";
  case RUN_LIVE_RARE: return "not decided: too few of its launches could take turns";
  default: return NULL;
  }
}

/* What is proved stays proved; attributes of a launch need no proof. */
static void say_undecided(run_kernel *k, const char *why, bool levers) {
  char text[sizeof k->tuned];
  hd_fit(text, sizeof text, "%s; the next process %s", why, levers ? "tries again" : "goes on");
  if (levers)
    say_not_tuned(k, text);
  else
    run_say_tuned(k, text);
}

void run_tune_settle(run_kernel *k, run_shape *shape, const hd_verdict *verdict, const run_lived *known) {
  const char *why = why_undecided(known);
  if (why) {
    say_undecided(k, why, known->best.lever);
    return;
  }
  if (known->end == RUN_LIVE_CUT || !known->pairs) {
    hd_fit(k->why, sizeof k->why, "not tuned: its launches could not be timed");
    return;
  }
  keep(k, shape, shape->tried ? shape->tried : known->arms, known);
  if (known->end == RUN_LIVE_WON) return;
  if (known->best.lever)
    say_not_tuned(k, "the launch's levers do not help");
  else if (shape->cut == RUN_CUT_TOTAL)
    say_not_tuned(k, run_no_time);
  else
    run_say_original(k, known->end == RUN_LIVE_LOST, shape->cut, shape->tried);
  shape->settled = shape->cut != RUN_CUT_TOTAL || run_settings.share <= 0;
}
