/* Bindings on a modelled GPU, against CLU's claims. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "session.h"

static int open_bench(void **state) {
  static session b;
  hd_diag d = {0};
  *state = NULL;
  if (!can_compile()) return 0;
  if (hd_gpu_load("gtx580", SOURCE_DIR "/gpus", &b.g, &d) != HD_OK ||
      hd_workload_open("sgemm", SOURCE_DIR "/kernels", "small", &b.w, &d) != HD_OK ||
      hd_study_open(b.w, NULL, NULL, &b.s, &d) != HD_OK)
    return -1;
  *state = &b;
  return 0;
}

static int close_bench(void **state) {
  session *b = *state;
  if (!b) return 0;
  close_session(b);
  return 0;
}

static hd_status replay(const session *b, const char *text, hd_counters *c, hd_diag *d) {
  hd_plan p = parse_plan(text);
  hd_status st = hd_study_replay(b->s, &b->g, &p, HD_DISPATCH_DEMAND, 1, c, d);
  return st;
}

static void throttled_agents_raise_l1_hits_of_an_algorithm_related_kernel(void **state) {
  const session *b = *state;
  if (!b) skip();
  hd_diag d = {0};
  hd_counters plain, agents, claim;
  assert_int_equal(replay(b, "baseline", &plain, &d), HD_OK);
  assert_int_equal(replay(b, "order=col,bind=agents:2", &agents, &d), HD_OK);
  assert_int_equal(replay(b, "order=col,bind=claim", &claim, &d), HD_OK);
  assert_int_equal(agents.l1_sectors, plain.l1_sectors);
  assert_int_equal(claim.l1_sectors, plain.l1_sectors);
  assert_true(agents.l1_hits > 5 * plain.l1_hits);
  assert_true(agents.l2_sectors < 4 * plain.l2_sectors / 5);
  assert_int_equal(agents.resident, 2);
  assert_int_equal(claim.resident, plain.resident);
}

/* Workers of an SM that each have a run of its cluster to themselves share less at any moment. */
static void segments_part_the_tasks_of_an_sm(void **state) {
  const session *b = *state;
  if (!b) skip();
  hd_diag d = {0};
  hd_counters queues, segments, single, one;
  assert_int_equal(replay(b, "order=col,bind=agents:2", &queues, &d), HD_OK);
  assert_int_equal(replay(b, "order=col,bind=agents:2,take=segments", &segments, &d), HD_OK);
  assert_int_equal(replay(b, "order=col,bind=agents:2,take=segments:1", &single, &d), HD_OK);
  assert_int_equal(replay(b, "order=col,bind=agents:1,take=segments", &one, &d), HD_OK);
  assert_int_equal(segments.l1_sectors, queues.l1_sectors);
  assert_int_equal(one.l1_sectors, queues.l1_sectors);
  assert_true(segments.l1_hits != queues.l1_hits);
  assert_int_equal(single.l1_hits, queues.l1_hits);
  assert_int_equal(segments.resident, 2);
}

/* Workers of an SM go through its cluster side by side, as if they claimed task by task, and for fewer
 * instructions. */
static void strides_keep_the_tasks_of_an_sm_together(void **state) {
  if (!*state) skip();
  session own = *(const session *)*state;
  hd_diag d = {0};
  hd_counters tasks, segments, strides;
  const hd_run_options run = {.machine.n_sms = own.g.n_sms};
  assert_int_equal(hd_study_open(own.w, &run, &(hd_study_options){.timed = true}, &own.s, &d), HD_OK);
  assert_int_equal(replay(&own, "order=col,bind=agents:2", &tasks, &d), HD_OK);
  assert_int_equal(replay(&own, "order=col,bind=agents:2,take=segments", &segments, &d), HD_OK);
  assert_int_equal(replay(&own, "order=col,bind=agents:2,take=strides", &strides, &d), HD_OK);
  hd_study_close(own.s);
  assert_int_equal(strides.l1_sectors, tasks.l1_sectors);
  assert_true(llabs((long long)strides.l1_hits - (long long)tasks.l1_hits) <
              llabs((long long)segments.l1_hits - (long long)tasks.l1_hits));
  assert_true(strides.time_us < tasks.time_us);
  assert_int_equal(strides.resident, 2);
}

