/* Comparisons that the size of a block decides: %tid.x < 256 is so for all threads where a CTA has no more.
 *
 * A register's range follows from the only instruction that writes it, and from the ranges of its operands:
 * thread ids, the block's dimensions, numbers. Arithmetic that could leave 32 bits has none. */
#include "cfg/internal.h"
#include "heddle/ptx_facts.h"

enum { MOST_DEPTH = 12, NOT_KNOWN = 0, DECIDED, OPEN };

typedef struct range {
  bool known;
  int64_t lo, hi;
} range;

static const range anything = {false, 0, 0};

static range between(int64_t lo, int64_t hi) {
  return (range){lo <= hi && lo >= INT32_MIN && hi <= INT32_MAX, lo, hi};
}

/* The limits of CUDA where the block is not known. */
static range sreg_range(const cfg_ranges *r, const hd_ptx_opnd *o) {
  static const uint32_t most[3] = {1024, 1024, 64};
  unsigned axis = o->part == HD_M_X ? 0 : o->part == HD_M_Y ? 1 : 2;
  if (o->part != HD_M_X && o->part != HD_M_Y && o->part != HD_M_Z) return anything;
  uint32_t n = r->block_dims[axis] ? r->block_dims[axis] : most[axis];
  switch (r->g->module->syms[o->sym].index) {
  case HD_SR_TID: return between(0, (int64_t)n - 1);
  case HD_SR_NTID: return between(r->block_dims[axis] ? n : 1, n);
  default: return anything;
  }
}

static range operand_range(const cfg_ranges *r, uint32_t inst, const hd_ptx_opnd *o, unsigned depth);

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t greatest(int64_t a, int64_t b) { return a > b ? a : b; }

/* Of numbers that are not negative. */
static range product(range a, range b) {
  return a.known && b.known && a.lo >= 0 && b.lo >= 0 ? between(a.lo * b.lo, a.hi * b.hi) : anything;
}
static range sum(range a, range b) {
  return a.known && b.known ? between(a.lo + b.lo, a.hi + b.hi) : anything;
}

static range difference(range a, range b) {
  return a.known && b.known ? between(a.lo - b.hi, a.hi - b.lo) : anything;
}

static range power_of_two(range b) {
  return b.known && b.lo == b.hi && b.lo >= 0 && b.lo < 32
             ? (range){true, INT64_C(1) << b.lo, INT64_C(1) << b.lo}
             : anything;
}

/* What a term's operand is multiplied with, or divided by. */
static range factor_of(const cfg_ranges *r, uint32_t inst, const hd_ptx_opnd *o, const hd_ptx_term *t,
                       unsigned depth) {
  const range b = operand_range(r, inst, &o[t->by], depth);
  return t->power ? power_of_two(b) : b;
}

static range term_of(const cfg_ranges *r, uint32_t inst, const hd_ptx_opnd *o, const hd_ptx_term *t,
                     unsigned depth) {
  const range a = operand_range(r, inst, &o[t->of], depth);
  return t->by ? product(a, factor_of(r, inst, o, t, depth)) : a;
}

static range sum_of(const cfg_ranges *r, uint32_t inst, const hd_ptx_opnd *o, const hd_ptx_result *x,
                    unsigned depth) {
  const range a = term_of(r, inst, o, &x->terms[0], depth);
  if (x->n_terms == 2) {
    const range b = term_of(r, inst, o, &x->terms[1], depth);
    return x->terms[1].minus ? difference(a, b) : sum(a, b);
  }
  hd_ptx_type type[2];
  hd_ptx_types_of(hd_inst_form(r->g, inst), type);
  /* A number below 0 is another one of another type. */
  return type[1].bits && a.known && a.lo < 0 ? anything : a;
}

/* Of a number that is not negative, by one number. */
static range part_of(hd_ptx_makes makes, range a, range b) {
  if (!a.known || !b.known || a.lo < 0 || b.lo != b.hi || b.lo < 0) return anything;
  if (makes == HD_MAKES_MASKED) return between(0, least(a.hi, b.lo));
  if (!b.lo) return anything;
  return makes == HD_MAKES_REMAINDER ? between(0, least(a.hi, b.lo - 1)) : between(a.lo / b.lo, a.hi / b.lo);
}

/* Of numbers that are not negative. */
static range least_or_greatest(hd_ptx_makes makes, range a, range b) {
  if (!a.known || !b.known || a.lo < 0 || b.lo < 0) return anything;
  return makes == HD_MAKES_LEAST ? between(least(a.lo, b.lo), least(a.hi, b.hi))
                                 : between(greatest(a.lo, b.lo), greatest(a.hi, b.hi));
}

