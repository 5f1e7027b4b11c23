/* Polynomials over symbols: interned, so that equal ones have equal numbers.
 *
 * Coefficients are 64-bit two's complement: a polynomial is right modulo 2^64, and as an integer as long
 * as its range says so.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/algebra.h"

/* ---- Ranges ------------------------------------------------------------------------------- */

static const an_range anything = {INT64_MIN, INT64_MAX};

/* INT64_MIN and INT64_MAX stand for no bound, and stay so. False: a bound that leaves 64 bits, beyond which
 * numbers come round to the other end. */
static bool bound_mul(int64_t x, int64_t y, int64_t *out) {
  bool negative = (x < 0) != (y < 0);
  if (!x || !y)
    *out = 0;
  else if (x == INT64_MIN || x == INT64_MAX || y == INT64_MIN || y == INT64_MAX)
    *out = negative ? INT64_MIN : INT64_MAX;
  else
    return !__builtin_mul_overflow(x, y, out);
  return true;
}
an_range an_range_mul(an_range x, an_range y) {
  int64_t c[4];
  if (!bound_mul(x.lo, y.lo, &c[0]) || !bound_mul(x.lo, y.hi, &c[1]) || !bound_mul(x.hi, y.lo, &c[2]) ||
      !bound_mul(x.hi, y.hi, &c[3]))
    return anything;
  an_range r = {c[0], c[0]};
  for (int i = 1; i < 4; i++) {
    if (c[i] < r.lo) r.lo = c[i];
    if (c[i] > r.hi) r.hi = c[i];
  }
  return r;
}
an_range an_range_add(an_range x, an_range y) {
  an_range r = anything;
  if (x.lo != INT64_MIN && y.lo != INT64_MIN && __builtin_add_overflow(x.lo, y.lo, &r.lo)) return anything;
  if (x.hi != INT64_MAX && y.hi != INT64_MAX && __builtin_add_overflow(x.hi, y.hi, &r.hi)) return anything;
  return r;
}

/* ---- Symbols --------------------------------------------------------------------------------- */

static uint64_t symbol_key(const hd_value_symbol *s) {
  return an_mix(an_mix(an_mix(an_mix(7, s->kind), s->a), s->b), s->width * 2u + s->is_signed);
}
static uint64_t symbol_rehash(const void *of, uint32_t i) {
  const an_algebra *a = of;
  return symbol_key(&a->symbols.data[i]);
}
static bool symbol_equal(const void *of, uint32_t i, const void *key) {
  const an_algebra *a = of;
  const hd_value_symbol *s = &a->symbols.data[i], *k = key;
  return s->kind == k->kind && s->a == k->a && s->b == k->b && s->width == k->width &&
         s->is_signed == k->is_signed;
}

hd_symbol an_symbol(an_algebra *a, hd_value_symbol s) {
  uint64_t h = symbol_key(&s);
  uint32_t i = an_hash_find(&a->symbol_hash, h, symbol_equal, a, &s);
  if (i != HD_NONE) return i;
  i = (uint32_t)a->symbols.n;
  AN_PUSH(a->arena, &a->symbols, s);
  AN_PUSH(a->arena, &a->symbol_assumed, 0);
  an_hash_add(a->arena, &a->symbol_hash, h, i, symbol_rehash, a);
  return i;
}

hd_poly an_unknown(an_algebra *a, hd_symbol_kind kind, uint32_t x, uint32_t y, hd_level level,
                   an_blame blame) {
  /* The level is part of the symbol's identity, in `width`: a second evaluation may find a worse level. */
  hd_value_symbol s = {.kind = (uint8_t)kind,
                       .level = (uint8_t)level,
                       .width = (uint8_t)level,
                       .reason = (uint8_t)blame.reason,
                       .a = x,
                       .b = y,
                       .why = blame.inst,
                       .iterates = true,
                       .varies = 63,
                       .lo = INT64_MIN,
                       .hi = INT64_MAX};
  return an_sym(a, an_symbol(a, s));
}

