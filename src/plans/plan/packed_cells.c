/* Tables of cells, which a kernel reads in place of an order's arithmetic. One word holds both coordinates of
 * a plane, so that the kernel divides nothing. */
#include <stdlib.h>

#include "plan/order.h"

/* The grid is a plane, or the order goes plane by plane, and a plane is not a line. */
static bool has_table(const hd_plan *p, const hd_grid *g) {
  if (hd_order_needs_table(p->order.kind)) return g->g[2] == 1;
  if (p->shape.kind != HD_SHAPE_LAUNCH) return p->order.kind == HD_ORDER_HILBERT && g->g[2] == 1;
  return p->order.kind == HD_ORDER_HILBERT && g->g[0] > 1 && g->g[1] > 1;
}

uint64_t hd_plan_packed(const hd_plan *p, const hd_grid *g) {
  uint64_t V;
  bool fits = g->known && hd_grid_tasks(g->g, &V) && has_table(p, g);
  if (!fits) return 0;
  uint64_t nx = g->g[0], ny = g->g[1];
  bool line = nx == 1 || ny == 1; /* its words may be any number */
  return line || (nx <= PLAN_PACKED_MASK + 1 && ny <= PLAN_PACKED_MASK + 1) ? nx * ny : 0;
}

static void pack(hd_table *words, uint32_t nx, uint32_t ny) {
  for (uint64_t i = 0; nx > 1 && ny > 1 && i < words->n; i++)
    words->task[i] = words->task[i] % nx | (words->task[i] / nx) << PLAN_PACKED_BITS;
}

static hd_status copy(const hd_table *t, hd_table *out, hd_diag *d) {
  size_t bytes;
  if (!hd_mul_size((size_t)t->n, sizeof *t->task, &bytes) || !(out->task = malloc(bytes)))
    return hd_fail(d, HD_ERR_NOMEM, "out of memory for a table of %llu entries", (unsigned long long)t->n);
  out->n = t->n;
  for (uint64_t i = 0; i < t->n; i++) out->task[i] = t->task[i];
  return HD_OK;
}

hd_status hd_plan_pack(const hd_plan *p, const hd_grid *g, const hd_table *t, hd_table *words, hd_diag *d) {
  const hd_plan order = {.order = p->order, .shape = p->shape};
  const hd_grid plane = {.known = true, .g = {g->g[0], g->g[1], 1}, .n_sms = 1};
  uint64_t n = hd_plan_packed(p, g);
  hd_status st;
  *words = (hd_table){0};
  if (!n) return hd_fail(d, HD_ERR_USAGE, "this order has no table of cells on this grid");
  if (!hd_order_needs_table(p->order.kind))
    st = hd_plan_tabulate(&order, &plane, NULL, words, d);
  else if (!t || t->n != n)
    return hd_fail(d, HD_ERR_USAGE, "this order needs its table, of %llu entries", (unsigned long long)n);
  else
    st = copy(t, words, d);
  if (st == HD_OK) pack(words, g->g[0], g->g[1]);
  return st;
}
