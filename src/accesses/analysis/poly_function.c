/* Functions of polynomials: floors of quotients, maxima, conditions, bit operations.
 *
 * Each is brought to one form, so that the same quantity computed in two ways gets one symbol. Where ranges
 * or divisibility decide its value, that value replaces it.
 */
#include <string.h>

#include "analysis/algebra.h"

static hd_level worse(hd_level x, hd_level y) { return x > y ? x : y; }

static hd_level level_of(const an_algebra *a, hd_poly p) { return (hd_level)a->polys.data[p].level; }

/* The symbol of a function of p (and q), of a level. */
static hd_poly function(an_algebra *a, hd_symbol_kind kind, hd_poly p, hd_poly q, hd_level level,
                        uint32_t why, int64_t lo, int64_t hi) {
  const hd_polynomial *x = &a->polys.data[p], *y = &a->polys.data[q];
  bool two = kind != HD_V_POS && kind != HD_V_GE && kind != HD_V_EQ && kind != HD_V_POW2;
  hd_value_symbol s = {.kind = (uint8_t)kind,
                       .level = (uint8_t)level,
                       .iterates = x->iterates || (two && y->iterates),
                       .varies = (uint8_t)(x->varies | (two ? y->varies : 0)),
                       .a = p,
                       .b = two ? q : 0,
                       .why = why,
                       .lo = lo,
                       .hi = hi};
  uint32_t assumed = kind == HD_V_IF ? 0
                     : two           ? an_union(a, a->range_assumed.data[p], a->range_assumed.data[q])
                                     : a->range_assumed.data[p];
  size_t known = a->symbols.n;
  hd_symbol symbol = an_symbol(a, s);
  if (a->symbols.n > known) a->symbol_assumed.data[symbol] = assumed;
  return an_sym(a, symbol);
}

/* Piecewise linear functions of quasi-affine values are quasi-affine. */
static hd_level piecewise(const an_algebra *a, hd_poly p) {
  hd_level l = level_of(a, p);
  return l == HD_LEVEL_AFFINE ? HD_LEVEL_QUASI : l;
}

/* ---- Division --------------------------------------------------------------------------- */

static bool is_bounded(const an_algebra *a, hd_poly p) {
  return a->polys.data[p].lo != INT64_MIN && a->polys.data[p].hi != INT64_MAX;
}

/* When p holds floor(B / c) once, with coefficient 1: floor((A + floor(B / c)) / d) = floor((c A + B) / (c
 * d)). */
static bool merge_floors(an_algebra *a, hd_poly *p, int64_t *d) {
  const hd_polynomial q = a->polys.data[*p];
  hd_symbol inner = 0;
  for (uint32_t i = 0; i < q.n; i++) {
    const hd_term *t = &a->terms.data[q.first + i];
    const hd_product *prod = &a->products.data[t->product];
    if (prod->n != 1 || t->coefficient != 1) continue;
    hd_symbol s = a->factors.data[prod->first];
    int64_t c;
    if (a->symbols.data[s].kind == HD_V_FLOOR && an_is_const(a, a->symbols.data[s].b, &c)) {
      if (inner) return false;
      inner = s;
    }
  }
  int64_t c, cd;
  if (!inner || !an_is_const(a, a->symbols.data[inner].b, &c) || c <= 0) return false;
  if (__builtin_mul_overflow(c, *d, &cd) || cd > INT64_MAX / 4) return false;
  for (uint32_t i = 0; i < q.n; i++) {
    int64_t x;
    if (__builtin_mul_overflow(a->terms.data[q.first + i].coefficient, c, &x)) return false;
  }
  hd_poly b = a->symbols.data[inner].a;
  hd_poly rest = an_sub(a, *p, an_sym(a, inner));
  hd_poly sum = rest == HD_NONE ? HD_NONE : an_add(a, an_scale(a, rest, c), b);
  /* The longer numerator must still be a 64-bit number. */
  if (sum == HD_NONE || !is_bounded(a, sum)) return false;
  an_rely(a, sum);
  *p = sum;
  *d = cd;
  return true;
}

/* Division by multiplication: floor(m x / 2^k) is floor(x / n) for 0 <= x <= X when m n = 2^k + e with
 * 0 <= e and e X < 2^k (Granlund, Montgomery 1994). Compilers divide by constants so. */
