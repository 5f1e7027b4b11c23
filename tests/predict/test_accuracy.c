/* The model against a device: ratios, and the summary over all of them. */
#include "check.h"

#include <math.h>

#include "heddle/accuracy.h"

enum { N = 24 };

static hd_accuracy_row row_of(uint64_t model, uint64_t device) {
  return (hd_accuracy_row){.model = {.dram_read_bytes = model}, .device = {.dram_read_bytes = device}};
}

static void a_ratio_is_model_over_device(void **state) {
  hd_accuracy_row r = row_of(300, 200);
  assert_true(hd_accuracy_ratio(&r, HD_ACCURACY_DRAM_READ_BYTES) == 1.5);
  assert_true(hd_accuracy_ratio(&r, HD_ACCURACY_L2_HITS) == 1); /* 0 and 0 */
  r.status = HD_ERR_REFUSED;
  assert_true(isnan(hd_accuracy_ratio(&r, HD_ACCURACY_DRAM_READ_BYTES)));
  r = row_of(0, 5);
  assert_true(isnan(hd_accuracy_ratio(&r, HD_ACCURACY_DRAM_READ_BYTES)));
  r = row_of(5, 0);
  assert_true(isnan(hd_accuracy_ratio(&r, HD_ACCURACY_DRAM_READ_BYTES)));
}

static void each_metric_reads_its_own_counter(void **state) {
  hd_counters c = {.l1_sectors = 1,
                   .l1_hits = 2,
                   .l2_read_sectors = 3,
                   .l2_write_sectors = 4,
                   .l2_hits = 5,
                   .dram_read_bytes = 6};
  for (int m = 0; m < HD_ACCURACY_COUNT; m++)
    assert_int_equal(hd_accuracy_value(&c, (hd_accuracy_metric)m), m + 1);
}

/* Random rows: the summary against a plain definition of it. */
static void a_summary_is_of_the_rows_that_have_a_ratio(void **state) {
  for (uint64_t seed = 0; seed < 200; seed++) {
    hd_accuracy_row rows[N];
    size_t n = 0, within = 0;
    for (size_t i = 0; i < N; i++) {
      uint64_t model = hd_random_at(seed, 2 * i) % 50, device = hd_random_at(seed, 2 * i + 1) % 50;
      rows[i] = row_of(model, device);
      if (model % 7 == 3) rows[i].status = HD_ERR_REFUSED;
      double ratio = hd_accuracy_ratio(&rows[i], HD_ACCURACY_DRAM_READ_BYTES);
      n += !isnan(ratio);
      within += fabs(ratio - 1) <= 0.25;
    }
    hd_accuracy_summary s;
    assert_int_equal(hd_accuracy_summarize(rows, N, HD_ACCURACY_DRAM_READ_BYTES, &s, NULL), HD_OK);
    assert_int_equal(s.n, n);
    assert_true(s.within_25 == (double)within / (double)n && s.within_10 <= s.within_25);
    assert_int_equal(s.n_worst, n < HD_ACCURACY_WORST ? n : HD_ACCURACY_WORST);
    double last = INFINITY;
    bool worst[N] = {0};
    for (size_t k = 0; k < s.n_worst; k++) {
      double ratio = hd_accuracy_ratio(&rows[s.worst[k]], HD_ACCURACY_DRAM_READ_BYTES);
      double factor = fmax(ratio, 1 / ratio);
      assert_true(factor <= last);
      last = factor;
      assert_false(worst[s.worst[k]]);
      worst[s.worst[k]] = true;
    }
    for (size_t i = 0; i < N; i++) {
      double ratio = hd_accuracy_ratio(&rows[i], HD_ACCURACY_DRAM_READ_BYTES);
      assert_true(worst[i] || isnan(ratio) || fmax(ratio, 1 / ratio) <= last);
    }
  }
}

static void nothing_to_compare_has_no_median(void **state) {
  hd_accuracy_row failed = {.status = HD_ERR_REFUSED};
  hd_accuracy_summary s;
  assert_int_equal(hd_accuracy_summarize(&failed, 1, HD_ACCURACY_L2_HITS, &s, NULL), HD_OK);
  assert_int_equal(s.n, 0);
  assert_int_equal(s.n_worst, 0);
  assert_true(isnan(s.median_ratio) && isnan(s.median_error) && isnan(s.within_10));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a ratio is model over device", a_ratio_is_model_over_device),
      BEHAVIOUR("each metric reads its own counter", each_metric_reads_its_own_counter),
      BEHAVIOUR("a summary is of the rows that have a ratio, the farthest off first",
                a_summary_is_of_the_rows_that_have_a_ratio),
      BEHAVIOUR("nothing to compare has no median", nothing_to_compare_has_no_median),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
