/* Replaying traces: what must hold whatever the model, and what it is for. */
#include <math.h>

#include "model/synth.h"

/* ---- Workloads -------------------------------------------------------------------------- */

typedef struct mix {
  uint64_t seed;
  uint64_t sectors;  /* of the address range */
  unsigned kinds;    /* bits 1 << hd_access_kind */
  unsigned accesses; /* per warp */
  unsigned barriers; /* one in so many accesses; 0: none. Warps may come to different numbers. */
  bool cached;       /* all loads may use L1 */
} mix;

static void mixed_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  const mix *m = ctx;
  rng r = {m->seed, (task * 32 + warp) << 16};
  for (unsigned k = 0; k < m->accesses; k++) {
    unsigned kind;
    do kind = (unsigned)below(&r, 4);
    while (!(m->kinds >> kind & 1));
    uint64_t addr[32], base = below(&r, m->sectors) * 32, step = 4 * below(&r, 20);
    for (unsigned i = 0; i < 32; i++)
      addr[i] = below(&r, 3) ? (base + i * step) % (m->sectors * 32) : below(&r, m->sectors) * 32;
    hd_access a = synth_access(task, warp, (uint32_t)below(&r, 5), (hd_access_kind)kind, 4, addr);
    if (!below(&r, 4)) a.mask = (uint32_t)next(&r) | 1;
    if (!m->cached) a.cache = (uint8_t)below(&r, 8);
    h->access(h->ctx, worker, &a);
    if (m->barriers && !below(&r, m->barriers)) h->barrier(h->ctx, worker, task, warp);
  }
}

static const mix all_kinds = {1, 3000, 15, 40, 6, false};
static const mix loads_only = {2, 3000, 1, 40, 0, true};

static hd_counters replay(hd_model *m, const hd_trace *t, const hd_replay_options *o) {
  hd_counters c;
  hd_diag d = {0};
  char line[1400];
  if (hd_model_replay(m, t, o, &c, &d) != HD_OK) fail_msg("%s", hd_diag_line(&d, line, sizeof line));
  return c;
}

static hd_counters replay_once(const hd_gpu *g, const hd_trace *t, const hd_replay_options *o) {
  hd_model *m;
  assert_int_equal(hd_model_create(g, &m, NULL), HD_OK);
  hd_counters c = replay(m, t, o);
  hd_model_destroy(m);
  return c;
}

/* A random GPU: any scheduler, cache shape, write policy. */
static hd_gpu random_gpu(rng *r) {
  static const uint32_t sectors[] = {32, 64, 128};
  hd_gpu g = synth_gpu();
  g.n_sms = 1 + (uint32_t)below(r, 7);
  g.scheduler = (hd_warp_scheduler)below(r, 2);
  g.l1_global = below(r, 4) != 0;
  g.l1_write = (hd_l1_write)below(r, 3);
  g.l1_mshrs = 1 + (uint32_t)below(r, 60);
  hd_cache_config *caches[] = {&g.l1, &g.l2};
  for (int i = 0; i < 2; i++) {
    caches[i]->ways = 1 + (uint32_t)below(r, 20);
    caches[i]->bytes = (uint64_t)caches[i]->ways * 128 * (1 + below(r, i ? 60 : 12));
    caches[i]->sector = sectors[below(r, 3)];
    caches[i]->hashed = below(r, 2);
  }
  g.l1.latency = 1 + (uint32_t)below(r, 50);
  g.l2.latency = g.l1.latency + (uint32_t)below(r, 200);
  g.dram_latency = g.l2.latency + (uint32_t)below(r, 400);
  return g;
}

/* A random order of n tasks. */
static hd_table random_order(rng *r, uint64_t n) {
  hd_table t = {calloc(n, sizeof *t.task), n};
  for (uint64_t i = 0; i < n; i++) {
    uint64_t j = below(r, i + 1);
    t.task[i] = t.task[j];
    t.task[j] = (uint32_t)i;
  }
  return t;
}

/* ---- What always holds --------------------------------------------------------------------- */

