#include "model/pace.h"

#include <stdlib.h>
#include <string.h>

#include "model/builder.h"
#include "model/trace.h"

enum {
  STEADY = 3, /* turns of a loop after which its segments may be repeated */
  UNROLL = 4, /* turns of a loop that ptxas makes one block */
};

/* ---- Paths ------------------------------------------------------------------------------ */

/* Accesses whose instruction the run does not show: of instructions that waited for other threads. */
static void stray_events(pace_builder *b, const model_path_access *a, const model_path_access *end) {
  for (; a < end; a++)
    for (uint32_t e = 0; e < a->events; e++)
      pace_event(b, a->stmt == PATH_BARRIER ? EVENT_BARRIER : EVENT_ACCESS, false);
}

static const model_path_access *find_access(const model_path_access *a, const model_path_access *end,
                                            uint32_t stmt) {
  while (a < end && a->stmt != stmt) a++;
  return a < end ? a : NULL;
}

/* ptxas makes predicated instructions of those that a branch skips when they are few: no block ends there. */
static bool is_predicated(const pace_builder *b, uint32_t skipped) {
  return skipped && skipped <= b->gpu->ptxas.predicated;
}

static void do_run(pace_builder *b, const model_paths *paths, const model_path_run *r) {
  const model_func *f = &b->code->funcs[r->func];
  const model_path_access *a = paths->accesses.data + r->access, *end = a + r->n_access;
  uint32_t first_reg = b->first_reg[r->func];
  for (uint32_t i = r->first; i <= r->last && i <= f->n; i++) {
    const model_inst *in = &f->insts[i];
    uint32_t events = 0, wavefronts = 0;
    if (is_predicated(b, in->skips)) continue;
    if (in->leader && !(b->goes_on && i == r->first) && !is_predicated(b, in->skipped)) pace_catch_up(b);
    if (in->live) pace_begin_block(b, f, in);
    if (in->cls != CLASS_PLAIN || in->unit == UNIT_LSU) {
      uint32_t stmt = in->cls == CLASS_BARRIER ? PATH_BARRIER : in->stmt;
      const model_path_access *found = find_access(a, end, stmt);
      if (found) {
        stray_events(b, a, found);
        for (a = found; a < end && a->stmt == stmt; a++) {
          events += a->events;
          wavefronts += a->wavefronts;
        }
      }
    }
    pace_process(b, in, first_reg, events, wavefronts);
  }
  stray_events(b, a, end);
}

/* The run polls for data: turns that found nothing are the emulator's, not the GPU's. */
static bool only_polls(const pace_builder *b, const model_path_run *r) {
  const model_func *f = &b->code->funcs[r->func];
  if (r->n_access) return false;
  for (uint32_t i = r->first; i <= r->last && i < f->n; i++)
    if (f->insts[i].polls) return true;
  return false;
}

/* The last turn of a loop made the segments [from, to) and is like all that follow: make these. */
static void repeat(pace_builder *b, size_t from, size_t to, uint32_t loads_before, uint32_t times) {
  size_t n = to - from;
  uint32_t moved = (b->loads - loads_before) * times;
  if (!hd_vec_reserve(&b->out->segments, b->out->segments.n + n * times)) {
    b->failed = true;
    return;
  }
  for (uint32_t k = 0; k < times; k++)
    for (size_t i = from; i < to; i++) b->out->segments.data[b->out->segments.n++] = b->out->segments.data[i];
  for (uint32_t r = 0; r < b->n_regs; r++)
    if (b->token[r] > loads_before) b->token[r] += moved;
  for (uint32_t k = 0; k < PACE_GROUPS; k++)
    if (b->copies[k] > loads_before) b->copies[k] += moved;
  b->loads += moved;
}

/* The steps from number `from` on are one turn of a loop that accesses nothing: it goes round `times` more
 * times. */
static void repeat_steps(pace_builder *b, size_t from, uint32_t times) {
  pace_close_step(b, 0);
  model_step turn = {.repeat = times};
  for (size_t i = from; i < b->steps.n; i++) {
    const model_step *s = &b->steps.data[i];
    uint32_t issue = turn.issue + (uint32_t)s->issue * s->repeat;
    turn.issue = (uint16_t)(issue < UINT16_MAX ? issue : UINT16_MAX);
    turn.latency += s->latency * s->repeat;
    for (unsigned u = 0; u < MODEL_UNITS; u++) {
      uint32_t busy = turn.busy[u] + (uint32_t)s->busy[u] * s->repeat;
      turn.busy[u] = (uint16_t)(busy < UINT16_MAX ? busy : UINT16_MAX);
    }
  }
  if (turn.latency && !hd_vec_push(&b->steps, turn)) b->failed = true;
}

