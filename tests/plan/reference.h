/* The orders once more, as plainly as they can be said: by listing the tasks. */
#ifndef TESTS_PLAN_REFERENCE_H
#define TESTS_PLAN_REFERENCE_H

#include "plan/cmocka_env.h"

typedef struct listing {
  const uint32_t *g;
  uint64_t *task;
  uint64_t n;
} listing;

static inline void list_cell(listing *l, uint64_t x, uint64_t y, uint64_t z) {
  l->task[l->n++] = x + l->g[0] * (y + l->g[1] * z);
}

static inline uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static inline void list_bands(listing *l, uint64_t H) {
  for (uint64_t top = 0; top < l->g[1]; top += H)
    for (uint64_t z = 0; z < l->g[2]; z++)
      for (uint64_t x = 0; x < l->g[0]; x++)
        for (uint64_t y = top; y < least(top + H, l->g[1]); y++) list_cell(l, x, y, z);
}

static inline void list_tiles(listing *l, uint64_t W, uint64_t H) {
  for (uint64_t z = 0; z < l->g[2]; z++)
    for (uint64_t top = 0; top < l->g[1]; top += H)
      for (uint64_t left = 0; left < l->g[0]; left += W)
        for (uint64_t y = top; y < least(top + H, l->g[1]); y++)
          for (uint64_t x = left; x < least(left + W, l->g[0]); x++) list_cell(l, x, y, z);
}

/* The same of rows of L positions; those in no whole row stay. */
static inline void list_tiles_in_rows(listing *l, uint64_t W, uint64_t H, uint64_t L, uint64_t V) {
  for (uint64_t top = 0; top < V / L; top += H)
    for (uint64_t left = 0; left < L; left += W)
      for (uint64_t y = top; y < least(top + H, V / L); y++)
        for (uint64_t x = left; x < least(left + W, L); x++) l->task[l->n++] = y * L + x;
  for (uint64_t i = l->n; i < V; i++) l->task[l->n++] = i;
}

/* Rows of A groups; V tasks in all. */
static inline void list_zigzag(listing *l, uint64_t A, uint64_t B, uint64_t V) {
  for (uint64_t row = 0; l->n < V; row++) {
    uint64_t begin = l->n;
    bool whole = A * B <= V - begin;
    for (uint64_t group = 0; group < A && l->n < V; group++) {
      uint64_t from = row % 2 == 1 && whole ? A - 1 - group : group;
      for (uint64_t i = 0; i < B && l->n < V; i++) l->task[l->n++] = begin + from * B + i;
    }
  }
}

static inline void list_stride(listing *l, uint64_t A, uint64_t B, uint64_t V) {
  uint64_t groups = V / B;
  for (uint64_t first = 0; first < A && first < groups; first++)
    for (uint64_t group = first; group < groups; group += A)
      for (uint64_t i = 0; i < B; i++) l->task[l->n++] = group * B + i;
  while (l->n < V) {
    l->task[l->n] = l->n;
    l->n++;
  }
}

/* The usual iterative walk from a distance along the curve to a point. */
static inline void hilbert_point(uint64_t side, uint64_t distance, uint64_t *x, uint64_t *y) {
  *x = *y = 0;
  for (uint64_t s = 1; s < side; s *= 2) {
    uint64_t rx = 1 & (distance / 2), ry = 1 & (distance ^ rx);
    if (ry == 0) {
      if (rx == 1) {
        *x = s - 1 - *x;
        *y = s - 1 - *y;
      }
      uint64_t t = *x;
      *x = *y;
      *y = t;
    }
    *x += s * rx;
    *y += s * ry;
    distance /= 4;
  }
}

static inline void list_hilbert(listing *l) {
  uint64_t side = 1, x, y;
  while (side < l->g[0] || side < l->g[1]) side *= 2;
  for (uint64_t z = 0; z < l->g[2]; z++)
    for (uint64_t i = 0; i < side * side; i++) {
      hilbert_point(side, i, &x, &y);
      if (x < l->g[0] && y < l->g[1]) list_cell(l, x, y, z);
    }
}

/* task[position] for all V positions. */
static inline void list_order(const hd_order *o, const uint32_t g[3], uint64_t *task) {
  listing l = {g, task, 0};
  uint64_t V = (uint64_t)g[0] * g[1] * g[2];
  switch (o->kind) {
  case HD_ORDER_ROW:
  case HD_ORDER_HEAVY_FIRST:
  case HD_ORDER_AFFINITY:
  case HD_ORDER_TABLE:
  case HD_ORDER_COUNT:
    for (uint64_t i = 0; i < V; i++) task[i] = i;
    break;
  case HD_ORDER_COL:
    for (uint64_t z = 0; z < g[2]; z++)
      for (uint64_t x = 0; x < g[0]; x++)
        for (uint64_t y = 0; y < g[1]; y++) list_cell(&l, x, y, z);
    break;
  case HD_ORDER_BAND: list_bands(&l, o->a); break;
  case HD_ORDER_TILE:
    if (o->c)
      list_tiles_in_rows(&l, o->a, o->b, o->c, V);
    else
      list_tiles(&l, o->a, o->b);
    break;
  case HD_ORDER_ZIGZAG: list_zigzag(&l, o->a, o->b, V); break;
  case HD_ORDER_STRIDE: list_stride(&l, o->a, o->b, V); break;
  case HD_ORDER_HILBERT: list_hilbert(&l); break;
  case HD_ORDER_REVERSE:
    for (uint64_t i = 0; i < V; i++) task[i] = V - 1 - i;
    break;
  }
}