static void expect_sane(const hd_gpu *g, const hd_counters *c, const hd_trace *t) {
  hd_trace_info info = hd_trace_get_info(t);
  assert_int_equal(c->warp_instructions, info.warp_instructions);
  assert_int_equal(c->thread_instructions, info.thread_instructions);
  assert_in_range(c->l1_hits, 0, c->l1_sectors);
  assert_in_range(c->l2_hits, 0, c->l2_sectors);
  assert_int_equal(c->l2_sectors, c->l2_read_sectors + c->l2_write_sectors);
  assert_int_equal(c->compulsory_bytes, info.read_bytes + info.written_bytes);
  assert_int_equal(c->dram_read_bytes % 32, 0);
  /* What was written ends in DRAM: each sector at least once. */
  assert_true(c->dram_write_bytes >= info.written_bytes);
  double most = fmax(fmax(c->cycles_issue, c->cycles_l1), fmax(c->cycles_l2, c->cycles_dram));
  assert_true(c->cycles == most && c->cycles > 0);
  assert_true(fabs(c->time_us - c->cycles / g->clock_mhz) < 1e-9);
}

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
    if (stored) assert_int_equal(c.l2_write_sectors, stored); /* whatever the GPU */
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
  hd_trace_destroy(t);
  assert_int_equal(c.l1_sectors, 4 + 4);
  assert_int_equal(c.l1_hits, 4);
  assert_int_equal(c.l2_sectors, 8);
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
  g.l1.bytes = 8 * 128; /* 2 sets of 4 ways, of which 3 hold what is read again */
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

/* Every lane reads a line of its own, far from all others. */
static void scattered_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  for (uint64_t k = 0; k < 8; k++) {
    uint64_t addr[32];
    for (unsigned i = 0; i < 32; i++) addr[i] = (((task * 4 + warp) * 8 + k) * 32 + i) * 128;
    hd_access a = synth_access(task, warp, (uint32_t)k, HD_ACCESS_LOAD, 4, addr);
    a.cache = *(const uint8_t *)ctx;
    h->access(h->ctx, worker, &a);
  }
}

static void l1_is_busy_while_it_waits_for_an_mshr_and_bypassing_spares_that(void **state) {
  uint8_t cached = HD_CACHE_L1, bypassed = 0;
  hd_trace *through = synth_trace(16, 128, scattered_warp, &cached),
           *past = synth_trace(16, 128, scattered_warp, &bypassed);
  hd_gpu g = synth_gpu();
  g.l1.bytes = 1 << 20; /* room for all: no line waits for a way */
  double last = 0;
  for (uint32_t mshrs = 1024; mshrs >= 4; mshrs /= 4) {
    g.l1_mshrs = mshrs;
    hd_counters c = replay_once(&g, through, &(hd_replay_options){0});
    assert_true(c.cycles_l1 > last);
    /* So many lines in the time that one takes, on each of four SMs. */
    double least = 16 * 4 * 8 * 32 / 4.0 / mshrs * g.l2.latency;
    if (mshrs <= 16) assert_true(c.cycles_l1 > 0.9 * least);
    last = c.cycles_l1;
    hd_counters b = replay_once(&g, past, &(hd_replay_options){0});
    assert_true(b.cycles_l1 == 16 * 4 * 8 * 32 * 32 / 4 / g.l1.bytes_per_cycle);
  }
  hd_trace_destroy(through);
  hd_trace_destroy(past);
}

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

static void uneven_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  for (uint64_t k = 0; k < (task % 4 == 0 ? 400 : 4); k++)
    synth_put(h, worker, task, warp, 0, HD_ACCESS_LOAD, (task * 400 + k) * 128, 4);
}

static void demand_dispatch_evens_out_what_round_robin_does_not(void **state) {
  hd_trace *t = synth_trace(256, 32, uneven_warp, NULL);
  hd_gpu g = synth_gpu(); /* 4 SMs: round robin gives SM 0 all the long tasks */
  hd_replay_options o = {.dispatch = {.kind = HD_DISPATCH_ROUND_ROBIN, .resident = 2}};
  hd_counters rr = replay_once(&g, t, &o);
  o.dispatch.kind = HD_DISPATCH_DEMAND;
  hd_counters demand = replay_once(&g, t, &o);
  assert_true(rr.cycles_l1 >= 64 * 400);
  assert_true(demand.cycles_l1 < rr.cycles_l1 / 2);
  assert_int_equal(rr.l1_sectors, demand.l1_sectors);
  hd_trace_destroy(t);
}

static void equal_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  for (uint64_t k = 0; k < 100; k++)
    synth_put(h, worker, task, warp, 0, HD_ACCESS_LOAD, (task / 4 * 100 + k) * 128, 4);
}

