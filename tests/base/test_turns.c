/* Contests of variants in turns, on simulated launches: how often they are wrong, how long they take, what
 * they cost. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/stats.h"
#include "heddle/turns.h"

/* ---- Simulated launches ---- */

typedef struct gpu {
  uint64_t seed, drawn;
  uint32_t launch; /* number of the next */
  double speed[HD_TURNS_ARMS], noise;
} gpu;

static double uniform(gpu *g) { return ((double)(hd_random_at(g->seed, g->drawn++) >> 11) + 0.5) * 0x1p-53; }
static double normal(gpu *g) {
  double u = uniform(g), v = uniform(g);
  return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Seconds of a launch at speed 1. */
typedef double weather(gpu *g);
static double lognormal(gpu *g) { return 1e-4 * exp(g->noise * normal(g)); }
static double heavy_tailed(gpu *g) { return 1e-4 * pow(uniform(g), -0.8); }
static double drifting(gpu *g) { return lognormal(g) * exp(0.002 * g->launch + 0.3 * sin(0.05 * g->launch)); }
static double warm_and_cold(gpu *g) { return lognormal(g) * (g->launch % 2 ? 2 : 1); }
static double three_buffers(gpu *g) { return lognormal(g) * (g->launch % 3 ? 1 : 1.7); }
static double warm_or_cold(gpu *g) { return lognormal(g) * (uniform(g) < 0.5 ? 2 : 1); }
static double of_all_sizes(gpu *g) { return lognormal(g) * (1 + 9 * uniform(g)); }

static double took(gpu *g, weather *w, uint32_t arm) {
  double seconds = w(g) / g->speed[arm];
  g->launch++;
  return seconds;
}
static double ticks(double seconds) { return 2e-5 * floor(seconds / 2e-5); } /* of a coarse timer */

typedef struct outcome {
  hd_turns_end end;
  uint32_t best, launches, rounds;
  hd_turns_arm arm; /* 1 */
} outcome;

/* A contest to its end, one launch after the other. */
static outcome contest(const hd_turns_options *o, uint32_t arms, gpu *g, weather *w, bool coarse) {
  hd_turns *t;
  hd_diag d;
  outcome r = {0};
  if (hd_turns_open(o, arms, &t, &d) != HD_OK) fail_msg("%s", d.message);
  while (hd_turns_state(t) == HD_TURNS_OPEN) {
    uint32_t a = hd_turns_next(t);
    if (a == HD_TURNS_NONE) break;
    double seconds = took(g, w, a);
    hd_turns_tell(t, a, coarse ? ticks(seconds) : seconds);
    r.launches++;
  }
  r.end = hd_turns_state(t);
  r.best = hd_turns_best(t);
  r.rounds = hd_turns_of(t, 0).pairs;
  r.arm = hd_turns_of(t, 1);
  assert_int_equal(hd_turns_next(t), HD_TURNS_NONE);
  hd_turns_close(t);
  return r;
}

static gpu gpu_of(uint64_t seed, double noise, double speed) {
  gpu g = {.seed = hd_random_at(77, seed), .noise = noise};
  for (int a = 0; a < HD_TURNS_ARMS; a++) g.speed[a] = a ? speed : 1;
  return g;
}

/* The most of n that a chance may give: four standard deviations. */
static double at_most(double n, double chance) {
  return n * chance + 4 * sqrt(n * chance * (1 - chance)) + 1;
}

/* ---- Errors ---- */

enum { CONTESTS = 1200 };

static const struct sky {
  const char *name;
  weather *weather;
  double noise;
  bool coarse;
} skies[] = {{"noise", lognormal, 0.05, false},
             {"little noise", lognormal, 0.001, false},
             {"heavy tails", heavy_tailed, 0, false},
             {"drift", drifting, 0.02, false},
             {"warm and cold in turns", warm_and_cold, 0.02, false},
             {"three buffers in turns", three_buffers, 0.02, false},
             {"warm or cold", warm_or_cold, 0.02, false},
             {"all sizes", of_all_sizes, 0.02, false},
             {"ticks", lognormal, 0.05, true}};
enum { SKIES = sizeof skies / sizeof *skies };

/* Contests of arms of one speed that end so, under one sky; no more than the promised share. */
static void expect_few(const struct sky *sky, double error, uint32_t arms, double speed, hd_turns_end end) {
  int n = CONTESTS / (int)arms, wrong = 0;
  for (uint64_t i = 0; i < (uint64_t)n; i++) {
    gpu g = gpu_of(i, sky->noise, speed);
    const hd_turns_options o = {.error = error, .gain = 1, .most = 400, .seed = 1 + i};
    wrong += contest(&o, arms, &g, sky->weather, sky->coarse).end == end;
  }
  if (wrong > at_most(n, error))
    fail_msg("%s: %d of %d contests of %u arms at speed %g ended with %d", sky->name, wrong, n, arms, speed,
             end);
}

static void arms_that_gain_nothing_win_no_more_often_than_promised(void **state) {
  for (int s = 0; s < SKIES; s++)
    for (uint32_t arms = 2; arms <= 4; arms += 2) {
      expect_few(&skies[s], 0.1, arms, 1, HD_TURNS_WON);
      expect_few(&skies[s], 0.01, arms, 1, HD_TURNS_WON);
      expect_few(&skies[s], 0.01, arms, 0.95, HD_TURNS_WON);
    }
}

static void arms_that_gain_are_lost_no_more_often_than_promised(void **state) {
  for (int s = 0; s < SKIES; s++) {
    expect_few(&skies[s], 0.1, 2, 1, HD_TURNS_ORIGINAL); /* not below 1, which is what is asked */
    expect_few(&skies[s], 0.01, 2, 1.05, HD_TURNS_ORIGINAL);
  }
}

/* At no number of pairs may an end of the interval be beyond the true median, but with the promised chance.
 */
static void an_interval_holds_the_truth_at_all_times(void **state) {
  enum { N = 400, ROUNDS = 120 };
  int above = 0, below = 0;
  for (uint64_t i = 0; i < N; i++) {
    gpu g = gpu_of(i, 0.05, 1.02);
    const hd_turns_options o = {.error = 0.1, .gain = 1.02, .seed = i};
    bool was_above = false, was_below = false;
    hd_turns *t;
    assert_int_equal(hd_turns_open(&o, 2, &t, NULL), HD_OK);
    for (int k = 0; k < 2 * ROUNDS && hd_turns_state(t) == HD_TURNS_OPEN; k++) {
      uint32_t a = hd_turns_next(t);
      hd_turns_tell(t, a, took(&g, lognormal, a));
      hd_turns_arm is = hd_turns_of(t, 1);
      assert_true(isnan(is.median) || (is.low <= is.median && is.median <= is.high));
      was_above |= is.low > 1.0201;
      was_below |= is.high < 1.0199;
    }
    above += was_above, below += was_below;
    hd_turns_close(t);
  }
  assert_true(above <= at_most(N, 0.1) && below <= at_most(N, 0.1));
}

/* ---- Power ---- */

/* How many of 100 contests of two arms end so within so many launches. */
static int of_100(weather *w, double noise, double speed, hd_turns_options o, hd_turns_end end) {
  int n = 0;
  for (uint64_t i = 0; i < 100; i++) {
    gpu g = gpu_of(1000 + i, noise, speed);
    o.seed = i;
    n += contest(&o, 2, &g, w, false).end == end;
  }
  return n;
}

static void a_gain_is_found(void **state) {
  const hd_turns_options in_32 = {.most = 32}, in_400 = {.most = 400}, in_1400 = {.most = 1400};
  assert_true(of_100(lognormal, 0.05, 1.03, in_1400, HD_TURNS_WON) >= 95);
  assert_true(of_100(lognormal, 0.005, 1.03, in_32, HD_TURNS_WON) >= 95);
  assert_true(of_100(drifting, 0.02, 1.03, in_400, HD_TURNS_WON) >= 95);
  assert_true(of_100(warm_or_cold, 0.005, 1.05, in_400, HD_TURNS_WON) >= 95);
}

static void a_gain_is_found_though_every_second_launch_finds_l2_cold(void **state) {
  const hd_turns_options in_400 = {.most = 400};
  assert_true(of_100(warm_and_cold, 0.02, 1.03, in_400, HD_TURNS_WON) >= 90);
  assert_true(of_100(three_buffers, 0.02, 1.03, in_400, HD_TURNS_WON) >= 90);
}

static void equals_end(void **state) {
  const hd_turns_options any = {0};
  assert_int_equal(of_100(lognormal, 0.02, 1, any, HD_TURNS_ORIGINAL), 100);
  assert_int_equal(of_100(lognormal, 0.02, 1.01, any, HD_TURNS_OPEN), 0);
}

static void an_arm_of_half_the_speed_is_out_after_16_launches(void **state) {
  const hd_turns_options in_16 = {.most = 16};
  assert_int_equal(of_100(lognormal, 0.05, 0.5, in_16, HD_TURNS_ORIGINAL), 100);
}

static void a_verdict_that_does_not_keep_its_promise_is_taken_back_within_64_launches(void **state) {
  static const double speeds[] = {1 / 1.05, 1 / 1.2, 0.5};
  const hd_turns_options probation = {.gain = 1, .most = 64};
  for (int i = 0; i < 3; i++) {
    assert_true(of_100(lognormal, 0.02, speeds[i], probation, HD_TURNS_ORIGINAL) >= 99);
    assert_true(of_100(drifting, 0.02, speeds[i], probation, HD_TURNS_ORIGINAL) >= 99);
  }
  assert_true(of_100(lognormal, 0.02, 1.1, probation, HD_TURNS_WON) >= 99);
}

static void the_best_of_several_arms_wins(void **state) {
  int best = 0;
  for (uint64_t i = 0; i < 100; i++) {
    gpu g = gpu_of(i, 0.03, 1);
    const hd_turns_options o = {.seed = i};
    g.speed[1] = 1.05, g.speed[2] = 1.2, g.speed[3] = 0.8, g.speed[4] = 1.15;
    outcome r = contest(&o, 5, &g, lognormal, false);
    assert_int_equal(r.end, HD_TURNS_WON);
    best += r.best == 2;
  }
  assert_true(best >= 90);
}

/* ---- Hard cases ---- */

/* Contests of times that a function gives, by arm and round. */
typedef double times(uint32_t arm, uint32_t round);
static hd_turns *given(const hd_turns_options *o, uint32_t arms, times *of) {
  hd_turns *t;
  assert_int_equal(hd_turns_open(o, arms, &t, NULL), HD_OK);
  for (uint32_t k = 0; hd_turns_state(t) == HD_TURNS_OPEN; k++) {
    uint32_t a = hd_turns_next(t);
    if (a != HD_TURNS_NONE) hd_turns_tell(t, a, of(a, k / arms));
  }
  return t;
}

static double always_1(uint32_t arm, uint32_t round) { return 1; }
static void equal_times_are_no_evidence(void **state) {
  hd_turns *t = given(&(hd_turns_options){0}, 2, always_1);
  hd_turns_arm a = hd_turns_of(t, 1);
  assert_int_equal(hd_turns_state(t), HD_TURNS_ORIGINAL);
  assert_true(a.pairs > 32 && a.median == 1 && a.low == 1 && a.high == 1 && a.mean == 1);
  hd_turns_close(t);
}

static double mostly_faster(uint32_t arm, uint32_t round) { return arm == 0 ? 1 : round % 4 ? 0.9 : 3; }
static void an_arm_that_is_mostly_faster_and_slower_in_all_does_not_win(void **state) {
  hd_turns *t = given(&(hd_turns_options){0}, 2, mostly_faster);
  assert_int_equal(hd_turns_state(t), HD_TURNS_ORIGINAL);
  assert_true(hd_turns_of(t, 1).median > 1.1 && hd_turns_of(t, 1).mean < 1);
  assert_true(hd_turns_of(t, 1).pairs < 150);
  hd_turns_close(t);
}

static double far_slower(uint32_t arm, uint32_t round) { return arm == 1 ? 0.1 : 0.001; }
static void an_arm_that_has_used_up_its_share_of_the_loss_goes_out(void **state) {
  hd_turns *t = given(&(hd_turns_options){.loss = 0.5}, 3, far_slower);
  hd_turns_arm slow = hd_turns_of(t, 1);
  assert_true(slow.out && slow.lost > 0.25 && slow.lost <= 0.25 + 0.1);
  assert_int_equal(slow.pairs, 3);
  assert_true(hd_turns_of(t, 2).pairs > 8);
  assert_int_equal(hd_turns_state(t), HD_TURNS_COSTLY);
  hd_turns_close(t);
}

static void a_contest_says_which_bound_ended_it(void **state) {
  static const struct {
    hd_turns_options o;
    hd_turns_end end;
  } cases[] = {{{.loss = 0.1}, HD_TURNS_COSTLY},
               {{.loss = 0.1, .most = 4}, HD_TURNS_COSTLY},
               {{.most = 4}, HD_TURNS_SPENT},
               {{.loss = 10, .most = 4}, HD_TURNS_SPENT},
               {{.loss = 10}, HD_TURNS_ORIGINAL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_turns *t = given(&cases[i].o, 2, far_slower);
    assert_int_equal(hd_turns_state(t), cases[i].end);
    hd_turns_close(t);
  }
}

static double of_half_the_speed(uint32_t arm, uint32_t round) { return arm ? 2 : 1; }
static void arms_of_half_the_speed_are_out_as_soon_as_the_text_says(void **state) {
  hd_turns *one = given(&(hd_turns_options){0}, 2, of_half_the_speed),
           *all = given(&(hd_turns_options){0}, HD_TURNS_ARMS, of_half_the_speed);
  assert_int_equal(hd_turns_of(one, 1).pairs, 8);
  for (uint32_t a = 1; a < HD_TURNS_ARMS; a++) assert_int_equal(hd_turns_of(all, a).pairs, 13);
  hd_turns_close(one);
  hd_turns_close(all);
}

static double odd_ones(uint32_t arm, uint32_t round) {
  static const double odd[] = {NAN, 0, -1, INFINITY, -INFINITY};
  return arm == 1 && round % 2 ? odd[round / 2 % 5] : 1 - 0.1 * arm;
}
static void a_time_that_is_no_positive_number_gives_no_pair(void **state) {
  hd_turns *t = given(&(hd_turns_options){0}, 2, odd_ones);
  hd_turns_arm a = hd_turns_of(t, 1);
  assert_int_equal(hd_turns_state(t), HD_TURNS_WON);
  assert_int_equal(a.pairs, (hd_turns_of(t, 0).pairs + 1) / 2);
  assert_true(fabs(a.median - 1 / 0.9) < 1e-6 && fabs(a.seconds - 0.9) < 1e-9);
  assert_true(fabs(a.lost + 0.1 * a.pairs) < 1e-9);
  hd_turns_close(t);
}

static double never(uint32_t arm, uint32_t round) { return arm ? 1 : NAN; }
static void a_contest_without_a_pair_ends(void **state) {
  hd_turns *t = given(&(hd_turns_options){0}, 2, never);
  assert_int_equal(hd_turns_state(t), HD_TURNS_SPENT);
  assert_int_equal(hd_turns_of(t, 1).pairs, 0);
  assert_int_equal(hd_turns_best(t), 0);
  hd_turns_close(t);
}

/* ---- Dealing out ---- */

static void each_arm_comes_once_a_round_in_an_order_drawn_anew(void **state) {
  enum { ARMS = 3, ROUNDS = 600 };
  unsigned orders[ARMS * ARMS] = {0}; /* by who comes first and second */
  hd_turns *t;
  assert_int_equal(hd_turns_open(&(hd_turns_options){.seed = 5}, ARMS, &t, NULL), HD_OK);
  for (int r = 0; r < ROUNDS; r++) {
    uint32_t order[ARMS];
    for (int i = 0; i < ARMS; i++) hd_turns_drop(t, order[i] = hd_turns_next(t));
    assert_int_equal(order[0] + order[1] + order[2], 3);
    assert_true(order[0] != order[1] && order[1] != order[2] && order[0] != order[2]);
    orders[order[0] * ARMS + order[1]]++;
  }
  for (int i = 0; i < ARMS * ARMS; i++)
    if (i / ARMS != i % ARMS) assert_in_range(orders[i], 60, 140);
  hd_turns_close(t);
}

static void launches_may_be_reported_late_and_arms_overtake_each_other(void **state) {
  uint32_t first[8], second[8];
  hd_turns *t;
  assert_int_equal(hd_turns_open(&(hd_turns_options){.ahead = 8}, 2, &t, NULL), HD_OK);
  for (int r = 0; r < 8; r++) first[r] = hd_turns_next(t), second[r] = hd_turns_next(t);
  for (int r = 0; r < 8; r++) assert_int_equal(first[r] + second[r], 1);
  assert_int_equal(hd_turns_next(t), HD_TURNS_NONE);
  for (int r = 0; r < 8; r++) hd_turns_tell(t, 1, 1 + r);
  assert_int_equal(hd_turns_of(t, 1).pairs, 0);
  hd_turns_tell(t, 1, 1); /* of no launch */
  for (int r = 0; r < 8; r++) hd_turns_tell(t, 0, 2 * (1 + r));
  hd_turns_arm a = hd_turns_of(t, 1);
  assert_int_equal(a.pairs, 8);
  assert_true(fabs(a.median - 2) < 1e-6 && fabs(a.low - 2) < 1e-6 && fabs(a.high - 2) < 1e-6);
  assert_int_equal(hd_turns_state(t), HD_TURNS_WON);
  assert_int_equal(hd_turns_best(t), 1);
  hd_turns_close(t);
}

/* After each round, of what came by then; rounds that are reported in part count for nothing. */
static void what_is_known_of_an_arm_changes_with_each_round_that_is_whole(void **state) {
  enum { ROUNDS = 40 };
  const hd_turns_options o = {.gain = 1, .most = 2 * ROUNDS, .error = 1e-6};
  hd_turns *t;
  double ratios[ROUNDS];
  assert_int_equal(hd_turns_open(&o, 2, &t, NULL), HD_OK);
  for (uint32_t k = 0; k < ROUNDS; k++) {
    ratios[k] = exp(0.1 * ((double)(k * 17 % ROUNDS) - 0.5 * ROUNDS)); /* neither rising nor falling */
    const uint32_t first = hd_turns_next(t), second = hd_turns_next(t);
    hd_turns_tell(t, first, first ? 1e-3 / ratios[k] : 1e-3);
    assert_int_equal(hd_turns_rounds(t), k);
    hd_turns_tell(t, second, second ? 1e-3 / ratios[k] : 1e-3);
    assert_int_equal(hd_turns_rounds(t), k + 1);
    double so_far[ROUNDS];
    memcpy(so_far, ratios, sizeof so_far);
    const hd_turns_arm a = hd_turns_of(t, 1);
    assert_int_equal(a.pairs, k + 1);
    /* Of an even number the library takes the middle of the logarithms. */
    if (k % 2 == 0) assert_true(fabs(log(a.median / hd_median(so_far, k + 1))) < 1e-5);
    assert_true(a.low <= a.median && a.median <= a.high);
  }
  hd_turns_close(t);
}

static void a_withdrawn_arm_comes_no_more(void **state) {
  hd_turns *t;
  assert_int_equal(hd_turns_open(&(hd_turns_options){0}, 3, &t, NULL), HD_OK);
  uint32_t first = hd_turns_next(t);
  hd_turns_withdraw(t, 1);
  if (first == 1)
    hd_turns_drop(t, 1);
  else
    hd_turns_tell(t, first, 1);
  for (int k = 0; k < 9; k++) {
    uint32_t a = hd_turns_next(t);
    assert_true(a == 0 || a == 2);
    hd_turns_tell(t, a, 1);
  }
  assert_true(hd_turns_of(t, 1).out);
  hd_turns_withdraw(t, 2);
  assert_int_equal(hd_turns_state(t), HD_TURNS_ORIGINAL);
  assert_int_equal(hd_turns_next(t), HD_TURNS_NONE);
  hd_turns_close(t);
}

static void no_more_launches_are_dealt_out_than_allowed(void **state) {
  gpu g = gpu_of(1, 0.05, 1);
  const hd_turns_options o = {.most = 20}, too_few = {.most = 2};
  outcome r = contest(&o, 3, &g, lognormal, false);
  assert_int_equal(r.end, HD_TURNS_SPENT);
  assert_int_equal(r.launches, 18);
  assert_int_equal(contest(&too_few, 3, &g, lognormal, false).end, HD_TURNS_SPENT);
}

static double faster(uint32_t arm, uint32_t round) { return 1 - 0.1 * arm; }

static void a_contest_that_is_finished_has_the_winner_that_it_has_by_then(void **state) {
  for (int rounds = 1; rounds < 20; rounds++) {
    hd_turns *t;
    const hd_turns_options o = {.least = 12};
    assert_int_equal(hd_turns_open(&o, 3, &t, NULL), HD_OK);
    while ((int)hd_turns_of(t, 0).pairs < rounds && hd_turns_state(t) == HD_TURNS_OPEN) {
      uint32_t a = hd_turns_next(t);
      hd_turns_tell(t, a, faster(a, 0));
    }
    if (rounds >= 12)
      assert_int_equal(hd_turns_state(t), HD_TURNS_WON);
    else
      assert_int_equal(hd_turns_state(t), HD_TURNS_OPEN);
    hd_turns_finish(t);
    assert_int_equal(hd_turns_state(t), rounds >= 12 ? HD_TURNS_WON : HD_TURNS_SPENT);
    if (rounds >= 12) assert_int_equal(hd_turns_best(t), 2);
    assert_int_equal(hd_turns_next(t), HD_TURNS_NONE);
    hd_turns_close(t);
  }
}

static void options_out_of_range_are_refused(void **state) {
  static const hd_turns_options wrong[] = {{.error = -1}, {.error = 1},  {.error = NAN},
                                           {.gain = 0.9}, {.gain = NAN}, {.gain = INFINITY},
                                           {.loss = -1},  {.loss = NAN}, {.ahead = HD_TURNS_AHEAD + 1}};
  hd_turns *t;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_equal(hd_turns_open(&wrong[i], 2, &t, NULL), HD_ERR_INPUT);
  assert_int_equal(hd_turns_open(&(hd_turns_options){0}, 1, &t, NULL), HD_ERR_INPUT);
  assert_int_equal(hd_turns_open(&(hd_turns_options){0}, HD_TURNS_ARMS + 1, &t, NULL), HD_ERR_INPUT);
  hd_turns_close(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("arms that gain nothing win no more often than promised, whatever the noise",
                arms_that_gain_nothing_win_no_more_often_than_promised),
      BEHAVIOUR("arms that gain are lost no more often than promised",
                arms_that_gain_are_lost_no_more_often_than_promised),
      BEHAVIOUR("an interval holds the truth at all times", an_interval_holds_the_truth_at_all_times),
      BEHAVIOUR("a gain is found", a_gain_is_found),
      BEHAVIOUR("a gain is found though every second launch finds L2 cold",
                a_gain_is_found_though_every_second_launch_finds_l2_cold),
      BEHAVIOUR("a contest between equals ends", equals_end),
      BEHAVIOUR("an arm of half the speed is out after 16 launches",
                an_arm_of_half_the_speed_is_out_after_16_launches),
      BEHAVIOUR("a verdict that does not keep its promise is taken back within 64 launches",
                a_verdict_that_does_not_keep_its_promise_is_taken_back_within_64_launches),
      BEHAVIOUR("the best of several arms wins", the_best_of_several_arms_wins),
      BEHAVIOUR("equal times are no evidence", equal_times_are_no_evidence),
      BEHAVIOUR("an arm that is mostly faster, and slower in all, does not win",
                an_arm_that_is_mostly_faster_and_slower_in_all_does_not_win),
      BEHAVIOUR("an arm that has used up its share of the loss goes out",
                an_arm_that_has_used_up_its_share_of_the_loss_goes_out),
      BEHAVIOUR("a contest says which bound ended it", a_contest_says_which_bound_ended_it),
      BEHAVIOUR("arms of half the speed are out as soon as the text says",
                arms_of_half_the_speed_are_out_as_soon_as_the_text_says),
      BEHAVIOUR("a time that is no positive number gives no pair",
                a_time_that_is_no_positive_number_gives_no_pair),
      BEHAVIOUR("a contest without a pair ends", a_contest_without_a_pair_ends),
      BEHAVIOUR("each arm comes once a round, in an order drawn anew",
                each_arm_comes_once_a_round_in_an_order_drawn_anew),
      BEHAVIOUR("launches may be reported late, and arms overtake each other",
                launches_may_be_reported_late_and_arms_overtake_each_other),
      BEHAVIOUR("what is known of an arm changes with each round that is whole",
                what_is_known_of_an_arm_changes_with_each_round_that_is_whole),
      BEHAVIOUR("a withdrawn arm comes no more", a_withdrawn_arm_comes_no_more),
      BEHAVIOUR("no more launches are dealt out than allowed", no_more_launches_are_dealt_out_than_allowed),
      BEHAVIOUR("a contest that is finished has the winner that it has by then",
                a_contest_that_is_finished_has_the_winner_that_it_has_by_then),
      BEHAVIOUR("options out of range are refused", options_out_of_range_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
