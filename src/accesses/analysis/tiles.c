/* The tiles behind the CTAs' numbers, at one launch.
 *
 * Kernels that are launched in one dimension divide %ctaid.x themselves, often in groups. With the launch's
 * arguments known every quantity that depends on the CTA alone can be worked out for all CTAs, and those
 * that addresses and conditions are made of name the tile: cells.c chooses them. Formulas are then written in
 * the tile's coordinates, of which each was checked in every CTA.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/internal.h"
#include "analysis/tiles.h"

enum { MAX_DEPTH = 24 };

/* A sum that depends on the CTA alone, times what does not. */
typedef struct cta_part {
  uint32_t cofactor; /* product */
  hd_poly own;       /* without common factor and constant */
  int64_t times;
} cta_part;

typedef struct tiling {
  an *a;
  hd_point at;
  uint64_t V;
  hd_poly values[TILES_MOST_VALUES];
  bool used[TILES_MOST_VALUES];
  unsigned n, n_own;
  bool divides;
  uint8_t *seen; /* per polynomial there was at first: 1: as a part of another quantity, 2: as it is */
  uint32_t n_seen;
  tiles_found found, choices[2]; /* of two and of three coordinates */
  hd_poly *rewritten;            /* the same; HD_NONE: not yet */
  int64_t *scratch;              /* per CTA */
  uint32_t loop;                 /* over tiles: V is the number of tiles, which take the place of the CTAs */
  uint64_t *rounds;              /* then: counters, per loop */
} tiling;

/* ---- Parts --------------------------------------------------------------------------------- */

static bool is_own_symbol(const an_algebra *g, hd_symbol s) {
  return an_only_cta(g->symbols.data[s].varies, g->symbols.data[s].iterates);
}

/* Cut p into parts and a rest without such symbols. Returns the number of parts. */
static unsigned cut(an_algebra *g, hd_poly p, cta_part parts[AN_MAX_TERMS], hd_poly *rest) {
  hd_term own[AN_MAX_TERMS], left[AN_MAX_TERMS] = {0};
  uint32_t cofactor[AN_MAX_TERMS], n_own = 0, n_left = 0;
  unsigned n = 0;
  for (uint32_t i = 0; i < g->polys.data[p].n; i++) {
    hd_term t = an_terms(g, p)[i];
    const hd_product prod = g->products.data[t.product];
    hd_symbol mine[AN_MAX_DEGREE], others[AN_MAX_DEGREE];
    uint32_t n_mine = 0, n_others = 0;
    for (uint32_t k = 0; k < prod.n; k++) {
      hd_symbol s = g->factors.data[prod.first + k];
      if (is_own_symbol(g, s))
        mine[n_mine++] = s;
      else
        others[n_others++] = s;
    }
    if (!n_mine) {
      left[n_left++] = t;
      continue;
    }
    cofactor[n_own] = an_product(g, others, n_others);
    own[n_own++] = (hd_term){t.coefficient, an_product(g, mine, n_mine)};
  }
  *rest = an_intern(g, left, n_left);
  for (uint32_t i = 0; i < n_own; i++) {
    hd_term same[AN_MAX_TERMS];
    uint32_t n_same = 0;
    int64_t constant;
    bool first = true;
    for (uint32_t k = 0; k < i; k++) first &= cofactor[k] != cofactor[i];
    for (uint32_t k = i; first && k < n_own; k++)
      if (cofactor[k] == cofactor[i]) same[n_same++] = own[k];
    if (!first) continue;
    hd_poly sum = an_collect(g, same, n_same);
    if (sum == HD_NONE) return 0;
    int64_t times = sum ? an_content(g, sum, &constant) : 0;
    if (times) parts[n++] = (cta_part){cofactor[i], an_divide_exact(g, sum, times), times};
  }
  return n;
}

/* ---- Collecting ------------------------------------------------------------------------------ */

static void add_value(tiling *t, hd_poly p, bool used) {
  for (unsigned i = 0; i < t->n; i++)
    if (t->values[i] == p) {
      t->used[i] |= used;
      return;
    }
  if (t->n + AN_AXES >= TILES_MOST_VALUES) return; /* room is left for the ids */
  t->values[t->n] = p;
  t->used[t->n++] = used;
}

/* Rows that wrap around the end of a matrix: in floor((own + thread) / d) whole multiples of d may have left
 * `own`, but its remainder is the tile's. */