static bool undo_magic(an_algebra *a, hd_poly *p, int64_t *d) {
  int64_t constant, m = an_content(a, *p, &constant);
  if (*d & (*d - 1) || m < 3 || constant) return false;
  hd_poly x = an_divide_exact(a, *p, m);
  int64_t lo = a->polys.data[x].lo, hi = a->polys.data[x].hi;
  if (lo < 0 || hi == INT64_MAX) return false;
  for (int64_t n = *d / m; n <= *d / m + 1; n++) {
    __int128 e = (__int128)m * n - *d;
    if (n > 1 && e >= 0 && e * hi < *d) {
      an_rely(a, x);
      *p = x;
      *d = n;
      return true;
    }
  }
  return false;
}

hd_poly an_floor_const(an_algebra *a, hd_poly p, int64_t d, uint32_t inst) {
  if (p == HD_NONE) return HD_NONE;
  hd_poly whole = 0;
  for (;;) {
    hd_poly rest;
    if (d == 1) return an_add(a, whole, p);
    hd_poly w = an_multiples(a, p, d, &rest);
    if (!is_bounded(a, rest) && is_bounded(a, p)) { /* the rest might not be a 64-bit number */
      w = 0;
      rest = p;
    }
    whole = an_add(a, whole, w);
    if (whole == HD_NONE) return HD_NONE;
    p = rest;
    const hd_polynomial *q = &a->polys.data[p];
    if (q->lo != INT64_MIN && q->hi != INT64_MAX && hd_floor_div(q->lo, d) == hd_floor_div(q->hi, d)) {
      an_rely(a, p);
      return an_add_const(a, whole, hd_floor_div(a->polys.data[p].lo, d));
    }
    int64_t constant, g = an_content(a, p, &constant);
    const int64_t x = (int64_t)hd_gcd((uint64_t)d, (uint64_t)g);
    if (x > 1) {
      bool bounded = is_bounded(a, p);
      int64_t lo = a->polys.data[p].lo, hi = a->polys.data[p].hi;
      uint32_t assumed = a->range_assumed.data[p];
      hd_poly varying = an_without_constant(a, p);
      p = an_add_const(a, an_divide_exact(a, varying, x), hd_floor_div(constant, x));
      d /= x;
      if (bounded) an_note_range(a, p, hd_floor_div(lo, x), hd_floor_div(hi, x), assumed);
      continue;
    }
    if (merge_floors(a, &p, &d) || undo_magic(a, &p, &d)) continue;
    break;
  }
  const hd_polynomial *q = &a->polys.data[p];
  int64_t lo = q->lo == INT64_MIN ? INT64_MIN : hd_floor_div(q->lo, d);
  int64_t hi = q->hi == INT64_MAX ? INT64_MAX : hd_floor_div(q->hi, d);
  hd_level level = piecewise(a, p);
  return an_add(a, whole, function(a, HD_V_FLOOR, p, an_const(a, d), level, inst, lo, hi));
}

/* Compilers divide numbers of 64 bits by n as in undo_magic, with m n = 2^(64 + s) + e and e X < 2^64, and
 * shift by s in an instruction of its own. So the high half is floor(2^s x / n), written here as 2^s floor(x
 * / n) + floor(2^s (x mod n) / n), whose parts are no larger than x. */
hd_poly an_high_half(an_algebra *a, hd_poly x, uint64_t m, uint32_t inst) {
  enum { MOST_SHIFT = 31 };
  typedef unsigned __int128 wide;
  if (x == HD_NONE || m < 3 || a->polys.data[x].lo < 0) return HD_NONE;
  uint64_t most = (uint64_t)a->polys.data[x].hi;
  for (unsigned s = 0; s <= MOST_SHIFT; s++) {
    wide power = (wide)1 << (64 + s), n = (power + m - 1) / m, e = n * m - power;
    if (n < 2 || n > INT32_MAX || e > UINT64_MAX || e * most >> 64) continue;
    an_rely(a, x);
    hd_poly q = an_floor_const(a, x, (int64_t)n, inst), r = an_sub(a, x, an_scale(a, q, (int64_t)n));
    an_note_range(a, r, 0, (int64_t)n - 1, a->used);
    hd_poly up = an_scale(a, r, (int64_t)1 << s);
    an_note_range(a, up, 0, ((int64_t)n - 1) << s, a->used);
    hd_poly part = an_floor_const(a, up, (int64_t)n, inst);
    return part == HD_NONE ? HD_NONE : an_add(a, an_scale(a, q, (int64_t)1 << s), part);
  }
  return HD_NONE;
}

