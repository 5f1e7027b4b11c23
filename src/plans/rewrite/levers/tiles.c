/* Orders of the tiles that a persistent kernel goes through in a loop of its own:
 *
 *   mov.u32 R, %ctaid.x;             R: the tile's number
 *   loop: ... tile R ...
 *   add.s32 R, R, G;                 G: %nctaid.x
 *   setp.lt.s32 p, R, N; @p bra loop;
 *
 * With N tiles the CTAs of a row go through the numbers below N, each once, however many CTAs there are. So
 * any permutation of these numbers leaves the same tiles to be done, where a tile's work depends on its
 * number alone. Every read of R in the loop gets the permuted number. The shape's volume is N's value: a
 * launch with another N keeps the kernel's own order, which an instruction in the loop sees to. Where a
 * compiler has written the loop out several times, for each way that a condition outside of it goes, all
 * copies take the numbers of one R, and get the same permutation.
 *
 * A tile's work may not depend on which tiles the CTA did before. Registers are followed here: none but R may
 * carry a value from one round into the next or out of the loop. Memory is not: the caller's word is needed
 * that no round reads or overwrites what an earlier one left (HD_ASSUME_NO_CARRY), unless tile_memory.c sees
 * so. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/ptx_facts.h"
#include "rewrite/levers/tiles.h"

enum { MOST_STEPS = 64, MOST_LIVE_BYTES = 64 << 20 };
#define MOST_TILES ((uint64_t)INT32_MAX)

/* ---- Operands --------------------------------------------------------------------------------------- */

static bool is_reg(const tile_loop *t, const hd_ptx_opnd *o, uint32_t reg) {
  return tiles_is_register(t, o) && hd_cfg_reg(&t->g, 0, o->sym) == reg;
}

static bool is_word(const hd_ptx_form *f) {
  return hd_ptx_form_has(f, HD_M_U32) || hd_ptx_form_has(f, HD_M_S32) || hd_ptx_form_has(f, HD_M_B32);
}

static uint32_t n_writers(const tile_loop *t, uint32_t reg) {
  return t->writers.first[reg + 1] - t->writers.first[reg];
}

static bool in_loop(const tile_loop *t, uint32_t block) { return tiles_copy_of(t, block) != HD_NONE; }

/* mov.u32 reg, %SREG.x, by all threads. */
static bool copies_sreg(const tile_loop *t, uint32_t inst, uint32_t id) {
  const hd_ptx_stmt *s = hd_inst_stmt(&t->g, inst);
  const hd_ptx_opnd *o = tiles_operand(t, inst, 1);
  return hd_inst_form(&t->g, inst)->op == HD_OP_MOV && is_word(hd_inst_form(&t->g, inst)) && !s->guard &&
         s->n_opnds == 2 && o->kind == HD_O_SREG && o->part == HD_M_X && t->m->syms[o->sym].index == id;
}

/* G: %nctaid.x, copied once and before. */
static bool is_grid(const tile_loop *t, const hd_ptx_opnd *o, uint32_t block) {
  if (!tiles_is_register(t, o)) return false;
  const uint32_t reg = hd_cfg_reg(&t->g, 0, o->sym);
  if (n_writers(t, reg) != 1) return false;
  const uint32_t w = t->writers.insts[t->writers.first[reg]];
  return copies_sreg(t, w, HD_SR_NCTAID) && hd_dominates(&t->g, t->g.insts[w].block, block);
}

/* ---- The loop ----------------------------------------------------------------------------------------- */

/* add.s32 R, R, G in a loop: R. HD_NONE: it is no such step. */
static uint32_t stepped(const tile_loop *t, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&t->g, inst);
  const hd_ptx_stmt *s = hd_inst_stmt(&t->g, inst);
  const uint32_t block = t->g.insts[inst].block, loop = t->g.blocks[block].loop;
  if (f->op != HD_OP_ADD || !is_word(f) || s->guard || s->n_opnds != 3 ||
      !tiles_is_register(t, tiles_operand(t, inst, 0)) || loop == HD_NONE)
    return HD_NONE;
  const uint32_t reg = hd_cfg_reg(&t->g, 0, tiles_operand(t, inst, 0)->sym);
  const bool first = is_reg(t, tiles_operand(t, inst, 1), reg);
  const bool steps =
      first ? is_grid(t, tiles_operand(t, inst, 2), block)
            : is_reg(t, tiles_operand(t, inst, 2), reg) && is_grid(t, tiles_operand(t, inst, 1), block);
  return steps ? reg : HD_NONE;
}

