/* Memory that runs out in launch/ and predict/: the check of a kernel in PTX. */
#include "nomem.h"

#include "heddle/predict.h"

static hd_status check(void *ctx, hd_diag *d) {
  hd_plan p;
  hd_check_result r;
  static const hd_dispatch_kind last = HD_DISPATCH_COUNT - 1;
  const hd_check_options o = {.run = {.machine.n_sms = 4, .machine.threads = 1},
                              .dispatchers = &last,
                              .n_dispatchers = 1,
                              .no_reference = true};
  hd_workload *w;
  hd_status st = hd_plan_parse(ctx, &p, d);
  if (st != HD_OK) return st;
  st = hd_workload_open(SOURCE_DIR "/corpus/triton/column-sum-sm80", NULL, "tiny", &w, d);
  if (st == HD_OK) {
    st = hd_check(w, &p, &o, &r, d);
    hd_workload_close(w);
  }
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  nomem_expect(&(nomem_entry){"order=col", check, "order=col", true});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
