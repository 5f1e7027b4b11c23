/* The votes on a threshold of bypassing and on the number of agents: SMs that are faster run more CTAs, and
 * win. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tuner.h"

enum { MOST_SMS = 132 };

/* CTAs go to whichever SM is free first, as the hardware hands them out. */
static void dispatch(uint32_t n_sms, uint32_t tasks, const double *us, double spread, uint64_t seed,
                     uint32_t *ctas) {
  double free_at[MOST_SMS] = {0};
  for (uint32_t t = 0; t < tasks; t++) {
    uint32_t sm = 0;
    for (uint32_t i = 1; i < n_sms; i++)
      if (free_at[i] < free_at[sm]) sm = i;
    double work = 1 + spread * ((double)(hd_random_at(seed, t) >> 11) * 0x1p-53 - 0.5);
    free_at[sm] += us[sm] * work;
    ctas[sm]++;
  }
}

static void the_fastest_threshold_wins(void **state) {
  for (uint64_t seed = 0; seed < 60; seed++) {
    uint32_t ctas[HD_BALLOT_SMS] = {0}, warps = 1 + (uint32_t)(seed % 16);
    uint32_t n_sms = seed % 3 ? MOST_SMS : 84, best = (uint32_t)(hd_random_at(seed, 1) % (warps + 1));
    double us[MOST_SMS];
    hd_tune_vote v = {0};
    for (uint32_t i = 0; i < n_sms; i++)
      us[i] = hd_bypass_voted(warps, i) == best ? 10 : 10.5 + hd_bypass_voted(warps, i) % 3;
    dispatch(n_sms, 64 * n_sms, us, 0.5, seed, ctas);
    vote_count(ctas, HD_BALLOT_SMS, false, warps, &v);
    assert_int_equal(v.n, warps + 1);
    assert_int_equal(v.winner, best);
    /* A share is a speed: of two thresholds they are as the times are. */
    double mean = 0;
    uint32_t total = 0;
    for (uint32_t i = 0; i < n_sms; i++) mean += v.share[hd_bypass_voted(warps, i)] / n_sms, total += ctas[i];
    assert_int_equal(total, 64 * n_sms);
    assert_float_equal(mean, 1, 1e-9);
    uint32_t other = (best + 1) % v.n;
    assert_float_equal(v.share[best] / v.share[other], us[warps - other] / us[warps - best], 0.04);
  }
}

static void nothing_bypasses_where_it_makes_no_difference(void **state) {
  uint32_t ctas[HD_BALLOT_SMS] = {0};
  hd_tune_vote v = {0};
  for (uint32_t i = 0; i < 90; i++) ctas[i] = 70;
  vote_count(ctas, HD_BALLOT_SMS, false, 8, &v);
  assert_int_equal(v.winner, 8);
  for (uint32_t k = 0; k < v.n; k++) assert_float_equal(v.share[k], 1, 1e-12);
}

/* SMs that other programs hold ran nothing; a threshold whose SMs are all like that gets no votes. */
static void sms_that_are_not_there_do_not_vote(void **state) {
  uint32_t ctas[HD_BALLOT_SMS] = {0};
  hd_tune_vote v = {0};
  for (uint32_t i = 0; i < 32; i++)
    ctas[i] = hd_bypass_voted(3, i) == 2 ? 0 : hd_bypass_voted(3, i) == 1 ? 50 : 40;
  ctas[6] = 0; /* of threshold 1 */
  vote_count(ctas, HD_BALLOT_SMS, false, 3, &v);
  assert_int_equal(v.winner, 1);
  assert_float_equal(v.share[2], 0, 0);
  assert_float_equal(v.share[1] / v.share[0], 1.25, 1e-12);
  memset(ctas, 0, sizeof ctas);
  vote_count(ctas, HD_BALLOT_SMS, false, 3, &v);
  assert_int_equal(v.winner, 3);
}

static void the_fastest_number_of_agents_wins(void **state) {
  for (uint64_t seed = 0; seed < 60; seed++) {
    uint32_t ctas[HD_BALLOT_SMS] = {0}, most = 2 + (uint32_t)(seed % 15);
    const uint32_t n_sms = seed % 3 ? MOST_SMS : 84, best = 1 + (uint32_t)(hd_random_at(seed, 2) % most);
    double us[MOST_SMS];
    hd_tune_vote v = {0};
    for (uint32_t i = 0; i < n_sms; i++)
      us[i] = hd_agents_voted(most, i) == best ? 10 : 10.5 + hd_agents_voted(most, i) % 3;
    dispatch(n_sms, 64 * n_sms, us, 0.5, seed, ctas);
    vote_count(ctas, HD_BALLOT_SMS, true, most, &v);
    assert_int_equal(v.n, most);
    assert_int_equal(v.least, 1);
    assert_int_equal(v.winner, best);
    const uint32_t other = best % most + 1;
    assert_float_equal(v.share[best - 1] / v.share[other - 1], us[other - 1] / us[best - 1], 0.04);
  }
}

