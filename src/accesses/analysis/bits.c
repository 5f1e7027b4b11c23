/* Shifts, masks, bit fields.
 *
 * A contiguous mask is a difference of remainders: the bits [l, h) of x are (x mod 2^h) - (x mod 2^l), and
 * x mod 2^h = x - 2^h floor(x / 2^h), which holds for two's complement numbers of any sign.
 */
#include <string.h>

#include "analysis/transfer.h"

/* x mod 2^h as a polynomial; h below the value's width. */
static hd_poly modulo(tr *t, hd_poly x, unsigned h) {
  an *a = t->a;
  if (!h) return 0;
  if (h > 62) return HD_NONE;
  hd_poly p = an_wrap(&a->alg, x, h), turns = an_floor_const(&a->alg, p, hd_power_of_two(h), t->inst);
  p = turns == HD_NONE ? HD_NONE : an_sub(&a->alg, p, an_scale(&a->alg, turns, hd_power_of_two(h)));
  if (p != HD_NONE) an_note_range(&a->alg, p, 0, hd_most_of(h, false), a->alg.used);
  return p;
}

/* ---- Shifts ----------------------------------------------------------------------------- */

bool tr_shl(tr *t, an_val *out) {
  an *a = t->a;
  an_val x, n;
  unsigned width = t->type.bits;
  bool ok = tr_operand(t, 1, width, &x);
  if (!tr_operand(t, 2, 32, &n) || !ok) return false;
  n = an_extend(a, &n, false, t->inst);
  hd_poly power = an_pow2(&a->alg, n.poly, t->inst);
  an_val factor = an_val_of(a, power, 64);
  an_inherit(a, &factor, &n);
  *out = tr_product(t, &x, &factor, width);
  int64_t c;
  if (an_is_const(&a->alg, n.poly, &c)) out->maybe &= hd_shift_left(x.maybe, c);
  return true;
}

bool tr_shr(tr *t, an_val *out) {
  an *a = t->a;
  an_val x, n;
  unsigned width = t->type.bits;
  bool is_signed = t->type.kind == TR_SIGNED;
  bool ok = tr_operand(t, 1, width, &x);
  if (!tr_operand(t, 2, 32, &n) || !ok) return false;
  int64_t c;
  n = an_extend(a, &n, false, t->inst);
  if (!an_is_const(&a->alg, n.poly, &c)) {
    x = an_extend(a, &x, is_signed, t->inst);
    hd_poly power = an_pow2(&a->alg, n.poly, t->inst);
    *out = tr_result(t, an_floor(&a->alg, x.poly, power, t->inst), width, &x, &n);
    return true;
  }
  if (c < 0 || c >= width) { /* the amount is unsigned, and clamped */
    if (!is_signed) {
      *out = an_val_of(a, 0, width);
      return true;
    }
    c = width - 1;
  }
  an_use_range(a, &x);
  if (is_signed && c == (int64_t)width - 1) { /* the sign: 0 or -1 */
    x = an_extend(a, &x, true, t->inst);
    hd_poly negative = an_not(&a->alg, an_ge0(&a->alg, x.poly));
    *out = tr_result(t, an_scale(&a->alg, negative, -1), width, &x, NULL);
    return true;
  }
  if (!is_signed && x.lo >= -1 && x.hi <= 0 &&
      width < 64 + (unsigned)(c > 0)) { /* bits of 0 or -1: 0 or a mask */
    *out = tr_result(t, an_scale(&a->alg, x.poly, -(int64_t)(hd_low_bits(width) >> c)), width, &x, NULL);
    return true;
  }
  x = an_extend(a, &x, is_signed, t->inst);
  if (c == 63) {
    *out = tr_opaque(t, HD_LEVEL_NONLINEAR, width, &x, NULL);
    return true;
  }
  *out = tr_result(t, an_floor_const(&a->alg, x.poly, hd_power_of_two(c), t->inst), width, &x, NULL);
  int64_t lo = x.lo == INT64_MIN ? INT64_MIN : x.lo >> c, hi = x.hi == INT64_MAX ? INT64_MAX : x.hi >> c;
  if (lo > out->lo) out->lo = lo;
  if (hi < out->hi) out->hi = hi;
  if (x.lo >= 0) out->maybe &= x.maybe >> c;
  return true;
}

/* ---- Logic --------------------------------------------------------------------------------- */

