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

/* Of operations of which b is a number, and a is not negative. */
static range by_number(hd_ptx_op op, range a, range b) {
  if (!a.known || !b.known || a.lo < 0 || b.lo != b.hi || b.lo < 0) return anything;
  int64_t n = b.lo;
  switch (op) {
  case HD_OP_SHL: return n < 31 ? between(a.lo << n, a.hi << n) : anything;
  case HD_OP_SHR: return n < 32 ? between(a.lo >> n, a.hi >> n) : anything;
  case HD_OP_AND: return between(0, least(a.hi, n));
  case HD_OP_DIV: return n ? between(a.lo / n, a.hi / n) : anything;
  case HD_OP_REM: return n ? between(0, least(a.hi, n - 1)) : anything;
  default: return anything;
  }
}

static range computed(const cfg_ranges *r, uint32_t inst, unsigned depth) {
  const hd_ptx_stmt *s = hd_inst_stmt(r->g, inst);
  const hd_ptx_form *f = &r->g->module->forms[s->form];
  const hd_ptx_opnd *o = &r->g->module->opnds[s->first_opnd];
  if (s->guard || !hd_ptx_form_is_whole(f, 32) || s->n_opnds < 2 || s->n_opnds > 4 || o[0].kind != HD_O_REG)
    return anything;
  range x[3] = {anything, anything, anything};
  for (uint32_t k = 1; k < s->n_opnds; k++) x[k - 1] = operand_range(r, inst, &o[k], depth + 1);
  switch (f->op) {
  case HD_OP_MOV: return s->n_opnds == 2 ? x[0] : anything;
  case HD_OP_CVT: return s->n_opnds == 2 && x[0].known && x[0].lo >= 0 ? x[0] : anything;
  case HD_OP_ADD: return sum(x[0], x[1]);
  case HD_OP_SUB: return x[0].known && x[1].known ? between(x[0].lo - x[1].hi, x[0].hi - x[1].lo) : anything;
  case HD_OP_MUL: return product(x[0], x[1]);
  case HD_OP_MAD: return sum(product(x[0], x[1]), x[2]);
  case HD_OP_MIN:
    return x[0].known && x[1].known && x[0].lo >= 0 && x[1].lo >= 0
               ? between(least(x[0].lo, x[1].lo), least(x[0].hi, x[1].hi))
               : anything;
  case HD_OP_MAX:
    return x[0].known && x[1].known && x[0].lo >= 0 && x[1].lo >= 0
               ? between(greatest(x[0].lo, x[1].lo), greatest(x[0].hi, x[1].hi))
               : anything;
  default: return by_number(f->op, x[0], x[1]);
  }
}

static range operand_range(const cfg_ranges *r, uint32_t inst, const hd_ptx_opnd *o, unsigned depth) {
  if (o->kind == HD_O_INT) return between(o->imm, o->imm);
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
