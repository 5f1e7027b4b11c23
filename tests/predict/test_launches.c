/* Long rows of launches are predicted from some of them, and launches from what earlier ones left. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/study.h"
#include "session.h"

enum { MOST = 1200 };

/* A row in which `period` kinds of launches recur, the last `tail` of them of a kind of their own. */
typedef struct made {
  uint32_t group[MOST];
  double units[MOST];
  launch_row row;
} made;

static void make_row(made *m, uint32_t n, uint32_t period, uint32_t tail, uint32_t known) {
  for (uint32_t i = 0; i < n; i++) {
    m->group[i] = i < n - tail ? i % period : n - tail;
    m->units[i] = 10 + m->group[i];
  }
  m->row = (launch_row){.n = n, .known = known, .whole = 64, .group = m->group, .units = m->units};
}

/* Whatever is left out has one like it that counts; what counts has all kinds of launches before it,
 * replayed; the known ones alone are replayed. */
static void every_launch_left_out_is_stood_for(void **state) {
  launch_use use[MOST];
  unsigned seed = 3, sampled = 0;
  for (unsigned t = 0; t < 2000; t++) {
    made m;
    const uint32_t n = 1 + (uint32_t)rand_r(&seed) % MOST, period = 1 + (uint32_t)rand_r(&seed) % 20;
    make_row(&m, n, period < n ? period : n, 0, n);
    const uint32_t least = launches_least(&m.row);
    assert_true(least <= n);
    m.row.known = least + (uint32_t)rand_r(&seed) % (n - least + 1);
    const bool some = launches_choose(&m.row, rand_r(&seed) % 40000, use);
    assert_true(some || m.row.known == n);
    sampled += some;
    for (uint32_t i = 0; i < n; i++) {
      bool found = use[i] != LAUNCH_LEFT_OUT;
      if (found && i >= m.row.known && some) fail_msg("launch %u of %u known is replayed", i, m.row.known);
      for (uint32_t k = m.group[i]; !found && k < n; k += period) found = use[k] == LAUNCH_COUNTS;
      if (!found) fail_msg("nothing stands for launch %u of %u, period %u", i, n, period);
      for (uint32_t k = 1; use[i] == LAUNCH_COUNTS && k <= period && k <= i; k++)
        if (use[i - k] == LAUNCH_LEFT_OUT) fail_msg("launch %u counts, and %u before it is left out", i, k);
    }
  }
  assert_true(sampled > 500);
}

static void short_and_affordable_rows_are_replayed_whole(void **state) {
  launch_use use[MOST];
  made m;
  make_row(&m, 40, 2, 0, 40);
  assert_false(launches_choose(&m.row, 1, use));
  make_row(&m, 1000, 2, 0, 1000);
  assert_false(launches_choose(&m.row, 1e9, use));
  for (uint32_t i = 0; i < 1000; i++) assert_int_equal(use[i], LAUNCH_COUNTS);
  assert_true(launches_choose(&m.row, 1000, use));
}

static void a_kind_that_comes_once_is_replayed(void **state) {
  launch_use use[MOST];
  made m;
  make_row(&m, 1000, 2, 1, 1000);
  assert_true(launches_choose(&m.row, 500, use));
  assert_int_equal(use[999], LAUNCH_COUNTS);
  assert_int_equal(launches_least(&m.row), 1000);
}