static void places_free_at_once_go_to_one_sm_each_first(void **state) {
  /* Four tasks in a row share their lines, and there are four SMs: whoever lets one SM take several in a
   * row would see them hit in L1. */
  hd_trace *t = synth_trace(512, 32, equal_warp, NULL);
  hd_gpu g = synth_gpu();
  hd_replay_options o = {.dispatch = {.kind = HD_DISPATCH_DEMAND, .resident = 4}};
  hd_counters c = replay_once(&g, t, &o);
  assert_true(c.l1_hits < c.l1_sectors / 4);
  assert_true(c.cycles_l1 < 1.1 * 512 * 100 / 4);
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
  hd_trace *t = synth_trace(256, 32, uneven_warp, NULL);
  hd_gpu g = synth_gpu();
  hd_table order = {calloc(256, sizeof *order.task), 256};
  for (uint32_t i = 0; i < 256; i++) order.task[i] = i / 64 + 4 * (i % 64); /* queue 0: the long tasks */
  hd_replay_options o = {.order = &order,
                         .claims = {.n_queues = 4, .queue_of = queue_of, .agents = true, .active = 2}};
  hd_counters c = replay_once(&g, t, &o);
  assert_true(c.cycles_l1 < 40 * 400);
  assert_int_equal(c.resident, 2);
  hd_table_free(&order);
  hd_trace_destroy(t);
}

static void sms_without_a_queue_run_nothing(void **state) {
  static const uint32_t queue_of[4] = {UINT32_MAX, 0, UINT32_MAX, UINT32_MAX};
  uint64_t groups = 64, n = 256;
  hd_trace *t = synth_trace((uint32_t)n, 32, shared_block_warp, &groups);
  hd_gpu g = synth_gpu();
  hd_table order = gathered_groups(n, groups);
  hd_replay_options o = {.order = &order, .claims = {.n_queues = 1, .queue_of = queue_of, .agents = true}};
  hd_counters one = replay_once(&g, t, &o), all = replay_once(&g, t, &(hd_replay_options){0});
  assert_int_equal(one.l1_sectors, all.l1_sectors);
  assert_true(one.cycles_issue > 3.5 * all.cycles_issue);
  hd_table_free(&order);
  hd_trace_destroy(t);
}

static void issue_is_bound_by_the_busiest_sm(void **state) {
  hd_trace *t = synth_trace(6, 32, shared_block_warp, &(uint64_t){1});
  hd_gpu g = synth_gpu();
  hd_counters c = replay_once(&g, t, &(hd_replay_options){0});
  /* Six tasks of 32 warp instructions on four SMs: two of them have two, at two a cycle. */
  assert_true(c.cycles_issue == 32);
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

static void nothing_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {}

static void tasks_without_accesses_still_run(void **state) {
  hd_trace *t = synth_trace(1000, 64, nothing_warp, NULL);
  hd_gpu g = synth_gpu();
  for (int k = 0; k < 2; k++) {
    hd_counters c = replay_once(&g, t, &(hd_replay_options){.dispatch = {.kind = (hd_dispatch_kind)k}});
    assert_int_equal(c.l2_sectors, 0);
    assert_true(c.cycles_issue >= 1000 * 64 / 4 / 2);
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
      cmocka_unit_test(one_warp_hits_l1_as_a_plain_cache_does),
      cmocka_unit_test(operators_decide_which_loads_use_l1),
      cmocka_unit_test(l1_is_busy_while_it_waits_for_an_mshr_and_bypassing_spares_that),
      cmocka_unit_test(loads_that_allocate_nothing_find_what_is_there),
      cmocka_unit_test(priorities_of_either_level_act_there_alone),
      cmocka_unit_test(an_order_that_gathers_sharers_on_an_sm_hits_more),
      cmocka_unit_test(demand_dispatch_evens_out_what_round_robin_does_not),
      cmocka_unit_test(places_free_at_once_go_to_one_sm_each_first),
      cmocka_unit_test(tasks_claimed_from_the_sms_queue_share_its_l1),
      cmocka_unit_test(agents_of_an_sm_without_tasks_take_those_of_others),
      cmocka_unit_test(sms_without_a_queue_run_nothing),
      cmocka_unit_test(issue_is_bound_by_the_busiest_sm),
      cmocka_unit_test(shared_memory_takes_from_a_unified_l1),
      cmocka_unit_test(kept_caches_spare_the_second_replay_the_misses),
      cmocka_unit_test(dirty_sectors_count_once_even_when_caches_are_kept),
      cmocka_unit_test(warps_wait_at_barriers),
      cmocka_unit_test(warps_with_unequal_numbers_of_barriers_all_end),
      cmocka_unit_test(tasks_without_accesses_still_run),
      cmocka_unit_test(what_cannot_be_replayed_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
