/* Polynomials at one point of a launch: values, accesses of a thread, coalescing of a warp. */
#include <stdlib.h>
#include <string.h>

#include "analysis/internal.h"

enum { MAX_DEPTH = 64, MAX_WALKED_LOOPS = 64, SECTOR = 32, LINE = 128 };

/* ---- Evaluation ----------------------------------------------------------------------- */

static bool evaluate(const hd_analysis *a, hd_poly p, const hd_point *at, unsigned depth, int64_t *out);

static bool extend_bytes(const hd_value_symbol *s, const void *bytes, int64_t *out) {
  uint64_t v = 0;
  memcpy(&v, bytes, s->width / 8);
  *out = s->is_signed ? hd_sign_extend(v, s->width) : (int64_t)v;
  return true;
}

bool an_param_value(const hd_analysis *a, const hd_value_symbol *s, const hd_point *at, int64_t *out) {
  const an *all = a->priv;
  if (!at->args || all->param_bytes == UINT64_MAX) return false;
  uint64_t from = all->param_offsets[s->a] + s->b;
  if (from + s->width / 8 > at->args_bytes) return false;
  return extend_bytes(s, (const char *)at->args + from, out);
}

static bool constant(const hd_value_symbol *s, const hd_point *at, int64_t *out) {
  uint64_t bytes = 0;
  return at->constant && at->constant(at->ctx, s->a, s->b, &bytes, s->width / 8) &&
         extend_bytes(s, &bytes, out);
}

static bool task(uint32_t loop, const hd_point *at, int64_t *out) {
  if (!at->counters || !at->grid[0]) return false;
  *out = (int64_t)(at->ctaid[0] + at->grid[0] * at->counters[loop]);
  return true;
}

static bool tile(const hd_analysis *a, uint32_t part, const hd_point *at, int64_t *out) {
  uint64_t y = at->ctaid[1] + (uint64_t)at->grid[1] * at->ctaid[2];
  int64_t number = (int64_t)(at->ctaid[0] + at->grid[0] * y);
  if (!a->tiles.at[part] || !at->grid[0] || !at->grid[1]) return false;
  if (a->tiles.loop != HD_NONE && !task(a->tiles.loop, at, &number)) return false;
  uint64_t tiles = (uint64_t)a->tiles.n[0] * a->tiles.n[1] * a->tiles.n[2];
  if (number < 0 || (uint64_t)number >= tiles) return false;
  *out = a->tiles.at[part][number];
  return true;
}

static bool of_dims(const uint32_t dims[3], uint32_t part, int64_t *out) {
  *out = dims[part];
  return dims[part] != 0;
}

static bool symbol_value(const hd_analysis *a, const hd_value_symbol *s, const hd_point *at, unsigned depth,
                         int64_t *out) {
  int64_t x, y;
  uint64_t address;
  switch (s->kind) {
  case HD_V_TID: *out = at->tid[s->a]; return true;
  case HD_V_CTAID: *out = at->ctaid[s->a]; return true;
  case HD_V_COUNTER:
    if (!at->counters) return false;
    *out = (int64_t)at->counters[s->a];
    return true;
  case HD_V_NTID: return of_dims(at->block, s->a, out);
  case HD_V_NCTAID: return of_dims(at->grid, s->a, out);
  case HD_V_TASK: return task(s->a, at, out);
  case HD_V_TILE: return tile(a, s->a, at, out);
  case HD_V_PARAM: return an_param_value(a, s, at, out);
  case HD_V_CONST: return constant(s, at, out);
  case HD_V_ADDRESS:
    if (s->a == HD_NONE || !at->address || !at->address(at->ctx, s->a, &address)) return false;
    *out = (int64_t)address;
    return true;
  default: break;
  }
  if (!an_is_function(s->kind) || !evaluate(a, s->a, at, depth + 1, &x)) return false;
  switch (s->kind) {
  case HD_V_POS: *out = x > 0 ? x : 0; return true;
  case HD_V_GE: *out = x >= 0; return true;
  case HD_V_EQ: *out = x == 0; return true;
  case HD_V_POW2: *out = hd_power_of_two(x); return true;
  case HD_V_IF: /* the other value may not even be defined where the condition fails */
    *out = 0;
    return !x || evaluate(a, s->b, at, depth + 1, out);
  case HD_V_BOTH: *out = 0; return !x || evaluate(a, s->b, at, depth + 1, out);
  default: break;
  }
  if (!evaluate(a, s->b, at, depth + 1, &y)) return false;
  switch (s->kind) {
  case HD_V_FLOOR:
    if (y <= 0) return false;
    *out = hd_floor_div(x, y);
    return true;
  case HD_V_BITAND: *out = x & y; return true;
  case HD_V_BITXOR: *out = x ^ y; return true;
  default: return false;
  }
}

