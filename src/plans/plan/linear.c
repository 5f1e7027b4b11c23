/* Orders that permute row-order positions, whatever the grid's shape (SCH 5.1). */
#include "plan/order.h"

/* The parameters as values. Symbolic ones are limited by the number of tasks, which changes no order and
 * keeps A * B and all later values below 2^32. */
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

/* Zigzag by pairs of rows of constant length L, of numbers below `n`. With t = p mod 2L, and g = t / B, a
 * position of an odd row (L <= t) has its group's mirror image at p + 3L - B - 2gB, which is 0 or more in the
 * even rows, too. The last row is not reversed where it is incomplete. */
static plan_val zigzag_pairs(plan_builder *b, plan_val n, plan_val L, plan_val B, plan_val p) {
  uint64_t length = plan_hi(b, L), tasks = plan_hi(b, n), size = plan_hi(b, B);
  plan_val two = plan_const(b, 2 * length), pair, t, odd;
  plan_divmod(b, p, two, &pair, &t);
  odd = plan_lt(b, plan_const(b, length - 1), t);
  if (tasks % length && tasks / length % 2 == 1)
    odd = plan_and(b, odd, plan_lt(b, p, plan_const(b, tasks / length * length)));
  plan_val shift = plan_mul(b, plan_div(b, t, B), plan_const(b, 2 * size));
  plan_val back = plan_sub(b, plan_add(b, p, plan_const(b, 3 * length - size)), shift);
  if (size == 1 && (length & (length - 1)) == 0) back = plan_xor(b, p, plan_const(b, length - 1));
  return plan_bound(b, plan_select(b, odd, back, p), 0, plan_hi(b, p));
}

/* zigzag_pairs does it: in 32 bits, and where coordinates are no rows of the zigzag already. */
static bool by_pairs(const plan_builder *b, const plan_space *s, plan_val L, plan_val position) {
  return plan_is_const(b, L) && s->known && L != s->n[0] && L != s->plane &&
         plan_hi(b, L) <= UINT32_MAX / 4 && plan_hi(b, position) + 3 * plan_hi(b, L) <= UINT32_MAX;
}