/* R is set to %ctaid.x before the copies, and by nothing else but the step of each. */
static bool find_copies(tile_loop *t, uint32_t reg) {
  const hd_cfg *g = &t->g;
  uint32_t start = HD_NONE;
  t->reg = reg;
  t->n_copies = 0;
  for (uint32_t k = t->writers.first[reg]; k < t->writers.first[reg + 1]; k++) {
    const uint32_t w = t->writers.insts[k], block = g->insts[w].block;
    if (stepped(t, w) == reg) {
      if (t->n_copies == TILES_MOST_COPIES || in_loop(t, block)) return false;
      t->copies[t->n_copies++] = (tile_copy){.loop = g->blocks[block].loop, .latch = block, .step = w};
    } else if (start == HD_NONE && copies_sreg(t, w, HD_SR_CTAID)) {
      start = w;
    } else {
      return false;
    }
  }
  if (!t->n_copies || start == HD_NONE || in_loop(t, g->insts[start].block)) return false;
  t->number = tiles_operand(t, t->copies[0].step, 0)->sym;
  for (uint32_t k = 0; k < t->n_copies; k++)
    if (!hd_dominates(g, g->insts[start].block, g->loops[t->copies[k].loop].header)) return false;
  return true;
}

/* setp.lt p, R, N and its like: true where it says that R is below N (*below) or that it is not. */
static bool compares(const tile_loop *t, uint32_t inst, bool *below, hd_ptx_opnd *bound) {
  const hd_ptx_form *f = hd_inst_form(&t->g, inst);
  const hd_ptx_stmt *s = hd_inst_stmt(&t->g, inst);
  const bool type = hd_ptx_form_has(f, HD_M_S32) || hd_ptx_form_has(f, HD_M_U32);
  if (f->op != HD_OP_SETP || !type || s->guard || s->n_opnds != 3 || f->n_mods != 2 ||
      !tiles_is_register(t, tiles_operand(t, inst, 0)))
    return false;
  const bool left = is_reg(t, tiles_operand(t, inst, 1), t->reg),
             right = is_reg(t, tiles_operand(t, inst, 2), t->reg);
  if (left == right) return false;
  *bound = *tiles_operand(t, inst, left ? 2 : 1);
  const bool lt = hd_ptx_form_has(f, HD_M_LT), ge = hd_ptx_form_has(f, HD_M_GE),
             gt = hd_ptx_form_has(f, HD_M_GT), le = hd_ptx_form_has(f, HD_M_LE);
  *below = left ? lt : gt;
  return left ? lt || ge : gt || le;
}

static bool same_bound(const hd_ptx_opnd *a, const hd_ptx_opnd *b) {
  return a->kind == b->kind && a->sym == b->sym && a->imm == b->imm && a->part == b->part &&
         a->flags == b->flags;
}

/* An instruction that reads, or writes, this register. */
typedef struct user {
  uint32_t reg;
  bool uses;
} user;

static void see_use(void *ctx, uint32_t reg) {
  user *u = ctx;
  u->uses |= reg == u->reg;
}

/* A launch that traps leaves nothing that could differ. */
static bool is_trap(const hd_cfg *g, uint32_t block) {
  const hd_block *b = &g->blocks[block];
  if (!b->n_insts) return false;
  const uint32_t last = b->first + b->n_insts - 1;
  return hd_inst_form(g, last)->op == HD_OP_TRAP && !hd_inst_stmt(g, last)->guard;
}

