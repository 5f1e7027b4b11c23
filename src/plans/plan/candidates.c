/* The plans that are tried on a launch unless the caller names others.
 *
 * A prior is how often such a plan won on GPUs, and by how much: thread remapping wins by far where it may be
 * done at all, orders win most often, agents where L2 cannot feed the SMs, the rest rarely. It decides only
 * the order of trials, which matters when time is short.
 */
#include "plan/candidates.h"

#include <stdlib.h>
#include <string.h>

enum {
  /* Two orders are compared at every position of a grid of up to ALL tasks, and else at the first SAMPLES and
   * as many random ones. Orders that agree there are the same, or differ for too few tasks to be worth two
   * measurements. */
  ALL = 1 << 16,
  SAMPLES = 1 << 12,
  MOST_ORDERS = 64,
  MOST_AGENTS = 8, /* CTAs per SM where it is not known how many fit */
  WARP = 32,       /* threads */
  WARPS = 32,      /* of a CTA, at most */
};

/* ---- Orders ------------------------------------------------------------------------ */

typedef struct order_list {
  const uint32_t *g;
  uint64_t V;
  hd_order orders[MOST_ORDERS];
  size_t n;
} order_list;

static bool same_order(const order_list *l, const hd_prog *x, const hd_prog *y) {
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
static void take_order(order_list *l, const hd_order *o) {
  if (l->n == MOST_ORDERS) return;
  hd_plan plan = {.order = *o};
  hd_grid grid = {.known = true, .g = {l->g[0], l->g[1], l->g[2]}, .n_sms = 1};
  hd_prog mine, other;
  if (hd_plan_forward(&plan, &grid, &mine, NULL) != HD_OK) return;
  for (size_t i = 0; i < l->n; i++)
    if (hd_plan_forward(&(hd_plan){.order = l->orders[i]}, &grid, &other, NULL) != HD_OK ||
        same_order(l, &mine, &other))
      return;
  l->orders[l->n++] = *o;
}

static void add_order(order_list *l, hd_order_kind kind, uint64_t a, uint64_t b) {
  if (a > UINT32_MAX || b > UINT32_MAX) return;
  take_order(l, &(hd_order){.kind = kind, .a = (uint32_t)a, .b = (uint32_t)b});
}

/* Shapes for planes: a wave of CTAs shares a few rows and columns. */
static void add_plane_orders(order_list *l) {
  static const uint32_t heights[] = {2, 4, 8, 16, 32};
  static const uint32_t tiles[][2] = {{2, 2},  {4, 2},  {2, 4},   {4, 4},   {8, 4},
                                      {4, 8},  {8, 8},  {16, 8},  {8, 16},  {16, 16},
                                      {32, 8}, {8, 32}, {32, 16}, {16, 32}, {32, 32}};
  uint64_t gx = l->g[0], gy = l->g[1];
  for (size_t i = 0; i < sizeof heights / sizeof *heights; i++)
    if (heights[i] < gy) add_order(l, HD_ORDER_BAND, heights[i], 0);
  for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
    if (tiles[i][0] < gx && tiles[i][1] <= gy) add_order(l, HD_ORDER_TILE, tiles[i][0], tiles[i][1]);
  /* Strips as high as the grid: bands, turned by 90 degrees. */
  for (size_t i = 0; i < sizeof heights / sizeof *heights; i++)
    if (heights[i] < gx) add_order(l, HD_ORDER_TILE, heights[i], gy);
  add_order(l, HD_ORDER_HILBERT, 0, 0);
  add_order(l, HD_ORDER_ZIGZAG, gx, 1);
  add_order(l, HD_ORDER_STRIDE, gx, 1);
}

/* Tasks that share lie so far apart: what is much nearer than a wave of CTAs runs at the same time anyway. */
static void add_distances(const hd_plan_space *s, order_list *l) {
  enum { DISTANCES = 8, OF_A_WAVE = 8 };
  const uint64_t wave = (uint64_t)s->n_sms * plan_resident(s);
  uint64_t distance = 2;
  while (distance * OF_A_WAVE < wave) distance *= 2;
  for (int i = 0; i < DISTANCES && 2 * distance <= l->V; i++, distance *= 2)
    add_order(l, HD_ORDER_STRIDE, distance, 1);
}

/* Without a second dimension, reuse lies at some distance along the first. */
static void add_line_orders(order_list *l) {
  static const uint32_t distances[] = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  static const uint32_t groups[] = {4, 16, 64};
  for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
    uint64_t A = distances[i];
    if (2 * A > l->V) break;
    add_order(l, HD_ORDER_STRIDE, A, 1);
    add_order(l, HD_ORDER_ZIGZAG, A, 1);
  }
  for (size_t i = 0; i < sizeof distances / sizeof *distances; i += 2)
    for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
      uint64_t A = distances[i], B = groups[k];
      if (2 * A * B <= l->V) add_order(l, HD_ORDER_STRIDE, A, B);
    }
}

