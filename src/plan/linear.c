/* Orders that permute row-order positions without looking at the grid's shape (SCH 5.1). */
#include "plan/order.h"

/* The parameters as values. Symbolic ones are cut down to what the tasks allow, which changes no order and
 * keeps A * B and all that follows below 2^32. */
static void group_shape(plan_builder *b, const plan_space *s, uint32_t a, uint32_t size, plan_val *A,
                        plan_val *B) {
  *A = plan_parameter(b, HD_P_A, a);
  *B = plan_parameter(b, HD_P_B, size);
  if (!b->symbolic) return;
  *B = plan_min(b, *B, s->tasks);
  plan_val groups = plan_bound(b, plan_div(b, s->tasks, *B), 1, plan_hi(b, s->tasks));
  *A = plan_min(b, *A, groups);
}

/* Where a row's groups backwards have place `at`. */
static plan_val backwards(plan_builder *b, plan_val L, plan_val B, plan_val at) {
  if (plan_equals(b, B, 1)) return plan_sub(b, plan_sub(b, L, plan_const(b, 1)), at);
  /* Group g to group A-1-g: at + (A-1-2g)*B; or, where at - g*B is cheap, from that. */
  plan_val group = plan_div(b, at, B), length = plan_sub(b, L, B);
  if (plan_is_const(b, L))
    return plan_sub(b, plan_add(b, at, length), plan_mul(b, group, plan_mul(b, B, plan_const(b, 2))));
  plan_val begin = plan_bound(b, plan_mul(b, group, B), 0, plan_hi(b, at));
  return plan_add(b, plan_sub(b, length, begin), plan_sub(b, at, begin));
}

plan_val plan_zigzag(plan_builder *b, const plan_space *s, uint32_t a, uint32_t size, plan_val position,
                     plan_cell *cell) {
  plan_val A, B, row, at;
  group_shape(b, s, a, size, &A, &B);
  plan_val L = plan_mul(b, A, B); /* length of a row; below 2^64 */
  if (b->symbolic) L = plan_bound(b, L, 1, plan_hi(b, s->tasks));
  plan_divmod(b, position, L, &row, &at);

  plan_val odd = plan_and(b, row, plan_const(b, 1));
  plan_val full_rows = plan_div(b, s->tasks, L);
  /* Only an odd last row can be both incomplete and up for reversal. */
  bool last_is_safe =
      plan_is_const(b, full_rows) && (plan_divides(b, L, s->tasks) || plan_hi(b, full_rows) % 2 == 0);
  plan_val reverse = last_is_safe ? odd : plan_and(b, odd, plan_lt(b, row, full_rows));
  if (plan_hi(b, full_rows) <= 1) reverse = plan_const(b, 0);

  plan_val in_row = at;
  if (!plan_equals(b, A, 1) && plan_hi(b, reverse) > 0) {
    plan_val back = plan_bound(b, backwards(b, L, B, at), 0, plan_hi(b, L) - 1);
    in_row = plan_select(b, reverse, back, at);
  }
  plan_val task = position;
  if (in_row != at && plan_is_const(b, L) && plan_hi(b, position) + plan_hi(b, L) <= UINT32_MAX) {
    /* The same from the position: row * L + back = position + (back - at). */
    plan_val two = plan_mul(b, B, plan_const(b, 2)), group = plan_div(b, at, B);
    plan_val mirrored = plan_sub(b, plan_add(b, position, plan_sub(b, L, B)), plan_mul(b, group, two));
    mirrored = plan_bound(b, mirrored, 0, plan_hi(b, position) + plan_hi(b, L));
    task = plan_bound(b, plan_select(b, reverse, mirrored, position), 0, plan_hi(b, position));
  } else if (in_row != at) {
    task = plan_bound(b, plan_mad(b, row, L, in_row), 0, plan_hi(b, position));
  }

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
static plan_val by_groups(plan_builder *b, const plan_space *s, uint32_t a, uint32_t count, plan_val p,
                          plan_val (*permute)(plan_builder *, plan_val, plan_val, plan_val)) {
  plan_val A, size, groups, rest, group, at;
  group_shape(b, s, a, count, &A, &size);
  plan_divmod(b, s->tasks, size, &groups, &rest);
  if (plan_hi(b, groups) == 0) return p;
  plan_divmod(b, p, size, &group, &at);
  plan_val to = permute(b, groups, A, group);
  if (to == group) return p;
  plan_val begin = plan_bound(b, plan_mul(b, to, size), 0, plan_hi(b, p));
  plan_val moved = plan_bound(b, plan_add(b, begin, at), 0, plan_hi(b, p));
  if (plan_equals(b, rest, 0)) return moved;
  plan_val end = plan_bound(b, plan_mul(b, groups, size), 0, plan_hi(b, s->tasks));
  return plan_select(b, plan_lt(b, p, end), moved, p);
}

plan_val plan_stride(plan_builder *b, const plan_space *s, uint32_t A, uint32_t B, plan_val position) {
  return by_groups(b, s, A, B, position, plan_collect_by);
}

plan_val plan_unstride(plan_builder *b, const plan_space *s, uint32_t A, uint32_t B, plan_val task) {
  return by_groups(b, s, A, B, task, plan_deal_by);
}
