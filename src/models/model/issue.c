/* How a warp's instructions become steps: when each issues, what it waits for, and what ptxas puts off so
 * that loads are under way together. */
#include "model/builder.h"

enum {
  /* Registers that a thread has for loads at least: reduce, at 30 of 32, has two or three under way. */
  ROOM = 2,
  CHAIN = 4, /* operations of more machine instructions than that are chains of dependent ones */
  MOST_ISSUE = UINT16_MAX / 2,
};

static bool under_way(const pace_builder *b, uint32_t token) {
  return token && token + PACE_RING > b->loads && b->waited[token & (PACE_RING - 1)] != token;
}

static void wait_for(pace_builder *b, uint32_t token) {
  if (!under_way(b, token)) return;
  pace_close_step(b, token);
  b->waited[token & (PACE_RING - 1)] = token;
}

static bool is_pending(const pace_builder *b, const model_inst *in, uint32_t first_reg) {
  for (uint32_t i = 0; i < in->n_src; i++) {
    uint32_t r = first_reg + in->regs[i];
    if (b->put_off[r] || under_way(b, b->token[r])) return true;
  }
  return false;
}

/* Wait until its operands that no load brings are there. */
static void await_results(pace_builder *b, const model_inst *in, uint32_t first_reg) {
  for (uint32_t i = 0; i < in->n_src; i++) {
    uint64_t ready = b->ready[first_reg + in->regs[i]];
    if (ready > b->now) b->now = ready;
  }
}

/* Wait until its operands are there. */
static void await_operands(pace_builder *b, const model_inst *in, uint32_t first_reg) {
  for (uint32_t i = 0; i < in->n_src; i++) wait_for(b, b->token[first_reg + in->regs[i]]);
  await_results(b, in, first_reg);
}

static void set_results(pace_builder *b, const model_inst *in, uint32_t first_reg, uint64_t ready,
                        uint32_t token) {
  for (uint32_t i = in->n_src; i < in->n_src + in->n_dst; i++) {
    uint32_t r = first_reg + in->regs[i];
    b->ready[r] = ready;
    b->token[r] = token;
    b->put_off[r] = false;
  }
}

/* Issue it now. Returns when its result is there. */
static uint64_t issue(pace_builder *b, const model_inst *in, uint32_t wavefronts) {
  uint32_t n = in->n + in->refined + in->alu + in->imad, unit = in->unit,
           latency = b->latency[unit] + in->late;
  if (!n) return in->words ? b->joined : b->now;
  if (b->step.issue + n * b->issue > PACE_CHUNK && b->step.issue) pace_close_step(b, 0);
  double busy = in->n * b->cycles[unit];
  b->busy[UNIT_FMA] += in->refined * b->cycles[UNIT_FMA];
  b->busy[UNIT_ALU] += in->alu * b->cycles[UNIT_ALU];
  b->busy[UNIT_IMAD] += in->imad * b->cycles[UNIT_IMAD];
  if (unit == UNIT_TENSOR || unit == UNIT_MMA) {
    busy = in->work * b->cycles[unit];
    latency += (uint32_t)busy;
  }
  if (unit == UNIT_CONST && wavefronts > 1) {
    busy *= wavefronts;
    latency += (uint32_t)((wavefronts - 1) * b->gpu->units.constant_word_latency);
  }
  if (wavefronts && wavefronts < in->words / 2u) wavefronts = in->words / 2u;
  if (unit == UNIT_LSU && wavefronts > busy) {
    busy = wavefronts;
    latency += wavefronts;
  }
  b->busy[unit] += busy;
  b->step.issue =
      (uint16_t)(b->step.issue + n * b->issue < MOST_ISSUE ? b->step.issue + n * b->issue : MOST_ISSUE);
  uint64_t there = b->now + (n - 1) * b->issue + latency;
  if (in->n > CHAIN) there = b->now + n * latency;
  if (in->alu) there = b->now + in->n * latency + (in->alu + in->imad) * b->latency[UNIT_ALU];
  if (in->refined) there += in->refined * b->latency[UNIT_FMA] * 2 / 3; /* some beside each other */
  b->now += n * b->issue;
  if (in->words) b->joined = there;
  return there;
}