/* Lists the orders that need no table, first the one that the CTAs have anyway; false for a grid that no
 * launch can have. */
static bool list_orders(const hd_plan_space *s, order_list *l) {
  const uint32_t *g = s->grid;
  *l = (order_list){.g = g};
  if (!hd_grid_tasks(g, &l->V) || l->V > INT64_MAX) return false;
  take_order(l, &s->shape.own);
  add_order(l, HD_ORDER_ROW, 0, 0);
  add_order(l, HD_ORDER_COL, 0, 0);
  bool line = (g[0] > 1) + (g[1] > 1) + (g[2] > 1) <= 1;
  if (line)
    add_line_orders(l);
  else
    add_plane_orders(l);
  if (g[2] > 1 && !line) { /* planes as rows */
    uint64_t plane = (uint64_t)g[0] * g[1];
    add_order(l, HD_ORDER_ZIGZAG, plane, 1);
    add_order(l, HD_ORDER_STRIDE, plane, 1);
  }
  if (s->apart) add_distances(s, l);
  add_order(l, HD_ORDER_REVERSE, 0, 0);
  return true;
}

/* Shapes of middling size are the likeliest to be near the best, from where climbing goes on. */
static double order_prior(const hd_order *o) {
  uint64_t size;
  switch (o->kind) {
  case HD_ORDER_BAND: return o->a == 8 ? 0.92 : o->a == 4 || o->a == 16 ? 0.84 : 0.6;
  case HD_ORDER_COL: return 0.9;
  case HD_ORDER_TILE:
    size = (uint64_t)o->a * o->b;
    return o->a == o->b && size >= 16 && size <= 256 ? 0.8 : size >= 16 && size <= 512 ? 0.62 : 0.4;
  case HD_ORDER_HILBERT: return 0.7;
  case HD_ORDER_STRIDE: return 0.5;
  case HD_ORDER_ZIGZAG: return 0.45;
  case HD_ORDER_REVERSE: return 0.75; /* alone of its kind: one trial tells */
  case HD_ORDER_AFFINITY: return 0.95;
  case HD_ORDER_HEAVY_FIRST: return 0.93;
  default: return 0.3;
  }
}

/* ---- The list ----------------------------------------------------------------------- */

typedef struct list {
  const hd_plan_space *s;
  hd_candidate *at;
  size_t n;
} list;

void plan_give_shape(const hd_plan_space *s, hd_plan *p) {
  bool lines = p->split.kind == HD_SPLIT_ROWS || p->split.kind == HD_SPLIT_COLS;
  p->shape = (p->order.kind != HD_ORDER_ROW || lines) && !hd_order_needs_table(p->order.kind) ? s->shape
                                                                                              : (hd_shape){0};
}

static void offer(list *l, double prior, const char *reason, hd_plan plan) {
  if (plan.shape.kind == HD_SHAPE_LAUNCH) plan_give_shape(l->s, &plan);
  if (l->s->clusters && plan.bind != HD_BIND_NONE) return;
  if (l->n == HD_CANDIDATES || hd_plan_is_baseline(&plan) || hd_plan_check(&plan, NULL) != HD_OK) return;
  for (size_t i = 0; i < l->n; i++)
    if (hd_plan_equal(&l->at[i].plan, &plan)) return;
  l->at[l->n++] = (hd_candidate){plan, prior, reason};
}

static const char compact[] = "CTAs that run at the same time lie close together in the grid";
/* Decoding over prefixes that sequences share runs 2.8x faster on an H100 by the distance of those that
 * share. */
static const double distance_prior = 0.94;
static const char distant[] =
    "CTAs that share data lie far apart in the grid, at a distance that data decides";
static const char tabled[] = "CTAs that share data run one after the other, whichever the data says";
static const char backward[] =
    "the longest CTAs, which have the greatest numbers, start first, and neighbours together";
static const char heavy[] = "the longest CTAs start first, so that none runs alone at the end";

/* Orders of the grid that begin at its last CTA. Heads that share keys and values are a row's neighbours in a
 * column or a band. */
