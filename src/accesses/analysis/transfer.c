/* An instruction's result, as a polynomial of its operands. Each kind of operation has a function in
 * arithmetic.c, bits.c or value_moves.c. Any other operation gives an unknown value of its operands' level.
 */
#include "analysis/transfer.h"

/* ---- Types ------------------------------------------------------------------------------- */

static tr_type type_of(hd_mod mod) {
  hd_ptx_type t = hd_ptx_type_of(mod);
  bool integer = t.number == HD_NUM_UNSIGNED || t.number == HD_NUM_BITS || t.number == HD_NUM_PREDICATE;
  if (t.number == HD_NUM_OPAQUE) return (tr_type){0, TR_OTHER};
  if (t.elements > 1 || t.bits > 64) return (tr_type){t.bits, TR_OTHER};
  return (tr_type){t.bits, t.number == HD_NUM_SIGNED ? TR_SIGNED : integer ? TR_UNSIGNED : TR_OTHER};
}

/* The first type of a dotted word and the last: of the result and of the source where they differ. */
void tr_types_of(const hd_ptx_form *f, tr_type *first, tr_type *last) {
  *first = *last = (tr_type){0, TR_OTHER};
  for (unsigned i = 0; i < f->n_mods; i++) {
    tr_type t = type_of(f->mods[i]);
    if (!t.bits) continue;
    if (!first->bits) *first = t;
    *last = t;
  }
}

/* ---- Results --------------------------------------------------------------------------------- */

an_val tr_result(tr *t, hd_poly p, unsigned width, const an_val *x, const an_val *y) {
  return an_val_from(t->a, p, width, x, y);
}

an_val tr_sum(tr *t, const an_val *x, const an_val *y, int64_t c, unsigned width) {
  an *a = t->a;
  hd_poly scaled = an_scale(&a->alg, y->poly, c);
  hd_poly p = scaled == HD_NONE ? HD_NONE : an_add(&a->alg, x->poly, scaled);
  an_val r = tr_result(t, p, width, x, y);
  if (r.poly == p)
    tr_add_ranges(&r, an_range_add(tr_range_of(x), an_range_mul(tr_range_of(y), (an_range){c, c})));
  if (c == 1 && !(x->maybe & y->maybe)) r.maybe &= x->maybe | y->maybe;
  return r;
}

an_val tr_product(tr *t, const an_val *x, const an_val *y, unsigned width) {
  hd_poly p = an_mul(&t->a->alg, x->poly, y->poly);
  an_val r = tr_result(t, p, width, x, y);
  if (r.poly == p) tr_add_ranges(&r, an_range_mul(tr_range_of(x), tr_range_of(y)));
  /* A number of 64 bits, though its terms may not be. */
  if (r.poly == p && r.lo != INT64_MIN && r.hi != INT64_MAX && t->type.bits == 32)
    an_note_range(&t->a->alg, p, r.lo, r.hi, an_union(&t->a->alg, r.assumes, r.ranged));
  return r;
}

an_val tr_opaque(tr *t, hd_level at_least, unsigned width, const an_val *x, const an_val *y) {
  an *a = t->a;
  an_blame blame = {HD_WHY_INSTRUCTION, t->inst};
  hd_level level = at_least;
  an_raise(a, x, &level, &blame);
  an_raise(a, y, &level, &blame);
  bool of_cta = level == HD_LEVEL_NONLINEAR &&
                an_decided_by_cta(a, a->ssa.defs[t->def].reg, a->pub.cfg.insts[t->inst].block);
  an_val r = of_cta ? an_val_of_cta(a, HD_V_OPAQUE, t->inst, t->sub, blame, width)
                    : an_val_unknown(a, HD_V_OPAQUE, t->inst, t->sub, level, blame, width);
  if (x) an_inherit(a, &r, x);
  if (y) an_inherit(a, &r, y);
  return r;
}

/* Operand k of the instruction, counted from the destination. */
bool tr_operand(tr *t, unsigned k, unsigned width, an_val *out) {
  if (k >= t->st->n_opnds) {
    *out = an_val_unknown(t->a, HD_V_OPAQUE, t->inst, k, HD_LEVEL_DATA,
                          (an_blame){HD_WHY_INSTRUCTION, t->inst}, width);
    return true;
  }
  return an_operand(t->a, t->inst, t->opnds + k, width, out);
}

/* ---- Everything else ------------------------------------------------------------------------- */

typedef struct worst {
  tr *t;
  an_val val;
  hd_level level;
  bool ready; /* all operands were there */
} worst;

/* The worst level among the registers that operands name, but for the first, which is written. */
static bool worst_leaf(void *ctx, const hd_ptx_leaf *leaf) {
  worst *w = ctx;
  an *a = w->t->a;
  const hd_ptx_opnd *o = leaf->opnd;
  an_val x;
  if (leaf->operand == 0 || !o || (o->kind != HD_O_REG && o->kind != HD_O_SREG && o->kind != HD_O_ADDR))
    return true;
  if (!an_operand(a, w->t->inst, o, 64, &x)) {
    w->ready = false;
    return true;
  }
  hd_level l = (hd_level)a->alg.polys.data[x.poly].level;
  if (x.pending < w->val.pending) w->val.pending = x.pending;
  w->val.assumes = an_union(&a->alg, w->val.assumes, x.assumes);
  if (l > w->level) {
    w->level = l;
    w->val.poly = x.poly;
  }
  return true;
}

