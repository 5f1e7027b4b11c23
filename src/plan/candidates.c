/* The plans that are tried on a grid when nobody says which. */
#include "heddle/plan.h"

#include <string.h>

enum {
  /* Two orders are compared at every position of a grid of up to ALL tasks, and
   * else at the first SAMPLES and as many random ones. Those that agree there are
   * the same or differ for too few tasks to be worth two measurements. */
  ALL = 1 << 16,
  SAMPLES = 1 << 12,
  MOST_ORDERS = 96,
};

typedef struct list {
  const uint32_t *g;
  uint64_t V;
  hd_plan orders[MOST_ORDERS];
  size_t n;
} list;

static bool same_order(const list *l, const hd_prog *x, const hd_prog *y) {
  bool all = l->V <= ALL;
  uint64_t n = all ? l->V : 2 * (uint64_t)SAMPLES;
  for (uint64_t i = 0; i < n; i++) {
    uint64_t u = all || i < SAMPLES ? i : hd_random_at(0, i) % l->V, at[3], other[3];
    hd_prog_eval(x, l->g, u, NULL, at);
    hd_prog_eval(y, l->g, u, NULL, other);
    if (memcmp(at, other, sizeof at) != 0) return false;
  }
  return true;
}

/* Take the order unless one in the list does the same on this grid. */
static void offer(list *l, hd_order_kind kind, uint64_t a, uint64_t b) {
  if (a > UINT32_MAX || b > UINT32_MAX || l->n == MOST_ORDERS) return;
  hd_plan plan = {.order = {.kind = kind, .a = (uint32_t)a, .b = (uint32_t)b}};
  hd_grid grid = {.known = true, .g = {l->g[0], l->g[1], l->g[2]}, .n_sms = 1};
  hd_prog mine, other;
  if (hd_plan_forward(&plan, &grid, &mine, NULL) != HD_OK) return;
  for (size_t i = 0; i < l->n; i++)
    if (hd_plan_forward(&l->orders[i], &grid, &other, NULL) != HD_OK || same_order(l, &mine, &other)) return;
  l->orders[l->n++] = plan;
}

/* Shapes for planes: what a wave of CTAs shares is a few rows and columns. */
static void offer_plane_orders(list *l) {
  static const uint32_t heights[] = {2, 4, 8, 16, 32};
  static const uint32_t tiles[][2] = {{2, 2},  {4, 2},  {2, 4},   {4, 4},   {8, 4},
                                      {4, 8},  {8, 8},  {16, 8},  {8, 16},  {16, 16},
                                      {32, 8}, {8, 32}, {32, 16}, {16, 32}, {32, 32}};
  uint64_t gx = l->g[0], gy = l->g[1];
  for (size_t i = 0; i < sizeof heights / sizeof *heights; i++)
    if (heights[i] < gy) offer(l, HD_ORDER_BAND, heights[i], 0);
  for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
    if (tiles[i][0] < gx && tiles[i][1] <= gy) offer(l, HD_ORDER_TILE, tiles[i][0], tiles[i][1]);
  /* Strips as high as the grid: bands, turned by 90 degrees. */
  for (size_t i = 0; i < sizeof heights / sizeof *heights; i++)
    if (heights[i] < gx) offer(l, HD_ORDER_TILE, heights[i], gy);
  offer(l, HD_ORDER_HILBERT, 0, 0);
  offer(l, HD_ORDER_ZIGZAG, gx, 1);
  offer(l, HD_ORDER_STRIDE, gx, 1);
}

/* Without a second dimension, reuse lies at some distance along the first. */
static void offer_line_orders(list *l) {
  static const uint32_t distances[] = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  static const uint32_t groups[] = {4, 16, 64};
  for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
    uint64_t A = distances[i];
    if (2 * A > l->V) break;
    offer(l, HD_ORDER_STRIDE, A, 1);
    offer(l, HD_ORDER_ZIGZAG, A, 1);
  }
  for (size_t i = 0; i < sizeof distances / sizeof *distances; i += 2)
    for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
      uint64_t A = distances[i], B = groups[k];
      if (2 * A * B <= l->V) offer(l, HD_ORDER_STRIDE, A, B);
    }
}

size_t hd_plan_candidates(const uint32_t g[3], hd_plan *out, size_t cap) {
  list l = {.g = g};
  if (!hd_grid_tasks(g, &l.V) || l.V > INT64_MAX) return 0;
  offer(&l, HD_ORDER_ROW, 0, 0);
  offer(&l, HD_ORDER_COL, 0, 0);
  bool line = (g[0] > 1) + (g[1] > 1) + (g[2] > 1) <= 1;
  if (line)
    offer_line_orders(&l);
  else
    offer_plane_orders(&l);
  if (g[2] > 1 && !line) { /* planes as rows */
    uint64_t plane = (uint64_t)g[0] * g[1];
    offer(&l, HD_ORDER_ZIGZAG, plane, 1);
    offer(&l, HD_ORDER_STRIDE, plane, 1);
  }
  offer(&l, HD_ORDER_REVERSE, 0, 0);

  /* Each order as it is, then each over clusters. Of two tasks or fewer, any
   * number of clusters leaves the order alone. */
  size_t total = 0;
  for (int bind = HD_BIND_NONE; bind <= (l.V > 2 ? HD_BIND_REDIRECT : HD_BIND_NONE); bind++)
    for (size_t i = 0; i < l.n; i++, total++) {
      if (total >= cap) continue;
      out[total] = l.orders[i];
      out[total].bind = (hd_bind_kind)bind;
    }
  return total;
}