static range computed(const cfg_ranges *r, uint32_t inst, unsigned depth) {
  const hd_ptx_module *m = r->g->module;
  const hd_ptx_stmt *s = hd_inst_stmt(r->g, inst);
  const hd_ptx_opnd *o = &m->opnds[s->first_opnd];
  const hd_ptx_result *x = hd_ptx_result_of(m, s);
  const hd_ptx_term *t = x->terms;
  const hd_ptx_makes makes = (hd_ptx_makes)x->makes;
  if (s->guard || !hd_ptx_form_is_whole(&m->forms[s->form], 32) || !s->n_opnds || o[0].kind != HD_O_REG)
    return anything;
  switch (makes) {
  case HD_MAKES_SUM: return sum_of(r, inst, o, x, depth + 1);
  case HD_MAKES_QUOTIENT:
  case HD_MAKES_REMAINDER:
  case HD_MAKES_MASKED:
    return part_of(makes, operand_range(r, inst, &o[t->of], depth + 1), factor_of(r, inst, o, t, depth + 1));
  case HD_MAKES_LEAST:
  case HD_MAKES_GREATEST:
    return least_or_greatest(makes, operand_range(r, inst, &o[t[0].of], depth + 1),
                             operand_range(r, inst, &o[t[1].of], depth + 1));
  default: return anything;
  }
}

/* A number of the text, in the type of the operand that it is. */
static range number_range(const cfg_ranges *r, uint32_t inst, const hd_ptx_opnd *o) {
  const hd_ptx_stmt *s = hd_inst_stmt(r->g, inst);
  const uint32_t operand = (uint32_t)(o - r->g->module->opnds) - s->first_opnd;
  const int64_t value =
      hd_ptx_number_of(hd_inst_form(r->g, inst), hd_ptx_result_of(r->g->module, s), operand, o->imm);
  return between(value, value);
}

static range operand_range(const cfg_ranges *r, uint32_t inst, const hd_ptx_opnd *o, unsigned depth) {
  if (o->kind == HD_O_INT) return number_range(r, inst, o);
  if (o->kind == HD_O_SREG) return sreg_range(r, o);
  if (o->kind != HD_O_REG || o->part || o->flags & HD_OF_NEG || depth > MOST_DEPTH) return anything;
  const uint32_t *at = &r->writers->first[hd_cfg_reg(r->g, r->g->insts[inst].call, o->sym)];
  return at[1] - at[0] == 1 ? computed(r, r->writers->insts[at[0]], depth) : anything;
}

/* Whether a < b, or a <= b, is the same for all of them. */
static bool same_order(range a, range b, bool or_equal) {
  return or_equal ? a.hi <= b.lo || a.lo > b.hi : a.hi < b.lo || a.lo >= b.hi;
}

static bool find_out(const cfg_ranges *r, uint32_t inst) {
  const hd_ptx_stmt *s = hd_inst_stmt(r->g, inst);
  const hd_ptx_form *f = &r->g->module->forms[s->form];
  const hd_ptx_opnd *o = &r->g->module->opnds[s->first_opnd];
  if (f->op != HD_OP_SETP || f->n_mods != 2 || s->n_opnds != 3 || !hd_ptx_form_is_whole(f, 32)) return false;
  range a = operand_range(r, inst, &o[1], 0), b = operand_range(r, inst, &o[2], 0);
  bool is_signed = hd_ptx_type_of(f->mods[1]).number == HD_NUM_SIGNED;
  if (!a.known || !b.known || (!is_signed && (a.lo < 0 || b.lo < 0))) return false;
  switch (f->mods[0]) {
  case HD_M_LT:
  case HD_M_LO:
  case HD_M_GE:
  case HD_M_HS: return same_order(a, b, false);
  case HD_M_LE:
  case HD_M_LS:
  case HD_M_GT:
  case HD_M_HI: return same_order(a, b, true);
  case HD_M_EQ:
  case HD_M_NE: return a.hi < b.lo || b.hi < a.lo;
  default: return false;
  }
}

bool cfg_is_decided(cfg_ranges *r, uint32_t inst) {
  if (!r->decided) r->decided = HD_NEW_N(r->arena, r->g->n_insts + 1u, uint8_t);
  uint8_t *known = &r->decided[inst];
  if (*known == NOT_KNOWN) *known = find_out(r, inst) ? DECIDED : OPEN;
  return *known == DECIDED;
}

bool cfg_is_not_negative(const cfg_ranges *r, uint32_t inst, const hd_ptx_opnd *o) {
  const range x = operand_range(r, inst, o, 0);
  return x.known && x.lo >= 0;
}