hd_poly an_floor(an_algebra *a, hd_poly p, hd_poly divisor, uint32_t inst) {
  int64_t d;
  if (p == HD_NONE || divisor == HD_NONE) return HD_NONE;
  if (!p) return 0;
  if (an_is_const(a, divisor, &d) && d > 0) return an_floor_const(a, p, d, inst);
  hd_level lp = level_of(a, p), ld = level_of(a, divisor);
  hd_level level = lp == HD_LEVEL_LAUNCH && ld == HD_LEVEL_LAUNCH ? HD_LEVEL_LAUNCH
                                                                  : worse(HD_LEVEL_NONLINEAR, worse(lp, ld));
  const hd_polynomial *q = &a->polys.data[p];
  int64_t lo = q->lo >= 0 ? 0 : q->lo, hi = q->hi < 0 ? 0 : q->hi;
  if (p == divisor) return an_const(a, 1);
  return function(a, HD_V_FLOOR, p, divisor, level, inst, lo, hi);
}

/* ---- Maxima and conditions ------------------------------------------------------------------- */

hd_poly an_max0(an_algebra *a, hd_poly p) {
  if (p == HD_NONE) return HD_NONE;
  const hd_polynomial *q = &a->polys.data[p];
  if (q->lo >= 0 || q->hi <= 0) {
    an_rely(a, p);
    return a->polys.data[p].lo >= 0 ? p : 0;
  }
  int64_t constant, g = an_content(a, p, &constant);
  if (g > 1 && constant % g == 0) {
    hd_poly r = an_max0(a, an_divide_exact(a, p, g));
    return an_scale(a, r, g);
  }
  int64_t hi = q->hi;
  return function(a, HD_V_POS, p, 0, piecewise(a, p), HD_NONE, 0, hi);
}

bool an_is_bool(const an_algebra *a, hd_poly p) {
  return a->polys.data[p].lo >= 0 && a->polys.data[p].hi <= 1;
}

hd_poly an_not(an_algebra *a, hd_poly p) { return an_sub(a, an_const(a, 1), p); }

hd_poly an_ge0(an_algebra *a, hd_poly p) {
  if (p == HD_NONE) return HD_NONE;
  const hd_polynomial *q = &a->polys.data[p];
  if (q->lo >= 0 || q->hi < 0) {
    an_rely(a, p);
    return an_const(a, a->polys.data[p].lo >= 0);
  }
  if (q->lo >= -1 && q->hi <= 0) {
    an_rely(a, p);
    return an_add_const(a, p, 1);
  }
  int64_t constant, g = an_content(a, p, &constant);
  if (g > 1) {
    hd_poly varying = an_without_constant(a, p);
    return an_ge0(a, an_add_const(a, an_divide_exact(a, varying, g), hd_floor_div(constant, g)));
  }
  /* One of p >= 0 and -p - 1 >= 0, its opposite: the one whose last term is positive. */
  if (a->terms.data[q->first + q->n - 1].coefficient < 0) {
    hd_poly opposite = an_add_const(a, an_scale(a, p, -1), -1);
    return opposite == HD_NONE ? HD_NONE : an_not(a, an_ge0(a, opposite));
  }
  return function(a, HD_V_GE, p, 0, piecewise(a, p), HD_NONE, 0, 1);
}

hd_poly an_eq0(an_algebra *a, hd_poly p) {
  if (p == HD_NONE) return HD_NONE;
  const hd_polynomial *q = &a->polys.data[p];
  if (!p) return an_const(a, 1);
  if (q->lo > 0 || q->hi < 0 || (q->lo >= -1 && q->hi <= 0) || an_is_bool(a, p)) {
    int64_t lo = q->lo, hi = q->hi;
    an_rely(a, p);
    return lo > 0 || hi < 0 ? 0 : lo < 0 ? an_add_const(a, p, 1) : an_not(a, p);
  }
  int64_t constant, g = an_content(a, p, &constant);
  if (g > 1) {
    if (constant % g) return 0;
    return an_eq0(a, an_divide_exact(a, p, g));
  }
  /* One of p and -p: the one whose last term is positive. */
  if (a->terms.data[q->first + q->n - 1].coefficient < 0) return an_eq0(a, an_scale(a, p, -1));
  return function(a, HD_V_EQ, p, 0, piecewise(a, p), HD_NONE, 0, 1);
}

