#include "model/pace.h"

#include <stdlib.h>
#include <string.h>

#include "model/trace.h"

enum {
  CHUNK = 32,  /* issue cycles after which a step ends, so that other warps get their turn */
  RING = 4096, /* loads of a warp of which is known that they were waited for: a power of two */
  STEADY = 3,  /* turns of a loop after which its segments may be repeated */
  GROUPS = 64, /* of asynchronous copies */
  UNROLL = 4,  /* turns of a loop that ptxas makes one block */
  BATCH = 16,  /* loads that it has in flight in such a block: registers are not for nothing */
  CHAIN = 4,   /* operations of more machine instructions than that are chains of dependent ones */
  MOST_ISSUE = UINT16_MAX / 2,
};

enum { GLOBAL = 0, SHARED, SPACES };

/* An instruction that waits for a load, and with which ptxas makes wait none that follow. */
typedef struct later {
  const model_inst *inst;
  uint32_t first_reg, wavefronts;
  bool issued; /* a store whose access was made: only its operands are to be waited for */
} later;

typedef struct builder {
  model_pace *pace;
  const model_code *code;
  const hd_gpu *gpu;
  double cycles[MODEL_UNITS]; /* of a pipeline for one warp instruction, per scheduler; LSU: per SM */
  uint32_t latency[MODEL_UNITS];
  uint32_t issue; /* cycles of a scheduler for one instruction */
  bool failed;

  /* The segment under construction. */
  HD_VEC(model_step) steps;
  model_step step;
  uint64_t began, now; /* cycles; only differences count */
  double busy[MODEL_UNITS];

  /* The warp. The registers of all functions lie one after the other. */
  uint32_t *first_reg; /* per function */
  uint64_t *ready;     /* per register: cycle */
  uint32_t *token;     /* per register: number of the load that brings it, from 1 on; 0: none */
  bool *put_off;       /* per register: a later instruction writes it */
  uint32_t n_regs;
  uint32_t loads;        /* so far */
  uint32_t waited[RING]; /* numbers of loads that were waited for */
  HD_VEC(later) laters;
  bool later_stores[SPACES];
  uint32_t copies[GROUPS]; /* asynchronous copies: number of the last load of each group, a ring */
  uint32_t n_copies, waited_copies;
  uint32_t open_copy; /* of the group that is not committed; 0: none */
  bool goes_on;       /* the turn of a loop goes on in the block of the turn before */
  bool stays;         /* the next turn will */
  uint32_t repeats;   /* of the atomic whose event comes next */
  uint32_t batch;     /* loads since everything that was put off was done */

  model_pace_worker *out;
} builder;

/* ---- Steps and segments ------------------------------------------------------------ */

static uint64_t hash_segment(const model_step *steps, uint32_t n, const model_segment *s) {
  uint64_t h = n ? hd_hash(steps, n * sizeof *steps) : 0;
  return h + s->event * 0x9E3779B97F4A7C15ull + s->joined + 0x51ull * s->repeats;
}

static bool grow_index(model_pace *p) {
  model_path_index *x = &p->by_segment;
  size_t cap = x->cap ? x->cap * 2 : 256;
  uint32_t *slot = calloc(cap, sizeof *slot);
  if (!slot) return false;
  for (size_t i = 0; i < x->cap; i++) {
    if (!x->slot[i]) continue;
    const model_segment *s = &p->segments.data[x->slot[i] - 1];
    size_t at = hash_segment(p->steps.data + s->step, s->n_steps, s) & (cap - 1);
    while (slot[at]) at = (at + 1) & (cap - 1);
    slot[at] = x->slot[i];
  }
  free(x->slot);
  x->slot = slot;
  x->cap = cap;
  return true;
}

