/* What becomes of a plan on probation, on simulated launches. */
#include "check.h"

#include <math.h>

#include "heddle/probation.h"

typedef struct gpu {
  uint64_t seed, drawn;
  double speed, noise; /* of the plan; of a launch's log time */
} gpu;

static double normal(gpu *g) {
  const double u = ((double)(hd_random_at(g->seed, g->drawn++) >> 11) + 0.5) * 0x1p-53,
               v = ((double)(hd_random_at(g->seed, g->drawn++) >> 11) + 0.5) * 0x1p-53;
  return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

typedef struct outcome {
  hd_probation end;
  uint32_t plan, launches; /* launched under the plan, and in all */
} outcome;

static outcome probation(gpu *g) {
  hd_turns *t;
  outcome r = {0};
  const hd_turns_options o = hd_probation_options(HD_TRUST_NONE, g->seed);
  assert_int_equal(hd_turns_open(&o, 2, &t, NULL), HD_OK);
  while ((r.end = hd_probation_look(t)) == HD_PROBATION_OPEN) {
    const uint32_t arm = hd_turns_next(t);
    if (arm == HD_TURNS_NONE) break;
    hd_turns_tell(t, arm, 1e-4 * exp(g->noise * normal(g)) / (arm ? g->speed : 1));
    r.plan += arm;
    r.launches++;
  }
  hd_turns_close(t);
  return r;
}

/* How many of N processes end so. */
enum { N = 1000 };
static unsigned count(double speed, double noise, hd_probation end) {
  unsigned n = 0;
  for (uint64_t seed = 1; seed <= N; seed++) {
    const outcome r = probation(&(gpu){.seed = seed, .speed = speed, .noise = noise});
    assert_true(r.end != HD_PROBATION_OPEN && r.launches <= 64);
    n += r.end == end;
  }
  return n;
}

static void a_plan_that_is_slower_does_not_stay(void **state) {
  for (double speed = 0.5; speed < 0.96; speed += 0.09) {
    const outcome r = probation(&(gpu){.seed = 1, .speed = speed});
    assert_int_equal(r.end, HD_PROBATION_BROKEN);
    assert_true(r.plan <= 8);
  }
  assert_true(count(0.95, 0.02, HD_PROBATION_KEPT) <= N / 100);
  assert_true(count(0.8, 0.1, HD_PROBATION_KEPT) <= N / 100);
  assert_true(count(0.5, 0.3, HD_PROBATION_KEPT) <= N / 100);
}

static void a_plan_that_is_faster_stays(void **state) {
  for (double speed = 1.02; speed < 2; speed += 0.1) {
    const outcome r = probation(&(gpu){.seed = 1, .speed = speed});
    assert_int_equal(r.end, HD_PROBATION_KEPT);
  }
  assert_true(count(1.05, 0.02, HD_PROBATION_KEPT) >= N - N / 100);
  assert_true(count(1.2, 0.1, HD_PROBATION_KEPT) >= N - N / 100);
}

static void a_plan_that_is_as_fast_is_seldom_said_to_be_slower(void **state) {
  assert_true(count(1, 0.01, HD_PROBATION_BROKEN) <= N / 50);
  assert_int_equal(probation(&(gpu){.seed = 1, .speed = 1}).end, HD_PROBATION_KEPT);
}

static void a_plan_far_behind_is_taken_back_before_the_bets_are_sure(void **state) {
  const outcome r = probation(&(gpu){.seed = 3, .speed = 0.2});
  assert_int_equal(r.end, HD_PROBATION_BROKEN);
  assert_true(r.plan <= 4);
}

static void pair(hd_turns *t, double original, double plan) {
  for (int k = 0; k < 2; k++) {
    const uint32_t arm = hd_turns_next(t);
    hd_turns_tell(t, arm, arm ? plan : original);
  }
}

static void launches_between_turns_follow_the_pairs_once_there_are_three(void **state) {
  hd_turns *t;
  const hd_turns_options o = hd_probation_options(HD_TRUST_KEPT, 1);
  assert_int_equal(hd_turns_open(&o, 2, &t, NULL), HD_OK);
  for (int k = 0; k < 2; k++) {
    assert_true(hd_probation_leads(t, true) && !hd_probation_leads(t, false));
    pair(t, 2, 1.9);
  }
  pair(t, 2, 1.9);
  assert_true(hd_probation_leads(t, false));
  for (int k = 0; k < 5; k++) pair(t, 2, 2.1);
  assert_true(!hd_probation_leads(t, true));
  hd_turns_close(t);
}

static void a_probation_that_can_go_on_no_longer_ends_by_its_median(void **state) {
  static const struct {
    double plan;
    hd_probation end;
  } cases[] = {{0.9, HD_PROBATION_KEPT}, {1.01, HD_PROBATION_UNSURE}, {1.1, HD_PROBATION_BROKEN}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_turns *t;
    const hd_turns_options o = hd_probation_options(HD_TRUST_NONE, 1);
    assert_int_equal(hd_turns_open(&o, 2, &t, NULL), HD_OK);
    for (int k = 0; k < 4; k++) pair(t, 1, cases[i].plan);
    assert_int_equal(hd_probation_look(t), HD_PROBATION_OPEN);
    hd_turns_finish(t);
    assert_int_equal(hd_probation_look(t), cases[i].end);
    hd_turns_close(t);
  }
  hd_turns *none;
  const hd_turns_options o = hd_probation_options(HD_TRUST_NONE, 1);
  assert_int_equal(hd_turns_open(&o, 2, &none, NULL), HD_OK);
  hd_turns_finish(none);
  assert_int_equal(hd_probation_look(none), HD_PROBATION_UNSURE);
  hd_turns_close(none);
}

static void a_plan_is_looked_at_again_after_sixteen_times_as_many_launches(void **state) {
  assert_int_equal(hd_probation_again(10), 4096);
  assert_int_equal(hd_probation_again(1000), 16000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a plan that is slower does not stay", a_plan_that_is_slower_does_not_stay),
      BEHAVIOUR("a plan that is faster stays", a_plan_that_is_faster_stays),
      BEHAVIOUR("a plan that is as fast is seldom said to be slower",
                a_plan_that_is_as_fast_is_seldom_said_to_be_slower),
      BEHAVIOUR("a plan far behind is taken back before the bets are sure",
                a_plan_far_behind_is_taken_back_before_the_bets_are_sure),
      BEHAVIOUR("launches between turns follow the pairs once there are three",
                launches_between_turns_follow_the_pairs_once_there_are_three),
      BEHAVIOUR("a probation that can go on no longer ends by its median",
                a_probation_that_can_go_on_no_longer_ends_by_its_median),
      BEHAVIOUR("a plan is looked at again after sixteen times as many launches",
                a_plan_is_looked_at_again_after_sixteen_times_as_many_launches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