/* The latch ends with a branch back where R is below N, and the copy is left there alone. */
static bool find_test(tile_loop *t, uint32_t copy) {
  const hd_cfg *g = &t->g;
  tile_copy *c = &t->copies[copy];
  const hd_loop *l = &g->loops[c->loop];
  const hd_block *b = &g->blocks[c->latch];
  const uint32_t last = b->first + b->n_insts - 1;
  const hd_ptx_stmt *branch = hd_inst_stmt(g, last);
  hd_ptx_opnd bound;
  bool below;
  if (l->depth != 1 || l->n_latches != 1 || b->n_succ != 2 || hd_inst_form(g, last)->op != HD_OP_BRA ||
      !branch->guard)
    return false;
  const bool taken = g->edges[b->first_succ] == l->header, falls = g->edges[b->first_succ + 1] == l->header;
  if (taken == falls) return false;
  const uint32_t guard = hd_cfg_reg(g, 0, branch->guard);
  c->test = HD_NONE;
  for (uint32_t i = c->step + 1; i < last; i++) {
    user u = {.reg = guard};
    hd_inst_writes(g, i, see_use, &u);
    if (u.uses) c->test = i;
  }
  if (c->test == HD_NONE || !is_reg(t, tiles_operand(t, c->test, 0), guard) ||
      !compares(t, c->test, &below, &bound))
    return false;
  if (copy && !same_bound(&bound, &t->bound)) return false;
  t->bound = bound;
  if (below != (taken != (branch->guard_neg != 0))) return false;
  for (uint32_t k = 0; k < g->n_blocks; k++) {
    if (tiles_copy_of(t, k) != copy || k == c->latch) continue;
    for (uint32_t e = 0; e < g->blocks[k].n_succ; e++) {
      const uint32_t to = g->edges[g->blocks[k].first_succ + e];
      if (tiles_copy_of(t, to) != copy && !is_trap(g, k) && !is_trap(g, to)) return false;
    }
  }
  return true;
}

static bool find_loop(tile_loop *t) {
  for (uint32_t i = 0; i < t->g.n_insts; i++) {
    const uint32_t reg = stepped(t, i);
    bool found = reg != HD_NONE && find_copies(t, reg);
    for (uint32_t k = 0; found && k < t->n_copies; k++) found = find_test(t, k);
    if (found) return true;
  }
  return false;
}

/* ---- N ------------------------------------------------------------------------------------------------- */

static bool bound_is_same(const tile_loop *t) {
  if (t->bound.kind == HD_O_INT) return true;
  if (!tiles_is_register(t, &t->bound)) return false;
  const uint32_t reg = hd_cfg_reg(&t->g, 0, t->bound.sym);
  if (!rewrite_same_in_launch(&t->g, &t->writers, reg)) return false;
  /* It is read where each copy begins. */
  const uint32_t block = t->g.insts[t->writers.insts[t->writers.first[reg]]].block;
  bool before = !in_loop(t, block);
  for (uint32_t k = 0; k < t->n_copies; k++)
    before &= hd_dominates(&t->g, block, t->g.loops[t->copies[k].loop].header);
  return before;
}

/* ---- What rounds leave to each other ---------------------------------------------------------- */

/* Whether there is another round shows which round of the CTA it is: only the branch may ask. */
static hd_status check_test(const tile_loop *t, const tile_copy *c, hd_diag *d) {
  const hd_cfg *g = &t->g;
  const hd_block *b = &g->blocks[c->latch];
  for (uint32_t i = c->test + 1; i < b->first + b->n_insts - 1; i++) {
    user u = {.reg = hd_cfg_reg(g, 0, tiles_operand(t, c->test, 0)->sym)};
    hd_inst_reads(g, i, see_use, &u);
    if (u.uses) return rewrite_refuse(t->m, hd_inst_stmt(g, i), "reads which tile is the CTA's last", d);
  }
  return HD_OK;
}

