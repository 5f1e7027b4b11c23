/* Values in waits.c's search: constants, copies, addresses. */
#include "base/arith.h"
#include "rewrite/waits/waits.h"

enum { MOST_DEPTH = 8, MOST_NESTING = 100, MOST_SIZE = 1 << 12 };

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

static bool is_whole_number(const hd_ptx_type *t) {
  return t->format == HD_FMT_NONE && t->number != HD_NUM_FLOAT && t->bits;
}

bool wait_moves_whole(const wait_search *w, uint32_t inst) {
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  return w->m->forms[s->form].op == HD_OP_MOV && s->n_opnds == 2 &&
         wait_operands(w, inst)[0].kind == HD_O_REG;
}

/* A widening of an unsigned or signed number keeps it, unless cvt reads a part of a wider register; so does
 * mov between types of one size. */
uint32_t wait_copied(const wait_search *w, uint32_t inst) {
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  const hd_ptx_form *f = &w->m->forms[s->form];
  const hd_ptx_opnd *o = wait_operands(w, inst);
  if (s->n_opnds != 2 || hd_ptx_form_has(f, HD_M_SAT)) return HD_NONE;
  bool copies = f->op == HD_OP_MOV || f->op == HD_OP_CVTA;
  if (f->op == HD_OP_CVT) {
    hd_ptx_type type[2];
    hd_ptx_types_of(f, type);
    copies = is_whole_number(&type[0]) && is_whole_number(&type[1]) && type[0].bits >= type[1].bits &&
             o[1].kind == HD_O_REG && hd_ptx_type_of(w->m->syms[o[1].sym].type).bits == type[1].bits;
  }
  return copies && o[0].kind == HD_O_REG && !o[0].part ? wait_register(w, inst, &o[1]) : HD_NONE;
}

static int64_t number_of(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, int64_t value) {
  const uint32_t operand = (uint32_t)(o - wait_operands(w, inst));
  return hd_ptx_number_of(hd_inst_form(&w->g, inst), wait_result(w, inst), operand, value);
}

/* Cut to the type of the operand, and to those of the moves that it came by. */
static bool constant(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth,
                     int64_t *value) {
  if (o->kind == HD_O_INT) {
    *value = number_of(w, inst, o, o->imm);
    return true;
  }
  uint32_t reg = wait_register(w, inst, o);
  if (reg == HD_NONE || depth == MOST_DEPTH) return false;
  uint32_t at = wait_only_writer(w, reg);
  if (at == HD_NONE || !wait_moves_whole(w, at)) return false;
  if (!constant(w, at, &wait_operands(w, at)[1], depth + 1, value)) return false;
  *value = number_of(w, inst, o, *value);
  return true;
}

bool wait_constant(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, int64_t *value) {
  return constant(w, inst, o, 0, value);
}

