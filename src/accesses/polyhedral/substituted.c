/* Polynomials into which a launch's values are substituted: sums of variables and functions, simplified where
 * the variables' ranges (a box) decide them. */
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "polyhedral/internal.h"

enum { MAX_DEPTH = 40, MAX_TERMS = 256 };
static const int64_t most = (int64_t)1 << 61; /* numbers stay below: sums of two do not wrap */

/* ---- Arithmetic --------------------------------------------------------------------- */

static bool add(int64_t *sum, int64_t x) {
  return !__builtin_add_overflow(*sum, x, sum) && *sum<most && * sum> - most;
}

static bool add_product(int64_t *sum, int64_t x, int64_t y) {
  int64_t p;
  return !__builtin_mul_overflow(x, y, &p) && add(sum, p);
}

/* ---- From polynomials ------------------------------------------------------------------ */

static uint32_t form_of(polyhedral_forms *f, hd_poly p, unsigned depth);

static uint32_t new_form(polyhedral_forms *f, const polyhedral_term *terms, uint32_t n, int64_t constant) {
  polyhedral_form form = {(uint32_t)f->terms.n, n, constant};
  for (uint32_t i = 0; i < n; i++)
    if (!hd_vec_push(&f->terms, terms[i])) f->no_memory = true;
  if (!hd_vec_push(&f->forms, form)) f->no_memory = true;
  return f->no_memory ? HD_NONE : (uint32_t)f->forms.n - 1;
}

static uint32_t vars_of(const polyhedral_forms *f, uint32_t form, uint32_t *nesting) {
  uint32_t vars = 0;
  const polyhedral_form *q = &f->forms.data[form];
  for (uint32_t i = 0; i < q->n; i++) {
    uint32_t what = f->terms.data[q->first + i].what;
    if (what < POLYHEDRAL_VARS) {
      vars |= 1u << what;
      continue;
    }
    const polyhedral_function *fn = &f->functions.data[what - POLYHEDRAL_VARS];
    vars |= fn->vars;
    if (fn->nesting + 1 > *nesting) *nesting = fn->nesting + 1;
  }
  return vars;
}

static bool same_form(const polyhedral_forms *f, uint32_t x, uint32_t y) {
  if (x == y) return true;
  if (x == HD_NONE || y == HD_NONE) return false;
  const polyhedral_form *p = &f->forms.data[x], *q = &f->forms.data[y];
  if (p->n != q->n || p->constant != q->constant) return false;
  for (uint32_t i = 0; i < p->n; i++) {
    const polyhedral_term *s = &f->terms.data[p->first + i], *t = &f->terms.data[q->first + i];
    if (s->coefficient != t->coefficient || s->what != t->what) return false;
  }
  return true;
}

static uint32_t new_function(polyhedral_forms *f, uint8_t kind, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < f->functions.n; i++) {
    const polyhedral_function *g = &f->functions.data[i];
    if (g->kind == kind && same_form(f, g->a, a) && same_form(f, g->b, b)) return POLYHEDRAL_VARS + i;
  }
  polyhedral_function fn = {.kind = kind, .a = a, .b = b};
  fn.vars = vars_of(f, a, &fn.nesting);
  if (b != HD_NONE) fn.vars |= vars_of(f, b, &fn.nesting);
  if (fn.nesting >= MAX_DEPTH) return HD_NONE;
  if (!hd_vec_push(&f->functions, fn)) {
    f->no_memory = true;
    return HD_NONE;
  }
  return POLYHEDRAL_VARS + (uint32_t)f->functions.n - 1;
}

/* A symbol as a number or as something that varies. */
typedef struct factor {
  bool varies;
  int64_t number;
  uint32_t what;
} factor;

static bool variable(factor *out, uint32_t what) {
  *out = (factor){.varies = true, .what = what};
  return what != HD_NONE;
}

static bool is_constant(const polyhedral_forms *f, uint32_t form, int64_t *out) {
  const polyhedral_form *q = &f->forms.data[form];
  *out = q->constant;
  return q->n == 0;
}

