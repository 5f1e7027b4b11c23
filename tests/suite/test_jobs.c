/* Jobs on a device, one after the other: resumed, out of time, failed. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "heddle/suite.h"
#include "workload/scratch.h"

static hd_diag d;
#define OK(call)                                                                                             \
  do {                                                                                                       \
    if ((call) != HD_OK) fail_msg("%s: %s", #call, d.message);                                               \
  } while (0)

static char column_sum[] = SOURCE_DIR "/corpus/triton/column-sum-sm80", missing[] = "nosuch";

typedef struct said {
  int lines;
  char last[1024];
} said;

static void say(void *ctx, const char *line) {
  said *s = ctx;
  s->lines++;
  snprintf(s->last, sizeof s->last, "%s", line);
}

typedef struct bed {
  hd_device *device;
  hd_bench_results r;
  said said;
  hd_suite_options o;
} bed;

static void open_bed(bed *b, const char *folder) {
  const hd_device_options o = {.gpu_dir = SOURCE_DIR "/gpus"};
  *b = (bed){.r.folder = scratch_path(folder)};
  b->o = (hd_suite_options){.kernels_dir = SOURCE_DIR "/kernels",
                            .gpus_dir = SOURCE_DIR "/gpus",
                            .device = "model:gtx580",
                            .size = "tiny",
                            .budget = 1,
                            .threads = 1,
                            .say = say,
                            .ctx = &b->said};
  OK(hd_device_open("model:gtx580", &o, &b->device, &d));
  OK(hd_bench_prepare(b->r.folder, HD_BENCH_RESULTS, true, &d));
  hd_bench_describe(b->device, "test", &b->r.place);
}

static void close_bed(bed *b) {
  hd_bench_results_free(&b->r);
  hd_device_close(b->device);
}

static void a_workload_that_fails_has_a_row_that_says_why_and_is_tried_again(void **state) {
  bed b;
  char *names[] = {missing, column_sum};
  open_bed(&b, "failed");
  OK(hd_suite_tune(&b.device, names, 2, &b.o, &b.r, &d));
  assert_int_equal(b.said.lines, 2);
  const hd_bench_row *row = hd_bench_find(&b.r, missing, "tiny");
  assert_non_null(row);
  assert_non_null(strstr(row->failed, "there is no workload 'nosuch'"));
  assert_non_null(hd_bench_find(&b.r, column_sum, "tiny"));
  assert_string_equal(hd_bench_find(&b.r, column_sum, "tiny")->failed, "");
  b.o.resume = true;
  OK(hd_suite_tune(&b.device, names, 2, &b.o, &b.r, &d));
  assert_int_equal(b.said.lines, 3);
  assert_non_null(strstr(b.said.last, "[1/2] nosuch: "));
  close_bed(&b);
}

static void workloads_beyond_the_time_for_all_are_left_and_counted(void **state) {
  bed b;
  char *names[] = {missing, column_sum};
  open_bed(&b, "late");
  b.o.total = 1e-9;
  OK(hd_suite_tune(&b.device, names, 2, &b.o, &b.r, &d));
  assert_int_equal(b.said.lines, 1);
  assert_string_equal(b.said.last, "heddle: 2 of 2 workloads are left for --resume");
  assert_null(hd_bench_find(&b.r, column_sum, "tiny"));
  close_bed(&b);
}

static void verdicts_need_a_store(void **state) {
  bed b;
  char *names[] = {column_sum};
  open_bed(&b, "store");
  assert_int_equal(hd_suite_verify(&b.device, names, 1, 0.99, &b.o, &b.r, &d), HD_ERR_USAGE);
  assert_non_null(strstr(d.message, "no store"));
  close_bed(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a workload that fails has a row that says why, and is tried again",
                a_workload_that_fails_has_a_row_that_says_why_and_is_tried_again),
      BEHAVIOUR("workloads beyond the time for all are left and counted",
                workloads_beyond_the_time_for_all_are_left_and_counted),
      BEHAVIOUR("verdicts need a store", verdicts_need_a_store),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
