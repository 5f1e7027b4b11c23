/* Workers whose queue is empty search for other queues' tasks. */
#include "../../src/models/model/replay.h"

#include "model/dispatch.h"
#include "model/synth.h"

static void one_load(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  synth_put(h, worker, task, warp, 0, HD_ACCESS_LOAD, task * 128, 4);
}

/* A clock's dispatcher of 8 tasks of 8 warps, two in each SM's queue. */
typedef struct searching {
  hd_gpu gpu;
  hd_trace *trace;
  hd_model *model;
  hd_table order;
  model_dispatcher q;
} searching;

static void begin_search(searching *s, bool agents, bool by_warp) {
  static const uint32_t queue_of[4] = {0, 1, 2, 3};
  hd_diag d;
  s->gpu = synth_gpu();
  s->gpu.l1_lines_per_cycle = 0.5;
  s->trace = synth_trace(8, 256, one_load, NULL);
  s->order = (hd_table){calloc(8, sizeof *s->order.task), 8};
  for (uint32_t i = 0; i < 8; i++) s->order.task[i] = i;
  assert_int_equal(hd_model_create(&s->gpu, &s->model, &d), HD_OK);
  const hd_replay_options o = {
      .order = &s->order,
      .dispatch = {.kind = HD_DISPATCH_DEMAND},
      .timed = true,
      .claims = {.n_queues = 4, .queue_of = queue_of, .agents = agents, .by_warp = by_warp}};
  assert_true(model_dispatch_init(&s->q, s->model, s->trace, &o, 2));
  assert_true(dispatch_search_init(&s->q.search, s->gpu.n_sms, 2));
  assert_true(model_replay_make_sms(s->model, s->gpu.l1.bytes));
  for (uint32_t i = 0; i < s->gpu.n_sms; i++) model_sm_reset(&s->model->sms[i], s->trace, 2);
}

static void end_search(searching *s) {
  model_dispatch_free(&s->q);
  hd_model_destroy(s->model);
  hd_table_free(&s->order);
  hd_trace_destroy(s->trace);
}

/* The worker that gets place 0 of an SM claims from its queue. */
static void claim_own(searching *s, uint32_t sm, uint64_t queue) {
  uint64_t worker;
  assert_true(model_dispatch_next(&s->q, sm, 0, 4, 1000, &worker));
  assert_int_equal(worker / 2, queue);
}

static void search(searching *s, uint32_t sm, uint32_t cta) {
  uint64_t worker;
  assert_false(model_dispatch_next(&s->q, sm, cta, 4, 1000, &worker));
}

/* The cycle by which so many searches are over. */
static uint64_t over_after(searching *s, uint32_t searches) {
  const uint32_t all = s->q.search.n;
  uint64_t now = 0;
  while (s->q.search.n > all - searches) model_dispatch_search(&s->q, s->model, now = s->q.search.wake);
  return now;
}

/* Of two that see the same last task one gets it; the other looks again, and tries the next queue. */
static void workers_that_see_the_same_last_task_search_on(void **state) {
  searching s;
  begin_search(&s, false, false);
  const uint64_t once = s.q.search.look + s.q.search.way + s.q.search.code;
  for (int i = 0; i < 2; i++) claim_own(&s, 0, 0);
  claim_own(&s, 1, 1);
  for (uint32_t i = 0; i < 2; i++) search(&s, 0, i);
  const uint64_t first = over_after(&s, 1), second = over_after(&s, 1);
  assert_int_equal(second - first, once);
  assert_int_equal(model_dispatch_left(&s.q, 1), 0);
  assert_int_equal(model_dispatch_left(&s.q, 2), 1);
  assert_int_equal(s.q.started, 2);
  end_search(&s);
}

static void warps_that_search_at_once_wait_for_each_other(void **state) {
  uint64_t cycles[2];
  for (int by_warp = 0; by_warp < 2; by_warp++) {
    searching s;
    begin_search(&s, false, by_warp);
    for (int i = 0; i < 2; i++) claim_own(&s, 0, 0);
    s.q.search.look = s.q.search.way = 0;
    search(&s, 0, 0);
    const uint64_t begin = s.q.search.wake;
    cycles[by_warp] = over_after(&s, 1) - begin;
    end_search(&s);
  }
  assert_int_equal(cycles[0], 4 * 2);     /* four queues, a line in two cycles */
  assert_int_equal(cycles[1], 8 * 4 * 2); /* by each of the 8 warps */
}

static void a_launch_ends_when_the_last_agent_has_left(void **state) {
  searching s;
  begin_search(&s, true, false);
  for (uint32_t i = 0; i < 8; i++) claim_own(&s, i / 2, i / 2);
  assert_int_equal(model_dispatch_tail(&s.q, 5000), s.q.search.fence);
  for (uint32_t i = 0; i < 2; i++) search(&s, i, 0);
  over_after(&s, 2);
  const uint64_t tail = model_dispatch_tail(&s.q, 1000) - s.q.search.fence;
  assert_true(tail >= 2 * s.q.search.way + s.q.search.look); /* the claim, the look, the count */
  assert_int_equal(model_dispatch_tail(&s.q, 1000 + tail), s.q.search.fence);
  end_search(&s);
}

/* Its own queue's next task is an agent's own from the beginning of the one before. */
static void a_task_claimed_ahead_is_nobody_elses(void **state) {
  for (int ahead = 0; ahead < 2; ahead++) {
    searching s;
    begin_search(&s, true, false);
    s.q.claims.ahead = ahead;
    claim_own(&s, 0, 0);
    assert_int_equal(model_dispatch_left(&s.q, 0), ahead ? 0 : 1);
    claim_own(&s, 0, 0);
    assert_int_equal(model_dispatch_left(&s.q, 0), 0);
    end_search(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(workers_that_see_the_same_last_task_search_on),
      cmocka_unit_test(warps_that_search_at_once_wait_for_each_other),
      cmocka_unit_test(a_launch_ends_when_the_last_agent_has_left),
      cmocka_unit_test(a_task_claimed_ahead_is_nobody_elses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
