/* Long launches are predicted from parts of them. */
#include <math.h>

#include "predict/study.h"
#include "session.h"

/* A replay on an H100; `units` 0: of the whole. */
static hd_counters replay(const char *name, const char *size, uint64_t units, unsigned threads,
                          const char *text, double *part) {
  hd_workload *w = open_workload(name, size);
  hd_gpu g = load_gpu("h100");
  const hd_run_options run = {
      .threads = threads, .n_sms = g.n_sms, .timed = true, .sample_gpu = &g, .sample_units = units};
  hd_plan p = parse_plan(text);
  hd_diag d = {0};
  hd_study *s;
  hd_counters c;
  if (hd_study_open(w, &run, &s, &d) != HD_OK) fail_msg("%s: %s", name, d.message);
  if (hd_study_replay(s, &g, &p, g.dispatch, 0, &c, &d) != HD_OK) fail_msg("%s: %s", text, d.message);
  *part = hd_study_part(s);
  hd_study_close(s);
  hd_plan_free(&p);
  hd_workload_close(w);
  return c;
}

/* Runs of waves, and a wave that is cut: times and traffic are near those of the whole. */
static void a_sample_predicts_the_whole(void **state) {
  static const struct {
    const char *name, *size, *plan;
    uint64_t units;
    double time, traffic; /* parts by which they may differ */
  } cases[] = {
      {"transpose", "paper", "baseline", 1000000, 0.1, 0.05},
      {"matmul-naive", "paper", "bind=agents", 1000000, 0.15, 0.3},
      {"matmul-naive", "paper", "bypass=l1:0", 1000000, 0.15, 0.3},
  };
  skip_without_compiler();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double part, all;
    const hd_counters whole = replay(cases[i].name, cases[i].size, 0, 2, cases[i].plan, &all);
    const hd_counters some = replay(cases[i].name, cases[i].size, cases[i].units, 2, cases[i].plan, &part);
    const double time = some.time_us / whole.time_us - 1,
                 traffic = (double)some.l2_sectors / (double)whole.l2_sectors - 1;
    print_message("%s %s: %.3f of it, time %+.3f, L2 sectors %+.3f\n", cases[i].name, cases[i].plan, part,
                  time, traffic);
    assert_true(all == 1);
    assert_true(part < 0.6);
    assert_true(fabs(time) < cases[i].time);
    assert_true(fabs(traffic) < cases[i].traffic);
  }
}

/* An affordable launch is replayed whole, and gives the same. */
static void short_launches_are_replayed_whole(void **state) {
  double part, all;
  skip_without_compiler();
  const hd_counters whole = replay("matmul-naive", "small", 0, 2, "baseline", &all);
  const hd_counters same = replay("matmul-naive", "small", 1ull << 40, 2, "baseline", &part);
  assert_true(part == 1);
  assert_true(whole.time_us == same.time_us);
  assert_int_equal(whole.dram_read_bytes, same.dram_read_bytes);
}

static void samples_do_not_depend_on_the_number_of_threads(void **state) {
  double part;
  skip_without_compiler();
  const hd_counters one = replay("transpose", "paper", 1000000, 1, "order=tile:4x4", &part);
  const hd_counters three = replay("transpose", "paper", 1000000, 3, "order=tile:4x4", &part);
  assert_memory_equal(&one, &three, sizeof one);
}

/* Tasks are left out of a launch only where others of it do not decide what they access. */
static void tasks_that_others_steer_are_all_run(void **state) {
  static const struct {
    const char *name;
    steered kind;
    bool reads_data;
  } cases[] = {
      {"matmul-naive", STEERED_BY_NOTHING, false},    {"copy-row", STEERED_BY_NOTHING, false},
      {"spmv-csr", STEERED_BY_NOTHING, true},         {"srad", STEERED_BY_NOTHING, true},
      {"embedding-gather", STEERED_BY_NOTHING, true}, {"bfs", STEERED_BETWEEN, true},
  };
  skip_without_compiler();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_workload *w = open_workload(cases[i].name, "tiny");
    const hd_compiled *code;
    steering found;
    hd_diag d = {0};
    assert_int_equal(hd_workload_compiled(w, 80, &code, &d), HD_OK);
    assert_int_equal(record_steering(code, &found, &d), HD_OK);
    if (found.kind != cases[i].kind || found.reads_data != cases[i].reads_data)
      fail_msg("%s: %d, reads data %d", cases[i].name, (int)found.kind, found.reads_data);
    steering_free(&found);
    hd_workload_close(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sample_predicts_the_whole),
      cmocka_unit_test(short_launches_are_replayed_whole),
      cmocka_unit_test(samples_do_not_depend_on_the_number_of_threads),
      cmocka_unit_test(tasks_that_others_steer_are_all_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
