/* Replaying traces: which SM runs which task, and when. */
#include "model/replay.h"

/* ---- Dispatch, residency, order ----------------------------------------------------------------- */

/* Tasks come in groups that read one block, larger than an L1 shares with others; ctx: the
 * number of groups, interleaved over the task numbers. */
static void shared_block_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp,
                              void *ctx) {
  uint64_t groups = *(const uint64_t *)ctx, block = task % groups * 2048;
  for (uint64_t k = 0; k < 16; k++) synth_put(h, worker, task, warp, 0, HD_ACCESS_LOAD, block + k * 128, 4);
}

static void an_order_that_gathers_sharers_on_an_sm_hits_more(void **state) {
  uint64_t groups = 64, n = 1024;
  hd_trace *t = synth_trace((uint32_t)n, 32, shared_block_warp, &groups);
  hd_gpu g = synth_gpu();
  hd_table order = {calloc(n, sizeof *order.task), n};
  /* Worker u runs on SM u mod 4: each SM works through its 16 groups one after the other. */
  for (uint64_t u = 0; u < n; u++) {
    uint64_t sm = u % 4, at = u / 4;
    order.task[u] = (uint32_t)(sm * 16 + at / 16 + groups * (at % 16));
  }
  hd_replay_options o = {0};
  hd_counters plain = replay_once(&g, t, &o);
  o.order = &order;
  hd_counters gathered = replay_once(&g, t, &o);
  assert_true(gathered.l1_hits > 9 * gathered.l1_sectors / 10);
  assert_true(plain.l1_hits < gathered.l1_hits / 2);
  assert_int_equal(plain.l1_sectors, gathered.l1_sectors);
  hd_table_free(&order);
  hd_trace_destroy(t);
}

/* Every fourth task is long, and all long ones read the same lines; others have lines of their own. */
enum { LONG = 400, SHORT = 4, UNEVEN = 256, SECTORS = 4 /* a line */ };
static void uneven_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  for (uint64_t k = 0; k < (task % 4 == 0 ? LONG : SHORT); k++)
    synth_put(h, worker, task, warp, 0, HD_ACCESS_LOAD, (task % 4 == 0 ? k : LONG + task * SHORT + k) * 128,
              4);
}

/* Each SM that runs long tasks misses their lines once: on how many did they run? */
static double sms_with_long_tasks(const hd_counters *c) {
  const uint64_t misses = (c->l1_sectors - c->l1_hits) / SECTORS, own = UNEVEN / 4 * 3 * SHORT;
  return (double)(misses - own) / LONG;
}

/* 4 SMs, whose L1s hold all lines. */
static hd_gpu roomy_gpu(void) {
  hd_gpu g = synth_gpu();
  g.l1.bytes = (uint64_t)g.l1.ways * 128 * 1024;
  return g;
}

static void demand_dispatch_evens_out_what_round_robin_does_not(void **state) {
  hd_trace *t = synth_trace(UNEVEN, 32, uneven_warp, NULL);
  hd_gpu g = roomy_gpu(); /* round robin gives SM 0 all the long tasks */
  hd_replay_options o = {.dispatch = {.kind = HD_DISPATCH_ROUND_ROBIN, .resident = 2}};
  hd_counters rr = replay_once(&g, t, &o);
  o.dispatch.kind = HD_DISPATCH_DEMAND;
  hd_counters demand = replay_once(&g, t, &o);
  assert_true(sms_with_long_tasks(&rr) == 1);
  assert_true(sms_with_long_tasks(&demand) == 4);
  assert_int_equal(rr.l1_sectors, demand.l1_sectors);
  hd_trace_destroy(t);
}

static void equal_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  for (uint64_t k = 0; k < 100; k++)
    synth_put(h, worker, task, warp, 0, HD_ACCESS_LOAD, (task / 4 * 100 + k) * 128, 4);
}

static void places_free_at_once_go_to_one_sm_each_first(void **state) {
  /* Four tasks in a row share their lines, and there are four SMs: a dispatcher that gave one SM several in a
   * row would make them hit in L1. */
  hd_trace *t = synth_trace(512, 32, equal_warp, NULL);
  hd_gpu g = synth_gpu();
  uint32_t ctas[4];
  hd_replay_options o = {.dispatch = {.kind = HD_DISPATCH_DEMAND, .resident = 4}, .ctas = ctas};
  hd_counters c = replay_once(&g, t, &o);
  assert_true(c.l1_hits < c.l1_sectors / 4);
  for (int i = 0; i < 4; i++) assert_in_range(ctas[i], 512 / 4 * 0.9, 512 / 4 * 1.1);
  hd_trace_destroy(t);
}

static void shared_memory_takes_from_a_unified_l1(void **state) {
  uint64_t groups = 32; /* 64 KB of blocks: all of the store, none of it for shared memory */
  hd_trace *t = synth_trace(1024, 32, shared_block_warp, &groups);
  hd_gpu g = synth_gpu();
  g.l1.bytes = 65536;
  hd_replay_options none = {0}, some = {.shared_bytes = 6144};
  g.l1_unified = true;
  hd_counters whole = replay_once(&g, t, &none), rest = replay_once(&g, t, &some);
  assert_int_equal(whole.resident, 8);
  assert_int_equal(rest.resident, 8);
  assert_true(rest.l1_hits < whole.l1_hits);
  g.l1_unified = false;
  hd_counters apart = replay_once(&g, t, &some);
  assert_int_equal(apart.l1_hits, whole.l1_hits);
  hd_trace_destroy(t);
}

/* ---- Claims ------------------------------------------------------------------------------------- */

