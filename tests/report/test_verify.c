/* The table of verdicts that were measured once more. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/bench.h"

enum { ROWS = 6 };

static void make_rows(hd_verify_row rows[ROWS]) {
  static const struct {
    const char *name, *failed;
    double speedup;
    bool original;
  } from[ROWS] = {{"gain", "", 1.5, false},   {"kept", "", 1, true},
                  {"lost", "", 0.98, false},  {"gone", "no such kernel", 0, false},
                  {"even", "", 0.995, false}, {"most", "", 4, false}};
  memset(rows, 0, ROWS * sizeof *rows);
  for (int i = 0; i < ROWS; i++) {
    hd_verify_row *r = &rows[i];
    snprintf(r->workload, sizeof r->workload, "%s", from[i].name);
    snprintf(r->failed, sizeof r->failed, "%s", from[i].failed);
    strcpy(r->size, "gpu");
    strcpy(r->plan, from[i].original ? "baseline" : "order=col");
    r->original = from[i].original;
    r->speedup = r->low = r->high = from[i].speedup;
    r->kept = 1.25;
    r->before_us = 100;
  }
}

static void slowest_first(void **state) {
  static const char *const order[] = {"\nlost",
                                      "SLOWER: order=col",
                                      "\neven",
                                      "\nkept",
                                      "original kept",
                                      "\ngain",
                                      "\nmost",
                                      "over 5, of which 1 kept the original. Below 0.99x: 1.",
                                      "Not measured:\n  gone (gpu): no such kernel\n"};
  hd_verify_row rows[ROWS];
  hd_bench_place place = {.device = "cuda:0"};
  hd_buf out = {0};
  make_rows(rows);
  hd_verify_text(&place, rows, ROWS, 0.99, &out);
  assert_false(out.failed);
  const char *at = out.data;
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    const char *next = strstr(at, order[i]);
    if (!next) fail_msg("'%s' does not follow in:\n%s", order[i], out.data);
    at = next;
  }
  assert_null(strstr(strstr(out.data, "SLOWER") + 1, "SLOWER"));
  hd_buf_free(&out);
}

static void only_what_is_measured_counts(void **state) {
  hd_verify_row rows[ROWS];
  make_rows(rows);
  hd_bench_mean mean = hd_verify_geomean(rows, ROWS);
  assert_int_equal(mean.n, 5);
  assert_float_equal(mean.speedup * mean.speedup * mean.speedup * mean.speedup * mean.speedup,
                     1.5 * 0.98 * 0.995 * 4, 1e-9);
  assert_int_equal(hd_verify_count_bad(rows, ROWS, 0.99), 2);
  assert_int_equal(hd_verify_count_bad(rows, ROWS, 0.5), 1);
  assert_int_equal(hd_verify_geomean(rows, 0).n, 0);
}

static void a_tuning_becomes_a_row(void **state) {
  hd_tuned kernels[2] = {{.kernel = "a", .adopted = true, .plan = {.order = {.kind = HD_ORDER_COL}}},
                         {.kernel = "b", .why = "none of 7 plans won"}};
  hd_tuning t = {.kernels = kernels,
                 .n_kernels = 2,
                 .adopted = true,
                 .speedup = {.median = 1.2, .low = 1.1, .high = 1.3},
                 .before_us = 60,
                 .after_us = 50};
  hd_workload w = {.name = "both", .size = "tiny"};
  hd_verify_row r;
  hd_verify_begin(&w, &t, &r);
  assert_string_equal(r.plan, "a: order=col");
  assert_false(r.original);
  assert_float_equal(r.kept, 1.2, 1e-12);
  t.verified = (hd_speedup){.median = 1.25, .low = 1.2, .high = 1.4};
  hd_verify_end(&t, &r);
  assert_string_equal(r.failed, "");
  assert_float_equal(r.speedup, 1.25, 1e-12);
  assert_float_equal(r.after_us, 48, 1e-9);
  /* Of a table's file the name is enough. */
  kernels[0].plan =
      (hd_plan){.order = {.kind = HD_ORDER_TABLE}, .table = "/a/b,c/verdict-1.table", .bind = HD_BIND_AGENTS};
  kernels[1].adopted = true;
  kernels[1].plan = (hd_plan){.order = {.kind = HD_ORDER_TABLE}, .table = "own.table"};
  hd_verify_begin(&w, &t, &r);
  assert_string_equal(r.plan, "a: order=table:verdict-1.table,bind=agents; b: order=table:own.table");
  kernels[1].adopted = false;
  /* A plan that could not be run: its kernel says why. */
  t.verified = (hd_speedup){0};
  kernels[0].speedup.median = 0;
  strcpy(kernels[0].why, "measured again: no such load");
  hd_verify_end(&t, &r);
  assert_string_equal(r.failed, "a: measured again: no such load");
  t.adopted = false;
  kernels[0].adopted = false;
  hd_verify_begin(&w, &t, &r);
  assert_true(r.original);
  assert_string_equal(r.plan, "baseline");
  assert_float_equal(r.speedup, 1, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("verified verdicts are listed slowest first, and those below the bound are marked",
                slowest_first),
      BEHAVIOUR("the mean is of what was measured; failures count as bad", only_what_is_measured_counts),
      BEHAVIOUR("a tuning becomes a row before and after it is verified", a_tuning_becomes_a_row),
  };
  return cmocka_run_group_tests_name("report.verify", tests, NULL, NULL);
}
