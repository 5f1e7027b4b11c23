/* Orders: from a worker's id or a position to a cell of the grid. */
#include "plan/order.h"

#include <assert.h>

bool hd_grid_tasks(const uint32_t g[3], uint64_t *V) {
  uint64_t plane = (uint64_t)g[0] * g[1];
  return !__builtin_mul_overflow(plane, (uint64_t)g[2], V) && *V > 0;
}

/* ---- The grid as values ------------------------------------------------------ */

enum { DIMENSIONS = 3 };

static void known_space(plan_builder *b, const uint32_t g[3], plan_space *s) {
  for (int i = 0; i < DIMENSIONS; i++) s->n[i] = plan_const(b, g[i]);
  s->plane = plan_mul(b, s->n[0], s->n[1]);
  s->tasks = plan_mul(b, s->plane, s->n[2]);
}

/* Every grid of fewer than 2^32 tasks. */
static void unknown_space(plan_builder *b, plan_space *s) {
  static const hd_pop inputs[DIMENSIONS] = {HD_P_NX, HD_P_NY, HD_P_NZ};
  for (int i = 0; i < DIMENSIONS; i++) s->n[i] = plan_input(b, inputs[i], 1, UINT32_MAX);
  s->tasks = plan_input(b, HD_P_V, 1, UINT32_MAX);
  s->plane = plan_cells(b, s, s->n[0], s->n[1]);
}

static hd_status check_grid(const hd_plan *p, const hd_grid *g, hd_diag *d) {
  if (p->shape.kind == HD_SHAPE_AUTO)
    return hd_fail(
        d, HD_ERR_USAGE,
        "shape=auto follows from a launch, and none is known here: --grid says it, or write shape=WxH");
  bool table = hd_order_needs_table(p->order.kind);
  if (hd_bind_has_clusters(p->bind) && g->n_sms == 0)
    return hd_fail(d, HD_ERR_USAGE, "clusters need a number of SMs of at least 1");
  if (!g->known)
    return table ? hd_fail(d, HD_ERR_REFUSED,
                           "an order that is a table fits one grid only, and the grid is not known")
                 : HD_OK;
  uint64_t V;
  if (!hd_grid_tasks(g->g, &V) || V > INT64_MAX)
    return hd_fail(d, HD_ERR_USAGE, "a grid of %u x %u x %u has no tasks or more than 2^63 - 1", g->g[0],
                   g->g[1], g->g[2]);
  if (table && V > UINT32_MAX)
    return hd_fail(d, HD_ERR_REFUSED, "an order's table holds fewer than 2^32 tasks, but the grid has %llu",
                   (unsigned long long)V);
  return HD_OK;
}

hd_status plan_open(plan_builder *b, const hd_plan *p, const hd_grid *g, plan_space *s, hd_diag *d) {
  hd_status st = hd_plan_check(p, d);
  if (st == HD_OK) st = check_grid(p, g, d);
  if (st != HD_OK) return st;
  plan_begin(b);
  *s = (plan_space){.known = g->known, .worker = PLAN_NONE};
  if (g->known)
    known_space(b, g->g, s);
  else
    unknown_space(b, s);
  return HD_OK;
}

/* An order's parameter: a constant, or an input where the plan is printed for any value (hd_plan_header). */
plan_val plan_parameter(plan_builder *b, hd_pop op, uint32_t value) {
  return b->symbolic ? plan_input(b, op, 1, UINT32_MAX) : plan_const(b, value);
}

plan_val plan_linear_input(plan_builder *b, const plan_space *s) {
  uint64_t hi = plan_hi(b, s->tasks) - 1;
  return hi == 0 ? plan_const(b, 0) : plan_input(b, HD_P_POS, 0, hi);
}

