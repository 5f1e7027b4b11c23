/* Plans that change accesses are simulated on traces of the rewritten kernels. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/launch.h"
#include "predict/study.h"
#include "session.h"

static hd_counters replay(const session *z, const char *text) {
  hd_plan p = parse_plan(text);
  hd_diag d = {0};
  hd_counters c;
  if (hd_study_replay(z->s, &z->g, &p, HD_DISPATCH_ROUND_ROBIN, 1, &c, &d) != HD_OK)
    fail_msg("%s: %s", text, d.message);
  return c;
}

/* No CTA starts once the work is more than it may be. */
static void a_trace_ends_when_it_takes_too_long(void **state) {
  skip_without_compiler();
  hd_workload *w = open_workload("matmul-naive", "tiny");
  hd_study *s = NULL;
  hd_diag d = {0};
  hd_run_options run = {.machine.threads = 2, .budget.trace_seconds = 1e-9};
  assert_int_equal(hd_study_open(w, &run, NULL, &s, &d), HD_ERR_BUDGET);
  assert_null(s);
  assert_non_null(strstr(d.message, "is more work than it may be"));
  assert_int_equal(d.bound, HD_BOUND_WORK);
  hd_workload_close(w);
}

/* One task is enough, and a survey of a launch that is to be sampled is no exception. */
static void a_task_that_is_too_much_work_ends_its_trace(void **state) {
  skip_without_compiler();
  hd_workload *w = open_workload("matmul-naive", "small");
  const hd_gpu g = load_gpu("h100");
  const hd_run_options run = {.machine = {.threads = 1, .n_sms = g.n_sms}, .budget.trace_seconds = 1e-9};
  for (int sampled = 0; sampled < 2; sampled++) {
    const hd_study_options how = {.timed = true, .sample_gpu = &g, .sample_units = sampled ? 1000 : 0};
    hd_study *s = NULL;
    hd_diag d = {0};
    assert_int_equal(hd_study_open(w, &run, &how, &s, &d), HD_ERR_BUDGET);
    assert_null(s);
    if (d.bound != HD_BOUND_WORK) fail_msg("%s", d.message);
  }
  hd_workload_close(w);
}

/* Nothing is left of what was not finished: with time again, results are as they were. */
static void runs_and_replays_end_when_their_time_is_over(void **state) {
  skip_without_compiler();
  hd_workload *w = open_workload("matmul-naive", "small");
  const hd_gpu g = load_gpu("h100");
  const double past = hd_seconds();
  hd_study *s = NULL;
  hd_diag d = {0};
  hd_run_options run = {.machine.threads = 2, .budget.until = past};
  hd_study_options how = {.timed = true};
  assert_int_equal(hd_study_open(w, &run, &how, &s, &d), HD_ERR_BUDGET);
  assert_non_null(strstr(d.message, "takes longer than it may"));
  assert_int_equal(d.bound, HD_BOUND_TIME);
  run.budget.until = 0;
  assert_int_equal(hd_study_open(w, &run, &how, &s, &d), HD_OK);
  session z = {.w = w, .s = s, .g = g};
  const char *const plans[] = {"order=col", "bypass=l1:1"};
  for (size_t i = 0; i < 2; i++) {
    hd_plan p = parse_plan(plans[i]);
    hd_counters c;
    const hd_counters before = replay(&z, plans[i]);
    hd_study_set_until(s, past);
    assert_int_equal(hd_study_replay(s, &g, &p, HD_DISPATCH_ROUND_ROBIN, 1, &c, &d), HD_ERR_BUDGET);
    assert_non_null(strstr(d.message, "takes longer than it may"));
    hd_study_set_until(s, 0);
    const hd_counters after = replay(&z, plans[i]);
    assert_memory_equal(&before, &after, sizeof before);
  }
  close_session(&z);
}