static void collect_wrapped(tiling *t, const hd_value_symbol *s) {
  an_algebra *g = &t->a->alg;
  cta_part parts[AN_MAX_TERMS];
  hd_poly rest;
  int64_t d;
  if (s->kind != HD_V_FLOOR || !an_is_const(g, s->b, &d) || d < 2) return;
  unsigned n = cut(g, s->a, parts, &rest);
  for (unsigned i = 0; i < n; i++) {
    hd_poly own = parts[i].cofactor ? HD_NONE : an_scale(g, parts[i].own, parts[i].times);
    hd_poly q = own == HD_NONE ? HD_NONE : an_floor_const(g, own, d, s->why);
    hd_poly r = q == HD_NONE ? HD_NONE : an_sub(g, own, an_scale(g, q, d));
    if (r != HD_NONE) add_value(t, r, true);
  }
}

static void collect(tiling *t, hd_poly p, bool inside, unsigned depth);

/* A quotient of a quantity of the CTA is a candidate, and so is its remainder. */
static void collect_symbol(tiling *t, hd_symbol s, bool inside, unsigned depth) {
  an_algebra *g = &t->a->alg;
  const hd_value_symbol sym = g->symbols.data[s];
  bool own = is_own_symbol(g, s);
  if (!an_is_function(sym.kind) || !(sym.varies & AN_OF_CTA)) return;
  if (own && sym.kind == HD_V_FLOOR) {
    hd_poly q = an_sym(g, s), whole = an_mul(g, sym.b, q), r = whole == HD_NONE ? 0 : an_sub(g, sym.a, whole);
    t->divides = true;
    add_value(t, q, false);
    if (r && r != HD_NONE) add_value(t, r, false);
  }
  if (!own && !inside) collect_wrapped(t, &sym);
  collect(t, sym.a, inside || own, depth + 1);
  if (an_has_two_arguments(sym.kind)) collect(t, sym.b, inside || own, depth + 1);
}

static void collect(tiling *t, hd_poly p, bool inside, unsigned depth) {
  an_algebra *g = &t->a->alg;
  uint8_t bit = inside ? 1 : 2;
  cta_part parts[AN_MAX_TERMS];
  hd_poly rest;
  if (depth > MAX_DEPTH || !(g->polys.data[p].varies & AN_OF_CTA)) return;
  if (p < t->n_seen && t->seen[p] & bit) return;
  if (p < t->n_seen) t->seen[p] |= bit;
  unsigned n = inside ? 0 : cut(g, p, parts, &rest);
  for (unsigned i = 0; i < n; i++) add_value(t, parts[i].own, true);
  for (uint32_t i = 0; i < g->polys.data[p].n; i++) {
    const hd_product prod = g->products.data[an_terms(g, p)[i].product];
    for (uint32_t k = 0; k < prod.n; k++) collect_symbol(t, g->factors.data[prod.first + k], inside, depth);
  }
}

/* All formulas of the analysis: f(ctx, formula). Those that do not go with the loop over tiles are left
 * alone. */
static void each_formula(an *a, void (*f)(tiling *, hd_poly *), tiling *t) {
  for (size_t i = 0; i < a->result.sites.n; i++)
    if (a->result.sites.data[i].level <= HD_LEVEL_DATA) f(t, &a->result.sites.data[i].address);
  for (size_t i = 0; i < a->result.places.n; i++) f(t, &a->result.places.data[i].at);
  if (t->loop != HD_NONE) return;
  for (size_t i = 0; i < a->result.guards.n; i++) f(t, &a->result.guards.data[i].poly);
  for (uint32_t l = 0; l < a->pub.cfg.n_loops; l++) {
    if (a->pub.loop_values[l].trips != HD_NONE) f(t, &a->pub.loop_values[l].trips);
    if (a->pub.loop_values[l].rounds != HD_NONE) f(t, &a->pub.loop_values[l].rounds);
  }
}

static void collect_formula(tiling *t, hd_poly *p) { collect(t, *p, false, 0); }

/* floor(x / d), of one symbol. */
static bool is_quotient(const an_algebra *g, hd_poly p, hd_poly *x, int64_t *d) {
  const hd_polynomial *q = &g->polys.data[p];
  if (q->n != 1 || an_terms(g, p)->coefficient != 1) return false;
  const hd_product *prod = &g->products.data[an_terms(g, p)->product];
  if (prod->n != 1) return false;
  const hd_value_symbol *s = &g->symbols.data[g->factors.data[prod->first]];
  *x = s->a;
  return s->kind == HD_V_FLOOR && an_is_const(g, s->b, d);
}

