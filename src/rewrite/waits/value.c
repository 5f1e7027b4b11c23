/* Values in waits.c's search: constants, copies, addresses. */
#include "rewrite/waits/waits.h"

enum { MOST_DEPTH = 8, MOST_NESTING = 100 };

uint32_t wait_register(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  if (o->kind != HD_O_REG || o->part || o->flags & HD_OF_NEG) return HD_NONE;
  return hd_cfg_reg(&w->g, w->g.insts[inst].call, o->sym);
}

uint32_t wait_only_writer(const wait_search *w, uint32_t reg) {
  const uint32_t *at = &w->writers.first[reg];
  if (at[1] - at[0] != 1) return HD_NONE;
  uint32_t inst = w->writers.insts[at[0]];
  return hd_inst_stmt(&w->g, inst)->guard ? HD_NONE : inst;
}

uint32_t wait_only_writer_inside(const wait_search *w, uint32_t reg) {
  uint32_t only = HD_NONE;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++) {
    uint32_t inst = w->writers.insts[i];
    if (!wait_inside(w, inst)) continue;
    if (only != HD_NONE || hd_inst_stmt(&w->g, inst)->guard) return HD_NONE;
    only = inst;
  }
  return only;
}

bool wait_written_inside(const wait_search *w, uint32_t reg) {
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++)
    if (wait_inside(w, w->writers.insts[i])) return true;
  return false;
}

void wait_types_of(const hd_ptx_form *f, hd_ptx_type type[2]) {
  unsigned n = 0;
  type[0] = type[1] = (hd_ptx_type){0};
  for (unsigned k = 0; k < f->n_mods && n < 2; k++) {
    hd_ptx_type t = hd_ptx_type_of(f->mods[k]);
    if (t.number != HD_NUM_NONE) type[n++] = t;
  }
}

/* A widening of an unsigned or signed number keeps it, unless cvt reads a part of a wider register; so does
 * mov between types of one size. */
uint32_t wait_copied(const wait_search *w, uint32_t inst) {
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  const hd_ptx_form *f = &w->m->forms[s->form];
  const hd_ptx_opnd *o = wait_operands(w, inst);
  if (s->n_opnds != 2) return HD_NONE;
  bool copies = f->op == HD_OP_MOV || f->op == HD_OP_CVTA;
  if (f->op == HD_OP_CVT) {
    hd_ptx_type type[2];
    wait_types_of(f, type);
    copies = type[0].format == HD_FMT_NONE && type[1].format == HD_FMT_NONE && type[1].bits &&
             type[0].bits >= type[1].bits && o[1].kind == HD_O_REG &&
             hd_ptx_type_of(w->m->syms[o[1].sym].type).bits == type[1].bits;
  }
  return copies && o[0].kind == HD_O_REG && !o[0].part ? wait_register(w, inst, &o[1]) : HD_NONE;
}

static bool constant(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth,
                     int64_t *value) {
  if (o->kind == HD_O_INT) {
    *value = o->imm;
    return true;
  }
  uint32_t reg = wait_register(w, inst, o);
  if (reg == HD_NONE || depth == MOST_DEPTH) return false;
  uint32_t at = wait_only_writer(w, reg);
  if (at == HD_NONE || hd_inst_form(&w->g, at)->op != HD_OP_MOV) return false;
  return constant(w, at, &wait_operands(w, at)[1], depth + 1, value);
}

bool wait_constant(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, int64_t *value) {
  return constant(w, inst, o, 0, value);
}

static bool positive(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth) {
  int64_t value;
  if (wait_constant(w, inst, o, &value)) return value > 0 && value <= INT32_MAX;
  if (o->kind == HD_O_SREG)
    return o->part && (w->m->syms[o->sym].index == HD_SR_NTID || w->m->syms[o->sym].index == HD_SR_NCTAID);
  uint32_t reg = wait_register(w, inst, o);
  if (reg == HD_NONE || depth == MOST_DEPTH) return false;
  uint32_t at = wait_only_writer(w, reg);
  if (at == HD_NONE) return false;
  const hd_ptx_opnd *p = wait_operands(w, at);
  switch (hd_inst_form(&w->g, at)->op) {
  case HD_OP_MOV:
  case HD_OP_CVT: return hd_inst_stmt(&w->g, at)->n_opnds == 2 && positive(w, at, &p[1], depth + 1);
  case HD_OP_MUL: return positive(w, at, &p[1], depth + 1) && positive(w, at, &p[2], depth + 1);
  case HD_OP_SHL:
    return positive(w, at, &p[1], depth + 1) && wait_constant(w, at, &p[2], &value) && value >= 0 &&
           value < 16;
  default: return false;
  }
}

