/* Made-up launches, as an emulator's hooks would report them. */
#ifndef HEDDLE_TESTS_SYNTH_H
#define HEDDLE_TESTS_SYNTH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "heddle/model.h"

typedef struct rng {
  uint64_t seed, n;
} rng;
static inline uint64_t next(rng *r) { return hd_random_at(r->seed, r->n++); }
static inline uint64_t below(rng *r, uint64_t n) { return next(r) % n; }

static inline hd_access synth_access(uint64_t task, uint32_t warp, uint32_t inst, hd_access_kind kind,
                                     unsigned bytes, const uint64_t *addr) {
  return (hd_access){.task = task,
                     .warp = warp,
                     .inst = inst,
                     .line = inst,
                     .kind = (uint8_t)kind,
                     .cache = HD_CACHE_L1,
                     .space = HD_SPACE_GLOBAL,
                     .bytes = (uint8_t)bytes,
                     .mask = UINT32_MAX,
                     .addr = addr};
}

/* Lanes `step` bytes apart. */
static inline void synth_put(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp,
                             uint32_t inst, hd_access_kind kind, uint64_t base, uint64_t step) {
  uint64_t addr[32];
  for (unsigned i = 0; i < 32; i++) addr[i] = base + i * step;
  hd_access a = synth_access(task, warp, inst, kind, 4, addr);
  h->access(h->ctx, worker, &a);
}

typedef void synth_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx);

/* Trace a 1D launch whose warps run `fn`, one after the other. */
static inline hd_trace *synth_trace(uint32_t tasks, uint32_t threads, synth_warp *fn, void *ctx) {
  hd_diag d = {0};
  hd_trace *t = NULL;
  const uint32_t grid[3] = {tasks, 1, 1}, block[3] = {threads, 1, 1};
  assert_int_equal(hd_trace_create(grid, block, 1, 0, &t, &d), HD_OK);
  const hd_emu_hooks *h = hd_trace_hooks(t);
  for (uint64_t task = 0; task < tasks; task++) {
    h->cta_start(h->ctx, 0, task, 0);
    for (uint32_t w = 0; w < (threads + 31) / 32; w++) fn(h, 0, task, w, ctx);
    h->cta_end(h->ctx, 0, task, threads, (uint64_t)threads * 32);
  }
  assert_int_equal(hd_trace_finish(t, &d), HD_OK);
  return t;
}

/* A small GPU whose caches thrash easily. */
static inline hd_gpu synth_gpu(void) {
  return (hd_gpu){
      .name = "small",
      .title = "small",
      .arch = 90,
      .n_sms = 4,
      .max_ctas = 8,
      .max_warps = 32,
      .max_threads = 1024,
      .schedulers = 4,
      .registers = 65536,
      .register_unit = 256,
      .shared_bytes = 49152,
      .shared_unit = 128,
      .issue_per_cycle = 2,
      .scheduler = HD_SCHED_LRR,
      .l1_global = true,
      .l1_write = HD_L1_WRITE_EVICT,
      .l1_mshrs = 32,
      .l1 = {.bytes = 4096, .line = 128, .sector = 32, .ways = 4, .latency = 30, .bytes_per_cycle = 128},
      .l2 = {.bytes = 32768, .line = 128, .sector = 32, .ways = 8, .latency = 200, .bytes_per_cycle = 256},
      .dram_latency = 400,
      .dram_bytes_per_cycle = 64,
      .clock_mhz = 1000};
}

#endif