/* Of two quotients of one number the digits between: floor(x / 2) - 10*floor(x / 20). */
static void add_digits(tiling *t) {
  an_algebra *g = &t->a->alg;
  unsigned n = t->n;
  for (unsigned i = 0; i < n; i++)
    for (unsigned k = 0; k < n; k++) {
      hd_poly x, y;
      int64_t fine, coarse;
      if (!is_quotient(g, t->values[i], &x, &fine) || !is_quotient(g, t->values[k], &y, &coarse) || x != y ||
          fine <= 0 || coarse <= fine || coarse % fine)
        continue;
      hd_poly digit = an_sub(g, t->values[i], an_scale(g, t->values[k], coarse / fine));
      if (digit != HD_NONE) add_value(t, digit, false);
    }
}

static void add_ids(tiling *t) {
  an_algebra *g = &t->a->alg;
  for (uint32_t part = 0; part < AN_AXES; part++) {
    hd_symbol s = t->loop == HD_NONE ? hd_find_symbol(&t->a->pub, HD_V_CTAID, part, 0)
                                     : hd_find_symbol(&t->a->pub, HD_V_TASK, t->loop, 0);
    if (s == HD_NONE || (part && t->loop != HD_NONE)) continue;
    hd_poly id = an_sym(g, s);
    bool used = false;
    for (unsigned i = 0; i < t->n; i++) {
      if (t->values[i] != id) continue;
      used = t->used[i];
      t->n--;
      memmove(&t->values[i], &t->values[i + 1], (t->n - i) * sizeof *t->values);
      memmove(&t->used[i], &t->used[i + 1], (t->n - i) * sizeof *t->used);
    }
    t->values[t->n] = id;
    t->used[t->n++] = used;
    t->n_own++;
  }
}

/* ---- Values in all CTAs ------------------------------------------------------------------------ */

static bool evaluate_all(tiling *t, hd_poly p, int64_t *out) {
  const uint32_t *g = t->at.grid;
  hd_point at = t->at;
  at.counters = t->rounds;
  an_publish(t->a);
  for (uint64_t i = 0; i < t->V; i++) {
    if (t->loop != HD_NONE) t->rounds[t->loop] = i / g[0];
    at.ctaid[0] = (uint32_t)(i % g[0]);
    if (t->loop == HD_NONE) at.ctaid[1] = (uint32_t)(i / g[0] % g[1]);
    if (t->loop == HD_NONE) at.ctaid[2] = (uint32_t)(i / g[0] / g[1]);
    if (!hd_poly_eval(&t->a->pub, p, &at, &out[i])) return false;
  }
  return true;
}

/* Values that cannot be worked out are left out. False: out of memory. */
static bool choose(tiling *t) {
  tiles_value values[TILES_MOST_VALUES];
  int64_t *at = malloc(t->n * t->V * sizeof *at);
  unsigned n = 0, n_own = 0;
  if (!at) return false;
  for (unsigned i = 0; i < t->n; i++) {
    if (!evaluate_all(t, t->values[i], at + n * t->V)) continue;
    n_own += i >= t->n - t->n_own;
    t->values[n] = t->values[i];
    values[n] = (tiles_value){at + n * t->V, t->used[i]};
    n++;
  }
  t->n = n;
  bool ok = true;
  for (unsigned k = 0; ok && k < 2; k++) ok = tiles_choose(values, n, n_own, t->V, 2 + k, &t->choices[k]);
  free(at);
  return ok;
}

/* ---- Formulas in tiles --------------------------------------------------------------------------- */

static hd_poly tile_coordinate(tiling *t, uint32_t part) {
  hd_value_symbol s = {.kind = HD_V_TILE,
                       .level = HD_LEVEL_AFFINE,
                       .a = part,
                       .why = HD_NONE,
                       .varies = AN_OF_CTA,
                       .hi = (int64_t)t->found.n[part] - 1};
  return an_sym(&t->a->alg, an_symbol(&t->a->alg, s));
}

