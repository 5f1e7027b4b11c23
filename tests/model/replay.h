/* Replays of random mixes of accesses, on random GPUs, in random orders. */
#ifndef HEDDLE_TESTS_MODEL_REPLAY_H
#define HEDDLE_TESTS_MODEL_REPLAY_H

#include <math.h>

#include "model/synth.h"

typedef struct mix {
  uint64_t seed;
  uint64_t sectors;  /* of the address range */
  unsigned kinds;    /* bits 1 << hd_access_kind */
  unsigned accesses; /* per warp */
  unsigned barriers; /* one in so many accesses; 0: none. Warps may come to different numbers. */
  bool cached;       /* all loads may use L1 */
} mix;

static inline void mixed_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp,
                              void *ctx) {
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

static inline hd_counters replay(hd_model *m, const hd_trace *t, const hd_replay_options *o) {
  hd_counters c;
  hd_diag d = {0};
  char line[1400];
  if (hd_model_replay(m, t, o, &c, &d) != HD_OK) fail_msg("%s", hd_diag_line(&d, line, sizeof line));
  return c;
}

static inline hd_counters replay_once(const hd_gpu *g, const hd_trace *t, const hd_replay_options *o) {
  hd_model *m;
  assert_int_equal(hd_model_create(g, &m, NULL), HD_OK);
  hd_counters c = replay(m, t, o);
  hd_model_destroy(m);
  return c;
}

/* A random GPU: any scheduler, cache shape, write policy. */
static inline hd_gpu random_gpu(rng *r) {
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
static inline hd_table random_order(rng *r, uint64_t n) {
  hd_table t = {calloc(n, sizeof *t.task), n};
  for (uint64_t i = 0; i < n; i++) {
    uint64_t j = below(r, i + 1);
    t.task[i] = t.task[j];
    t.task[j] = (uint32_t)i;
  }
  return t;
}

static inline void expect_sane(const hd_gpu *g, const hd_counters *c, const hd_trace *t) {
  hd_trace_info info = hd_trace_get_info(t);
  assert_int_equal(c->warp_instructions, info.warp_instructions);
  assert_int_equal(c->thread_instructions, info.thread_instructions);
  assert_in_range(c->l1_hits, 0, c->l1_sectors);
  assert_in_range(c->l2_hits, 0, c->l2_sectors);
  assert_int_equal(c->l2_sectors, c->l2_read_sectors + c->l2_write_sectors);
  assert_int_equal(c->compulsory_bytes, info.read_bytes + info.written_bytes);
  assert_int_equal(c->dram_read_bytes % 32, 0);
  /* Written bytes end in DRAM: each sector is written back at least once. */
  assert_true(c->dram_write_bytes >= info.written_bytes);
  assert_true(!hd_counters_timed(c) && hd_counters_cost(c) == (double)hd_counters_traffic(c));
}

static inline void nothing_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp,
                                void *ctx) {}

#endif
