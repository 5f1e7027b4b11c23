/* Memory that runs out in suite/: a table of one workload's levers. */
#include "nomem.h"

#include "heddle/suite.h"

static hd_status levers(void *ctx, hd_diag *d) {
  static const char *const workloads[] = {SOURCE_DIR "/corpus/triton/column-sum-sm80"};
  static const char *const plans[] = {"order=col", "bind=agents:1"};
  hd_lever_cell cells[2];
  const hd_suite_run run = {.like = {.preferred = "tiny"}, .threads = 1};
  const hd_levers_table t = {
      .plans = plans, .n_plans = 2, .workloads = workloads, .n_workloads = 1, .cells = cells};
  hd_arena a;
  hd_arena_init(&a);
  bool whole;
  hd_status st = hd_suite_levers(&run, &t, cells, &a, NULL, &whole, d);
  if (st == HD_OK) assert_int_equal(cells[0].answer, HD_LEVER_EQUAL);
  hd_arena_free(&a);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  nomem_expect(&(nomem_entry){"levers", levers, NULL, true});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
