/* Medians and the coverage of their intervals, on simulated times. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "heddle/stats.h"

static double uniform(uint64_t seed, uint64_t *n) {
  return ((double)(hd_random_at(seed, (*n)++) >> 11) + 0.5) * 0x1p-53;
}

static void the_median_is_the_middle_value(void **state) {
  double odd[] = {5, 1, 4, 2, 3}, even[] = {4, 1, 3, 2}, one[] = {7};
  assert_true(hd_median(odd, 5) == 3);
  assert_true(hd_median(even, 4) == 2.5);
  assert_true(hd_median(one, 1) == 7);
  assert_true(isnan(hd_median(NULL, 0)));
}

/* P(Bin(n, 1/2) < k), summed plainly in long double. */
static long double binomial_below(size_t n, size_t k) {
  long double term = powl(0.5L, (long double)n), sum = 0;
  for (size_t i = 0; i < k; i++) {
    sum += term;
    term *= (long double)(n - i) / (long double)(i + 1);
  }
  return sum;
}

static void an_interval_is_the_narrowest_that_holds_its_confidence(void **state) {
  static const double levels[] = {0.5, 0.9, 0.95, 0.99, 0.999};
  for (size_t c = 0; c < sizeof levels / sizeof *levels; c++)
    for (size_t n = 0; n < 400; n++) {
      size_t k = hd_median_interval(n, levels[c]);
      assert_true(2 * k <= n + 1);
      if (k) assert_true(1 - 2 * binomial_below(n, k) >= levels[c] - 1e-12L);
      if (2 * (k + 1) <= n) assert_true(1 - 2 * binomial_below(n, k + 1) < levels[c] + 1e-12L);
    }
  assert_int_equal(hd_median_interval(7, 0.99), 0);
  assert_int_equal(hd_median_interval(8, 0.99), 1);
  assert_true(hd_median_interval(100000, 0.99) > 49000);
}

/* Multiplicative noise of median 1. */
static double normal_noise(uint64_t seed, uint64_t *n) {
  double u = uniform(seed, n), v = uniform(seed, n);
  return exp(0.02 * sqrt(-2 * log(u)) * cos(2 * M_PI * v));
}
static double outliers(uint64_t seed, uint64_t *n) { /* one time in ten is up to five times as long */
  double x = normal_noise(seed, n);
  return uniform(seed, n) < 0.1 ? x * (1 + 4 * uniform(seed, n)) : x;
}
static double two_clocks(uint64_t seed, uint64_t *n) {
  return (uniform(seed, n) < 0.5 ? 0.9 : 1.1) + 0.01 * uniform(seed, n);
}
static double heavy_tail(uint64_t seed, uint64_t *n) { return pow(uniform(seed, n), -0.8); }

typedef double (*noise)(uint64_t seed, uint64_t *n);

static double coverage(noise f, size_t pairs, double truth, unsigned runs, uint64_t seed) {
  double a[128], b[128];
  unsigned covered = 0;
  uint64_t n = 0;
  for (unsigned r = 0; r < runs; r++) {
    for (size_t i = 0; i < pairs; i++) {
      double drift = 1 + 0.3 * (double)i / (double)pairs;
      a[i] = truth * drift * f(seed, &n);
      b[i] = drift * f(seed, &n);
    }
    hd_speedup s;
    assert_int_equal(hd_paired_speedup(a, b, pairs, 0.99, &s, NULL), HD_OK);
    assert_true(s.low <= s.median && s.median <= s.high);
    covered += s.low <= truth && truth <= s.high;
  }
  return (double)covered / runs;
}

static void a_99_percent_interval_covers_at_least_that_often(void **state) {
  static const noise kinds[] = {normal_noise, outliers, two_clocks, heavy_tail};
  static const size_t sizes[] = {8, 15, 25, 101};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      double got = coverage(kinds[k], sizes[i], 1.07, 3000, 11 * k + i);
      /* Both times have the same distribution, so the ratio's median is `truth`; 3 standard errors are
       * 0.0055. */
      if (got < 0.99 - 0.0055) fail_msg("noise %zu, %zu pairs: covers %.4f", k, sizes[i], got);
    }
}

static void a_speedup_is_found_through_drift(void **state) {
  double a[31], b[31];
  uint64_t n = 0;
  for (size_t i = 0; i < 31; i++) {
    double clock = 1 + (double)i * 0.1; /* four times as slow in the end */
    a[i] = 105 * clock * normal_noise(3, &n);
    b[i] = 100 * clock * normal_noise(3, &n);
  }
  hd_speedup s;
  assert_int_equal(hd_paired_speedup(a, b, 31, 0.99, &s, NULL), HD_OK);
  assert_true(s.low > 1 && s.high < 1.1);
}

static void too_few_pairs_leave_the_interval_open(void **state) {
  double a[] = {2, 2, 2, 2, 2, 2, 2}, b[] = {1, 1, 1, 1, 1, 1, 1};
  hd_speedup s;
  assert_int_equal(hd_paired_speedup(a, b, 7, 0.99, &s, NULL), HD_OK);
  assert_true(s.median == 2 && s.low == 0 && isinf(s.high));
  assert_int_equal(hd_paired_speedup(a, b, 0, 0.99, &s, NULL), HD_OK);
  assert_true(isnan(s.median));
}

static void a_time_that_is_none_is_refused(void **state) {
  static const double bad[] = {0, -1, NAN, INFINITY};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    double a[] = {1, bad[i]}, b[] = {1, 1};
    hd_speedup s;
    hd_diag d;
    assert_int_equal(hd_paired_speedup(a, b, 2, 0.99, &s, &d), HD_ERR_INPUT);
    assert_int_equal(hd_paired_speedup(b, a, 2, 0.99, &s, &d), HD_ERR_INPUT);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the median is the middle value", the_median_is_the_middle_value),
      BEHAVIOUR("an interval is the narrowest that holds its confidence",
                an_interval_is_the_narrowest_that_holds_its_confidence),
      BEHAVIOUR("a 99% interval covers the truth at least that often, whatever the noise",
                a_99_percent_interval_covers_at_least_that_often),
      BEHAVIOUR("a speedup of 5% is found while the machine slows down fourfold",
                a_speedup_is_found_through_drift),
      BEHAVIOUR("too few pairs leave the interval open", too_few_pairs_leave_the_interval_open),
      BEHAVIOUR("a time that is no positive number is refused", a_time_that_is_none_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