static void offer_backward(list *l) {
  static const hd_order orders[] = {{.kind = HD_ORDER_COL}, {.kind = HD_ORDER_BAND, .a = 8}};
  const hd_plan_space *s = l->s;
  hd_shape back = {.kind = HD_SHAPE_GIVEN, .own = {.kind = HD_ORDER_REVERSE}};
  if (!s->grows || s->shape.loop || s->shape.own.kind != HD_ORDER_ROW || s->clusters) return;
  memcpy(back.n, s->grid, sizeof back.n);
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
    if (s->grid[1] > (i ? orders[i].a : 1))
      offer(l, 0.91 - 0.04 * (double)i, backward, (hd_plan){.order = orders[i], .shape = back});
}

static void offer_orders(list *l, const order_list *orders) {
  for (size_t i = 1; i < orders->n; i++) {
    const hd_order *o = &orders->orders[i];
    bool distance = l->s->apart && o->kind == HD_ORDER_STRIDE && o->b == 1;
    offer(l, distance ? distance_prior : order_prior(o), distance ? distant : compact,
          (hd_plan){.order = *o, .shape = l->s->shape});
  }
  const struct {
    hd_order order;
    bool has;
    const char *reason;
  } tables[] = {{{.kind = HD_ORDER_AFFINITY}, l->s->has_affinity, tabled},
                {{.kind = HD_ORDER_HEAVY_FIRST}, l->s->has_heavy_first, heavy}};
  for (size_t i = 0; i < 2; i++)
    if (tables[i].has)
      offer(l, order_prior(&tables[i].order), tables[i].reason, (hd_plan){.order = tables[i].order});
  offer_backward(l);
}

/* ---- Threads ------------------------------------------------------------------------ */

static void offer_threads(list *l) {
  static const char across[] = "threads of a warp lie along y, where their accesses may be coalesced";
  const hd_order band = {.kind = HD_ORDER_BAND, .a = WARP}, col = {.kind = HD_ORDER_COL};
  if (l->s->can_swap_threads) {
    /* Bands as high as a warp is wide: coalesced along y, and CTAs still take compact pieces. */
    offer(l, 1, across, (hd_plan){.threads = band});
    offer(l, 1, across, (hd_plan){.threads = col});
    if (l->s->grid[1] > 8)
      offer(l, 0.99, across, (hd_plan){.order = {.kind = HD_ORDER_BAND, .a = 8}, .threads = band});
  }
  if (l->s->can_turn_threads) offer(l, 1, across, (hd_plan){.threads = col, .threads_in_cta = true});
}

/* ---- Bindings ----------------------------------------------------------------------- */

/* Where data decides which tasks share, only a table brings them together. */
size_t plan_line_orders(const hd_plan_space *s, hd_order out[PLAN_LINE_ORDERS]) {
  size_t n = 0;
  out[n++] = (hd_order){.kind = HD_ORDER_ROW};
  if (s->has_affinity) out[n++] = (hd_order){.kind = HD_ORDER_AFFINITY};
  if (s->grid[1] > 1) out[n++] = (hd_order){.kind = HD_ORDER_COL};
  if (s->grid[1] > 4 && s->grid[0] > 4) out[n++] = (hd_order){.kind = HD_ORDER_TILE, .a = 4, .b = 4};
  return n;
}

hd_split plan_line_split(const hd_plan_space *s, const hd_order *o) {
  bool plane = s->grid[0] > 1 && s->grid[1] > 1;
  return (hd_split){.kind = plane && o->kind == HD_ORDER_COL   ? HD_SPLIT_COLS
                            : plane && o->kind == HD_ORDER_ROW ? HD_SPLIT_ROWS
                                                               : HD_SPLIT_CHUNK};
}
/* Tasks in such a line; 0: none is known. */
static uint32_t line_length(const hd_plan_space *s, const hd_order *o) {
  return o->kind == HD_ORDER_COL ? s->grid[1] : o->kind == HD_ORDER_ROW ? s->grid[0] : 0;
}

uint32_t plan_fewer_agents(uint32_t most, uint32_t step) {
  uint32_t k = most >> step / 2;
  return step % 2 ? k - k / 4 : k;
}

uint32_t plan_resident(const hd_plan_space *s) { return s->resident ? s->resident : MOST_AGENTS; }

static const char bound[] = "neighbours run on one SM and share its L1 (CLU 4.2)";
static const char throttled[] = "fewer CTAs at once on an SM, so that what they share stays in its L1";
static const char waves[] = "neighbours on one SM, and all SMs close together, so that they share L2 too";