/* The copy begins in the body's outermost scope: what is declared there is seen behind it. */
static bool is_outermost(const tile_loop *t, const tile_copy *c) {
  const hd_ptx_func *f = &t->m->funcs[t->g.calls[0].func];
  const uint32_t header = t->g.insts[t->g.blocks[t->g.loops[c->loop].header].first].stmt;
  uint32_t depth = 0;
  for (uint32_t i = 0; i < header; i++)
    depth += (f->stmts[i].kind == HD_S_OPEN) - (f->stmts[i].kind == HD_S_CLOSE);
  return !depth;
}

/* The copy in which a block runs: it is one of its blocks, or ends the launch from within a round and is
 * reached in no other way. HD_NONE: none. */
static uint32_t round_of(const tile_loop *t, uint32_t block) {
  const hd_block *b = &t->g.blocks[block];
  uint32_t copy = tiles_copy_of(t, block);
  if (copy != HD_NONE || !b->n_pred || !is_trap(&t->g, block)) return copy;
  copy = tiles_copy_of(t, t->g.edges[b->first_pred]);
  bool within = copy != HD_NONE && is_outermost(t, &t->copies[copy]);
  for (uint32_t k = 0; within && k < b->n_pred; k++) {
    const uint32_t from = t->g.edges[b->first_pred + k];
    within = tiles_copy_of(t, from) == copy && from != t->copies[copy].latch;
  }
  return within ? copy : HD_NONE;
}

static bool is_own_step(const tile_loop *t, uint32_t inst) {
  bool own = false;
  for (uint32_t k = 0; k < t->n_copies; k++) own |= inst == t->copies[k].step || inst == t->copies[k].test;
  return own;
}

static hd_status list_reads(tile_loop *t, hd_diag *d) {
  const hd_cfg *g = &t->g;
  for (uint32_t i = 0; i < g->n_insts; i++) {
    user u = {.reg = t->reg};
    hd_ptx_opnd bound;
    bool below;
    hd_inst_reads(g, i, see_use, &u);
    if (!u.uses || is_own_step(t, i)) continue;
    const hd_ptx_stmt *s = hd_inst_stmt(g, i);
    const uint32_t block = g->insts[i].block, copy = round_of(t, block);
    if (copy == HD_NONE) {
      if (compares(t, i, &below, &bound) && same_bound(&bound, &t->bound)) continue;
      return rewrite_refuse(t->m, s, "reads the tile's number outside the loop over tiles", d);
    }
    if (block == t->copies[copy].latch && i > t->copies[copy].step)
      return rewrite_refuse(t->m, s, "reads the next tile's number", d);
    if (!hd_vec_push(&t->reads, ((tile_read){g->insts[i].stmt, copy}))) return hd_nomem(d);
  }
  return HD_OK;
}

typedef struct carrier {
  const tile_loop *t;
  uint32_t header, after; /* the copy's, and the block behind it */
  bool carries;
} carrier;

static void see_write(void *ctx, uint32_t reg) {
  carrier *c = ctx;
  c->carries |=
      reg != c->t->reg && (hd_live_in(&c->t->live, c->header, reg) || hd_live_in(&c->t->live, c->after, reg));
}

/* The carry flag is no register: it must come from the same block. */
static bool carries_flag(const hd_cfg *g, uint32_t inst) {
  uint32_t i = inst;
  if (!(hd_inst_form(g, inst)->flags & HD_OPF_READS_CARRY)) return false;
  while (i > g->blocks[g->insts[inst].block].first)
    if (hd_inst_form(g, --i)->flags & HD_OPF_WRITES_CARRY && !hd_inst_stmt(g, i)->guard) return false;
  return true;
}

static hd_status check_registers(const tile_loop *t, const tile_copy *copy, hd_diag *d) {
  const hd_cfg *g = &t->g;
  const hd_block *b = &g->blocks[copy->latch];
  const uint32_t first = g->edges[b->first_succ], second = g->edges[b->first_succ + 1];
  carrier c = {.t = t, .header = g->loops[copy->loop].header};
  c.after = first == c.header ? second : first;
  for (uint32_t i = 0; i < g->n_insts; i++) {
    if (!hd_loop_contains(g, copy->loop, g->blocks[g->insts[i].block].loop)) continue;
    hd_inst_writes(g, i, see_write, &c);
    if (c.carries || carries_flag(g, i))
      return rewrite_refuse(t->m, hd_inst_stmt(g, i),
                            "a round of the loop over tiles leaves this to the next", d);
  }
  return HD_OK;
}