bool tr_unknown(tr *t, an_val *out) {
  worst w = {.t = t, .val = {.pending = HD_NONE}, .level = HD_LEVEL_LAUNCH, .ready = true};
  hd_ptx_visit(t->a->m, t->st, worst_leaf, &w);
  if (!w.ready) return false;
  /* A result of launch constants is a launch constant, but no polynomial can express it. */
  *out = tr_opaque(t, HD_LEVEL_NONLINEAR, an_reg_width(t->a, t->a->ssa.defs[t->def].reg), &w.val, NULL);
  return true;
}

typedef bool (*transfer)(tr *t, an_val *out);

/* The types that an operation's function takes. Any text may be a dotted word: one with another type, or with
 * none, is no instruction, and its result is unknown. */
typedef enum tr_takes { TAKES_ANY = 0, TAKES_TYPED, TAKES_INTEGERS } tr_takes;

typedef struct tr_rule {
  transfer f;
  tr_takes takes;
} tr_rule;

static const tr_rule rules[HD_OP_COUNT] = {
    [HD_OP_ADD] = {tr_add, TAKES_INTEGERS},
    [HD_OP_SUB] = {tr_add, TAKES_INTEGERS},
    [HD_OP_MUL] = {tr_mul, TAKES_INTEGERS},
    [HD_OP_MAD] = {tr_mad, TAKES_INTEGERS},
    [HD_OP_NEG] = {tr_neg, TAKES_INTEGERS},
    [HD_OP_MIN] = {tr_min_max, TAKES_INTEGERS},
    [HD_OP_MAX] = {tr_min_max, TAKES_INTEGERS},
    [HD_OP_ABS] = {tr_abs, TAKES_INTEGERS},
    [HD_OP_DIV] = {tr_div_rem, TAKES_INTEGERS},
    [HD_OP_REM] = {tr_div_rem, TAKES_INTEGERS},
    [HD_OP_SHL] = {tr_shl, TAKES_INTEGERS},
    [HD_OP_SHR] = {tr_shr, TAKES_INTEGERS},
    [HD_OP_AND] = {tr_logic, TAKES_INTEGERS},
    [HD_OP_OR] = {tr_logic, TAKES_INTEGERS},
    [HD_OP_XOR] = {tr_logic, TAKES_INTEGERS},
    [HD_OP_NOT] = {tr_not, TAKES_INTEGERS},
    [HD_OP_BFE] = {tr_bfe, TAKES_INTEGERS},
    [HD_OP_BFI] = {tr_bfi, TAKES_INTEGERS},
    [HD_OP_LOP3] = {tr_lop3, TAKES_INTEGERS},
    [HD_OP_SETP] = {tr_setp, TAKES_INTEGERS},
    [HD_OP_SELP] = {tr_selp, TAKES_TYPED},
    [HD_OP_CVTA] = {tr_cvta, TAKES_TYPED},
    [HD_OP_MOV] = {tr_mov, TAKES_TYPED},
    [HD_OP_CVT] = {tr_cvt, TAKES_ANY},
    [HD_OP_LD] = {tr_ld, TAKES_ANY},
    [HD_OP_LDU] = {tr_ld, TAKES_ANY},
    [HD_OP_ST] = {tr_st, TAKES_ANY},
    [HD_OP_CALL] = {tr_call, TAKES_ANY},
    [HD_OP_SHFL] = {tr_shfl, TAKES_ANY},
};

static bool takes(tr_takes what, tr_type type) {
  switch (what) {
  case TAKES_TYPED: return type.bits != 0;
  case TAKES_INTEGERS: return type.kind != TR_OTHER;
  case TAKES_ANY: break;
  }
  return true;
}

/* Instructions without a polynomial: data from memory or other threads is a new unknown; any other result has
 * the level of its operands. */
static transfer transfer_of(const hd_ptx_form *f, tr_type type) {
  const tr_rule *rule = &rules[f->op];
  if (rule->f) return takes(rule->takes, type) ? rule->f : tr_unknown;
  if (!(f->flags & HD_OPF_BRINGS_DATA)) return tr_unknown;
  hd_ptx_access access = hd_ptx_access_of(f);
  return access.kinds == HD_ACC_READ ? tr_load_unknown : tr_exchange;
}

/* The place in {a, _, b} of the register that is the n-th one written. */
static uint32_t lane_of(const an *a, const hd_ptx_opnd *o, uint32_t n) {
  for (uint32_t k = 0; k < o->n_kids; k++)
    if (a->m->opnds[o->sym + k].kind == HD_O_REG && n-- == 0) return k;
  return 0;
}

bool an_transfer(an *a, uint32_t d, an_val *out) {
  uint32_t inst = a->ssa.defs[d].inst;
  const hd_ptx_stmt *st = an_stmt(a, inst);
  tr t = {.a = a,
          .def = d,
          .inst = inst,
          .sub = d - a->ssa.inst_def[inst],
          .st = st,
          .form = an_form(a, inst),
          .opnds = a->m->opnds + st->first_opnd};
  if (st->n_opnds && t.opnds[0].kind == HD_O_VEC && t.form->op != HD_OP_ST)
    t.sub = lane_of(a, t.opnds, t.sub);
  tr_type first;
  tr_types_of(t.form, &first, &t.type);
  if (!transfer_of(t.form, t.type)(&t, out)) return false;
  if (!st->guard || t.form->flags & HD_OPF_CALLS) return true;
  /* Where the predicate does not hold, the register keeps its old value. */
  an_val cond, old;
  bool ok = an_guard(a, inst, &cond);
  an_value before = an_reaching(a, a->ssa.defs[d].reg, inst);
  if (!an_get_at(a, before, a->pub.cfg.insts[inst].block, &old) || !ok) return false;
  if (!old.undefined && old.width != out->width) old = an_val_of(a, old.poly, out->width);
  *out = an_select(a, &cond, out, &old);
  return true;
}