/* All that fit, then fewer. */
static void offer_agents(list *l, const hd_order *orders, size_t n) {
  uint32_t most = plan_resident(l->s);
  for (size_t i = 0; i < n; i++) {
    double first = i == 0 ? 0.86 : i == 1 ? 0.87 : 0.5;
    hd_plan p = {.order = orders[i], .bind = HD_BIND_AGENTS};
    offer(l, first, bound, p);
    if (l->s->has_agents_vote && l->s->agents_vote < most) {
      p.agents = l->s->agents_vote;
      offer(l, first - 0.035, throttled, p);
    }
    for (uint32_t step = 1; !l->s->has_agents_vote && plan_fewer_agents(most, step); step++) {
      p.agents = plan_fewer_agents(most, step);
      offer(l, first -= step % 2 ? 0.035 : 0.025, throttled, p);
    }
    p.agents = 0;
    p.split = (hd_split){.kind = HD_SPLIT_WAVE, .wave = most};
    offer(l, 0.55 - 0.1 * (double)i, waves, p);
    p.split = (hd_split){.kind = HD_SPLIT_WAVE, .wave = line_length(l->s, &orders[i])};
    if (p.split.wave) offer(l, 0.6 - 0.1 * (double)i, waves, p);
    p.split = plan_line_split(l->s, &orders[i]);
    offer(l, 0.82 - 0.05 * (double)i, bound, p);
  }
}

/* Compact pieces dealt out to the SMs in small runs: an SM's L1 has what a few neighbours share, and all SMs
 * together work on one piece in L2. On an H100 1.08x in a kernel whose tasks share with those around them. */
static void offer_pieces(list *l) {
  uint32_t most = plan_resident(l->s), run = (most + 1) / 2;
  hd_plan p = {.order = {.kind = HD_ORDER_TILE, .a = 8, .b = 8}, .bind = HD_BIND_AGENTS};
  if (l->s->grid[0] <= 8 || l->s->grid[1] <= 8) return;
  p.split = (hd_split){.kind = HD_SPLIT_WAVE, .wave = run};
  offer(l, 0.7, waves, p);
  p.split.wave = (run + 1) / 2;
  offer(l, 0.5, waves, p);
}

static const char given_up[] = "CTAs take over those that have not started, which spares their start";

static void offer_bindings(list *l) {
  const hd_plan_space *s = l->s;
  hd_order orders[PLAN_LINE_ORDERS];
  size_t n = plan_line_orders(s, orders);
  uint32_t wave = plan_resident(s);
  if (s->tasks <= s->n_sms) return; /* every SM has one task at most: nothing to bind */
  if (s->can_loop) {
    offer_agents(l, orders, n);
    offer_pieces(l);
  }
  for (size_t i = 0; i < n; i++) {
    double less = 0.1 * (double)i;
    offer(l, 0.72 - less, bound, (hd_plan){.order = orders[i], .bind = HD_BIND_CLAIM});
    offer(l, 0.64 - less, waves,
          (hd_plan){.order = orders[i], .bind = HD_BIND_CLAIM, .split = {HD_SPLIT_WAVE, wave}});
    offer(l, 0.66 - less, bound, (hd_plan){.order = orders[i], .bind = HD_BIND_REDIRECT});
    offer(l, 0.65 - less, bound,
          (hd_plan){.order = orders[i], .bind = HD_BIND_CLAIM, .split = plan_line_split(s, &orders[i])});
    if (s->can_cancel) offer(l, 0.6 - less, given_up, (hd_plan){.order = orders[i], .bind = HD_BIND_CANCEL});
  }
}

/* ---- Caches ------------------------------------------------------------------------- */

static const char around[] = "data that is not used again leaves room in the cache for data that is";
static const char readonly[] = "loads of memory that nothing writes may take the read-only path";

/* Every threshold, because the speedup rises and falls with the threshold: BYP's static way tries them all,
 * and there are no more than 32. */
static void offer_thresholds(list *l, hd_bypass_kind kind, double none, double one, double half, double other,
                             const char *reason) {
  for (uint32_t k = 0; k < l->s->warps && k < WARPS; k++) {
    double prior = k == 0 ? none : k == 1 ? one : 2 * k == l->s->warps ? half : other - 0.002 * k;
    offer(l, prior, reason, (hd_plan){.bypass = {kind, k}});
  }
}

