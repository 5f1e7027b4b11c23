/* Caches of GPUs that the papers propose or had: a cache of its own for read-only data, a register of
 * thresholds. */
#include "check.h"
#include "model/replay.h"

enum { TASKS = 16, WARPS = 4, TURNS = 20, LINES = 24 };

/* Each warp reads LINES lines of its task TURNS times; every second line by .nc where `both`. */
static void reader(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  const bool *both = ctx;
  for (uint32_t turn = 0; turn < TURNS; turn++)
    for (uint32_t i = 0; i < LINES; i++) {
      uint64_t addr[32];
      for (unsigned l = 0; l < 32; l++) addr[l] = (task * LINES + i) * 128 + l * 4;
      hd_access a = synth_access(task, warp, i % 2, HD_ACCESS_LOAD, 4, addr);
      if (*both && i % 2) a.cache |= HD_CACHE_READONLY;
      h->access(h->ctx, worker, &a);
    }
}

static hd_counters read_on(const hd_gpu *g, bool both, hd_bypass threshold) {
  hd_trace *t = synth_trace(TASKS, WARPS * 32, reader, &both);
  hd_replay_options o = {.dispatch = {.resident = 1}, .threshold = threshold};
  hd_counters c = replay_once(g, t, &o);
  hd_trace_destroy(t);
  return c;
}

/* Half of a task's lines fit its L1. */
static hd_gpu small_gpu(void) {
  hd_gpu g = synth_gpu();
  g.l1.bytes = 2048;
  g.l1.ways = 16;
  return g;
}

static const hd_bypass none = {0};

static void a_read_only_cache_takes_its_loads_off_l1(void **state) {
  hd_gpu one = small_gpu(), two = small_gpu();
  two.readonly = two.l1;
  hd_counters plain = read_on(&two, false, none), without = read_on(&one, true, none),
              with = read_on(&two, true, none);
  assert_int_equal(without.l1_sectors, with.l1_sectors);
  /* 12 lines in each of the two caches of 16, which have to be fetched once. */
  assert_int_equal(with.l1_sectors - with.l1_hits, TASKS * LINES * 4);
  assert_true(without.l1_sectors - without.l1_hits > 4 * (with.l1_sectors - with.l1_hits));
  assert_int_equal(plain.l1_hits, without.l1_hits);
}

static void a_register_sends_warps_from_its_threshold_on_around_l1(void **state) {
  hd_gpu g = small_gpu();
  uint64_t all = read_on(&g, false, none).l1_sectors;
  for (uint32_t k = 0; k <= WARPS + 1; k++) {
    hd_counters c = read_on(&g, false, (hd_bypass){.kind = HD_BYPASS_L1, .warps = k});
    assert_int_equal(c.l1_sectors, all / WARPS * (k < WARPS ? k : WARPS));
  }
}

static void a_register_sends_read_only_loads_around_their_cache_alone(void **state) {
  hd_gpu g = small_gpu();
  g.readonly = g.l1;
  hd_counters c = read_on(&g, true, (hd_bypass){.kind = HD_BYPASS_READONLY, .warps = 0});
  assert_int_equal(c.l1_sectors, read_on(&g, true, none).l1_sectors / 2);
  /* L1's threshold does not concern them. */
  c = read_on(&g, true, (hd_bypass){.kind = HD_BYPASS_L1, .warps = 0});
  assert_int_equal(c.l1_sectors, read_on(&g, true, none).l1_sectors / 2);
}

static void lines_that_a_register_sends_around_l2_leave_it_first(void **state) {
  hd_gpu g = small_gpu();
  g.l2.bytes = 8192; /* of 4 SMs with 24 lines each, two thirds */
  g.l1_global = false;
  g.l2.ways = 64;
  hd_counters all = read_on(&g, false, none),
              two = read_on(&g, false, (hd_bypass){.kind = HD_BYPASS_L2, .warps = 2}),
              same = read_on(&g, false, (hd_bypass){.kind = HD_BYPASS_L2, .warps = WARPS});
  assert_int_equal(same.l2_hits, all.l2_hits);
  assert_int_equal(two.l2_sectors, all.l2_sectors);
  assert_int_not_equal(two.l2_hits, all.l2_hits);
}

static void thresholds_of_both_caches_are_kept_apart(void **state) {
  hd_gpu g = small_gpu();
  uint64_t all = read_on(&g, false, none).l1_sectors;
  hd_counters c = read_on(&g, false, (hd_bypass){.kind = HD_BYPASS_L1_L2, .warps = 1, .l2_warps = 3});
  assert_int_equal(c.l1_sectors, all / WARPS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a read-only cache takes its loads off L1", a_read_only_cache_takes_its_loads_off_l1),
      BEHAVIOUR("a register sends warps from its threshold on around L1",
                a_register_sends_warps_from_its_threshold_on_around_l1),
      BEHAVIOUR("a register sends read-only loads around their cache alone",
                a_register_sends_read_only_loads_around_their_cache_alone),
      BEHAVIOUR("lines that a register sends around L2 leave it first",
                lines_that_a_register_sends_around_l2_leave_it_first),
      BEHAVIOUR("thresholds of both caches are kept apart", thresholds_of_both_caches_are_kept_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
