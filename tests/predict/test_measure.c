/* Plans on devices: checked, timed, and refused one by one. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/predict.h"

static bool can_compile(void) {
  return system("command -v nvcc >/dev/null || command -v clang >/dev/null") == 0;
}

static hd_workload *open_workload(const char *name) {
  hd_workload *w;
  hd_diag d = {0};
  if (!can_compile()) {
    print_message("skipped: neither nvcc nor clang is installed\n");
    skip();
  }
  if (hd_workload_open(name, SOURCE_DIR "/kernels", "tiny", &w, &d) != HD_OK) fail_msg("%s", d.message);
  return w;
}

static hd_device *open_device(const char *name) {
  hd_device *dev;
  hd_diag d = {0};
  hd_device_options o = {.emu = {.threads = 2, .n_sms = 4}, .gpu_dir = SOURCE_DIR "/gpus"};
  if (hd_device_open(name, &o, &dev, &d) != HD_OK) fail_msg("%s", d.message);
  return dev;
}

static hd_plan plan_of(const char *text) {
  hd_plan p;
  hd_diag d = {0};
  if (hd_plan_parse(text, &p, &d) != HD_OK) fail_msg("%s", d.message);
  return p;
}

static void plans_that_bind_tasks_run_on_a_device(void **state) {
  static const char *const texts[] = {"baseline",   "order=tile:2x3", "bind=redirect",
                                      "bind=claim", "bind=agents",    "order=col,bind=agents:2"};
  static const char *const workloads[] = {"matmul-tiled", "histogram"};
  for (size_t k = 0; k < 2; k++) {
    hd_workload *w = open_workload(workloads[k]);
    hd_device *dev = open_device("emu");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
      hd_plan p = plan_of(texts[i]);
      hd_check_result r;
      hd_diag d = {0};
      hd_check_options o = {.runs = 2};
      if (hd_check_on(dev, w, &p, &o, &r, &d) != HD_OK) fail_msg("%s, %s: %s", w->name, texts[i], d.message);
      if (!r.equal) fail_msg("%s, %s: %s", w->name, texts[i], r.what);
      assert_int_equal(r.runs, 2);
      assert_true(r.against_reference);
    }
    hd_device_close(dev);
    hd_workload_close(w);
  }
}

static void a_model_times_plans_in_rounds(void **state) {
  hd_workload *w = open_workload("matmul-naive");
  hd_device *dev = open_device("model:h100");
  hd_measure_row rows[] = {{.plan = plan_of("baseline")},
                           {.plan = plan_of("order=col")},
                           {.plan = plan_of("bind=agents")},
                           {.plan = plan_of("bind=cancel")}};
  hd_measure_options o = {.repetitions = 8};
  hd_diag d = {0};
  if (hd_measure(dev, w, &o, rows, 4, &d) != HD_OK) fail_msg("%s", d.message);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(rows[i].status, HD_OK);
    assert_true(rows[i].median_us > 0 && rows[i].has_counters && rows[i].counters.l1_sectors > 0);
    assert_int_equal(rows[i].speedup.pairs, 8);
    /* A model's times do not vary. */
    assert_true(rows[i].speedup.low == rows[i].speedup.high);
  }
  assert_true(rows[0].speedup.median == 1);
  /* What binds tasks to SMs is replayed, as a search does it. */
  assert_true(rows[2].median_us == rows[0].median_us / rows[2].speedup.median);
  assert_int_equal(rows[3].status, HD_ERR_UNSUPPORTED);
  assert_non_null(strstr(rows[3].why, "needs sm_100"));
  hd_device_close(dev);
  hd_workload_close(w);
}

/* A kernel that adds to what its buffer holds: timed as often as one likes, it still computes from the first
 * contents. */
static void contents_are_restored_before_each_run(void **state) {
  hd_workload *w = open_workload("histogram");
  hd_device *dev = open_device("model:h100");
  hd_measure_row rows[] = {{.plan = plan_of("baseline")}, {.plan = plan_of("order=reverse")}};
  hd_measure_options o = {.repetitions = 2, .keep_l2 = true, .no_counters = true};
  hd_diag d = {0};
  if (hd_measure(dev, w, &o, rows, 2, &d) != HD_OK) fail_msg("%s", d.message);
  if (rows[1].status != HD_OK) fail_msg("%s", rows[1].why);
  assert_false(rows[0].has_counters);
  hd_device_close(dev);
  hd_workload_close(w);
}

static void what_cannot_be_measured_is_said(void **state) {
  hd_workload *w = open_workload("copy-row");
  hd_device *emu = open_device("emu"), *model = open_device("model:h100");
  hd_measure_row rows[] = {{.plan = plan_of("baseline")}, {.plan = plan_of("order=col")}};
  hd_diag d = {0};
  assert_int_equal(hd_measure(emu, w, NULL, rows, 2, &d), HD_ERR_UNSUPPORTED);
  assert_int_equal(hd_measure(model, w, NULL, rows + 1, 1, &d), HD_ERR_USAGE);
  assert_int_equal(hd_measure(model, w, NULL, rows, 0, &d), HD_ERR_USAGE);
  hd_device_close(emu);
  hd_device_close(model);
  hd_workload_close(w);
}

static void a_kernel_that_differs_from_its_reference_is_found(void **state) {
  if (!can_compile()) skip();
  hd_workload *w;
  hd_diag d = {0};
  hd_device *dev = open_device("emu");
  hd_check_result r;
  hd_plan p = plan_of("order=reverse");
  if (hd_workload_open(SOURCE_DIR "/tests/cli/data/racy", NULL, "small", &w, &d) != HD_OK)
    fail_msg("%s", d.message);
  /* Each task reads memory that the one before wrote: right in the hardware's order, wrong in another. */
  if (hd_check_on(dev, w, &p, NULL, &r, &d) != HD_OK) fail_msg("%s", d.message);
  assert_false(r.equal);
  assert_string_equal(r.dispatcher, "emu");
  assert_non_null(strstr(r.what, "rewritten kernel on emu, run 1: buffer"));
  hd_device_close(dev);
  hd_workload_close(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("plans that bind tasks to SMs run on a device", plans_that_bind_tasks_run_on_a_device),
      BEHAVIOUR("a model times plans in rounds", a_model_times_plans_in_rounds),
      BEHAVIOUR("first contents are restored before each run", contents_are_restored_before_each_run),
      BEHAVIOUR("what cannot be measured is said", what_cannot_be_measured_is_said),
      BEHAVIOUR("a rewritten kernel that computes something else is found",
                a_kernel_that_differs_from_its_reference_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
