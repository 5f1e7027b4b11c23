/* Atomics and waits in loops, and where their values go.
 *
 * In a loop an atomic may read in one round what others changed in the round before. It does not talk so if
 * it adds the same number in all threads each time, if it is a compare-and-swap, whose first swap stays, or
 * if its value shows in nothing but how often a loop goes round: that of a lock, or of a try again.
 *
 * Such a loop has one way out, which the value alone decides; it does nothing else that could be seen, and
 * neither the value nor the number of its rounds is used by anything else. */
#include <string.h>

#include "rewrite/levers/warp_talk.h"

typedef warp_search search;

/* What a register may tell. */
enum { VALUE = 1 /* that an instruction brought */, ROUNDS = 2 /* how often the loop went round */ };

static bool is_move(const hd_cfg *g, uint32_t inst, uint32_t from) {
  return hd_inst_form(g, inst)->op == HD_OP_MOV && !hd_inst_stmt(g, inst)->guard &&
         hd_inst_stmt(g, inst)->n_opnds == 2 && warp_reg(g, inst, 1) == from;
}

static bool is_cas(const hd_cfg *g, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(g, inst);
  return f->op == HD_OP_ATOM && hd_ptx_form_has(f, HD_M_CAS) && hd_inst_stmt(g, inst)->n_opnds >= 4;
}

static bool is_inside(const search *s, uint32_t inst) { return s->inside[s->g.insts[inst].block]; }

/* ---- Registers ---------------------------------------------------------------------------------------- */

typedef struct taint {
  uint8_t *registers, adds;
  bool grows;
} taint;

static void add_taint(void *ctx, uint32_t reg) {
  taint *t = ctx;
  t->grows |= (t->registers[reg] | t->adds) != t->registers[reg];
  t->registers[reg] |= t->adds;
}

typedef struct reader {
  const uint8_t *registers;
  uint8_t reads;
} reader;

static void see_read(void *ctx, uint32_t reg) {
  reader *r = ctx;
  r->reads |= r->registers[reg];
}

static uint8_t reads_of(const search *s, uint32_t inst) {
  reader r = {.registers = s->tainted};
  hd_inst_reads(&s->g, inst, see_read, &r);
  return r.reads;
}

/* Adds what the blocks inside compute from tainted registers. */
static void spread(const search *s) {
  const hd_cfg *g = &s->g;
  taint t = {.registers = s->tainted, .grows = true};
  while (t.grows) {
    t.grows = false;
    for (uint32_t i = 0; i < g->n_insts; i++)
      if (is_inside(s, i) && (t.adds = reads_of(s, i))) hd_inst_writes(g, i, add_taint, &t);
  }
}

static void taint_results(const search *s, uint32_t inst) {
  hd_inst_writes(&s->g, inst, add_taint, &(taint){.registers = s->tainted, .adds = VALUE});
}

static void spread_inside(const search *s, uint32_t from) {
  memset(s->tainted, 0, s->g.n_regs);
  taint_results(s, from);
  spread(s);
}

static bool leaves(const search *s, uint32_t inst) {
  const hd_cfg *g = &s->g;
  const hd_block *b = &g->blocks[g->insts[inst].block];
  if (!is_inside(s, inst) || !(hd_inst_form(g, inst)->flags & HD_OPF_LEAVES)) return false;
  for (uint32_t e = 0; e < b->n_succ; e++)
    if (!s->inside[g->edges[b->first_succ + e]]) return true;
  return false;
}

static void go_inside_loop(const search *s, uint32_t loop) {
  for (uint32_t b = 0; b < s->g.n_blocks; b++)
    s->inside[b] = hd_loop_contains(&s->g, loop, s->g.blocks[b].loop);
}

/* ---- Values that only decide whether a loop goes on ------------------------------------------------ */

/* A compare-and-swap that is tried again takes what it found for what it compares with. */
typedef struct retry {
  uint32_t inst;
  uint32_t compared; /* its operand */
  uint32_t guess; /* the register that comes into the loop, and is set to what was found; HD_NONE: none is */
} retry;

static bool written_inside(const search *s, uint32_t reg) {
  for (uint32_t w = s->writers.first[reg]; w < s->writers.first[reg + 1]; w++)
    if (is_inside(s, s->writers.insts[w])) return true;
  return false;
}

