/* Launches that are watched, by kernel and shape: which of them are worth tuning or recording. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/watch.h"

enum { TRIES = 5, SHAPES = 64 };

static run_shape *shape_of(run_kernel *k, const run_launch *l) {
  unsigned n = 0;
  for (run_shape *s = k->shapes; s; s = s->next, n++)
    if (run_is_shape(l, s->grid, s->block, s->shared)) return s;
  run_shape *s = n < SHAPES ? calloc(1, sizeof *s) : NULL;
  if (!s) return NULL;
  memcpy(s->grid, l->grid, sizeof s->grid);
  memcpy(s->block, l->block, sizeof s->block);
  s->shared = l->shared;
  s->next = k->shapes;
  k->shapes = s;
  return s;
}

/* Once, and again if it took too short a time or could not be: at the second launch, the fourth, ... */
static bool is_due(const run_shape *s) {
  return !s->settled && s->tries < TRIES && (s->launches & (s->launches - 1)) == 0 &&
         (!s->seconds || (s->seconds * (double)s->launches >= run_settings.worth && !run_is_small(s)));
}

static void refuse(run_kernel *k, const char *why) {
  k->cut = why == run_no_time;
  hd_fit(k->why, sizeof k->why, "not %s: %s", run_settings.tune ? "tuned" : "recorded", why);
}

/* Under `--total 5%` there is more time later. */
static bool is_over(run_kernel *k) {
  const char *why = run_settings.tune && run_budget_left() <= 0 ? run_no_time : NULL;
  if (why) refuse(k, why);
  return why;
}

static bool attempt(run_kernel *k, run_shape *s, cu_function function, const run_launch *l, int *result) {
  bool launched = false;
  s->tries++;
  const char *why = (run_settings.tune ? run_tune : run_record)(k, s, function, l, &launched, result);
  if (why && why != k->why) refuse(k, why);
  if (!why) k->why[0] = 0;
  return launched;
}

static bool is_chosen(const run_kernel *k, const run_shape *s) {
  const uint64_t number = run_settings.launch;
  return number ? number == atomic_load(&((run_kernel *)(uintptr_t)k)->launches) + 1 : is_due(s);
}

bool run_lever_watched(cu_function function, const run_launch *l, int *result) {
  run_kernel *k = run_function_of(function);
  if (!k || !run_settings.tune || k->module->own.data) return false;
  pthread_mutex_lock(&run_lock);
  run_shape *s = shape_of(k, l);
  if (s) s->launches++;
  if (!k->why[0] && !atomic_load(&k->levers)) refuse(k, k->module->why ? k->module->why : "no PTX");
  if (s && !s->settled) run_levers_try(k, s, function, l);
  pthread_mutex_unlock(&run_lock);
  return run_live_launch(k, function, l, result);
}

bool run_watched(cu_function function, const run_launch *l, int *result) {
  run_kernel *k = run_function_of(function);
  bool launched = false;
  if (!k) return false;
  if (run_settings.tune && !k->module->own.data) return run_lever_watched(function, l, result);
  pthread_mutex_lock(&run_lock);
  run_shape *s = shape_of(k, l);
  if (s) s->launches++;
  if (s) run_tune_check(k, s);
  bool chosen = s && is_chosen(k, s) && !is_over(k);
  pthread_mutex_unlock(&run_lock);
  if (!chosen) return false;
  const char *why = run_gate_close(RUN_PATIENCE);
  pthread_mutex_lock(&run_lock);
  chosen = is_chosen(k, s);
  if (chosen && why) {
    s->tries++;
    refuse(k, why);
  }
  if (chosen && !why) launched = attempt(k, s, function, l, result);
  if (launched) {
    atomic_fetch_add(&k->trials, 1);
    atomic_fetch_add_explicit(&k->launches, 1, memory_order_relaxed);
  }
  pthread_mutex_unlock(&run_lock);
  if (!why) run_gate_open();
  return launched;
}