static bool has_two(uint8_t kind) {
  return kind == HD_V_FLOOR || kind == HD_V_BOTH || kind == HD_V_IF || kind == HD_V_BITAND ||
         kind == HD_V_BITXOR;
}

static bool apply(uint8_t kind, int64_t x, int64_t y, int64_t *out) {
  switch (kind) {
  case 0: *out = 0; return add_product(out, x, y);
  case HD_V_FLOOR:
    if (y <= 0) return false;
    *out = hd_floor_div(x, y);
    return true;
  case HD_V_POS: *out = x > 0 ? x : 0; return true;
  case HD_V_GE: *out = x >= 0; return true;
  case HD_V_EQ: *out = x == 0; return true;
  case HD_V_BOTH:
  case HD_V_IF: *out = x ? y : 0; return true;
  case HD_V_POW2: *out = x < 0 || x > 63 ? 0 : x < 61 ? (int64_t)1 << x : most; return *out < most;
  case HD_V_BITAND: *out = x & y; return true;
  case HD_V_BITXOR: *out = x ^ y; return true;
  default: return false;
  }
}

static bool factor_of(polyhedral_forms *f, hd_symbol symbol, unsigned depth, factor *out) {
  const hd_value_symbol *s = &f->a->symbols[symbol];
  switch (s->kind) {
  case HD_V_CTAID: /* in tiles a CTA has other coordinates */
    return (f->a->tiles.answer != HD_TILES_FOUND || f->a->tiles.loop != HD_NONE) && variable(out, s->a);
  case HD_V_TILE: return f->a->tiles.loop == HD_NONE && variable(out, s->a);
  case HD_V_TASK: return false;
  case HD_V_TID: return variable(out, POLYHEDRAL_TID + s->a);
  case HD_V_COUNTER: return variable(out, f->loops[s->a]);
  default: break;
  }
  *out = (factor){0};
  if (s->kind < HD_V_FLOOR || s->kind > HD_V_BITXOR)
    return hd_symbol_eval(f->a, symbol, &f->at, &out->number);
  uint32_t a = form_of(f, s->a, depth + 1), b = HD_NONE;
  int64_t x, y = 0;
  if (a == HD_NONE) return false;
  bool known = is_constant(f, a, &x);
  /* The other value may not be defined where the condition fails. */
  if (known && !x && (s->kind == HD_V_IF || s->kind == HD_V_BOTH)) return true;
  if (has_two(s->kind)) {
    b = form_of(f, s->b, depth + 1);
    if (b == HD_NONE) return false;
    known &= is_constant(f, b, &y);
    if (s->kind == HD_V_FLOOR && is_constant(f, b, &y) && y <= 0) return false;
  }
  if (known) return apply(s->kind, x, y, &out->number);
  return variable(out, new_function(f, s->kind, a, b));
}

/* A product of numbers and at most two things that vary, as one term. */
static bool term_of(polyhedral_forms *f, const hd_term *t, unsigned depth, factor *out,
                    int64_t *coefficient) {
  const hd_product *p = &f->a->products[t->product];
  *out = (factor){0};
  *coefficient = t->coefficient;
  for (uint32_t k = 0; k < p->n; k++) {
    factor one;
    if (!factor_of(f, f->a->factors[p->first + k], depth, &one)) return false;
    if (!one.varies) {
      int64_t product = 0;
      if (!add_product(&product, *coefficient, one.number)) return false;
      *coefficient = product;
    } else if (!out->varies) {
      *out = one;
    } else {
      polyhedral_term x = {1, out->what}, y = {1, one.what};
      uint32_t a = new_form(f, &x, 1, 0), b = new_form(f, &y, 1, 0);
      if (a == HD_NONE || b == HD_NONE || !variable(out, new_function(f, 0, a, b))) return false;
    }
  }
  return true;
}

