/* Memory that runs out in tune/: an optimization of one plan. */
#include "nomem.h"

#include "heddle/optimize.h"

static const hd_candidate plans[] = {{.plan = {.order = {.kind = HD_ORDER_COL}}}};

typedef struct bed {
  hd_workload *w;
  hd_gpu gpu;
} bed;

/* A plan that cannot be looked at for want of memory is no answer: it is said, or all is as with all memory.
 */
static hd_status optimize(void *ctx, hd_diag *d) {
  const bed *b = ctx;
  const hd_optimize_options o = {.run = {.machine.threads = 1},
                                 .dispatch = b->gpu.dispatch,
                                 .plans = plans,
                                 .n_plans = 1,
                                 .exact = true};
  hd_optimized z;
  const hd_status st = hd_optimize(b->w, &b->gpu, &o, &z, d);
  if (st != HD_OK) return st;
  assert_int_equal(z.n_rows, 2);
  hd_optimized_free(&z);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  bed b;
  hd_diag d = {0};
  if (hd_workload_open(SOURCE_DIR "/corpus/triton/column-sum-sm80", NULL, "tiny", &b.w, &d) != HD_OK ||
      hd_gpu_load("gtx580", SOURCE_DIR "/gpus", &b.gpu, &d) != HD_OK)
    fail_msg("%s", d.message);
  nomem_expect(&(nomem_entry){"optimize", optimize, &b, true});
  hd_workload_close(b.w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
