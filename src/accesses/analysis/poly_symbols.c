/* Symbols inside polynomials, functions' arguments included: whether and how one occurs, and its
 * substitution. */
#include "analysis/algebra.h"

bool an_is_function(uint8_t kind) { return kind >= HD_V_FLOOR && kind <= HD_V_BITXOR; }
bool an_has_two_arguments(uint8_t kind) {
  return kind == HD_V_FLOOR || kind == HD_V_BOTH || kind == HD_V_IF || kind == HD_V_BITAND ||
         kind == HD_V_BITXOR;
}

static bool any_symbol(an_algebra *a, hd_poly p, an_symbol_test test, const void *what, unsigned depth) {
  const hd_polynomial *q = &a->polys.data[p];
  if (depth > AN_MAX_NESTING) return true;
  if (a->seen.data[p] == a->seen_stamp) return false;
  a->seen.data[p] = a->seen_stamp;
  for (uint32_t i = 0; i < q->n; i++) {
    const hd_product *prod = &a->products.data[an_terms(a, p)[i].product];
    for (uint32_t k = 0; k < prod->n; k++) {
      hd_symbol s = a->factors.data[prod->first + k];
      const hd_value_symbol *sym = &a->symbols.data[s];
      a->work++;
      if (test(what, s, sym)) return true;
      if (!an_is_function(sym->kind) || !(sym->iterates || sym->varies)) continue;
      if (any_symbol(a, sym->a, test, what, depth + 1)) return true;
      if (an_has_two_arguments(sym->kind) && any_symbol(a, sym->b, test, what, depth + 1)) return true;
    }
  }
  return false;
}

/* Each polynomial is looked at once. */
static bool search(an_algebra *a, hd_poly p, an_symbol_test test, const void *what) {
  a->seen_stamp++;
  return any_symbol(a, p, test, what, 0);
}

bool an_any_symbol(an_algebra *a, hd_poly p, an_symbol_test test, const void *what) {
  return a->polys.data[p].iterates && search(a, p, test, what);
}

bool an_any_varying(an_algebra *a, hd_poly p, an_symbol_test test, const void *what) {
  return search(a, p, test, what);
}

static bool is_symbol(const void *what, hd_symbol s, const hd_value_symbol *symbol) {
  (void)symbol;
  return s == *(const hd_symbol *)what;
}

bool an_mentions(an_algebra *a, hd_poly p, hd_symbol s) { return an_any_symbol(a, p, is_symbol, &s); }

bool an_linear_in(an_algebra *a, hd_poly p, hd_symbol s, hd_poly *step, hd_poly *rest) {
  hd_term with[AN_MAX_TERMS], without[AN_MAX_TERMS];
  uint32_t n = a->polys.data[p].n, nw = 0, no = 0;
  for (uint32_t i = 0; i < n; i++) {
    hd_term t = an_terms(a, p)[i];
    const hd_product prod = a->products.data[t.product];
    hd_symbol others[AN_MAX_DEGREE];
    uint32_t times = 0, kept = 0;
    for (uint32_t k = 0; k < prod.n; k++) {
      hd_symbol f = a->factors.data[prod.first + k];
      const hd_value_symbol *sym = &a->symbols.data[f];
      if (f == s)
        times++;
      else
        others[kept++] = f;
      if (f == s || !an_is_function(sym->kind)) continue;
      if (search(a, sym->a, is_symbol, &s)) return false;
      if (an_has_two_arguments(sym->kind) && search(a, sym->b, is_symbol, &s)) return false;
    }
    if (times > 1) return false;
    if (times)
      with[nw++] = (hd_term){t.coefficient, an_product(a, others, kept)};
    else
      without[no++] = t;
  }
  *step = an_collect(a, with, nw);
  *rest = an_intern(a, without, no);
  return *step != HD_NONE;
}

void an_note_counter(an_algebra *a, hd_symbol k, int64_t hi, uint32_t assumed) {
  hd_value_symbol *s = &a->symbols.data[k];
  if (hi >= s->hi) return;
  s->hi = hi;
  a->symbol_assumed.data[k] = an_union(a, a->symbol_assumed.data[k], assumed);
  an_note_range(a, an_sym(a, k), 0, hi, assumed);
}

