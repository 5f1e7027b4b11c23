/* Replaying traces: the caches of a replay. */
#include "model/replay.h"

/* ---- One warp, against a reference --------------------------------------------------------- */

typedef struct step {
  uint32_t line;
  uint8_t sector, kind;
} step;
typedef struct script {
  step steps[3000];
} script;

static void scripted_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  const script *s = ctx;
  for (size_t i = 0; i < sizeof s->steps / sizeof *s->steps;
       i++) /* whole sectors: 8 lanes of 4 bytes, four times */
    for (unsigned k = 0; k < 1; k++) {
      uint64_t addr[32];
      for (unsigned l = 0; l < 32; l++)
        addr[l] = s->steps[i].line * 128ull + s->steps[i].sector * 32 + l % 8 * 4;
      hd_access a = synth_access(task, warp, 0, (hd_access_kind)s->steps[i].kind, 4, addr);
      h->access(h->ctx, worker, &a);
    }
}

typedef struct plain_line {
  uint32_t line;
  unsigned valid;
} plain_line;

/* L1 hits of the script: sets of lines, the most recently used first. */
static uint64_t plain_l1(const script *s, const hd_gpu *g) {
  uint64_t sets = g->l1.bytes / 128 / g->l1.ways, hits = 0;
  plain_line *lines = calloc(sets * g->l1.ways, sizeof *lines);
  uint32_t *n = calloc(sets, sizeof *n);
  for (size_t i = 0; i < sizeof s->steps / sizeof *s->steps; i++) {
    step at = s->steps[i];
    plain_line *set = lines + at.line % sets * g->l1.ways, found = {at.line, 0};
    uint32_t *count = &n[at.line % sets], k = 0;
    while (k < *count && set[k].line != at.line) k++;
    bool hit = k < *count, load = at.kind == HD_ACCESS_LOAD;
    bool drops =
        at.kind == HD_ACCESS_ATOMIC || (at.kind == HD_ACCESS_STORE && g->l1_write == HD_L1_WRITE_EVICT);
    if (hit) found = set[k];
    if (load) hits += found.valid >> at.sector & 1;
    if (drops && !hit) continue;
    if (drops) {
      found.valid &= ~(1u << at.sector);
      if (found.valid) {
        set[k] = found;
      } else {
        memmove(set + k, set + k + 1, (--*count - k) * sizeof *set);
      }
      continue;
    }
    if (!load && !hit && g->l1_write == HD_L1_WRITE_NO_ALLOCATE) continue;
    if (load || g->l1_write == HD_L1_WRITE_THROUGH) found.valid |= 1u << at.sector;
    if (!hit) k = *count < g->l1.ways ? (*count)++ : *count - 1;
    memmove(set + 1, set, k * sizeof *set);
    set[0] = found;
  }
  free(lines);
  free(n);
  return hits;
}

static void one_warp_hits_l1_as_a_plain_cache_does(void **state) {
  rng r = {14, 0};
  for (int k = 0; k < 30; k++) {
    script *s = calloc(1, sizeof *s);
    for (size_t i = 0; i < sizeof s->steps / sizeof *s->steps; i++)
      s->steps[i] = (step){(uint32_t)below(&r, 60), (uint8_t)below(&r, 4),
                           (uint8_t)(below(&r, 2) ? HD_ACCESS_LOAD : below(&r, 3))};
    hd_trace *t = synth_trace(1, 32, scripted_warp, s);
    hd_gpu g = synth_gpu();
    g.l1_write = (hd_l1_write)(k % 3);
    g.l1.ways = 1 + (uint32_t)below(&r, 8);
    g.l1.bytes = g.l1.ways * 128ull * (1 + below(&r, 8));
    hd_counters c = replay_once(&g, t, &(hd_replay_options){0});
    assert_int_equal(c.l1_hits, plain_l1(s, &g));
    hd_trace_destroy(t);
    free(s);
  }
}

