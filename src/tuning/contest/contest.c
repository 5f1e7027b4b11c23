/* Plans on a launch that can be repeated: tried, followed, decided. */
#include "heddle/contest.h"

#include <math.h>
#include <string.h>

enum {
  FINALISTS = 3,
  FAMILIES = sizeof((hd_contest *)0)->families / sizeof *((hd_contest *)0)->families,
  DECISION = 8, /* rounds that a decision takes at least */
  TRIAL = 3,    /* runs of a plan that is tried */
};
static const double searching = 0.8;      /* of all time; joining may take longer */
static const double worth_joining = 1.02; /* a family's best plan goes into others' from this ratio on */
/* A first run, which finds no code in the caches, costs up to so many seconds more. */
static const double hopeless = 4, first_run = 1e-3;

static bool is_plans(hd_status st) { return hd_blames_plan(st) || st == HD_ERR_INPUT || st == HD_ERR_NOMEM; }

static double now(const hd_contest *c) { return c->bench.now(c->bench.ctx); }

static hd_status run(hd_contest *c, void *variant, double *seconds, bool *same, hd_diag *d) {
  const double begin = now(c);
  hd_status st = c->bench.run(c->bench.ctx, variant, seconds, same, d);
  c->takes += (now(c) - begin - c->takes) / ++c->runs;
  return st;
}

/* Whether one more plan can be tried until then, and all be decided afterwards. */
static bool is_time(const hd_contest *c, double until) {
  const double tried = now(c) + c->make_takes + TRIAL * c->takes;
  return tried < until && tried + DECISION * (c->o.finalists + 1) * c->takes < c->o.until;
}

hd_status hd_contest_begin(hd_contest *c, const hd_contest_bench *bench, const hd_contest_options *o,
                           hd_diag *d) {
  bool same = false;
  memset(c, 0, sizeof *c);
  c->bench = *bench;
  c->o = *o;
  if (!c->o.finalists) c->o.finalists = FINALISTS;
  if (c->o.finalists > HD_FINALISTS)
    return hd_fail(d, HD_ERR_INPUT, "at most %d finalists, not %u", HD_FINALISTS, c->o.finalists);
  c->begin = now(c);
  hd_status st = run(c, NULL, &c->seconds, &same, d);
  if (st != HD_OK) return st;
  if (!same) return hd_fail(d, HD_ERR_REFUSED, "its results differ from run to run");
  return is_time(c, c->o.until) ? HD_OK
                                : hd_fail_bound(d, HD_BOUND_TIME, "a launch takes too long for its budget");
}

/* ---- Trying ---- */

static void enter(hd_contest *c, hd_finalist f) {
  uint32_t i = c->n++;
  for (; i && c->best[i - 1].ratio < f.ratio; i--) c->best[i] = c->best[i - 1];
  c->best[i] = f;
  if (c->n > c->o.finalists) c->bench.drop(c->bench.ctx, c->best[--c->n].variant);
}

static void note_family(hd_contest *c, const hd_plan *p, double ratio) {
  const uint32_t family = hd_plan_family(p);
  uint32_t k = 0;
  while (k < c->n_families && hd_plan_family(&c->families[k].plan) != family) k++;
  if (k == FAMILIES) return;
  if (k == c->n_families) c->families[c->n_families++].ratio = 0;
  if (ratio > c->families[k].ratio) c->families[k] = (hd_contest_family){*p, ratio};
}

/* A first run, and a pair; *ratio 0: it is not to be followed. */
static hd_status measure(hd_contest *c, void *variant, double *ratio, hd_diag *d) {
  double first, before, after;
  bool same = false;
  *ratio = 0;
  hd_status st = run(c, variant, &first, &same, d);
  if (st != HD_OK) return st;
  c->tried++;
  c->wrong += !same;
  if (!same || first > hopeless * c->seconds + first_run) return HD_OK;
  st = run(c, NULL, &before, NULL, d);
  if (st == HD_OK) st = run(c, variant, &after, NULL, d);
  if (st == HD_OK && before > 0 && after > 0) *ratio = before / after;
  return st;
}