/* False: what it compares with changes in another way. */
static bool find_retry(const search *s, uint32_t loop, uint32_t inst, retry *r) {
  const hd_cfg *g = &s->g;
  *r = (retry){.inst = inst, .compared = HD_NONE, .guess = HD_NONE};
  if (!is_cas(g, inst)) return true;
  r->compared = warp_reg(g, inst, 2);
  if (r->compared == HD_NONE || !written_inside(s, r->compared)) return true;
  r->guess = r->compared;
  if (!hd_live_in(&s->live, g->loops[loop].header, r->guess)) {
    const uint32_t *w = &s->writers.first[r->compared];
    if (w[1] - w[0] != 1) return false;
    r->guess = warp_reg(g, s->writers.insts[w[0]], 1);
    if (r->guess == HD_NONE || !is_move(g, s->writers.insts[w[0]], r->guess)) return false;
  }
  for (uint32_t w = s->writers.first[r->guess]; w < s->writers.first[r->guess + 1]; w++) {
    const uint32_t by = s->writers.insts[w];
    if (is_inside(s, by) && by != inst && !is_move(g, by, warp_reg(g, inst, 0))) return false;
  }
  return true;
}

/* The branch leaves the loop where the swap found what it compares with. */
static bool ends_retry(const search *s, const retry *r, uint32_t branch) {
  const hd_cfg *g = &s->g;
  const hd_ptx_stmt *st = hd_inst_stmt(g, branch);
  const hd_block *b = &g->blocks[g->insts[branch].block];
  if (hd_inst_form(g, branch)->op != HD_OP_BRA || !st->guard || b->n_succ != 2) return false;
  const uint32_t *w = &s->writers.first[hd_cfg_reg(g, g->insts[branch].call, st->guard)];
  if (w[1] - w[0] != 1) return false;
  const uint32_t test = s->writers.insts[w[0]], found = warp_reg(g, r->inst, 0);
  const hd_ptx_form *f = hd_inst_form(g, test);
  const uint32_t left = warp_reg(g, test, 1), right = warp_reg(g, test, 2);
  const bool equal = hd_ptx_form_has(f, HD_M_EQ);
  if (f->op != HD_OP_SETP || f->n_mods != 2 || !(equal || hd_ptx_form_has(f, HD_M_NE)) ||
      hd_inst_stmt(g, test)->guard || hd_inst_stmt(g, test)->n_opnds != 3)
    return false;
  if (!(left == found && right == r->compared) && !(right == found && left == r->compared)) return false;
  /* Of this round's swap. */
  if (g->insts[test].block != g->insts[r->inst].block || test < r->inst || found == r->compared) return false;
  for (uint32_t k = s->writers.first[r->compared]; k < s->writers.first[r->compared + 1]; k++)
    if (s->writers.insts[k] > r->inst && s->writers.insts[k] < test) return false;
  for (uint32_t k = s->writers.first[found]; k < s->writers.first[found + 1]; k++)
    if (s->writers.insts[k] > r->inst && s->writers.insts[k] < test) return false;
  const bool leaves_if_taken = !s->inside[g->edges[b->first_succ]];
  return equal == (leaves_if_taken != (st->guard_neg != 0));
}

/* The one block outside that the blocks inside lead to; HD_NONE: there are others. */
static uint32_t way_out(const search *s) {
  const hd_cfg *g = &s->g;
  uint32_t way = HD_NONE;
  for (uint32_t b = 0; b < g->n_blocks; b++)
    for (uint32_t e = 0; s->inside[b] && e < g->blocks[b].n_succ; e++) {
      const uint32_t to = g->edges[g->blocks[b].first_succ + e];
      if (s->inside[to]) continue;
      if (way != HD_NONE && way != to) return HD_NONE;
      way = to;
    }
  return way;
}

/* How often it is done does not show. */
static bool is_quiet(const hd_ptx_form *f) {
  const hd_ptx_access a = hd_ptx_access_of(f);
  return !a.unknown && !(a.kinds & (HD_ACC_WRITE | HD_ACC_ATOMIC)) &&
         !(f->flags & (HD_OPF_CALLS | HD_OPF_CTA_WIDE | HD_OPF_CLUSTER_WIDE | HD_OPF_WARP_WIDE |
                       HD_OPF_SEES_LANES | HD_OPF_LASTING | HD_OPF_UNKNOWN | HD_OPF_WRITES_CARRY));
}

typedef struct carried {
  const search *s;
  uint32_t header, but;
} carried;