/* Kinds that do not come back: one of each counts, behind one that is replayed. */
static void a_row_of_kinds_that_do_not_come_back_has_one_of_each(void **state) {
  launch_use use[MOST];
  unsigned seed = 9, sampled = 0;
  for (unsigned t = 0; t < 500; t++) {
    made m;
    uint32_t n = 65 + (uint32_t)rand_r(&seed) % (MOST - 64), replayed = 0;
    const uint32_t most = 1 + (uint32_t)rand_r(&seed) % 8;
    for (uint32_t i = 0, first = 0, left = 1; i < n; i++, left--) {
      if (!left) {
        first = i;
        left = 1 + (uint32_t)rand_r(&seed) % most;
      }
      m.group[i] = first;
      m.units[i] = 1;
    }
    m.row = (launch_row){.n = n, .known = n, .whole = 64, .group = m.group, .units = m.units};
    const bool some = launches_choose(&m.row, 10, use);
    sampled += some;
    for (uint32_t i = 0; i < n; i++) {
      bool found = false;
      for (uint32_t k = 0; k < n; k++) found |= m.group[k] == m.group[i] && use[k] == LAUNCH_COUNTS;
      if (!found) fail_msg("nothing stands for launch %u of %u", i, n);
      assert_true(use[i] != LAUNCH_COUNTS || !i || use[i - 1] != LAUNCH_LEFT_OUT);
      replayed += use[i] != LAUNCH_LEFT_OUT;
    }
    assert_int_equal(replayed < n, some);
  }
  assert_true(sampled > 300);
}

/* Where so few launches are known that no kind comes several times, they stand for all. */
static void the_fewest_launches_stand_for_all(void **state) {
  launch_use use[MOST];
  made m;
  make_row(&m, 50, 6, 0, 6);
  assert_int_equal(launches_fewest(&m.row), 6);
  assert_int_equal(launches_least(&m.row), 24);
  assert_true(launches_choose(&m.row, 1e9, use));
  for (uint32_t i = 0; i < 50; i++) assert_int_equal(use[i], i < 6 ? LAUNCH_COUNTS : LAUNCH_LEFT_OUT);
}

static double run_row(const launch_row *row, const launch_use *use, double noise, unsigned *seed,
                      double *error, uint64_t *sectors) {
  hd_counters each[MOST];
  double all = 0, sum = 0;
  memset(each, 0, sizeof each);
  for (uint32_t i = 0; i < row->n; i++) {
    const double us = 10 + row->group[i] + noise * ((double)(rand_r(seed) % 2001) / 1000 - 1);
    all += us;
    if (use[i] != LAUNCH_LEFT_OUT) each[i] = (hd_counters){.time_us = us, .l2_sectors = 7};
    if (use[i] == LAUNCH_WARMS) each[i].time_us = 1e6; /* caches were not as they would be: of no account */
  }
  *error = launches_fill(row, use, each);
  for (uint32_t i = 0; i < row->n; i++) {
    sum += each[i].time_us;
    *sectors += each[i].l2_sectors;
  }
  return sum - all;
}

/* The sum is right where launches alike take alike; else it is within 3 standard errors, but for some. */
static void the_error_of_a_row_is_known(void **state) {
  launch_use use[MOST];
  made m;
  unsigned seed = 5, beyond = 0, rows = 300;
  double error, last = 0;
  make_row(&m, 1000, 3, 0, 1000);
  assert_true(launches_choose(&m.row, 3000, use));
  for (unsigned t = 0; t < rows; t++) {
    uint64_t sectors = 0;
    const double off = run_row(&m.row, use, 5, &seed, &error, &sectors);
    assert_true(error > last / 10); /* no row of these is taken to be exact */
    last = error;
    assert_int_equal(sectors, 7000);
    beyond += fabs(off) > 3 * error;
  }
  assert_true(beyond * 20 < rows);
  uint64_t sectors = 0;
  assert_true(fabs(run_row(&m.row, use, 0, &seed, &error, &sectors)) < 1e-6);
  assert_true(error < 1e-3);
}

/* Of launches that earlier ones steer, tasks that run alone access what they access in a run of everything.
 */