hd_poly an_unknown_of_cta(an_algebra *a, hd_symbol_kind kind, uint32_t x, uint32_t y, an_blame blame) {
  hd_value_symbol s = {.kind = (uint8_t)kind,
                       .level = HD_LEVEL_NONLINEAR,
                       .width = HD_LEVEL_COUNT, /* no other unknown is the same symbol */
                       .reason = (uint8_t)blame.reason,
                       .a = x,
                       .b = y,
                       .why = blame.inst,
                       .varies = AN_OF_CTA,
                       .lo = INT64_MIN,
                       .hi = INT64_MAX};
  return an_sym(a, an_symbol(a, s));
}

/* ---- Products ----------------------------------------------------------------------------------- */

static uint64_t product_rehash(const void *of, uint32_t i) {
  const an_algebra *a = of;
  return an_list_hash(a->factors.data + a->products.data[i].first, a->products.data[i].n);
}
static bool product_equal(const void *of, uint32_t i, const void *key) {
  const an_algebra *a = of;
  const an_list *k = key;
  const hd_product *p = &a->products.data[i];
  return p->n == k->n && memcmp(a->factors.data + p->first, k->s, k->n * sizeof *k->s) == 0;
}

uint32_t an_product(an_algebra *a, const hd_symbol *s, uint32_t n) {
  uint64_t h = an_list_hash(s, n);
  an_list key = {s, n};
  uint32_t i = an_hash_find(&a->product_hash, h, product_equal, a, &key);
  if (i != HD_NONE) return i;
  i = (uint32_t)a->products.n;
  hd_product p = {(uint32_t)a->factors.n, n};
  for (uint32_t k = 0; k < n; k++) AN_PUSH(a->arena, &a->factors, s[k]);
  AN_PUSH(a->arena, &a->products, p);
  an_hash_add(a->arena, &a->product_hash, h, i, product_rehash, a);
  return i;
}

static bool is_condition(const an_algebra *a, hd_symbol s) {
  uint8_t k = a->symbols.data[s].kind;
  return k == HD_V_GE || k == HD_V_EQ || k == HD_V_BOTH;
}

/* HD_NONE: too many factors. A condition times itself is itself. */
static uint32_t multiply_products(an_algebra *a, uint32_t p, uint32_t q) {
  if (!p) return q;
  if (!q) return p;
  hd_symbol out[2 * AN_MAX_DEGREE];
  const hd_product x = a->products.data[p], y = a->products.data[q];
  uint32_t i = 0, j = 0, n = 0;
  if (x.n + y.n > 2 * AN_MAX_DEGREE) return HD_NONE;
  while (i < x.n || j < y.n) {
    hd_symbol u = i < x.n ? a->factors.data[x.first + i] : UINT32_MAX;
    hd_symbol v = j < y.n ? a->factors.data[y.first + j] : UINT32_MAX;
    if (u == v && is_condition(a, u)) {
      out[n++] = u;
      i++, j++;
    } else if (u <= v) {
      out[n++] = u;
      i++;
    } else {
      out[n++] = v;
      j++;
    }
  }
  return n > AN_MAX_DEGREE ? HD_NONE : an_product(a, out, n);
}

/* ---- Interning ----------------------------------------------------------------------------------- */

typedef struct term_list {
  const hd_term *t;
  uint32_t n;
} term_list;

static uint64_t terms_key(const hd_term *t, uint32_t n) {
  uint64_t h = 31 + n;
  for (uint32_t i = 0; i < n; i++) h = an_mix(an_mix(h, (uint64_t)t[i].coefficient), t[i].product);
  return h;
}
static uint64_t poly_rehash(const void *of, uint32_t i) {
  const an_algebra *a = of;
  return terms_key(a->terms.data + a->polys.data[i].first, a->polys.data[i].n);
}
static bool poly_equal(const void *of, uint32_t i, const void *key) {
  const an_algebra *a = of;
  const term_list *k = key;
  const hd_polynomial *p = &a->polys.data[i];
  if (p->n != k->n) return false;
  for (uint32_t t = 0; t < k->n; t++) {
    const hd_term *x = &a->terms.data[p->first + t];
    if (x->product != k->t[t].product || x->coefficient != k->t[t].coefficient) return false;
  }
  return true;
}