int64_t wait_word(int64_t value, unsigned bytes) {
  return bytes ? hd_sign_extend((uint64_t)value, 8 * bytes) : value;
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

/* ld.param in the kernel itself: of its parameters, or of what a call brings. */
static bool loads_own_param(const wait_search *w, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  return f->op == HD_OP_LD && hd_ptx_form_has(f, HD_M_PARAM) && !w->g.insts[inst].call;
}

bool wait_loads_parameter(const wait_search *w, uint32_t inst) {
  const hd_ptx_opnd *o = &wait_operands(w, inst)[1];
  return loads_own_param(w, inst) && o->kind == HD_O_ADDR && hd_cfg_param(&w->g, o->sym) != HD_NONE;
}

/* The same by a pointer to the parameters. */
static bool loads_by_pointer(const wait_search *w, uint32_t inst) {
  return loads_own_param(w, inst) &&
         hd_cfg_param(&w->g, wait_root(w, inst, &wait_operands(w, inst)[1])) != HD_NONE;
}

bool wait_loads_launch(const wait_search *w, uint32_t inst) {
  return hd_inst_form(&w->g, inst)->op == HD_OP_LD &&
         (wait_loads_parameter(w, inst) || loads_by_pointer(w, inst));
}

/* The operand of a call that becomes the formal parameter of the body that follows; NULL. */
static const hd_ptx_opnd *argument(const wait_search *w, uint32_t call, hd_sym formal) {
  const hd_ptx_func *f = &w->m->funcs[w->g.calls[call].func];
  uint32_t site = w->g.calls[call].site;
  bool named = false;
  for (uint32_t i = 0; i < hd_inst_stmt(&w->g, site)->n_opnds; i++) {
    const hd_ptx_opnd *o = &wait_operands(w, site)[i];
    named |= o->kind == HD_O_SYM;
    if (o->kind != HD_O_LIST || !named) continue;
    for (uint32_t k = 0; k < f->n_params && k < o->n_kids; k++)
      if (w->m->vars[f->first_param + k].sym == formal) return &w->m->opnds[o->sym + k];
    return NULL;
  }
  return NULL;
}

const hd_ptx_opnd *wait_argument(const wait_search *w, uint32_t load, uint32_t *store) {
  const hd_ptx_opnd *formal = &wait_operands(w, load)[1], *value = NULL;
  uint32_t call = w->g.insts[load].call, bytes = hd_ptx_access_of(hd_inst_form(&w->g, load)).bytes;
  if (!call || formal->kind != HD_O_ADDR || !formal->sym) return NULL;
  const hd_ptx_opnd *actual = argument(w, call, formal->sym);
  if (!actual || (actual->kind != HD_O_SYM && actual->kind != HD_O_REG) || actual->part) return NULL;
  *store = w->g.calls[call].site;
  if (w->m->syms[actual->sym].kind == HD_SYM_REG) return actual;
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++) {
      const hd_ptx_opnd *o = wait_operands(w, k);
      if (hd_inst_form(&w->g, k)->op != HD_OP_ST || o[0].kind != HD_O_ADDR || o[0].sym != actual->sym)
        continue;
      if (o[0].imm >= formal->imm + bytes) continue;
      if (value || o[0].imm != formal->imm || hd_inst_stmt(&w->g, k)->guard) return NULL;
      if (hd_ptx_access_of(hd_inst_form(&w->g, k)).bytes != bytes) return NULL;
      value = &o[1];
      *store = k;
    }
  }
  return value;
}

static bool loads_invariant_argument(const wait_search *w, uint32_t load, unsigned depth) {
  uint32_t store;
  const hd_ptx_opnd *value = wait_argument(w, load, &store);
  if (!value || value->kind == HD_O_INT) return value;
  const uint32_t reg = value->kind == HD_O_REG && !value->part
                           ? hd_cfg_reg(&w->g, w->g.insts[store].call, value->sym)
                           : HD_NONE;
  return reg != HD_NONE && register_is_invariant(w, reg, depth + 1);
}