/* Turns that ptxas makes one block of. */
static uint32_t unrolled(const pace_builder *b, const model_path_run *r) {
  const model_func *f = &b->code->funcs[r->func];
  if (r->last >= f->n || (f->insts[r->last].joins && b->gpu->ptxas.unrolls_no_join)) return 1;
  return f->insts[r->last].loop == r->last - r->first + 1 ? UNROLL : 1;
}

static void do_turns(pace_builder *b, const model_paths *paths, const model_path_run *r, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    b->goes_on = k > 0;
    b->stays = k + 1 < n;
    do_run(b, paths, r);
  }
  b->goes_on = b->stays = false;
}

static void do_step(pace_builder *b, const model_paths *paths, const model_path_step *s) {
  const model_path_run *r = &paths->runs.data[s->run];
  uint32_t turns = only_polls(b, r) ? 1 : s->count, at_once = unrolled(b, r), groups = turns / at_once;
  size_t before = b->out->segments.n, made = 0;
  for (uint32_t k = 0; k < groups && !b->failed; k++) {
    size_t start = b->out->segments.n;
    uint32_t loads = b->loads;
    bool quiet = k >= STEADY && k + 1 < groups && !r->n_access;
    if (quiet) pace_close_step(b, 0);
    size_t steps = b->steps.n;
    do_turns(b, paths, r, at_once);
    size_t n = b->out->segments.n - start;
    if (quiet && !n) {
      repeat_steps(b, steps, groups - k - 1);
      break;
    }
    if (k >= STEADY && n && n == made && k + 1 < groups &&
        memcmp(b->out->segments.data + before, b->out->segments.data + start, n * sizeof(uint32_t)) == 0) {
      repeat(b, start, start + n, loads, groups - k - 1);
      break;
    }
    before = start;
    made = n;
  }
  for (uint32_t k = groups * at_once; k < turns && !b->failed; k++) do_turns(b, paths, r, 1);
}

/* A warp that issues copies and works with none of them (a producer, where warps are specialised) waits until
 * others have done with an earlier group. There is a barrier for a group that comes, and one for it to go. */
static uint32_t copies_ahead(const pace_builder *b, const model_paths *paths, const model_path *p) {
  bool copies = false;
  if (b->code->n_copy_barriers < 4) return 0;
  for (uint32_t k = 0; k < p->n_steps; k++) {
    const model_path_run *r = &paths->runs.data[paths->steps.data[p->step + k].run];
    const model_func *f = &b->code->funcs[r->func];
    for (uint32_t i = r->first; i <= r->last && i < f->n; i++) {
      const model_inst *in = &f->insts[i];
      if (in->unit == UNIT_TENSOR || in->unit == UNIT_MMA || in->cls == CLASS_SHARED_LOAD) return 0;
      copies |= in->cls == CLASS_COPY;
    }
  }
  return copies ? b->code->n_copy_barriers / 2 - 1 : 0;
}

static void do_path(pace_builder *b, const model_paths *paths, const model_path *p, model_pace_path *out) {
  memset(b->ready, 0, b->n_regs * sizeof *b->ready);
  memset(b->token, 0, b->n_regs * sizeof *b->token);
  memset(b->put_off, 0, b->n_regs * sizeof *b->put_off);
  memset(b->waited, 0, sizeof b->waited);
  memset(b->busy, 0, sizeof b->busy);
  memset(b->copies, 0, sizeof b->copies);
  b->steps.n = b->laters.n = b->unsent = b->next_later = b->tokens.n = b->held.n = 0;
  b->step = (model_step){.repeat = 1};
  b->began = b->now = 0;
  b->loads = b->n_copies = b->waited_copies = b->open_copy = 0;
  b->later_stores[GLOBAL] = b->later_stores[SHARED] = false;
  b->ahead = copies_ahead(b, paths, p);
  out->first = b->out->segments.n;
  for (uint32_t i = 0; i < p->n_steps && !b->failed; i++) do_step(b, paths, &paths->steps.data[p->step + i]);
  pace_catch_up(b);
  pace_event(b, EVENT_END, false);
  out->n = b->out->segments.n - out->first;
}

/* ---- Set-up -------------------------------------------------------------------------------- */