static an_range symbol_range(const an_algebra *a, hd_symbol s) {
  return (an_range){a->symbols.data[s].lo, a->symbols.data[s].hi};
}

/* Level, range and variables of a polynomial from its terms. */
static void describe(const an_algebra *a, hd_polynomial *p) {
  an_range sum = {0, 0};
  p->level = HD_LEVEL_LAUNCH;
  for (uint32_t i = 0; i < p->n; i++) {
    const hd_term *t = &a->terms.data[p->first + i];
    const hd_product *prod = &a->products.data[t->product];
    an_range r = {t->coefficient, t->coefficient};
    if (t->coefficient == INT64_MIN && (p->n > 1 || prod->n)) r = anything; /* -2^63 is 2^63, too */
    unsigned level = HD_LEVEL_LAUNCH, varying = 0;
    hd_symbol last = 0;
    for (uint32_t k = 0; k < prod->n; k++) {
      hd_symbol s = a->factors.data[prod->first + k];
      const hd_value_symbol *sym = &a->symbols.data[s];
      an_range f = symbol_range(a, s);
      if (s == last && f.lo < 0 && k % 2 == 1) { /* an even power */
        uint64_t most = hd_magnitude(f.lo);
        if (f.hi > 0 && (uint64_t)f.hi > most) most = (uint64_t)f.hi;
        f = most > INT64_MAX ? (an_range){INT64_MIN, INT64_MAX} : (an_range){-(int64_t)most, (int64_t)most};
      }
      last = s;
      r = an_range_mul(r, f);
      if (sym->level > level) level = sym->level;
      varying += sym->level >= HD_LEVEL_AFFINE;
      p->iterates |= sym->iterates;
      p->varies |= sym->varies;
    }
    if (varying > 1 && level < HD_LEVEL_NONLINEAR) level = HD_LEVEL_NONLINEAR;
    if (level > p->level) p->level = (uint8_t)level;
    sum = an_range_add(sum, r);
  }
  p->lo = sum.lo;
  p->hi = sum.hi;
}

/* The assumptions that the ranges of the polynomial's symbols rest on. */
static uint32_t assumed_of(an_algebra *a, const hd_polynomial *p) {
  uint32_t set = 0;
  for (uint32_t i = 0; i < p->n; i++) {
    const hd_product prod = a->products.data[a->terms.data[p->first + i].product];
    for (uint32_t k = 0; k < prod.n; k++) {
      uint32_t of = a->symbol_assumed.data[a->factors.data[prod.first + k]];
      if (of) set = an_union(a, set, of);
    }
  }
  return set;
}

/* Takes terms sorted by product, none of them zero. */
hd_poly an_intern(an_algebra *a, const hd_term *t, uint32_t n) {
  a->work += n + 1;
  uint64_t h = terms_key(t, n);
  term_list key = {t, n};
  uint32_t i = an_hash_find(&a->poly_hash, h, poly_equal, a, &key);
  if (i != HD_NONE) return i;
  i = (uint32_t)a->polys.n;
  hd_polynomial p = {.first = (uint32_t)a->terms.n, .n = n};
  for (uint32_t k = 0; k < n; k++) AN_PUSH(a->arena, &a->terms, t[k]);
  describe(a, &p);
  AN_PUSH(a->arena, &a->polys, p);
  AN_PUSH(a->arena, &a->range_assumed, assumed_of(a, &p));
  AN_PUSH(a->arena, &a->seen, 0);
  AN_PUSH(a->arena, &a->memo, 0);
  an_hash_add(a->arena, &a->poly_hash, h, i, poly_rehash, a);
  return i;
}

