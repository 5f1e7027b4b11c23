/* What this program has learnt of verdicts: whether they keep in its launches what they promise, what it
 * costs to get them ready, and how often it launches their kernels. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "heddle/trusted.h"
#include "run/watch.h"

static struct {
  bool read, changed;
  char program[PATH_MAX], path[HD_STEER_PATH];
  run_note *all;
} notes;

/* ---- Reading ----------------------------------------------------------------------------------- */

static run_note *add(const hd_steer_note *n) {
  run_note *one = calloc(1, sizeof *one);
  if (!one) return NULL;
  one->is = *n;
  one->next = notes.all;
  return notes.all = one;
}

static void take(void *ctx, const char *program, const hd_steer_note *n) {
  (void)ctx;
  run_note *one = strcmp(program, notes.program) == 0 ? add(n) : NULL;
  if (one) one->known = true;
}

/* Once, with the verdicts. */
static void read_all(void) {
  if (notes.read) return;
  notes.read = true;
  const ssize_t n = readlink("/proc/self/exe", notes.program, sizeof notes.program - 1);
  if (n <= 0 || strchr(notes.program, '\n') || !run_settings.notes[0]) return;
  hd_steer_notes_of(run_settings.notes, notes.program, notes.path);
  hd_steer_notes_read(notes.path, take, NULL);
}

static run_note *find(const hd_verdict_key *key, const char *plan) {
  read_all();
  run_note *n = notes.all;
  while (n && !(hd_steer_note_is_of(&n->is, key) && strcmp(n->is.plan, plan) == 0)) n = n->next;
  return n;
}

/* More than one process differs from the next. */
static bool differs(double a, double b) { return a > 1.5 * b || b > 1.5 * a; }

/* ---- Notes of verdicts ------------------------------------------------------------------------- */

static void set_state(run_note *n, const char *state) {
  n->changed = n->changed || strcmp(n->is.state, state) != 0;
  snprintf(n->is.state, sizeof n->is.state, "%s", state);
}

/* A later verdict begins anew; what the program does with the kernel is still known. */
static void begin(run_note *n, const hd_verdict *v) {
  n->changed = n->changed || strcmp(n->is.state, HD_STEER_NEW) != 0;
  hd_steer_note_begin(&n->is, v);
}

run_note *run_note_of(run_kernel *k, const hd_verdict *v) {
  run_note *n = find(&v->key, v->plan);
  if (!n) {
    const hd_steer_note fresh = hd_steer_note_of(v, k->name);
    if (!(n = add(&fresh))) return NULL;
    n->changed = true;
  }
  const bool stale = n->known && hd_steer_note_is_stale(&n->is);
  if (n->is.of != v->when || stale) begin(n, v);
  if (stale) n->is.ready = 0;
  for (size_t i = 0; i < k->notes.n; i++)
    if (k->notes.data[i] == n) return n;
  hd_vec_push(&k->notes, n);
  return n;
}

/* Times in the report are for people. */
static void say_cost(run_kernel *k, const hd_steer_note *n) {
  hd_fit(k->why, sizeof k->why, "%s does not pay here: saves %.3g ms, costs %.3g", n->plan,
         n->launches * n->saves * 1e3, n->ready * 1e3);
}

const char *run_note_early(const hd_verdict *v) {
  const run_note *n = find(&v->key, v->plan);
  return n && n->known && n->is.of == v->when && n->is.launches && hd_steer_note_pays(&n->is) &&
                 strcmp(n->is.state, HD_STEER_BROKEN) != 0
             ? n->is.name
             : NULL;
}

bool run_is_worth(run_kernel *k, const hd_verdict *v) {
  const run_note *n = run_note_of(k, v);
  if (!n || !n->known || run_settings.unguarded) return true;
  if (strcmp(n->is.state, HD_STEER_BROKEN) == 0) {
    hd_fit(k->why, sizeof k->why, "%s is slower in this program: %.3gx, not %.3gx", n->is.plan, n->is.median,
           n->is.promised);
    return false;
  }
  const bool pays = hd_steer_note_pays(&n->is);
  if (!pays) say_cost(k, &n->is);
  return pays;
}

bool run_on_probation(run_kernel *k, const hd_verdict *v) {
  if (run_settings.unguarded) return false;
  const run_note *n = run_note_of(k, v);
  return !n || !n->known || !hd_steer_note_is_seldom(&n->is);
}

bool run_is_trusted(run_kernel *k, const hd_verdict *v) {
  const run_note *n = run_note_of(k, v);
  return n && n->known && hd_steer_note_trust(&n->is) == HD_TRUST_KEPT;
}

static hd_probation_trust trust_of(run_kernel *k, const hd_verdict *v) {
  const run_note *n = run_note_of(k, v);
  return n && n->known ? hd_steer_note_trust(&n->is) : HD_TRUST_NONE;
}

static hd_probation meaning_of(const run_lived *known) {
  if (known->end == RUN_LIVE_OPEN || known->end == RUN_LIVE_LEFT || known->end == RUN_LIVE_CUT)
    return HD_PROBATION_OPEN;
  return known->stays                  ? HD_PROBATION_KEPT
         : known->end == RUN_LIVE_LOST ? HD_PROBATION_BROKEN
                                       : HD_PROBATION_UNSURE;
}

/* Of a graph with several plans nothing is known of any one of them. */
static void settle_several(run_kernel *k, run_shape *shape, const hd_verdict *v, const run_lived *known) {
  if (known->pairs && !known->stays && meaning_of(known) != HD_PROBATION_OPEN)
    hd_fit(k->why, sizeof k->why, "its plans were taken back: %.3gx in %.0f pairs of launches", known->median,
           known->pairs);
}

