/* The Hilbert curve of a W x H plane: the curve of the smallest 2^k x 2^k square
 * that covers it, cells outside left out.
 *
 * The square's quadrants come in the order (0,0) (0,1) (1,1) (1,0), as (x,y); the curve in the first is
 * transposed, in the last transposed along the other diagonal, in the two others as it is. Inside a quadrant
 * the curve is therefore one of four, given by two bits: `across` (axes swapped) and `turned` (both axes run
 * backwards).
 *
 * Both directions descend k levels. A level splits the square twice: first along its main axis u (x, or y
 * when across) into the half that comes first and the other, then along v. Only cells of the plane count: U
 * and V are the extents, along u and v, of the square's intersection with the plane, and a half holds the
 * product of its extents. */
#include "plan/order.h"

/* The descent's variables. */
typedef struct descent {
  plan_val U, V; /* cells of the plane in the square along u and v */
  plan_val size; /* half of the square's side: 2^(k-1), then 2^(k-2), ..., 1 */
  plan_val across, turned;
} descent;

/* One axis cut in two: the extents of the lower and the upper half. */
typedef struct halves {
  plan_val low, high;
} halves;

/* 2^(k-1) for the smallest k with 2^k >= n; 0 for n = 1. */
static plan_val half_side(plan_builder *b, plan_val n) {
  /* All ones below and at the highest one of n - 1: 2^k - 1. */
  plan_val ones = plan_sub(b, n, plan_const(b, 1));
  for (unsigned shift = 1; shift <= 16; shift *= 2)
    ones = plan_or(b, ones, plan_shr(b, ones, plan_const(b, shift)));
  return plan_sub(b, ones, plan_shr(b, ones, plan_const(b, 1)));
}

static descent begin(plan_builder *b, const plan_space *s) {
  plan_val side = plan_max(b, s->n[0], s->n[1]), zero = plan_const(b, 0);
  plan_val half = half_side(b, side);
  return (descent){
      .U = plan_var(b, s->n[0], plan_hi(b, side)),
      .V = plan_var(b, s->n[1], plan_hi(b, side)),
      .size = plan_var(b, half, plan_hi(b, half)),
      .across = plan_var(b, zero, 1),
      .turned = plan_var(b, zero, 1),
  };
}

static halves cut(plan_builder *b, const descent *t, plan_val extent) {
  plan_val low = plan_min(b, extent, t->size);
  return (halves){low, plan_sub(b, extent, low)};
}

static plan_val pick(plan_builder *b, plan_val upper, halves h) {
  return plan_select(b, upper, h.high, h.low);
}

/* Cells in the part that comes first. */
static plan_val cells(plan_builder *b, const plan_space *s, plan_val x, plan_val y) {
  return plan_bound(b, plan_mul(b, x, y), 0, plan_hi(b, s->plane));
}

/* Go on into the quadrant of extents U x V: `late_u` and `late_v` tell which part was
 * taken along u and v, 0 the one that comes first. `more` further variables are set
 * with the descent's; after the last level the loop is left. */
static void descend(plan_builder *b, const descent *t, plan_val U, plan_val V, plan_val late_u,
                    plan_val late_v, uint32_t more, const plan_val *more_vars, const plan_val *more_vals) {
  /* First quadrant: neither late, transposed. Last: both, transposed and turned. */
  plan_val swap = plan_eq(b, late_u, late_v);
  plan_val last_level = plan_lt(b, t->size, plan_const(b, 2));
  plan_val vars[8] = {t->U, t->V, t->size, t->across, t->turned};
  plan_val vals[8] = {
      plan_select(b, swap, V, U),
      plan_select(b, swap, U, V),
      plan_shr(b, t->size, plan_const(b, 1)),
      plan_xor(b, t->across, swap),
      plan_xor(b, t->turned, plan_and(b, late_u, late_v)),
  };
  uint32_t n = 5;
  for (uint32_t i = 0; i < more; i++, n++) {
    vars[n] = more_vars[i];
    vals[n] = more_vals[i];
  }
  plan_assign(b, n, vars, vals);
  plan_break_if(b, last_level);
}