static void offer_bypassing(list *l) {
  const hd_plan_space *s = l->s;
  /* At times much faster: on an H100 2.2 times in atax, mvt and bicg, 5.9 in copy-col. */
  if (s->readonly) offer(l, 0.78, readonly, (hd_plan){.bypass = {HD_BYPASS_READONLY, s->warps}});
  if (!s->loads) return;
  /* From the second warp on: the best in mvt's rows on an H100 (1.09x) and in gemver's (1.05x). */
  offer_thresholds(l, HD_BYPASS_READONLY, 0.73, 0.43, 0.44, 0.3, readonly);
  if (!s->has_vote || !s->vote) offer(l, 0.75, around, (hd_plan){.stream = {.kind = HD_STREAM_L1}});
  if (s->has_streams) offer(l, 0.76, around, (hd_plan){.stream = {.kind = HD_STREAM_AUTO}});
  if (!s->has_vote)
    offer_thresholds(l, HD_BYPASS_L1, 0.74, 0.418, 0.65, 0.42, around);
  else if (s->vote < s->warps)
    offer(l, 0.74, around, (hd_plan){.bypass = {HD_BYPASS_L1, s->vote}});
  offer_thresholds(l, HD_BYPASS_L2, 0.7, 0.248, 0.36, 0.25, around);
}

/* Where tasks are bound, the next ones of an SM are known far ahead, and the farther the better until what
 * was fetched is evicted: on an H100 bind=agents,prefetch=l1 at 1, 2, 4, 8 gains -3, 1, 6, 7% in backprop,
 * bind=redirect,prefetch=l2 at 4 and 8 -4 and 5% in nearest-neighbour. */
static void offer_prefetching(list *l) {
  static const char ahead[] = "data of the next tasks is under way before they begin";
  enum { FARTHEST = 8 };
  bool bound_too = l->s->tasks > l->s->n_sms;
  if (!l->s->loads || !l->s->can_order) return;
  for (uint32_t distance = 1; distance <= FARTHEST; distance *= 2) {
    double near = 0.05 * distance, far = 0.16 / distance;
    const hd_prefetch l1 = {HD_PREFETCH_L1, distance}, l2 = {HD_PREFETCH_L2, distance};
    offer(l, 0.5 - near, ahead, (hd_plan){.prefetch = l2});
    if (bound_too) offer(l, 0.46 - far, ahead, (hd_plan){.bind = HD_BIND_REDIRECT, .prefetch = l2});
    if (!l->s->can_loop) continue;
    offer(l, 0.5 - far, ahead, (hd_plan){.bind = HD_BIND_AGENTS, .prefetch = l1});
    offer(l, 0.49 - far, ahead, (hd_plan){.bind = HD_BIND_AGENTS, .prefetch = l2});
  }
}

/* ---- All of them -------------------------------------------------------------------- */

/* Stable: of the same prior the one that was offered first. */
static void sort(list *l) {
  for (size_t i = 1; i < l->n; i++) {
    hd_candidate c = l->at[i];
    size_t k = i;
    for (; k && l->at[k - 1].prior < c.prior; k--) l->at[k] = l->at[k - 1];
    l->at[k] = c;
  }
}

size_t hd_candidates(const hd_plan_space *s, hd_candidate *out, size_t cap) {
  hd_candidate all[HD_CANDIDATES];
  list l = {.s = s, .at = all};
  order_list orders;
  if (!list_orders(s, &orders)) return 0;
  offer_threads(&l);
  if (s->can_order) {
    offer_orders(&l, &orders);
    offer_bindings(&l);
  }
  offer_bypassing(&l);
  offer_prefetching(&l);
  sort(&l);
  for (size_t i = 0; i < l.n && i < cap; i++) out[i] = all[i];
  return l.n;
}

/* Widths: at most 8 bindings, 5 ways of bypassing, 4 of streaming, 3 of prefetching; tables apart from other
 * orders, since a table is made from the sharing itself. */
uint32_t hd_plan_family(const hd_plan *p) {
  bool table = hd_order_needs_table(p->order.kind);
  uint32_t order = p->order.kind == HD_ORDER_ROW ? 0 : table ? 2 : 1;
  uint32_t threads = p->threads.kind == HD_ORDER_ROW ? 0 : p->threads_in_cta ? 2 : 1;
  return order | threads << 2 | (uint32_t)p->bind << 4 | (uint32_t)p->bypass.kind << 7 |
         (uint32_t)p->stream.kind << 10 | (uint32_t)p->prefetch.kind << 12;
}
