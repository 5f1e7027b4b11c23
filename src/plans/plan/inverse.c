/* Orders backwards: from a task to the position that it has, as shapes need it of the kernel's own order. */
#include "plan/order.h"

static plan_val inverse_col(plan_builder *b, const plan_space *s, plan_cell c) {
  plan_val column = plan_mad(b, c.z, s->n[0], c.x);
  return plan_mad(b, column, s->n[1], c.y);
}

static plan_val inverse_band(plan_builder *b, const plan_space *s, const hd_order *o, plan_cell c) {
  plan_val H = plan_min(b, plan_const(b, o->a), s->n[1]), index, y;
  plan_divmod(b, c.y, H, &index, &y);
  if (plan_divides(b, H, s->n[1])) {
    plan_val slice = plan_mad(b, index, s->n[2], c.z);
    return plan_mad(b, plan_mad(b, slice, s->n[0], c.x), H, y);
  }
  plan_val layer = plan_cells(b, s, s->n[0], s->n[2]);
  plan_piece h = plan_piece_at(b, s->n[1], H, index);
  plan_val in_band = plan_mad(b, plan_mad(b, c.z, s->n[0], c.x), h.length, y);
  return plan_mad(b, index, plan_cells(b, s, H, layer), in_band);
}

static plan_val inverse_tile(plan_builder *b, const plan_space *s, const hd_order *o, plan_cell c,
                             plan_val task) {
  plan_val W, H, tx, x, ty, y;
  if (!plan_tile_shape(b, s, o, &W, &H)) return task;
  plan_divmod(b, c.x, W, &tx, &x);
  plan_divmod(b, c.y, H, &ty, &y);
  if (plan_divides(b, W, s->n[0]) && plan_divides(b, H, s->n[1])) {
    plan_val row = plan_mad(b, c.z, plan_div(b, s->n[1], H), ty);
    plan_val tile = plan_mad(b, row, plan_div(b, s->n[0], W), tx);
    return plan_mad(b, plan_mad(b, tile, H, y), W, x);
  }
  plan_piece w = plan_piece_at(b, s->n[0], W, tx), h = plan_piece_at(b, s->n[1], H, ty);
  plan_val in_tile = plan_mad(b, y, w.length, x);
  plan_val in_row = plan_mad(b, tx, plan_piece_mul(b, &h, W), in_tile);
  plan_val in_plane = plan_mad(b, ty, plan_cells(b, s, H, s->n[0]), in_row);
  return plan_mad(b, c.z, s->plane, in_plane);
}

static plan_val inverse_hilbert(plan_builder *b, const plan_space *s, plan_cell c) {
  return plan_mad(b, c.z, s->plane, plan_hilbert_position(b, s, c.x, c.y));
}

plan_val plan_order_position(plan_builder *b, const plan_space *s, const hd_order *o, plan_at at) {
  plan_cell c = at.cell;
  plan_val task = at.task;
  switch (o->kind) {
  case HD_ORDER_COL: return inverse_col(b, s, c);
  case HD_ORDER_BAND: return inverse_band(b, s, o, c);
  case HD_ORDER_TILE: return o->c ? plan_rows_position(b, s, o, at) : inverse_tile(b, s, o, c, task);
  case HD_ORDER_ZIGZAG: return plan_zigzag(b, s, o->a, o->b, task, NULL);
  case HD_ORDER_STRIDE: return plan_unstride(b, s, o->a, o->b, task);
  case HD_ORDER_HILBERT: return inverse_hilbert(b, s, c);
  case HD_ORDER_REVERSE: return plan_sub(b, plan_sub(b, s->tasks, plan_const(b, 1)), task);
  default: break;
  }
  return task;
}