/* The polynomials' own ranges are of no use here: they may rest on the assumptions that are to be checked. */
static uint32_t form_of(polyhedral_forms *f, hd_poly p, unsigned depth) {
  if (p == HD_NONE || depth > MAX_DEPTH) return HD_NONE;
  const hd_polynomial q = f->a->polys[p];
  polyhedral_term terms[MAX_TERMS];
  uint32_t n = 0;
  int64_t constant = 0;
  for (uint32_t i = 0; i < q.n; i++) {
    factor what;
    int64_t coefficient;
    uint32_t k = 0;
    if (!term_of(f, &f->a->terms[q.first + i], depth, &what, &coefficient)) return HD_NONE;
    if (!what.varies) {
      if (!add(&constant, coefficient)) return HD_NONE;
      continue;
    }
    while (k < n && terms[k].what != what.what) k++;
    if (k == MAX_TERMS) return HD_NONE;
    if (k == n) terms[n++] = (polyhedral_term){0, what.what};
    if (!add(&terms[k].coefficient, coefficient)) return HD_NONE;
  }
  uint32_t kept = 0;
  for (uint32_t k = 0; k < n; k++)
    if (terms[k].coefficient) terms[kept++] = terms[k];
  return new_form(f, terms, kept, constant);
}

uint32_t polyhedral_form_of(polyhedral_forms *f, hd_poly p) { return form_of(f, p, 0); }

/* ---- Over a box ---------------------------------------------------------------------------- */

static bool function_range(const polyhedral_forms *f, uint32_t number, const polyhedral_box *box, int64_t *lo,
                           int64_t *hi);

static bool linear_range(const polyhedral_forms *f, const polyhedral_linear *l, const polyhedral_box *box,
                         int64_t *lo, int64_t *hi) {
  *lo = *hi = l->constant;
  for (uint32_t v = 0; v < POLYHEDRAL_VARS; v++) {
    int64_t c = l->coefficient[v];
    if (c && (!add_product(lo, c, c > 0 ? box->lo[v] : box->hi[v]) ||
              !add_product(hi, c, c > 0 ? box->hi[v] : box->lo[v])))
      return false;
  }
  for (uint32_t i = 0; i < l->n_functions; i++) {
    int64_t from, to, c = l->times[i];
    if (!function_range(f, l->function[i], box, &from, &to)) return false;
    if (!add_product(lo, c, c > 0 ? from : to) || !add_product(hi, c, c > 0 ? to : from)) return false;
  }
  return true;
}

bool polyhedral_range(const polyhedral_forms *f, uint32_t form, const polyhedral_box *box, int64_t *lo,
                      int64_t *hi) {
  polyhedral_linear l;
  return polyhedral_flatten(f, form, box, &l) && linear_range(f, &l, box, lo, hi);
}

static int64_t ones_above(int64_t x) { /* the least 2^k - 1 that is no smaller */
  return x > 0 ? (int64_t)(UINT64_MAX >> __builtin_clzll((uint64_t)x)) : 0;
}

