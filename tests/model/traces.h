/* tests/model/traces.h: traces of random tasks, and a comparison of their streams. */
#ifndef HEDDLE_TESTS_MODEL_TRACES_H
#define HEDDLE_TESTS_MODEL_TRACES_H

#include "model/synth.h"

#include "model/trace.h"

enum { WARPS = 4, SPACE = 1 << 16 }; /* sectors in the address range used */

/* Random accesses of one task: always the same for the same (seed, task). */
static inline void random_task(const hd_emu_hooks *h, unsigned worker, uint64_t seed, uint64_t task) {
  rng r = {seed, task << 20};
  for (int k = 0; k < 60; k++) {
    uint64_t addr[32], base = below(&r, SPACE / 2) * 32, step = 4 * below(&r, 30);
    for (unsigned i = 0; i < 32; i++) addr[i] = below(&r, 4) ? base + i * step : below(&r, SPACE * 8) * 4;
    hd_access a = synth_access(task, (uint32_t)below(&r, WARPS), (uint32_t)below(&r, 9),
                               (hd_access_kind)below(&r, 4), 4, addr);
    a.mask = below(&r, 3) ? UINT32_MAX : (uint32_t)next(&r);
    a.space = below(&r, 8) ? HD_SPACE_GLOBAL : HD_SPACE_SHARED;
    h->access(h->ctx, worker, &a);
    if (!below(&r, 10)) h->barrier(h->ctx, worker, task, a.warp);
  }
}

static inline void run_task(const hd_emu_hooks *h, unsigned worker, uint64_t seed, uint64_t task) {
  h->cta_start(h->ctx, worker, task, 0);
  random_task(h, worker, seed, task);
  h->cta_end(h->ctx, worker, task, 100 + task, 3000 + task);
}

static inline hd_trace *create(uint32_t tasks, unsigned workers) {
  const uint32_t grid[3] = {tasks, 1, 1}, block[3] = {WARPS * 32, 1, 1};
  hd_trace *t;
  assert_int_equal(hd_trace_create(grid, block, workers, 0, &t, NULL), HD_OK);
  return t;
}

static inline void expect_same_streams(const hd_trace *a, const hd_trace *b, uint32_t tasks) {
  static model_stream_slot slots[2][STREAM_SLOTS];
  for (uint64_t task = 0; task < tasks; task++)
    for (uint32_t w = 0; w < WARPS; w++) {
      model_stream_reader r[2];
      model_stream_event e[2];
      model_trace_open(a, task, w, &r[0], slots[0]);
      model_trace_open(b, task, w, &r[1], slots[1]);
      do {
        for (int i = 0; i < 2; i++) model_stream_next(&r[i], &e[i]);
        assert_int_equal(e[0].slot, e[1].slot);
        if (e[0].slot == STREAM_END || e[0].slot == STREAM_BARRIER) continue;
        assert_int_equal(e[0].attr, e[1].attr);
        model_lines lines[2];
        for (int i = 0; i < 2; i++) model_stream_lines(&e[i], &lines[i]);
        assert_int_equal(lines[0].n, lines[1].n);
        assert_memory_equal(lines[0].line, lines[1].line, lines[0].n * sizeof *lines[0].line);
        assert_memory_equal(lines[0].touched, lines[1].touched, lines[0].n);
      } while (e[0].slot != STREAM_END);
    }
}

#endif
