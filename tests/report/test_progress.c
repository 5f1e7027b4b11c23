#include "check.h"

#include <string.h>

#include "heddle/report.h"

static void expect(hd_progress *p, const char *label, size_t done, size_t n, double now, const char *want) {
  hd_buf line = {0};
  hd_progress_line(p, label, done, n, now, &line);
  assert_string_equal(line.data, want);
  hd_buf_free(&line);
}

static void the_time_left_follows_from_what_was_done(void **state) {
  hd_progress p = {0};
  expect(&p, "replaying", 0, 10, 100, "replaying [..............................] 0/10");
  expect(&p, "replaying", 2, 10, 104, "replaying [######........................] 2/10, 16 s left");
  expect(&p, "replaying", 5, 10, 105, "replaying [###############...............] 5/10, 5 s left");
  expect(&p, "replaying", 9, 10, 105.5, "replaying [###########################...] 9/10");
  expect(&p, "replaying", 10, 10, 106, "replaying");
}

static void each_stage_has_a_time_of_its_own(void **state) {
  hd_progress p = {0};
  expect(&p, "tracing", 0, 2, 0, "tracing [..............................] 0/2");
  expect(&p, "proving", 1, 3, 1000, "proving [##########....................] 1/3");
  expect(&p, "proving", 2, 3, 1180, "proving [####################..........] 2/3, 3 min left");
  expect(&p, "proving", 1, 3, 1190, "proving [##########....................] 1/3"); /* the next workload */
}

static void durations_are_told_in_their_own_units(void **state) {
  static const struct {
    double seconds;
    const char *want;
  } cases[] = {{1, "1 s"},       {59, "59 s"},           {90, "2 min"},    {7199, "120 min"},
               {7200, "2.0 h"},  {41400, "12 h"},        {172799, "48 h"}, {172800, "2.0 days"},
               {1e6, "12 days"}, {1e11, "1157407 days"}, {0, "0 s"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    hd_buf text = {0};
    hd_duration_print(cases[k].seconds, &text);
    assert_string_equal(text.data, cases[k].want);
    hd_buf_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the time left follows from what was done", the_time_left_follows_from_what_was_done),
      BEHAVIOUR("each stage has a time of its own", each_stage_has_a_time_of_its_own),
      BEHAVIOUR("durations are told in their own units", durations_are_told_in_their_own_units),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