plan_val plan_zigzag(plan_builder *b, const plan_space *s, uint32_t a, uint32_t size, plan_val position,
                     plan_cell *cell) {
  plan_val A, B, row, at;
  group_shape(b, s, a, size, &A, &B);
  plan_val L = plan_mul(b, A, B); /* length of a row; below 2^64 */
  if (b->symbolic) L = plan_bound(b, L, 1, plan_hi(b, s->tasks));
  bool changes =
      !plan_equals(b, A, 1) && plan_hi(b, L) <= plan_hi(b, s->tasks) / 2; /* there is a whole odd row */
  if (changes && by_pairs(b, s, L, position)) {
    if (cell && position == s->worker && plan_divides(b, plan_mul(b, L, plan_const(b, 2)), s->n[0])) {
      /* Pairs of the zigzag's rows fill the grid's: only x changes. */
      *cell = s->own;
      cell->x = zigzag_pairs(b, s->n[0], L, B, s->own.x);
      return plan_row_task(b, s, *cell);
    }
    plan_val task = zigzag_pairs(b, s->tasks, L, B, position);
    if (cell) *cell = plan_row_cell(b, s, task);
    return task;
  }
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

/* ---- Stride of a known grid ------------------------------------------------------ */

/* G = V / B groups in A columns: column i takes N = G / A of them, one of the first r = G mod A one more.
 * Group g of the order is place g - i*N - min(i, r) of its column i, and goes to A times that plus i. With B
 * at a time:
 *
 *   task = p + g*(A-1)*B - i*(N*A-1)*B - min(i, r)*A*B
 *
 * where no difference falls below 0, at g = G (the incomplete last group, which stays) neither. */
typedef struct columns {
  uint64_t A, B, G, N, r;
} columns;

/* n / d; d = 0: more than any number. */
typedef struct ratio {
  uint64_t n, d;
} ratio;

static bool less(ratio x, ratio y) { return (unsigned __int128)x.n * y.d < (unsigned __int128)y.n * x.d; }

/* The fraction with the least terms in [lo, hi), or `upper` in (lo, hi], along its continued fraction. */
static ratio simplest(ratio lo, ratio hi, bool upper) {
  uint64_t whole = lo.n / lo.d;
  ratio next = {whole + 1, 1};
  if (!upper && lo.n % lo.d == 0) return (ratio){whole, 1};
  if (upper ? !less(hi, next) : less(next, hi)) return next;
  /* All of the interval has this whole part. The reciprocal of the rest reverses the interval. */
  ratio rest = simplest((ratio){hi.d, hi.n - whole * hi.d}, (ratio){lo.d, lo.n - whole * lo.d}, !upper);
  return (ratio){whole * rest.n + rest.d, rest.n};
}

/* The ratio with floor(g * ratio) = i for all groups g of column i; false: there is none. Column i begins
 * with group first(i), so i / first(i) <= ratio < i / (first(i) - 1). The left side rises or stays with i;
 * the right one is least at an end of the longer or of the shorter columns. */
static bool column_ratio(const columns *c, ratio *out) {
  ratio lo = {0, 1}, hi = {1, 0};
  const uint64_t ends[] = {1, c->r, c->r + 1, c->A - 1};
  for (unsigned k = 0; k < sizeof ends / sizeof *ends; k++) {
    uint64_t i = ends[k], first = i * c->N + (i < c->r ? i : c->r);
    if (i == 0 || i >= c->A) continue;
    if (less(lo, (ratio){i, first})) lo = (ratio){i, first};
    if (less((ratio){i, first - 1}, hi)) hi = (ratio){i, first - 1};
  }
  if (!less(lo, hi)) return false;
  *out = simplest(lo, hi, false);
  return c->G * out->n <= UINT32_MAX && c->G * out->n / out->d <= c->A;
}

/* The column of group g <= G. */
static plan_val column_of(plan_builder *b, const columns *c, plan_val g) {
  ratio m;
  plan_val N = plan_const(b, c->N), r = plan_const(b, c->r), i;
  if (column_ratio(c, &m))
    i = plan_div(b, plan_mul(b, g, plan_const(b, m.n)), plan_const(b, m.d));
  else /* each quotient is right in its columns, and less in the others */
    i = plan_max(b, plan_div(b, g, plan_const(b, c->N + 1)),
                 plan_div(b, plan_sub(b, plan_max(b, g, r), r), N));
  return plan_bound(b, i, 0, c->A);
}

/* A and B are no parameters but numbers, and 32 bits hold A * V. */
static plan_val stride_columns(plan_builder *b, const plan_space *s, const columns *c, plan_val p) {
  uint64_t V = plan_hi(b, s->tasks);
  plan_val g = plan_div(b, p, plan_const(b, c->B)), i = column_of(b, c, g);
  plan_val task = plan_mad(b, g, plan_const(b, (c->A - 1) * c->B), p);
  bool last_is_short = c->r + 1 == c->A; /* then i <= r */
  uint64_t column = c->N * c->A - 1 + (last_is_short ? c->A : 0);
  if (!last_is_short)
    task = plan_sub(b, task, plan_mul(b, plan_min(b, i, plan_const(b, c->r)), plan_const(b, c->A * c->B)));
  task = plan_sub(b, task, plan_mul(b, i, plan_const(b, column * c->B)));
  if (V % c->B) task = plan_select(b, plan_lt(b, p, plan_const(b, c->G * c->B)), task, p);
  return plan_bound(b, task, 0, plan_hi(b, p));
}

plan_val plan_stride(plan_builder *b, const plan_space *s, uint32_t A, uint32_t B, plan_val position) {
  uint64_t V = plan_hi(b, s->tasks), G = V / B;
  if (s->known && V <= UINT32_MAX && V * A <= UINT32_MAX && A > 1 && A < G)
    return stride_columns(b, s, &(columns){A, B, G, G / A, G % A}, position);
  return by_groups(b, s, A, B, position, plan_collect_by);
}

plan_val plan_unstride(plan_builder *b, const plan_space *s, uint32_t A, uint32_t B, plan_val task) {
  return by_groups(b, s, A, B, task, plan_deal_by);
}