static void set_units(pace_builder *b, const hd_gpu *g) {
  const hd_units *u = &g->units;
  const double lanes[MODEL_UNITS] = {
      [UNIT_FMA] = u->fma, [UNIT_ALU] = u->alu,        [UNIT_IMAD] = u->alu, [UNIT_FP64] = u->fp64,
      [UNIT_XU] = u->xu,   [UNIT_LSU] = u->load_store, [UNIT_TENSOR] = 0};
  for (unsigned i = 0; i < MODEL_UNITS; i++)
    if (lanes[i] > 0) b->cycles[i] = HD_WARP * (i == UNIT_LSU ? 1.0 : (double)g->schedulers) / lanes[i];
  if (u->tensor > 0) b->cycles[UNIT_TENSOR] = b->cycles[UNIT_MMA] = (double)g->schedulers / u->tensor;
  if (u->mma > 0) b->cycles[UNIT_MMA] = (double)g->schedulers / u->mma;
  b->latency[UNIT_FMA] = b->latency[UNIT_ALU] = b->latency[UNIT_IMAD] = u->alu_latency;
  b->latency[UNIT_FP64] = u->fp64_latency;
  b->latency[UNIT_XU] = u->xu_latency;
  b->latency[UNIT_LSU] = u->shared_latency;
  b->cycles[UNIT_CONST] = u->constant;
  b->latency[UNIT_CONST] = u->constant_latency ? u->constant_latency : u->shared_latency;
  b->latency[UNIT_TENSOR] = b->latency[UNIT_MMA] = u->tensor_latency;
  b->issue = g->schedulers / g->issue_per_cycle;
  if (!b->issue) b->issue = 1;
}

static bool set_registers(pace_builder *b) {
  const model_code *c = b->code;
  b->first_reg = calloc(c->n_funcs + 1u, sizeof *b->first_reg);
  if (!b->first_reg) return false;
  uint64_t n = 0;
  for (uint32_t i = 0; i < c->n_funcs; i++) {
    b->first_reg[i] = (uint32_t)n;
    n += c->funcs[i].n_regs;
    if (n > UINT32_MAX) return false;
  }
  b->n_regs = (uint32_t)n;
  b->ready = calloc(n + 1, sizeof *b->ready);
  b->token = calloc(n + 1, sizeof *b->token);
  b->put_off = calloc(n + 1, sizeof *b->put_off);
  return b->ready && b->token && b->put_off;
}

/* The workers from the pace's last one on. */
static bool build(pace_builder *b, const hd_trace *t) {
  const unsigned n = model_trace_workers(t);
  model_pace_worker *all = realloc(b->pace->workers, n * sizeof *all);
  if (!all) return false;
  b->pace->workers = all;
  for (unsigned i = b->pace->n_workers; i < n; i++) {
    const model_paths *paths = model_trace_paths(t, i);
    b->out = &b->pace->workers[i];
    *b->out = (model_pace_worker){.paths = calloc(paths->paths.n + 1, sizeof *b->out->paths)};
    b->pace->n_workers = i + 1;
    if (!b->out->paths) return false;
    for (size_t k = 0; k < paths->paths.n; k++) {
      do_path(b, paths, &paths->paths.data[k], &b->out->paths[k]);
      if (b->failed) return false;
    }
  }
  return true;
}

hd_status model_pace_extend(model_pace *p, const hd_trace *t, const hd_gpu *g, hd_diag *d) {
  if (p->n_workers == model_trace_workers(t)) return HD_OK;
  pace_builder *b = calloc(1, sizeof *b);
  if (!b) return hd_nomem(d);
  *b = (pace_builder){.pace = p, .code = model_trace_code(t), .gpu = g};
  set_units(b, g);
  const bool ok = set_registers(b) && build(b, t);
  hd_vec_free(&b->steps);
  hd_vec_free(&b->laters);
  hd_vec_free(&b->held);
  hd_vec_free(&b->tokens);
  free(b->first_reg);
  free(b->ready);
  free(b->token);
  free(b->put_off);
  free(b);
  return ok ? HD_OK : hd_nomem(d);
}

hd_status model_pace_make(const hd_trace *t, const hd_gpu *g, uint32_t registers, model_pace **out,
                          hd_diag *d) {
  *out = NULL;
  if (!model_trace_finished(t) || !model_trace_code(t))
    return hd_fail(d, HD_ERR_USAGE, "a clock needs a finished trace that kept its warps' paths");
  model_pace *p = calloc(1, sizeof *p);
  if (!p) return hd_nomem(d);
  p->registers = registers;
  const hd_status st = model_pace_extend(p, t, g, d);
  if (st == HD_OK)
    *out = p;
  else
    model_pace_destroy(p);
  return st;
}

void model_pace_destroy(model_pace *p) {
  if (!p) return;
  for (unsigned i = 0; p->workers && i < p->n_workers; i++) {
    hd_vec_free(&p->workers[i].segments);
    free(p->workers[i].paths);
  }
  free(p->workers);
  hd_vec_free(&p->steps);
  hd_vec_free(&p->segments);
  model_index_free(&p->by_segment);
  free(p);
}