/* ---- Cache operators ------------------------------------------------------------------------- */

static void twice_the_same(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  uint64_t addr[32];
  for (int pass = 0; pass < 2; pass++)
    for (uint64_t k = 0; k < 8; k++) {
      for (unsigned i = 0; i < 32; i++) addr[i] = k * 128 + i * 4;
      hd_access a = synth_access(task, warp, 0, HD_ACCESS_LOAD, 4, addr);
      a.cache = *(const uint8_t *)ctx;
      h->access(h->ctx, worker, &a);
    }
}

/* ctx: the cache bits of three loads of one line. */
static void in_turn(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  const uint8_t *caches = ctx;
  uint64_t addr[32];
  for (unsigned i = 0; i < 32; i++) addr[i] = i * 4;
  for (uint32_t k = 0; k < 3; k++) {
    hd_access a = synth_access(task, warp, k, HD_ACCESS_LOAD, 4, addr);
    a.cache = caches[k];
    h->access(h->ctx, worker, &a);
  }
}

static uint64_t hits_with(uint8_t cache, bool l1_global, uint64_t *sectors) {
  hd_gpu g = synth_gpu();
  g.l1_global = l1_global;
  hd_trace *t = synth_trace(1, 32, twice_the_same, &cache);
  hd_counters c = replay_once(&g, t, &(hd_replay_options){0});
  hd_trace_destroy(t);
  *sectors = c.l1_sectors;
  assert_int_equal(c.l2_sectors, (c.l1_sectors ? c.l1_sectors : 64) - c.l1_hits);
  return c.l1_hits;
}

static void operators_decide_which_loads_use_l1(void **state) {
  uint64_t sectors;
  assert_int_equal(hits_with(HD_CACHE_L1, true, &sectors), 32);
  assert_int_equal(sectors, 64);
  assert_int_equal(hits_with(0, true, &sectors), 0); /* .cg */
  assert_int_equal(sectors, 0);
  assert_int_equal(hits_with(HD_CACHE_L1, false, &sectors), 0);
  assert_int_equal(sectors, 0);
  assert_int_equal(hits_with(HD_CACHE_READONLY, false, &sectors), 32); /* .nc on Maxwell */
  assert_int_equal(hits_with(HD_CACHE_L1 | HD_CACHE_READONLY, true, &sectors), 32);
}

/* One line that other loads bring to L1, between loads of it that leave L1 alone. */
static void loads_that_allocate_nothing_find_what_is_there(void **state) {
  uint8_t na = HD_CACHE_L1_UNCHANGED;
  uint64_t sectors;
  assert_int_equal(hits_with(na, true, &sectors), 0);
  assert_int_equal(sectors, 0);
  assert_int_equal(hits_with(na, false, &sectors), 0);
  hd_gpu g = synth_gpu();
  static const uint8_t caches[] = {HD_CACHE_L1_UNCHANGED, HD_CACHE_L1, HD_CACHE_L1_UNCHANGED};
  hd_trace *t = synth_trace(1, 32, in_turn, (void *)(uintptr_t)caches);
  hd_counters c = replay_once(&g, t, &(hd_replay_options){0});
  assert_int_equal(c.l1_sectors, 4 + 4);
  assert_int_equal(c.l1_hits, 4);
  assert_int_equal(c.l2_sectors, 8);
  g.arch = 61; /* before Volta they are .cg */
  c = replay_once(&g, t, &(hd_replay_options){0});
  hd_trace_destroy(t);
  assert_int_equal(c.l1_sectors, 4);
  assert_int_equal(c.l1_hits, 0);
  assert_int_equal(c.l2_sectors, 12);
}