static void launches_begin_with_what_earlier_ones_left(void **state) {
  static const char *const names[] = {"bfs", "particlefilter", "btree"};
  skip_without_compiler();
  for (size_t k = 0; k < 2 * (sizeof names / sizeof *names); k++) {
    hd_workload *w = open_workload(names[k / 2], "tiny");
    const bool in_one_run = k % 2; /* counted and kept */
    const hd_compiled *code;
    const hd_run_options run = {.machine.threads = 2};
    hd_diag d = {0};
    hd_study *whole;
    steering by;
    runner_contents *contents;
    recording *r;
    states *before;
    states_run count = {.instructions = calloc(w->n_launches, sizeof(double))};
    bool *wanted = calloc(w->n_launches, sizeof *wanted);
    assert_int_equal(hd_workload_compiled(w, 80, &code, &d), HD_OK);
    assert_int_equal(hd_study_open(w, &run, NULL, &whole, &d), HD_OK);
    assert_int_equal(record_steering(code, &by, &d), HD_OK);
    assert_int_equal(by.kind, STEERED_BETWEEN);
    assert_int_equal(record_contents(w, true, &contents, &d), HD_OK);
    assert_int_equal(record_open(code, NULL, &run, &(record_options){.contents = contents}, &r, &d), HD_OK);
    assert_int_equal(states_begin(r, &by, &before, &d), HD_OK);
    const uint32_t least = in_one_run || w->n_launches < 2 ? w->n_launches : 2;
    const states_bounds bounds = {.most = 1, .least = least, .fewest = least, .keep = in_one_run};
    assert_int_equal(states_count(before, r, &bounds, &count, &d), HD_OK);
    assert_int_equal(count.n, least);
    for (uint32_t i = 0; i < w->n_launches; i++) wanted[i] = true;
    assert_int_equal(states_keep(before, r, wanted, &d), HD_OK);
    r->before = before;
    for (uint32_t i = w->n_launches; i-- > 0;) { /* the last launch first */
      uint64_t tasks, accesses = hd_trace_get_info(hd_study_trace(whole, i)).warp_accesses;
      hd_grid_tasks(w->launches[i].grid, &tasks);
      for (uint64_t t = tasks; t-- > 0;) assert_int_equal(record_tasks(r, i, &t, 1, UINT64_MAX, &d), HD_OK);
      if (hd_trace_get_info(r->traces[i]).warp_accesses != accesses)
        fail_msg("%s: launch %u (%s)", names[k / 2], i, w->launches[i].kernel);
    }
    record_close(r);
    record_contents_free(contents);
    states_free(before);
    steering_free(&by);
    hd_study_close(whole);
    free(wanted);
    free(count.instructions);
    hd_workload_close(w);
  }
}

/* Those that must be known are run, however late it is, and no more. */
static void states_end_when_their_time_is_over(void **state) {
  skip_without_compiler();
  hd_workload *w = open_workload("bfs", "tiny");
  const hd_compiled *code;
  const hd_run_options run = {.machine.threads = 2};
  hd_diag d = {0};
  steering by;
  runner_contents *contents;
  recording *r;
  states *before;
  states_run count = {.instructions = calloc(w->n_launches, sizeof(double))};
  assert_int_equal(hd_workload_compiled(w, 80, &code, &d), HD_OK);
  assert_int_equal(record_steering(code, &by, &d), HD_OK);
  assert_int_equal(record_contents(w, true, &contents, &d), HD_OK);
  assert_int_equal(record_open(code, NULL, &run, &(record_options){.contents = contents}, &r, &d), HD_OK);
  assert_int_equal(states_begin(r, &by, &before, &d), HD_OK);
  const states_bounds late = {.most = 1e18, .least = 8, .fewest = 3, .until = hd_seconds()};
  assert_int_equal(states_count(before, r, &late, &count, &d), HD_OK);
  assert_int_equal(count.n, 3);
  record_close(r);
  record_contents_free(contents);
  states_free(before);
  steering_free(&by);
  free(count.instructions);
  hd_workload_close(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_launch_left_out_is_stood_for),
      cmocka_unit_test(short_and_affordable_rows_are_replayed_whole),
      cmocka_unit_test(a_kind_that_comes_once_is_replayed),
      cmocka_unit_test(a_row_of_kinds_that_do_not_come_back_has_one_of_each),
      cmocka_unit_test(the_fewest_launches_stand_for_all),
      cmocka_unit_test(the_error_of_a_row_is_known),
      cmocka_unit_test(launches_begin_with_what_earlier_ones_left),
      cmocka_unit_test(states_end_when_their_time_is_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