bool wait_positive(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  return positive(w, inst, o, 0);
}

typedef struct operands {
  const wait_search *w;
  unsigned depth;
  uint32_t inst;
  bool ok;
} operands;

static bool register_is_invariant(const wait_search *w, uint32_t reg, unsigned depth);

static void check_invariant(void *ctx, uint32_t reg) {
  operands *x = ctx;
  x->ok = x->ok && register_is_invariant(x->w, reg, x->depth + 1);
}

static bool is_worked_out_alike(const wait_search *w, uint32_t reg, unsigned depth) {
  uint32_t at = wait_only_writer_inside(w, reg);
  if (at == HD_NONE || depth == MOST_NESTING) return false;
  const hd_ptx_form *f = hd_inst_form(&w->g, at);
  /* A special register may be a clock; %tid and the like are read outside of loops, or are the same all the
   * same, but are not worth telling apart here. */
  bool parameter = f->op == HD_OP_LD && (hd_ptx_form_has(f, HD_M_PARAM) || hd_ptx_form_has(f, HD_M_CONST)) &&
                   w->g.insts[at].call == 0;
  if (!parameter && !(f->flags & HD_OPF_PURE)) return false;
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, at);
  for (uint32_t k = 1; k < s->n_opnds; k++) {
    const hd_ptx_opnd *o = &wait_operands(w, at)[k];
    if (o->kind == HD_O_SREG && hd_ptx_sreg_kind(w->m->syms[o->sym].index) == HD_SRK_SCHEDULE) return false;
  }
  operands x = {w, depth, at, true};
  hd_inst_reads(&w->g, at, check_invariant, &x);
  return x.ok;
}

/* Remembered for the region, 2 * stamp and the answer. While the search runs the answer is no: a register
 * that depends on itself is not invariant. */
static bool register_is_invariant(const wait_search *w, uint32_t reg, unsigned depth) {
  if (!wait_written_inside(w, reg)) return true;
  uint32_t *known = &w->invariant[reg];
  if (*known >> 1 == w->stamp) return *known & 1;
  *known = 2 * w->stamp;
  if (is_worked_out_alike(w, reg, depth)) *known |= 1;
  return *known & 1;
}

bool wait_invariant(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  switch (o->kind) {
  case HD_O_INT:
  case HD_O_SYM: return true;
  case HD_O_REG:
  case HD_O_ADDR:
    if (!o->sym || w->m->syms[o->sym].kind != HD_SYM_REG) return true;
    return register_is_invariant(w, hd_cfg_reg(&w->g, w->g.insts[inst].call, o->sym), 0);
  case HD_O_VEC:
  case HD_O_BRACKET:
    for (uint32_t k = 0; k < o->n_kids; k++)
      if (!wait_invariant(w, inst, &w->m->opnds[o->sym + k])) return false;
    return true;
  default: return false;
  }
}

/* ---- Addresses ------------------------------------------------------------------------------- */

static hd_sym root(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth) {
  if (o->kind == HD_O_INDEX || o->kind == HD_O_BRACKET) return root(w, inst, &w->m->opnds[o->sym], depth);
  if (o->kind != HD_O_REG && o->kind != HD_O_ADDR && o->kind != HD_O_SYM) return 0;
  if (!o->sym) return 0;
  const hd_ptx_sym *y = &w->m->syms[o->sym];
  if (y->kind == HD_SYM_VAR) return o->sym;
  if (y->kind != HD_SYM_REG || depth == MOST_DEPTH) return 0;
  uint32_t at = wait_only_writer(w, hd_cfg_reg(&w->g, w->g.insts[inst].call, o->sym));
  if (at == HD_NONE) return 0;
  const hd_ptx_opnd *p = wait_operands(w, at);
  hd_sym a = 0, b = 0;
  switch (hd_inst_form(&w->g, at)->op) {
  case HD_OP_MOV:
  case HD_OP_CVTA:
  case HD_OP_CVT: return root(w, at, &p[1], depth + 1);
  case HD_OP_ADD:
  case HD_OP_OR:
    a = root(w, at, &p[1], depth + 1);
    b = root(w, at, &p[2], depth + 1);
    return a ? a : b;
  case HD_OP_SUB: return root(w, at, &p[1], depth + 1);
  case HD_OP_MAD: return root(w, at, &p[3], depth + 1);
  default: return 0;
  }
}

