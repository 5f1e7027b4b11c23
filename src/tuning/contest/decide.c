/* The finalists and the original in turns, where nothing can be moved: heddle/turns.h decides. */
#include <math.h>

#include "contest/search.h"
#include "heddle/turns.h"

/* Rounds that a decision takes in most cases. */
enum { ROUNDS = 16 };

double search_decision_takes(const search *s, size_t arms) { return ROUNDS * (double)arms * s->second; }

/* Pairs that tell a winner's speedup to a per cent or so, as far as they cost little. */
static uint32_t pairs_of(const search *s) { return s->second < 3e-3 ? 21 : s->second < 30e-3 ? 11 : 0; }

/* One run of an arm. A finalist that cannot be run any more goes out. */
static hd_status take_turn(search *s, hd_turns *t, const size_t *at, uint32_t arm, hd_diag *d) {
  const uint32_t slot = arm ? s->trials.data[at[arm - 1]].slot : s->original;
  double us;
  hd_diag e = {0};
  hd_status st = s->bench->time(s->bench->ctx, &slot, 1, 0, 1, &us, &e);
  if (st == HD_OK) {
    hd_turns_tell(t, arm, us * 1e-6);
    return HD_OK;
  }
  if (arm && search_plans_fault(st)) {
    hd_turns_withdraw(t, arm);
    hd_turns_drop(t, arm);
    return HD_OK;
  }
  if (d) *d = e;
  return st;
}

static double gain_of(const search *s) { return s->o.gain > 0 ? s->o.gain : SEARCH_LEAST_GAIN; }

static void read_end(search *s, hd_turns *t, const size_t *at) {
  const uint32_t best = hd_turns_best(t);
  const hd_turns_arm k = hd_turns_of(t, best ? best : 1);
  s->best = (int64_t)at[best ? best - 1 : 0];
  s->adopted = hd_turns_state(t) == HD_TURNS_WON || (gain_of(s) < 1 && k.low > gain_of(s));
  s->undecided &= !s->adopted;
  if (!k.pairs) return;
  s->tested = (search_test){.before_us = hd_turns_of(t, 0).seconds * 1e6, .after_us = k.seconds * 1e6};
  s->tested.speedup = (hd_speedup){
      .median = k.median, .low = k.low, .high = k.high, .pairs = k.pairs, .confidence = s->o.confidence};
}

/* `cut`: not all that seem to win are among them. */
static hd_status decide(search *s, const size_t *at, size_t n, bool cut, hd_diag *d) {
  const uint32_t most = s->o.most, least = pairs_of(s);
  const hd_turns_options o = {.error = 1 - s->o.confidence,
                              .gain = fmax(gain_of(s), 1),
                              .most = most * ((uint32_t)n + 1),
                              .least = most && most < least ? most : least,
                              .ahead = 1,
                              .seed = s->o.seed};
  hd_turns *t;
  hd_status st = hd_turns_open(&o, (uint32_t)n + 1, &t, d);
  if (st != HD_OK) return st;
  /* A search that took longer than it should has its decision all the same. */
  const double until = fmax(s->o.budget, search_now(s) + search_decision_takes(s, n + 1));
  search_report(s, "testing", 0, n);
  while (st == HD_OK && hd_turns_state(t) == HD_TURNS_OPEN && search_now(s) < until) {
    const uint32_t arm = hd_turns_next(t);
    if (arm != HD_TURNS_NONE) st = take_turn(s, t, at, arm, d);
  }
  s->undecided = cut || hd_turns_state(t) != HD_TURNS_ORIGINAL;
  hd_turns_finish(t);
  if (st == HD_OK) read_end(s, t, at);
  hd_turns_close(t);
  search_report(s, "testing", n, n);
  return st;
}

/* The best one once more, in another state of the machine. The pace is another one there. */
static hd_status decide_in(search *s, uint32_t state, hd_diag *d) {
  const tuner_bench *b = s->bench;
  const search_test before = s->tested;
  const size_t at = (size_t)s->best;
  double us;
  b->enter(b->ctx, state);
  const double begin = search_now(s);
  hd_status st = b->time(b->ctx, &s->original, 1, 1, 1, &us, d);
  s->second = (search_now(s) - begin) / 2;
  if (st == HD_OK) st = decide(s, &at, 1, false, d);
  if (before.speedup.low < s->tested.speedup.low) s->tested = before;
  return st;
}

hd_status search_decide(search *s, hd_diag *d) {
  size_t at[SEARCH_FINALISTS], n = search_rank(s, at, SEARCH_FINALISTS);
  bool cut = s->trials.n == 0; /* by the time */
  while (n && s->trials.data[at[n - 1]].score < search_least(s)) n--;
  for (; n > 1 && search_now(s) + search_decision_takes(s, n + 1) > s->o.budget; n--) cut = true;
  search_keep_only(s, at, n);
  s->best = n ? (int64_t)at[0] : -1;
  s->undecided = cut;
  hd_status st = n ? decide(s, at, n, cut, d) : HD_OK;
  for (uint32_t k = 1; st == HD_OK && s->adopted && k < s->bench->states; k++) st = decide_in(s, k, d);
  return st;
}