/* An access of global memory: its event takes the load/store pipeline for as long as L1 needs (clock.h). */
static uint64_t issue_access(pace_builder *b, const model_inst *in) {
  double before = b->busy[UNIT_LSU];
  uint64_t there = issue(b, in, 0);
  if (in->unit == UNIT_LSU && b->busy[UNIT_LSU] > before) b->busy[UNIT_LSU] = before;
  return there;
}

/* Its operands from loads are there. */
static void do_plain(pace_builder *b, const model_inst *in, uint32_t first_reg, uint32_t wavefronts) {
  await_results(b, in, first_reg);
  uint64_t there = issue(b, in, wavefronts);
  set_results(b, in, first_reg, there, 0);
}

static void execute(pace_builder *b, const model_inst *in, uint32_t first_reg, uint32_t wavefronts) {
  await_operands(b, in, first_reg);
  do_plain(b, in, first_reg, wavefronts);
}

/* The first instruction that was put off and is not done. Its registers may have got other loads' results
 * since. */
static void do_later(pace_builder *b) {
  later *own = &b->laters.data[b->next_later++];
  const later l = *own;
  for (uint32_t i = 0; i < l.n_tokens; i++) wait_for(b, b->tokens.data[l.token + i]);
  if (!l.issued) {
    do_plain(b, l.inst, l.first_reg, l.wavefronts);
    return;
  }
  await_results(b, l.inst, l.first_reg);
  pace_send(b, own);
}

void pace_catch_up(pace_builder *b) {
  while (b->next_later < b->laters.n) do_later(b);
  b->laters.n = b->unsent = b->next_later = b->tokens.n = b->held.n = 0;
  b->later_stores[GLOBAL] = b->later_stores[SHARED] = false;
}

void pace_begin_block(pace_builder *b, const model_func *f, const model_inst *in) {
  const hd_gpu *g = b->gpu;
  uint32_t most = !g->ptxas.registers  ? g->registers / g->max_threads
                  : b->pace->registers ? b->pace->registers
                                       : g->ptxas.registers;
  if (f->most_live > most) most = f->most_live;
  const uint32_t live = in->live;
  b->room = most > live + ROOM ? most - live : ROOM;
  b->words = f->words;
}

/* ptxas takes no more registers for loads than leave room for all warps: the oldest are used before another
 * is issued. */
static void make_room(pace_builder *b, const model_inst *in, const uint8_t *words) {
  uint32_t own = 0;
  for (uint32_t i = in->n_src; i < in->n_src + in->n_dst; i++) own += words[in->regs[i]];
  for (;;) {
    uint32_t taken = own;
    size_t left = 0;
    for (size_t i = 0; i < b->held.n; i++) {
      if (!under_way(b, b->held.data[i].token)) continue;
      taken += b->held.data[i].words;
      b->held.data[left++] = b->held.data[i];
    }
    b->held.n = left;
    if (taken <= b->room || b->next_later == b->laters.n) break;
    do_later(b);
  }
  if (!hd_vec_push(&b->held, ((held){.token = b->loads + 1, .words = own}))) b->failed = true;
}

static void put_off(pace_builder *b, const model_inst *in, uint32_t first_reg, uint32_t wavefronts,
                    bool issued) {
  later l = {.inst = in,
             .first_reg = first_reg,
             .wavefronts = wavefronts,
             .token = (uint32_t)b->tokens.n,
             .issued = issued};
  for (uint32_t i = 0; i < in->n_src; i++) {
    const uint32_t token = b->token[first_reg + in->regs[i]];
    if (!under_way(b, token)) continue;
    if (!hd_vec_push(&b->tokens, token)) b->failed = true;
    l.n_tokens++;
  }
  if (!hd_vec_push(&b->laters, l)) b->failed = true;
  for (uint32_t i = in->n_src; !issued && i < in->n_src + in->n_dst; i++)
    b->put_off[first_reg + in->regs[i]] = true;
}