static bool evaluate_terms(const hd_analysis *a, hd_poly p, const hd_point *at, unsigned depth,
                           uint8_t varies, int64_t *out) {
  const hd_polynomial *q = &a->polys[p];
  uint64_t sum = 0;
  if (depth > MAX_DEPTH) return false;
  for (uint32_t i = 0; i < q->n; i++) {
    const hd_term *t = &a->terms[q->first + i];
    const hd_product *prod = &a->products[t->product];
    uint64_t v = (uint64_t)t->coefficient;
    bool wanted = varies == 0xff;
    for (uint32_t k = 0; k < prod->n && !wanted; k++)
      wanted = a->symbols[a->factors[prod->first + k]].varies & varies;
    if (!wanted) continue;
    for (uint32_t k = 0; k < prod->n; k++) {
      int64_t f;
      if (!symbol_value(a, &a->symbols[a->factors[prod->first + k]], at, depth, &f)) return false;
      v *= (uint64_t)f;
    }
    sum += v;
  }
  *out = (int64_t)sum;
  return true;
}

static bool evaluate(const hd_analysis *a, hd_poly p, const hd_point *at, unsigned depth, int64_t *out) {
  return evaluate_terms(a, p, at, depth, 0xff, out);
}

bool hd_poly_eval(const hd_analysis *a, hd_poly p, const hd_point *at, int64_t *out) {
  return p != HD_NONE && evaluate(a, p, at, 0, out);
}

bool hd_symbol_eval(const hd_analysis *a, hd_symbol s, const hd_point *at, int64_t *out) {
  return s < a->n_symbols && symbol_value(a, &a->symbols[s], at, 0, out);
}

int hd_point_assumption(const hd_analysis *a, const hd_assumption *s, const hd_point *at) {
  int64_t v;
  if (!evaluate(a, s->poly, at, 0, &v)) return -1;
  return v >= s->lo && v <= s->hi;
}

/* ---- All accesses of a thread ----------------------------------------------------------- */

typedef struct walk {
  const hd_analysis *a;
  const hd_site *site;
  hd_point at;
  uint64_t *counters, limit;
  int64_t n;
  uint32_t *loops, n_loops; /* around the site, outermost first */
  bool (*visit)(void *ctx, const uint64_t *counters, uint64_t address);
  void *ctx;
} walk;

typedef enum walked { WALK_ON, WALK_STOP, WALK_UNKNOWN } walked;

static bool assumptions_hold(const walk *w, uint32_t first, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (hd_point_assumption(w->a, &w->a->assumptions[w->a->assumption_lists[first + i]], &w->at) != 1)
      return false;
  return true;
}

/* Guards decided inside that many of the loops: 1 hold, 0 one does not, -1 unknown. */
static int guards_hold(const walk *w, uint32_t depth) {
  const hd_cfg *g = &w->a->cfg;
  for (uint32_t i = 0; i < w->site->n_guards; i++) {
    const hd_guard *guard = &w->a->guards[w->site->first_guard + i];
    uint32_t of = guard->loop == HD_NONE ? 0 : g->loops[guard->loop].depth;
    int64_t v;
    if (of != depth) continue;
    if (!assumptions_hold(w, guard->first_assumption, guard->n_assumptions)) return -1;
    if (!evaluate(w->a, guard->poly, &w->at, 0, &v)) return -1;
    if (!v) return 0;
  }
  return 1;
}

static walked walk_loops(walk *w, uint32_t depth) {
  int hold = guards_hold(w, depth);
  if (hold <= 0) return hold ? WALK_UNKNOWN : WALK_ON;
  if (depth == w->n_loops) {
    int64_t address;
    if (++w->n > (int64_t)w->limit || !evaluate(w->a, w->site->address, &w->at, 0, &address))
      return WALK_UNKNOWN;
    return w->visit(w->ctx, w->counters, (uint64_t)address) ? WALK_ON : WALK_STOP;
  }
  uint32_t loop = w->loops[depth];
  int64_t trips;
  const hd_loop_values *l = &w->a->loop_values[loop];
  w->counters[loop] = 0;
  if (l->trips == HD_NONE || !assumptions_hold(w, l->first_assumption, l->n_assumptions) ||
      !evaluate(w->a, l->trips, &w->at, 0, &trips))
    return WALK_UNKNOWN;
  for (int64_t k = 0; k <= trips; k++) {
    if ((uint64_t)k > w->limit) return WALK_UNKNOWN;
    w->counters[loop] = (uint64_t)k;
    walked r = walk_loops(w, depth + 1);
    if (r != WALK_ON) return r;
  }
  return WALK_ON;
}