plan_val plan_cell_input(plan_builder *b, plan_space *s) {
  static const hd_pop inputs[DIMENSIONS] = {HD_P_X, HD_P_Y, HD_P_Z};
  plan_val own[DIMENSIONS];
  for (int i = 0; i < DIMENSIONS; i++) {
    uint64_t hi = plan_hi(b, s->n[i]) - 1;
    own[i] = hi == 0 ? plan_const(b, 0) : plan_input(b, inputs[i], 0, hi);
  }
  uint64_t last = plan_hi(b, s->tasks) - 1;
  plan_val rows = plan_bound(b, plan_mul(b, own[2], s->n[1]), 0, last);
  plan_val row = plan_bound(b, plan_add(b, rows, own[1]), 0, last);
  plan_val begin = plan_bound(b, plan_mul(b, row, s->n[0]), 0, last);
  s->own = (plan_cell){own[0], own[1], own[2]};
  s->worker = plan_bound(b, plan_add(b, begin, own[0]), 0, last);
  plan_state_division(b, s->worker, s->n[0], row, own[0]);
  plan_state_division(b, row, s->n[1], own[2], own[1]);
  if (s->plane != s->n[0])
    plan_state_division(b, s->worker, s->plane, own[2],
                        plan_bound(b, plan_mad(b, own[1], s->n[0], own[0]), 0, plan_hi(b, s->plane) - 1));
  return s->worker;
}

plan_val plan_cells(plan_builder *b, const plan_space *s, plan_val x, plan_val y) {
  return plan_bound(b, plan_mul(b, x, y), 1, plan_hi(b, s->tasks));
}

plan_cell plan_row_cell(plan_builder *b, const plan_space *s, plan_val task) {
  plan_cell c;
  plan_val row;
  plan_divmod(b, task, s->n[0], &row, &c.x);
  plan_divmod(b, row, s->n[1], &c.z, &c.y);
  return c;
}

plan_val plan_row_task(plan_builder *b, const plan_space *s, plan_cell c) {
  plan_val row = plan_mad(b, c.z, s->n[1], c.y);
  return plan_bound(b, plan_mad(b, row, s->n[0], c.x), 0, plan_hi(b, s->tasks) - 1);
}

/* ---- Pieces of a dimension ----------------------------------------------------- */

bool plan_divides(const plan_builder *b, plan_val size, plan_val n) {
  return plan_is_const(b, size) && plan_is_const(b, n) && plan_hi(b, n) % plan_hi(b, size) == 0;
}

plan_piece plan_piece_at(plan_builder *b, plan_val n, plan_val size, plan_val index) {
  if (!plan_is_const(b, n) || !plan_is_const(b, size)) {
    plan_val begin = plan_bound(b, plan_mul(b, index, size), 0, plan_hi(b, n) - 1);
    plan_val left = plan_sub(b, n, begin);
    plan_val length = plan_bound(b, plan_min(b, size, left), 1, plan_hi(b, size));
    return (plan_piece){.length = length, .full = PLAN_NONE};
  }
  uint64_t whole = plan_hi(b, n) / plan_hi(b, size), rest = plan_hi(b, n) % plan_hi(b, size);
  plan_piece p = {.size = size, .full = plan_const(b, 1), .last = size};
  if (rest) {
    p.full = plan_lt(b, index, plan_const(b, whole));
    p.last = plan_const(b, rest);
  }
  p.length = plan_select(b, p.full, p.size, p.last);
  return p;
}

/* Cells in k pieces of a grid whose size is not known: fewer than 2^32. */
static plan_val piece_cells(plan_builder *b, const plan_piece *p, plan_val k) {
  return plan_bound(b, plan_mul(b, p->length, k), plan_lo(b, k), UINT32_MAX);
}

plan_val plan_piece_mul(plan_builder *b, const plan_piece *p, plan_val k) {
  if (p->full == PLAN_NONE) return piece_cells(b, p, k);
  return plan_select(b, p->full, plan_mul(b, p->size, k), plan_mul(b, p->last, k));
}

