/* Replaying traces: properties that hold for every model. */
#include "model/replay.h"

/* ---- Invariants ---------------------------------------------------------------------------- */

static void counters_are_consistent_on_any_gpu_and_order(void **state) {
  hd_trace *t = synth_trace(60, 96, mixed_warp, (void *)&all_kinds);
  rng r = {11, 0};
  for (int k = 0; k < 60; k++) {
    hd_gpu g = random_gpu(&r);
    hd_table order = random_order(&r, 60);
    hd_replay_options o = {.order = below(&r, 3) ? &order : NULL,
                           .dispatch = {.kind = (hd_dispatch_kind)below(&r, 2),
                                        .seed = next(&r),
                                        .resident = (uint32_t)below(&r, 4)}};
    hd_counters c = replay_once(&g, t, &o);
    expect_sane(&g, &c, t);
    assert_int_equal(c.resident, o.dispatch.resident ? o.dispatch.resident : 8);
    hd_table_free(&order);
  }
  hd_trace_destroy(t);
}

static void l2_is_asked_for_what_l1_misses_and_what_is_stored(void **state) {
  mix m = {3, 2000, 1 << HD_ACCESS_LOAD | 1 << HD_ACCESS_STORE, 40, 0, true};
  hd_trace *t = synth_trace(40, 64, mixed_warp, &m);
  rng r = {12, 0};
  uint64_t stored = 0;
  for (int k = 0; k < 40; k++) {
    hd_gpu g = random_gpu(&r);
    g.l1_global = true;
    hd_counters c = replay_once(&g, t, &(hd_replay_options){0});
    assert_int_equal(c.l2_read_sectors, (c.l1_sectors - c.l1_hits) * (g.l1.sector / 32));
    if (stored) assert_int_equal(c.l2_write_sectors, stored); /* on every GPU */
    stored = c.l2_write_sectors;
  }
  assert_true(stored > 0);
  hd_trace_destroy(t);
}

static void every_order_asks_l1_for_the_same_sectors(void **state) {
  hd_trace *t = synth_trace(60, 96, mixed_warp, (void *)&loads_only);
  hd_trace_info info = hd_trace_get_info(t);
  hd_gpu g = synth_gpu();
  rng r = {13, 0};
  for (int k = 0; k < 20; k++) {
    hd_table order = random_order(&r, 60);
    g.scheduler = (hd_warp_scheduler)(k % 2);
    hd_replay_options o = {.order = &order,
                           .dispatch = {.kind = (hd_dispatch_kind)(k / 2 % 2), .seed = (uint64_t)k}};
    hd_counters c = replay_once(&g, t, &o);
    assert_int_equal(c.l1_sectors, info.sectors);
    assert_int_equal(c.l2_sectors, c.l1_sectors - c.l1_hits);
    /* Cold caches: everything that is read comes from DRAM once, or more. */
    assert_true(c.dram_read_bytes >= info.read_bytes);
    assert_int_equal(c.dram_write_bytes, 0);
    hd_table_free(&order);
  }
  hd_trace_destroy(t);
}

static void caches_that_hold_everything_leave_the_compulsory_traffic(void **state) {
  mix m = {4, 4000, 1 << HD_ACCESS_LOAD | 1 << HD_ACCESS_STORE, 60, 0, true};
  hd_gpu g = synth_gpu();
  g.l2.bytes = 1 << 20;
  for (int stores = 0; stores < 2; stores++) {
    m.kinds = stores ? 1 << HD_ACCESS_STORE : 1 << HD_ACCESS_LOAD;
    hd_trace *t = synth_trace(40, 64, mixed_warp, &m);
    hd_trace_info info = hd_trace_get_info(t);
    hd_counters c = replay_once(&g, t, &(hd_replay_options){0});
    assert_int_equal(c.dram_read_bytes, info.read_bytes);
    assert_int_equal(c.dram_write_bytes, info.written_bytes);
    hd_trace_destroy(t);
  }
}

static void equal_replays_are_equal(void **state) {
  hd_trace *t = synth_trace(60, 96, mixed_warp, (void *)&all_kinds);
  hd_gpu g = synth_gpu();
  hd_model *m;
  assert_int_equal(hd_model_create(&g, &m, NULL), HD_OK);
  hd_replay_options o = {.dispatch = {.kind = HD_DISPATCH_DEMAND, .seed = 3}};
  hd_counters first = replay(m, t, &o), fresh = replay_once(&g, t, &o);
  replay(m, t, &(hd_replay_options){.dispatch = {.resident = 1}, .shared_bytes = 9000});
  hd_counters again = replay(m, t, &o);
  assert_memory_equal(&first, &fresh, sizeof first);
  assert_memory_equal(&first, &again, sizeof first);
  hd_model_destroy(m);
  hd_trace_destroy(t);
}

typedef struct pair {
  const hd_trace *t;
  hd_gpu gpu;
  hd_counters out[4];
} pair;

static void replay_worker(void *ctx, unsigned worker) {
  pair *p = ctx;
  hd_model *m;
  if (hd_model_create(&p->gpu, &m, NULL) != HD_OK) return;
  hd_model_replay(m, p->t, &(hd_replay_options){0}, &p->out[worker], NULL);
  hd_model_destroy(m);
}

static void several_models_replay_one_trace_at_once(void **state) {
  hd_trace *t = synth_trace(60, 96, mixed_warp, (void *)&all_kinds);
  pair p = {.t = t, .gpu = synth_gpu()};
  assert_true(hd_parallel(4, replay_worker, &p));
  for (int i = 1; i < 4; i++) assert_memory_equal(&p.out[0], &p.out[i], sizeof p.out[0]);
  assert_true(p.out[0].l2_sectors > 0);
  hd_trace_destroy(t);
}