int64_t hd_site_visit(const hd_analysis *a, uint32_t site, const hd_point *at, uint64_t limit,
                      bool (*visit)(void *ctx, const uint64_t *counters, uint64_t address), void *ctx) {
  const hd_site *s = &a->sites[site];
  const hd_cfg *g = &a->cfg;
  if (!s->guards_complete || s->level >= HD_LEVEL_DATA) return -1;
  walk w = {.a = a,
            .site = s,
            .at = *at,
            .limit = limit < INT64_MAX ? limit : INT64_MAX,
            .visit = visit,
            .ctx = ctx};
  w.counters = calloc((size_t)g->n_loops + 1, sizeof *w.counters);
  w.loops = calloc((size_t)g->n_loops + 1, sizeof *w.loops);
  walked r = WALK_UNKNOWN;
  if (w.counters && w.loops) {
    uint32_t inner = g->blocks[a->cfg.insts[s->inst].block].loop;
    bool deep = inner != HD_NONE && g->loops[inner].depth > MAX_WALKED_LOOPS;
    for (uint32_t l = deep ? HD_NONE : inner; l != HD_NONE; l = g->loops[l].parent) {
      w.loops[g->loops[l].depth - 1] = l;
      w.n_loops++;
    }
    w.at.counters = w.counters;
    if (!deep) r = walk_loops(&w, 0);
  }
  free(w.counters);
  free(w.loops);
  return r == WALK_UNKNOWN ? -1 : w.n;
}

/* ---- Coalescing ---------------------------------------------------------------------------- */

static int by_value(const void *pa, const void *pb) {
  const uint64_t *x = pa, *y = pb;
  return (*x > *y) - (*x < *y);
}

/* Units of `size` bytes that [address, address + bytes) of the sorted addresses touch; 1: bytes. */
static uint32_t count_units(const uint64_t *sorted, uint32_t n, uint32_t bytes, uint64_t size) {
  uint64_t count = 0, next = 0; /* units below next are counted */
  for (uint32_t i = 0; i < n; i++) {
    uint64_t first = sorted[i] / size, last = (sorted[i] + bytes - 1) / size;
    if (first < next) first = next;
    if (last + 1 > first) count += last + 1 - first;
    if (last + 1 > next) next = last + 1;
  }
  return (uint32_t)count;
}

hd_coalescing hd_site_coalescing(const hd_analysis *a, uint32_t site, const hd_point *at, uint32_t first) {
  const hd_site *s = &a->sites[site];
  hd_coalescing r = {0};
  uint64_t address[AN_WARP], threads = (uint64_t)at->block[0] * at->block[1] * at->block[2];
  if (s->level >= HD_LEVEL_DATA || s->whole_warp || !s->bytes || !threads) return r;
  hd_point p = *at;
  uint64_t *zeros = p.counters ? NULL : calloc((size_t)a->cfg.n_loops + 1, sizeof *zeros);
  if (!p.counters && !zeros) return r;
  if (!p.counters) p.counters = zeros;
  bool absolute = true, relative = true;
  for (int pass = 0; pass < 2 && relative; pass++) {
    r.lanes = 0;
    for (uint64_t t = first; t < threads && r.lanes < AN_WARP; t++) {
      int64_t v;
      p.tid[0] = (uint32_t)(t % at->block[0]);
      p.tid[1] = (uint32_t)(t / at->block[0] % at->block[1]);
      p.tid[2] = (uint32_t)(t / at->block[0] / at->block[1]);
      bool ok = evaluate_terms(a, s->address, &p, 0, pass ? 7 : 0xff, &v);
      if (!ok && !pass) absolute = false;
      if (!ok && pass) relative = false;
      address[r.lanes++] = ok ? (uint64_t)v : 0;
      if (!ok) break;
    }
    if (absolute) break;
  }
  free(zeros);
  if (!relative || !r.lanes) return r;
  r.known = true;
  if (!absolute) { /* as offsets from the lowest */
    int64_t least = (int64_t)address[0];
    for (uint32_t i = 1; i < r.lanes; i++)
      if ((int64_t)address[i] < least) least = (int64_t)address[i];
    for (uint32_t i = 0; i < r.lanes; i++) address[i] -= (uint64_t)least;
  }
  qsort(address, r.lanes, sizeof *address, by_value);
  r.sectors = count_units(address, r.lanes, s->bytes, SECTOR);
  r.lines = count_units(address, r.lanes, s->bytes, LINE);
  r.bytes = count_units(address, r.lanes, s->bytes, 1);
  return r;
}