plan_val plan_piece_div(plan_builder *b, const plan_piece *p, plan_val x, plan_val k) {
  if (p->full == PLAN_NONE) return plan_div(b, x, piece_cells(b, p, k));
  return plan_select(b, p->full, plan_div(b, x, plan_mul(b, p->size, k)),
                     plan_div(b, x, plan_mul(b, p->last, k)));
}

/* ---- Orders ---------------------------------------------------------------------- */

plan_at plan_at_task(plan_builder *b, const plan_space *s, plan_val task) {
  return (plan_at){plan_row_cell(b, s, task), task};
}

static plan_at at_cell(plan_builder *b, const plan_space *s, plan_cell c) {
  return (plan_at){c, plan_row_task(b, s, c)};
}

static plan_at row(plan_builder *b, const plan_space *s, const hd_order *o, plan_val p) {
  return plan_at_task(b, s, p);
}

static plan_at col(plan_builder *b, const plan_space *s, const hd_order *o, plan_val p) {
  plan_cell c;
  plan_val column;
  plan_divmod(b, p, s->n[1], &column, &c.y);
  plan_divmod(b, column, s->n[0], &c.z, &c.x);
  return at_cell(b, s, c);
}

static plan_at band(plan_builder *b, const plan_space *s, const hd_order *o, plan_val p) {
  plan_val H = plan_min(b, plan_parameter(b, HD_P_A, o->a), s->n[1]), index;
  plan_cell c;
  if (plan_divides(b, H, s->n[1])) {
    /* p = y' + H*(x + nx*(z + nz*index)), y = y' + H*index */
    plan_val column = plan_div(b, p, H), slice;
    plan_divmod(b, column, s->n[0], &slice, &c.x);
    plan_divmod(b, slice, s->n[2], &index, &c.z);
    c.y = plan_sub(b, p, plan_mul(b, plan_sub(b, column, index), H));
  } else {
    plan_val layer = plan_cells(b, s, s->n[0], s->n[2]); /* cells one row high */
    plan_val in_band;
    plan_divmod(b, p, plan_cells(b, s, H, layer), &index, &in_band);
    plan_piece h = plan_piece_at(b, s->n[1], H, index);
    plan_val column = plan_piece_div(b, &h, in_band, plan_const(b, 1));
    column = plan_bound(b, column, 0, plan_hi(b, layer) - 1);
    plan_divmod(b, column, s->n[0], &c.z, &c.x);
    c.y = plan_mad(b, index, H, plan_sub(b, in_band, plan_mul(b, column, h.length)));
  }
  c.y = plan_bound(b, c.y, 0, plan_hi(b, s->n[1]) - 1);
  return at_cell(b, s, c);
}

/* Where a plane of `width` columns and n[1] rows is cut into bands of H rows, y
 * fastest inside a band: the column, and y. p is the position within all planes. */
static void banded_planes(plan_builder *b, const plan_space *s, plan_val width, plan_val H, plan_val p,
                          plan_val *column, plan_cell *c) {
  plan_val index;
  if (plan_divides(b, H, s->n[1])) {
    plan_val bands = plan_div(b, s->n[1], H), q = plan_div(b, p, H), all;
    plan_divmod(b, q, width, &all, column);
    plan_divmod(b, all, bands, &c->z, &index);
    c->y = plan_sub(b, p, plan_mul(b, plan_sub(b, q, index), H));
  } else {
    plan_val in_plane, in_band;
    plan_divmod(b, p, plan_cells(b, s, width, s->n[1]), &c->z, &in_plane);
    plan_divmod(b, in_plane, plan_cells(b, s, width, H), &index, &in_band);
    plan_piece h = plan_piece_at(b, s->n[1], H, index);
    *column = plan_piece_div(b, &h, in_band, plan_const(b, 1));
    *column = plan_bound(b, *column, 0, plan_hi(b, width) - 1);
    c->y = plan_mad(b, index, H, plan_sub(b, in_band, plan_mul(b, *column, h.length)));
  }
  c->y = plan_bound(b, c->y, 0, plan_hi(b, s->n[1]) - 1);
}