static void settle(run_kernel *k, run_shape *shape, const hd_verdict *v, const run_lived *known) {
  run_note *n = run_note_of(k, v);
  const hd_probation end = meaning_of(known);
  const hd_turns_arm plan = {.pairs = (uint32_t)known->pairs,
                             .median = known->median,
                             .low = known->low,
                             .high = known->high,
                             .seconds = known->seconds};
  if (n && !known->stays && (known->end == RUN_LIVE_CUT || (known->end == RUN_LIVE_SPENT && !known->pairs)))
    hd_fit(k->why, sizeof k->why, "%s was not used: its launches could not be timed", n->is.plan);
  if (!n || !known->pairs) return;
  hd_steer_note_learn(&n->is, end, &plan, known->original);
  if (end == HD_PROBATION_OPEN) return;
  n->changed = true;
  if (known->stays) return;
  hd_fit(k->why, sizeof k->why, "%s was taken back: %.3gx in %.0f pairs of launches, not %.3gx", n->is.plan,
         known->median, known->pairs, n->is.promised);
  if (end == HD_PROBATION_BROKEN) run_notes_write(false);
}

void run_probation_open(run_kernel *k, const run_arm *a) {
  run_shape s = {0};
  const run_variant *v = a->variant;
  const run_lever *w = a->lever;
  if (v || w) {
    memcpy(s.grid, v ? v->grid : w->grid, sizeof s.grid);
    memcpy(s.block, v ? v->block : w->block, sizeof s.block);
    s.shared = v ? v->shared : w->shared;
  }
  const hd_verdict *verdict = v ? v->verdict : w ? w->verdict : run_pair_verdict(a->pair);
  const bool several = a->pair && run_pair_has_several(a->pair);
  if (run_live_open(k, &s, a, 1, verdict, several ? HD_TRUST_NONE : trust_of(k, verdict),
                    several ? settle_several : settle))
    return;
  if (v) atomic_store(&a->variant->held, false);
  if (w) atomic_store(&a->lever->held, false);
  if (a->pair) run_pair_turn_off(a->pair); /* a graph is not launched with plans that are not measured */
}

void run_note_ready(run_kernel *k, const hd_verdict *v, double seconds) {
  run_note *n = run_note_of(k, v);
  if (!n) return;
  n->changed = n->changed || differs(n->is.ready, seconds);
  n->is.when = (int64_t)time(NULL);
  n->is.ready = seconds;
}

/* ---- Plans of searches ------------------------------------------------------------------------- */

size_t run_notes_open(const hd_verdict_key *key, const char **plans, size_t most, bool *cut) {
  size_t found = 0;
  read_all();
  *cut = false;
  for (const run_note *n = notes.all; n && found < most; n = n->next) {
    const bool is_cut = strcmp(n->is.state, HD_STEER_CUT) == 0;
    if (!n->known || !hd_steer_note_is_of(&n->is, key) ||
        !(is_cut || strcmp(n->is.state, HD_STEER_OPEN) == 0))
      continue;
    *cut |= is_cut;
    plans[found++] = n->is.plan;
  }
  return found;
}

double run_notes_launches(const hd_verdict_key *key) {
  double launches = 0;
  read_all();
  for (const run_note *n = notes.all; n; n = n->next)
    if (n->known && hd_steer_note_is_of(&n->is, key) && n->is.launches > launches) launches = n->is.launches;
  return launches;
}

void run_note_plan(run_kernel *k, const hd_verdict *shape, const char *plan, const char *state) {
  hd_verdict v = *shape;
  snprintf(v.plan, sizeof v.plan, "%s", plan);
  run_note *n = run_note_of(k, &v);
  if (!n) return;
  begin(n, &v);
  set_state(n, state);
}

/* ---- Writing ----------------------------------------------------------------------------------- */

/* Its shape has no note before it. */
static bool is_first(const run_kernel *k, size_t i) {
  size_t j = 0;
  while (j < i && !hd_steer_note_is_of(&k->notes.data[j]->is, &k->notes.data[i]->is.key)) j++;
  return j == i;
}

/* The kernel's launches are not counted by their shapes: each is taken to have as many as the next. */
void run_notes_count(const run_kernel *k) {
  const double launches = (double)atomic_load(&((run_kernel *)(uintptr_t)k)->launches);
  size_t shapes = 0;
  for (size_t i = 0; i < k->notes.n; i++) shapes += is_first(k, i);
  for (size_t i = 0; i < k->notes.n; i++) k->notes.data[i]->here += launches / (double)shapes;
}

/* What another process of the program has written meanwhile stays. */
static void keep_others(void *ctx, const char *program, const hd_steer_note *n) {
  if (strcmp(program, notes.program) == 0 && !find(&n->key, n->plan)) hd_steer_note_print(n, ctx);
}

void run_notes_write(bool ended) {
  hd_buf text = {0};
  bool changed = false;
  if (!notes.path[0]) return;
  for (run_note *n = notes.all; n; n = n->next) {
    n->changed = n->changed || (n->here && differs(n->here, n->is.launches));
    if (n->here) n->is.launches = n->here;
    changed = changed || n->changed;
  }
  if (!changed) return;
  hd_buf_printf(&text, "%s\n", notes.program);
  hd_steer_notes_read(notes.path, keep_others, &text);
  for (run_note *n = notes.all; n; n = n->next) {
    const bool empty = !n->is.state[0] || (!ended && !n->known && strcmp(n->is.state, HD_STEER_NEW) == 0);
    if (!empty) hd_steer_note_print(&n->is, &text);
    n->changed = false;
  }
  if (!text.failed) hd_trusted_write(notes.path, text.data, text.len, NULL);
  hd_buf_free(&text);
}
