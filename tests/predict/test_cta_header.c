/* heddle/cta.cuh: a kernel edited by hand computes the same as before, wherever its CTAs are put. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/predict.h"
#include "heddle/process.h"
#include "workload/workload.h"

#define EXAMPLE SOURCE_DIR "/examples/matmul-cta"

static bool has(const char *program) {
  char path[WL_PATH];
  const char *const names[] = {program, NULL};
  return hd_program_find(names, path, sizeof path);
}

/* All dispatchers, adversarial ones included; the state is among the results, and each kernel runs twice. */
static void check_all(unsigned n_sms) {
  hd_workload *w;
  hd_diag d = {0};
  const hd_plan as_written = {0};
  const hd_check_options o = {.run = {.machine.n_sms = n_sms}, .seed = n_sms};
  hd_check_result r;
  if (hd_workload_open(EXAMPLE, NULL, "tiny", &w, &d) != HD_OK) fail_msg("%s", d.message);
  if (hd_check(w, &as_written, &o, &r, &d) != HD_OK) fail_msg("%s", d.message);
  if (!r.equal) fail_msg("%u SMs: %s", n_sms, r.what);
  assert_true(r.against_reference && r.race_free);
  assert_int_equal(r.runs, HD_DISPATCH_COUNT);
  hd_workload_close(w);
}

static void every_task_runs_once_and_the_state_is_zero_again(void **state) {
  if (!has("nvcc") && !has("clang")) skip();
  static const unsigned sms[] = {1, 2, 3, 5, 16, 40};
  for (size_t i = 0; i < sizeof sms / sizeof *sms; i++) check_all(sms[i]);
}

/* Both toolchains, whichever the workload would take. */
static void every_compiler_takes_the_header(void **state) {
  hd_workload *w;
  hd_diag d = {0};
  size_t compiled = 0;
  if (hd_workload_open(EXAMPLE, NULL, "tiny", &w, &d) != HD_OK) fail_msg("%s", d.message);
  for (unsigned t = 0; t < WL_TOOLCHAINS; t++) {
    hd_buf ptx = {0};
    hd_status st = wl_compile(w, 80, (wl_toolchain)t, &ptx, &d);
    if (st != HD_OK && st != HD_ERR_MISSING && st != HD_ERR_UNSUPPORTED)
      fail_msg("%s: %s", wl_toolchain_name((wl_toolchain)t), d.message);
    if (st == HD_OK) assert_non_null(strstr(ptx.data, "matmul_agents"));
    compiled += st == HD_OK;
    hd_buf_free(&ptx);
  }
  hd_workload_close(w);
  if (!compiled) skip();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every task runs once, and the state is zero again",
                every_task_runs_once_and_the_state_is_zero_again),
      BEHAVIOUR("every compiler takes the header", every_compiler_takes_the_header),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