hd_poly an_both(an_algebra *a, hd_poly p, hd_poly q) {
  int64_t c;
  if (p == HD_NONE || q == HD_NONE) return HD_NONE;
  if (an_is_const(a, p, &c)) return c ? q : 0;
  if (an_is_const(a, q, &c)) return c ? p : 0;
  if (p == q) return p;
  if (p == an_not(a, q)) return 0;
  if (p > q) {
    hd_poly t = p;
    p = q;
    q = t;
  }
  return function(a, HD_V_BOTH, p, q, worse(piecewise(a, p), piecewise(a, q)), HD_NONE, 0, 1);
}

hd_poly an_either(an_algebra *a, hd_poly p, hd_poly q) {
  return an_not(a, an_both(a, an_not(a, p), an_not(a, q)));
}

hd_poly an_if(an_algebra *a, hd_poly cond, hd_poly p) {
  int64_t c;
  if (cond == HD_NONE || p == HD_NONE) return HD_NONE;
  if (an_is_const(a, cond, &c)) return c ? p : 0;
  if (an_is_const(a, p, &c)) return an_scale(a, cond, c);
  const hd_polynomial *q = &a->polys.data[cond];
  if (a->terms.data[q->first + q->n - 1].coefficient < 0) { /* 1 - c ? p : 0 is p - (c ? p : 0) */
    hd_poly other = an_if(a, an_not(a, cond), p);
    return other == HD_NONE ? HD_NONE : an_sub(a, p, other);
  }
  int64_t constant, g = an_content(a, p, &constant);
  if (g > 1 && constant % g == 0) return an_scale(a, an_if(a, cond, an_divide_exact(a, p, g)), g);
  /* A range that rests on an assumption holds where the assumption is made: maybe only where cond is 1. */
  bool sure = !a->range_assumed.data[p];
  int64_t lo = sure ? a->polys.data[p].lo : INT64_MIN, hi = sure ? a->polys.data[p].hi : INT64_MAX;
  return function(a, HD_V_IF, cond, p, worse(piecewise(a, cond), piecewise(a, p)), HD_NONE, lo < 0 ? lo : 0,
                  hi > 0 ? hi : 0);
}

/* ---- Bits ------------------------------------------------------------------------------------------ */

hd_poly an_pow2(an_algebra *a, hd_poly p, uint32_t inst) {
  int64_t c;
  if (p == HD_NONE) return HD_NONE;
  if (an_is_const(a, p, &c)) return an_const(a, hd_power_of_two(c));
  int64_t lo = a->polys.data[p].lo, hi = a->polys.data[p].hi;
  hd_level level = level_of(a, p);
  if (level > HD_LEVEL_LAUNCH) level = worse(level, HD_LEVEL_NONLINEAR);
  bool small = lo >= 0 && hi <= 62;
  return function(a, HD_V_POW2, p, 0, level, inst, small ? hd_power_of_two(lo) : INT64_MIN,
                  small ? hd_power_of_two(hi) : INT64_MAX);
}

hd_poly an_bits(an_algebra *a, hd_symbol_kind kind, hd_poly p, hd_poly q, uint32_t inst) {
  int64_t x, y;
  if (p == HD_NONE || q == HD_NONE) return HD_NONE;
  if (p > q) {
    hd_poly t = p;
    p = q;
    q = t;
  }
  if (an_is_const(a, p, &x) && an_is_const(a, q, &y)) return an_const(a, kind == HD_V_BITAND ? x & y : x ^ y);
  if (p == q) return kind == HD_V_BITAND ? p : 0;
  hd_level lp = level_of(a, p), lq = level_of(a, q);
  hd_level level = lp == HD_LEVEL_LAUNCH && lq == HD_LEVEL_LAUNCH ? HD_LEVEL_LAUNCH
                                                                  : worse(HD_LEVEL_NONLINEAR, worse(lp, lq));
  const hd_polynomial *u = &a->polys.data[p], *v = &a->polys.data[q];
  int64_t lo = INT64_MIN, hi = INT64_MAX;
  if (kind == HD_V_BITAND && (u->lo >= 0 || v->lo >= 0)) {
    lo = 0;
    if (u->lo >= 0) hi = u->hi;
    if (v->lo >= 0 && v->hi < hi) hi = v->hi;
  } else if (kind == HD_V_BITXOR && u->lo >= 0 && v->lo >= 0) {
    int64_t most = u->hi | v->hi;
    lo = 0;
    hi = most ? (int64_t)(UINT64_MAX >> __builtin_clzll((uint64_t)most)) : 0;
  }
  return function(a, kind, p, q, level, inst, lo, hi);
}
