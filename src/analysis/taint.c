/* Registers that data may have reached: the cheap answer for values that go around loops in ways that no
 * formula follows. Over registers, not values; linear in the kernel's operands.
 */
#include <string.h>

#include "analysis/internal.h"

static bool is_constant_space(hd_mod mod) {
  return mod == HD_M_PARAM || mod == HD_M_PARAM_ENTRY || mod == HD_M_PARAM_FUNC || mod == HD_M_CONST;
}

/* What the instruction writes comes from memory, other threads, or unknown code. */
static bool brings_data(const an *a, uint32_t inst) {
  const hd_ptx_form *f = an_form(a, inst);
  switch (f->op) {
  case HD_OP_LD:
  case HD_OP_LDU:
    for (unsigned i = 0; i < f->n_mods; i++)
      if (is_constant_space(f->mods[i])) return false;
    return true;
  case HD_OP_WMMA: return hd_ptx_form_has(f, HD_M_LOAD);
  case HD_OP_CALL:
  case HD_OP_ATOM:
  case HD_OP_SHFL:
  case HD_OP_VOTE:
  case HD_OP_MATCH:
  case HD_OP_REDUX:
  case HD_OP_ACTIVEMASK:
  case HD_OP_ELECT:
  case HD_OP_TEX:
  case HD_OP_TLD4:
  case HD_OP_SULD:
  case HD_OP_MULTIMEM:
  case HD_OP_LDMATRIX:
  case HD_OP_MOVMATRIX:
  case HD_OP_TCGEN05:
  case HD_OP_MBARRIER:
  case HD_OP_BAR:
  case HD_OP_BARRIER:
  case HD_OP_CLUSTERLAUNCHCONTROL: return true;
  default: return false;
  }
}

typedef struct spread {
  an *a;
  uint32_t inst;         /* whose operands are looked at */
  uint32_t n;            /* uses found */
  uint32_t *regs, *defs; /* the uses; NULL: only count */
} spread;

static void add_use(spread *s, uint32_t reg) {
  for (uint32_t d = s->a->inst_def[s->inst]; d < s->a->inst_def[s->inst + 1]; d++) {
    if (s->regs) s->regs[s->n] = reg, s->defs[s->n] = d;
    s->n++;
  }
}

static bool reads_schedule(const an *a, const hd_ptx_opnd *o) {
  switch (a->m->syms[o->sym].index) {
  case HD_SR_SMID:
  case HD_SR_WARPID:
  case HD_SR_GRIDID:
  case HD_SR_CLOCK:
  case HD_SR_CLOCK_HI:
  case HD_SR_CLOCK64:
  case HD_SR_GLOBALTIMER:
  case HD_SR_GLOBALTIMER_LO:
  case HD_SR_GLOBALTIMER_HI: return true;
  default: return false;
  }
}

/* Registers an operand names; the virtual register number n_all stands for data itself. */
static void add_operand(spread *s, const hd_ptx_opnd *o, uint32_t data) {
  an *a = s->a;
  uint32_t call = a->pub.cfg.insts[s->inst].call;
  switch (o->kind) {
  case HD_O_REG:
  case HD_O_ADDR:
    if (!o->sym) return;
    if (a->m->syms[o->sym].kind == HD_SYM_REG) add_use(s, an_reg(a, call, o->sym));
    return;
  case HD_O_SREG:
    if (reads_schedule(a, o)) add_use(s, data);
    return;
  case HD_O_VEC:
  case HD_O_PAIR:
  case HD_O_LIST:
  case HD_O_BRACKET:
    for (uint32_t k = 0; k < o->n_kids; k++) add_operand(s, &a->m->opnds[o->sym + k], data);
    return;
  default: return;
  }
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

/* A register written in several places holds what the path decides: the branches above those places. */
static void add_path(spread *s, uint32_t inst) {
  enum { MAX_BRANCHES = 64 };
  an *a = s->a;
  const hd_cfg *g = &a->pub.cfg;
  uint32_t reg = a->defs[a->inst_def[inst]].reg;
  if (a->reg_first[reg + 1] - a->reg_first[reg] < 2) return;
  uint32_t b = g->blocks[a->pub.cfg.insts[inst].block].idom;
  for (unsigned n = 0; b != HD_NONE && n < MAX_BRANCHES; n++, b = g->blocks[b].idom) {
    uint32_t last = g->blocks[b].first + g->blocks[b].n_insts - 1;
    const hd_ptx_stmt *st = an_stmt(a, last);
    if (g->blocks[b].n_succ > 1 && st->guard) add_use(s, an_reg(a, a->pub.cfg.insts[last].call, st->guard));
  }
}

static void add_inst(spread *s, uint32_t inst, uint32_t data) {
  an *a = s->a;
  const hd_ptx_stmt *st = an_stmt(a, inst);
  const hd_ptx_opnd *o = a->m->opnds + st->first_opnd;
  s->inst = inst;
  if (a->inst_def[inst] == a->inst_def[inst + 1]) return;
  if (brings_data(a, inst)) add_use(s, data);
  add_path(s, inst);
  for (uint32_t k = an_form(a, inst)->op != HD_OP_ST; k < st->n_opnds; k++) add_operand(s, &o[k], data);
  if (an_form(a, inst)->op == HD_OP_LD && st->n_opnds > 1) add_slots(s, &o[1]);
  if (st->guard) add_use(s, an_reg(a, a->pub.cfg.insts[inst].call, st->guard));
}

static void work_out(an *a) {
  uint32_t n_regs = a->pub.cfg.n_regs + (uint32_t)a->slots.n, n_insts = a->pub.cfg.n_insts;
  spread s = {.a = a};
  for (uint32_t i = 0; i < n_insts; i++) add_inst(&s, i, n_regs);
  s.regs = HD_NEW_N(&a->arena, (size_t)s.n + 1, uint32_t);
  s.defs = HD_NEW_N(&a->arena, (size_t)s.n + 1, uint32_t);
  s.n = 0;
  for (uint32_t i = 0; i < n_insts; i++) add_inst(&s, i, n_regs);
  a->pub.work += s.n;
  /* Uses by register. */
  uint32_t *first = HD_NEW_N(&a->arena, (size_t)n_regs + 3, uint32_t);
  uint32_t *users = HD_NEW_N(&a->arena, (size_t)s.n + 1, uint32_t);
  for (uint32_t i = 0; i < s.n; i++) first[s.regs[i] + 2]++;
  for (uint32_t r = 2; r <= n_regs + 2; r++) first[r] += first[r - 1];
  for (uint32_t i = 0; i < s.n; i++) users[first[s.regs[i] + 1]++] = s.defs[i];
  uint8_t *tainted = HD_NEW_N(&a->arena, (size_t)n_regs + 1, uint8_t);
  uint32_t *stack = HD_NEW_N(&a->arena, (size_t)n_regs + 1, uint32_t), top = 0;
  tainted[n_regs] = 1;
  stack[top++] = n_regs;
  while (top) {
    uint32_t r = stack[--top];
    for (uint32_t i = first[r]; i < first[r + 1]; i++) {
      uint32_t to = a->defs[users[i]].reg;
      if (tainted[to]) continue;
      tainted[to] = 1;
      stack[top++] = to;
    }
  }
  a->tainted = tainted;
}

bool an_tainted(an *a, uint32_t reg) {
  if (!a->tainted) work_out(a);
  return a->tainted[reg];
}