static bool counts_ctaid(void *ctx, const hd_ptx_leaf *leaf) {
  struct {
    const hd_ptx_module *m;
    uint32_t n;
  } *c = ctx;
  const hd_ptx_sym *y = &c->m->syms[leaf->sym];
  if (leaf->sym && y->kind == HD_SYM_SREG && y->index == HD_SR_CTAID && leaf->opnd &&
      leaf->opnd->part != HD_M_Y && leaf->opnd->part != HD_M_Z)
    c->n++;
  return true;
}

/* The start of R reads %ctaid.x, and nothing else does. */
static bool reads_ctaid_once(const hd_ptx_module *m, uint32_t func) {
  struct {
    const hd_ptx_module *m;
    uint32_t n;
  } c = {.m = m};
  for (uint32_t i = 0; i < m->funcs[func].n_stmts; i++)
    hd_ptx_visit(m, &m->funcs[func].stmts[i], counts_ctaid, &c);
  return c.n == 1;
}

static bool in_any_loop(const hd_cfg *g, uint32_t inst) {
  return g->blocks[g->insts[inst].block].loop != HD_NONE;
}

/* A loop counts the register on, and something is decided by it. */
static bool is_counted(const tile_loop *t, uint32_t reg) {
  bool written = false, compared = false;
  for (uint32_t w = t->writers.first[reg]; w < t->writers.first[reg + 1]; w++)
    written |= in_any_loop(&t->g, t->writers.insts[w]);
  for (uint32_t i = 0; i < t->g.n_insts && written && !compared; i++)
    compared = hd_inst_form(&t->g, i)->op == HD_OP_SETP &&
               (is_reg(t, tiles_operand(t, i, 1), reg) || is_reg(t, tiles_operand(t, i, 2), reg));
  return compared;
}

/* %ntid.x, or a copy of it. */
static bool is_width(const tile_loop *t, const hd_ptx_opnd *o) {
  if (o && o->kind == HD_O_SREG) return t->m->syms[o->sym].index == HD_SR_NTID;
  if (!tiles_is_register(t, o)) return false;
  const uint32_t reg = hd_cfg_reg(&t->g, 0, o->sym);
  return n_writers(t, reg) == 1 && copies_sreg(t, t->writers.insts[t->writers.first[reg]], HD_SR_NTID);
}

/* R = %ctaid.x * share, outside of loops, and one counts R on: a CTA goes through a range of the work, which
 * may begin and end inside tiles (stream-K). %ctaid.x * %ntid.x is the number of a thread. */
static bool begins_share(const tile_loop *t, uint32_t inst) {
  const hd_cfg *g = &t->g;
  const hd_ptx_form *f = hd_inst_form(g, inst);
  bool multiple = false;
  if ((f->op != HD_OP_MUL && f->op != HD_OP_MAD && f->op != HD_OP_SHL) || in_any_loop(g, inst) ||
      !tiles_is_register(t, tiles_operand(t, inst, 0)))
    return false;
  for (unsigned k = 1; k < 3; k++) {
    const hd_ptx_opnd *o = tiles_operand(t, inst, k);
    if (is_width(t, o)) return false;
    if (!tiles_is_register(t, o)) continue;
    const uint32_t reg = hd_cfg_reg(g, 0, o->sym);
    multiple |=
        n_writers(t, reg) == 1 && copies_sreg(t, t->writers.insts[t->writers.first[reg]], HD_SR_CTAID);
  }
  return multiple && is_counted(t, hd_cfg_reg(g, 0, tiles_operand(t, inst, 0)->sym));
}

/* The registers that one is computed from, through all their writers. */
typedef struct origin {
  uint32_t regs[MOST_STEPS], n;
} origin;