/* The number of a segment of these steps: an equal one's if there is one. */
static bool intern(model_pace *p, const model_step *steps, model_segment *s, uint32_t *number) {
  model_path_index *x = &p->by_segment;
  if (4 * (x->n + 1) > 3 * x->cap && !grow_index(p)) return false;
  size_t at = hash_segment(steps, s->n_steps, s) & (x->cap - 1);
  for (; x->slot[at]; at = (at + 1) & (x->cap - 1)) {
    const model_segment *o = &p->segments.data[x->slot[at] - 1];
    if (o->n_steps != s->n_steps || o->event != s->event || o->joined != s->joined ||
        o->repeats != s->repeats)
      continue;
    if (s->n_steps && memcmp(p->steps.data + o->step, steps, s->n_steps * sizeof *steps) != 0) continue;
    *number = x->slot[at] - 1;
    return true;
  }
  s->step = (uint32_t)p->steps.n;
  if (p->segments.n >= UINT32_MAX - 1 || p->steps.n + s->n_steps > UINT32_MAX) return false;
  if (!hd_vec_reserve(&p->steps, p->steps.n + s->n_steps) || !hd_vec_push(&p->segments, *s)) return false;
  if (s->n_steps) memcpy(p->steps.data + p->steps.n, steps, s->n_steps * sizeof *steps);
  p->steps.n += s->n_steps;
  *number = (uint32_t)(p->segments.n - 1);
  x->slot[at] = *number + 1;
  x->n++;
  return true;
}

/* The step under construction ends here; the next one begins when load number `wait` has arrived (0: at
 * once). */
static void close_step(builder *b, uint32_t wait) {
  model_step *s = &b->step;
  s->latency = (uint32_t)(b->now - b->began);
  for (unsigned u = 0; u < MODEL_UNITS; u++) {
    double whole = (double)(uint64_t)b->busy[u];
    if (whole > UINT16_MAX) whole = UINT16_MAX;
    s->busy[u] = (uint16_t)whole;
    b->busy[u] -= whole;
  }
  if ((s->latency || s->wait || s->issue) && !hd_vec_push(&b->steps, *s)) b->failed = true;
  uint32_t age = wait ? b->loads - wait + 1 : 0;
  *s = (model_step){.wait = (uint16_t)(age < PACE_LOADS ? age : PACE_LOADS), .repeat = 1};
  b->began = b->now;
}

static void event(builder *b, model_event_kind kind, bool joined) {
  close_step(b, 0);
  model_segment s = {.n_steps = (uint32_t)b->steps.n,
                     .event = (uint8_t)kind,
                     .repeats = (uint16_t)b->repeats,
                     .joined = joined};
  b->repeats = 0;
  uint32_t number;
  if (!intern(b->pace, b->steps.data, &s, &number) || !hd_vec_push(&b->out->segments, number))
    b->failed = true;
  b->steps.n = 0;
  if (kind == EVENT_LOAD) b->loads++;
}

/* ---- Instructions --------------------------------------------------------------------- */

static bool under_way(const builder *b, uint32_t token) {
  return token && token + RING > b->loads && b->waited[token & (RING - 1)] != token;
}

static void wait_for(builder *b, uint32_t token) {
  if (!under_way(b, token)) return;
  close_step(b, token);
  b->waited[token & (RING - 1)] = token;
}

static bool is_pending(const builder *b, const model_inst *in, uint32_t first_reg) {
  for (uint32_t i = 0; i < in->n_src; i++) {
    uint32_t r = first_reg + in->regs[i];
    if (b->put_off[r] || under_way(b, b->token[r])) return true;
  }
  return false;
}

/* Wait until its operands are there. */
static void await_operands(builder *b, const model_inst *in, uint32_t first_reg) {
  for (uint32_t i = 0; i < in->n_src; i++) wait_for(b, b->token[first_reg + in->regs[i]]);
  for (uint32_t i = 0; i < in->n_src; i++) {
    uint64_t ready = b->ready[first_reg + in->regs[i]];
    if (ready > b->now) b->now = ready;
  }
}

static void set_results(builder *b, const model_inst *in, uint32_t first_reg, uint64_t ready,
                        uint32_t token) {
  for (uint32_t i = in->n_src; i < in->n_src + in->n_dst; i++) {
    uint32_t r = first_reg + in->regs[i];
    b->ready[r] = ready;
    b->token[r] = token;
    b->put_off[r] = false;
  }
}