/* The quantity in tiles, up to multiples of `modulo` where that is not 0; HD_NONE: it is not linear there. */
static hd_poly in_tiles(tiling *t, hd_poly own, int64_t modulo) {
  an_algebra *g = &t->a->alg;
  tiles_form f = {.linear = false};
  if (evaluate_all(t, own, t->scratch)) f = tiles_form_of(&t->found, t->V, t->scratch, modulo);
  hd_poly sum = f.linear ? an_const(g, f.base) : HD_NONE;
  for (uint32_t k = 0; k < AN_AXES && sum != HD_NONE; k++)
    if (f.by[k]) sum = an_add(g, sum, an_scale(g, tile_coordinate(t, k), f.by[k]));
  return sum;
}

static hd_poly rewrite(tiling *t, hd_poly p, unsigned depth);

/* floor((own + other) / d), where own is linear up to multiples of d: those are a quantity of the CTA again,
 * and are added to others like it. HD_NONE: it is not so. */
static hd_poly rewrite_floor(tiling *t, const hd_value_symbol *s, unsigned depth) {
  an_algebra *g = &t->a->alg;
  cta_part parts[AN_MAX_TERMS];
  hd_poly rest, own = 0;
  int64_t d;
  if (s->kind != HD_V_FLOOR || !an_is_const(g, s->b, &d) || d < 2) return HD_NONE;
  unsigned n = cut(g, s->a, parts, &rest);
  for (unsigned i = 0; i < n; i++)
    if (!parts[i].cofactor) own = an_scale(g, parts[i].own, parts[i].times);
  if (!own || own == HD_NONE) return HD_NONE;
  hd_poly linear = in_tiles(t, own, d);
  if (linear == HD_NONE) return HD_NONE;
  hd_poly multiples = an_floor_const(g, an_sub(g, own, linear), d, s->why);
  hd_poly other = rewrite(t, an_sub(g, s->a, own), depth + 1);
  if (multiples == HD_NONE || other == HD_NONE) return HD_NONE;
  hd_poly arg = an_add(g, other, linear);
  hd_poly q = arg == HD_NONE ? HD_NONE : an_floor_const(g, arg, d, s->why);
  return q == HD_NONE ? HD_NONE : an_add(g, q, multiples);
}

/* Functions of more than the CTA; others are parts of quantities. */
static hd_poly rewrite_symbol(tiling *t, hd_symbol s, unsigned depth) {
  an_algebra *g = &t->a->alg;
  const hd_value_symbol sym = g->symbols.data[s];
  if (!an_is_function(sym.kind) || !(sym.varies & AN_OF_CTA) || is_own_symbol(g, s)) return an_sym(g, s);
  hd_poly whole = rewrite_floor(t, &sym, depth);
  if (whole != HD_NONE) return whole;
  bool two = an_has_two_arguments(sym.kind);
  hd_poly x = rewrite(t, sym.a, depth + 1), y = two ? rewrite(t, sym.b, depth + 1) : 0;
  return x == HD_NONE || y == HD_NONE ? HD_NONE : an_function_of(g, &sym, x, y);
}

static hd_poly rewrite_functions(tiling *t, hd_poly p, unsigned depth) {
  an_algebra *g = &t->a->alg;
  hd_poly sum = 0;
  for (uint32_t i = 0; i < g->polys.data[p].n && sum != HD_NONE; i++) {
    hd_term x = an_terms(g, p)[i];
    const hd_product prod = g->products.data[x.product];
    hd_poly r = an_const(g, x.coefficient);
    for (uint32_t k = 0; k < prod.n && r != HD_NONE; k++) {
      hd_poly f = rewrite_symbol(t, g->factors.data[prod.first + k], depth);
      r = f == HD_NONE ? HD_NONE : an_mul(g, r, f);
    }
    sum = r == HD_NONE ? HD_NONE : an_add(g, sum, r);
  }
  return sum;
}

static hd_poly product_of(an_algebra *g, uint32_t product) { return an_intern(g, &(hd_term){1, product}, 1); }