bool plan_tile_shape(plan_builder *b, const plan_space *s, const hd_order *o, plan_val *W, plan_val *H) {
  *W = plan_min(b, plan_parameter(b, HD_P_A, o->a), s->n[0]);
  *H = plan_min(b, plan_parameter(b, HD_P_B, o->b), s->n[1]);
  return *W != s->n[0] && !plan_equals(b, *H, 1);
}

static plan_at tile(plan_builder *b, const plan_space *s, const hd_order *o, plan_val p) {
  plan_val W, H;
  if (o->c) return plan_rows_at(b, s, o, p);
  if (!plan_tile_shape(b, s, o, &W, &H)) return plan_at_task(b, s, p);
  plan_cell c;
  if (plan_divides(b, W, s->n[0])) {
    /* Whole runs of W cells, banded: p = x' + W*run, x = x' + W*column. */
    plan_val run = plan_div(b, p, W), column;
    banded_planes(b, s, plan_div(b, s->n[0], W), H, run, &column, &c);
    c.x = plan_sub(b, p, plan_mul(b, plan_sub(b, run, column), W));
  } else {
    plan_val in_plane, ty, in_row, y;
    plan_divmod(b, p, s->plane, &c.z, &in_plane);
    plan_divmod(b, in_plane, plan_cells(b, s, H, s->n[0]), &ty, &in_row);
    plan_piece h = plan_piece_at(b, s->n[1], H, ty);
    plan_val tx = plan_piece_div(b, &h, in_row, W);
    tx = plan_bound(b, tx, 0, (plan_hi(b, s->n[0]) - 1) / plan_lo(b, W));
    plan_val in_tile = plan_sub(b, in_row, plan_mul(b, tx, plan_piece_mul(b, &h, W)));
    in_tile = plan_bound(b, in_tile, 0, plan_hi(b, plan_cells(b, s, W, H)) - 1);
    plan_piece w = plan_piece_at(b, s->n[0], W, tx);
    y = plan_bound(b, plan_piece_div(b, &w, in_tile, plan_const(b, 1)), 0, plan_hi(b, H) - 1);
    c.x = plan_mad(b, tx, W, plan_sub(b, in_tile, plan_mul(b, y, w.length)));
    c.y = plan_bound(b, plan_mad(b, ty, H, y), 0, plan_hi(b, s->n[1]) - 1);
  }
  c.x = plan_bound(b, c.x, 0, plan_hi(b, s->n[0]) - 1);
  return at_cell(b, s, c);
}

static plan_at zigzag(plan_builder *b, const plan_space *s, const hd_order *o, plan_val p) {
  plan_at at;
  at.task = plan_zigzag(b, s, o->a, o->b, p, &at.cell);
  return at;
}

static plan_at stride(plan_builder *b, const plan_space *s, const hd_order *o, plan_val p) {
  return plan_at_task(b, s, plan_stride(b, s, o->a, o->b, p));
}

/* x and y of entry `index` of a table of cells of a plane. */
static void unpack(plan_builder *b, const plan_space *s, plan_val index, plan_cell *c) {
  uint64_t nx = plan_hi(b, s->n[0]), ny = plan_hi(b, s->n[1]);
  bool line = nx == 1 || ny == 1;
  plan_val word =
      plan_table(b, index, line ? nx * ny - 1 : ((ny - 1) << PLAN_PACKED_BITS) + PLAN_PACKED_MASK);
  c->x = ny == 1 ? word : nx == 1 ? plan_const(b, 0) : plan_and(b, word, plan_const(b, PLAN_PACKED_MASK));
  c->y = ny == 1 ? plan_const(b, 0) : nx == 1 ? word : plan_shr(b, word, plan_const(b, PLAN_PACKED_BITS));
  c->x = plan_bound(b, c->x, 0, nx - 1);
  c->y = plan_bound(b, c->y, 0, ny - 1);
}