static hd_status try(hd_contest *c, const hd_plan *p, hd_diag *d) {
  const double begin = now(c);
  void *variant = NULL;
  double ratio;
  hd_diag e = {0};
  hd_status st = c->bench.make(c->bench.ctx, p, &variant, &e);
  if (now(c) - begin > c->make_takes) c->make_takes = now(c) - begin;
  if (st == HD_OK) {
    st = measure(c, variant, &ratio, &e);
    if (st == HD_OK && ratio > 0) {
      note_family(c, p, ratio);
      enter(c, (hd_finalist){*p, variant, ratio});
    } else {
      c->bench.drop(c->bench.ctx, variant);
    }
  }
  if (st == HD_OK || is_plans(st)) return HD_OK;
  if (d) *d = e;
  return st;
}

static bool is_finalist(const hd_contest *c, const hd_plan *p) {
  for (uint32_t i = 0; i < c->n; i++)
    if (hd_plan_equal(&c->best[i].plan, p)) return true;
  return false;
}

/* The best plan with what the other families' best have beyond it, as long as that wins. */
static hd_status join(hd_contest *c, hd_diag *d) {
  const uint32_t n = c->n_families;
  hd_status st = HD_OK;
  for (uint32_t k = 0; st == HD_OK && c->n && k < n && is_time(c, c->o.until); k++) {
    hd_plan joined;
    if (c->families[k].ratio > worth_joining &&
        hd_plan_join(&c->best[0].plan, &c->families[k].plan, &joined) &&
        hd_plan_check(&joined, NULL) == HD_OK && !is_finalist(c, &joined))
      st = try(c, &joined, d);
  }
  return st;
}

hd_status hd_contest_search(hd_contest *c, const hd_candidate *list, size_t n, hd_diag *d) {
  const double until = c->begin + searching * (c->o.until - c->begin);
  hd_status st = HD_OK;
  for (size_t k = 0; st == HD_OK && k < n && is_time(c, until); k++) st = try(c, &list[k].plan, d);
  return st == HD_OK ? join(c, d) : st;
}

/* ---- Deciding ---- */

/* Runs that fail are dropped; an arm that fails for its plan's fault is out. */
static hd_status take_turn(hd_contest *c, hd_turns *t, uint32_t arm, hd_diag *d) {
  double seconds;
  hd_diag e = {0};
  hd_status st = run(c, arm ? c->best[arm - 1].variant : NULL, &seconds, NULL, &e);
  if (st == HD_OK) {
    hd_turns_tell(t, arm, seconds);
    return HD_OK;
  }
  if (arm && is_plans(st)) {
    hd_turns_withdraw(t, arm);
    hd_turns_drop(t, arm);
    return HD_OK;
  }
  if (d) *d = e;
  return st;
}

static void read_end(const hd_contest *c, const hd_turns *t, hd_contest_end *out) {
  const uint32_t best = hd_turns_best(t);
  out->end = hd_turns_state(t);
  out->timely = out->end != HD_TURNS_OPEN;
  if (!out->timely) out->end = HD_TURNS_SPENT;
  out->winner = best ? best - 1 : c->n;
  out->arm = hd_turns_of(t, best);
  out->before = hd_turns_of(t, 0).seconds;
  out->after = out->arm.seconds;
}

hd_status hd_contest_decide(hd_contest *c, hd_contest_end *out, hd_diag *d) {
  const hd_turns_options o = {
      .error = c->o.error, .gain = c->o.gain, .most = c->o.most, .ahead = 1, .seed = c->o.seed};
  hd_turns *t;
  *out = (hd_contest_end){
      .end = HD_TURNS_ORIGINAL, .winner = c->n, .before = c->seconds, .after = c->seconds, .timely = true};
  out->arm = (hd_turns_arm){.median = 1, .low = 1, .high = 1, .mean = 1, .seconds = c->seconds};
  if (!c->n) return HD_OK;
  hd_status st = hd_turns_open(&o, c->n + 1, &t, d);
  if (st != HD_OK) return st;
  while (st == HD_OK && hd_turns_state(t) == HD_TURNS_OPEN && now(c) < c->o.until) {
    const uint32_t arm = hd_turns_next(t);
    if (arm != HD_TURNS_NONE) st = take_turn(c, t, arm, d);
  }
  if (st == HD_OK) read_end(c, t, out);
  hd_turns_close(t);
  return st;
}

hd_finalist hd_contest_take(hd_contest *c, uint32_t i) {
  const hd_finalist f = c->best[i];
  for (c->n--; i < c->n; i++) c->best[i] = c->best[i + 1];
  return f;
}

void hd_contest_free(hd_contest *c) {
  while (c->n) c->bench.drop(c->bench.ctx, c->best[--c->n].variant);
}