static bool function_range(const polyhedral_forms *f, uint32_t number, const polyhedral_box *box, int64_t *lo,
                           int64_t *hi) {
  const polyhedral_function fn = f->functions.data[number];
  ++*f->work;
  int64_t alo, ahi, blo = 0, bhi = 0;
  if (!polyhedral_range(f, fn.a, box, &alo, &ahi)) return false;
  if (fn.b != HD_NONE && !polyhedral_range(f, fn.b, box, &blo, &bhi)) return false;
  switch (fn.kind) {
  case 0: {
    int64_t corner[4] = {0, 0, 0, 0};
    if (!add_product(&corner[0], alo, blo) || !add_product(&corner[1], alo, bhi) ||
        !add_product(&corner[2], ahi, blo) || !add_product(&corner[3], ahi, bhi))
      return false;
    *lo = *hi = corner[0];
    for (unsigned i = 1; i < 4; i++) {
      if (corner[i] < *lo) *lo = corner[i];
      if (corner[i] > *hi) *hi = corner[i];
    }
    return true;
  }
  case HD_V_FLOOR:
    return apply(HD_V_FLOOR, alo, alo < 0 ? blo : bhi, lo) &&
           apply(HD_V_FLOOR, ahi, ahi < 0 ? bhi : blo, hi) && blo > 0;
  case HD_V_POS:
  case HD_V_GE:
  case HD_V_POW2:
    if (fn.kind == HD_V_POW2 && ahi > 63) return false;
    return apply(fn.kind, alo, 0, lo) && apply(fn.kind, ahi, 0, hi);
  case HD_V_EQ:
    *lo = alo == 0 && ahi == 0;
    *hi = alo <= 0 && ahi >= 0;
    return true;
  case HD_V_BOTH:
  case HD_V_IF:
    *lo = alo > 0 ? blo : blo < 0 ? blo : 0;
    *hi = alo > 0 ? bhi : bhi > 0 ? bhi : 0;
    if (alo == 0 && ahi == 0) *lo = *hi = 0;
    return true;
  case HD_V_BITAND:
  case HD_V_BITXOR: {
    int64_t high = ones_above(ahi > bhi ? ahi : bhi), low = ones_above(alo < blo ? -alo : -blo);
    *lo = alo < 0 || blo < 0 ? -(low > high ? low : high) - 1 : 0;
    *hi = low > high ? low : high;
    if (fn.kind == HD_V_BITXOR) return true;
    if (alo >= 0 || blo >= 0) *lo = 0;
    if (alo >= 0 && ahi < *hi) *hi = ahi;
    if (blo >= 0 && bhi < *hi) *hi = bhi;
    return true;
  }
  default: return false;
  }
}

static bool add_linear(polyhedral_linear *sum, const polyhedral_linear *l, int64_t times) {
  if (!add_product(&sum->constant, l->constant, times)) return false;
  for (uint32_t v = 0; v < POLYHEDRAL_VARS; v++)
    if (l->coefficient[v] && !add_product(&sum->coefficient[v], l->coefficient[v], times)) return false;
  for (uint32_t i = 0; i < l->n_functions; i++) {
    uint32_t k = 0;
    while (k < sum->n_functions && sum->function[k] != l->function[i]) k++;
    if (k == POLYHEDRAL_FUNCTIONS) return false;
    if (k == sum->n_functions) {
      sum->function[k] = l->function[i];
      sum->times[k] = 0;
      sum->n_functions++;
    }
    if (!add_product(&sum->times[k], l->times[i], times)) return false;
  }
  sum->loose |= l->loose;
  return true;
}

static bool add_form(const polyhedral_forms *f, uint32_t form, const polyhedral_box *box,
                     polyhedral_linear *out, int64_t times) {
  polyhedral_linear l;
  return polyhedral_flatten(f, form, box, &l) && add_linear(out, &l, times);
}

/* floor((d * q + r) / d) is q where r keeps within one multiple of d. */
static bool floor_splits(const polyhedral_forms *f, const polyhedral_function *fn, const polyhedral_box *box,
                         polyhedral_linear *quotient) {
  polyhedral_linear whole;
  int64_t d, lo, hi;
  if (!polyhedral_range(f, fn->b, box, &d, &hi) || d != hi || d <= 0) return false;
  if (!polyhedral_flatten(f, fn->a, box, &whole)) return false;
  polyhedral_linear rest = whole;
  memset(quotient, 0, sizeof *quotient);
  for (uint32_t v = 0; v < POLYHEDRAL_VARS; v++)
    if (whole.coefficient[v] % d == 0) {
      quotient->coefficient[v] = whole.coefficient[v] / d;
      rest.coefficient[v] = 0;
    }
  rest.n_functions = 0;
  for (uint32_t i = 0; i < whole.n_functions; i++)
    if (whole.times[i] % d == 0) {
      quotient->function[quotient->n_functions] = whole.function[i];
      quotient->times[quotient->n_functions++] = whole.times[i] / d;
      quotient->loose |= f->functions.data[whole.function[i]].vars;
    } else {
      rest.function[rest.n_functions] = whole.function[i];
      rest.times[rest.n_functions++] = whole.times[i];
    }
  if (!linear_range(f, &rest, box, &lo, &hi) || hd_floor_div(lo, d) != hd_floor_div(hi, d)) return false;
  quotient->constant = hd_floor_div(lo, d);
  return true;
}

