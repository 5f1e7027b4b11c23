/* Memory that runs out in launch/: what is found out before a launch. The check itself is in predict's. */
#include "nomem.h"

#include "heddle/launch.h"

typedef struct subject {
  hd_workload *w;
  const hd_compiled *code;
} subject;

static hd_status arguments(void *ctx, hd_diag *d) {
  const subject *s = ctx;
  const uint64_t addresses[8] = {1 << 20, 2 << 20, 3 << 20};
  void *args;
  uint64_t bytes;
  hd_status st = hd_launch_args(s->code, 0, addresses, &args, &bytes, d);
  if (st == HD_OK) free(args);
  return st;
}

static hd_status shape(void *ctx, hd_diag *d) {
  const subject *s = ctx;
  hd_shape out;
  return hd_launch_shape(s->code, 0, &out, d);
}

static hd_status analysis(void *ctx, hd_diag *d) {
  const subject *s = ctx;
  hd_analysis *a;
  hd_status st = hd_launch_analyze(s->code, 0, &a, d);
  if (st == HD_OK) hd_analysis_free(a);
  return st;
}

static hd_status unwritten(void *ctx, hd_diag *d) {
  const subject *s = ctx;
  uint32_t *loads = NULL, n;
  hd_status st = hd_unwritten_loads(s->code->module, s->code->kernels[0].func, s->w, 0, &loads, &n, d);
  free(loads);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  subject s;
  hd_diag d;
  if (hd_workload_open(SOURCE_DIR "/corpus/triton/column-sum-sm80", NULL, "tiny", &s.w, &d) != HD_OK ||
      hd_workload_compiled(s.w, 80, &s.code, &d) != HD_OK)
    fail_msg("%s", d.message);
  assert_true(s.w->n_buffers <= 8);
  const nomem_entry cases[] = {{"arguments", arguments, &s, false},
                               {"shape", shape, &s, false},
                               {"analysis", analysis, &s, false},
                               {"unwritten", unwritten, &s, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) nomem_expect(&cases[i]);
  hd_workload_close(s.w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