static void see_origin(void *ctx, uint32_t reg) {
  origin *o = ctx;
  for (uint32_t i = 0; i < o->n; i++)
    if (o->regs[i] == reg) return;
  if (o->n < MOST_STEPS) o->regs[o->n++] = reg;
}

/* A load of global memory among their writers; HD_NONE: there is none. */
static uint32_t load_behind(const tile_loop *t, uint32_t reg) {
  origin o = {.regs = {reg}, .n = 1};
  for (uint32_t i = 0; i < o.n; i++)
    for (uint32_t w = t->writers.first[o.regs[i]]; w < t->writers.first[o.regs[i] + 1]; w++) {
      const uint32_t inst = t->writers.insts[w];
      const hd_ptx_access a = hd_ptx_access_of(hd_inst_form(&t->g, inst));
      if (hd_ptx_access_in(&a, HD_IN_ANY_GLOBAL) & HD_ACC_READ) return inst;
      hd_inst_reads(&t->g, inst, see_origin, &o);
    }
  return HD_NONE;
}

/* The load that says where the tiles end which CTAs go through in steps of the grid's size: those of one
 * problem after the other, in a table of them (grouped GEMM). HD_NONE: there is none. */
static uint32_t end_in_memory(const tile_loop *loop) {
  tile_loop t = *loop;
  bool below, steps = false;
  hd_ptx_opnd bound;
  for (uint32_t i = 0; i < t.g.n_insts && !steps; i++) {
    const uint32_t reg = stepped(&t, i);
    steps = reg != HD_NONE && find_copies(&t, reg);
  }
  for (uint32_t i = 0; i < t.g.n_insts && steps; i++) {
    if (!compares(&t, i, &below, &bound) || !tiles_is_register(&t, &bound)) continue;
    const uint32_t load = load_behind(&t, hd_cfg_reg(&t.g, 0, bound.sym));
    if (load != HD_NONE) return load;
  }
  return HD_NONE;
}

/* Where there is no such loop: the kernel may get its tiles from others as it runs, or parts of tiles, or
 * those of a table of problems. */
static hd_status refuse_other_loops(const tile_loop *t, hd_diag *d) {
  const hd_cfg *g = &t->g;
  const uint32_t load = end_in_memory(t);
  for (uint32_t i = 0; i < g->n_insts; i++) {
    const hd_ptx_form *f = hd_inst_form(g, i);
    const hd_ptx_access a = hd_ptx_access_of(f);
    if (f->op == HD_OP_ATOM && hd_result_is_read(g, t->is_read, i) &&
        hd_ptx_access_in(&a, HD_IN_ANY_GLOBAL) &&
        (hd_ptx_form_has(f, HD_M_ADD) || hd_ptx_form_has(f, HD_M_INC)) && in_any_loop(g, i))
      return rewrite_refuse(
          t->m, hd_inst_stmt(g, i),
          "a dynamic scheduler: which CTA gets a tile, and when, is drawn as the kernel runs", d);
  }
  for (uint32_t i = 0; i < g->n_insts; i++)
    if (begins_share(t, i))
      return rewrite_refuse(
          t->m, hd_inst_stmt(g, i),
          "a CTA's share of the work begins here, perhaps inside a tile (stream-K): shares are "
          "ordered without shape=loop",
          d);
  if (load != HD_NONE)
    return rewrite_refuse(t->m, hd_inst_stmt(g, load),
                          "the loop over tiles ends where memory says (a table of problems, as in grouped "
                          "GEMMs): no shape has such tiles",
                          d);
  return hd_fail(
      d, HD_ERR_REFUSED,
      "shape=loop: no loop goes through the tiles from %%ctaid.x in steps of %%nctaid.x up to a number "
      "that the launch's arguments fix");
}