static plan_at hilbert(plan_builder *b, const plan_space *s, const hd_order *o, plan_val p) {
  plan_cell c;
  plan_val in_plane;
  plan_divmod(b, p, s->plane, &c.z, &in_plane);
  if (s->packed)
    unpack(b, s, in_plane, &c);
  else
    plan_hilbert_cell(b, s, in_plane, &c.x, &c.y);
  return at_cell(b, s, c);
}

static plan_val mirrored(plan_builder *b, plan_val n, plan_val x) {
  return plan_sub(b, plan_sub(b, n, plan_const(b, 1)), x);
}

static plan_at reverse(plan_builder *b, const plan_space *s, const hd_order *o, plan_val p) {
  plan_val last = plan_sub(b, s->tasks, plan_const(b, 1));
  plan_at at = {.task = plan_sub(b, last, p)};
  if (p == s->worker) /* each coordinate backwards */
    at.cell = (plan_cell){mirrored(b, s->n[0], s->own.x), mirrored(b, s->n[1], s->own.y),
                          mirrored(b, s->n[2], s->own.z)};
  else
    at.cell = plan_row_cell(b, s, at.task);
  return at;
}

static plan_at table(plan_builder *b, const plan_space *s, const hd_order *o, plan_val p) {
  if (s->packed) {
    plan_cell c = {.z = plan_const(b, 0)};
    unpack(b, s, p, &c);
    return at_cell(b, s, c);
  }
  return plan_at_task(b, s, plan_table(b, p, plan_hi(b, s->tasks) - 1));
}

static plan_at (*const orders[])(plan_builder *, const plan_space *, const hd_order *, plan_val) = {
    [HD_ORDER_ROW] = row,         [HD_ORDER_COL] = col,         [HD_ORDER_BAND] = band,
    [HD_ORDER_TILE] = tile,       [HD_ORDER_ZIGZAG] = zigzag,   [HD_ORDER_STRIDE] = stride,
    [HD_ORDER_HILBERT] = hilbert, [HD_ORDER_REVERSE] = reverse, [HD_ORDER_HEAVY_FIRST] = table,
    [HD_ORDER_AFFINITY] = table,  [HD_ORDER_TABLE] = table,
};

plan_at plan_order_at(plan_builder *b, const plan_space *s, const hd_order *o, plan_val position) {
  return orders[o->kind](b, s, o, position);
}

/* ---- Programs ---------------------------------------------------------------------- */

/* From the linear input or the worker's cell to its task. With redirection the split deals out positions. */
static plan_at follow(plan_builder *b, const hd_plan *p, const hd_grid *g, const plan_space *s,
                      plan_val position) {
  plan_view v = plan_see(b, p, s);
  if (p->bind == HD_BIND_REDIRECT) position = plan_split_deal(b, &v.lines, &p->split, g->n_sms, position);
  if (s->packed && v.shaped) return table(b, s, &p->order, position);
  return plan_view_at(b, &v, p, s, position);
}

static hd_status place_worker(const hd_plan *p, const hd_grid *g, plan_builder *b, plan_at *at, hd_diag *d) {
  plan_space s;
  hd_status st = plan_open(b, p, g, &s, d);
  if (st != HD_OK) return st;
  *at = follow(b, p, g, &s, plan_linear_input(b, &s));
  return HD_OK;
}

hd_status hd_plan_forward(const hd_plan *p, const hd_grid *g, hd_prog *out, hd_diag *d) {
  plan_builder b;
  plan_at at;
  hd_status st = place_worker(p, g, &b, &at, d);
  if (st != HD_OK) return st;
  return plan_finish(&b, (const plan_val[3]){at.cell.x, at.cell.y, at.cell.z}, out, d);
}

