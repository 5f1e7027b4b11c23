/* Plans on a simulated launch: which are tried, which are followed, which wins. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/contest.h"

typedef struct launch {
  uint64_t seed, drawn;
  double clock, seconds, noise, making; /* clock: seconds that went by */
  double (*speed)(const hd_plan *p);
  bool (*is_wrong)(const hd_plan *p);   /* it leaves other bytes */
  hd_status (*makes)(const hd_plan *p); /* NULL: all are made */
  hd_status (*runs)(const hd_plan *p, uint32_t run);
  bool varies;   /* the original's bytes do */
  double colder; /* plans are slower by that factor in the second state */
  uint32_t held, made, asked, state, runs_of_original;
  size_t announced;
} launch;

typedef struct variant {
  hd_plan plan;
  uint32_t runs;
} variant;

static double uniform(launch *l) {
  return ((double)(hd_random_at(l->seed, l->drawn++) >> 11) + 0.5) * 0x1p-53;
}
static double normal(launch *l) {
  double u = uniform(l), v = uniform(l);
  return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static hd_status make(void *ctx, const hd_plan *p, void **out, hd_diag *d) {
  launch *l = ctx;
  l->clock += l->making;
  hd_status st = l->makes ? l->makes(p) : HD_OK;
  if (st != HD_OK) return hd_fail(d, st, "it cannot be made");
  variant *v = calloc(1, sizeof *v);
  assert_non_null(v);
  v->plan = *p;
  *out = v;
  l->held++, l->made++;
  return HD_OK;
}

static void drop(void *ctx, void *v) {
  ((launch *)ctx)->held--;
  free(v);
}

static hd_status run(void *ctx, void *of, double *seconds, bool *same, hd_diag *d) {
  launch *l = ctx;
  variant *v = of;
  *seconds = l->seconds * exp(l->noise * normal(l)) / (v && l->speed ? l->speed(&v->plan) : 1);
  if (l->state && v) *seconds *= l->colder;
  l->runs_of_original += !v;
  l->clock += *seconds;
  l->asked += same != NULL;
  if (same) *same = v ? !l->is_wrong || !l->is_wrong(&v->plan) : !l->varies;
  hd_status st = v && l->runs ? l->runs(&v->plan, v->runs++) : HD_OK;
  return st == HD_OK ? HD_OK : hd_fail(d, st, "it cannot be run");
}

static double now(void *ctx) { return ((launch *)ctx)->clock; }

static void enter(void *ctx, uint32_t state) { ((launch *)ctx)->state = state; }

static hd_contest_bench bench_of(launch *l) {
  return (hd_contest_bench){.ctx = l,
                            .make = make,
                            .drop = drop,
                            .run = run,
                            .now = now,
                            .states = l->colder > 0 ? 2 : 0,
                            .enter = enter};
}

/* ---- Launches ---- */

static bool is(const hd_plan *p, const char *text) {
  hd_plan q;
  assert_int_equal(hd_plan_parse(text, &q, NULL), HD_OK);
  return hd_plan_equal(p, &q);
}

static double one_gains_five(const hd_plan *p) { return is(p, "order=col") ? 1.05 : 0.98; }
static double all_are_equal(const hd_plan *p) { return 1; }
static double two_levers(const hd_plan *p) {
  return (p->order.kind == HD_ORDER_COL ? 1.06 : 0.99) * (p->bypass.kind == HD_BYPASS_L2 ? 1.05 : 0.99);
}
static bool col_is_wrong(const hd_plan *p) { return p->order.kind == HD_ORDER_COL; }
static hd_status orders_are_refused(const hd_plan *p) { return p->order.kind ? HD_ERR_REFUSED : HD_OK; }
static hd_status device_is_lost(const hd_plan *p) { return HD_ERR_FAULT; }
static double all_lose_two(const hd_plan *p) { return 0.98; }
static hd_status col_runs_twice(const hd_plan *p, uint32_t n) {
  return p->order.kind == HD_ORDER_COL && n > 2 ? HD_ERR_UNSUPPORTED : HD_OK;
}
static hd_status col_cannot_go_on(const hd_plan *p, uint32_t n) {
  return p->order.kind == HD_ORDER_COL && n > 8 ? HD_ERR_UNSUPPORTED : HD_OK;
}

static const hd_plan_space plane = {.grid = {64, 64, 1},
                                    .block = {256, 1, 1},
                                    .tasks = 4096,
                                    .n_sms = 132,
                                    .resident = 4,
                                    .warps = 8,
                                    .loads = 2,
                                    .can_order = true};

typedef struct outcome {
  hd_status status;
  hd_contest_seen seen; /* finalists are gone */
  hd_contest_end end;   /* plan and variant are */
  char plan[200];
} outcome;

static hd_status open_contest(launch *l, const hd_contest_options *o, hd_contest **out) {
  static hd_candidate list[HD_CANDIDATES];
  const hd_contest_bench b = bench_of(l);
  return hd_contest_open(&b, o, &plane, list, hd_candidates(&plane, list, HD_CANDIDATES), out, NULL);
}

static outcome hold(launch *l, const hd_contest_options *o) {
  hd_contest *c;
  outcome out = {.status = open_contest(l, o, &c)};
  if (out.status == HD_OK) hd_contest_look(c, &out.seen);
  if (out.status == HD_OK) out.status = hd_contest_decide(c, &out.end, NULL);
  if (out.status == HD_OK && out.end.plan) {
    hd_buf text = {0};
    hd_plan_print(out.end.plan, &text);
    snprintf(out.plan, sizeof out.plan, "%s", text.data);
    hd_buf_free(&text);
  }
  hd_contest_close(c);
  assert_int_equal(l->held, 0);
  return out;
}

static launch launch_of(uint64_t seed, double noise, double (*speed)(const hd_plan *p)) {
  return (launch){
      .seed = hd_random_at(5, seed), .seconds = 1e-3, .noise = noise, .making = 0.01, .speed = speed};
}

/* ---- Behaviours ---- */

static void the_plan_that_gains_wins(void **state) {
  unsigned won = 0;
  for (uint64_t i = 0; i < 40; i++) {
    launch l = launch_of(i, 0.005, one_gains_five);
    outcome o = hold(&l, &(hd_contest_options){.budget = 10, .seed = i});
    won += o.end.won && strcmp(o.plan, "order=col") == 0;
    if (o.end.won)
      assert_true(o.end.before > o.end.after && o.end.speedup.low > 1.01 && o.end.speedup.pairs >= 8);
  }
  assert_true(won >= 38);
}

static void equal_plans_win_no_more_often_than_promised(void **state) {
  enum { CONTESTS = 400 };
  unsigned won = 0;
  for (uint64_t i = 0; i < CONTESTS; i++) {
    launch l = launch_of(i, 0.02, all_are_equal);
    l.making = 0.001;
    won += hold(&l, &(hd_contest_options){.budget = 2, .error = 0.05, .gain = 1, .seed = i}).end.won;
  }
  assert_in_range(won, 0, 20 + 4 * 4 + 1); /* 5%, and four standard deviations */
}

static void families_that_gain_are_joined(void **state) {
  launch l = launch_of(1, 0.002, two_levers);
  outcome o = hold(&l, &(hd_contest_options){.budget = 10});
  assert_true(o.end.won);
  assert_non_null(strstr(o.plan, "order=col"));
  assert_non_null(strstr(o.plan, "bypass=l2"));
}

static void a_plan_that_leaves_other_bytes_is_not_followed(void **state) {
  launch l = launch_of(1, 0.002, one_gains_five);
  l.is_wrong = col_is_wrong;
  outcome o = hold(&l, &(hd_contest_options){.budget = 10});
  assert_false(o.end.won);
  assert_true(o.seen.wrong > 0 && l.asked == o.seen.tried + 1);
}

static void plans_that_cannot_be_made_are_left_out(void **state) {
  launch l = launch_of(1, 0.002, one_gains_five), all = launch_of(1, 0.002, one_gains_five);
  l.makes = orders_are_refused;
  outcome o = hold(&l, &(hd_contest_options){.budget = 10}),
          whole = hold(&all, &(hd_contest_options){.budget = 10});
  assert_int_equal(o.status, HD_OK);
  assert_false(o.end.won);
  assert_true(o.seen.tried > 0 && whole.end.won);
}

static void a_device_that_is_lost_is_the_end(void **state) {
  launch l = launch_of(1, 0.002, one_gains_five);
  l.makes = device_is_lost;
  assert_int_equal(hold(&l, &(hd_contest_options){.budget = 10}).status, HD_ERR_FAULT);
}

static void a_finalist_that_cannot_go_on_goes_out(void **state) {
  launch l = launch_of(1, 0.002, one_gains_five);
  l.runs = col_cannot_go_on;
  outcome o = hold(&l, &(hd_contest_options){.budget = 10});
  assert_int_equal(o.status, HD_OK);
  assert_false(o.end.won);
}

static void a_plan_that_cannot_be_measured_does_not_end_the_search(void **state) {
  launch l = launch_of(1, 0.002, two_levers);
  l.runs = col_runs_twice;
  outcome o = hold(&l, &(hd_contest_options){.budget = 10});
  assert_int_equal(o.status, HD_OK);
  assert_true(o.end.won);
  assert_null(strstr(o.plan, "order=col"));
}

static void a_plan_must_win_in_every_state(void **state) {
  launch l = launch_of(1, 0.002, one_gains_five), cold = l;
  l.colder = 1.02;
  outcome o = hold(&l, &(hd_contest_options){.budget = 10});
  assert_true(o.end.won && o.end.speedup.median < 1.04);
  cold.colder = 1.05;
  o = hold(&cold, &(hd_contest_options){.budget = 10});
  assert_false(o.end.won);
  assert_true(o.end.speedup.low < 1.01);
}

static void a_decision_ends_after_so_many_rounds(void **state) {
  launch l = launch_of(1, 0.3, one_gains_five);
  hd_contest *c;
  hd_contest_end end;
  assert_int_equal(open_contest(&l, &(hd_contest_options){.budget = 100, .gain = 1.04, .most = 12}, &c),
                   HD_OK);
  l.runs_of_original = 0;
  assert_int_equal(hd_contest_decide(c, &end, NULL), HD_OK);
  assert_in_range(l.runs_of_original, 1, 5 * 12 / 2); /* arms that go out leave their launches to others */
  assert_false(end.won || end.decided);
  hd_contest_close(c);
}

static void below_a_gain_of_one_the_best_plan_wins(void **state) {
  launch l = launch_of(1, 0.002, all_lose_two);
  assert_true(hold(&l, &(hd_contest_options){.budget = 10, .gain = 0.9, .least = 0.9}).end.won);
  assert_false(hold(&l, &(hd_contest_options){.budget = 10, .gain = 0.99, .least = 0.9}).end.won);
}

static void finalists_are_handed_over(void **state) {
  launch l = launch_of(1, 0.002, all_lose_two);
  hd_contest_seen seen;
  hd_contest *c;
  l.seconds = 1; /* too long for a decision */
  assert_int_equal(open_contest(&l, &(hd_contest_options){.budget = 8, .handed = true, .least = 0.95}, &c),
                   HD_OK);
  hd_contest_look(c, &seen);
  assert_true(seen.n_finalists > 1 && seen.tried >= seen.n_finalists && seen.untried > 0);
  assert_true(seen.finalists[0].speedup >= seen.finalists[1].speedup);
  const variant *first = seen.finalists[0].variant;
  assert_true(hd_plan_equal(&first->plan, seen.finalists[0].plan));
  hd_contest_take(c, first);
  hd_contest_look(c, &seen);
  assert_ptr_not_equal(seen.finalists[0].variant, first);
  hd_contest_close(c);
  assert_int_equal(l.held, 1);
  drop(&l, seen.n_finalists ? (void *)(uintptr_t)first : NULL);
}

static void an_original_whose_bytes_vary_is_left_alone(void **state) {
  launch l = launch_of(1, 0.002, one_gains_five);
  l.varies = true;
  assert_int_equal(hold(&l, &(hd_contest_options){.budget = 10}).status, HD_ERR_REFUSED);
}

/* Two plans seem to win, and there is time for a decision about one, or not even that. */
static void what_the_time_cut_off_is_not_decided(void **state) {
  unsigned open = 0, ended = 0;
  for (unsigned i = 0; i < 200; i++) {
    launch l = launch_of(i, 0.2, two_levers);
    l.seconds = 0.005 + 0.0005 * (i % 40);
    const outcome o = hold(&l, &(hd_contest_options){.budget = 0.6 + 0.01 * i});
    if (o.status == HD_ERR_BUDGET) continue;
    assert_int_equal(o.status, HD_OK);
    ended += !o.end.won && o.end.decided && o.end.plan;
    open += !o.end.decided;
  }
  assert_true(open > 0);
  assert_true(open > 0);
  assert_int_equal(ended, 0); /* finalists that luck put first lost, and others were dropped for time */
}

static void it_ends_in_time(void **state) {
  static const double budgets[] = {0.1, 0.3, 1, 3};
  for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
    launch l = launch_of(i, 0.05, all_are_equal);
    outcome o = hold(&l, &(hd_contest_options){.budget = budgets[i]});
    assert_int_equal(o.status, HD_OK);
    assert_true(l.clock < budgets[i] + 0.1); /* the decision's rounds */
  }
  launch slow = launch_of(1, 0.01, one_gains_five);
  slow.seconds = 2;
  assert_int_equal(hold(&slow, &(hd_contest_options){.budget = 1}).status, HD_ERR_BUDGET);
}