/* HD_NONE: too large. */
static hd_poly rewrite(tiling *t, hd_poly p, unsigned depth) {
  an_algebra *g = &t->a->alg;
  cta_part parts[AN_MAX_TERMS];
  hd_poly sum;
  if (p == HD_NONE || !(g->polys.data[p].varies & AN_OF_CTA)) return p;
  if (depth > MAX_DEPTH) return HD_NONE;
  if (p < t->n_seen && t->rewritten[p] != HD_NONE) return t->rewritten[p];
  hd_poly plain = rewrite_functions(t, p, depth);
  if (plain == HD_NONE) return HD_NONE;
  unsigned n = cut(g, plain, parts, &sum);
  for (unsigned i = 0; i < n && sum != HD_NONE; i++) {
    hd_poly own = in_tiles(t, parts[i].own, 0);
    hd_poly r = an_mul(g, own == HD_NONE ? parts[i].own : own, product_of(g, parts[i].cofactor));
    sum = r == HD_NONE ? HD_NONE : an_add(g, sum, an_scale(g, r, parts[i].times));
  }
  if (p < t->n_seen && sum != HD_NONE) t->rewritten[p] = sum;
  return sum;
}

static void rewrite_formula(tiling *t, hd_poly *p) {
  hd_poly r = rewrite(t, *p, 0);
  if (r != HD_NONE) *p = r;
}

/* Classes follow from the formulas. */
static void classify(an *a) {
  for (size_t i = 0; i < a->result.sites.n; i++) {
    hd_site *s = &a->result.sites.data[i];
    if (s->level > HD_LEVEL_DATA || s->why == HD_WHY_TENSOR_MAP) continue;
    s->level = a->alg.polys.data[s->address].level;
    an_blame b =
        s->level >= HD_LEVEL_NONLINEAR ? an_culprit(&a->alg, s->address) : (an_blame){HD_WHY_NONE, HD_NONE};
    s->why = (uint8_t)b.reason;
    s->why_line = b.inst == HD_NONE ? 0 : an_stmt(a, b.inst)->line;
  }
}

/* ---- Assumptions that the launch settles ------------------------------------------------------ */

static bool holds_in_all(tiling *t, const hd_assumption *x) {
  hd_polynomial p = t->a->alg.polys.data[x->poly];
  if (an_only_cta(p.varies, p.iterates) && evaluate_all(t, x->poly, t->scratch)) {
    for (uint64_t i = 0; i < t->V; i++)
      if (t->scratch[i] < x->lo || t->scratch[i] > x->hi) return false;
    return true;
  }
  hd_poly r = rewrite(t, x->poly, 0);
  if (r == HD_NONE || t->a->alg.range_assumed.data[r]) return false;
  p = t->a->alg.polys.data[r];
  return p.lo >= x->lo && p.hi <= x->hi;
}

/* A list without those that hold. */
static void thin(tiling *t, uint8_t *known, uint32_t *first, uint32_t *n) {
  an *a = t->a;
  uint32_t begin = (uint32_t)a->result.list_items.n, left = 0;
  for (uint32_t i = 0; i < *n; i++) {
    uint32_t number = a->result.list_items.data[*first + i];
    const hd_assumption x = a->alg.assumptions.data[number];
    if (!known[number]) known[number] = holds_in_all(t, &x) ? 1 : 2;
    if (known[number] == 1) continue;
    AN_PUSH(&a->arena, &a->result.list_items, number);
    left++;
  }
  *first = left ? begin : 0;
  *n = left;
}

static void thin_all(tiling *t) {
  an *a = t->a;
  uint8_t *known = HD_NEW_N(&a->arena, a->alg.assumptions.n + 1, uint8_t);
  for (size_t i = 0; i < a->result.sites.n; i++)
    thin(t, known, &a->result.sites.data[i].first_assumption, &a->result.sites.data[i].n_assumptions);
  for (size_t i = 0; i < a->result.guards.n; i++)
    thin(t, known, &a->result.guards.data[i].first_assumption, &a->result.guards.data[i].n_assumptions);
  for (uint32_t l = 0; l < a->pub.cfg.n_loops; l++)
    thin(t, known, &a->pub.loop_values[l].first_assumption, &a->pub.loop_values[l].n_assumptions);
}

/* ---- The best coordinates --------------------------------------------------------------------- */

static bool divides_id(const void *what, hd_symbol s, const hd_value_symbol *symbol) {
  return an_is_function(symbol->kind) && an_only_cta(symbol->varies, symbol->iterates);
}