static void see_carried(void *ctx, uint32_t reg) {
  const carried *c = ctx;
  if (reg != c->but && hd_live_in(&c->s->live, c->header, reg)) c->s->tainted[reg] |= ROUNDS;
}

/* All that is seen of the value and of the rounds stays inside. */
static bool keeps_inside(const search *s, const retry *r, uint32_t way) {
  const hd_cfg *g = &s->g;
  for (uint32_t i = 0; i < g->n_insts; i++) {
    const hd_ptx_form *f = hd_inst_form(g, i);
    const uint8_t reads = is_inside(s, i) ? reads_of(s, i) : 0;
    if (i == r->inst) {
      const hd_ptx_opnd *o = warp_operand(g, i, 1);
      if (r->guess == HD_NONE ? reads : reads & ROUNDS) return false;
      if (o && o->kind == HD_O_ADDR && g->module->syms[o->sym].kind == HD_SYM_REG &&
          s->tainted[hd_cfg_reg(g, g->insts[i].call, o->sym)])
        return false;
    } else if (leaves(s, i)) {
      if (reads != VALUE || (r->guess != HD_NONE && !ends_retry(s, r, i))) return false;
    } else if (is_inside(s, i) &&
               (!is_quiet(f) || (reads && (f->flags & HD_OPF_LEAVES || hd_ptx_access_of(f).kinds)))) {
      return false;
    }
  }
  for (uint32_t reg = 0; reg < g->n_regs; reg++)
    if (s->tainted[reg] && hd_live_in(&s->live, way, reg)) return false;
  return true;
}

/* The operation leaves the same, however often it is done. */
static bool may_repeat(const hd_cfg *g, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(g, inst);
  const hd_ptx_opnd *o = warp_operand(g, inst, 2);
  switch (hd_ptx_access_of(f).operation) {
  case HD_M_ADD: return o && o->kind == HD_O_INT && !o->imm;
  case HD_M_CAS:
  case HD_M_EXCH:
  case HD_M_OR:
  case HD_M_AND:
  case HD_M_MIN:
  case HD_M_MAX: return true;
  default: return warp_waits_at_mbarrier(f);
  }
}

static void see_use(void *ctx, uint32_t reg) {
  uint32_t *of = ctx;
  if (reg == *of) *of = HD_NONE;
}

/* What the instruction writes is read behind the loop's entry alone. */
static bool enters_loop(const search *s, uint32_t loop, uint32_t inst) {
  const hd_cfg *g = &s->g;
  const hd_block *b = &g->blocks[g->insts[inst].block];
  const uint32_t reg = warp_reg(g, inst, 0);
  if (b->n_succ != 1 || g->edges[b->first_succ] != g->loops[loop].header) return false;
  for (uint32_t i = inst + 1; i < b->first + b->n_insts; i++) {
    uint32_t used = reg;
    hd_inst_reads(g, i, see_use, &used);
    if (used == HD_NONE) return false;
  }
  return true;
}

/* The load's value is the first guess and nothing else: later rounds swap in what they found themselves. */
static bool goes_into_guess(const search *s, uint32_t loop, uint32_t load, uint32_t guess) {
  const hd_cfg *g = &s->g;
  const uint32_t loaded = warp_reg(g, load, 0);
  if (loaded == HD_NONE || guess == HD_NONE) return false;
  if (loaded == guess) return enters_loop(s, loop, load);
  for (uint32_t i = 0; i < g->n_insts; i++) {
    uint32_t used = loaded;
    hd_inst_reads(g, i, see_use, &used);
    if (used == HD_NONE && !(is_move(g, i, loaded) && warp_reg(g, i, 0) == guess && enters_loop(s, loop, i)))
      return false;
  }
  return true;
}

/* load: HD_NONE, or one that guesses. */
static bool only_decides(const search *s, uint32_t loop, uint32_t inst, uint32_t load) {
  const hd_cfg *g = &s->g;
  retry r;
  go_inside_loop(s, loop);
  const uint32_t way = way_out(s);
  if (!may_repeat(g, inst) || way == HD_NONE || !find_retry(s, loop, inst, &r)) return false;
  if (load != HD_NONE && !goes_into_guess(s, loop, load, r.guess)) return false;
  memset(s->tainted, 0, g->n_regs);
  taint_results(s, inst);
  if (r.guess != HD_NONE) s->tainted[r.guess] |= VALUE;
  carried c = {s, g->loops[loop].header, r.guess};
  for (uint32_t i = 0; i < g->n_insts; i++)
    if (is_inside(s, i)) hd_inst_writes(g, i, see_carried, &c);
  spread(s);
  return keeps_inside(s, &r, way);
}