hd_status hd_plan_from_cell(const hd_plan *p, const hd_grid *g, bool packed, hd_prog *out, hd_diag *d) {
  plan_builder b;
  plan_space s;
  if (hd_bind_claims(p->bind))
    return hd_fail(d, HD_ERR_USAGE, "a worker that claims its tasks does not know them by its own cell");
  hd_status st = plan_open(&b, p, g, &s, d);
  if (st != HD_OK) return st;
  s.packed = packed;
  plan_val position = plan_cell_input(&b, &s);
  plan_at at = follow(&b, p, g, &s, position);
  return plan_finish(&b, (const plan_val[3]){at.cell.x, at.cell.y, at.cell.z}, out, d);
}

hd_status plan_task_program(const hd_plan *p, const hd_grid *g, hd_prog *out, hd_diag *d) {
  plan_builder b;
  plan_at at;
  hd_status st = place_worker(p, g, &b, &at, d);
  if (st != HD_OK) return st;
  return plan_finish(&b, (const plan_val[3]){at.task, at.task, at.task}, out, d);
}

hd_status plan_symbolic_program(hd_order_kind kind, bool rows, hd_prog *out, hd_diag *d) {
  plan_builder b;
  plan_space s;
  hd_plan p = {.order = {.kind = kind, .a = 1, .b = 1, .c = rows}};
  hd_status st = plan_open(&b, &p, &(hd_grid){.n_sms = 1}, &s, d);
  if (st != HD_OK) return st;
  b.symbolic = true;
  plan_at at = orders[kind](&b, &s, &p.order, plan_linear_input(&b, &s));
  return plan_finish(&b, (const plan_val[3]){at.cell.x, at.cell.y, at.cell.z}, out, d);
}

/* ---- Clusters ------------------------------------------------------------------------ */

uint32_t hd_plan_clusters(const hd_plan *p, const hd_grid *g) {
  const uint32_t named = hd_numbers_count(&p->sms);
  return named ? named : g->n_sms;
}

hd_status hd_plan_place(const hd_plan *p, const hd_grid *g, hd_prog *out, hd_diag *d) {
  plan_builder b;
  plan_space s;
  hd_status st = plan_open(&b, p, g, &s, d);
  if (st != HD_OK) return st;
  uint32_t M = hd_plan_clusters(p, g);
  plan_val w = plan_input(&b, HD_P_POS, 0, (plan_hi(&b, s.tasks) - 1) / M);
  plan_val i = plan_input(&b, HD_P_CLUSTER, 0, M - 1);
  plan_view v = plan_see(&b, p, &s);
  plan_val at = plan_place(&b, &v.lines, &p->split, M, i, w);
  return plan_finish(&b, (const plan_val[3]){at, at, at}, out, d);
}

hd_status hd_plan_quota(const hd_plan *p, const hd_grid *g, hd_prog *out, hd_diag *d) {
  plan_builder b;
  plan_space s;
  hd_status st = plan_open(&b, p, g, &s, d);
  if (st != HD_OK) return st;
  uint32_t M = hd_plan_clusters(p, g);
  plan_val q = plan_quota(&b, &s, M, plan_input(&b, HD_P_CLUSTER, 0, M - 1));
  return plan_finish(&b, (const plan_val[3]){q, q, q}, out, d);
}

hd_status plan_cluster_program(const hd_plan *p, const hd_grid *g, hd_prog *out, hd_diag *d) {
  plan_builder b;
  plan_space s;
  hd_status st = plan_open(&b, p, g, &s, d);
  if (st != HD_OK) return st;
  /* A round robin over the clusters deals item u to place v of the clusters laid end to end. */
  uint32_t M = hd_plan_clusters(p, g);
  plan_val u = plan_collect(&b, s.tasks, M, plan_linear_input(&b, &s));
  plan_view v = plan_see(&b, p, &s);
  plan_at at = plan_view_at(&b, &v, p, &s, plan_split_deal(&b, &v.lines, &p->split, M, u));
  return plan_finish(&b, (const plan_val[3]){at.task, at.task, at.task}, out, d);
}
