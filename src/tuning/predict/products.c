/* Traces without matrix products, which are most of the emulator's work on kernels with tensor cores.
 *
 * Stores of launches decide nothing where record_steering says so. That no product decides by other ways,
 * registers and shared memory, is tried: some tasks run with and without products, and must go the same
 * ways and make the same accesses. A trace proposes orders and predicts times; no proof rests on it. */
#include <string.h>

#include "predict/task_traces.h"

enum { TRIED = 3 };
/* Warp instructions of a task that is tried. */
static const uint64_t most_tried = 1 << 16;

static bool has_products(const hd_ptx_module *m) {
  for (uint32_t i = 1; i < m->n_forms; i++) {
    const hd_ptx_form *f = &m->forms[i];
    if (f->op == HD_OP_MMA || f->op == HD_OP_WGMMA || (f->op == HD_OP_WMMA && hd_ptx_form_has(f, HD_M_MMA)))
      return true;
  }
  return false;
}

static void add_access(void *ctx, const hd_trace_event *e) {
  hd_digest *h = ctx;
  const uint32_t of[] = {(uint32_t)e->task, e->warp, (uint32_t)e->kind, e->cache, e->inst, e->n};
  hd_digest_bytes(h, of, sizeof of);
  hd_digest_bytes(h, e->start, e->n * sizeof *e->start);
  hd_digest_bytes(h, e->bytes, e->n * sizeof *e->bytes);
}

/* The accesses of the launch's first task, of one in its middle and of its last. */
static hd_status try(runner *r, uint32_t launch, hd_digest *h) {
  const hd_wl_launch *l = &r->w->launches[launch];
  hd_trace *t;
  hd_status st = hd_trace_create(l->grid, l->block, TRIED, 0, &t, NULL);
  if (st != HD_OK) return st;
  const uint64_t n = hd_trace_tasks(t), tasks[TRIED] = {0, n / 2, n - 1};
  const uint64_t count = n < TRIED ? 1 : TRIED;
  hd_trace_allow_gaps(t);
  st = runner_run_some(r, launch, hd_trace_hooks(t), tasks, count, most_tried, TRIED, NULL);
  if (st == HD_OK) st = hd_trace_finish(t, NULL);
  for (uint64_t k = 0; st == HD_OK && k < count; k++) {
    const uint64_t instructions = hd_trace_task_instructions(t, tasks[k]);
    hd_digest_bytes(h, &instructions, sizeof instructions);
    st = hd_trace_walk(t, tasks[k], 1, add_access, h, NULL);
  }
  hd_trace_destroy(t);
  return st;
}

/* No launch stores what decides an access. */
static bool steered_by_nothing(const hd_compiled *code) {
  steering by = {0};
  const bool none = record_steering(code, &by, NULL) == HD_OK && by.kind == STEERED_BY_NOTHING;
  steering_free(&by);
  return none;
}

void predict_skip_products(const hd_compiled *code, runner *r) {
  hd_digest with = hd_digest_begin(), without = with;
  char a[HD_DIGEST_HEX], b[HD_DIGEST_HEX];
  if (!has_products(code->module) || !steered_by_nothing(code)) return;
  hd_status st = HD_OK;
  for (unsigned skip = 0; skip < 2; skip++) {
    hd_emu_skip_products(r->emu, skip);
    for (uint32_t k = 0; st == HD_OK && k < code->n_kernels; k++)
      st = try(r, code->kernels[k].first, skip ? &without : &with);
  }
  if (st != HD_OK || strcmp(hd_digest_hex(&with, a), hd_digest_hex(&without, b)) != 0)
    hd_emu_skip_products(r->emu, false);
}