/* x & mask as runs of ones. */
static an_val and_mask(tr *t, const an_val *from, uint64_t mask, unsigned width) {
  an *a = t->a;
  an_val known = *from;
  const an_val *x = &known;
  an_use_range(a, &known);
  mask &= hd_low_bits(width);
  if ((x->maybe & ~mask) == 0) return *x;
  if ((x->maybe & mask) == 0) return tr_result(t, 0, width, x, NULL);
  an_val whole = *x;
  if (width == 64 && mask >> 62 == 1) { /* all bits but the sign's, of a value that is not negative */
    whole = an_extend(a, x, false, t->inst);
    mask |= 1ull << 63;
    x = &whole;
  }
  hd_poly sum = 0;
  uint64_t left = mask;
  for (unsigned runs = 0; left && sum != HD_NONE; runs++) {
    unsigned l = (unsigned)__builtin_ctzll(left);
    uint64_t above = ~(left >> l);
    unsigned h = above ? l + (unsigned)__builtin_ctzll(above) : 64;
    if (runs == 4) sum = HD_NONE;
    if (sum == HD_NONE) break;
    hd_poly low = modulo(t, x->poly, l), high = h >= width ? x->poly : modulo(t, x->poly, h);
    sum = low == HD_NONE || high == HD_NONE ? HD_NONE : an_add(&a->alg, sum, an_sub(&a->alg, high, low));
    left = h >= 64 ? 0 : left & ~(hd_low_bits(h));
  }
  if (sum == HD_NONE) return tr_opaque(t, HD_LEVEL_NONLINEAR, width, x, NULL);
  an_val r = tr_result(t, sum, width, x, NULL);
  if (mask >> (width - 1) == 0 && r.poly == sum) an_known_range(a, &r, 0, (int64_t)mask);
  r.maybe &= mask & x->maybe;
  return r;
}

static an_val bits_and(tr *t, const an_val *x, const an_val *y, unsigned width) {
  an *a = t->a;
  int64_t c;
  if (an_is_const(&a->alg, x->poly, &c)) return and_mask(t, y, (uint64_t)c, width);
  if (an_is_const(&a->alg, y->poly, &c)) return and_mask(t, x, (uint64_t)c, width);
  if (!(x->maybe & y->maybe)) return tr_result(t, 0, width, x, y);
  /* 0 or -1 selects */
  if (y->lo >= -1 && y->hi <= 0) {
    const an_val *s = x;
    x = y;
    y = s;
  }
  if (x->lo >= -1 && x->hi <= 0)
    return tr_result(t, an_if(&a->alg, an_scale(&a->alg, x->poly, -1), y->poly), width, x, y);
  an_val r = tr_result(t, an_bits(&a->alg, HD_V_BITAND, x->poly, y->poly, t->inst), width, x, y);
  r.maybe &= x->maybe & y->maybe;
  if ((r.maybe >> (width - 1)) == 0 && x->lo >= 0 && y->lo >= 0) an_known_range(a, &r, 0, (int64_t)r.maybe);
  return r;
}

static an_val bits_or(tr *t, const an_val *x, const an_val *y, unsigned width) {
  if (x->poly == y->poly) return *x;
  an_val sum = tr_sum(t, x, y, 1, width);
  if (!(x->maybe & y->maybe)) return sum;
  an_val both = bits_and(t, x, y, width);
  an_val r = tr_sum(t, &sum, &both, -1, width);
  r.maybe &= x->maybe | y->maybe;
  return r;
}

static an_val bits_xor(tr *t, const an_val *x, const an_val *y, unsigned width) {
  an *a = t->a;
  int64_t c;
  if (x->poly == y->poly) return an_val_of(a, 0, width);
  if (!(x->maybe & y->maybe)) return tr_sum(t, x, y, 1, width);
  if (an_is_const(&a->alg, x->poly, &c)) {
    const an_val *s = x;
    x = y;
    y = s;
  }
  if (an_is_const(&a->alg, y->poly, &c)) {
    an_val both = and_mask(t, x, (uint64_t)c, width), sum = tr_sum(t, x, y, 1, width);
    hd_poly p = an_add(&a->alg, sum.poly, an_scale(&a->alg, both.poly, -2));
    an_val r = tr_result(t, p, width, &sum, &both);
    r.maybe &= x->maybe | y->maybe;
    if (r.poly == p && x->lo >= 0 && c >= 0 && r.maybe >> (width - 1) == 0 && !(x->maybe >> (width - 1)))
      an_known_range(a, &r, 0, (int64_t)r.maybe);
    return r;
  }
  an_val r = tr_result(t, an_bits(&a->alg, HD_V_BITXOR, x->poly, y->poly, t->inst), width, x, y);
  r.maybe &= x->maybe | y->maybe;
  return r;
}

