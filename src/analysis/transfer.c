/* What an instruction writes, as a polynomial of what it reads: arithmetic, conversion, comparison, moves.
 * Instructions that nobody here knows give an unknown value of the level of their operands.
 */
#include <string.h>

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
static void types_of(const hd_ptx_form *f, tr_type *first, tr_type *last) {
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

/* A range that follows from the operands' as long as the coefficients were not reduced. */
static void add_ranges(an_val *r, an_range x) {
  if (x.lo == INT64_MIN || x.hi == INT64_MAX) return;
  if (x.lo > r->lo) r->lo = x.lo;
  if (x.hi < r->hi) r->hi = x.hi;
}

static an_range range_of(const an_val *v) { return (an_range){v->lo, v->hi}; }

an_val tr_add(tr *t, const an_val *x, const an_val *y, int64_t c, unsigned width) {
  an *a = t->a;
  hd_poly scaled = an_scale(a, y->poly, c);
  hd_poly p = scaled == HD_NONE ? HD_NONE : an_add(a, x->poly, scaled);
  an_val r = tr_result(t, p, width, x, y);
  if (r.poly == p) add_ranges(&r, an_range_add(range_of(x), an_range_mul(range_of(y), (an_range){c, c})));
  if (c == 1 && !(x->maybe & y->maybe)) r.maybe &= x->maybe | y->maybe;
  return r;
}

an_val tr_mul(tr *t, const an_val *x, const an_val *y, unsigned width) {
  hd_poly p = an_mul(t->a, x->poly, y->poly);
  an_val r = tr_result(t, p, width, x, y);
  if (r.poly == p) add_ranges(&r, an_range_mul(range_of(x), range_of(y)));
  /* A number of 64 bits, though its terms may not be. */
  if (r.poly == p && r.lo != INT64_MIN && r.hi != INT64_MAX && t->type.bits == 32)
    an_note_range(t->a, p, r.lo, r.hi, an_union(t->a, r.assumes, r.ranged));
  return r;
}

an_val tr_opaque(tr *t, hd_level at_least, unsigned width, const an_val *x, const an_val *y) {
  an *a = t->a;
  an_blame blame = {HD_WHY_INSTRUCTION, t->inst};
  hd_level level = at_least;
  an_raise(a, x, &level, &blame);
  an_raise(a, y, &level, &blame);
  an_val r = an_val_unknown(a, HD_V_OPAQUE, t->inst, t->sub, level, blame, width);
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

/* Two operands, asked for together. */
static bool operands2(tr *t, unsigned width, an_val *x, an_val *y) {
  bool ok = tr_operand(t, 1, width, x);
  return tr_operand(t, 2, width, y) && ok;
}

/* ---- Arithmetic ------------------------------------------------------------------------------- */

static bool do_add(tr *t, an_val *out) {
  an_val x, y;
  if (t->type.kind == TR_OTHER || hd_ptx_form_has(t->form, HD_M_SAT)) return tr_unknown(t, out);
  if (!operands2(t, t->type.bits, &x, &y)) return false;
  *out = tr_add(t, &x, &y, t->form->op == HD_OP_SUB ? -1 : 1, t->type.bits);
  return true;
}

/* The product in the wanted half: .lo, .hi or .wide. */
static an_val product(tr *t, const an_val *x, const an_val *y) {
  an *a = t->a;
  unsigned bits = t->type.bits;
  bool is_signed = t->type.kind == TR_SIGNED;
  if (!hd_ptx_form_has(t->form, HD_M_WIDE) && !hd_ptx_form_has(t->form, HD_M_HI))
    return tr_mul(t, x, y, bits);
  an_val wx = an_extend(a, x, is_signed, t->inst), wy = an_extend(a, y, is_signed, t->inst);
  an_val r = tr_mul(t, &wx, &wy, 64);
  if (hd_ptx_form_has(t->form, HD_M_WIDE)) {
    r.width = (uint8_t)(2 * bits);
    return r;
  }
  if (bits == 64) return tr_opaque(t, HD_LEVEL_NONLINEAR, 64, x, y);
  an_val high = tr_result(t, an_floor_const(a, r.poly, (int64_t)1 << bits, t->inst), bits, &r, NULL);
  add_ranges(&high, (an_range){r.lo == INT64_MIN ? INT64_MIN : r.lo >> bits,
                               r.hi == INT64_MAX ? INT64_MAX : r.hi >> bits});
  return high;
}

static bool do_mul(tr *t, an_val *out) {
  an_val x, y;
  if (t->type.kind == TR_OTHER) return tr_unknown(t, out);
  if (!operands2(t, t->type.bits, &x, &y)) return false;
  *out = product(t, &x, &y);
  return true;
}

static bool do_mad(tr *t, an_val *out) {
  an_val x, y, z;
  if (t->type.kind == TR_OTHER || hd_ptx_form_has(t->form, HD_M_SAT)) return tr_unknown(t, out);
  unsigned width = hd_ptx_form_has(t->form, HD_M_WIDE) ? 2 * t->type.bits : t->type.bits;
  bool ok = operands2(t, t->type.bits, &x, &y);
  if (!tr_operand(t, 3, width, &z) || !ok) return false;
  an_val xy = product(t, &x, &y);
  *out = tr_add(t, &xy, &z, 1, width);
  return true;
}

static bool do_neg(tr *t, an_val *out) {
  an_val x;
  if (t->type.kind == TR_OTHER) return tr_unknown(t, out);
  if (!tr_operand(t, 1, t->type.bits, &x)) return false;
  an_val zero = an_val_of(t->a, 0, t->type.bits);
  *out = tr_add(t, &zero, &x, -1, t->type.bits);
  return true;
}

/* min(x, y) = x - max(x - y, 0); max(x, y) = y + max(x - y, 0) */
static bool do_min_max(tr *t, an_val *out) {
  an *a = t->a;
  an_val x, y;
  if (t->type.kind == TR_OTHER || hd_ptx_form_has(t->form, HD_M_RELU)) return tr_unknown(t, out);
  if (!operands2(t, t->type.bits, &x, &y)) return false;
  bool is_signed = t->type.kind == TR_SIGNED, min = t->form->op == HD_OP_MIN;
  x = an_extend(a, &x, is_signed, t->inst);
  y = an_extend(a, &y, is_signed, t->inst);
  an_range rx = range_of(&x), ry = range_of(&y), r;
  r.lo = min ? (rx.lo < ry.lo ? rx.lo : ry.lo) : (rx.lo > ry.lo ? rx.lo : ry.lo);
  r.hi = min ? (rx.hi < ry.hi ? rx.hi : ry.hi) : (rx.hi > ry.hi ? rx.hi : ry.hi);
  hd_poly p;
  if (rx.hi <= ry.lo) {
    p = min ? x.poly : y.poly;
  } else if (ry.hi <= rx.lo) {
    p = min ? y.poly : x.poly;
  } else {
    hd_poly d = an_sub(a, x.poly, y.poly), over = d == HD_NONE ? HD_NONE : an_max0(a, d);
    p = over == HD_NONE ? HD_NONE : min ? an_sub(a, x.poly, over) : an_add(a, y.poly, over);
  }
  *out = tr_result(t, p, t->type.bits, &x, &y);
  if (out->poly == p) {
    add_ranges(out, r);
    /* The minimum of an unbounded quantity and a bound is bounded on one side: worth keeping. */
    if (r.lo > out->lo) out->lo = r.lo;
    if (r.hi < out->hi) out->hi = r.hi;
  }
  return true;
}

/* |x| = x + 2 max(-x, 0) */
static bool do_abs(tr *t, an_val *out) {
  an *a = t->a;
  an_val x;
  if (t->type.kind != TR_SIGNED) return tr_unknown(t, out);
  if (!tr_operand(t, 1, t->type.bits, &x)) return false;
  x = an_extend(a, &x, true, t->inst);
  hd_poly negative = an_max0(a, an_scale(a, x.poly, -1));
  *out = tr_result(t, an_add(a, x.poly, an_scale(a, negative, 2)), t->type.bits, &x, NULL);
  an_known_range(a, out, 0, INT64_MAX);
  return true;
}

/* Quotients are truncated: for x < 0 and d > 0, x / d = floor((x + d - 1) / d). */
static hd_poly quotient(tr *t, an_val *x, an_val *y) {
  an *a = t->a;
  int64_t d;
  if (an_is_const(a, y->poly, &d) && d > 0) {
    if (x->lo >= 0) return an_floor_const(a, x->poly, d, t->inst);
    hd_poly negative = an_not(a, an_ge0(a, x->poly));
    hd_poly up = an_add(a, x->poly, an_scale(a, negative, d - 1));
    return up == HD_NONE ? HD_NONE : an_floor_const(a, up, d, t->inst);
  }
  if (x->lo < 0) x->assumes = an_assume(a, x->assumes, x->poly, 0, INT64_MAX, t->inst);
  if (y->lo < 1) y->assumes = an_assume(a, y->assumes, y->poly, 1, INT64_MAX, t->inst);
  return an_floor(a, x->poly, y->poly, t->inst);
}

static bool do_div_rem(tr *t, an_val *out) {
  an *a = t->a;
  an_val x, y;
  if (t->type.kind == TR_OTHER) return tr_unknown(t, out);
  if (!operands2(t, t->type.bits, &x, &y)) return false;
  bool is_signed = t->type.kind == TR_SIGNED;
  x = an_extend(a, &x, is_signed, t->inst);
  y = an_extend(a, &y, is_signed, t->inst);
  hd_poly q = quotient(t, &x, &y);
  if (t->form->op == HD_OP_REM && q != HD_NONE) {
    hd_poly whole = an_mul(a, q, y.poly);
    q = whole == HD_NONE ? HD_NONE : an_sub(a, x.poly, whole);
    *out = tr_result(t, q, t->type.bits, &x, &y);
    if (q != HD_NONE && x.lo >= 0 && y.lo > 0)
      an_known_range(a, out, 0, y.hi == INT64_MAX ? INT64_MAX : y.hi - 1);
    return true;
  }
  *out = tr_result(t, q, t->type.bits, &x, &y);
  if (out->poly == q && x.lo >= 0) add_ranges(out, (an_range){0, x.hi});
  return true;
}

/* ---- Comparison and choice -------------------------------------------------------------------------- */

/* The comparison x OP y as a polynomial that is 0 or 1; HD_NONE: not modelled. */
static hd_poly compare(tr *t, an_val *x, an_val *y) {
  an *a = t->a;
  bool is_signed = t->type.kind == TR_SIGNED;
  hd_mod cmp = HD_M_NONE;
  for (unsigned i = 0; i < t->form->n_mods && !cmp; i++) {
    hd_mod mod = t->form->mods[i];
    if (mod == HD_M_EQ || mod == HD_M_NE || mod == HD_M_LT || mod == HD_M_LE || mod == HD_M_GT ||
        mod == HD_M_GE)
      cmp = mod;
    if (mod == HD_M_LO) cmp = HD_M_LT;
    if (mod == HD_M_LS) cmp = HD_M_LE;
    if (mod == HD_M_HI) cmp = HD_M_GT;
    if (mod == HD_M_HS) cmp = HD_M_GE;
  }
  bool equality = cmp == HD_M_EQ || cmp == HD_M_NE;
  *x = an_extend(a, x, is_signed || equality, t->inst);
  *y = an_extend(a, y, is_signed || equality, t->inst);
  hd_poly d = cmp == HD_M_GT || cmp == HD_M_LE ? an_sub(a, x->poly, y->poly) : an_sub(a, y->poly, x->poly);
  if (d == HD_NONE) return HD_NONE;
  switch (cmp) {
  case HD_M_EQ: return an_eq0(a, d);
  case HD_M_NE: return an_not(a, an_eq0(a, d));
  case HD_M_LT:
  case HD_M_GT: return an_ge0(a, an_add_const(a, d, -1)); /* y - x >= 1 */
  case HD_M_LE:                                           /* not x - y >= 1 */
  case HD_M_GE: return an_not(a, an_ge0(a, an_add_const(a, d, -1)));
  default: return HD_NONE;
  }
}

static hd_poly combine(an *a, const hd_ptx_form *f, hd_poly p, hd_poly q) {
  if (hd_ptx_form_has(f, HD_M_AND)) return an_both(a, p, q);
  if (hd_ptx_form_has(f, HD_M_OR)) return an_either(a, p, q);
  if (!hd_ptx_form_has(f, HD_M_XOR)) return p;
  hd_poly flipped = an_if(a, q, an_add_const(a, an_scale(a, p, -2), 1)); /* q ? 1 - p : p */
  return flipped == HD_NONE ? HD_NONE : an_add(a, p, flipped);
}

/* setp.CMP.BOOL.type p|q, x, y, c: p = (x CMP y) BOOL c, q = (not x CMP y) BOOL c */
static bool do_setp(tr *t, an_val *out) {
  an *a = t->a;
  an_val x, y, c = an_val_of(a, 0, 1);
  if (t->type.kind == TR_OTHER) return tr_unknown(t, out);
  bool ok = operands2(t, t->type.bits, &x, &y), combined = t->st->n_opnds > 3;
  if (combined && !tr_operand(t, 3, 1, &c)) ok = false;
  if (!ok) return false;
  hd_poly p = compare(t, &x, &y);
  if (p != HD_NONE && t->sub) p = an_not(a, p);
  if (p != HD_NONE && combined) p = combine(a, t->form, p, c.poly);
  if (p == HD_NONE) {
    *out = tr_opaque(t, HD_LEVEL_NONLINEAR, 1, &x, &y);
    return true;
  }
  *out = tr_result(t, p, 1, &x, &y);
  an_inherit(a, out, &c);
  return true;
}

static bool do_selp(tr *t, an_val *out) {
  an_val x, y, c;
  unsigned width = t->type.bits > 64 ? 64 : t->type.bits;
  bool ok = operands2(t, width, &x, &y);
  if (!tr_operand(t, 3, 1, &c) || !ok) return false;
  *out = an_select(t->a, &c, &x, &y);
  return true;
}

/* ---- Conversion ------------------------------------------------------------------------------------------
 */

an_val tr_narrow(tr *t, const an_val *from, tr_type type, unsigned width) {
  an *a = t->a;
  an_val known = *from;
  const an_val *x = &known;
  an_use_range(a, &known);
  int64_t lo = type.kind == TR_SIGNED ? -((int64_t)1 << (type.bits - 1)) : 0;
  int64_t hi = ((int64_t)1 << (type.bits - (type.kind == TR_SIGNED))) - 1;
  if (x->lo >= lo && x->hi <= hi) {
    an_val r = tr_result(t, x->poly, width, x, NULL);
    add_ranges(&r, range_of(x));
    return r;
  }
  /* x mod 2^bits, moved to the signed range by adding half and taking it away again */
  hd_poly p = an_wrap(a, x->poly, type.bits), shifted = an_add_const(a, p, -lo);
  hd_poly turns = shifted == HD_NONE ? HD_NONE : an_floor_const(a, shifted, (int64_t)1 << type.bits, t->inst);
  p = turns == HD_NONE ? HD_NONE : an_sub(a, p, an_scale(a, turns, (int64_t)1 << type.bits));
  an_val r = tr_result(t, p, width, x, NULL);
  if (r.poly == p) an_known_range(a, &r, lo, hi);
  return r;
}

static bool do_cvt(tr *t, an_val *out) {
  tr_type to, from;
  types_of(t->form, &to, &from);
  if (to.kind == TR_OTHER || from.kind == TR_OTHER || hd_ptx_form_has(t->form, HD_M_SAT))
    return tr_unknown(t, out);
  an_val x;
  unsigned width = to.bits < 16 ? 32 : to.bits;
  if (!tr_operand(t, 1, from.bits < 16 ? 32 : from.bits, &x)) return false;
  if (from.bits < x.width && from.bits < to.bits) {
    *out = tr_narrow(t, &x, from, width);
  } else if (to.bits < 16) {
    *out = tr_narrow(t, &x, to, width);
  } else if (to.bits <= from.bits) {
    *out = tr_result(t, x.poly, width, &x, NULL);
    if (out->poly == x.poly) add_ranges(out, range_of(&x));
  } else {
    *out = an_extend(t->a, &x, from.kind == TR_SIGNED, t->inst);
    an_val r = tr_result(t, out->poly, width, out, NULL);
    add_ranges(&r, range_of(out));
    r.maybe &= out->maybe;
    *out = r;
  }
  return true;
}

/* Generic addresses are those of global memory; other spaces have windows among them. */
static bool do_cvta(tr *t, an_val *out) {
  an *a = t->a;
  an_val x;
  if (!tr_operand(t, 1, t->type.bits, &x)) return false;
  hd_mod space = HD_M_NONE;
  for (unsigned i = 0; i < t->form->n_mods && !space; i++) {
    hd_mod mod = t->form->mods[i];
    unsigned in = hd_ptx_mod_kind(mod) == HD_MK_SPACE ? hd_ptx_mod_value(mod) : 0;
    if (in & HD_IN_ANY_SHARED) space = HD_M_SHARED;
    if (in & HD_IN_LOCAL) space = HD_M_LOCAL;
  }
  if (!space) {
    *out = x;
    return true;
  }
  hd_value_symbol s = {
      .kind = HD_V_WINDOW, .level = HD_LEVEL_LAUNCH, .a = space, .why = HD_NONE, .hi = INT64_MAX};
  an_val window = an_val_of(a, an_sym(a, an_symbol(a, s)), t->type.bits);
  *out = tr_add(t, &x, &window, hd_ptx_form_has(t->form, HD_M_TO) ? -1 : 1, t->type.bits);
  return true;
}

/* ---- Moves
 * --------------------------------------------------------------------------------------------------- */

/* mov.b64 r, {lo, hi} */
static bool do_pack(tr *t, const hd_ptx_opnd *v, an_val *out) {
  an *a = t->a;
  unsigned part = t->type.bits / (v->n_kids ? v->n_kids : 1);
  if (part < 8 || t->type.bits > 64) return tr_unknown(t, out);
  an_val parts[4];
  bool ok = true;
  for (uint32_t k = 0; k < v->n_kids && k < 4; k++)
    ok = an_operand(a, t->inst, &a->m->opnds[v->sym + k], part, &parts[k]) && ok;
  if (!ok) return false;
  an_val sum = an_val_of(a, 0, t->type.bits);
  for (uint32_t k = 0; k < v->n_kids && k < 4; k++) {
    /* The last one's high bits fall off; the others must not reach into their neighbours. */
    an_val x = k + 1 < v->n_kids ? an_extend(a, &parts[k], false, t->inst) : parts[k];
    sum = tr_add(t, &sum, &x, (int64_t)(1ull << (k * part)), t->type.bits);
  }
  *out = sum;
  return true;
}

/* mov.b64 {lo, hi}, r: the parts are exact, for an address does not fit into half of it. */
static bool do_unpack(tr *t, an_val *out) {
  an *a = t->a;
  unsigned n = t->opnds[0].n_kids, part = t->type.bits / (n ? n : 1);
  an_val x;
  if (part < 8 || part > 32 || t->type.bits > 64) return tr_unknown(t, out);
  if (!tr_operand(t, 1, t->type.bits, &x)) return false;
  an_val whole = t->sub + 1 == n ? an_extend(a, &x, true, t->inst) : x;
  hd_poly low = an_floor_const(a, whole.poly, (int64_t)1 << (t->sub * part), t->inst);
  hd_poly high = t->sub + 1 == n || low == HD_NONE
                     ? 0
                     : an_floor_const(a, whole.poly, (int64_t)1 << ((t->sub + 1) * part), t->inst);
  hd_poly p =
      low == HD_NONE || high == HD_NONE ? HD_NONE : an_sub(a, low, an_scale(a, high, (int64_t)1 << part));
  /* Not reduced to the part's width: packed again, the whole comes back. */
  if (p == HD_NONE) {
    *out = tr_opaque(t, HD_LEVEL_NONLINEAR, part, &x, NULL);
    return true;
  }
  if (t->sub + 1 < n) an_note_range(a, p, 0, ((int64_t)1 << part) - 1, 0);
  const hd_polynomial *q = &a->polys.data[p];
  *out = (an_val){.poly = p,
                  .lo = q->lo,
                  .hi = q->hi,
                  .maybe = (1ull << part) - 1,
                  .pending = HD_NONE,
                  .width = (uint8_t)part};
  an_inherit(a, out, &whole);
  return true;
}

static bool do_mov(tr *t, an_val *out) {
  if (t->st->n_opnds < 2) return tr_unknown(t, out);
  if (t->opnds[0].kind == HD_O_VEC) return do_unpack(t, out);
  if (t->opnds[1].kind == HD_O_VEC) return do_pack(t, &t->opnds[1], out);
  return tr_operand(t, 1, t->type.bits > 64 ? 64 : t->type.bits, out);
}

/* ---- Loads that are constants of the launch
 * ------------------------------------------------------------------- */

static an_val constant_of(tr *t, hd_symbol_kind kind, uint32_t x, uint64_t offset, tr_type type) {
  an *a = t->a;
  bool is_signed = type.kind == TR_SIGNED || type.bits == 32;
  hd_value_symbol s = {.kind = (uint8_t)kind,
                       .level = HD_LEVEL_LAUNCH,
                       .width = (uint8_t)type.bits,
                       .is_signed = is_signed,
                       .a = x,
                       .b = (uint32_t)offset,
                       .why = HD_NONE,
                       .lo = INT64_MIN,
                       .hi = INT64_MAX};
  if (type.bits < 64) {
    s.lo = is_signed ? -((int64_t)1 << (type.bits - 1)) : 0;
    s.hi = ((int64_t)1 << (type.bits - is_signed)) - 1;
  }
  return an_val_of(a, an_sym(a, an_symbol(a, s)), type.bits > 32 ? 64 : 32);
}

/* The parameter or variable and offset that an address polynomial names. */
static bool named_by(an *a, hd_poly p, uint32_t *var, int64_t *offset) {
  const hd_polynomial *q = &a->polys.data[p];
  *offset = 0;
  *var = HD_NONE;
  for (uint32_t i = 0; i < q->n; i++) {
    const hd_term *term = &a->terms.data[q->first + i];
    const hd_product *prod = &a->products.data[term->product];
    if (prod->n == 0) {
      *offset = term->coefficient;
      continue;
    }
    const hd_value_symbol *s = &a->symbols.data[a->factors.data[prod->first]];
    if (prod->n != 1 || term->coefficient != 1 || s->kind != HD_V_ADDRESS || *var != HD_NONE) return false;
    *var = s->a;
  }
  return *var != HD_NONE && *offset >= 0 && *offset < UINT32_MAX;
}

static bool do_ld(tr *t, an_val *out) {
  an *a = t->a;
  hd_mod space = HD_M_NONE;
  for (unsigned i = 0; i < t->form->n_mods && !space; i++) {
    hd_mod mod = t->form->mods[i];
    if (mod == HD_M_PARAM || mod == HD_M_PARAM_ENTRY || mod == HD_M_PARAM_FUNC) space = HD_M_PARAM;
    if (mod == HD_M_CONST) space = HD_M_CONST;
  }
  tr_type type = t->type;
  unsigned width = type.bits > 32 ? 64 : type.bits == 16 ? 16 : 32;
  const hd_ptx_opnd *o = t->st->n_opnds > 1 ? t->opnds + 1 : NULL;
  uint64_t sub = (uint64_t)t->sub * (type.bits / 8);
  if (space && o && o->kind == HD_O_ADDR && type.bits <= 64) {
    uint32_t call = a->pub.cfg.insts[t->inst].call;
    if (space == HD_M_PARAM && o->sym && a->m->syms[o->sym].kind == HD_SYM_VAR) {
      uint32_t slot = an_slot_of(a, call, o->sym, (uint64_t)o->imm + sub, type.bits / 8, false);
      if (slot != HD_NONE) {
        an_val x;
        an_value v = an_reaching(a, slot, t->inst);
        if (v == HD_NONE) {
          *out = an_val_unknown(a, HD_V_OPAQUE, t->inst, t->sub, HD_LEVEL_DATA,
                                (an_blame){HD_WHY_CALL, t->inst}, width);
          return true;
        }
        if (!an_get_at(a, v, a->pub.cfg.insts[t->inst].block, &x)) return false;
        *out = type.bits < 32 && type.kind != TR_OTHER ? tr_narrow(t, &x, type, width) : x;
        return true;
      }
    }
    an_val address;
    if (!tr_operand(t, 1, 64, &address)) return false;
    uint32_t var;
    int64_t offset;
    if (named_by(a, address.poly, &var, &offset)) {
      const hd_ptx_func *f = &a->m->funcs[a->pub.func];
      hd_mod where = a->m->vars[var].space;
      bool param = where == HD_M_PARAM && var >= f->first_param && var < f->first_param + f->n_params;
      if (param || where == HD_M_CONST) {
        *out = constant_of(t, param ? HD_V_PARAM : HD_V_CONST, param ? var - f->first_param : var,
                           (uint64_t)offset + sub, type);
        return true;
      }
    }
  }
  *out =
      an_val_unknown(a, HD_V_LOAD, t->inst, t->sub, HD_LEVEL_DATA, (an_blame){HD_WHY_LOAD, t->inst}, width);
  if (type.bits < 32 && type.kind != TR_OTHER)
    an_known_range(a, out, type.kind == TR_SIGNED ? -((int64_t)1 << (type.bits - 1)) : 0,
                   ((int64_t)1 << (type.bits - (type.kind == TR_SIGNED))) - 1);
  return true;
}

/* A store into a variable that passes a value to a function. */
static bool do_st(tr *t, an_val *out) {
  const hd_ptx_opnd *o = t->opnds + 1;
  if (o->kind == HD_O_VEC) o = &t->a->m->opnds[o->sym + (t->sub < o->n_kids ? t->sub : 0)];
  return an_operand(t->a, t->inst, o, t->type.bits > 32 ? 64 : 32, out);
}

static bool do_call(tr *t, an_val *out) {
  *out = an_val_unknown(t->a, HD_V_CALL, t->inst, t->sub, HD_LEVEL_CALL, (an_blame){HD_WHY_CALL, t->inst},
                        an_reg_width(t->a, t->a->defs[t->def].reg));
  return true;
}

/* ---- Other threads
 * ------------------------------------------------------------------------------------------------ */

/* The value is the same in all lanes of a warp: thread ids occur as floor(tid.x / multiple of 32) only. */
static bool warp_uniform(an *a, hd_poly p, unsigned depth) {
  const hd_polynomial q = a->polys.data[p];
  if (!(q.varies & 7)) return true;
  if (q.level >= HD_LEVEL_DATA || depth > 8) return false;
  for (uint32_t i = 0; i < q.n; i++) {
    const hd_product prod = a->products.data[a->terms.data[q.first + i].product];
    for (uint32_t k = 0; k < prod.n; k++) {
      const hd_value_symbol s = a->symbols.data[a->factors.data[prod.first + k]];
      int64_t d;
      if (!(s.varies & 7)) continue;
      if (s.kind == HD_V_FLOOR && an_is_const(a, s.b, &d) && d % AN_WARP == 0 && s.varies == 1 &&
          a->polys.data[s.a].n == 1 && a->terms.data[a->polys.data[s.a].first].coefficient == 1)
        continue;
      bool function = an_is_function(s.kind);
      if (!function || !warp_uniform(a, s.a, depth + 1)) return false;
      bool two = s.kind != HD_V_POS && s.kind != HD_V_GE && s.kind != HD_V_EQ && s.kind != HD_V_POW2;
      if (two && !warp_uniform(a, s.b, depth + 1)) return false;
    }
  }
  return true;
}

/* A shuffle of what all lanes of a warp have alike changes nothing. */
static bool do_shfl(tr *t, an_val *out) {
  an *a = t->a;
  an_val x;
  if (t->sub == 0 && t->st->n_opnds > 1) {
    if (!tr_operand(t, 1, 32, &x)) return false;
    if (warp_uniform(a, x.poly, 0)) {
      *out = x;
      /* Warps are runs of 32 thread numbers; they keep to one row of the CTA when rows are whole warps. */
      if (a->polys.data[x.poly].varies & 7 && !(a->opt.block[1] == 1 && a->opt.block[2] == 1)) {
        hd_poly row = an_ntid(a, 0),
                rest = an_sub(a, row, an_scale(a, an_floor_const(a, row, AN_WARP, t->inst), AN_WARP));
        hd_poly rows = an_mul(a, an_ntid(a, 1), an_ntid(a, 2));
        out->assumes = an_assume(a, out->assumes, an_mul(a, rest, an_add_const(a, rows, -1)), 0, 0, t->inst);
      }
      return true;
    }
  }
  *out = an_val_unknown(a, HD_V_OPAQUE, t->inst, t->sub, HD_LEVEL_DATA, (an_blame){HD_WHY_EXCHANGE, t->inst},
                        an_reg_width(a, a->defs[t->def].reg));
  return true;
}

static bool do_exchange(tr *t, an_val *out) {
  *out = an_val_unknown(t->a, HD_V_OPAQUE, t->inst, t->sub, HD_LEVEL_DATA,
                        (an_blame){HD_WHY_EXCHANGE, t->inst}, an_reg_width(t->a, t->a->defs[t->def].reg));
  return true;
}

static bool do_load_unknown(tr *t, an_val *out) {
  *out = an_val_unknown(t->a, HD_V_LOAD, t->inst, t->sub, HD_LEVEL_DATA, (an_blame){HD_WHY_LOAD, t->inst},
                        an_reg_width(t->a, t->a->defs[t->def].reg));
  return true;
}

/* ---- Everything else
 * --------------------------------------------------------------------------------------------- */

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
  hd_level l = (hd_level)a->polys.data[x.poly].level;
  if (x.pending < w->val.pending) w->val.pending = x.pending;
  w->val.assumes = an_union(a, w->val.assumes, x.assumes);
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
  /* What the same constants of a launch give is one itself, but no polynomial can name it. */
  *out = tr_opaque(t, HD_LEVEL_NONLINEAR, an_reg_width(t->a, t->a->defs[t->def].reg), &w.val, NULL);
  return true;
}

typedef bool (*transfer)(tr *t, an_val *out);

static const transfer transfers[HD_OP_COUNT] = {
    [HD_OP_ADD] = do_add,     [HD_OP_SUB] = do_add,     [HD_OP_MUL] = do_mul,     [HD_OP_MAD] = do_mad,
    [HD_OP_NEG] = do_neg,     [HD_OP_MIN] = do_min_max, [HD_OP_MAX] = do_min_max, [HD_OP_ABS] = do_abs,
    [HD_OP_DIV] = do_div_rem, [HD_OP_REM] = do_div_rem, [HD_OP_SETP] = do_setp,   [HD_OP_SELP] = do_selp,
    [HD_OP_CVT] = do_cvt,     [HD_OP_CVTA] = do_cvta,   [HD_OP_MOV] = do_mov,     [HD_OP_LD] = do_ld,
    [HD_OP_LDU] = do_ld,      [HD_OP_ST] = do_st,       [HD_OP_CALL] = do_call,   [HD_OP_SHFL] = do_shfl,
    [HD_OP_SHL] = tr_shl,     [HD_OP_SHR] = tr_shr,     [HD_OP_AND] = tr_logic,   [HD_OP_OR] = tr_logic,
    [HD_OP_XOR] = tr_logic,   [HD_OP_NOT] = tr_not,     [HD_OP_BFE] = tr_bfe,     [HD_OP_BFI] = tr_bfi,
    [HD_OP_LOP3] = tr_lop3,
};

/* Where no polynomial is known: data from memory or other threads is one more unknown; of anything else the
 * operands tell the level. */
static transfer transfer_of(const hd_ptx_form *f) {
  if (transfers[f->op]) return transfers[f->op];
  if (!(f->flags & HD_OPF_BRINGS_DATA)) return tr_unknown;
  hd_ptx_access access = hd_ptx_access_of(f);
  return access.kinds == HD_ACC_READ ? do_load_unknown : do_exchange;
}

/* The place in {a, _, b} of the register that is the n-th one written. */
static uint32_t lane_of(const an *a, const hd_ptx_opnd *o, uint32_t n) {
  for (uint32_t k = 0; k < o->n_kids; k++)
    if (a->m->opnds[o->sym + k].kind == HD_O_REG && n-- == 0) return k;
  return 0;
}

bool an_transfer(an *a, uint32_t d, an_val *out) {
  uint32_t inst = a->defs[d].inst;
  const hd_ptx_stmt *st = an_stmt(a, inst);
  tr t = {.a = a,
          .def = d,
          .inst = inst,
          .sub = d - a->inst_def[inst],
          .st = st,
          .form = an_form(a, inst),
          .opnds = a->m->opnds + st->first_opnd};
  if (st->n_opnds && t.opnds[0].kind == HD_O_VEC && t.form->op != HD_OP_ST)
    t.sub = lane_of(a, t.opnds, t.sub);
  tr_type first;
  types_of(t.form, &first, &t.type);
  if (!transfer_of(t.form)(&t, out)) return false;
  if (!st->guard || t.form->op == HD_OP_CALL) return true;
  /* Under a predicate: what was there before, where it does not hold. */
  an_val cond, old;
  bool ok = an_guard(a, inst, &cond);
  an_value before = an_reaching(a, a->defs[d].reg, inst);
  if (!an_get_at(a, before, a->pub.cfg.insts[inst].block, &old) || !ok) return false;
  if (!old.undefined && old.width != out->width) old = an_val_of(a, old.poly, out->width);
  *out = an_select(a, &cond, out, &old);
  return true;
}
