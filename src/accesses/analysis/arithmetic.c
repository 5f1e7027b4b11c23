/* Arithmetic, comparison and choice of polynomials. */
#include <string.h>

#include "analysis/transfer.h"

/* Two operands, asked for together. */
static bool operands2(tr *t, unsigned width, an_val *x, an_val *y) {
  bool ok = tr_operand(t, 1, width, x);
  return tr_operand(t, 2, width, y) && ok;
}

/* ---- Arithmetic ------------------------------------------------------------------------------- */

bool tr_add(tr *t, an_val *out) {
  an_val x, y;
  if (hd_ptx_form_has(t->form, HD_M_SAT)) return tr_unknown(t, out);
  if (!operands2(t, t->type.bits, &x, &y)) return false;
  *out = tr_sum(t, &x, &y, t->form->op == HD_OP_SUB ? -1 : 1, t->type.bits);
  return true;
}

/* The high half of 64 bits times a number m. Signed, an m below 0 is m + 2^64 unsigned, less the other. */
static an_val high_half(tr *t, const an_val *x, const an_val *y) {
  an *a = t->a;
  int64_t m;
  const an_val *other = an_is_const(&a->alg, x->poly, &m) ? y : x;
  bool is_signed = t->type.kind == TR_SIGNED;
  if (other == x && !an_is_const(&a->alg, y->poly, &m)) return tr_opaque(t, HD_LEVEL_NONLINEAR, 64, x, y);
  an_val v = an_extend(a, other, is_signed, t->inst);
  if (v.lo < 0) return tr_opaque(t, HD_LEVEL_NONLINEAR, 64, x, y);
  an_known_range(a, &v, v.lo, v.hi);
  hd_poly p = an_high_half(&a->alg, v.poly, (uint64_t)m, t->inst);
  if (p != HD_NONE && m < 0 && is_signed) p = an_sub(&a->alg, p, v.poly);
  return p == HD_NONE ? tr_opaque(t, HD_LEVEL_NONLINEAR, 64, x, y) : tr_result(t, p, 64, &v, NULL);
}

/* The product in the wanted half: .lo, .hi or .wide. */
static an_val product(tr *t, const an_val *x, const an_val *y) {
  an *a = t->a;
  unsigned bits = t->type.bits;
  bool is_signed = t->type.kind == TR_SIGNED;
  if (!hd_ptx_form_has(t->form, HD_M_WIDE) && !hd_ptx_form_has(t->form, HD_M_HI))
    return tr_product(t, x, y, bits);
  if (bits == 64) return high_half(t, x, y);
  an_val wx = an_extend(a, x, is_signed, t->inst), wy = an_extend(a, y, is_signed, t->inst);
  an_val r = tr_product(t, &wx, &wy, 64);
  if (hd_ptx_form_has(t->form, HD_M_WIDE)) {
    r.width = (uint8_t)(2 * bits);
    return r;
  }
  an_val high = tr_result(t, an_floor_const(&a->alg, r.poly, hd_power_of_two(bits), t->inst), bits, &r, NULL);
  tr_add_ranges(&high, (an_range){r.lo == INT64_MIN ? INT64_MIN : r.lo >> bits,
                                  r.hi == INT64_MAX ? INT64_MAX : r.hi >> bits});
  return high;
}

bool tr_mul(tr *t, an_val *out) {
  an_val x, y;
  if (!operands2(t, t->type.bits, &x, &y)) return false;
  *out = product(t, &x, &y);
  return true;
}

bool tr_mad(tr *t, an_val *out) {
  an_val x, y, z;
  if (hd_ptx_form_has(t->form, HD_M_SAT)) return tr_unknown(t, out);
  unsigned width = hd_ptx_form_has(t->form, HD_M_WIDE) ? 2 * t->type.bits : t->type.bits;
  bool ok = operands2(t, t->type.bits, &x, &y);
  if (!tr_operand(t, 3, width, &z) || !ok) return false;
  an_val xy = product(t, &x, &y);
  *out = tr_sum(t, &xy, &z, 1, width);
  return true;
}