static an_val combine_bits(tr *t, hd_ptx_op op, const an_val *x, const an_val *y, unsigned width) {
  an *a = t->a;
  if (width == 1) {
    hd_poly p = x->poly, q = y->poly;
    if (op == HD_OP_AND) {
      p = an_both(&a->alg, p, q);
    } else if (op == HD_OP_OR) {
      p = an_either(&a->alg, p, q);
    } else {
      hd_poly flip = an_if(&a->alg, q, an_add_const(&a->alg, an_scale(&a->alg, p, -2), 1));
      p = flip == HD_NONE ? HD_NONE : an_add(&a->alg, p, flip);
      if (p != HD_NONE) an_note_range(&a->alg, p, 0, 1, a->alg.used);
    }
    return tr_result(t, p, 1, x, y);
  }
  an_val r = op == HD_OP_AND  ? bits_and(t, x, y, width)
             : op == HD_OP_OR ? bits_or(t, x, y, width)
                              : bits_xor(t, x, y, width);
  an_inherit(a, &r, x);
  an_inherit(a, &r, y);
  an_use_range(a, &r);
  return r;
}

bool tr_logic(tr *t, an_val *out) {
  an_val x, y;
  unsigned width = t->type.bits;
  bool ok = tr_operand(t, 1, width, &x);
  if (!tr_operand(t, 2, width, &y) || !ok) return false;
  *out = combine_bits(t, t->form->op, &x, &y, width);
  return true;
}

static an_val complement(tr *t, const an_val *x, unsigned width) {
  an_val ones = an_val_of(t->a, an_const(&t->a->alg, width == 1 ? 1 : -1), width);
  return tr_sum(t, &ones, x, -1, width);
}

bool tr_not(tr *t, an_val *out) {
  an_val x;
  if (!tr_operand(t, 1, t->type.bits, &x)) return false;
  *out = complement(t, &x, t->type.bits);
  return true;
}

/* ---- Fields -------------------------------------------------------------------------------------- */

/* bits [pos, pos + len) of x as a number */
static an_val field(tr *t, const an_val *x, unsigned pos, unsigned len, unsigned width) {
  an *a = t->a;
  if (pos >= width || !len) return an_val_of(a, 0, width);
  an_val from = *x;
  an_use_range(a, &from);
  hd_poly p;
  if (pos + len >= width) {
    from = an_extend(a, x, false, t->inst);
    p = from.poly;
  } else {
    p = modulo(t, x->poly, pos + len);
  }
  p = pos > 62 ? HD_NONE : an_floor_const(&a->alg, p, hd_power_of_two(pos), t->inst);
  an_val r = tr_result(t, p, width, &from, NULL);
  if (r.poly == p && len < 63) an_known_range(a, &r, 0, hd_most_of(len, false));
  r.maybe &= hd_shift_right(x->maybe, pos);
  return r;
}

bool tr_bfe(tr *t, an_val *out) {
  an *a = t->a;
  an_val x, pos, len;
  unsigned width = t->type.bits;
  bool ok = tr_operand(t, 1, width, &x);
  ok = tr_operand(t, 2, 32, &pos) && ok;
  if (!tr_operand(t, 3, 32, &len) || !ok) return false;
  int64_t b, n;
  if (!an_is_const(&a->alg, pos.poly, &b) || !an_is_const(&a->alg, len.poly, &n)) return tr_unknown(t, out);
  b &= 255, n &= 255;
  if (t->type.kind == TR_SIGNED && n && b >= width) return tr_unknown(t, out); /* the sign, all over */
  if (b + n > width) n = b < width ? width - b : 0;
  *out = field(t, &x, (unsigned)b, (unsigned)n, width);
  if (t->type.kind == TR_SIGNED && n > 0 && n < 63) {
    an_val sign = field(t, &x, (unsigned)(b + n - 1), 1, width);
    hd_poly p = an_add(&a->alg, out->poly, an_scale(&a->alg, sign.poly, -hd_power_of_two(n)));
    *out = tr_result(t, p, width, out, &sign);
    if (n < width && out->poly == p)
      an_known_range(a, out, hd_least_of((unsigned)n, true), hd_most_of((unsigned)n, true));
    out->maybe = hd_low_bits(width);
  }
  return true;
}