static void candidates_are_ordered_by_their_priors(void **state) {
  hd_candidate list[] = {{.plan = {.order = {.kind = HD_ORDER_REVERSE}}, .prior = 0.5},
                         {.plan = {.order = {.kind = HD_ORDER_COL}}, .prior = 0.9},
                         {.prior = 1},
                         {.plan = {.order = {.kind = HD_ORDER_HILBERT}}, .prior = 0.5},
                         {.plan = {.order = {.kind = HD_ORDER_COL}}, .prior = 0.2}};
  assert_int_equal(hd_contest_order(list, 5), 3);
  assert_int_equal(list[0].plan.order.kind, HD_ORDER_COL);
  assert_int_equal(list[1].plan.order.kind, HD_ORDER_REVERSE);
  assert_int_equal(list[2].plan.order.kind, HD_ORDER_HILBERT);
}

static void announce(void *ctx, const hd_plan *const *plans, size_t n) {
  for (size_t i = 0; i < n; i++) assert_false(hd_plan_is_baseline(plans[i]));
  ((launch *)ctx)->announced += n;
}

static void plans_are_announced_before_they_are_made(void **state) {
  static hd_candidate list[HD_CANDIDATES];
  launch l = launch_of(1, 0.002, one_gains_five);
  hd_contest_bench b = bench_of(&l);
  hd_contest *c;
  b.ahead = announce;
  assert_int_equal(hd_contest_open(&b, &(hd_contest_options){.budget = 10}, &plane, list,
                                   hd_candidates(&plane, list, HD_CANDIDATES), &c, NULL),
                   HD_OK);
  assert_true(l.announced >= l.made && l.made > 20);
  hd_contest_close(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the plan that gains wins", the_plan_that_gains_wins),
      BEHAVIOUR("equal plans win no more often than promised", equal_plans_win_no_more_often_than_promised),
      BEHAVIOUR("families that gain are joined", families_that_gain_are_joined),
      BEHAVIOUR("a plan that leaves other bytes is not followed",
                a_plan_that_leaves_other_bytes_is_not_followed),
      BEHAVIOUR("plans that cannot be made are left out", plans_that_cannot_be_made_are_left_out),
      BEHAVIOUR("a device that is lost is the end", a_device_that_is_lost_is_the_end),
      BEHAVIOUR("a finalist that cannot go on goes out", a_finalist_that_cannot_go_on_goes_out),
      BEHAVIOUR("a plan that cannot be measured does not end the search",
                a_plan_that_cannot_be_measured_does_not_end_the_search),
      BEHAVIOUR("a plan must win in every state", a_plan_must_win_in_every_state),
      BEHAVIOUR("a decision ends after so many rounds", a_decision_ends_after_so_many_rounds),
      BEHAVIOUR("below a gain of one the best plan wins", below_a_gain_of_one_the_best_plan_wins),
      BEHAVIOUR("finalists are handed over", finalists_are_handed_over),
      BEHAVIOUR("an original whose bytes vary is left alone", an_original_whose_bytes_vary_is_left_alone),
      BEHAVIOUR("what the time cut off is not decided", what_the_time_cut_off_is_not_decided),
      BEHAVIOUR("it ends in time", it_ends_in_time),
      BEHAVIOUR("candidates are ordered by their priors", candidates_are_ordered_by_their_priors),
      BEHAVIOUR("plans are announced before they are made", plans_are_announced_before_they_are_made),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
