/* Polynomials over symbols: interned, so that equal ones have equal numbers.
 *
 * Coefficients are 64-bit two's complement: a polynomial is right modulo 2^64, and as an integer as long
 * as its range says so.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/internal.h"

enum { MAX_TERMS = 96, MAX_DEGREE = 8, MAX_NESTING = 24 };

void an_nomem(an *a) { longjmp(a->out_of_memory, 1); }

/* ---- Hash tables ------------------------------------------------------------------- */

uint32_t an_hash_find(const an *a, const an_hash *h, uint64_t hash, an_equal equal, const void *key) {
  if (!h->cap) return HD_NONE;
  for (uint32_t i = (uint32_t)hash & (h->cap - 1); h->slots[i]; i = (i + 1) & (h->cap - 1))
    if (equal(a, h->slots[i] - 1, key)) return h->slots[i] - 1;
  return HD_NONE;
}

void an_hash_add(an *a, an_hash *h, uint64_t hash, uint32_t value, an_rehash rehash) {
  if (2 * (h->n + 1) > h->cap) {
    uint32_t cap = h->cap ? 2 * h->cap : 64;
    uint32_t *slots = HD_NEW_N(&a->arena, cap, uint32_t);
    for (uint32_t k = 0; k < h->cap; k++) {
      if (!h->slots[k]) continue;
      uint32_t i = (uint32_t)rehash(a, h->slots[k] - 1) & (cap - 1);
      while (slots[i]) i = (i + 1) & (cap - 1);
      slots[i] = h->slots[k];
    }
    h->slots = slots;
    h->cap = cap;
  }
  uint32_t i = (uint32_t)hash & (h->cap - 1);
  while (h->slots[i]) i = (i + 1) & (h->cap - 1);
  h->slots[i] = value + 1;
  h->n++;
}

/* ---- Ranges ------------------------------------------------------------------------------- */

static int64_t clamp(__int128 v) {
  return v <= INT64_MIN ? INT64_MIN : v >= INT64_MAX ? INT64_MAX : (int64_t)v;
}
/* INT64_MIN and INT64_MAX stand for no bound, and stay so. */
static int64_t bound_mul(int64_t x, int64_t y) {
  if (!x || !y) return 0;
  bool negative = (x < 0) != (y < 0);
  if (x == INT64_MIN || x == INT64_MAX || y == INT64_MIN || y == INT64_MAX)
    return negative ? INT64_MIN : INT64_MAX;
  return clamp((__int128)x * y);
}
an_range an_range_mul(an_range x, an_range y) {
  int64_t c[4] = {bound_mul(x.lo, y.lo), bound_mul(x.lo, y.hi), bound_mul(x.hi, y.lo), bound_mul(x.hi, y.hi)};
  an_range r = {c[0], c[0]};
  for (int i = 1; i < 4; i++) {
    if (c[i] < r.lo) r.lo = c[i];
    if (c[i] > r.hi) r.hi = c[i];
  }
  return r;
}
an_range an_range_add(an_range x, an_range y) {
  an_range r = {INT64_MIN, INT64_MAX};
  if (x.lo != INT64_MIN && y.lo != INT64_MIN) r.lo = clamp((__int128)x.lo + y.lo);
  if (x.hi != INT64_MAX && y.hi != INT64_MAX) r.hi = clamp((__int128)x.hi + y.hi);
  return r;
}

/* ---- Symbols --------------------------------------------------------------------------------- */

static uint64_t symbol_key(const hd_value_symbol *s) {
  return an_mix(an_mix(an_mix(an_mix(7, s->kind), s->a), s->b), s->width * 2u + s->is_signed);
}
static uint64_t symbol_rehash(const an *a, uint32_t i) { return symbol_key(&a->symbols.data[i]); }
static bool symbol_equal(const an *a, uint32_t i, const void *key) {
  const hd_value_symbol *s = &a->symbols.data[i], *k = key;
  return s->kind == k->kind && s->a == k->a && s->b == k->b && s->width == k->width &&
         s->is_signed == k->is_signed;
}