/* bfi d, x, y, pos, len: y with the field replaced by x's low bits */
bool tr_bfi(tr *t, an_val *out) {
  an *a = t->a;
  an_val x, y, pos, len;
  unsigned width = t->type.bits;
  bool ok = tr_operand(t, 1, width, &x);
  ok = tr_operand(t, 2, width, &y) && ok;
  ok = tr_operand(t, 3, 32, &pos) && ok;
  if (!tr_operand(t, 4, 32, &len) || !ok) return false;
  int64_t b, n;
  if (!an_is_const(&a->alg, pos.poly, &b) || !an_is_const(&a->alg, len.poly, &n)) return tr_unknown(t, out);
  b &= 255, n &= 255;
  if (b + n > width) n = b < width ? width - b : 0;
  if (n == 0) {
    *out = y;
    return true;
  }
  uint64_t mask = hd_shift_left(hd_low_bits(n), b);
  an_val kept = and_mask(t, &y, ~mask, width), low = and_mask(t, &x, hd_low_bits(n), width);
  *out = tr_sum(t, &kept, &low, hd_power_of_two(b), width);
  out->maybe &= (y.maybe & ~mask) | (hd_shift_left(x.maybe, b) & mask);
  return true;
}

/* lop3, for the tables that compilers emit: two operations one after the other. The table's bit 4a + 2b + c
 * is the result for bits a, b, c (a: 0xF0, b: 0xCC, c: 0xAA). */
bool tr_lop3(tr *t, an_val *out) {
  static const struct {
    uint8_t table;
    uint8_t x, y;            /* operands of the first operation: 0 1 2 */
    hd_ptx_op first, second; /* second: with the remaining operand; UNKNOWN: none */
  } known[] = {
      {0x80, 0, 1, HD_OP_AND, HD_OP_AND},     {0xEA, 0, 1, HD_OP_AND, HD_OP_OR},
      {0xF8, 1, 2, HD_OP_AND, HD_OP_OR},      {0xEC, 0, 2, HD_OP_AND, HD_OP_OR},
      {0x78, 1, 2, HD_OP_AND, HD_OP_XOR},     {0x6A, 0, 1, HD_OP_AND, HD_OP_XOR},
      {0x6C, 0, 2, HD_OP_AND, HD_OP_XOR},     {0xA8, 0, 1, HD_OP_OR, HD_OP_AND},
      {0xE0, 1, 2, HD_OP_OR, HD_OP_AND},      {0xC8, 0, 2, HD_OP_OR, HD_OP_AND},
      {0xFE, 0, 1, HD_OP_OR, HD_OP_OR},       {0x28, 0, 1, HD_OP_XOR, HD_OP_AND},
      {0x60, 1, 2, HD_OP_XOR, HD_OP_AND},     {0x48, 0, 2, HD_OP_XOR, HD_OP_AND},
      {0x96, 0, 1, HD_OP_XOR, HD_OP_XOR},     {0xBE, 0, 1, HD_OP_XOR, HD_OP_OR},
      {0xF6, 1, 2, HD_OP_XOR, HD_OP_OR},      {0xDE, 0, 2, HD_OP_XOR, HD_OP_OR},
      {0xC0, 0, 1, HD_OP_AND, HD_OP_UNKNOWN}, {0xFC, 0, 1, HD_OP_OR, HD_OP_UNKNOWN},
      {0x3C, 0, 1, HD_OP_XOR, HD_OP_UNKNOWN}, {0xA0, 0, 2, HD_OP_AND, HD_OP_UNKNOWN},
      {0xFA, 0, 2, HD_OP_OR, HD_OP_UNKNOWN},  {0x5A, 0, 2, HD_OP_XOR, HD_OP_UNKNOWN},
      {0x88, 1, 2, HD_OP_AND, HD_OP_UNKNOWN}, {0xEE, 1, 2, HD_OP_OR, HD_OP_UNKNOWN},
      {0x66, 1, 2, HD_OP_XOR, HD_OP_UNKNOWN},
  };
  an_val v[3];
  bool ok = true;
  if (t->st->n_opnds != 5 || t->opnds[4].kind != HD_O_INT || t->sub) return tr_unknown(t, out);
  for (unsigned k = 0; k < 3; k++) ok = tr_operand(t, k + 1, 32, &v[k]) && ok;
  if (!ok) return false;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (known[i].table != (t->opnds[4].imm & 255)) continue;
    *out = combine_bits(t, known[i].first, &v[known[i].x], &v[known[i].y], 32);
    if (known[i].second != HD_OP_UNKNOWN)
      *out = combine_bits(t, known[i].second, out, &v[3 - known[i].x - known[i].y], 32);
    return true;
  }
  return tr_unknown(t, out);
}
