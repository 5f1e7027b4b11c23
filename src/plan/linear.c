/* Orders that permute row-order positions without looking at the grid's shape (SCH 5.1). */
#include "plan/order.h"

plan_val plan_zigzag(plan_builder *b, const plan_space *s, uint32_t A, uint32_t B, plan_val position,
                     plan_cell *cell) {
  uint64_t length = (uint64_t)A * B; /* of a row; below 2^64 */
  plan_val L = plan_const(b, length), row, at;
  plan_divmod(b, position, L, &row, &at);

  plan_val odd = plan_and(b, row, plan_const(b, 1));
  plan_val full_rows = plan_div(b, s->tasks, L);
  /* Only an odd last row can be both incomplete and up for reversal. */
  bool last_is_safe =
      plan_is_const(b, full_rows) && (plan_divides(b, L, s->tasks) || plan_hi(b, full_rows) % 2 == 0);
  plan_val reverse = last_is_safe ? odd : plan_and(b, odd, plan_lt(b, row, full_rows));
  if (plan_hi(b, full_rows) <= 1) reverse = plan_const(b, 0);

  plan_val in_row = at;
  if (A > 1 && plan_hi(b, reverse) > 0) {
    plan_val back;
    if (B == 1) {
      back = plan_sub(b, plan_const(b, length - 1), at);
    } else { /* group g to group A-1-g: at + (A-1-2g)*B */
      plan_val group = plan_div(b, at, plan_const(b, B));
      back = plan_sub(b, plan_add(b, at, plan_const(b, length - B)),
                      plan_mul(b, group, plan_const(b, 2 * (uint64_t)B)));
      back = plan_bound(b, back, 0, length - 1);
    }
    in_row = plan_select(b, reverse, back, at);
  }
  plan_val task = position;
  if (in_row != at) task = plan_bound(b, plan_mad(b, row, L, in_row), 0, plan_hi(b, position));

  if (cell) {
    if (L == s->n[0]) {
      cell->x = in_row;
      plan_divmod(b, row, s->n[1], &cell->z, &cell->y);
    } else if (L == s->plane) {
      plan_divmod(b, in_row, s->n[0], &cell->y, &cell->x);
      cell->z = row;
    } else {
      *cell = plan_row_cell(b, s, task);
    }
  }
  return task;
}

/* Stride takes G groups as A columns of a matrix that is filled row by row and
 * read column by column: collecting A clusters. */
static plan_val by_groups(plan_builder *b, const plan_space *s, uint32_t A, uint32_t B, plan_val p,
                          plan_val (*permute)(plan_builder *, plan_val, uint32_t, plan_val)) {
  plan_val size = plan_const(b, B), groups, rest, group, at;
  plan_divmod(b, s->tasks, size, &groups, &rest);
  if (plan_hi(b, groups) == 0) return p;
  plan_divmod(b, p, size, &group, &at);
  plan_val to = permute(b, groups, A, group);
  if (to == group) return p;
  plan_val moved = plan_bound(b, plan_mad(b, to, size, at), 0, plan_hi(b, p));
  if (plan_equals(b, rest, 0)) return moved;
  return plan_select(b, plan_lt(b, p, plan_mul(b, groups, size)), moved, p);
}

plan_val plan_stride(plan_builder *b, const plan_space *s, uint32_t A, uint32_t B, plan_val position) {
  return by_groups(b, s, A, B, position, plan_collect);
}

plan_val plan_unstride(plan_builder *b, const plan_space *s, uint32_t A, uint32_t B, plan_val task) {
  return by_groups(b, s, A, B, task, plan_deal);
}