static bool only_decides_a_loop(const search *s, uint32_t inst, uint32_t load) {
  const hd_cfg *g = &s->g;
  for (uint32_t l = s->has_live ? g->blocks[g->insts[inst].block].loop : HD_NONE; l != HD_NONE;
       l = g->loops[l].parent)
    if (only_decides(s, l, inst, load)) return true;
  return false;
}

/* Some writer of the register is the instruction, or a move of what it wrote. */
static bool comes_from(const search *s, uint32_t inst, uint32_t reg, unsigned moves) {
  const hd_cfg *g = &s->g;
  for (uint32_t k = s->writers.first[reg]; k < s->writers.first[reg + 1]; k++) {
    const uint32_t writer = s->writers.insts[k], from = warp_reg(g, writer, 1);
    if (writer == inst) return true;
    if (moves && from != HD_NONE && is_move(g, writer, from) && comes_from(s, inst, from, moves - 1))
      return true;
  }
  return false;
}

/* The load guesses what a compare-and-swap then finds: a wrong guess is tried again, and shows nowhere. */
static bool is_guess(const search *s, uint32_t load) {
  enum { MOVES = 2 };
  for (uint32_t k = 0; k < s->n_swaps; k++) {
    const uint32_t compared = warp_reg(&s->g, s->swaps[k], 2);
    if (compared != HD_NONE && comes_from(s, load, compared, MOVES) &&
        only_decides_a_loop(s, s->swaps[k], load))
      return true;
  }
  return false;
}

/* The state that an arrival at an mbarrier gives goes to waits alone. Else it says who has arrived. */
static bool only_waits(const search *s, uint32_t arrive) {
  const hd_cfg *g = &s->g;
  taint t = {.registers = s->tainted, .adds = VALUE, .grows = true};
  memset(s->tainted, 0, g->n_regs);
  taint_results(s, arrive);
  while (t.grows) {
    t.grows = false;
    for (uint32_t i = 0; i < g->n_insts; i++) {
      if (!reads_of(s, i)) continue;
      if (hd_inst_form(g, i)->op == HD_OP_MOV)
        hd_inst_writes(g, i, add_taint, &t);
      else if (!warp_waits_at_mbarrier(hd_inst_form(g, i)))
        return false;
    }
  }
  return true;
}

static uint8_t where_it_shows(const search *s, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&s->g, inst);
  const hd_ptx_access a = hd_ptx_access_of(f);
  if (f->op == HD_OP_LD) return is_guess(s, inst) ? WARP_SHOWS_NOWHERE : WARP_SHOWS;
  if (!(a.kinds & HD_ACC_READ) || !hd_result_is_read(&s->g, s->is_read, inst)) return WARP_SHOWS_NOWHERE;
  if (f->op == HD_OP_MBARRIER && !warp_waits_at_mbarrier(f))
    return only_waits(s, inst) ? WARP_SHOWS_NOWHERE : WARP_SHOWS;
  if ((f->op != HD_OP_ATOM && !warp_waits_at_mbarrier(f)) || !only_decides_a_loop(s, inst, HD_NONE))
    return WARP_SHOWS;
  /* A lock is given back by a write. For other loops it is not known whether all threads have seen what they
   * wait for. */
  return warp_waits_at_mbarrier(f) || a.operation == HD_M_CAS || a.operation == HD_M_EXCH
             ? WARP_SHOWS_NOWHERE
             : WARP_SHOWS_IN_LOOP;
}

/* ---- Atomics in cycles --------------------------------------------------------------------------------- */

static bool decides_an_exit(const search *s, uint32_t from) {
  spread_inside(s, from);
  for (uint32_t i = 0; i < s->g.n_insts; i++)
    if (leaves(s, i) && reads_of(s, i)) return true;
  return false;
}

/* The register's value is there before the instruction, on each path to it. */
static bool set_before(const search *s, uint32_t reg, uint32_t inst) {
  const hd_cfg *g = &s->g;
  const uint32_t by = s->writers.insts[s->writers.first[reg]];
  return g->insts[by].block == g->insts[inst].block
             ? by < inst
             : hd_dominates(g, g->insts[by].block, g->insts[inst].block);
}