/* ---- Barriers -------------------------------------------------------------------------------- */

/* Warp 0 reads a line before the barrier that the others read after it. */
static void producer_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  if (warp == 0) synth_put(h, worker, task, warp, 0, HD_ACCESS_LOAD, task * 4096, 0);
  h->barrier(h->ctx, worker, task, warp);
  if (warp != 0) synth_put(h, worker, task, warp, 1, HD_ACCESS_LOAD, task * 4096 + 32 * (warp % 4), 0);
}

static void warps_wait_at_barriers(void **state) {
  hd_trace *t = synth_trace(8, 128, producer_warp, NULL);
  hd_gpu g = synth_gpu();
  g.l1.sector = 128;
  hd_counters c = replay_once(&g, t, &(hd_replay_options){0});
  assert_int_equal(c.l1_sectors, 8 * 4);
  assert_int_equal(c.l1_hits, 8 * 3);
  hd_trace_destroy(t);
}

static void warps_with_unequal_numbers_of_barriers_all_end(void **state) {
  mix m = {7, 500, 15, 30, 2, false};
  hd_trace *t = synth_trace(30, 256, mixed_warp, &m);
  rng r = {15, 0};
  for (int k = 0; k < 10; k++) {
    hd_gpu g = random_gpu(&r);
    hd_counters c = replay_once(&g, t, &(hd_replay_options){0});
    expect_sane(&g, &c, t);
  }
  hd_trace_destroy(t);
}

static void tasks_without_accesses_still_run(void **state) {
  hd_trace *t = synth_trace(1000, 64, nothing_warp, NULL);
  hd_gpu g = synth_gpu();
  for (int k = 0; k < 2; k++) {
    hd_counters c = replay_once(&g, t, &(hd_replay_options){.dispatch = {.kind = (hd_dispatch_kind)k}});
    assert_int_equal(c.l2_sectors, 0);
    assert_int_equal(c.warp_instructions, hd_trace_get_info(t).warp_instructions);
    assert_true(c.warp_instructions > 0);
  }
  hd_trace_destroy(t);
}

/* ---- Refusals ----------------------------------------------------------------------------------- */

static void what_cannot_be_replayed_is_refused(void **state) {
  hd_trace *t = synth_trace(4, 64, nothing_warp, NULL);
  hd_gpu g = synth_gpu();
  hd_model *m;
  assert_int_equal(hd_model_create(&g, &m, NULL), HD_OK);
  hd_counters c;
  hd_diag d;
  for (int k = HD_DISPATCH_DEMAND + 1; k < HD_DISPATCH_COUNT; k++) {
    hd_replay_options o = {.dispatch = {.kind = (hd_dispatch_kind)k}};
    assert_int_equal(hd_model_replay(m, t, &o, &c, &d), HD_ERR_UNSUPPORTED);
    assert_non_null(strstr(d.message, hd_dispatch_name((hd_dispatch_kind)k)));
  }
  uint32_t tasks[5] = {0, 1, 2, 4};
  hd_table order = {tasks, 4};
  assert_int_equal(hd_model_replay(m, t, &(hd_replay_options){.order = &order}, &c, &d), HD_ERR_USAGE);
  order.n = 3;
  assert_int_equal(hd_model_replay(m, t, &(hd_replay_options){.order = &order}, &c, &d), HD_ERR_USAGE);
  assert_int_equal(hd_model_replay(m, t, &(hd_replay_options){.dispatch.resident = 9}, &c, &d), HD_ERR_USAGE);
  assert_int_equal(hd_model_replay(m, t, &(hd_replay_options){.shared_bytes = 65536}, &c, &d),
                   HD_ERR_UNSUPPORTED);
  assert_int_equal(hd_model_replay(m, t, &(hd_replay_options){.registers = 100000}, &c, &d),
                   HD_ERR_UNSUPPORTED);
  order = (hd_table){(uint32_t[]){0, 1, 2, 3}, 4};
  const uint32_t queue_of[4] = {0, 1, 2, 0};
  hd_replay_claims claims = {.n_queues = 2, .queue_of = queue_of};
  assert_int_equal(hd_model_replay(m, t, &(hd_replay_options){.claims = claims}, &c, &d), HD_ERR_USAGE);
  assert_int_equal(hd_model_replay(m, t, &(hd_replay_options){.order = &order, .claims = claims}, &c, &d),
                   HD_ERR_USAGE);
  const uint32_t one[3] = {1, 1, 1};
  hd_trace *unfinished;
  assert_int_equal(hd_trace_create(one, one, 1, 0, &unfinished, NULL), HD_OK);
  assert_int_equal(hd_model_replay(m, unfinished, &(hd_replay_options){0}, &c, &d), HD_ERR_USAGE);
  hd_trace_destroy(unfinished);
  hd_model_destroy(m);
  g.max_warps = 65;
  assert_int_equal(hd_model_create(&g, &m, &d), HD_ERR_UNSUPPORTED);
  assert_null(m);
  hd_trace_destroy(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counters_are_consistent_on_any_gpu_and_order),
      cmocka_unit_test(l2_is_asked_for_what_l1_misses_and_what_is_stored),
      cmocka_unit_test(every_order_asks_l1_for_the_same_sectors),
      cmocka_unit_test(caches_that_hold_everything_leave_the_compulsory_traffic),
      cmocka_unit_test(equal_replays_are_equal),
      cmocka_unit_test(several_models_replay_one_trace_at_once),
      cmocka_unit_test(warps_wait_at_barriers),
      cmocka_unit_test(warps_with_unequal_numbers_of_barriers_all_end),
      cmocka_unit_test(tasks_without_accesses_still_run),
      cmocka_unit_test(what_cannot_be_replayed_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