void an_poly_init(an_algebra *a, hd_arena *arena) {
  a->arena = arena;
  a->symbols.n = 0;
  AN_PUSH(a->arena, &a->symbols, ((hd_value_symbol){0}));
  AN_PUSH(a->arena, &a->symbol_assumed, 0);
  an_product(a, NULL, 0);
  an_intern(a, NULL, 0);
  AN_PUSH(a->arena, &a->sets, ((an_set){0}));
}

/* ---- Arithmetic -------------------------------------------------------------------------------------- */

hd_poly an_const(an_algebra *a, int64_t c) {
  hd_term t = {c, 0};
  return an_intern(a, &t, c != 0);
}

hd_poly an_sym(an_algebra *a, hd_symbol s) {
  hd_term t = {1, an_product(a, &s, 1)};
  return an_intern(a, &t, 1);
}

/* p + c * q; HD_NONE: too many terms, or too large coefficients. */
static hd_poly add_scaled(an_algebra *a, hd_poly p, hd_poly q, int64_t c) {
  if (p == HD_NONE || q == HD_NONE) return HD_NONE;
  if (!q || !c) return p;
  hd_term out[2 * AN_MAX_TERMS];
  uint32_t np = a->polys.data[p].n, nq = a->polys.data[q].n, i = 0, j = 0, n = 0;
  const hd_term *x = an_terms(a, p), *y = an_terms(a, q);
  while (i < np || j < nq) {
    uint32_t u = i < np ? x[i].product : UINT32_MAX, v = j < nq ? y[j].product : UINT32_MAX;
    hd_term t = {0, u < v ? u : v};
    if (u <= v) t.coefficient = x[i++].coefficient;
    int64_t x_c = t.coefficient;
    if (v <= u && (__builtin_mul_overflow(c, y[j++].coefficient, &t.coefficient) ||
                   __builtin_add_overflow(t.coefficient, x_c, &t.coefficient)))
      return HD_NONE;
    if (t.coefficient) out[n++] = t;
  }
  return n > AN_MAX_TERMS ? HD_NONE : an_intern(a, out, n);
}

hd_poly an_add(an_algebra *a, hd_poly p, hd_poly q) { return add_scaled(a, p, q, 1); }
hd_poly an_sub(an_algebra *a, hd_poly p, hd_poly q) { return add_scaled(a, p, q, -1); }
hd_poly an_scale(an_algebra *a, hd_poly p, int64_t c) { return add_scaled(a, 0, p, c); }
hd_poly an_add_const(an_algebra *a, hd_poly p, int64_t c) { return add_scaled(a, p, an_const(a, c), 1); }

static int by_product(const void *pa, const void *pb) {
  const hd_term *x = pa, *y = pb;
  return (x->product > y->product) - (x->product < y->product);
}

/* Sorts, adds up equal products, interns. */
hd_poly an_collect(an_algebra *a, hd_term *t, uint32_t n) {
  qsort(t, n, sizeof *t, by_product);
  uint32_t out = 0;
  for (uint32_t i = 0; i < n;) {
    hd_term sum = t[i++];
    for (; i < n && t[i].product == sum.product; i++)
      if (__builtin_add_overflow(sum.coefficient, t[i].coefficient, &sum.coefficient)) return HD_NONE;
    if (sum.coefficient) t[out++] = sum;
  }
  return out > AN_MAX_TERMS ? HD_NONE : an_intern(a, t, out);
}

hd_poly an_mul(an_algebra *a, hd_poly p, hd_poly q) {
  int64_t c;
  if (p == HD_NONE || q == HD_NONE) return HD_NONE;
  if (an_is_const(a, p, &c)) return an_scale(a, q, c);
  if (an_is_const(a, q, &c)) return an_scale(a, p, c);
  uint32_t np = a->polys.data[p].n, nq = a->polys.data[q].n;
  a->work += (uint64_t)np * nq;
  if ((uint64_t)np * nq > 4 * AN_MAX_TERMS) return HD_NONE;
  hd_term out[4 * AN_MAX_TERMS];
  uint32_t n = 0;
  for (uint32_t i = 0; i < np; i++)
    for (uint32_t j = 0; j < nq; j++) {
      hd_term x = an_terms(a, p)[i], y = an_terms(a, q)[j];
      uint32_t product = multiply_products(a, x.product, y.product);
      if (product == HD_NONE) return HD_NONE;
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &x.coefficient)) return HD_NONE;
      out[n++] = (hd_term){x.coefficient, product};
    }
  return an_collect(a, out, n);
}

