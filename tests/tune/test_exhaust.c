/* Every plan measured, on simulated devices. */
#include "contest/simulated.h"

#include "tune/exhaust.h"

/* One plan that no candidate is, two steps from one that is: order=band:8 with loads by the read-only path.
 */
static double two_steps(const simulated *s, const hd_plan *p) {
  const hd_plan only = {.order = p->order, .bypass = p->bypass};
  if (!hd_plan_equal(p, &only)) return 0.9;
  double x = p->order.kind == HD_ORDER_BAND && p->order.a == 8 ? 1.05 : p->order.kind ? 0.97 : 1;
  return p->bypass.kind == HD_BYPASS_READONLY ? x * (1.1 - 0.01 * p->bypass.warps)
                                              : x * (p->bypass.kind ? 0.95 : 1);
}

static double mostly_hopeless(const simulated *s, const hd_plan *p) {
  return p->order.kind != HD_ORDER_ROW ? 1.2 : 0.2;
}

static simulated device(double (*speedup)(const simulated *s, const hd_plan *p)) {
  return (simulated){.seed = 3, .base_us = 500, .noise = 0.002, .speedup = speedup, .admission = 0.01};
}

static void finds_the_best_plan_there_is(void **state) {
  static simulated s;
  exhaust x = {0};
  exhaust_options o = {0};
  hd_diag d = {0};
  size_t best;
  s = device(two_steps);
  tuner_bench b = bench_of(&s);
  assert_int_equal(exhaust_run(&x, &b, &plane, &o, &d), HD_OK);
  assert_true(x.complete);
  assert_int_equal(s.held, 0);
  assert_true(x.trials.n >= hd_candidates(&plane, NULL, 0));
  assert_int_equal(exhaust_rank(&x, &best, 1), 1);
  const hd_plan want = {.order = {.kind = HD_ORDER_BAND, .a = 8}, .bypass = {HD_BYPASS_READONLY, 0}};
  assert_true(hd_plan_equal(&x.trials.data[best].plan, &want));
  for (size_t i = 0; i < x.trials.n; i++) {
    const search_trial *t = &x.trials.data[i];
    assert_true(fabs(t->score / two_steps(&s, &t->plan) - 1) < 0.02);
  }
  exhaust_free(&x);
}

static hd_status count(void *ctx, const search_trial *t, hd_diag *d) {
  ++*(size_t *)ctx;
  return HD_OK;
}

static void goes_on_where_an_earlier_run_ended(void **state) {
  static simulated s;
  exhaust part = {0}, rest = {0}, all = {0};
  hd_diag d = {0};
  size_t first = 0, then = 0;
  s = device(two_steps);
  tuner_bench b = bench_of(&s);
  exhaust_options o = {.seconds = 2, .found = count, .ctx = &first};
  assert_int_equal(exhaust_run(&part, &b, &plane, &o, &d), HD_OK);
  assert_false(part.complete);
  assert_true(s.clock < 3 && first > 10);
  for (size_t i = 0; i < part.trials.n; i++)
    if (part.trials.data[i].score > 0) assert_int_equal(exhaust_put(&rest, &part.trials.data[i], &d), HD_OK);
  o = (exhaust_options){.found = count, .ctx = &then};
  assert_int_equal(exhaust_run(&rest, &b, &plane, &o, &d), HD_OK);
  assert_true(rest.complete);
  assert_int_equal(first + then, rest.trials.n);
  o = (exhaust_options){0};
  assert_int_equal(exhaust_run(&all, &b, &plane, &o, &d), HD_OK);
  assert_int_equal(all.trials.n, rest.trials.n);
  exhaust_free(&part);
  exhaust_free(&rest);
  exhaust_free(&all);
}

static void hopeless_plans_run_once(void **state) {
  static simulated s;
  exhaust x = {0};
  exhaust_options o = {0};
  hd_diag d = {0};
  unsigned once = 0;
  s = device(mostly_hopeless);
  tuner_bench b = bench_of(&s);
  assert_int_equal(exhaust_run(&x, &b, &plane, &o, &d), HD_OK);
  for (size_t i = 0; i < x.trials.n; i++) {
    const search_trial *t = &x.trials.data[i];
    assert_true(t->score > 0);
    if (t->n == 1) assert_true(t->plan.order.kind == HD_ORDER_ROW);
    once += t->n == 1;
  }
  assert_true(once > 20);
  exhaust_free(&x);
}

static void refused_plans_are_told_and_devices_that_are_lost_end_it(void **state) {
  static simulated s;
  exhaust x = {0};
  exhaust_options o = {0};
  hd_diag d = {0};
  unsigned refused = 0;
  s = device(two_steps);
  s.refused_every = 3;
  tuner_bench b = bench_of(&s);
  assert_int_equal(exhaust_run(&x, &b, &plane, &o, &d), HD_OK);
  for (size_t i = 0; i < x.trials.n; i++) {
    if (x.trials.data[i].status == HD_OK) continue;
    assert_string_equal(x.trials.data[i].why, "not this one");
    refused++;
  }
  assert_true(x.complete && refused > 20);
  exhaust_free(&x);
  s = device(two_steps);
  s.luck = NULL;
  for (uint32_t n = 1; n < 60; n += 7) {
    s = device(two_steps);
    s.lost_at = n;
    exhaust lost = {0};
    assert_int_equal(exhaust_run(&lost, &b, &plane, &o, &d), HD_ERR_FAULT);
    assert_int_equal(s.held, 0);
    exhaust_free(&lost);
  }
}

static double no_luck(const simulated *s, uint64_t plan, uint32_t place) { return 1; }

static void a_contest_tells_each_plan_beside_the_original(void **state) {
  static const hd_plan plans[] = {{.order = {.kind = HD_ORDER_BAND, .a = 8}},
                                  {.order = {.kind = HD_ORDER_COL}},
                                  {.bypass = {HD_BYPASS_READONLY, 0}}};
  static simulated s;
  hd_speedup speedups[3];
  hd_diag d = {0};
  for (int moves = 0; moves < 2; moves++) {
    s = device(two_steps);
    if (moves) s.luck = no_luck;
    tuner_bench b = bench_of(&s);
    assert_int_equal(exhaust_contest(&b, NULL, plans, 3, 24, 8, speedups, &d), HD_OK);
    assert_int_equal(s.held, 0);
    assert_int_equal(s.place, moves ? 8 : 0);
    for (int i = 0; i < 3; i++) {
      assert_int_equal(speedups[i].pairs, 24);
      assert_true(fabs(speedups[i].median / two_steps(&s, &plans[i]) - 1) < 0.01);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the best plan is found, one that no candidate is too", finds_the_best_plan_there_is),
      BEHAVIOUR("what an earlier run measured is not measured again", goes_on_where_an_earlier_run_ended),
      BEHAVIOUR("what is three times as slow as the best runs once", hopeless_plans_run_once),
      BEHAVIOUR("refused plans are told; a device that is lost ends it, and nothing stays loaded",
                refused_plans_are_told_and_devices_that_are_lost_end_it),
      BEHAVIOUR("a contest measures all plans in the same rounds, wherever buffers lie",
                a_contest_tells_each_plan_beside_the_original),
  };
  return cmocka_run_group_tests_name("tune.exhaust", tests, NULL, NULL);
}
