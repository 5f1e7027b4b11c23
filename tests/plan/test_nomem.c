/* Memory that runs out in plan/. */
#include "nomem.h"

#include "heddle/plan.h"

static const hd_grid grid = {.known = true, .g = {12, 10, 1}, .n_sms = 4};

static hd_status notation(void *ctx, hd_diag *d) {
  hd_plan p;
  hd_buf out = {0};
  hd_status st = hd_plan_parse("order=table:some/file,bind=agents:2,stream=1+2+3,sms=0-3", &p, d);
  if (st != HD_OK) return st;
  hd_plan_print(&p, &out);
  if (out.failed) st = hd_nomem(d);
  hd_buf_free(&out);
  return st;
}

static hd_status tables(void *ctx, hd_diag *d) {
  hd_plan p;
  hd_table order = {0}, back = {0};
  hd_status st = hd_plan_parse(ctx, &p, d);
  if (st != HD_OK) return st;
  st = hd_plan_tabulate(&p, &grid, NULL, &order, d);
  if (st == HD_OK) st = hd_table_invert(&order, &back, d);
  hd_table_free(&order);
  hd_table_free(&back);
  return st;
}

static hd_status header(void *ctx, hd_diag *d) {
  hd_buf out = {0};
  hd_status st = hd_plan_header(&out, d);
  hd_buf_free(&out);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  static const nomem_entry cases[] = {
      {"notation", notation, NULL, true},
      {"order=col", tables, "order=col", false},
      {"order=hilbert", tables, "order=hilbert", false},
      {"order=zigzag:3x2,bind=redirect", tables, "order=zigzag:3x2,bind=redirect", false},
      {"header", header, NULL, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) nomem_expect(&cases[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