static bool is_worked_out_alike(const wait_search *w, uint32_t reg, unsigned depth) {
  uint32_t at = wait_only_writer_inside(w, reg);
  if (at == HD_NONE || depth == MOST_NESTING) return false;
  const hd_ptx_form *f = hd_inst_form(&w->g, at);
  /* A special register may be a clock; %tid and the like are read outside of loops, or are the same all the
   * same, but are not worth telling apart here. */
  bool parameter =
      f->op == HD_OP_LD &&
      (wait_loads_parameter(w, at) || loads_by_pointer(w, at) || hd_ptx_form_has(f, HD_M_CONST) ||
       (hd_ptx_form_has(f, HD_M_PARAM) && loads_invariant_argument(w, at, depth)));
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

static hd_sym root(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth);

/* The root of an operand, if what the other one adds is no pointer, nor the distance to another variable. */
static hd_sym root_beside(const wait_search *w, uint32_t at, const hd_ptx_opnd *o, const hd_ptx_opnd *other,
                          unsigned depth) {
  hd_ptx_type type[2];
  hd_ptx_types_of(hd_inst_form(&w->g, at), type);
  if (wait_may_be_distance(w, at, other)) return 0;
  return type[0].bits <= 32 || wait_is_offset(w, at, other) ? root(w, at, o, depth + 1) : 0;
}

/* The same where the other one is a product. */
static hd_sym root_beside_product(const wait_search *w, uint32_t at, const hd_ptx_opnd *o,
                                  const hd_ptx_term *product, unsigned depth) {
  const hd_ptx_opnd *p = wait_operands(w, at);
  hd_ptx_type type[2];
  hd_ptx_types_of(hd_inst_form(&w->g, at), type);
  int64_t by;
  if (wait_may_be_distance(w, at, &p[product->of]) || wait_may_be_distance(w, at, &p[product->by])) return 0;
  if (type[0].bits > 32) return 0;
  /* An index times the size of an element; a product of 64 bits leads anywhere. */
  const bool known = wait_constant(w, at, &p[product->by], &by) || wait_constant(w, at, &p[product->of], &by);
  if (hd_ptx_form_has(hd_inst_form(&w->g, at), HD_M_WIDE) && !(known && by >= -MOST_SIZE && by <= MOST_SIZE))
    return 0;
  return root(w, at, o, depth + 1);
}

static hd_sym root_of_result(const wait_search *w, uint32_t at, unsigned depth) {
  const hd_ptx_result *r = wait_result(w, at);
  const hd_ptx_opnd *p = wait_operands(w, at);
  const hd_ptx_term *t = r->terms;
  if (r->makes == HD_MAKES_PLACE || hd_ptx_is_copy(r)) return root(w, at, &p[t->of], depth + 1);
  if ((r->makes != HD_MAKES_SUM && r->makes != HD_MAKES_JOINED) || r->n_terms != 2) return 0;
  if (t[0].by) return root_beside_product(w, at, &p[t[1].of], &t[0], depth);
  const hd_sym first = root_beside(w, at, &p[t[0].of], &p[t[1].of], depth);
  return first || t[1].minus ? first : root_beside(w, at, &p[t[1].of], &p[t[0].of], depth);
}

static hd_sym root(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth) {
  if (o->kind == HD_O_INDEX || o->kind == HD_O_BRACKET) return root(w, inst, &w->m->opnds[o->sym], depth);
  if (o->kind != HD_O_REG && o->kind != HD_O_ADDR && o->kind != HD_O_SYM) return 0;
  if (!o->sym) return 0;
  const hd_ptx_sym *y = &w->m->syms[o->sym];
  if (y->kind == HD_SYM_VAR) return hd_storage(w->m, o->sym);
  if (y->kind != HD_SYM_REG || depth == MOST_DEPTH) return 0;
  uint32_t at = wait_only_writer(w, hd_cfg_reg(&w->g, w->g.insts[inst].call, o->sym));
  if (at == HD_NONE) return 0;
  return root_of_result(w, at, depth);
}

hd_sym wait_root(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o) { return root(w, inst, o, 0); }

const hd_ptx_access *wait_access_make(wait_search *w, uint32_t form) {
  const hd_ptx_form *f = &w->m->forms[form];
  hd_ptx_access *a = &w->access[form];
  *a = hd_ptx_access_of(f);
  const bool calls = f->flags & HD_OPF_CALLS;
  w->known_form[form] |=
      (uint8_t)(WAIT_FORM_KNOWN | (calls ? WAIT_FORM_CALLS : 0) |
                (wait_form_is_wide_fence(f, a) ? WAIT_FORM_FENCES : 0) |
                (hd_ptx_access_in(a, HD_IN_ANY_GLOBAL) & HD_ACC_READ ? WAIT_FORM_READS : 0));
  return a;
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
  uint32_t first, second; /* the instructions whose addresses these are */
  bool ok;
} leaves;

bool wait_comes_before(const wait_search *w, uint32_t a, uint32_t b) {
  uint32_t p = w->g.insts[a].block, q = w->g.insts[b].block;
  return p == q ? a < b : hd_dominates(&w->g, p, q);
}

/* Nothing writes the register in these instructions of a block, from the last backwards: as far as `from`, if
 * that is among them. */
static bool is_kept_in(const wait_search *w, uint32_t reg, uint32_t from, uint32_t first, uint32_t end) {
  if (from >= first && from < end) first = from + 1;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++)
    if (w->writers.insts[i] >= first && w->writers.insts[i] < end) return false;
  return true;
}