static void a_partition_uses_the_sms_it_names(void **state) {
  const session *b = *state;
  if (!b) skip();
  hd_diag d = {0};
  hd_counters all, half;
  session own = *b;
  const hd_run_options run = {.machine.n_sms = b->g.n_sms};
  assert_int_equal(hd_study_open(b->w, &run, &(hd_study_options){.timed = true}, &own.s, &d), HD_OK);
  assert_int_equal(replay(&own, "bind=agents", &all, &d), HD_OK);
  assert_int_equal(replay(&own, "bind=agents,sms=0-3+8-11", &half, &d), HD_OK);
  assert_int_equal(half.l1_sectors, all.l1_sectors);
  assert_true(half.cycles_issue > 1.7 * all.cycles_issue);
  assert_int_equal(replay(&own, "bind=agents,sms=16-31", &half, &d), HD_ERR_INPUT);
  assert_non_null(strstr(d.message, "none of those named"));
  hd_study_close(own.s);
}

/* MAP 2: the CTA scheduler itself maps. Accesses are those of the rewritten kernel, its instructions are not
 * run. */
static void a_free_mapping_costs_no_instructions(void **state) {
  const session *b = *state;
  if (!b) skip();
  hd_diag d = {0};
  double us[2], plain[2];
  for (int k = 0; k < 2; k++) {
    session own = *b;
    hd_run_options run = {.machine.n_sms = b->g.n_sms};
    hd_study_options how = {.timed = true, .free_mapping = k > 0};
    hd_counters c, base;
    assert_int_equal(hd_study_open(b->w, &run, &how, &own.s, &d), HD_OK);
    assert_int_equal(replay(&own, "bind=redirect,split=rows", &c, &d), HD_OK);
    assert_int_equal(replay(&own, "baseline", &base, &d), HD_OK);
    us[k] = c.time_us;
    plain[k] = base.time_us;
    hd_study_close(own.s);
  }
  assert_true(us[1] < us[0]);
  assert_true(plain[0] == plain[1]);
}

/* However long an atomic takes, agents that know their next task wait for one at their start alone. */
static void free_agents_wait_for_no_claim_between_tasks(void **state) {
  if (!*state) skip();
  session own = *(const session *)*state;
  hd_diag d = {0};
  enum { WAY = 50000 };
  double us[2];
  const hd_run_options run = {.machine.n_sms = own.g.n_sms};
  const hd_study_options how = {.timed = true, .free_mapping = true};
  assert_int_equal(hd_study_open(own.w, &run, &how, &own.s, &d), HD_OK);
  for (int k = 0; k < 2; k++) {
    hd_counters c;
    own.g.l2_atomic_latency = k ? WAY : 1;
    assert_int_equal(replay(&own, "bind=agents:1", &c, &d), HD_OK);
    us[k] = c.time_us;
  }
  hd_study_close(own.s);
  assert_true(us[1] - us[0] < 2.5 * WAY / own.g.clock_mhz);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("throttled agents raise L1 hits of an algorithm-related kernel",
                throttled_agents_raise_l1_hits_of_an_algorithm_related_kernel),
      BEHAVIOUR("segments part the tasks of an SM", segments_part_the_tasks_of_an_sm),
      BEHAVIOUR("strides keep the tasks of an SM together", strides_keep_the_tasks_of_an_sm_together),
      BEHAVIOUR("a free mapping costs no instructions", a_free_mapping_costs_no_instructions),
      BEHAVIOUR("free agents wait for no claim between tasks", free_agents_wait_for_no_claim_between_tasks),
      BEHAVIOUR("a partition uses the SMs it names", a_partition_uses_the_sms_it_names),
  };
  return cmocka_run_group_tests(tests, open_bench, close_bench);
}