bool tr_neg(tr *t, an_val *out) {
  an_val x;
  if (!tr_operand(t, 1, t->type.bits, &x)) return false;
  an_val zero = an_val_of(t->a, 0, t->type.bits);
  *out = tr_sum(t, &zero, &x, -1, t->type.bits);
  return true;
}

/* min(x, y) = x - max(x - y, 0); max(x, y) = y + max(x - y, 0) */
bool tr_min_max(tr *t, an_val *out) {
  an *a = t->a;
  an_val x, y;
  if (hd_ptx_form_has(t->form, HD_M_RELU)) return tr_unknown(t, out);
  if (!operands2(t, t->type.bits, &x, &y)) return false;
  bool is_signed = t->type.kind == TR_SIGNED, min = t->form->op == HD_OP_MIN;
  x = an_extend(a, &x, is_signed, t->inst);
  y = an_extend(a, &y, is_signed, t->inst);
  an_range rx = tr_range_of(&x), ry = tr_range_of(&y), r;
  r.lo = min ? (rx.lo < ry.lo ? rx.lo : ry.lo) : (rx.lo > ry.lo ? rx.lo : ry.lo);
  r.hi = min ? (rx.hi < ry.hi ? rx.hi : ry.hi) : (rx.hi > ry.hi ? rx.hi : ry.hi);
  hd_poly p;
  if (rx.hi <= ry.lo) {
    p = min ? x.poly : y.poly;
  } else if (ry.hi <= rx.lo) {
    p = min ? y.poly : x.poly;
  } else {
    hd_poly d = an_sub(&a->alg, x.poly, y.poly), over = d == HD_NONE ? HD_NONE : an_max0(&a->alg, d);
    p = over == HD_NONE ? HD_NONE : min ? an_sub(&a->alg, x.poly, over) : an_add(&a->alg, y.poly, over);
  }
  *out = tr_result(t, p, t->type.bits, &x, &y);
  if (out->poly == p) {
    tr_add_ranges(out, r);
    /* The minimum of an unbounded quantity and a bound is bounded on one side: worth keeping. */
    if (r.lo > out->lo) out->lo = r.lo;
    if (r.hi < out->hi) out->hi = r.hi;
  }
  return true;
}

/* |x| = x + 2 max(-x, 0) */
bool tr_abs(tr *t, an_val *out) {
  an *a = t->a;
  an_val x;
  if (t->type.kind != TR_SIGNED) return tr_unknown(t, out);
  if (!tr_operand(t, 1, t->type.bits, &x)) return false;
  x = an_extend(a, &x, true, t->inst);
  hd_poly negative = an_max0(&a->alg, an_scale(&a->alg, x.poly, -1));
  hd_poly twice = an_scale(&a->alg, negative, 2), p = an_add(&a->alg, x.poly, twice);
  *out = tr_result(t, p, t->type.bits, &x, NULL);
  if (out->poly == p && (t->type.bits < 64 || x.lo > INT64_MIN)) an_known_range(a, out, 0, INT64_MAX);
  return true;
}

/* Quotients are truncated: for x < 0 and d > 0, x / d = floor((x + d - 1) / d). */
static hd_poly quotient(tr *t, an_val *x, an_val *y) {
  an *a = t->a;
  int64_t d;
  if (an_is_const(&a->alg, y->poly, &d) && d > 0) {
    if (x->lo >= 0) return an_floor_const(&a->alg, x->poly, d, t->inst);
    hd_poly negative = an_not(&a->alg, an_ge0(&a->alg, x->poly));
    hd_poly up = an_add(&a->alg, x->poly, an_scale(&a->alg, negative, d - 1));
    return up == HD_NONE ? HD_NONE : an_floor_const(&a->alg, up, d, t->inst);
  }
  if (x->lo < 0) x->assumes = an_assume(&a->alg, x->assumes, x->poly, 0, INT64_MAX, t->inst);
  if (y->lo < 1) y->assumes = an_assume(&a->alg, y->assumes, y->poly, 1, INT64_MAX, t->inst);
  return an_floor(&a->alg, x->poly, y->poly, t->inst);
}