static void runs_replays_and_sweeps_end_when_they_are_stopped(void **state) {
  skip_without_compiler();
  hd_workload *w = open_workload("matmul-naive", "small");
  const hd_gpu g = load_gpu("h100");
  bool stop = true;
  hd_study *s = NULL;
  hd_diag d = {0};
  hd_counters c;
  const hd_run_options run = {.machine.threads = 2, .budget.stop = &stop};
  const hd_study_options how = {.timed = true};
  hd_sweep_row rows[2] = {{.status = HD_OK}, {.plan = parse_plan("order=col")}};
  assert_int_equal(hd_study_open(w, &run, &how, &s, &d), HD_ERR_BUDGET);
  stop = false;
  assert_int_equal(hd_study_open(w, &run, &how, &s, &d), HD_OK);
  session z = {.w = w, .s = s, .g = g};
  const hd_counters before = replay(&z, "order=col");
  stop = true;
  assert_int_equal(hd_study_replay(s, &g, &rows[1].plan, HD_DISPATCH_ROUND_ROBIN, 1, &c, &d), HD_ERR_BUDGET);
  bool whole;
  const hd_sweep_job job = {
      .workload = w, .run = run, .how = how, .study = &s, .gpu = &g, .rows = rows, .n = 2};
  assert_int_equal(hd_sweep_split(&job, NULL, &whole, &d), HD_OK);
  assert_int_equal(rows[0].status, HD_ERR_BUDGET);
  assert_int_equal(rows[1].status, HD_ERR_BUDGET);
  stop = false;
  const hd_counters after = replay(&z, "order=col");
  assert_memory_equal(&before, &after, sizeof before);
  close_session(&z);
}

/* A task that was cut off is not taken for a whole one later. */
static void a_recording_that_was_cut_off_is_of_no_use(void **state) {
  skip_without_compiler();
  hd_workload *w = open_workload("transpose", "paper");
  const hd_gpu g = load_gpu("h100");
  const hd_run_options run = {.machine.threads = 2, .machine.n_sms = g.n_sms};
  const hd_study_options how = {.timed = true, .sample_gpu = &g, .sample_units = 1000000};
  hd_study *s;
  hd_counters c;
  hd_diag d = {0};
  const hd_plan base = {0};
  hd_plan far = parse_plan("order=reverse");
  assert_int_equal(hd_study_open(w, &run, &how, &s, &d), HD_OK);
  assert_int_equal(hd_study_replay(s, &g, &base, g.dispatch, 0, &c, &d), HD_OK);
  hd_study_set_until(s, hd_seconds());
  assert_int_equal(hd_study_replay(s, &g, &far, g.dispatch, 0, &c, &d), HD_ERR_BUDGET);
  hd_study_set_until(s, 0);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(hd_study_replay(s, &g, i ? &base : &far, g.dispatch, 0, &c, &d), HD_ERR_BUDGET);
    assert_non_null(strstr(d.message, "takes longer than it may"));
    assert_int_equal(d.bound, HD_BOUND_TIME);
  }
  hd_affinity graph; /* as a page shows it */
  assert_int_equal(hd_affinity_build(hd_study_trace(s, 0), NULL, &graph, &d), HD_OK);
  hd_affinity_free(&graph);
  hd_study_close(s);
  hd_workload_close(w);
}

/* Contents that somebody has already are taken as they are: the same ones give the same traces, others
 * others.
 */
static void a_study_takes_contents_that_are_given(void **state) {
  skip_without_compiler();
  hd_workload *w = open_workload("spmv-csr", "tiny");
  hd_run_options run = {.machine.threads = 2};
  hd_diag d = {0};
  void **bytes = launch_bytes_new(w);
  bool *filled = calloc((size_t)w->n_buffers + 1, sizeof *filled);
  hd_trace_info info[3];
  assert_true(bytes && filled);
  assert_int_equal(launch_first_contents(w, bytes, filled, &d), HD_OK);
  for (int i = 0; i < 3; i++) {
    const retrace_contents first = {bytes, filled};
    hd_study *s = NULL;
    if (i == 2) /* rows of no length */
      for (uint32_t k = 0; k < w->n_buffers; k++)
        if (filled[k]) memset(bytes[k], 0, w->buffers[k].bytes);
    if (study_open(w, &run, NULL, i ? &first : NULL, &s, &d) != HD_OK) fail_msg("%s", d.message);
    info[i] = hd_trace_get_info(hd_study_trace(s, 0));
    hd_study_close(s);
  }
  assert_int_equal(info[0].warp_accesses, info[1].warp_accesses);
  assert_int_equal(info[0].sectors, info[1].sectors);
  assert_true(info[2].warp_accesses < info[0].warp_accesses);
  launch_bytes_free(w, bytes);
  free(filled);
  hd_workload_close(w);
}