/* In all threads, in every round, and no zero that is written: its result counts on. */
static bool adds_the_same(const search *s, uint32_t atomic) {
  const hd_cfg *g = &s->g;
  const hd_ptx_opnd *o = warp_operand(g, atomic, 2);
  const uint32_t reg = warp_reg(g, atomic, 2);
  const hd_mod operation = hd_ptx_access_of(hd_inst_form(g, atomic)).operation;
  if ((operation != HD_M_ADD && operation != HD_M_INC) || !o) return false;
  if (o->kind == HD_O_INT) return o->imm;
  return reg != HD_NONE && rewrite_same_in_launch(g, &s->writers, reg) && set_before(s, reg, atomic);
}

/* The comparison takes what the swap before found: some thread's swap is done in each round. */
static bool tries_again(const search *s, uint32_t inst) {
  const uint32_t compared = is_cas(&s->g, inst) ? warp_reg(&s->g, inst, 2) : HD_NONE;
  if (compared == HD_NONE) return false;
  spread_inside(s, inst);
  return s->tainted[compared];
}

/* Reads what it may wait for. */
static bool looks(const search *s, uint32_t inst) {
  const hd_ptx_access a = hd_ptx_access_of(hd_inst_form(&s->g, inst));
  return rewrite_is_strong(&a) && warp_spaces(&a, HD_ACC_READ) && hd_result_is_read(&s->g, s->is_read, inst);
}

#define WAITS                                                                                                \
  "a loop goes on until another thread has done something, and threads= may put that one into its warp, "    \
  "which needs sm_70"

static bool decides_a_loop(const search *s, uint32_t inst) {
  const hd_cfg *g = &s->g;
  for (uint32_t l = g->blocks[g->insts[inst].block].loop; l != HD_NONE; l = g->loops[l].parent) {
    go_inside_loop(s, l);
    if (decides_an_exit(s, inst)) return true;
  }
  return false;
}

static void look_at_cycle(search *s, const uint32_t *blocks, uint32_t n, uint8_t *cycle) {
  const hd_cfg *g = &s->g;
  memset(cycle, 0, g->n_blocks);
  for (uint32_t k = 0; k < n; k++) cycle[blocks[k]] = 1;
  for (uint32_t i = 0; i < g->n_insts; i++) {
    const hd_ptx_form *f = hd_inst_form(g, i);
    if (!cycle[g->insts[i].block] || !looks(s, i)) continue;
    if (!rewrite_lanes_can_part(g->module)) {
      memcpy(s->inside, cycle, g->n_blocks);
      if (!tries_again(s, i) && (decides_an_exit(s, i) || decides_a_loop(s, i)))
        rewrite_scan_refuse(s->scan, HD_REFUSE_WORKS_TOGETHER, hd_inst_stmt(g, i), WAITS);
    }
    s->talks_to_itself[i] = f->op == HD_OP_ATOM && s->shows[i] == WARP_SHOWS &&
                            !hd_ptx_form_has(f, HD_M_CAS) && !adds_the_same(s, i);
  }
}

void warp_look_at_cycles(search *s, hd_arena *arena) {
  const hd_cfg *g = &s->g;
  hd_regions regions;
  uint32_t *all = HD_NEW_N(arena, g->n_blocks, uint32_t), *members = HD_NEW_N(arena, g->n_blocks, uint32_t),
           *first = HD_NEW_N(arena, g->n_blocks + 1u, uint32_t);
  uint8_t *cycle = HD_NEW_N(arena, g->n_blocks, uint8_t);
  for (uint32_t i = 0; i < g->n_insts; i++) s->n_swaps += is_cas(g, i);
  s->swaps = HD_NEW_N(arena, s->n_swaps + 1u, uint32_t);
  s->n_swaps = 0;
  for (uint32_t i = 0; i < g->n_insts; i++)
    if (is_cas(g, i)) s->swaps[s->n_swaps++] = i;
  for (uint32_t i = 0; i < g->n_insts; i++) s->shows[i] = where_it_shows(s, i);
  hd_regions_init(&regions, g, arena);
  for (uint32_t b = 0; b < g->n_blocks; b++) all[b] = b;
  const uint32_t n = hd_regions_find(&regions, all, g->n_blocks, members, first);
  for (uint32_t k = 0; k < n; k++) look_at_cycle(s, &members[first[k]], first[k + 1] - first[k], cycle);
}