bool wait_is_kept_since(wait_search *w, uint32_t reg, uint32_t from, uint32_t to) {
  uint32_t only = wait_only_writer(w, reg), top = 0;
  if (w->writers.first[reg] == w->writers.first[reg + 1]) return true;
  if (only != HD_NONE && wait_comes_before(w, only, from) && wait_comes_before(w, from, to)) return true;
  uint8_t *seen = HD_NEW_N(w->arena, w->g.n_blocks, uint8_t);
  uint32_t *stack = HD_NEW_N(w->arena, w->g.n_blocks, uint32_t);
  uint32_t block = w->g.insts[to].block, end = to;
  for (;;) {
    const hd_block *b = &w->g.blocks[block];
    w->steps += 1 + w->writers.first[reg + 1] - w->writers.first[reg];
    if (!is_kept_in(w, reg, from, b->first, end)) return false;
    for (uint32_t k = 0; k < b->n_pred && !(from >= b->first && from < end); k++) {
      uint32_t before = w->g.edges[b->first_pred + k];
      if (seen[before]) continue;
      seen[before] = 1;
      stack[top++] = before;
    }
    if (!top) return true;
    block = stack[--top];
    end = w->g.blocks[block].first + w->g.blocks[block].n_insts;
  }
}

typedef struct fresh {
  leaves *l;
  uint32_t from, to;
} fresh;

static void check_fresh(void *ctx, uint32_t reg) {
  const fresh *x = ctx;
  x->l->ok = x->l->ok && wait_is_kept_since(x->l->w, reg, x->from, x->to);
}

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

/* The register that one is a copy of, or an argument, and still holds when an access runs. */
static uint32_t original(wait_search *w, uint32_t reg, uint32_t access) {
  for (unsigned depth = 0; depth < MOST_DEPTH; depth++) {
    const uint32_t at = wait_only_writer(w, reg);
    if (at == HD_NONE) return reg;
    const hd_ptx_form *f = hd_inst_form(&w->g, at);
    uint32_t from = f->op == HD_OP_MOV || f->op == HD_OP_CVTA ? wait_copied(w, at) : HD_NONE, since = at;
    if (f->op == HD_OP_LD && hd_ptx_form_has(f, HD_M_PARAM)) {
      const hd_ptx_opnd *argument = wait_argument(w, at, &since);
      if (argument && argument->kind == HD_O_REG) from = wait_register(w, since, argument);
    }
    if (from == HD_NONE || !wait_is_kept_since(w, from, since, access)) return reg;
    reg = from;
  }
  return reg;
}

/* Two registers with one value: the same one, or worked out alike. */
static bool same_register(leaves *l, uint32_t x, uint32_t y, unsigned depth) {
  wait_search *w = l->w;
  if (x != y) {
    x = original(w, x, l->first);
    y = original(w, y, l->second);
  }
  if (x == y) {
    note_leaf(l, x);
    return true;
  }
  uint32_t a = wait_only_writer(w, x), b = wait_only_writer(w, y);
  if (a == HD_NONE || b == HD_NONE || depth == MOST_DEPTH) return false;
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, a), *t = hd_inst_stmt(&w->g, b);
  const hd_ptx_form *f = &w->m->forms[s->form];
  bool parameter = wait_loads_parameter(w, a) && wait_loads_parameter(w, b);
  if (s->form != t->form || s->n_opnds != t->n_opnds) return false;
  if (!(f->flags & HD_OPF_PURE) && !parameter) return false;
  /* Each was worked out from what the registers still hold when the access runs. */
  hd_inst_reads(&w->g, a, check_fresh, &(fresh){l, a, l->first});
  hd_inst_reads(&w->g, b, check_fresh, &(fresh){l, b, l->second});
  if (!l->ok) return false;
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

/* The global variable whose address an instruction puts into a register; NULL. */
static const hd_ptx_opnd *variable_named(const wait_search *w, uint32_t at) {
  const hd_ptx_form *f = hd_inst_form(&w->g, at);
  const hd_ptx_opnd *o = &wait_operands(w, at)[1];
  if ((f->op != HD_OP_MOV && f->op != HD_OP_CVTA) || hd_inst_stmt(&w->g, at)->n_opnds != 2) return NULL;
  if (o->kind != HD_O_SYM || w->m->syms[o->sym].kind != HD_SYM_VAR) return NULL;
  return w->m->vars[w->m->syms[o->sym].decl].space == HD_M_GLOBAL ? o : NULL;
}