hd_symbol an_symbol(an *a, hd_value_symbol s) {
  uint64_t h = symbol_key(&s);
  uint32_t i = an_hash_find(a, &a->symbol_hash, h, symbol_equal, &s);
  if (i != HD_NONE) return i;
  i = (uint32_t)a->symbols.n;
  AN_PUSH(a, &a->symbols, s);
  AN_PUSH(a, &a->symbol_assumed, 0);
  an_hash_add(a, &a->symbol_hash, h, i, symbol_rehash);
  return i;
}

hd_poly an_unknown(an *a, hd_symbol_kind kind, uint32_t x, uint32_t y, hd_level level, an_blame blame) {
  /* The level is part of its identity, in `width`: a second look at a value may find a worse one. */
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

/* ---- Products ----------------------------------------------------------------------------------- */

typedef struct factor_list {
  const hd_symbol *s;
  uint32_t n;
} factor_list;

static uint64_t factors_key(const hd_symbol *s, uint32_t n) {
  uint64_t h = n;
  for (uint32_t i = 0; i < n; i++) h = an_mix(h, s[i]);
  return h;
}
static uint64_t product_rehash(const an *a, uint32_t i) {
  return factors_key(a->factors.data + a->products.data[i].first, a->products.data[i].n);
}
static bool product_equal(const an *a, uint32_t i, const void *key) {
  const factor_list *k = key;
  const hd_product *p = &a->products.data[i];
  return p->n == k->n && memcmp(a->factors.data + p->first, k->s, k->n * sizeof *k->s) == 0;
}

static uint32_t product_of(an *a, const hd_symbol *s, uint32_t n) {
  uint64_t h = factors_key(s, n);
  factor_list key = {s, n};
  uint32_t i = an_hash_find(a, &a->product_hash, h, product_equal, &key);
  if (i != HD_NONE) return i;
  i = (uint32_t)a->products.n;
  hd_product p = {(uint32_t)a->factors.n, n};
  for (uint32_t k = 0; k < n; k++) AN_PUSH(a, &a->factors, s[k]);
  AN_PUSH(a, &a->products, p);
  an_hash_add(a, &a->product_hash, h, i, product_rehash);
  return i;
}

static bool is_condition(const an *a, hd_symbol s) {
  uint8_t k = a->symbols.data[s].kind;
  return k == HD_V_GE || k == HD_V_EQ || k == HD_V_BOTH;
}

/* HD_NONE: too many factors. A condition times itself is itself. */
static uint32_t multiply_products(an *a, uint32_t p, uint32_t q) {
  if (!p) return q;
  if (!q) return p;
  hd_symbol out[2 * MAX_DEGREE];
  const hd_product x = a->products.data[p], y = a->products.data[q];
  uint32_t i = 0, j = 0, n = 0;
  if (x.n + y.n > 2 * MAX_DEGREE) return HD_NONE;
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
  return n > MAX_DEGREE ? HD_NONE : product_of(a, out, n);
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
static uint64_t poly_rehash(const an *a, uint32_t i) {
  return terms_key(a->terms.data + a->polys.data[i].first, a->polys.data[i].n);
}
static bool poly_equal(const an *a, uint32_t i, const void *key) {
  const term_list *k = key;
  const hd_polynomial *p = &a->polys.data[i];
  if (p->n != k->n) return false;
  for (uint32_t t = 0; t < k->n; t++) {
    const hd_term *x = &a->terms.data[p->first + t];
    if (x->product != k->t[t].product || x->coefficient != k->t[t].coefficient) return false;
  }
  return true;
}

static an_range symbol_range(const an *a, hd_symbol s) {
  return (an_range){a->symbols.data[s].lo, a->symbols.data[s].hi};
}

/* Level, range and variables of a polynomial from its terms. */
static void describe(const an *a, hd_polynomial *p) {
  an_range sum = {0, 0};
  p->level = HD_LEVEL_LAUNCH;
  for (uint32_t i = 0; i < p->n; i++) {
    const hd_term *t = &a->terms.data[p->first + i];
    const hd_product *prod = &a->products.data[t->product];
    an_range r = {t->coefficient, t->coefficient};
    unsigned level = HD_LEVEL_LAUNCH, varying = 0;
    hd_symbol last = 0;
    for (uint32_t k = 0; k < prod->n; k++) {
      hd_symbol s = a->factors.data[prod->first + k];
      const hd_value_symbol *sym = &a->symbols.data[s];
      an_range f = symbol_range(a, s);
      if (s == last && f.lo < 0 && k % 2 == 1) { /* an even power */
        int64_t most = -f.lo > f.hi ? -f.lo : f.hi;
        f = (an_range){f.lo == INT64_MIN ? INT64_MIN : -most, f.lo == INT64_MIN ? INT64_MAX : most};
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

/* What the ranges of the symbols in it rest on. */
static uint32_t assumed_of(an *a, const hd_polynomial *p) {
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
static hd_poly intern(an *a, const hd_term *t, uint32_t n) {
  a->pub.work += n + 1;
  uint64_t h = terms_key(t, n);
  term_list key = {t, n};
  uint32_t i = an_hash_find(a, &a->poly_hash, h, poly_equal, &key);
  if (i != HD_NONE) return i;
  i = (uint32_t)a->polys.n;
  hd_polynomial p = {.first = (uint32_t)a->terms.n, .n = n};
  for (uint32_t k = 0; k < n; k++) AN_PUSH(a, &a->terms, t[k]);
  describe(a, &p);
  AN_PUSH(a, &a->polys, p);
  AN_PUSH(a, &a->range_assumed, assumed_of(a, &p));
  AN_PUSH(a, &a->seen, 0);
  AN_PUSH(a, &a->memo, 0);
  an_hash_add(a, &a->poly_hash, h, i, poly_rehash);
  return i;
}

void an_poly_init(an *a) {
  a->symbols.n = 0;
  AN_PUSH(a, &a->symbols, ((hd_value_symbol){0}));
  AN_PUSH(a, &a->symbol_assumed, 0);
  product_of(a, NULL, 0);
  intern(a, NULL, 0);
  AN_PUSH(a, &a->sets, ((an_set){0}));
}

/* ---- Arithmetic -------------------------------------------------------------------------------------- */

hd_poly an_const(an *a, int64_t c) {
  hd_term t = {c, 0};
  return intern(a, &t, c != 0);
}

hd_poly an_sym(an *a, hd_symbol s) {
  hd_term t = {1, product_of(a, &s, 1)};
  return intern(a, &t, 1);
}

static const hd_term *terms_of(const an *a, hd_poly p) { return a->terms.data + a->polys.data[p].first; }

/* p + c * q; HD_NONE: too many terms, or too large coefficients. */
static hd_poly add_scaled(an *a, hd_poly p, hd_poly q, int64_t c) {
  if (p == HD_NONE || q == HD_NONE) return HD_NONE;
  if (!q || !c) return p;
  hd_term out[2 * MAX_TERMS];
  uint32_t np = a->polys.data[p].n, nq = a->polys.data[q].n, i = 0, j = 0, n = 0;
  const hd_term *x = terms_of(a, p), *y = terms_of(a, q);
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
  return n > MAX_TERMS ? HD_NONE : intern(a, out, n);
}

hd_poly an_add(an *a, hd_poly p, hd_poly q) { return add_scaled(a, p, q, 1); }
hd_poly an_sub(an *a, hd_poly p, hd_poly q) { return add_scaled(a, p, q, -1); }
hd_poly an_scale(an *a, hd_poly p, int64_t c) { return add_scaled(a, 0, p, c); }
hd_poly an_add_const(an *a, hd_poly p, int64_t c) { return add_scaled(a, p, an_const(a, c), 1); }

static int by_product(const void *pa, const void *pb) {
  const hd_term *x = pa, *y = pb;
  return (x->product > y->product) - (x->product < y->product);
}

/* Sorts, adds up equal products, interns. */
static hd_poly collect(an *a, hd_term *t, uint32_t n) {
  qsort(t, n, sizeof *t, by_product);
  uint32_t out = 0;
  for (uint32_t i = 0; i < n;) {
    hd_term sum = t[i++];
    for (; i < n && t[i].product == sum.product; i++)
      if (__builtin_add_overflow(sum.coefficient, t[i].coefficient, &sum.coefficient)) return HD_NONE;
    if (sum.coefficient) t[out++] = sum;
  }
  return out > MAX_TERMS ? HD_NONE : intern(a, t, out);
}

hd_poly an_mul(an *a, hd_poly p, hd_poly q) {
  int64_t c;
  if (p == HD_NONE || q == HD_NONE) return HD_NONE;
  if (an_is_const(a, p, &c)) return an_scale(a, q, c);
  if (an_is_const(a, q, &c)) return an_scale(a, p, c);
  uint32_t np = a->polys.data[p].n, nq = a->polys.data[q].n;
  a->pub.work += (uint64_t)np * nq;
  if ((uint64_t)np * nq > 4 * MAX_TERMS) return HD_NONE;
  hd_term out[4 * MAX_TERMS];
  uint32_t n = 0;
  for (uint32_t i = 0; i < np; i++)
    for (uint32_t j = 0; j < nq; j++) {
      hd_term x = terms_of(a, p)[i], y = terms_of(a, q)[j];
      uint32_t product = multiply_products(a, x.product, y.product);
      if (product == HD_NONE) return HD_NONE;
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &x.coefficient)) return HD_NONE;
      out[n++] = (hd_term){x.coefficient, product};
    }
  return collect(a, out, n);
}

hd_poly an_wrap(an *a, hd_poly p, unsigned width) {
  if (p == HD_NONE) return HD_NONE;
  if (width >= 64 || width == 1) return p; /* predicates are 0 or 1, not bits */
  hd_term out[MAX_TERMS];
  uint32_t n = a->polys.data[p].n, kept = 0;
  bool changed = false;
  unsigned shift = 64 - width;
  for (uint32_t i = 0; i < n; i++) {
    hd_term t = terms_of(a, p)[i];
    int64_t c = (int64_t)((uint64_t)t.coefficient << shift) >> shift;
    changed |= c != t.coefficient;
    t.coefficient = c;
    if (c) out[kept++] = t;
  }
  return changed ? intern(a, out, kept) : p;
}

bool an_is_const(const an *a, hd_poly p, int64_t *c) {
  const hd_polynomial *q = &a->polys.data[p];
  if (q->n > 1) return false;
  const hd_term *t = terms_of(a, p);
  if (q->n == 1 && t->product) return false;
  *c = q->n ? t->coefficient : 0;
  return true;
}

unsigned an_trailing_zeros(const an *a, hd_poly p) {
  const hd_polynomial *q = &a->polys.data[p];
  unsigned least = 63;
  for (uint32_t i = 0; i < q->n; i++) {
    unsigned z = (unsigned)__builtin_ctzll((uint64_t)terms_of(a, p)[i].coefficient);
    if (z < least) least = z;
  }
  return least;
}

int64_t an_content(const an *a, hd_poly p, int64_t *constant) {
  const hd_polynomial *q = &a->polys.data[p];
  uint64_t g = 0;
  *constant = 0;
  for (uint32_t i = 0; i < q->n; i++) {
    const hd_term *t = &terms_of(a, p)[i];
    if (!t->product) {
      *constant = t->coefficient;
      continue;
    }
    uint64_t x = t->coefficient < 0 ? 0 - (uint64_t)t->coefficient : (uint64_t)t->coefficient;
    while (x) {
      uint64_t r = g % x;
      g = x;
      x = r;
    }
  }
  return g > INT64_MAX ? 1 : (int64_t)g;
}

hd_poly an_divide_exact(an *a, hd_poly p, int64_t d) {
  hd_term out[MAX_TERMS];
  uint32_t n = a->polys.data[p].n;
  for (uint32_t i = 0; i < n; i++) {
    out[i] = terms_of(a, p)[i];
    out[i].coefficient /= d;
  }
  return intern(a, out, n);
}

hd_poly an_multiples(an *a, hd_poly p, int64_t d, hd_poly *rest) {
  hd_term q[MAX_TERMS], r[MAX_TERMS];
  uint32_t n = a->polys.data[p].n, nq = 0, nr = 0;
  for (uint32_t i = 0; i < n; i++) {
    hd_term t = terms_of(a, p)[i];
    int64_t c = t.coefficient, whole = c / d, left = c % d;
    if (!t.product && left < 0) { /* coefficients are cut towards 0: what was small stays as it is */
      whole--;
      left += d;
    }
    if (whole) q[nq++] = (hd_term){whole, t.product};
    if (left) r[nr++] = (hd_term){left, t.product};
  }
  hd_poly whole = intern(a, q, nq);
  *rest = intern(a, r, nr);
  return whole;
}

/* ---- Symbols inside polynomials --------------------------------------------------------------------------
 */

bool an_is_function(uint8_t kind) { return kind >= HD_V_FLOOR && kind <= HD_V_BITXOR; }
static bool has_two_arguments(uint8_t kind) {
  return kind == HD_V_FLOOR || kind == HD_V_BOTH || kind == HD_V_IF || kind == HD_V_BITAND ||
         kind == HD_V_BITXOR;
}

typedef bool (*symbol_test)(const an *a, hd_symbol s, uint32_t what);

static bool any_symbol(an *a, hd_poly p, symbol_test test, uint32_t what, unsigned depth) {
  const hd_polynomial *q = &a->polys.data[p];
  if (depth > MAX_NESTING) return true;
  if (a->seen.data[p] == a->seen_stamp) return false;
  a->seen.data[p] = a->seen_stamp;
  for (uint32_t i = 0; i < q->n; i++) {
    const hd_product *prod = &a->products.data[terms_of(a, p)[i].product];
    for (uint32_t k = 0; k < prod->n; k++) {
      hd_symbol s = a->factors.data[prod->first + k];
      const hd_value_symbol *sym = &a->symbols.data[s];
      a->pub.work++;
      if (test(a, s, what)) return true;
      if (!an_is_function(sym->kind) || !(sym->iterates || sym->varies)) continue;
      if (any_symbol(a, sym->a, test, what, depth + 1)) return true;
      if (has_two_arguments(sym->kind) && any_symbol(a, sym->b, test, what, depth + 1)) return true;
    }
  }
  return false;
}

/* Does the test hold for a symbol of p, or of a function's argument in it? Each polynomial is looked at
 * once. */
static bool mentions(an *a, hd_poly p, symbol_test test, uint32_t what) {
  a->seen_stamp++;
  return any_symbol(a, p, test, what, 0);
}

static bool is_symbol(const an *a, hd_symbol s, uint32_t what) { return s == what; }
/* Unknown values that come up inside a loop may differ from one iteration to the next. */
static bool is_of_loop(const an *a, hd_symbol s, uint32_t loop) {
  const hd_value_symbol *sym = &a->symbols.data[s];
  const hd_cfg *g = &a->pub.cfg;
  switch (sym->kind) {
  case HD_V_COUNTER: return hd_loop_contains(g, loop, sym->a);
  case HD_V_EXIT: return hd_loop_contains(g, loop, g->loops[sym->a].parent);
  case HD_V_LOAD:
  case HD_V_CALL:
  case HD_V_OPAQUE:
    return sym->a == HD_NONE || hd_loop_contains(g, loop, g->blocks[a->pub.cfg.insts[sym->a].block].loop);
  case HD_V_PHI: return hd_loop_contains(g, loop, g->blocks[an_value_block(a, sym->a)].loop);
  case HD_V_MERGE:
  case HD_V_RECUR: return hd_loop_contains(g, loop, g->blocks[sym->a].loop);
  default: return false;
  }
}

bool an_mentions(an *a, hd_poly p, hd_symbol s) {
  return a->polys.data[p].iterates && mentions(a, p, is_symbol, s);
}
bool an_mentions_loop(an *a, hd_poly p, uint32_t loop) {
  return a->polys.data[p].iterates && mentions(a, p, is_of_loop, loop);
}

bool an_linear_in(an *a, hd_poly p, hd_symbol s, hd_poly *step, hd_poly *rest) {
  hd_term with[MAX_TERMS], without[MAX_TERMS];
  uint32_t n = a->polys.data[p].n, nw = 0, no = 0;
  for (uint32_t i = 0; i < n; i++) {
    hd_term t = terms_of(a, p)[i];
    const hd_product prod = a->products.data[t.product];
    hd_symbol others[MAX_DEGREE];
    uint32_t times = 0, kept = 0;
    for (uint32_t k = 0; k < prod.n; k++) {
      hd_symbol f = a->factors.data[prod.first + k];
      const hd_value_symbol *sym = &a->symbols.data[f];
      if (f == s)
        times++;
      else
        others[kept++] = f;
      if (f == s || !an_is_function(sym->kind)) continue;
      if (mentions(a, sym->a, is_symbol, s)) return false;
      if (has_two_arguments(sym->kind) && mentions(a, sym->b, is_symbol, s)) return false;
    }
    if (times > 1) return false;
    if (times)
      with[nw++] = (hd_term){t.coefficient, product_of(a, others, kept)};
    else
      without[no++] = t;
  }
  *step = collect(a, with, nw);
  *rest = intern(a, without, no);
  return *step != HD_NONE;
}

void an_note_range(an *a, hd_poly p, int64_t lo, int64_t hi, uint32_t assumed) {
  if (p == HD_NONE) return;
  hd_polynomial *q = &a->polys.data[p];
  if (lo <= q->lo && hi >= q->hi) return;
  if (lo > q->lo) q->lo = lo;
  if (hi < q->hi) q->hi = hi;
  if (assumed) a->range_assumed.data[p] = an_union(a, a->range_assumed.data[p], assumed);
}

void an_note_counter(an *a, hd_symbol k, int64_t hi, uint32_t assumed) {
  hd_value_symbol *s = &a->symbols.data[k];
  if (hi >= s->hi) return;
  s->hi = hi;
  a->symbol_assumed.data[k] = an_union(a, a->symbol_assumed.data[k], assumed);
  an_note_range(a, an_sym(a, k), 0, hi, assumed);
}

an_blame an_culprit(const an *a, hd_poly p) {
  for (unsigned depth = 0; depth <= MAX_NESTING; depth++) {
    const hd_polynomial *q = &a->polys.data[p];
    hd_symbol worst = 0;
    if (q->level < HD_LEVEL_NONLINEAR) break;
    for (uint32_t i = 0; i < q->n && !worst; i++) {
      const hd_product *prod = &a->products.data[terms_of(a, p)[i].product];
      for (uint32_t k = 0; k < prod->n && !worst; k++)
        if (a->symbols.data[a->factors.data[prod->first + k]].level == q->level)
          worst = a->factors.data[prod->first + k];
    }
    if (!worst) return (an_blame){HD_WHY_PRODUCT, HD_NONE};
    const hd_value_symbol *s = &a->symbols.data[worst];
    if (!an_is_function(s->kind)) return (an_blame){(hd_why)s->reason, s->why};
    if (a->polys.data[s->a].level == s->level)
      p = s->a;
    else if (has_two_arguments(s->kind) && a->polys.data[s->b].level == s->level)
      p = s->b;
    else
      return (an_blame){s->kind == HD_V_FLOOR ? HD_WHY_DIVISION : HD_WHY_BITS, s->why};
  }
  return (an_blame){HD_WHY_NONE, HD_NONE};
}

/* ---- Substitution
 * ------------------------------------------------------------------------------------------- */

typedef struct substitution {
  an *a;
  hd_symbol s;
  hd_poly q;
  unsigned depth;
  uint32_t stamp, n_known; /* results are kept for the polynomials there were at first */
} substitution;

static hd_poly substitute(substitution *u, hd_poly p);

static hd_poly substitute_symbol(substitution *u, hd_symbol f) {
  an *a = u->a;
  if (f == u->s) return u->q;
  const hd_value_symbol sym = a->symbols.data[f];
  if (!an_is_function(sym.kind) || !(sym.iterates || sym.varies)) return an_sym(a, f);
  hd_poly x = substitute(u, sym.a), y = has_two_arguments(sym.kind) ? substitute(u, sym.b) : 0;
  if (x == HD_NONE || y == HD_NONE) return HD_NONE;
  if (x == sym.a && (y == sym.b || !has_two_arguments(sym.kind))) return an_sym(a, f);
  switch (sym.kind) {
  case HD_V_FLOOR: return an_floor(a, x, y, sym.why);
  case HD_V_POS: return an_max0(a, x);
  case HD_V_GE: return an_ge0(a, x);
  case HD_V_EQ: return an_eq0(a, x);
  case HD_V_BOTH: return an_both(a, x, y);
  case HD_V_IF: return an_if(a, x, y);
  case HD_V_POW2: return an_pow2(a, x, sym.why);
  default: return an_bits(a, (hd_symbol_kind)sym.kind, x, y, sym.why);
  }
}

static hd_poly substitute(substitution *u, hd_poly p) {
  an *a = u->a;
  if (!a->polys.data[p].iterates && !a->polys.data[p].varies) return p;
  if (u->depth > MAX_NESTING) return HD_NONE;
  if (p < u->n_known && a->seen.data[p] == u->stamp) return a->memo.data[p];
  u->depth++;
  hd_poly sum = 0;
  for (uint32_t i = 0; i < a->polys.data[p].n && sum != HD_NONE; i++) {
    hd_term t = terms_of(a, p)[i];
    hd_poly product = an_const(a, t.coefficient);
    const hd_product prod = a->products.data[t.product];
    for (uint32_t k = 0; k < prod.n && product != HD_NONE; k++) {
      hd_poly f = substitute_symbol(u, a->factors.data[prod.first + k]);
      product = f == HD_NONE ? HD_NONE : an_mul(a, product, f);
    }
    sum = product == HD_NONE ? HD_NONE : an_add(a, sum, product);
  }
  u->depth--;
  if (p < u->n_known) {
    a->seen.data[p] = u->stamp;
    a->memo.data[p] = sum;
  }
  return sum;
}

hd_poly an_subst(an *a, hd_poly p, hd_symbol s, hd_poly q) {
  substitution u = {a, s, q, 0, ++a->seen_stamp, (uint32_t)a->polys.n};
  return substitute(&u, p);
}

/* ---- Assumptions
 * ---------------------------------------------------------------------------------------------- */

static uint64_t assumption_key(const hd_assumption *s) {
  return an_mix(an_mix(an_mix(3, s->poly), (uint64_t)s->lo), (uint64_t)s->hi);
}
static uint64_t assumption_rehash(const an *a, uint32_t i) { return assumption_key(&a->assumptions.data[i]); }
static bool assumption_equal(const an *a, uint32_t i, const void *key) {
  const hd_assumption *s = &a->assumptions.data[i], *k = key;
  return s->poly == k->poly && s->lo == k->lo && s->hi == k->hi;
}

static uint64_t set_rehash(const an *a, uint32_t i) {
  return factors_key(a->set_items.data + a->sets.data[i].first, a->sets.data[i].n);
}
static bool set_equal(const an *a, uint32_t i, const void *key) {
  const factor_list *k = key;
  const an_set *s = &a->sets.data[i];
  return s->n == k->n && memcmp(a->set_items.data + s->first, k->s, k->n * sizeof *k->s) == 0;
}

static uint32_t intern_set(an *a, const uint32_t *items, uint32_t n) {
  if (!n) return 0;
  uint64_t h = factors_key(items, n);
  factor_list key = {items, n};
  uint32_t i = an_hash_find(a, &a->set_hash, h, set_equal, &key);
  if (i != HD_NONE) return i;
  i = (uint32_t)a->sets.n;
  an_set s = {(uint32_t)a->set_items.n, n};
  for (uint32_t k = 0; k < n; k++) AN_PUSH(a, &a->set_items, items[k]);
  AN_PUSH(a, &a->sets, s);
  an_hash_add(a, &a->set_hash, h, i, set_rehash);
  return i;
}

uint32_t an_union(an *a, uint32_t s, uint32_t t) {
  if (s == t || !t) return s;
  if (!s) return t;
  uint32_t ns = a->sets.data[s].n, nt = a->sets.data[t].n, i = 0, j = 0, n = 0;
  a->pub.work += ns + nt;
  if (!hd_vec_reserve(&a->set_scratch, (size_t)ns + nt)) an_nomem(a);
  uint32_t *out = a->set_scratch.data;
  const uint32_t *x = a->set_items.data + a->sets.data[s].first,
                 *y = a->set_items.data + a->sets.data[t].first;
  while (i < ns || j < nt) {
    uint32_t u = i < ns ? x[i] : UINT32_MAX, v = j < nt ? y[j] : UINT32_MAX;
    out[n++] = u < v ? u : v;
    i += u <= v;
    j += v <= u;
  }
  return intern_set(a, out, n);
}

uint32_t an_assume(an *a, uint32_t set, hd_poly p, int64_t lo, int64_t hi, uint32_t inst) {
  hd_assumption s = {p, lo, hi, inst};
  uint64_t h = assumption_key(&s);
  uint32_t i = an_hash_find(a, &a->assumption_hash, h, assumption_equal, &s);
  if (i == HD_NONE) {
    i = (uint32_t)a->assumptions.n;
    AN_PUSH(a, &a->assumptions, s);
    an_hash_add(a, &a->assumption_hash, h, i, assumption_rehash);
  }
  return an_union(a, set, intern_set(a, &i, 1));
}
