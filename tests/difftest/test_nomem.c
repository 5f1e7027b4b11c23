/* Memory that runs out in difftest/. */
#include "nomem.h"

#include "heddle/difftest.h"

static hd_status module(void *ctx, hd_diag *d) {
  const hd_difftest_select select = {.sm = 80};
  hd_buf text = {0};
  hd_status st = hd_difftest_module(&select, 7, 0, 3, &text, d);
  hd_buf_free(&text);
  return st;
}

static hd_status form(void *ctx, hd_diag *d) {
  hd_buf text = {0};
  hd_status st = hd_difftest_form_module(5, 4, &text, d);
  hd_buf_free(&text);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  const nomem_entry cases[] = {{"module", module, NULL, false}, {"form", form, NULL, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) nomem_expect(&cases[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