/* A thread that ends within a function leaves the loop there. */
static hd_status check_functions(const rewrite_job *j, hd_arena *arena, hd_diag *d) {
  hd_reach reach;
  hd_reach_find(j->m, j->func, arena, &reach);
  for (uint32_t k = 1; k < reach.n; k++) {
    const hd_ptx_func *f = &j->m->funcs[reach.funcs[k]];
    for (uint32_t i = 0; i < f->n_stmts; i++)
      if (f->stmts[i].kind == HD_S_INST && j->m->forms[f->stmts[i].form].op == HD_OP_EXIT)
        return rewrite_refuse(j->m, &f->stmts[i], "ends the thread from within a function", d);
  }
  return HD_OK;
}

static hd_status find(rewrite_job *j, tile_loop *t, uint64_t tiles, hd_arena *arena, bool *rests,
                      hd_diag *d) {
  hd_status st = hd_cfg_build(j->m, j->func, 0, arena, &t->g, d);
  if (st != HD_OK) return st;
  hd_writers_find(&t->g, arena, &t->writers);
  t->is_read = hd_reads_find(&t->g, arena);
  if (!find_loop(t) || t->g.irreducible || !bound_is_same(t) || !reads_ctaid_once(j->m, j->func))
    return refuse_other_loops(t, d);
  if (!hd_liveness_find(&t->g, MOST_LIVE_BYTES, arena, &t->live))
    return hd_fail(d, HD_ERR_REFUSED, "shape=loop: the kernel is too large to follow its registers");
  st = check_functions(j, arena, d);
  if (st == HD_OK) st = list_reads(t, d);
  for (uint32_t k = 0; k < t->n_copies && st == HD_OK; k++) st = check_test(t, &t->copies[k], d);
  for (uint32_t k = 0; k < t->n_copies && st == HD_OK; k++) st = check_registers(t, &t->copies[k], d);
  return st == HD_OK ? tiles_check_memory(j, t, tiles, arena, rests, d) : st;
}

/* ---- The change --------------------------------------------------------------------------------------- */

static hd_status put_tile(rewrite_job *j, const tile_loop *t, uint64_t tiles, hd_buf *text, hd_diag *d) {
  const hd_grid grid = {.known = true, .g = {(uint32_t)tiles, 1, 1}, .n_sms = 1};
  hd_plan order = {.order = j->plan->order, .shape = j->plan->shape};
  hd_prog prog;
  char names[3][64] = {{0}}, number[64];
  order.shape.loop = false;
  hd_status st = hd_plan_forward(&order, &grid, &prog, d);
  if (st != HD_OK) return st;
  snprintf(number, sizeof number, "%s", t->m->syms[t->number].name);
  const rewrite_lowering l = {.prefix = j->prefix, .in = number, .want = {true}};
  st = rewrite_lower(&prog, &l, names, text, d);
  if (st != HD_OK) return st;
  rewrite_put(j, text, "\t.reg .b32 %%~tile;\n\t.reg .pred %%~ours;\n");
  if (t->bound.kind == HD_O_INT)
    rewrite_put(j, text, "\tsetp.lt.u32 %%~ours, %s, %llu;\n", number, (unsigned long long)tiles);
  else
    rewrite_put(j, text, "\tsetp.eq.u32 %%~ours, %s, %llu;\n\tsetp.lt.and.u32 %%~ours, %s, %llu, %%~ours;\n",
                t->m->syms[t->bound.sym].name, (unsigned long long)tiles, number, (unsigned long long)tiles);
  rewrite_put(j, text, "\tselp.b32 %%~tile, %s, %s, %%~ours;\n", names[0], number);
  return HD_OK;
}

typedef struct renamer {
  hd_ptx_module *m;
  hd_sym from, to;
} renamer;

static bool rename_read(void *ctx, const hd_ptx_leaf *leaf) {
  renamer *r = ctx;
  if (leaf->opnd && leaf->sym == r->from) r->m->opnds[leaf->index].sym = r->to;
  return true;
}

/* In front of the copy, and of a scope that it begins with: the tile's register is read behind it as well. */
static uint32_t entry_of(const rewrite_job *j, uint32_t header) {
  const hd_ptx_stmt *stmts = j->m->funcs[j->func].stmts;
  uint32_t at = header;
  while (at && stmts[at - 1].kind != HD_S_LABEL && stmts[at - 1].kind != HD_S_INST) at--;
  return at;
}