/* The address without the numbers of the text that were added to it: they go to its offset. */
static hd_ptx_opnd without_offsets(wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  hd_ptx_opnd x = *o;
  for (unsigned depth = 0; x.kind == HD_O_ADDR && x.sym && depth < MOST_DEPTH; depth++) {
    if (w->m->syms[x.sym].kind != HD_SYM_REG) break;
    uint32_t at = wait_only_writer(w, hd_cfg_reg(&w->g, w->g.insts[inst].call, x.sym));
    const hd_ptx_opnd *variable = at == HD_NONE ? NULL : variable_named(w, at);
    hd_ptx_type type[2];
    if (variable) {
      x.sym = variable->sym;
      x.imm += variable->imm;
      break;
    }
    if (at == HD_NONE || hd_inst_form(&w->g, at)->op != HD_OP_ADD) break;
    hd_ptx_types_of(hd_inst_form(&w->g, at), type);
    const hd_ptx_opnd *p = wait_operands(w, at);
    uint32_t from = wait_register(w, at, &p[1]);
    if (type[0].bits != 64 || hd_inst_form(&w->g, at)->n_mods != 1 || from == HD_NONE) break;
    if (p[2].kind != HD_O_INT || p[2].imm < INT32_MIN || p[2].imm > INT32_MAX) break;
    if (!wait_is_kept_since(w, from, at, inst)) break;
    x.sym = p[1].sym;
    x.imm += p[2].imm;
  }
  return x;
}

static bool same_address(wait_search *w, uint32_t a, uint32_t b, bool beside, leaves *l) {
  const hd_ptx_opnd *o = wait_address(w, a), *p = wait_address(w, b);
  if (!o || !p) return false;
  hd_ptx_opnd x = without_offsets(w, a, o), y = without_offsets(w, b, p);
  if (beside) y.imm = x.imm;
  return same_operand(l, a, &x, b, &y, 0) && l->ok;
}

bool wait_same_address(wait_search *w, uint32_t a, uint32_t b, uint32_t *regs, uint32_t *n, uint32_t cap) {
  leaves l = {.w = w, .regs = regs, .n = *n, .cap = cap, .first = a, .second = b, .ok = true};
  bool same = same_address(w, a, b, false, &l);
  if (same) *n = l.n;
  return same;
}

/* What was read of the leaves by the first instruction is what the second one reads. */
static bool leaves_are_kept(const leaves *l) {
  const wait_search *w = l->w;
  for (uint32_t i = 0; i < l->n; i++)
    if (w->writers.first[l->regs[i] + 1] - w->writers.first[l->regs[i]] > 1 &&
        !wait_is_kept_since(l->w, l->regs[i], l->first, l->second))
      return false;
  return true;
}

bool wait_same_place(wait_search *w, uint32_t a, uint32_t b) {
  uint32_t regs[MOST_DEPTH];
  leaves l = {.w = w, .regs = regs, .cap = MOST_DEPTH, .first = a, .second = b, .ok = true};
  return same_address(w, a, b, false, &l) && leaves_are_kept(&l);
}

bool wait_beside(wait_search *w, uint32_t a, uint32_t b) {
  uint32_t regs[MOST_DEPTH];
  leaves l = {.w = w, .regs = regs, .cap = MOST_DEPTH, .first = a, .second = b, .ok = true};
  if (!same_address(w, a, b, true, &l)) return false;
  for (uint32_t i = 0; i < l.n; i++)
    if (!wait_is_kept_since(w, l.regs[i], a, b)) return false;
  return true;
}

bool wait_same_value(wait_search *w, uint32_t x, uint32_t a, uint32_t y, uint32_t b) {
  uint32_t regs[MOST_DEPTH];
  leaves l = {.w = w, .regs = regs, .cap = MOST_DEPTH, .first = a, .second = b, .ok = true};
  return same_register(&l, x, y, 0) && l.ok && leaves_are_kept(&l);
}