/* `joins`: it counts as a part of the load before. */
static void load(pace_builder *b, const model_inst *in, uint32_t first_reg, uint32_t events, bool joins) {
  uint64_t there = issue_access(b, in);
  for (uint32_t e = 0; e < events; e++) pace_event(b, EVENT_LOAD, joins || e > 0);
  if (events) {
    set_results(b, in, first_reg, b->gpu->l1_latency_to_use ? b->now : there, b->loads);
    return;
  }
  /* No lane ran it: a load of the same registers under the opposite guard may be on its way. */
  for (uint32_t i = in->n_src; i < in->n_src + in->n_dst; i++) {
    b->ready[first_reg + in->regs[i]] = there;
    b->put_off[first_reg + in->regs[i]] = false;
  }
}

static void store(pace_builder *b, const model_inst *in, uint32_t first_reg, uint32_t events, bool pending) {
  if (!pending) {
    await_operands(b, in, first_reg);
    issue_access(b, in);
    for (uint32_t e = 0; e < events; e++) pace_event(b, EVENT_ACCESS, false);
    return;
  }
  issue_access(b, in);
  put_off(b, in, first_reg, 0, true);
  if (b->laters.n) b->laters.data[b->laters.n - 1].events = events;
  b->later_stores[GLOBAL] = true;
}

static void end_group(pace_builder *b) {
  if (b->open_copy) b->copies[b->n_copies++ % PACE_GROUPS] = b->open_copy;
  b->open_copy = 0;
}

static void await_copies(pace_builder *b, const model_inst *in) {
  if (in->polls) { /* the oldest that was not waited for; a warp that only copies waits for a free place */
    end_group(b);
    if (b->waited_copies + b->ahead < b->n_copies) wait_for(b, b->copies[b->waited_copies++ % PACE_GROUPS]);
    return;
  }
  if (b->n_copies > in->keep && b->n_copies - in->keep <= PACE_GROUPS) {
    uint32_t token = b->copies[(b->n_copies - in->keep - 1) % PACE_GROUPS];
    if (token) wait_for(b, token);
  }
}

static void fence(pace_builder *b) {
  pace_catch_up(b);
  b->now += b->gpu->units.fence_latency ? b->gpu->units.fence_latency : b->gpu->l2.latency;
}

void pace_process(pace_builder *b, const model_inst *in, uint32_t first_reg, uint32_t events,
                  uint32_t wavefronts) {
  if (in->releases) fence(b);
  bool pending = is_pending(b, in, first_reg);
  if (in->expects) end_group(b);
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
    if (!events && !wavefronts && b->gpu->ptxas.pairs_guarded) {
      issue_access(b, in); /* all lanes' guards are off */
      return;
    }
    if (pending || (b->later_stores[GLOBAL] && !in->unordered)) pace_catch_up(b);
    await_operands(b, in, first_reg);
    if (events) make_room(b, in, b->words);
    load(b, in, first_reg, events, false);
    return;
  case CLASS_STORE: store(b, in, first_reg, events, pending); return;
  case CLASS_FETCH:
    store(b, in, first_reg, events, pending);
    b->now += b->gpu->units.fetch_latency;
    return;
  case CLASS_SHARED_LOAD:
    if (pending || b->later_stores[SHARED]) pace_catch_up(b);
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
    pace_catch_up(b);
    await_operands(b, in, first_reg);
    if (cls == CLASS_ATOMIC && events) b->repeats = wavefronts;
    /* The copies of a group are waited for together. */
    load(b, in, first_reg, events, cls == CLASS_COPY && b->open_copy && b->open_copy == b->loads);
    if (cls == CLASS_COPY && events) b->open_copy = b->loads;
    return;
  case CLASS_COPY_COMMIT:
    b->copies[b->n_copies++ % PACE_GROUPS] = b->open_copy;
    b->open_copy = 0;
    execute(b, in, first_reg, 0);
    return;
  case CLASS_COPY_WAIT:
    pace_catch_up(b);
    execute(b, in, first_reg, 0);
    await_copies(b, in);
    return;
  case CLASS_BARRIER:
    pace_catch_up(b);
    execute(b, in, first_reg, 0);
    for (uint32_t e = 0; e < events; e++) pace_event(b, EVENT_BARRIER, false);
    return;
  case CLASS_FENCE: execute(b, in, first_reg, 0); return;
  case CLASS_CONTROL:
    if (b->stays && in->loop) return;
    pace_catch_up(b);
    execute(b, in, first_reg, 0);
    return;
  }
}
