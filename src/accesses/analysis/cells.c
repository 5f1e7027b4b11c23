/* The coordinates that stand for a CTA's number: among quantities of which each is known for every CTA, those
 * that make up a box, one cell to a CTA, and in which most others are linear.
 *
 * Nothing is assumed about how the kernel computes them, so divisions, remainders, multiplications and
 * shifts, and groupings of any kind are all the same here.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/tiles.h"
#include "base/arith.h"

enum { AXES = 3 };

/* (value - origin) / step: 0 to extent - 1, and 0 in the first CTA where that has the least or the greatest.
 */
typedef struct coordinate {
  unsigned value;
  int64_t origin, step;
  uint64_t extent;
} coordinate;

typedef struct choice {
  unsigned k;
  coordinate axes[AXES];
  unsigned score; /* used values that are linear in them */
} choice;

typedef struct chooser {
  const tiles_value *values;
  unsigned n, n_own;
  uint64_t V;
  coordinate all[TILES_MOST_VALUES];
  unsigned n_all;
  uint32_t *cta_of; /* per cell of the choice at hand */
  choice best;
} chooser;

/* ---- Coordinates -------------------------------------------------------------------------- */

static uint64_t distance(int64_t x, int64_t y) {
  return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

/* False: a constant, or one with more values than there are CTAs. */
static bool as_coordinate(const chooser *c, unsigned value, coordinate *out) {
  const int64_t *v = c->values[value].at;
  int64_t lo = v[0], hi = v[0];
  uint64_t step = 0;
  for (uint64_t t = 1; t < c->V; t++) {
    if (v[t] < lo) lo = v[t];
    if (v[t] > hi) hi = v[t];
    if (step != 1) step = hd_gcd(step, distance(v[t], v[0]));
  }
  if (!step || step > INT64_MAX || distance(hi, lo) / step >= c->V) return false;
  bool down = v[0] == hi;
  *out = (coordinate){.value = value,
                      .origin = down ? hi : lo,
                      .step = down ? -(int64_t)step : (int64_t)step,
                      .extent = distance(hi, lo) / step + 1};
  return true;
}

static uint64_t along(const chooser *c, const coordinate *x, uint64_t cta) {
  return distance(c->values[x->value].at[cta], x->origin) / hd_magnitude(x->step);
}

static bool same_coordinate(const chooser *c, const coordinate *x, const coordinate *y) {
  if (x->extent != y->extent) return false;
  for (uint64_t t = 0; t < c->V; t++)
    if (along(c, x, t) != along(c, y, t)) return false;
  return true;
}

/* Each once. */
static void list_coordinates(chooser *c) {
  for (unsigned i = 0; i < c->n; i++) {
    bool known = !as_coordinate(c, i, &c->all[c->n_all]);
    for (unsigned k = 0; k < c->n_all && !known; k++)
      known = same_coordinate(c, &c->all[k], &c->all[c->n_all]);
    c->n_all += !known;
  }
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

static uint64_t cell_of(const chooser *c, const choice *k, uint64_t cta) {
  uint64_t cell = 0;
  for (unsigned i = k->k; i-- > 0;) cell = cell * k->axes[i].extent + along(c, &k->axes[i], cta);
  return cell;
}

static bool is_box(const chooser *c, const choice *k) {
  uint64_t cells = 1;
  for (unsigned i = 0; i < k->k; i++)
    if (__builtin_mul_overflow(cells, k->axes[i].extent, &cells)) return false;
  if (cells != c->V) return false;
  memset(c->cta_of, 0xff, c->V * sizeof *c->cta_of);
  for (uint64_t t = 0; t < c->V; t++) {
    uint64_t cell = cell_of(c, k, t);
    if (c->cta_of[cell] != UINT32_MAX) return false;
    c->cta_of[cell] = (uint32_t)t;
  }
  return true;
}

/* c->cta_of is the box's. */
static bool is_linear(const chooser *c, const choice *k, const int64_t *v) {
  int64_t base = v[c->cta_of[0]], by[AXES] = {0};
  uint64_t next = 1;
  for (unsigned i = 0; i < k->k; next *= k->axes[i++].extent)
    by[i] = (int64_t)((uint64_t)v[c->cta_of[next]] - (uint64_t)base);
  for (uint64_t t = 0; t < c->V; t++) {
    uint64_t sum = (uint64_t)base;
    for (unsigned i = 0; i < k->k; i++) sum += (uint64_t)by[i] * along(c, &k->axes[i], t);
    if (sum != (uint64_t)v[t]) return false;
  }
  return true;
}

static void consider(chooser *c, choice *k) {
  if (!is_box(c, k)) return;
  for (unsigned i = 0; i < c->n; i++) k->score += c->values[i].used && is_linear(c, k, c->values[i].at);
  if (!c->best.k || k->score > c->best.score) c->best = *k;
}

static void consider_all(chooser *c, unsigned k) {
  for (unsigned i = 0; i < c->n_all; i++)
    for (unsigned j = i + 1; j < c->n_all; j++)
      for (unsigned l = k == 2 ? c->n_all : j + 1; l <= c->n_all; l++)
        if (k == 2 || l < c->n_all)
          consider(c, &(choice){.k = k, .axes = {c->all[i], c->all[j], c->all[l < c->n_all ? l : 0]}});
}

/* ---- The kernel's own order --------------------------------------------------------------------- */

/* The grid that an order goes through: the coordinates, turned, or the first two of them joined to one, as
 * pieces of a tile lie next to each other. */
typedef struct view {
  const chooser *c;
  coordinate axes[AXES];
  unsigned k;
  bool joined;
  uint32_t n[AXES];
} view;

static uint64_t seen_at(const view *v, unsigned axis, uint64_t cta) {
  if (v->joined && axis == 0)
    return along(v->c, &v->axes[0], cta) + v->axes[0].extent * along(v->c, &v->axes[1], cta);
  unsigned i = axis + v->joined;
  return i < v->k ? along(v->c, &v->axes[i], cta) : 0;
}

static view view_of(const chooser *c, const unsigned turned[AXES], bool joined) {
  view v = {.c = c, .k = c->best.k, .joined = joined, .n = {1, 1, 1}};
  for (unsigned i = 0; i < v.k; i++) v.axes[i] = c->best.axes[turned[i]];
  for (unsigned i = 0; i < v.k; i++) v.n[joined && i ? i - 1 : i] *= (uint32_t)v.axes[i].extent;
  return v;
}

/* CTA t works on the cell at position t of the order. */
static bool goes_so(const view *v, const hd_order *o) {
  const hd_plan plan = {.order = *o};
  const hd_grid grid = {.known = true, .g = {v->n[0], v->n[1], v->n[2]}, .n_sms = 1};
  hd_prog cell;
  if (hd_plan_forward(&plan, &grid, &cell, NULL) != HD_OK) return false;
  for (uint64_t t = 0; t < v->c->V; t++) {
    uint64_t at[3];
    hd_prog_eval(&cell, v->n, t, NULL, at);
    for (unsigned i = 0; i < AXES; i++)
      if (at[i] != seen_at(v, i, t)) return false;
  }
  return true;
}

enum { ORDERS = 4 };

/* Orders that the first CTAs look like, the plainest first. */
static hd_order order_of(const view *v, unsigned i) {
  uint64_t x = 0, y = 0, wide = 0;
  while (x < v->c->V && !seen_at(v, 0, x)) x++;
  while (y < v->c->V && !seen_at(v, 1, y)) y++;
  while (wide < v->c->V && seen_at(v, 0, wide) < y) wide++;
  const hd_order orders[ORDERS] = {
      {.kind = HD_ORDER_ROW},
      {.kind = HD_ORDER_BAND, .a = (uint32_t)x},
      {.kind = HD_ORDER_ZIGZAG, .a = v->n[0], .b = 1},
      {.kind = HD_ORDER_TILE, .a = (uint32_t)y, .b = y ? (uint32_t)(wide / y) : 0}};
  return orders[i];
}

/* Which of the coordinates is x, y and z, and in which order the kernel goes through them. */
static bool find_numbering(const chooser *c, bool joined, view *out, hd_order *own) {
  static const unsigned turns[][AXES] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  unsigned n = c->best.k == 2 ? 2 : sizeof turns / sizeof *turns;
  for (unsigned i = 0; i < ORDERS * n; i++) {
    *out = view_of(c, turns[i % n], joined);
    *own = order_of(out, i / n);
    if (goes_so(out, own)) return true;
  }
  *own = (hd_order){0};
  *out = view_of(c, turns[0], false);
  return false;
}

static bool is_own(const chooser *c, const coordinate *x) { return x->value >= c->n - c->n_own; }

/* Where everything lies in the coordinates. */
static void lay_out(chooser *c, tiles_found *out) {
  uint64_t next = 1;
  is_box(c, &c->best);
  out->axes[0] = c->cta_of[0];
  for (unsigned i = 0; i < AXES; next *= out->n[i++]) {
    out->n[i] = i < c->best.k ? (uint32_t)c->best.axes[i].extent : 1;
    out->axes[i + 1] = c->cta_of[out->n[i] > 1 ? next : 0];
    for (uint64_t t = 0; t < c->V; t++)
      out->at[i][t] = i < c->best.k ? (uint32_t)along(c, &c->best.axes[i], t) : 0;
  }
}

static void settle(chooser *c, tiles_found *out) {
  view v;
  bool own = true;
  for (unsigned i = 0; i < c->best.k; i++) own &= is_own(c, &c->best.axes[i]);
  out->found = c->best.k && !own;
  if (!out->found) return;
  bool known = find_numbering(c, false, &v, &out->shape.own) ||
               (c->best.k == 3 && find_numbering(c, true, &v, &out->shape.own));
  if (known) {
    out->shape.kind = HD_SHAPE_GIVEN;
    memcpy(out->shape.n, v.n, sizeof out->shape.n);
    if (v.n[2] == 1) out->shape.n[2] = 0;
  }
  memcpy(c->best.axes, v.axes, sizeof c->best.axes);
  lay_out(c, out);
}

bool tiles_choose(const tiles_value *values, unsigned n, unsigned n_own, uint64_t V, unsigned k,
                  tiles_found *out) {
  chooser c = {.values = values, .n = n, .n_own = n_own, .V = V, .cta_of = malloc(V * sizeof *c.cta_of)};
  if (!c.cta_of) return false;
  list_coordinates(&c);
  consider_all(&c, k);
  settle(&c, out);
  free(c.cta_of);
  return true;
}

/* The remainder that is nearest to 0. */
static int64_t nearest(int64_t v, int64_t modulo) {
  int64_t r = v % modulo;
  return r > modulo / 2 ? r - modulo : r < -(modulo / 2) ? r + modulo : r;
}

tiles_form tiles_form_of(const tiles_found *f, uint64_t V, const int64_t *value, int64_t modulo) {
  tiles_form r = {.linear = true, .base = value[f->axes[0]]};
  for (unsigned i = 0; i < AXES; i++) {
    r.by[i] = (int64_t)((uint64_t)value[f->axes[i + 1]] - (uint64_t)r.base);
    if (modulo) r.by[i] = nearest(r.by[i], modulo);
  }
  for (uint64_t t = 0; t < V && r.linear; t++) {
    uint64_t sum = (uint64_t)r.base;
    for (unsigned i = 0; i < AXES; i++) sum += (uint64_t)r.by[i] * f->at[i][t];
    int64_t off = (int64_t)((uint64_t)value[t] - sum);
    r.linear = modulo ? off % modulo == 0 : off == 0;
  }
  return r;
}