/* Issue it now. Returns when its result is there. */
static uint64_t issue(builder *b, const model_inst *in, uint32_t wavefronts) {
  uint32_t n = in->n + in->refined, unit = in->unit, latency = b->latency[unit];
  if (!n) return b->now;
  if (b->step.issue + n * b->issue > CHUNK && b->step.issue) close_step(b, 0);
  double busy = in->n * b->cycles[unit];
  b->busy[UNIT_FMA] += in->refined * b->cycles[UNIT_FMA];
  if (unit == UNIT_TENSOR || unit == UNIT_MMA) {
    busy = in->work * b->cycles[unit];
    latency += (uint32_t)busy;
  }
  if (unit == UNIT_LSU && wavefronts > busy) {
    busy = wavefronts;
    latency += wavefronts;
  }
  b->busy[unit] += busy;
  b->step.issue =
      (uint16_t)(b->step.issue + n * b->issue < MOST_ISSUE ? b->step.issue + n * b->issue : MOST_ISSUE);
  uint64_t there = b->now + (n - 1) * b->issue + latency;
  if (in->n > CHAIN) there = b->now + n * latency;
  if (in->refined) there += in->refined * b->latency[UNIT_FMA] * 2 / 3; /* some beside each other */
  b->now += n * b->issue;
  return there;
}

/* An access of global memory: its event takes the load/store pipeline for as long as L1 needs (clock.h). */
static uint64_t issue_access(builder *b, const model_inst *in) {
  double before = b->busy[UNIT_LSU];
  uint64_t there = issue(b, in, 0);
  if (in->unit == UNIT_LSU && b->busy[UNIT_LSU] > before) b->busy[UNIT_LSU] = before;
  return there;
}

static void execute(builder *b, const model_inst *in, uint32_t first_reg, uint32_t wavefronts) {
  await_operands(b, in, first_reg);
  uint64_t there = issue(b, in, wavefronts);
  set_results(b, in, first_reg, there, 0);
}

/* Everything that was put off is done, in its order. */
static void catch_up(builder *b) {
  for (size_t i = 0; i < b->laters.n; i++) {
    later l = b->laters.data[i];
    if (l.issued)
      await_operands(b, l.inst, l.first_reg);
    else
      execute(b, l.inst, l.first_reg, l.wavefronts);
  }
  b->laters.n = b->batch = 0;
  b->later_stores[GLOBAL] = b->later_stores[SHARED] = false;
}

static void put_off(builder *b, const model_inst *in, uint32_t first_reg, uint32_t wavefronts, bool issued) {
  later l = {.inst = in, .first_reg = first_reg, .wavefronts = wavefronts, .issued = issued};
  if (!hd_vec_push(&b->laters, l)) b->failed = true;
  for (uint32_t i = in->n_src; !issued && i < in->n_src + in->n_dst; i++)
    b->put_off[first_reg + in->regs[i]] = true;
}

static void load(builder *b, const model_inst *in, uint32_t first_reg, uint32_t events) {
  if (b->goes_on && b->batch >= BATCH) catch_up(b);
  uint64_t there = issue_access(b, in);
  b->batch++;
  for (uint32_t e = 0; e < events; e++) event(b, EVENT_LOAD, e > 0);
  set_results(b, in, first_reg, there, events ? b->loads : 0);
}

static void await_copies(builder *b, const model_inst *in) {
  if (in->polls) { /* the oldest that was not waited for */
    if (b->open_copy) {
      b->copies[b->n_copies++ % GROUPS] = b->open_copy;
      b->open_copy = 0;
    }
    if (b->waited_copies < b->n_copies) wait_for(b, b->copies[b->waited_copies++ % GROUPS]);
    return;
  }
  if (b->n_copies > in->keep && b->n_copies - in->keep <= GROUPS) {
    uint32_t token = b->copies[(b->n_copies - in->keep - 1) % GROUPS];
    if (token) wait_for(b, token);
  }
}