static void what_bypasses_does_not_reach_l1(void **state) {
  skip_without_compiler();
  session z = open_session("bfs", "tiny", "gtx580");
  hd_counters all = replay(&z, "baseline"), none = replay(&z, "bypass=l1:0");
  assert_true(all.l1_sectors > 0);
  assert_int_equal(none.l1_sectors, 0);
  uint64_t before = 0;
  for (unsigned k = 1; k < 8; k++) { /* CTAs of eight warps */
    char plan[64];
    snprintf(plan, sizeof plan, "bypass=l1:%u%s", k, k % 2 ? ",form=replicate" : "");
    uint64_t sectors = replay(&z, plan).l1_sectors;
    assert_true(sectors > before && sectors < all.l1_sectors);
    before = sectors;
  }
  hd_counters same = replay(&z, "bypass=l1:8");
  assert_memory_equal(&same, &all, sizeof all);
  same = replay(&z, "stream=l1");
  assert_memory_equal(&same, &none, sizeof none);
  close_session(&z);
}

/* An L2 that holds a part of the data: lines loaded under the policy go first, and the others stay. */
static void policies_of_l2_show(void **state) {
  skip_without_compiler();
  session z = open_session("kmeans", "tiny", "h100");
  z.g.l2.bytes = 8192;
  hd_counters all = replay(&z, "baseline"), same = replay(&z, "bypass=l2:8");
  assert_memory_equal(&same, &all, sizeof all);
  uint64_t least = UINT64_MAX, most = 0;
  for (unsigned k = 0; k < 8; k += 2) {
    char plan[64];
    snprintf(plan, sizeof plan, "bypass=l2:%u", k);
    hd_counters c = replay(&z, plan);
    assert_int_equal(c.l1_sectors, all.l1_sectors);
    least = c.dram_read_bytes < least ? c.dram_read_bytes : least;
    most = c.dram_read_bytes > most ? c.dram_read_bytes : most;
  }
  assert_true(least != all.dram_read_bytes || most != all.dram_read_bytes);
  close_session(&z);
}

static void renumbered_threads_coalesce(void **state) {
  skip_without_compiler();
  session z = open_session("matmul-swapped", "tiny", "gtx580");
  hd_counters before = replay(&z, "baseline"), after = replay(&z, "threads=col");
  assert_true(after.l1_sectors * 4 < before.l1_sectors);
  /* Order acts on those, too: all CTAs are resident or not, the sectors asked for are the same. */
  assert_int_equal(replay(&z, "threads=col,order=reverse").l1_sectors, after.l1_sectors);
  close_session(&z);
}

static void a_prefetch_is_one_more_access_of_the_order_it_is_for(void **state) {
  skip_without_compiler();
  session z = open_session("matmul-swapped", "tiny", "h100");
  static const char *const orders[] = {"", "order=col,", "order=tile:2x2,", "order=col,bind=claim,",
                                       "bind=agents:2,"};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
    char without[96], with[96];
    snprintf(with, sizeof with, "%sprefetch=l2:1", orders[i]);
    snprintf(without, sizeof without, "%s", orders[i][0] ? orders[i] : "baseline,");
    without[strlen(without) - 1] = 0;
    uint64_t more = replay(&z, with).l2_sectors, less = replay(&z, without).l2_sectors;
    if (more <= less)
      fail_msg("%s: %llu sectors, %s: %llu", with, (unsigned long long)more, without,
               (unsigned long long)less);
  }
  close_session(&z);
}

