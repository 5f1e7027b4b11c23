/* Registers that data from memory may have reached: the cheap answer for values that go around loops in ways
 * that no formula describes. It works on registers, not values, in time linear in the kernel's operands.
 */
#include <string.h>

#include "analysis/internal.h"

/* The instruction reads the register, so the register's content flows into the definition. */
typedef struct use {
  uint32_t reg, def;
} use;

typedef struct spread {
  an *a;
  uint32_t inst; /* whose operands are looked at */
  uint32_t data; /* the virtual register that stands for data itself, behind all others */
  AN_VEC(use) uses;
} spread;

static void add_use(spread *s, uint32_t reg) {
  for (uint32_t d = s->a->ssa.inst_def[s->inst]; d < s->a->ssa.inst_def[s->inst + 1]; d++)
    AN_PUSH(&s->a->arena, &s->uses, ((use){reg, d}));
}

/* Registers that the instruction reads, its guard among them. */
static bool add_leaf(void *ctx, const hd_ptx_leaf *leaf) {
  spread *s = ctx;
  an *a = s->a;
  const hd_ptx_sym *y = &a->m->syms[leaf->sym];
  if (!(leaf->role & HD_ROLE_READ)) return true;
  if (y->kind == HD_SYM_REG) add_use(s, an_reg(a, a->pub.cfg.insts[s->inst].call, leaf->sym));
  if (y->kind == HD_SYM_SREG) {
    hd_sreg_kind kind = hd_ptx_sreg_kind(y->index);
    if (kind == HD_SRK_SCHEDULE || kind == HD_SRK_UNKNOWN) add_use(s, s->data);
  }
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

/* The value of a register that is written in several places depends on the path: on the branches above those
 * places. */
static void add_path(spread *s, uint32_t inst) {
  enum { MAX_BRANCHES = 64 };
  an *a = s->a;
  const hd_cfg *g = &a->pub.cfg;
  uint32_t reg = a->ssa.defs[a->ssa.inst_def[inst]].reg;
  if (a->ssa.reg_first[reg + 1] - a->ssa.reg_first[reg] < 2) return;
  uint32_t b = g->blocks[a->pub.cfg.insts[inst].block].idom;
  for (unsigned n = 0; b != HD_NONE && n < MAX_BRANCHES; n++, b = g->blocks[b].idom) {
    uint32_t last = g->blocks[b].first + g->blocks[b].n_insts - 1;
    const hd_ptx_stmt *st = an_stmt(a, last);
    if (g->blocks[b].n_succ > 1 && st->guard) add_use(s, an_reg(a, a->pub.cfg.insts[last].call, st->guard));
  }
}

static void add_inst(spread *s, uint32_t inst) {
  an *a = s->a;
  const hd_ptx_stmt *st = an_stmt(a, inst);
  const hd_ptx_opnd *o = a->m->opnds + st->first_opnd;
  s->inst = inst;
  if (a->ssa.inst_def[inst] == a->ssa.inst_def[inst + 1]) return;
  if (an_form(a, inst)->flags & HD_OPF_BRINGS_DATA) add_use(s, s->data);
  add_path(s, inst);
  hd_ptx_visit(a->m, st, add_leaf, s);
  if (an_form(a, inst)->op == HD_OP_LD && st->n_opnds > 1) add_slots(s, &o[1]);
}

static void work_out(an *a) {
  uint32_t n_regs = a->pub.cfg.n_regs + (uint32_t)a->slots.list.n, n_insts = a->pub.cfg.n_insts;
  spread s = {.a = a, .data = n_regs};
  for (uint32_t i = 0; i < n_insts; i++) add_inst(&s, i);
  a->alg.work += s.uses.n;
  /* Uses by register. */
  uint32_t *first = HD_NEW_N(&a->arena, (size_t)n_regs + 3, uint32_t);
  uint32_t *users = HD_NEW_N(&a->arena, s.uses.n + 1, uint32_t);
  for (size_t i = 0; i < s.uses.n; i++) first[s.uses.data[i].reg + 2]++;
  for (uint32_t r = 2; r <= n_regs + 2; r++) first[r] += first[r - 1];
  for (size_t i = 0; i < s.uses.n; i++) users[first[s.uses.data[i].reg + 1]++] = s.uses.data[i].def;
  uint8_t *tainted = HD_NEW_N(&a->arena, (size_t)n_regs + 1, uint8_t);
  uint32_t *stack = HD_NEW_N(&a->arena, (size_t)n_regs + 1, uint32_t), top = 0;
  tainted[n_regs] = 1;
  stack[top++] = n_regs;
  while (top) {
    uint32_t r = stack[--top];
    for (uint32_t i = first[r]; i < first[r + 1]; i++) {
      uint32_t to = a->ssa.defs[users[i]].reg;
      if (tainted[to]) continue;
      tainted[to] = 1;
      stack[top++] = to;
    }
  }
  a->ssa.tainted = tainted;
}

bool an_tainted(an *a, uint32_t reg) {
  if (!a->ssa.tainted) work_out(a);
  return a->ssa.tainted[reg];
}