static void process(builder *b, const model_inst *in, uint32_t first_reg, uint32_t events,
                    uint32_t wavefronts) {
  bool pending = is_pending(b, in, first_reg);
  unsigned cls = in->cls;
  if (!events && wavefronts && (cls == CLASS_LOAD || cls == CLASS_ATOMIC)) cls = CLASS_SHARED_LOAD;
  if (!events && wavefronts && cls == CLASS_STORE) cls = CLASS_SHARED_STORE;
  switch ((model_class)cls) {
  case CLASS_PLAIN:
    if (pending)
      put_off(b, in, first_reg, 0, false);
    else
      execute(b, in, first_reg, 0);
    return;
  case CLASS_LOAD:
    if (pending || (b->later_stores[GLOBAL] && !in->unordered)) catch_up(b);
    await_operands(b, in, first_reg);
    load(b, in, first_reg, events);
    return;
  case CLASS_STORE:
    if (pending) {
      put_off(b, in, first_reg, 0, true);
      b->later_stores[GLOBAL] = true;
    } else {
      await_operands(b, in, first_reg);
    }
    issue_access(b, in);
    for (uint32_t e = 0; e < events; e++) event(b, EVENT_ACCESS, false);
    return;
  case CLASS_SHARED_LOAD:
    if (pending || b->later_stores[SHARED]) catch_up(b);
    execute(b, in, first_reg, wavefronts);
    return;
  case CLASS_SHARED_STORE:
    if (pending) {
      put_off(b, in, first_reg, wavefronts, false);
      b->later_stores[SHARED] = true;
    } else {
      execute(b, in, first_reg, wavefronts);
    }
    return;
  case CLASS_ATOMIC:
  case CLASS_COPY:
    catch_up(b);
    await_operands(b, in, first_reg);
    if (cls == CLASS_ATOMIC && events) b->repeats = wavefronts;
    load(b, in, first_reg, events);
    if (cls == CLASS_COPY && events) b->open_copy = b->loads;
    return;
  case CLASS_COPY_COMMIT:
    b->copies[b->n_copies++ % GROUPS] = b->open_copy;
    b->open_copy = 0;
    execute(b, in, first_reg, 0);
    return;
  case CLASS_COPY_WAIT:
    catch_up(b);
    execute(b, in, first_reg, 0);
    await_copies(b, in);
    return;
  case CLASS_BARRIER:
    catch_up(b);
    execute(b, in, first_reg, 0);
    for (uint32_t e = 0; e < events; e++) event(b, EVENT_BARRIER, false);
    return;
  case CLASS_FENCE:
    catch_up(b);
    execute(b, in, first_reg, 0);
    b->now += b->gpu->units.fence_latency ? b->gpu->units.fence_latency : b->gpu->l2.latency;
    return;
  case CLASS_CONTROL:
    if (b->stays && in->loop) return;
    catch_up(b);
    execute(b, in, first_reg, 0);
    return;
  }
}

/* ---- Paths ------------------------------------------------------------------------------ */

/* Accesses whose instruction the run does not show: of instructions that waited for other threads. */
static void stray_events(builder *b, const model_path_access *a, const model_path_access *end) {
  for (; a < end; a++)
    for (uint32_t e = 0; e < a->events; e++)
      event(b, a->stmt == PATH_BARRIER ? EVENT_BARRIER : EVENT_ACCESS, false);
}

static const model_path_access *find_access(const model_path_access *a, const model_path_access *end,
                                            uint32_t stmt) {
  while (a < end && a->stmt != stmt) a++;
  return a < end ? a : NULL;
}

static void do_run(builder *b, const model_paths *paths, const model_path_run *r) {
  const model_func *f = &b->code->funcs[r->func];
  const model_path_access *a = paths->accesses.data + r->access, *end = a + r->n_access;
  uint32_t first_reg = b->first_reg[r->func];
  for (uint32_t i = r->first; i <= r->last && i <= f->n; i++) {
    const model_inst *in = &f->insts[i];
    uint32_t events = 0, wavefronts = 0;
    if (in->leader && !(b->goes_on && i == r->first)) catch_up(b);
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
    process(b, in, first_reg, events, wavefronts);
  }
  stray_events(b, a, end);
}

/* The run polls for data: turns that found nothing are the emulator's, not the GPU's. */
static bool only_polls(const builder *b, const model_path_run *r) {
  const model_func *f = &b->code->funcs[r->func];
  if (r->n_access) return false;
  for (uint32_t i = r->first; i <= r->last && i < f->n; i++)
    if (f->insts[i].polls) return true;
  return false;
}

