/* What an optimization says of work that was left undone. */
#include "check.h"
#include "tune/undone.h"

#include <stdio.h>
#include <string.h>

static hd_sweep_row row(hd_order_kind kind, double us, hd_status st, hd_bound b) {
  return (hd_sweep_row){
      .plan.order.kind = kind, .status = st, .bound = b, .counters.time_us = us, .why = "why"};
}

/* Nothing is said of plans that were not replayed, or not looked at again. */
static void why_no_plan_is_kept_is_true_of_what_was_done(void **state) {
  const hd_sweep_row original = row(HD_ORDER_ROW, 12, HD_OK, HD_BOUND_NONE),
                     slow = row(HD_ORDER_COL, 13, HD_OK, HD_BOUND_NONE),
                     untried = row(HD_ORDER_COL, 0, HD_ERR_BUDGET, HD_BOUND_TIME),
                     unlooked = row(HD_ORDER_COL, 10, HD_ERR_BUDGET, HD_BOUND_TIME),
                     faster = row(HD_ORDER_REVERSE, 8, HD_ERR_BUDGET, HD_BOUND_MEMORY);
  const struct {
    hd_sweep_row rows[3];
    bool unproved;
    unsigned ended;
    const char *why;
  } cases[] = {
      {{original, untried, untried}, false, 0, "no plan but the default was replayed"},
      {{original, slow, untried},
       false,
       0,
       "1 of 2 plans replayed, and no such plan gains enough and can be proved"},
      {{original, slow, unlooked},
       true,
       1u << HD_BOUND_TIME,
       "the time was over before a plan was looked at again (next: order=col, predicted 1.20x; a longer "
       "--wall)"},
      {{original, unlooked, faster},
       true,
       1u << HD_BOUND_MEMORY,
       "the traces' memory was over its limit before a plan was looked at again (next: order=reverse, "
       "predicted "
       "1.50x; a smaller --size)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_sweep_row rows[3];
    memcpy(rows, cases[i].rows, sizeof rows);
    hd_optimized z = {.rows = rows, .n_rows = 3};
    undone_explain(&z);
    assert_string_equal(z.why, cases[i].why);
    assert_int_equal(z.unproved, cases[i].unproved);
    assert_int_equal(z.ended, cases[i].ended);
  }
}

/* A plan's own bound counts whether or not it was stopped; a stop is no bound. */
static void every_bound_that_left_a_row_undone_counts(void **state) {
  for (int stopped = 0; stopped < 2; stopped++) {
    hd_sweep_row rows[] = {row(HD_ORDER_ROW, 12, HD_OK, HD_BOUND_NONE),
                           row(HD_ORDER_COL, 0, HD_ERR_BUDGET, HD_BOUND_WORK),
                           row(HD_ORDER_REVERSE, 0, HD_OK, HD_BOUND_NONE)};
    hd_optimized z = {.rows = rows, .n_rows = 3, .stopped = stopped};
    undone_count(&z, 2);
    assert_int_equal(z.late, 2);
    assert_int_equal(z.ended, 1u << HD_BOUND_WORK | (stopped ? 0 : 1u << HD_BOUND_TIME));
    assert_int_equal(rows[2].status, HD_ERR_BUDGET);
    assert_string_equal(rows[2].why, stopped ? "the search was stopped before it was replayed"
                                             : "the time was over before it was replayed");
    assert_string_equal(rows[1].why, "why");
    assert_false(hd_optimize_answers(&z));
  }
}

static void without_a_replay_of_the_default_its_bound_is_named(void **state) {
  static const char *const remedies[] = {[HD_BOUND_TIME] = "a longer --wall",
                                         [HD_BOUND_WORK] = "a larger --budget, above 60",
                                         [HD_BOUND_MEMORY] = "a smaller --size"};
  for (hd_bound b = HD_BOUND_TIME; b <= HD_BOUND_MEMORY; b++) {
    hd_sweep_row rows[] = {row(HD_ORDER_ROW, 0, HD_ERR_BUDGET, b)};
    hd_optimized z = {.rows = rows, .n_rows = 1};
    char want[64];
    snprintf(want, sizeof want, "no plan was tried: why (%s)", remedies[b]);
    undone_know_nothing(&z);
    assert_string_equal(z.why, want);
  }
}

/* Its reason is not the plan's, whatever the status: only what ends all work is a failure. */
static void a_proof_that_could_not_be_made_is_no_verdict_on_the_plan(void **state) {
  for (hd_status st = HD_ERR_INPUT; st <= HD_ERR_MISSING; st++) {
    hd_sweep_row rows[] = {row(HD_ORDER_ROW, 12, HD_OK, HD_BOUND_NONE),
                           row(HD_ORDER_COL, 10, HD_OK, HD_BOUND_NONE)};
    hd_optimized z = {.rows = rows, .n_rows = 2, .best = 1};
    const bool own = st != HD_ERR_INPUT && st != HD_ERR_IO && st != HD_ERR_NOMEM && st != HD_ERR_FAULT;
    hd_diag e, d = {0};
    hd_fail(&e, st, "no compiler");
    assert_int_equal(undone_lack_proof(&z, &rows[1], &e, &d), own ? HD_OK : st);
    assert_int_equal(rows[1].status, HD_OK);
    assert_int_equal(hd_optimize_answers(&z), !own);
    if (!own) {
      assert_string_equal(d.message, "no compiler");
      continue;
    }
    assert_int_equal(z.best, 0);
    assert_true(z.unproved);
    assert_string_equal(z.why, "no proof could be made here: no compiler (next: order=col, predicted 1.20x)");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("why no plan is kept is true of what was done", why_no_plan_is_kept_is_true_of_what_was_done),
      BEHAVIOUR("every bound that left a row undone counts", every_bound_that_left_a_row_undone_counts),
      BEHAVIOUR("without a replay of the default its bound is named",
                without_a_replay_of_the_default_its_bound_is_named),
      BEHAVIOUR("a proof that could not be made is no verdict on the plan",
                a_proof_that_could_not_be_made_is_no_verdict_on_the_plan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
