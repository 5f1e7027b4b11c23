/* The grid as a plan's orders see it: the launch's, or another one of its tasks, or rows that an order makes
 * of them. */
#include "plan/order.h"

/* The number of times that `size` fits into n, at most `most`, at least once: size <= n. */
static plan_val extent(plan_builder *b, plan_val n, plan_val size, uint32_t most) {
  plan_val fit = plan_bound(b, plan_div(b, n, size), 1, plan_hi(b, n));
  return plan_min(b, fit, plan_const(b, most));
}

static bool is_launch(const plan_space *cells, const plan_space *launch) {
  return cells->n[0] == launch->n[0] && cells->n[1] == launch->n[1] && cells->n[2] == launch->n[2];
}

plan_view plan_see(plan_builder *b, const hd_plan *p, const plan_space *launch) {
  const hd_shape *shape = &p->shape;
  plan_view v = {.cells = *launch, .lines = *launch};
  if (shape->kind == HD_SHAPE_LAUNCH) return v;
  plan_space *c = &v.cells;
  *c = (plan_space){.known = launch->known, .worker = PLAN_NONE, .tasks = launch->tasks};
  c->n[0] = plan_min(b, launch->tasks, plan_const(b, shape->n[0]));
  c->n[1] = extent(b, launch->tasks, c->n[0], shape->n[1]);
  c->plane = plan_cells(b, launch, c->n[0], c->n[1]);
  c->n[2] = extent(b, launch->tasks, c->plane, shape->n[2] ? shape->n[2] : UINT32_MAX);
  if (is_launch(c, launch) && shape->own.kind == HD_ORDER_ROW) {
    v.cells = *launch;
    return v;
  }
  v.shaped = true;
  v.lines = *c;
  c->tasks = plan_cells(b, launch, c->plane, c->n[2]);
  return v;
}

static bool same_order(const hd_order *x, const hd_order *y) {
  return x->kind == y->kind && x->a == y->a && x->b == y->b && x->c == y->c;
}

/* A task or position among the cells, and the last one of theirs for one behind them. */
static plan_val inside(plan_builder *b, const plan_view *v, plan_val at) {
  return plan_min(b, at, plan_sub(b, v->cells.tasks, plan_const(b, 1)));
}

/* `at` itself where it is behind the cells. */
static plan_val or_behind(plan_builder *b, const plan_view *v, const plan_space *launch, plan_val at,
                          plan_val result) {
  plan_val of_cell = plan_select(b, plan_lt(b, at, v->cells.tasks), result, at);
  return plan_bound(b, of_cell, 0, plan_hi(b, launch->tasks) - 1);
}

plan_at plan_view_at(plan_builder *b, const plan_view *v, const hd_plan *p, const plan_space *launch,
                     plan_val position) {
  const hd_order *own = &p->shape.own;
  if (!v->shaped) return plan_order_at(b, launch, &p->order, position);
  if (same_order(own, &p->order)) return plan_at_task(b, launch, position);
  plan_at at = plan_order_at(b, &v->cells, &p->order, inside(b, v, position));
  plan_val task = plan_order_position(b, &v->cells, own, at);
  return plan_at_task(b, launch, or_behind(b, v, launch, position, task));
}

plan_val plan_view_position(plan_builder *b, const plan_view *v, const hd_plan *p, const plan_space *launch,
                            plan_val task) {
  const hd_order *own = &p->shape.own;
  plan_val last = plan_sub(b, launch->tasks, plan_const(b, 1));
  if (!v->shaped)
    return plan_bound(b, plan_order_position(b, launch, &p->order, plan_at_task(b, launch, task)), 0,
                      plan_hi(b, last));
  if (same_order(own, &p->order)) return task;
  plan_at at = plan_order_at(b, &v->cells, own, inside(b, v, task));
  return or_behind(b, v, launch, task, plan_order_position(b, &v->cells, &p->order, at));
}

/* ---- Tiles in rows of their own ---------------------------------------------------- */

/* The positions as one plane of rows of L: tiles of W x H x L are those of W x H there. Positions that
 * fill no whole row lie behind the cells and stay, as those of zigzag and stride do: a ragged row in the
 * tiles of the last band would cost a second length of piece along both of their sides. Tiles wider than a
 * row are as wide as it, as they are on the launch's grid, and with fewer tasks than a row all are one row,
 * which has one order. */
static plan_view see_rows(plan_builder *b, const plan_space *s, const hd_order *o) {
  plan_view v = {.cells = *s};
  plan_val L = plan_min(b, plan_parameter(b, HD_P_C, o->c), s->tasks), one = plan_const(b, 1);
  plan_val rows = plan_bound(b, plan_div(b, s->tasks, L), 1, plan_hi(b, s->tasks));
  plan_space cells = {.known = s->known, .worker = PLAN_NONE, .n = {L, rows, one}};
  cells.plane = cells.tasks = plan_cells(b, s, L, rows);
  if (is_launch(&cells, s)) return v;
  return (plan_view){.shaped = true, .cells = cells};
}

plan_at plan_rows_at(plan_builder *b, const plan_space *s, const hd_order *o, plan_val position) {
  const hd_order tiles = {.kind = HD_ORDER_TILE, .a = o->a, .b = o->b};
  plan_view v = see_rows(b, s, o);
  plan_val W, H;
  if (!v.shaped) return plan_order_at(b, s, &tiles, position);
  if (!plan_tile_shape(b, &v.cells, &tiles, &W, &H)) return plan_at_task(b, s, position);
  plan_at at = plan_order_at(b, &v.cells, &tiles, inside(b, &v, position));
  return plan_at_task(b, s, or_behind(b, &v, s, position, at.task));
}

plan_val plan_rows_position(plan_builder *b, const plan_space *s, const hd_order *o, plan_at at) {
  const hd_order tiles = {.kind = HD_ORDER_TILE, .a = o->a, .b = o->b};
  plan_view v = see_rows(b, s, o);
  plan_val W, H;
  if (!v.shaped) return plan_order_position(b, s, &tiles, at);
  if (!plan_tile_shape(b, &v.cells, &tiles, &W, &H)) return at.task;
  plan_at in_rows = plan_at_task(b, &v.cells, inside(b, &v, at.task));
  return or_behind(b, &v, s, at.task, plan_order_position(b, &v.cells, &tiles, in_rows));
}