/* ctx: the cache bits of the stream that runs beside 6 lines which are read again and again. */
static void beside_a_stream(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  uint64_t addr[32];
  for (uint64_t k = 0; k < 16 * 64; k++) {
    for (unsigned i = 0; i < 32; i++) addr[i] = (k % 2 ? k / 2 % 6 * 128 : (1 << 20) + k / 2 * 128) + i * 4;
    hd_access a = synth_access(task, warp, k % 2, HD_ACCESS_LOAD, 4, addr);
    if (k % 2 == 0) a.cache = *(const uint8_t *)ctx;
    h->access(h->ctx, worker, &a);
  }
}

static uint64_t hits_beside(uint8_t cache, uint64_t *l2_hits) {
  hd_gpu g = synth_gpu();
  g.l1.bytes = 8 * 128; /* 2 sets of 4 ways, of which 3 hold the lines that are read again */
  g.l2.bytes = 32 * 128;
  hd_trace *t = synth_trace(1, 32, beside_a_stream, &cache);
  hd_counters c = replay_once(&g, t, &(hd_replay_options){0});
  hd_trace_destroy(t);
  *l2_hits = c.l2_hits;
  return c.l1_hits / 4;
}

static void priorities_of_either_level_act_there_alone(void **state) {
  uint64_t l2_normal, l2_first;
  assert_int_equal(hits_beside(HD_CACHE_L1, &l2_normal), 0);
  assert_int_equal(hits_beside(HD_CACHE_L1_UNCHANGED, &l2_first), 512 - 6);
  assert_true(hits_beside(HD_CACHE_L1 | HD_CACHE_L1_FIRST, &l2_first) > 256);
  assert_int_equal(hits_beside(HD_CACHE_L1 | HD_CACHE_L2_FIRST, &l2_first), 0);
  assert_true(l2_first >= l2_normal);
}

/* ---- Caches kept from launch to launch -------------------------------------------------------- */

static void kept_caches_spare_the_second_replay_the_misses(void **state) {
  mix m = {5, 500, 1 << HD_ACCESS_LOAD, 40, 0, true};
  hd_trace *t = synth_trace(20, 64, mixed_warp, &m);
  hd_gpu g = synth_gpu();
  hd_model *model;
  assert_int_equal(hd_model_create(&g, &model, NULL), HD_OK);
  hd_replay_options o = {0};
  hd_counters cold = replay(model, t, &o);
  o.keep_caches = true;
  hd_counters warm = replay(model, t, &o);
  assert_true(cold.dram_read_bytes > 0);
  assert_int_equal(warm.dram_read_bytes, 0); /* 16 KB in a 32 KB L2 */
  /* A launch finds its L1s empty. */
  assert_true(warm.l2_read_sectors >= hd_trace_get_info(t).read_bytes / 32);
  o.keep_caches = false;
  hd_counters again = replay(model, t, &o);
  assert_memory_equal(&again, &cold, sizeof cold);
  hd_model_destroy(model);
  hd_trace_destroy(t);
}

static void dirty_sectors_count_once_even_when_caches_are_kept(void **state) {
  mix m = {6, 500, 1 << HD_ACCESS_STORE, 40, 0, true};
  hd_trace *t = synth_trace(20, 64, mixed_warp, &m);
  hd_trace_info info = hd_trace_get_info(t);
  hd_gpu g = synth_gpu();
  hd_model *model;
  assert_int_equal(hd_model_create(&g, &model, NULL), HD_OK);
  hd_replay_options o = {.keep_caches = true};
  for (int k = 0; k < 3; k++) assert_int_equal(replay(model, t, &o).dram_write_bytes, info.written_bytes);
  hd_model_destroy(model);
  hd_trace_destroy(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_warp_hits_l1_as_a_plain_cache_does),
      cmocka_unit_test(operators_decide_which_loads_use_l1),
      cmocka_unit_test(loads_that_allocate_nothing_find_what_is_there),
      cmocka_unit_test(priorities_of_either_level_act_there_alone),
      cmocka_unit_test(kept_caches_spare_the_second_replay_the_misses),
      cmocka_unit_test(dirty_sectors_count_once_even_when_caches_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
