/* The best plan of each lever alone, of workloads of several kernels. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tune/tuning.h"

typedef struct kernel_case {
  double us;      /* of all its launches under the original */
  double speedup; /* of its only trial of bypassing; 0: it has none */
} kernel_case;

static double score_of(const kernel_case *kernels, uint32_t n) {
  hd_tuned tuned[4] = {0};
  hd_tune_trial trials[4] = {0};
  hd_tuning t = {.kernels = tuned, .n_kernels = n};
  hd_kernel_plan room[4];
  hd_plan_set plans = {.kernels = room};
  double score;
  hd_diag d = {0};
  for (uint32_t i = 0; i < n; i++) {
    trials[i] = (hd_tune_trial){.speedup = kernels[i].speedup, .pairs = 3};
    assert_int_equal(hd_plan_parse("bypass=ro:1", &trials[i].plan, &d), HD_OK);
    tuned[i] =
        (hd_tuned){.before_us = kernels[i].us, .trials = &trials[i], .n_trials = kernels[i].speedup > 0};
    snprintf(tuned[i].kernel, sizeof tuned[i].kernel, "%c", (char)('a' + i));
  }
  int bypass = 3;
  assert_string_equal(tuning_lever_names[bypass], "bypass");
  tuning_best_alone(&t, bypass, &plans, &score);
  size_t plans_wanted = 0;
  for (uint32_t i = 0; i < n; i++) plans_wanted += kernels[i].speedup > 0;
  assert_int_equal(plans.n, plans_wanted);
  return score;
}

static void a_lever_counts_for_the_whole_workload(void **state) {
  static const struct {
    kernel_case kernels[4];
    uint32_t n;
    double score;
  } cases[] = {
      {{{100, 2}}, 1, 2},
      {{{100, 0.5}}, 1, 0.5},
      {{{100, 0}}, 1, 0},                      /* no such plan */
      {{{100, 4}, {100, 0}}, 2, 200 / 125.},   /* a kernel without one stays as it is */
      {{{100, 0}, {100, 4}}, 2, 200 / 125.},   /* whichever comes first */
      {{{300, 3}, {100, 0.5}}, 2, 400 / 300.}, /* one that loses counts, too */
      {{{50, 1}, {100, 2}, {150, 3}}, 3, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_true(fabs(score_of(cases[i].kernels, cases[i].n) - cases[i].score) < 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_lever_counts_for_the_whole_workload),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