/* The last turn of a loop made the segments [from, to) and is like all that follow: make these. */
static void repeat(builder *b, size_t from, size_t to, uint32_t loads_before, uint32_t times) {
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
  for (uint32_t k = 0; k < GROUPS; k++)
    if (b->copies[k] > loads_before) b->copies[k] += moved;
  b->loads += moved;
}

/* The steps from number `from` on are one turn of a loop that accesses nothing: it goes round `times` more
 * times. */
static void repeat_steps(builder *b, size_t from, uint32_t times) {
  close_step(b, 0);
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
static uint32_t unrolled(const builder *b, const model_path_run *r) {
  const model_func *f = &b->code->funcs[r->func];
  return r->last < f->n && f->insts[r->last].loop == r->last - r->first + 1 ? UNROLL : 1;
}

static void do_turns(builder *b, const model_paths *paths, const model_path_run *r, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    b->goes_on = k > 0;
    b->stays = k + 1 < n;
    do_run(b, paths, r);
  }
  b->goes_on = b->stays = false;
}

static void do_step(builder *b, const model_paths *paths, const model_path_step *s) {
  const model_path_run *r = &paths->runs.data[s->run];
  uint32_t turns = only_polls(b, r) ? 1 : s->count, at_once = unrolled(b, r), groups = turns / at_once;
  size_t before = b->out->segments.n, made = 0;
  for (uint32_t k = 0; k < groups && !b->failed; k++) {
    size_t start = b->out->segments.n;
    uint32_t loads = b->loads;
    bool quiet = k >= STEADY && k + 1 < groups && !r->n_access;
    if (quiet) close_step(b, 0);
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

static void do_path(builder *b, const model_paths *paths, const model_path *p, model_pace_path *out) {
  memset(b->ready, 0, b->n_regs * sizeof *b->ready);
  memset(b->token, 0, b->n_regs * sizeof *b->token);
  memset(b->put_off, 0, b->n_regs * sizeof *b->put_off);
  memset(b->waited, 0, sizeof b->waited);
  memset(b->busy, 0, sizeof b->busy);
  memset(b->copies, 0, sizeof b->copies);
  b->steps.n = b->laters.n = 0;
  b->step = (model_step){.repeat = 1};
  b->began = b->now = 0;
  b->loads = b->n_copies = b->waited_copies = b->open_copy = 0;
  b->later_stores[GLOBAL] = b->later_stores[SHARED] = false;
  out->first = b->out->segments.n;
  for (uint32_t i = 0; i < p->n_steps && !b->failed; i++) do_step(b, paths, &paths->steps.data[p->step + i]);
  catch_up(b);
  event(b, EVENT_END, false);
  out->n = b->out->segments.n - out->first;
}

/* ---- Set-up -------------------------------------------------------------------------------- */

static void set_units(builder *b, const hd_gpu *g) {
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
  b->latency[UNIT_TENSOR] = b->latency[UNIT_MMA] = u->tensor_latency;
  b->issue = g->schedulers / g->issue_per_cycle;
  if (!b->issue) b->issue = 1;
}

static bool set_registers(builder *b) {
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
static bool build(builder *b, const hd_trace *t) {
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
  builder *b = calloc(1, sizeof *b);
  if (!b) return hd_nomem(d);
  *b = (builder){.pace = p, .code = model_trace_code(t), .gpu = g};
  set_units(b, g);
  const bool ok = set_registers(b) && build(b, t);
  hd_vec_free(&b->steps);
  hd_vec_free(&b->laters);
  free(b->first_reg);
  free(b->ready);
  free(b->token);
  free(b->put_off);
  free(b);
  return ok ? HD_OK : hd_nomem(d);
}

hd_status model_pace_make(const hd_trace *t, const hd_gpu *g, model_pace **out, hd_diag *d) {
  *out = NULL;
  if (!model_trace_finished(t) || !model_trace_code(t))
    return hd_fail(d, HD_ERR_USAGE, "a clock needs a finished trace that kept its warps' paths");
  model_pace *p = calloc(1, sizeof *p);
  if (!p) return hd_nomem(d);
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
  free(p->by_segment.slot);
  free(p);
}
