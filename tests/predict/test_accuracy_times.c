/* Times of a model beside measured ones: ratio, signs, rank correlation, regret. */
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "heddle/accuracy.h"

enum { N = 12, ROWS = 30 };

static hd_accuracy_times row_of(const double *measured, const double *model, uint32_t n) {
  hd_accuracy_times r = {.n = n};
  for (uint32_t k = 0; k < n; k++) {
    snprintf(r.plans[k].text, sizeof r.plans[k].text, k ? "order=stride:%ux1" : "baseline", k);
    r.plans[k].measured_us = measured[k];
    r.plans[k].model_us = model[k];
  }
  return r;
}

static void a_model_that_is_off_by_a_factor_ranks_as_the_device_does(void **state) {
  for (uint64_t seed = 0; seed < 200; seed++) {
    double measured[N], model[N], least = INFINITY;
    for (uint32_t k = 0; k < N; k++) {
      measured[k] = 10 + (double)(hd_random_at(seed, k) % 1000) / 50;
      model[k] = 3 * measured[k];
      least = fmin(least, measured[k]);
    }
    hd_accuracy_times r = row_of(measured, model, N);
    hd_accuracy_verdict v = hd_accuracy_judge(&r);
    assert_true(fabs(v.ratio - 3) < 1e-9);
    assert_true(v.tau == 1 && v.right == v.effects && v.regret == 0);
    assert_true(measured[v.best] == least);
    for (uint32_t k = 0; k < N; k++) r.plans[k].model_us = 1 / measured[k]; /* the other way round */
    v = hd_accuracy_judge(&r);
    assert_true(v.tau == -1 && v.right == 0);
  }
}

static void small_differences_count_neither_for_nor_against(void **state) {
  const double measured[] = {100, 101, 100.5, 120}, model[] = {100, 90, 95, 130};
  hd_accuracy_times r = row_of(measured, model, 4);
  hd_accuracy_verdict v = hd_accuracy_judge(&r);
  assert_true(v.tau == 1);
  assert_int_equal(v.effects, 1);
  assert_int_equal(v.right, 1);
  assert_int_equal(v.best, 1);
  assert_true(fabs(v.regret - 0.01) < 1e-9);
  r.n = 3;
  assert_true(isnan(hd_accuracy_judge(&r).tau)); /* nothing to rank */
}

/* Every effect is predicted with its sign, or contradicted. */
static void effects_without_their_sign_are_contradicted(void **state) {
  for (uint64_t seed = 0; seed < 200; seed++) {
    double measured[N], model[N];
    for (uint32_t k = 0; k < N; k++) {
      measured[k] = 50 + (double)(hd_random_at(seed, k) % 1000) / 10;
      model[k] = k % 4 == 3 ? model[0] : 50 + (double)(hd_random_at(seed + 1000, k) % 1000) / 10;
    }
    hd_accuracy_times r = row_of(measured, model, N);
    const hd_accuracy_verdict v = hd_accuracy_judge(&r);
    uint32_t effects = 0, contradicted = 0;
    for (uint32_t k = 1; k < N; k++) {
      effects += hd_accuracy_is_effect(&r, k);
      contradicted += hd_accuracy_is_contradicted(&r, k);
      if (hd_accuracy_is_contradicted(&r, k))
        assert_true((measured[k] - measured[0]) * (model[k] - model[0]) <= 0);
    }
    assert_int_equal(effects, v.effects);
    assert_int_equal(contradicted, v.effects - v.right);
  }
}

static void a_plan_without_a_time_is_left_out(void **state) {
  const double measured[] = {100, 50, 0, 80}, model[] = {100, 0, 10, 70};
  hd_accuracy_times r = row_of(measured, model, 4);
  hd_accuracy_verdict v = hd_accuracy_judge(&r);
  assert_int_equal(v.effects, 1);
  assert_int_equal(v.best, 3);
  assert_true(v.regret == 0);
  r.plans[0].model_us = 0;
  assert_true(isnan(hd_accuracy_judge(&r).ratio));
  r = row_of(measured, model, 4);
  r.status = HD_ERR_UNSUPPORTED;
  assert_true(isnan(hd_accuracy_judge(&r).ratio));
}

static void equal_predictions_are_neither_order(void **state) {
  const double measured[] = {100, 200, 300}, model[] = {7, 7, 9};
  hd_accuracy_times r = row_of(measured, model, 3);
  hd_accuracy_verdict v = hd_accuracy_judge(&r);
  assert_true(fabs(v.tau - 2.0 / 3) < 1e-9);
  assert_int_equal(v.effects, 2);
  assert_int_equal(v.right, 1); /* no effect is not the sign of one */
  assert_int_equal(v.best, 0);
}

/* Against a plain definition of each figure. */
static void a_ranking_is_over_the_rows_that_have_both_times(void **state) {
  hd_accuracy_times rows[ROWS];
  double sum = 0;
  size_t n = 0;
  for (uint32_t i = 0; i < ROWS; i++) {
    double measured[2] = {100, 50}, model[2] = {100 + i, i % 2 ? 200 : 20};
    rows[i] = row_of(measured, model, 2);
    if (i % 5 == 4) {
      rows[i].status = HD_ERR_REFUSED;
      continue;
    }
    sum += i / 100.0;
    n++;
  }
  hd_accuracy_ranking k;
  assert_int_equal(hd_accuracy_rank(rows, ROWS, &k, NULL), HD_OK);
  assert_int_equal(k.n, n);
  assert_int_equal(k.effects, n);
  assert_int_equal(k.right, n / 2);
  assert_true(fabs(k.mean_error - sum / (double)n) < 1e-9);
  assert_true(k.median_regret >= 0 && k.p90_regret == 1); /* the slower of the two is twice as slow */
  assert_int_equal(k.n_worst, HD_ACCURACY_WORST);
  assert_int_equal(k.worst[0], ROWS - 2);
  assert_int_equal(hd_accuracy_rank(rows, 0, &k, NULL), HD_OK);
  assert_true(k.n == 0 && isnan(k.mean_error) && isnan(k.median_tau));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a model that is off by a factor ranks as the device does",
                a_model_that_is_off_by_a_factor_ranks_as_the_device_does),
      BEHAVIOUR("small differences count neither for nor against",
                small_differences_count_neither_for_nor_against),
      BEHAVIOUR("effects without their sign are contradicted", effects_without_their_sign_are_contradicted),
      BEHAVIOUR("a plan without a time is left out", a_plan_without_a_time_is_left_out),
      BEHAVIOUR("equal predictions are neither order", equal_predictions_are_neither_order),
      BEHAVIOUR("a ranking is over the rows that have both times",
                a_ranking_is_over_the_rows_that_have_both_times),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