bool tr_div_rem(tr *t, an_val *out) {
  an *a = t->a;
  an_val x, y;
  if (!operands2(t, t->type.bits, &x, &y)) return false;
  bool is_signed = t->type.kind == TR_SIGNED;
  x = an_extend(a, &x, is_signed, t->inst);
  y = an_extend(a, &y, is_signed, t->inst);
  hd_poly q = quotient(t, &x, &y);
  if (t->form->op == HD_OP_REM && q != HD_NONE) {
    hd_poly whole = an_mul(&a->alg, q, y.poly);
    q = whole == HD_NONE ? HD_NONE : an_sub(&a->alg, x.poly, whole);
    *out = tr_result(t, q, t->type.bits, &x, &y);
    if (out->poly == q && x.lo >= 0 && y.lo > 0)
      an_known_range(a, out, 0, y.hi == INT64_MAX ? INT64_MAX : y.hi - 1);
    return true;
  }
  *out = tr_result(t, q, t->type.bits, &x, &y);
  if (out->poly == q && x.lo >= 0) tr_add_ranges(out, (an_range){0, x.hi});
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
  hd_poly d = cmp == HD_M_GT || cmp == HD_M_LE ? an_sub(&a->alg, x->poly, y->poly)
                                               : an_sub(&a->alg, y->poly, x->poly);
  if (d == HD_NONE) return HD_NONE;
  switch (cmp) {
  case HD_M_EQ: return an_eq0(&a->alg, d);
  case HD_M_NE: return an_not(&a->alg, an_eq0(&a->alg, d));
  case HD_M_LT:
  case HD_M_GT: return an_ge0(&a->alg, an_add_const(&a->alg, d, -1)); /* y - x >= 1 */
  case HD_M_LE:                                                       /* not x - y >= 1 */
  case HD_M_GE: return an_not(&a->alg, an_ge0(&a->alg, an_add_const(&a->alg, d, -1)));
  default: return HD_NONE;
  }
}

static hd_poly combine(an *a, const hd_ptx_form *f, hd_poly p, hd_poly q) {
  if (hd_ptx_form_has(f, HD_M_AND)) return an_both(&a->alg, p, q);
  if (hd_ptx_form_has(f, HD_M_OR)) return an_either(&a->alg, p, q);
  if (!hd_ptx_form_has(f, HD_M_XOR)) return p;
  hd_poly flipped = an_if(&a->alg, q, an_add_const(&a->alg, an_scale(&a->alg, p, -2), 1)); /* q ? 1 - p : p */
  return flipped == HD_NONE ? HD_NONE : an_add(&a->alg, p, flipped);
}

/* setp.CMP.BOOL.type p|q, x, y, c: p = (x CMP y) BOOL c, q = (not x CMP y) BOOL c */
bool tr_setp(tr *t, an_val *out) {
  an *a = t->a;
  an_val x, y, c = an_val_of(a, 0, 1);
  bool ok = operands2(t, t->type.bits, &x, &y), combined = t->st->n_opnds > 3;
  if (combined && !tr_operand(t, 3, 1, &c)) ok = false;
  if (!ok) return false;
  hd_poly p = compare(t, &x, &y);
  if (p != HD_NONE && t->sub) p = an_not(&a->alg, p);
  if (p != HD_NONE && combined) p = combine(a, t->form, p, c.poly);
  if (p == HD_NONE) {
    *out = tr_opaque(t, HD_LEVEL_NONLINEAR, 1, &x, &y);
    return true;
  }
  *out = tr_result(t, p, 1, &x, &y);
  an_inherit(a, out, &c);
  return true;
}

bool tr_selp(tr *t, an_val *out) {
  an_val x, y, c;
  unsigned width = t->type.bits > 64 ? 64 : t->type.bits;
  bool ok = operands2(t, width, &x, &y);
  if (!tr_operand(t, 3, 1, &c) || !ok) return false;
  *out = an_select(t->a, &c, &x, &y);
  return true;
}