/* One copy of the loop, whose first statement is `header`. Statements behind it move by *added from *at on.
 */
static hd_status change_copy(rewrite_job *j, const tile_loop *t, uint32_t copy, uint32_t header,
                             uint64_t tiles, uint32_t *at, uint32_t *added, hd_diag *d) {
  const uint32_t before = j->m->funcs[j->func].n_stmts;
  hd_buf text = {0};
  char name[96];
  j->prefix = hd_ptx_fresh_prefix(j->m);
  if (!j->prefix) return hd_nomem(d);
  *at = entry_of(j, header);
  hd_status st = put_tile(j, t, tiles, &text, d);
  if (st == HD_OK && text.failed) st = hd_nomem(d);
  if (st == HD_OK) st = hd_ptx_insert(j->m, j->func, *at, text.data, d);
  hd_buf_free(&text);
  if (st != HD_OK) return st;
  *added = j->m->funcs[j->func].n_stmts - before;
  snprintf(name, sizeof name, "%%%s_tile", j->prefix);
  renamer r = {.m = j->m, .from = t->number, .to = rewrite_find_register(j->m, name)};
  for (size_t i = 0; i < t->reads.n; i++) {
    const uint32_t stmt = t->reads.data[i].stmt;
    if (t->reads.data[i].copy == copy)
      hd_ptx_visit(j->m, &j->m->funcs[j->func].stmts[stmt < *at ? stmt : stmt + *added], rename_read, &r);
  }
  return HD_OK;
}

static hd_status change(rewrite_job *j, tile_loop *t, uint64_t tiles, hd_diag *d) {
  uint32_t headers[TILES_MOST_COPIES], at = 0, added = 0;
  hd_status st = HD_OK;
  for (uint32_t k = 0; k < t->n_copies; k++)
    headers[k] = t->g.insts[t->g.blocks[t->g.loops[t->copies[k].loop].header].first].stmt;
  for (uint32_t k = 0; k < t->n_copies && st == HD_OK; k++) {
    st = change_copy(j, t, k, headers[k], tiles, &at, &added, d);
    for (uint32_t i = 0; i < t->n_copies; i++) headers[i] += headers[i] >= at ? added : 0;
    for (size_t i = 0; i < t->reads.n; i++) t->reads.data[i].stmt += t->reads.data[i].stmt >= at ? added : 0;
  }
  return st;
}

static bool count_tiles(const hd_shape *s, uint64_t *tiles) {
  const uint64_t plane = (uint64_t)s->n[0] * s->n[1];
  return !__builtin_mul_overflow(plane, s->n[2] ? s->n[2] : 1, tiles) && *tiles <= MOST_TILES;
}

hd_status rewrite_tile_loop(rewrite_job *j, bool *rests, hd_diag *d) {
  uint64_t tiles;
  tile_loop t = {.m = j->m};
  hd_arena arena;
  jmp_buf out_of_memory;
  *rests = false;
  if (!count_tiles(&j->plan->shape, &tiles)) return hd_fail(d, HD_ERR_USAGE, "shape=loop: too many tiles");
  if (j->clusters) return hd_fail(d, HD_ERR_REFUSED, "shape=loop: the kernel runs in clusters");
  hd_arena_init(&arena);
  arena.escape = &out_of_memory;
  hd_status st = HD_ERR_NOMEM;
  if (!setjmp(out_of_memory)) {
    st = find(j, &t, tiles, &arena, rests, d);
    if (st == HD_OK && t.bound.kind == HD_O_INT && t.bound.imm != (int64_t)tiles)
      st = hd_fail(d, HD_ERR_REFUSED, "shape=loop: the loop goes through %lld tiles", (long long)t.bound.imm);
    if (st == HD_OK && t.reads.n) st = change(j, &t, tiles, d);
  } else {
    st = hd_nomem(d);
  }
  hd_vec_free(&t.reads);
  hd_arena_free(&arena);
  return st;
}