an_blame an_culprit(const an_algebra *a, hd_poly p) {
  for (unsigned depth = 0; depth <= AN_MAX_NESTING; depth++) {
    const hd_polynomial *q = &a->polys.data[p];
    hd_symbol worst = 0;
    if (q->level < HD_LEVEL_NONLINEAR) break;
    for (uint32_t i = 0; i < q->n && !worst; i++) {
      const hd_product *prod = &a->products.data[an_terms(a, p)[i].product];
      for (uint32_t k = 0; k < prod->n && !worst; k++)
        if (a->symbols.data[a->factors.data[prod->first + k]].level == q->level)
          worst = a->factors.data[prod->first + k];
    }
    if (!worst) return (an_blame){HD_WHY_PRODUCT, HD_NONE};
    const hd_value_symbol *s = &a->symbols.data[worst];
    if (!an_is_function(s->kind)) return (an_blame){(hd_why)s->reason, s->why};
    if (a->polys.data[s->a].level == s->level)
      p = s->a;
    else if (an_has_two_arguments(s->kind) && a->polys.data[s->b].level == s->level)
      p = s->b;
    else
      return (an_blame){s->kind == HD_V_FLOOR ? HD_WHY_DIVISION : HD_WHY_BITS, s->why};
  }
  return (an_blame){HD_WHY_NONE, HD_NONE};
}

/* ---- Substitution ---------------------------------------------------------------------------- */

typedef struct substitution {
  an_algebra *a;
  hd_symbol s;
  hd_poly q;
  unsigned depth;
  uint32_t stamp, n_known; /* results are kept for the polynomials there were at first */
} substitution;

hd_poly an_function_of(an_algebra *a, const hd_value_symbol *sym, hd_poly x, hd_poly y) {
  switch (sym->kind) {
  case HD_V_FLOOR: return an_floor(a, x, y, sym->why);
  case HD_V_POS: return an_max0(a, x);
  case HD_V_GE: return an_ge0(a, x);
  case HD_V_EQ: return an_eq0(a, x);
  case HD_V_BOTH: return an_both(a, x, y);
  case HD_V_IF: return an_if(a, x, y);
  case HD_V_POW2: return an_pow2(a, x, sym->why);
  default: return an_bits(a, (hd_symbol_kind)sym->kind, x, y, sym->why);
  }
}

static hd_poly substitute(substitution *u, hd_poly p);

static hd_poly substitute_symbol(substitution *u, hd_symbol f) {
  an_algebra *a = u->a;
  if (f == u->s) return u->q;
  const hd_value_symbol sym = a->symbols.data[f];
  if (!an_is_function(sym.kind) || !(sym.iterates || sym.varies)) return an_sym(a, f);
  hd_poly x = substitute(u, sym.a), y = an_has_two_arguments(sym.kind) ? substitute(u, sym.b) : 0;
  if (x == HD_NONE || y == HD_NONE) return HD_NONE;
  if (x == sym.a && (y == sym.b || !an_has_two_arguments(sym.kind))) return an_sym(a, f);
  return an_function_of(a, &sym, x, y);
}

static hd_poly substitute(substitution *u, hd_poly p) {
  an_algebra *a = u->a;
  if (!a->polys.data[p].iterates && !a->polys.data[p].varies) return p;
  if (u->depth > AN_MAX_NESTING) return HD_NONE;
  if (p < u->n_known && a->seen.data[p] == u->stamp) return a->memo.data[p];
  u->depth++;
  hd_poly sum = 0;
  for (uint32_t i = 0; i < a->polys.data[p].n && sum != HD_NONE; i++) {
    hd_term t = an_terms(a, p)[i];
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

hd_poly an_subst(an_algebra *a, hd_poly p, hd_symbol s, hd_poly q) {
  substitution u = {a, s, q, 0, ++a->seen_stamp, (uint32_t)a->polys.n};
  return substitute(&u, p);
}