static plan_val gated(plan_builder *b, plan_val flag, plan_val x) {
  return plan_select(b, flag, x, plan_const(b, 0));
}

/* A line of cells is visited from end to end. */
static bool is_line(const plan_builder *b, const plan_space *s) {
  return plan_equals(b, s->n[0], 1) || plan_equals(b, s->n[1], 1);
}

void plan_hilbert_cell(plan_builder *b, const plan_space *s, plan_val position, plan_val *x, plan_val *y) {
  if (is_line(b, s)) {
    plan_divmod(b, position, s->n[0], y, x);
    return;
  }
  descent t = begin(b, s);
  plan_val zero = plan_const(b, 0);
  /* Counted from 1: "beyond the first c cells" is then c < rank. */
  plan_val one_up = plan_bound(b, plan_add(b, position, plan_const(b, 1)), 1, plan_hi(b, s->plane));
  plan_val rank = plan_var(b, one_up, plan_hi(b, s->plane));
  *x = plan_var(b, zero, plan_hi(b, s->n[0]) - 1);
  *y = plan_var(b, zero, plan_hi(b, s->n[1]) - 1);

  plan_loop(b);
  halves u = cut(b, &t, t.U);
  plan_val count = cells(b, s, pick(b, t.turned, u), t.V);
  plan_val late_u = plan_lt(b, count, rank);
  plan_val rest = plan_sub(b, rank, gated(b, late_u, count));
  plan_val upper_u = plan_xor(b, t.turned, late_u);
  plan_val U = pick(b, upper_u, u);

  /* The late half is walked the other way along v. */
  halves v = cut(b, &t, t.V);
  count = cells(b, s, pick(b, upper_u, v), U);
  plan_val late_v = plan_lt(b, count, rest);
  rest = plan_sub(b, rest, gated(b, late_v, count));
  plan_val upper_v = plan_xor(b, upper_u, late_v);
  plan_val V = pick(b, upper_v, v);

  plan_val dx = gated(b, plan_select(b, t.across, upper_v, upper_u), t.size);
  plan_val dy = gated(b, plan_select(b, t.across, upper_u, upper_v), t.size);
  const plan_val vars[3] = {rank, *x, *y};
  const plan_val vals[3] = {
      rest,
      plan_bound(b, plan_add(b, *x, dx), 0, plan_hi(b, s->n[0]) - 1),
      plan_bound(b, plan_add(b, *y, dy), 0, plan_hi(b, s->n[1]) - 1),
  };
  descend(b, &t, U, V, late_u, late_v, 3, vars, vals);
  plan_end_loop(b);
}

plan_val plan_hilbert_position(plan_builder *b, const plan_space *s, plan_val x, plan_val y) {
  if (is_line(b, s)) return plan_mad(b, y, s->n[0], x);
  descent t = begin(b, s);
  uint64_t greatest = plan_hi(b, s->plane) - 1;
  plan_val position = plan_var(b, plan_const(b, 0), greatest);

  plan_loop(b);
  plan_val upper_x = plan_eq(b, plan_and(b, x, t.size), t.size);
  plan_val upper_y = plan_eq(b, plan_and(b, y, t.size), t.size);
  plan_val upper_u = plan_select(b, t.across, upper_y, upper_x);
  plan_val upper_v = plan_select(b, t.across, upper_x, upper_y);

  halves u = cut(b, &t, t.U);
  plan_val late_u = plan_xor(b, t.turned, upper_u);
  plan_val before = gated(b, late_u, cells(b, s, pick(b, t.turned, u), t.V));
  plan_val U = pick(b, upper_u, u);

  halves v = cut(b, &t, t.V);
  plan_val late_v = plan_xor(b, upper_u, upper_v);
  plan_val also_before = gated(b, late_v, cells(b, s, pick(b, upper_u, v), U));
  plan_val V = pick(b, upper_v, v);

  plan_val sum = plan_bound(b, plan_add(b, position, before), 0, greatest);
  sum = plan_bound(b, plan_add(b, sum, also_before), 0, greatest);
  descend(b, &t, U, V, late_u, late_v, 1, &position, &sum);
  plan_end_loop(b);
  return position;
}
