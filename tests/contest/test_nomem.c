/* Memory that runs out in contest/. */
#include "nomem.h"

#include "heddle/contest.h"

static hd_status make(void *ctx, const hd_plan *p, void **variant, hd_diag *d) {
  *variant = ctx;
  return HD_OK;
}
static void drop(void *ctx, void *variant) {}
static hd_status run(void *ctx, void *variant, double *seconds, bool *same, hd_diag *d) {
  *(double *)ctx += *seconds = variant ? 1e-3 : 2e-3;
  if (same) *same = true;
  return HD_OK;
}
static double now(void *ctx) { return *(double *)ctx; }

static hd_status contest(void *ctx, hd_diag *d) {
  double clock = 0;
  const hd_contest_bench b = {.ctx = &clock, .make = make, .drop = drop, .run = run, .now = now};
  const hd_plan_space space = {
      .grid = {4, 4, 1}, .block = {32, 1, 1}, .tasks = 16, .n_sms = 8, .warps = 1, .can_order = true};
  const hd_candidate list[] = {{.plan = {.order = {.kind = HD_ORDER_COL}}}};
  hd_contest *c;
  hd_contest_end end;
  hd_status st = hd_contest_open(&b, &(hd_contest_options){.budget = 1}, &space, list, 1, &c, d);
  if (st == HD_OK) st = hd_contest_decide(c, &end, d);
  hd_contest_close(c);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  const nomem_entry cases[] = {{"contest", contest, NULL, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) nomem_expect(&cases[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