/* The cells of a shape over V tasks. */
static inline void list_shape(const hd_shape *s, const uint32_t g[3], uint32_t n[3]) {
  uint64_t left = (uint64_t)g[0] * g[1] * g[2];
  memcpy(n, g, 3 * sizeof *n);
  for (int i = 0; s->kind == HD_SHAPE_GIVEN && i < 3; i++) {
    n[i] = (uint32_t)(s->n[i] ? least(s->n[i], left) : left);
    left /= n[i];
  }
}

/* task[position] where the order goes through the shape's cells: the kernel's own order says which task a
 * cell is, and what is behind the cells stays there. */
static inline void list_shaped_order(const hd_plan *p, const uint32_t g[3], uint64_t *task) {
  uint32_t n[3];
  list_shape(&p->shape, g, n);
  uint64_t V = (uint64_t)g[0] * g[1] * g[2], cells = (uint64_t)n[0] * n[1] * n[2];
  uint64_t *own = calloc(V, sizeof *own), *task_of = calloc(V, sizeof *task_of);
  assert_non_null(own);
  assert_non_null(task_of);
  list_order(&p->order, n, task);
  list_order(&p->shape.own, n, own);
  for (uint64_t t = 0; t < cells; t++) task_of[own[t]] = t;
  for (uint64_t i = 0; i < V; i++) task[i] = i < cells ? task_of[task[i]] : i;
  free(own);
  free(task_of);
}

/* positions[i][0 .. sizes[i]): those of cluster i, in the order in which it takes them. */
typedef struct clusters {
  uint64_t M, *sizes, **positions;
} clusters;

static inline void give(clusters *c, uint64_t i, uint64_t from, uint64_t n) {
  for (uint64_t k = 0; k < n; k++) c->positions[i][c->sizes[i]++] = from + k;
}

/* [from, from + n) in M runs of consecutive positions, longer ones first. */
static inline void give_chunks(clusters *c, uint64_t from, uint64_t n) {
  for (uint64_t i = 0; i < c->M; i++) {
    uint64_t size = n / c->M + (i < n % c->M);
    give(c, i, from, size);
    from += size;
  }
}

static inline clusters list_clusters(const hd_split *s, const uint32_t g[3], uint64_t V, uint64_t M) {
  uint64_t at = 0;
  clusters c = {M, calloc(M, sizeof *c.sizes), calloc(M, sizeof *c.positions)};
  assert_non_null(c.sizes);
  assert_non_null(c.positions);
  for (uint64_t i = 0; i < M; i++) c.positions[i] = calloc(V / M + 1, sizeof *c.positions[i]);
  switch (s->kind) {
  case HD_SPLIT_WAVE:
    for (; V - at >= s->wave * M; at += s->wave * M)
      for (uint64_t i = 0; i < M; i++) give(&c, i, at + i * s->wave, s->wave);
    break;
  case HD_SPLIT_ROWS:
  case HD_SPLIT_COLS: {
    uint64_t line = s->kind == HD_SPLIT_ROWS ? g[0] : g[1];
    uint64_t lines = (uint64_t)g[0] * g[1] * g[2] / line / M;
    for (uint64_t i = 0; i < M; i++, at += lines * line) give(&c, i, at, lines * line);
    break;
  }
  default: break;
  }
  give_chunks(&c, at, V - at);
  return c;
}

static inline void free_clusters(clusters *c) {
  for (uint64_t i = 0; i < c->M; i++) free(c->positions[i]);
  free(c->positions);
  free(c->sizes);
}

/* position[worker]: worker u takes the next of cluster u mod M. */
static inline void list_redirect(const hd_split *s, const uint32_t g[3], uint64_t V, uint64_t M,
                                 uint64_t *position) {
  clusters c = list_clusters(s, g, V, M);
  for (uint64_t u = 0; u < V; u++) position[u] = c.positions[u % M][u / M];
  free_clusters(&c);
}

/* task[worker] */
static inline void list_plan(const hd_plan *p, const uint32_t g[3], uint32_t n_sms, uint64_t *task) {
  uint64_t V = (uint64_t)g[0] * g[1] * g[2];
  uint32_t seen[3];
  list_shape(&p->shape, g, seen);
  if (p->bind == HD_BIND_NONE) {
    list_shaped_order(p, g, task);
    return;
  }
  uint64_t *order = calloc(V, sizeof *order), *position = calloc(V, sizeof *position);
  assert_non_null(order);
  assert_non_null(position);
  list_shaped_order(p, g, order);
  list_redirect(&p->split, seen, V, n_sms, position);
  for (uint64_t u = 0; u < V; u++) task[u] = order[position[u]];
  free(order);
  free(position);
}

#endif