hd_poly an_wrap(an_algebra *a, hd_poly p, unsigned width) {
  if (p == HD_NONE) return HD_NONE;
  if (width >= 64 || width == 1) return p; /* predicates are 0 or 1, not bits */
  hd_term out[AN_MAX_TERMS];
  uint32_t n = a->polys.data[p].n, kept = 0;
  bool changed = false;
  for (uint32_t i = 0; i < n; i++) {
    hd_term t = an_terms(a, p)[i];
    int64_t c = hd_sign_extend((uint64_t)t.coefficient, width);
    changed |= c != t.coefficient;
    t.coefficient = c;
    if (c) out[kept++] = t;
  }
  return changed ? an_intern(a, out, kept) : p;
}

bool an_is_const(const an_algebra *a, hd_poly p, int64_t *c) {
  const hd_polynomial *q = &a->polys.data[p];
  if (q->n > 1) return false;
  const hd_term *t = an_terms(a, p);
  if (q->n == 1 && t->product) return false;
  *c = q->n ? t->coefficient : 0;
  return true;
}

unsigned an_trailing_zeros(const an_algebra *a, hd_poly p) {
  const hd_polynomial *q = &a->polys.data[p];
  unsigned least = 63;
  for (uint32_t i = 0; i < q->n; i++) {
    unsigned z = (unsigned)__builtin_ctzll((uint64_t)an_terms(a, p)[i].coefficient);
    if (z < least) least = z;
  }
  return least;
}

int64_t an_content(const an_algebra *a, hd_poly p, int64_t *constant) {
  const hd_polynomial *q = &a->polys.data[p];
  uint64_t g = 0;
  *constant = 0;
  for (uint32_t i = 0; i < q->n; i++) {
    const hd_term *t = &an_terms(a, p)[i];
    if (!t->product) {
      *constant = t->coefficient;
      continue;
    }
    g = hd_gcd(g, hd_magnitude(t->coefficient));
  }
  return g > INT64_MAX ? 1 : (int64_t)g;
}

hd_poly an_divide_exact(an_algebra *a, hd_poly p, int64_t d) {
  hd_term out[AN_MAX_TERMS];
  uint32_t n = a->polys.data[p].n;
  for (uint32_t i = 0; i < n; i++) {
    out[i] = an_terms(a, p)[i];
    out[i].coefficient /= d;
  }
  return an_intern(a, out, n);
}

hd_poly an_without_constant(an_algebra *a, hd_poly p) {
  hd_term out[AN_MAX_TERMS];
  uint32_t n = a->polys.data[p].n, kept = 0;
  for (uint32_t i = 0; i < n; i++)
    if (an_terms(a, p)[i].product) out[kept++] = an_terms(a, p)[i];
  return an_intern(a, out, kept);
}

hd_poly an_multiples(an_algebra *a, hd_poly p, int64_t d, hd_poly *rest) {
  hd_term q[AN_MAX_TERMS], r[AN_MAX_TERMS];
  uint32_t n = a->polys.data[p].n, nq = 0, nr = 0;
  for (uint32_t i = 0; i < n; i++) {
    hd_term t = an_terms(a, p)[i];
    int64_t c = t.coefficient, whole = c / d, left = c % d;
    if (!t.product && left < 0) { /* coefficients are cut towards 0: small ones stay as they are */
      whole--;
      left += d;
    }
    if (whole) q[nq++] = (hd_term){whole, t.product};
    if (left) r[nr++] = (hd_term){left, t.product};
  }
  hd_poly whole = an_intern(a, q, nq);
  *rest = an_intern(a, r, nr);
  return whole;
}