/* The tasks of each group one after the other, so that each of the 4 queues holds whole groups. */
static hd_table gathered_groups(uint64_t n, uint64_t groups) {
  hd_table order = {calloc(n, sizeof *order.task), n};
  for (uint64_t i = 0; i < n; i++) order.task[i] = (uint32_t)(i / (n / groups) + groups * (i % (n / groups)));
  return order;
}

static void tasks_claimed_from_the_sms_queue_share_its_l1(void **state) {
  static const uint32_t queue_of[4] = {2, 0, 3, 1};
  uint64_t groups = 64, n = 1024;
  hd_trace *t = synth_trace((uint32_t)n, 32, shared_block_warp, &groups);
  hd_gpu g = synth_gpu();
  hd_table order = gathered_groups(n, groups);
  hd_counters plain = replay_once(&g, t, &(hd_replay_options){0});
  for (int agents = 0; agents < 2; agents++)
    for (int k = HD_DISPATCH_ROUND_ROBIN; k <= HD_DISPATCH_DEMAND; k++) {
      hd_replay_options o = {.order = &order,
                             .claims = {.n_queues = 4, .queue_of = queue_of, .agents = agents},
                             .dispatch = {.kind = (hd_dispatch_kind)k}};
      hd_counters c = replay_once(&g, t, &o);
      assert_true(c.l1_hits > 9 * c.l1_sectors / 10);
      assert_true(plain.l1_hits < c.l1_hits / 2);
      assert_int_equal(plain.l1_sectors, c.l1_sectors);
    }
  hd_table_free(&order);
  hd_trace_destroy(t);
}

static void agents_of_an_sm_without_tasks_take_those_of_others(void **state) {
  static const uint32_t queue_of[4] = {0, 1, 2, 3};
  hd_trace *t = synth_trace(UNEVEN, 32, uneven_warp, NULL);
  hd_gpu g = roomy_gpu();
  hd_table order = {calloc(UNEVEN, sizeof *order.task), UNEVEN};
  for (uint32_t i = 0; i < UNEVEN; i++) order.task[i] = i / 64 + 4 * (i % 64); /* queue 0: the long tasks */
  hd_replay_options o = {.order = &order,
                         .claims = {.n_queues = 4, .queue_of = queue_of, .agents = true, .active = 2}};
  hd_counters c = replay_once(&g, t, &o);
  assert_true(sms_with_long_tasks(&c) == 4);
  assert_int_equal(c.resident, 2);
  hd_table_free(&order);
  hd_trace_destroy(t);
}

/* A worker does its own stride however long that takes; those of SMs that do not run are done all the same.
 */
static void agents_with_strides_take_over_none_that_has_begun(void **state) {
  static const uint32_t queue_of[2][4] = {{0, 1, 2, 3}, {0, 1, UINT32_MAX, UINT32_MAX}};
  hd_trace *t = synth_trace(UNEVEN, 32, uneven_warp, NULL);
  hd_gpu g = roomy_gpu();
  hd_table order = {calloc(UNEVEN, sizeof *order.task), UNEVEN};
  for (uint32_t i = 0; i < UNEVEN; i++) order.task[i] = i / 64 + 4 * (i % 64); /* queue 0: the long tasks */
  const hd_counters plain = replay_once(&g, t, &(hd_replay_options){0});
  for (unsigned k = 0; k < 2; k++) {
    uint32_t ctas[4];
    hd_replay_options o = {
        .order = &order,
        .claims = {.n_queues = 4, .queue_of = queue_of[k], .agents = true, .active = 2, .strides = true},
        .ctas = ctas};
    hd_counters c = replay_once(&g, t, &o);
    assert_int_equal(c.l1_sectors, plain.l1_sectors);
    assert_int_equal(ctas[0] + ctas[1] + ctas[2] + ctas[3], UNEVEN);
    if (k == 0) assert_true(sms_with_long_tasks(&c) == 1);
    for (int i = 0; k == 0 && i < 4; i++) assert_int_equal(ctas[i], UNEVEN / 4);
  }
  hd_table_free(&order);
  hd_trace_destroy(t);
}

static void sms_without_a_queue_run_nothing(void **state) {
  static const uint32_t queue_of[4] = {UINT32_MAX, 0, UINT32_MAX, UINT32_MAX};
  uint64_t groups = 64, n = 256;
  hd_trace *t = synth_trace((uint32_t)n, 32, shared_block_warp, &groups);
  hd_gpu g = synth_gpu();
  hd_table order = gathered_groups(n, groups);
  uint32_t ctas[4];
  hd_replay_options o = {
      .order = &order, .claims = {.n_queues = 1, .queue_of = queue_of, .agents = true}, .ctas = ctas};
  hd_counters one = replay_once(&g, t, &o), all = replay_once(&g, t, &(hd_replay_options){0});
  assert_int_equal(one.l1_sectors, all.l1_sectors);
  for (int i = 0; i < 4; i++) assert_int_equal(ctas[i], i == 1 ? n : 0);
  hd_table_free(&order);
  hd_trace_destroy(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_order_that_gathers_sharers_on_an_sm_hits_more),
      cmocka_unit_test(demand_dispatch_evens_out_what_round_robin_does_not),
      cmocka_unit_test(places_free_at_once_go_to_one_sm_each_first),
      cmocka_unit_test(tasks_claimed_from_the_sms_queue_share_its_l1),
      cmocka_unit_test(agents_of_an_sm_without_tasks_take_those_of_others),
      cmocka_unit_test(agents_with_strides_take_over_none_that_has_begun),
      cmocka_unit_test(sms_without_a_queue_run_nothing),
      cmocka_unit_test(shared_memory_takes_from_a_unified_l1),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