hd_sym wait_root(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o) { return root(w, inst, o, 0); }

const hd_ptx_access *wait_access(wait_search *w, uint32_t inst) {
  uint32_t form = hd_inst_stmt(&w->g, inst)->form;
  if (!w->known_form[form]) {
    w->access[form] = hd_ptx_access_of(&w->m->forms[form]);
    w->known_form[form] = 1;
  }
  return &w->access[form];
}

const hd_ptx_opnd *wait_address(wait_search *w, uint32_t inst) {
  const hd_ptx_access *a = wait_access(w, inst);
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  for (unsigned k = 0; k < a->n; k++)
    if (a->touches[k].space & HD_IN_ANY_GLOBAL && a->touches[k].operand < s->n_opnds)
      return &wait_operands(w, inst)[a->touches[k].operand];
  return NULL;
}

typedef struct leaves {
  wait_search *w;
  uint32_t *regs, n, cap;
  bool ok;
} leaves;

static void note_leaf(leaves *l, uint32_t reg) {
  for (uint32_t i = 0; i < l->n; i++)
    if (l->regs[i] == reg) return;
  if (l->n < l->cap)
    l->regs[l->n++] = reg;
  else
    l->ok = false;
}

static bool same_operand(leaves *l, uint32_t a, const hd_ptx_opnd *x, uint32_t b, const hd_ptx_opnd *y,
                         unsigned depth);

/* Two registers with one value: the same one, or worked out alike. */
static bool same_register(leaves *l, uint32_t x, uint32_t y, unsigned depth) {
  wait_search *w = l->w;
  if (x == y) {
    note_leaf(l, x);
    return true;
  }
  uint32_t a = wait_only_writer(w, x), b = wait_only_writer(w, y);
  if (a == HD_NONE || b == HD_NONE || depth == MOST_DEPTH) return false;
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, a), *t = hd_inst_stmt(&w->g, b);
  const hd_ptx_form *f = &w->m->forms[s->form];
  bool parameter = f->op == HD_OP_LD && hd_ptx_form_has(f, HD_M_PARAM) && !w->g.insts[a].call;
  if (s->form != t->form || s->n_opnds != t->n_opnds) return false;
  if (!(f->flags & HD_OPF_PURE) && !parameter) return false;
  for (uint32_t k = 1; k < s->n_opnds; k++)
    if (!same_operand(l, a, &wait_operands(w, a)[k], b, &wait_operands(w, b)[k], depth + 1)) return false;
  return true;
}

static bool same_operand(leaves *l, uint32_t a, const hd_ptx_opnd *x, uint32_t b, const hd_ptx_opnd *y,
                         unsigned depth) {
  const wait_search *w = l->w;
  if (x->kind != y->kind || x->part != y->part || (x->flags & HD_OF_NEG) != (y->flags & HD_OF_NEG))
    return false;
  switch (x->kind) {
  case HD_O_INT:
  case HD_O_F32:
  case HD_O_F64: return x->imm == y->imm;
  case HD_O_SREG: return x->sym == y->sym && hd_ptx_sreg_kind(w->m->syms[x->sym].index) != HD_SRK_SCHEDULE;
  case HD_O_SYM: return x->sym == y->sym && x->imm == y->imm;
  case HD_O_REG:
  case HD_O_ADDR:
    if (x->kind == HD_O_ADDR && x->imm != y->imm) return false;
    if (!x->sym || !y->sym || w->m->syms[x->sym].kind != HD_SYM_REG || w->m->syms[y->sym].kind != HD_SYM_REG)
      return x->sym == y->sym;
    return same_register(l, hd_cfg_reg(&w->g, w->g.insts[a].call, x->sym),
                         hd_cfg_reg(&w->g, w->g.insts[b].call, y->sym), depth);
  default: return false;
  }
}

bool wait_same_address(wait_search *w, uint32_t a, uint32_t b, uint32_t *regs, uint32_t *n, uint32_t cap) {
  const hd_ptx_opnd *x = wait_address(w, a), *y = wait_address(w, b);
  leaves l = {.w = w, .regs = regs, .n = *n, .cap = cap, .ok = true};
  bool same = x && y && same_operand(&l, a, x, b, y, 0) && l.ok;
  if (same) *n = l.n;
  return same;
}
