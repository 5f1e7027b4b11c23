/* Where data from memory, and the thread's own number, may have reached: the cheap answer for values that no
 * formula describes. It works on registers, not values, in time linear in the kernel's operands.
 *
 * A register with several definitions also depends on the path: on the branches that decide whether a block
 * with one of them runs, which are those that the block is control-dependent on, directly or through others
 * (Ferrante, Ottenstein, Warren, "The program dependence graph and its use in optimization", 1987). A loop's
 * body depends on the loop's exits in this way.
 */
#include <string.h>

#include "analysis/internal.h"

enum { OF_DATA = 1, OF_THREAD = 2 };

/* Nodes of the graph: registers and slots, then blocks, then the branches at their ends, then the sources. */
typedef struct edge {
  uint32_t from, to;
} edge;

typedef struct spread {
  an *a;
  uint32_t inst;                           /* whose operands are looked at */
  uint32_t blocks, branches, data, thread; /* the first nodes of each kind */
  AN_VEC(edge) edges;
} spread;

static void add_edge(spread *s, uint32_t from, uint32_t to) {
  AN_PUSH(&s->a->arena, &s->edges, ((edge){from, to}));
}

/* ---- Operands -------------------------------------------------------------------------------------- */

/* The node's content flows into what the instruction writes. */
static void add_use(spread *s, uint32_t node) {
  const an_ssa *ssa = &s->a->ssa;
  for (uint32_t d = ssa->inst_def[s->inst]; d < ssa->inst_def[s->inst + 1]; d++)
    add_edge(s, node, ssa->defs[d].reg);
}

static void add_special(spread *s, uint32_t id) {
  switch (hd_ptx_sreg_kind(id)) {
  case HD_SRK_THREAD:
  case HD_SRK_LANE: add_use(s, s->thread); break;
  case HD_SRK_SCHEDULE:
  case HD_SRK_UNKNOWN: add_use(s, s->data); break;
  default: break;
  }
}

/* Registers that the instruction reads, its guard among them. */
static bool add_leaf(void *ctx, const hd_ptx_leaf *leaf) {
  spread *s = ctx;
  an *a = s->a;
  const hd_ptx_sym *y = &a->m->syms[leaf->sym];
  if (!(leaf->role & HD_ROLE_READ)) return true;
  if (y->kind == HD_SYM_REG) add_use(s, an_reg(a, a->pub.cfg.insts[s->inst].call, leaf->sym));
  if (y->kind == HD_SYM_SREG) add_special(s, y->index);
  return true;
}

/* A value passed to or from an inlined function: the slots of the variable. */
static void add_slots(spread *s, const hd_ptx_opnd *o) {
  an *a = s->a;
  if (o->kind != HD_O_ADDR || !o->sym || a->m->syms[o->sym].kind != HD_SYM_VAR) return;
  for (uint32_t bytes = 1; bytes <= 8; bytes *= 2) {
    uint32_t slot = an_slot_of(a, a->pub.cfg.insts[s->inst].call, o->sym, (uint64_t)o->imm, bytes, false);
    if (slot != HD_NONE) add_use(s, slot);
  }
}

static void add_inst(spread *s, uint32_t inst) {
  an *a = s->a;
  const hd_ptx_stmt *st = an_stmt(a, inst);
  const hd_ptx_opnd *o = a->m->opnds + st->first_opnd;
  const uint32_t flags = an_form(a, inst)->flags;
  s->inst = inst;
  if (a->ssa.inst_def[inst] == a->ssa.inst_def[inst + 1]) return;
  if (flags & HD_OPF_BRINGS_DATA) add_use(s, s->data);
  if (flags & HD_OPF_READS_CARRY) add_use(s, s->thread); /* no register's name says where the carry is from */
  for (uint32_t d = a->ssa.inst_def[inst]; d < a->ssa.inst_def[inst + 1]; d++) {
    uint32_t reg = a->ssa.defs[d].reg;
    if (a->ssa.reg_first[reg + 1] - a->ssa.reg_first[reg] > 1)
      add_edge(s, s->blocks + a->pub.cfg.insts[inst].block, reg);
  }
  hd_ptx_visit(a->m, st, add_leaf, s);
  if (an_form(a, inst)->op == HD_OP_LD && st->n_opnds > 1) add_slots(s, &o[1]);
}

/* ---- Paths ------------------------------------------------------------------------------------------- */

/* A way that only ends the thread: nothing behind it sees which way others went. */
static bool only_ends(const an *a, uint32_t block) {
  const hd_cfg *g = &a->pub.cfg;
  const hd_block *b = &g->blocks[block];
  if (block == g->n_blocks - 1) return true;
  return b->n_insts == 1 && b->n_succ == 1 && g->edges[b->first_succ] == g->n_blocks - 1;
}

