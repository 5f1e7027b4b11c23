/* Memory that runs out in advise/. A plan that cannot be looked at for want of memory counts as refused. */
#include "nomem.h"

#include "heddle/advise.h"

static hd_status list(void *ctx, hd_diag *d) {
  const hd_list_options o = {.run = {.machine.threads = 1, .compile.arch = 80}, .most = 20};
  const hd_gpu g = {.n_sms = 4};
  hd_plan_list plans;
  hd_status st = hd_advise_list(ctx, NULL, &g, &o, &plans, d);
  if (st == HD_OK) hd_plan_list_free(&plans);
  return st;
}

static hd_status unseen(void *ctx, hd_diag *d) {
  const hd_run_options o = {.machine.threads = 1, .compile.arch = 80};
  const hd_gpu g = {.n_sms = 4};
  hd_plan_list plans;
  hd_status st = hd_advise_unseen(ctx, &g, &o.compile, &plans, d);
  if (st == HD_OK) hd_plan_list_free(&plans);
  return st;
}

static hd_status read_list(void *ctx, hd_diag *d) {
  hd_plan_list plans = {0};
  hd_status st = hd_plan_list_read("order=col bind=agents:2 threads=cta:col", &plans, d);
  hd_plan_list_free(&plans);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  hd_workload *w;
  const hd_compiled *code;
  hd_diag d;
  if (hd_workload_open(SOURCE_DIR "/corpus/triton/column-sum-sm80", NULL, "tiny", &w, &d) != HD_OK ||
      hd_workload_compiled(w, 80, &code, &d) != HD_OK)
    fail_msg("%s", d.message);
  const nomem_entry cases[] = {
      {"list", list, w, true}, {"unseen", unseen, w, true}, {"read", read_list, NULL, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) nomem_expect(&cases[i]);
  hd_workload_close(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