static void many_plans_at_once_are_as_one_after_the_other(void **state) {
  skip_without_compiler();
  session z = open_session("bfs", "tiny", "gtx580");
  static const char *const plans[] = {
      "bypass=l1:1", "threads=reverse",   "bypass=l1:2", "order=reverse,bypass=l1:1",
      "stream=0",    "threads=zigzag:64", "bypass=l2:1", "bypass=l1:3"};
  enum { N = sizeof plans / sizeof *plans, ROWS = 3 * N };
  hd_sweep_row rows[ROWS] = {0};
  hd_diag d = {0};
  for (size_t i = 0; i < ROWS; i++) assert_int_equal(hd_plan_parse(plans[i % N], &rows[i].plan, &d), HD_OK);
  assert_int_equal(hd_sweep(z.s, &z.g, HD_DISPATCH_ROUND_ROBIN, 1, rows, ROWS, 4, NULL, NULL, &d), HD_OK);
  for (size_t i = 0; i < ROWS; i++) {
    hd_counters alone = replay(&z, plans[i % N]);
    if (rows[i].status != HD_OK) fail_msg("%s: %s", plans[i % N], rows[i].why);
    assert_memory_equal(&rows[i].counters, &alone, sizeof alone);
  }
  close_session(&z);
}

/* Maxwell keeps global loads out of L1, but not read-only data. */
static void on_maxwell_read_only_loads_come_to_l1(void **state) {
  skip_without_compiler();
  session z = open_session("matmul-naive", "tiny", "gtx980");
  hd_plan p = parse_plan("bypass=ro:32");
  const hd_plan baseline = {0};
  hd_counters before, after;
  hd_check_result r;
  hd_diag d = {0};
  if (hd_study_replay(z.s, &z.g, &baseline, HD_DISPATCH_ROUND_ROBIN, 1, &before, &d) != HD_OK)
    fail_msg("%s", d.message);
  if (hd_study_replay(z.s, &z.g, &p, HD_DISPATCH_ROUND_ROBIN, 1, &after, &d) != HD_OK)
    fail_msg("%s", d.message);
  assert_int_equal(before.l1_sectors, 0);
  assert_true(after.l1_hits > after.l1_sectors / 2);
  assert_true(after.l2_sectors < before.l2_sectors / 2);
  hd_check_options o = {.no_reference = true};
  if (hd_check(z.w, &p, &o, &r, &d) != HD_OK) fail_msg("%s", d.message);
  assert_true(r.equal);
  close_session(&z);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a trace ends when it takes too long", a_trace_ends_when_it_takes_too_long),
      BEHAVIOUR("a task that is too much work ends its trace", a_task_that_is_too_much_work_ends_its_trace),
      BEHAVIOUR("runs and replays end when their time is over", runs_and_replays_end_when_their_time_is_over),
      BEHAVIOUR("runs, replays and sweeps end when they are stopped",
                runs_replays_and_sweeps_end_when_they_are_stopped),
      BEHAVIOUR("a recording that was cut off is of no use", a_recording_that_was_cut_off_is_of_no_use),
      BEHAVIOUR("a study takes contents that are given", a_study_takes_contents_that_are_given),
      BEHAVIOUR("what bypasses does not reach L1", what_bypasses_does_not_reach_l1),
      BEHAVIOUR("policies of L2 show in what DRAM reads", policies_of_l2_show),
      BEHAVIOUR("renumbered threads coalesce", renumbered_threads_coalesce),
      BEHAVIOUR("a prefetch is one more access, of the order it is for",
                a_prefetch_is_one_more_access_of_the_order_it_is_for),
      BEHAVIOUR("many plans at once are as one after the other",
                many_plans_at_once_are_as_one_after_the_other),
      BEHAVIOUR("on Maxwell loads of memory that nobody writes come to L1",
                on_maxwell_read_only_loads_come_to_l1),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