static bool add_branch_leaf(void *ctx, const hd_ptx_leaf *leaf) {
  spread *s = ctx;
  an *a = s->a;
  const hd_inst *i = &a->pub.cfg.insts[s->inst];
  if (leaf->role & HD_ROLE_READ && a->m->syms[leaf->sym].kind == HD_SYM_REG)
    add_edge(s, an_reg(a, i->call, leaf->sym), s->branches + i->block);
  return true;
}

/* The blocks from a branch's ways up to where they meet. Where they need not meet, because one may go round
 * for ever, every block counts. False: too many. */
static bool add_branch(spread *s, uint32_t block) {
  enum { MOST_EDGES = 1 << 20 };
  an *a = s->a;
  const hd_cfg *g = &a->pub.cfg;
  const hd_block *b = &g->blocks[block];
  if (b->n_succ < 2 || b->rpo == HD_NONE) return true;
  for (uint32_t k = 0; k < b->n_succ; k++)
    if (only_ends(a, g->edges[b->first_succ + k])) return true;
  s->inst = b->first + b->n_insts - 1;
  hd_ptx_visit(a->m, an_stmt(a, s->inst), add_branch_leaf, s);
  add_edge(s, s->blocks + block, s->branches + block);
  for (uint32_t k = 0; k < b->n_succ; k++) {
    uint32_t at = g->edges[b->first_succ + k];
    for (; at != b->ipdom && at != HD_NONE; at = g->blocks[at].ipdom) {
      add_edge(s, s->branches + block, s->blocks + at);
      if (s->edges.n > MOST_EDGES) return false;
    }
    if (at == HD_NONE || b->ipdom == HD_NONE)
      for (uint32_t other = 0; other < g->n_blocks; other++)
        add_edge(s, s->branches + block, s->blocks + other);
    if (s->edges.n > MOST_EDGES) return false;
  }
  return true;
}

/* ---- Spreading ---------------------------------------------------------------------------------- */

static void flood(spread *s, const uint32_t *first, const uint32_t *users, uint32_t source, uint8_t bit,
                  uint8_t *reached, uint32_t *stack) {
  uint32_t top = 0;
  reached[source] |= bit;
  stack[top++] = source;
  while (top) {
    uint32_t node = stack[--top];
    for (uint32_t i = first[node]; i < first[node + 1]; i++) {
      if (reached[users[i]] & bit) continue;
      reached[users[i]] |= bit;
      stack[top++] = users[i];
    }
  }
  s->a->alg.work += s->edges.n;
}

static void work_out(an *a) {
  const uint32_t n_regs = a->pub.cfg.n_regs + (uint32_t)a->slots.list.n, n_blocks = a->pub.cfg.n_blocks;
  spread s = {.a = a, .blocks = n_regs, .branches = n_regs + n_blocks, .data = n_regs + 2 * n_blocks};
  const uint32_t n = s.data + 2;
  s.thread = s.data + 1;
  for (uint32_t i = 0; i < a->pub.cfg.n_insts; i++) add_inst(&s, i);
  bool all = true;
  for (uint32_t b = 0; b < n_blocks && all; b++) all = add_branch(&s, b);
  for (uint32_t b = 0; b < n_blocks && !all; b++) add_edge(&s, s.data, s.blocks + b);
  /* Edges by where they begin. */
  uint32_t *first = HD_NEW_N(&a->arena, (size_t)n + 2, uint32_t);
  uint32_t *users = HD_NEW_N(&a->arena, s.edges.n + 1, uint32_t);
  for (size_t i = 0; i < s.edges.n; i++) first[s.edges.data[i].from + 2]++;
  for (uint32_t r = 2; r < n + 2; r++) first[r] += first[r - 1];
  for (size_t i = 0; i < s.edges.n; i++) users[first[s.edges.data[i].from + 1]++] = s.edges.data[i].to;
  uint8_t *reached = HD_NEW_N(&a->arena, n, uint8_t);
  uint32_t *stack = HD_NEW_N(&a->arena, n, uint32_t);
  flood(&s, first, users, s.data, OF_DATA, reached, stack);
  flood(&s, first, users, s.thread, OF_THREAD, reached, stack);
  a->ssa.tainted = reached;
}

static uint8_t reached_by(an *a, uint32_t reg) {
  if (!a->ssa.tainted) work_out(a);
  return a->ssa.tainted[reg];
}

bool an_tainted(an *a, uint32_t reg) { return reached_by(a, reg) & OF_DATA; }

bool an_is_of_cta(an *a, uint32_t reg) { return !reached_by(a, reg); }