static bool add_function(const polyhedral_forms *f, uint32_t number, const polyhedral_box *box,
                         polyhedral_linear *out, int64_t times) {
  const polyhedral_function fn = f->functions.data[number];
  polyhedral_linear l = {.n_functions = 1, .function = {number}, .times = {1}, .loose = fn.vars};
  int64_t lo, hi;
  if (function_range(f, number, box, &lo, &hi) && lo == hi) return add_product(&out->constant, times, lo);
  if (fn.kind == HD_V_FLOOR) {
    polyhedral_linear quotient;
    if (floor_splits(f, &fn, box, &quotient)) return add_linear(out, &quotient, times);
  } else if (polyhedral_range(f, fn.a, box, &lo, &hi)) {
    if (fn.kind == HD_V_POS && lo >= 0) return add_form(f, fn.a, box, out, times);
    if (fn.kind == HD_V_POS && hi <= 0) return true;
    if ((fn.kind == HD_V_IF || fn.kind == HD_V_BOTH) && lo > 0) return add_form(f, fn.b, box, out, times);
    if (fn.kind == HD_V_BOTH && polyhedral_range(f, fn.b, box, &lo, &hi) && lo > 0)
      return add_form(f, fn.a, box, out, times);
    int64_t product = 0;
    if (!fn.kind && lo == hi) return add_product(&product, lo, times) && add_form(f, fn.b, box, out, product);
    if (!fn.kind && polyhedral_range(f, fn.b, box, &lo, &hi) && lo == hi)
      return add_product(&product, lo, times) && add_form(f, fn.a, box, out, product);
  }
  return add_linear(out, &l, times);
}

bool polyhedral_flatten(const polyhedral_forms *f, uint32_t form, const polyhedral_box *box,
                        polyhedral_linear *out) {
  const polyhedral_form q = f->forms.data[form];
  memset(out, 0, sizeof *out);
  out->constant = q.constant;
  for (uint32_t i = 0; i < q.n; i++) {
    const polyhedral_term t = f->terms.data[q.first + i];
    bool fits;
    if (t.what >= POLYHEDRAL_VARS)
      fits = add_function(f, t.what - POLYHEDRAL_VARS, box, out, t.coefficient);
    else if (box->lo[t.what] == box->hi[t.what])
      fits = add_product(&out->constant, t.coefficient, box->lo[t.what]);
    else
      fits = add(&out->coefficient[t.what], t.coefficient);
    if (!fits) return false;
  }
  return true;
}

uint32_t polyhedral_variables(const polyhedral_linear *l) {
  uint32_t vars = l->loose;
  for (uint32_t v = 0; v < POLYHEDRAL_VARS; v++)
    if (l->coefficient[v]) vars |= 1u << v;
  return vars;
}

/* ---- At a point --------------------------------------------------------------------------------- */

bool polyhedral_function_value(const polyhedral_forms *f, uint32_t function, const int64_t *point,
                               int64_t *out) {
  const polyhedral_function *fn = &f->functions.data[function];
  int64_t x, y = 0;
  if (!polyhedral_value(f, fn->a, point, &x)) return false;
  bool skip = !x && (fn->kind == HD_V_IF || fn->kind == HD_V_BOTH);
  if (fn->b != HD_NONE && !skip && !polyhedral_value(f, fn->b, point, &y)) return false;
  return apply(fn->kind, x, y, out);
}

bool polyhedral_value(const polyhedral_forms *f, uint32_t form, const int64_t *point, int64_t *out) {
  const polyhedral_form *q = &f->forms.data[form];
  *out = q->constant;
  for (uint32_t i = 0; i < q->n; i++) {
    const polyhedral_term *t = &f->terms.data[q->first + i];
    int64_t v;
    if (t->what < POLYHEDRAL_VARS)
      v = point[t->what];
    else if (!polyhedral_function_value(f, t->what - POLYHEDRAL_VARS, point, &v))
      return false;
    if (!add_product(out, t->coefficient, v)) return false;
  }
  return true;
}
