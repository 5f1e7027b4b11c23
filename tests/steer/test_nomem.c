/* Memory that runs out in steer/. */
#include "nomem.h"

#include "heddle/steer.h"

static hd_status settings(void *ctx, hd_diag *d) {
  const hd_steer_settings s = {.plan = "order=col", .report = "/a.json", .quiet = "1"};
  hd_steer_settings back;
  hd_buf text = {0};
  hd_status st = hd_steer_settings_print(&s, &text, d);
  if (st == HD_OK) st = hd_steer_settings_parse(text.data, &back, d);
  hd_buf_free(&text);
  return st;
}

static hd_status verdict(void *ctx, hd_diag *d) {
  const hd_verdict v = {.key = {.kernel = "0123456789abcdef0123456789abcdef",
                                .launch = "grid=1x1x1 block=32x1x1 shared=0 args=any"},
                        .name = "k",
                        .plan = "order=col",
                        .speedup = 2};
  hd_buf line = {0};
  hd_steer_verdict_print(&v, &line);
  const hd_status st = line.failed ? hd_nomem(d) : HD_OK;
  hd_buf_free(&line);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  const nomem_entry cases[] = {{"settings", settings, NULL, false}, {"verdict", verdict, NULL, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) nomem_expect(&cases[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