static void of_equals_most_agents_win(void **state) {
  uint32_t ctas[HD_BALLOT_SMS] = {0};
  hd_tune_vote v = {0};
  for (uint32_t i = 0; i < 90; i++) ctas[i] = hd_agents_voted(6, i) > 1 ? 70 : 60;
  vote_count(ctas, HD_BALLOT_SMS, true, 6, &v);
  assert_int_equal(v.winner, 6);
  for (uint32_t i = 0; i < 90; i++) ctas[i] = hd_agents_voted(6, i) == 1 ? 70 : 60;
  vote_count(ctas, HD_BALLOT_SMS, true, 6, &v);
  assert_int_equal(v.winner, 1);
}

/* An H100's space, but for what a case says. */
static void where_agents_cannot_vote_it_is_said(void **state) {
  static const struct {
    hd_plan_space s;
    const char *why;
  } cases[] = {
      {{.tasks = 100000, .n_sms = 132, .resident = 8, .can_order = true}, "cannot run as agents"},
      {{.tasks = 100000, .n_sms = 132, .resident = 8, .can_loop = true}, "cannot run as agents"},
      {{.tasks = 100000, .n_sms = 132, .resident = 1, .can_order = true, .can_loop = true}, "one CTA fits"},
      {{.tasks = 100000, .n_sms = 132, .can_order = true, .can_loop = true}, "not known"},
      {{.tasks = 100000, .n_sms = 15, .resident = 16, .can_order = true, .can_loop = true},
       "16 numbers of agents, and 15 SMs to try them"},
      {{.tasks = 132 * 8 * 8 - 1, .n_sms = 132, .resident = 8, .can_order = true, .can_loop = true},
       "7 waves of CTAs"},
  };
  const hd_plan agents = {.bind = HD_BIND_AGENTS, .agents_voted = true};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_tune_vote v;
    vote_take(NULL, &cases[i].s, &agents, 0, &v);
    if (!strstr(v.why, cases[i].why)) fail_msg("case %zu: %s", i, v.why);
    assert_int_equal(v.n, 0);
    assert_string_equal(v.plan, "bind=agents");
  }
}

static void only_the_voted_number_of_agents_is_tried(void **state) {
  hd_plan_space s = {.grid = {64, 40, 1},
                     .block = {256, 1, 1},
                     .tasks = 2560,
                     .n_sms = 4,
                     .resident = 8,
                     .warps = 8,
                     .can_order = true,
                     .can_loop = true,
                     .has_agents_vote = true};
  hd_candidate list[HD_CANDIDATES];
  for (uint32_t voted = 1; voted <= 8; voted++) {
    unsigned fewer = 0, all = 0;
    s.agents_vote = voted;
    size_t n = hd_candidates(&s, list, HD_CANDIDATES);
    for (size_t i = 0; i < n; i++) {
      if (list[i].plan.bind != HD_BIND_AGENTS) continue;
      if (list[i].plan.agents) assert_int_equal(list[i].plan.agents, voted);
      fewer += list[i].plan.agents != 0;
      all += !list[i].plan.agents;
    }
    assert_true(all > 0);
    assert_int_equal(fewer > 0, voted < 8);
  }
}

static void only_the_voted_threshold_is_tried(void **state) {
  hd_plan_space s = {.grid = {640, 1, 1},
                     .block = {256, 1, 1},
                     .tasks = 640,
                     .n_sms = 4,
                     .resident = 8,
                     .warps = 8,
                     .loads = 2};
  hd_candidate list[HD_CANDIDATES];
  for (uint32_t voted = 0; voted <= 8; voted++) {
    unsigned l1 = 0, stream = 0;
    s.has_vote = true;
    s.vote = voted;
    size_t n = hd_candidates(&s, list, HD_CANDIDATES);
    for (size_t i = 0; i < n; i++) {
      stream += list[i].plan.stream.kind == HD_STREAM_L1;
      if (list[i].plan.bypass.kind != HD_BYPASS_L1) continue;
      assert_int_equal(list[i].plan.bypass.warps, voted);
      l1++;
    }
    assert_int_equal(l1, voted < 8); /* all eight: nothing bypasses */
    assert_int_equal(stream, voted == 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the threshold whose SMs are fastest wins the vote, and shares are speeds",
                the_fastest_threshold_wins),
      BEHAVIOUR("where the threshold makes no difference nothing bypasses",
                nothing_bypasses_where_it_makes_no_difference),
      BEHAVIOUR("SMs that ran nothing do not vote", sms_that_are_not_there_do_not_vote),
      BEHAVIOUR("the number of agents whose SMs are fastest wins the vote",
                the_fastest_number_of_agents_wins),
      BEHAVIOUR("of equals most agents win", of_equals_most_agents_win),
      BEHAVIOUR("where agents cannot vote it is said why", where_agents_cannot_vote_it_is_said),
      BEHAVIOUR("of the numbers of agents only the voted one is tried",
                only_the_voted_number_of_agents_is_tried),
      BEHAVIOUR("of the thresholds only the voted one is tried", only_the_voted_threshold_is_tried),
  };
  return cmocka_run_group_tests_name("tune.vote", tests, NULL, NULL);
}
