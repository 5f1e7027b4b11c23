/* From verdicts to the options of rewriting. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/verdict_options.h"

static hd_diag d;

static void a_launch_is_read_whole(void **state) {
  static const char *const bad[] = {"", "grid=1x1x1", "grid=1x1x1 block=1x1x1 shared=0",
                                    "grid=1x1x1 block=1x1x1 shared=0 args=00",
                                    "grid=1x1x1 block=1x1x1 shared=0 args=any!"};
  uint32_t grid[3], block[3], shared;
  assert_true(hd_verdict_launch_parse("grid=64x32x1 block=32x8x1 shared=48 args=any", grid, block, &shared));
  assert_int_equal(grid[0], 64);
  assert_int_equal(grid[1], 32);
  assert_int_equal(block[1], 8);
  assert_int_equal(shared, 48);
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    assert_false(hd_verdict_launch_parse(bad[k], grid, block, &shared));
}

/* A table of so many tasks, in their own order; ctx counts the calls. */
static hd_status tabulate(void *ctx, const char *file, uint64_t tasks, hd_table *out, hd_diag *why) {
  ++*(int *)ctx;
  if (strcmp(file, "#00") != 0) return hd_fail(why, HD_ERR_INPUT, "no table %s", file);
  *out = (hd_table){calloc(tasks, sizeof *out->task), tasks};
  for (uint64_t k = 0; k < tasks; k++) out->task[k] = (uint32_t)k;
  return HD_OK;
}

static hd_status read_options(const char *assume, const char *plan, hd_verdict_options *o, int *tables) {
  hd_verdict v = {0};
  hd_plan p;
  *tables = 0;
  memset(&d, 0, sizeof d);
  hd_verdict_launch((const uint32_t[3]){6, 4, 1}, (const uint32_t[3]){32, 8, 1}, 48, NULL, 0, v.key.launch);
  snprintf(v.assume, sizeof v.assume, "%s", assume);
  assert_int_equal(hd_plan_parse(plan, &p, &d), HD_OK);
  return hd_verdict_read_options(&v, &p, 132, tabulate, tables, o, &d);
}

static void the_options_are_those_of_the_launch(void **state) {
  hd_verdict_options o;
  int tables;
  assert_int_equal(read_options("", "order=col", &o, &tables), HD_OK);
  assert_true(o.rewrite.grid.known && o.rewrite.grid.n_sms == 132);
  assert_memory_equal(o.rewrite.grid.g, ((uint32_t[3]){6, 4, 1}), sizeof o.rewrite.grid.g);
  assert_memory_equal(o.rewrite.block, ((uint32_t[3]){32, 8, 1}), sizeof o.rewrite.block);
  assert_int_equal(o.shared, 48);
  assert_true(o.rewrite.dynamic_shared);
  assert_null(o.rewrite.table);
  assert_int_equal(tables, 0);
  hd_verdict other = {.key.launch = "grid=64"};
  assert_int_equal(hd_verdict_read_options(&other, &hd_plan_original, 4, tabulate, &tables, &o, &d),
                   HD_ERR_INPUT);
}

static void an_order_by_a_table_is_read_for_the_launch_s_tasks(void **state) {
  hd_verdict_options o;
  int tables;
  assert_int_equal(read_options("", "order=table:#00,bind=agents", &o, &tables), HD_OK);
  assert_ptr_equal(o.rewrite.table, &o.table);
  assert_int_equal(o.table.n, 24);
  assert_int_equal(tables, 1);
  hd_table_free(&o.table);
  assert_int_equal(read_options("", "order=table:#01", &o, &tables), HD_ERR_INPUT);
  assert_null(o.table.task);
  assert_int_equal(read_options("", "order=affinity", &o, &tables), HD_ERR_UNSUPPORTED);
  assert_non_null(strstr(d.message, "not kept with the verdict"));
  assert_int_equal(tables, 0);
}

static void what_a_verdict_rests_on_is_read_or_refused(void **state) {
  static const struct {
    const char *text;
    hd_status status;
    unsigned assume;
    const char *unwritten;
  } cases[] = {
      {"", HD_OK, 0, ""},
      {"no-waits", HD_OK, HD_ASSUME_NO_WAITS, ""},
      {"no-waits,no-carry", HD_OK, HD_ASSUME_NO_WAITS | HD_ASSUME_NO_CARRY, ""},
      {"unwritten=1+3", HD_OK, 0, "1+3"},
      {"no-carry,unwritten=2", HD_OK, HD_ASSUME_NO_CARRY, "2"},
      {"unwritten=", HD_ERR_INPUT, 0, ""},
      {"unwritten=1,no-waits", HD_ERR_INPUT, 0, ""},
      {"luck", HD_ERR_INPUT, 0, ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_verdict_options o;
    int tables;
    assert_int_equal(read_options(cases[i].text, "baseline", &o, &tables), cases[i].status);
    if (cases[i].status != HD_OK) assert_non_null(strstr(d.message, "does not know"));
    if (cases[i].status != HD_OK) continue;
    assert_int_equal(o.rewrite.assume, cases[i].assume);
    assert_string_equal(o.unwritten, cases[i].unwritten);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a launch is read whole", a_launch_is_read_whole),
      BEHAVIOUR("the options are those of the launch", the_options_are_those_of_the_launch),
      BEHAVIOUR("an order by a table is read for the launch's tasks",
                an_order_by_a_table_is_read_for_the_launch_s_tasks),
      BEHAVIOUR("what a verdict rests on is read, or refused", what_a_verdict_rests_on_is_read_or_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