/* Addresses and coordinates in which no quantity of the CTA is left but plain coordinates. */
static unsigned count_plain(tiling *t) {
  an *a = t->a;
  unsigned n = 0;
  for (size_t i = 0; i < a->result.sites.n; i++) {
    const hd_site *s = &a->result.sites.data[i];
    hd_poly p = s->level > HD_LEVEL_DATA ? HD_NONE : t->found.found ? rewrite(t, s->address, 0) : s->address;
    n += p != HD_NONE && !an_any_varying(&a->alg, p, divides_id, NULL);
  }
  for (size_t i = 0; i < a->result.places.n; i++) {
    const hd_poly at = a->result.places.data[i].at, p = t->found.found ? rewrite(t, at, 0) : at;
    n += p != HD_NONE && !an_any_varying(&a->alg, p, divides_id, NULL);
  }
  return n;
}

static void take(tiling *t, const tiles_found *f) {
  t->found = *f;
  for (unsigned i = 0; i < AN_AXES; i++) t->a->pub.tiles.at[i] = f->at[i];
  memcpy(t->a->pub.tiles.n, f->n, sizeof f->n);
  memset(t->rewritten, 0xff, t->n_seen * sizeof *t->rewritten);
}

/* Fewer coordinates come first. */
static void take_best(tiling *t) {
  unsigned most = count_plain(t);
  const tiles_found none = {.found = false}, *best = &none;
  for (unsigned k = 0; k < 2; k++) {
    if (!t->choices[k].found) continue;
    take(t, &t->choices[k]);
    unsigned n = count_plain(t);
    if (n > most) best = &t->choices[k];
    if (n > most) most = n;
  }
  take(t, best);
}

/* ---- All of it ---------------------------------------------------------------------------------------- */

static void make_room(tiling *t) {
  an *a = t->a;
  for (unsigned k = 0; k < 2; k++) {
    for (unsigned i = 0; i < AN_AXES; i++)
      t->choices[k].at[i] = hd_arena_alloc(&a->arena, t->V * sizeof(uint32_t), sizeof(uint32_t));
  }
  t->scratch = hd_arena_alloc(&a->arena, t->V * sizeof *t->scratch, sizeof *t->scratch);
  t->rewritten = hd_arena_alloc(&a->arena, t->n_seen * sizeof *t->rewritten, sizeof *t->rewritten);
}

/* Addresses as they are before a loop over tiles is seen through. */
static hd_poly *keep_addresses(an *a) {
  hd_poly *kept = HD_NEW_N(&a->arena, a->result.sites.n + 1, hd_poly);
  for (size_t i = 0; i < a->result.sites.n; i++) kept[i] = a->result.sites.data[i].address;
  return kept;
}

/* HD_TILES_NONE: nothing divides the CTA's number, or the tile's. */
static hd_status search_tiles(tiling *t) {
  an *a = t->a;
  hd_tiles *out = &a->pub.tiles;
  each_formula(a, collect_formula, t);
  an_publish(a);
  if (!t->divides) return HD_OK;
  out->answer = HD_TILES_UNKNOWN;
  if (t->V > TILES_MOST_CTAS) return HD_OK;
  add_digits(t);
  add_ids(t);
  an_publish(a);
  make_room(t);
  if (!choose(t)) return hd_nomem(a->diag);
  take_best(t);
  out->answer = t->found.found                                             ? HD_TILES_FOUND
                : count_plain(t) == a->result.sites.n + a->result.places.n ? HD_TILES_LAUNCH
                                                                           : HD_TILES_UNKNOWN;
  out->shape = t->found.shape;
  return HD_OK;
}

hd_status an_find_tiles(an *a, const hd_point *at) {
  tiling t = {.a = a, .at = *at};
  hd_tiles *out = &a->pub.tiles;
  uint64_t tasks;
  if (!hd_grid_tasks(at->grid, &t.V)) return HD_OK;
  hd_poly *kept = keep_addresses(a);
  out->loop = t.loop = an_find_tile_loop(a, at, &tasks);
  if (t.loop != HD_NONE) t.V = tasks;
  t.rounds = HD_NEW_N(&a->arena, a->pub.cfg.n_loops + 1u, uint64_t);
  t.n_seen = (uint32_t)a->alg.polys.n;
  t.seen = HD_NEW_N(&a->arena, t.n_seen + 1u, uint8_t);
  hd_status st = search_tiles(&t);
  if (st != HD_OK) return st;
  if (out->answer == HD_TILES_FOUND) {
    each_formula(a, rewrite_formula, &t);
    if (t.loop == HD_NONE) thin_all(&t);
    classify(a);
  } else {
    for (size_t i = 0; i < a->result.sites.n; i++) a->result.sites.data[i].address = kept[i];
  }
  an_publish(a);
  return HD_OK;
}
