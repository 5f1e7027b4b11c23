/* What a kernel's launch leaves to try.
 *
 * Promise, the order in which candidates are measured, is what was seen on GPUs: thread remapping wins by far
 * where it may be done at all, orders win most often, agents where L2 cannot feed the SMs, the rest rarely.
 * It decides only what is tried first when time is short.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tune/runner.h"
#include "tune/tuner.h"

enum { MOST_ORDERS = 64, MOST_LOADS = 256, MOST_AGENTS = 8 };

/* ---- The space -------------------------------------------------------------------- */

static uint64_t threads_of(const uint32_t block[3]) { return (uint64_t)block[0] * block[1] * block[2]; }

hd_status tuner_space_of(const hd_ptx_module *m, const hd_workload *w, uint32_t launch, tuner_space *out,
                         hd_diag *d) {
  const hd_wl_launch *l = &w->launches[launch];
  int64_t func;
  hd_refusal r;
  *out = (tuner_space){.warps = (uint32_t)((threads_of(l->block) + 31) / 32)};
  memcpy(out->grid, l->grid, sizeof out->grid);
  memcpy(out->block, l->block, sizeof out->block);
  if (!hd_grid_tasks(l->grid, &out->tasks)) return hd_fail(d, HD_ERR_INPUT, "%s: too many tasks", l->kernel);
  hd_status st = apply_find_kernel(m, l->kernel, &func, d);
  if (st != HD_OK) return st;
  uint32_t f = (uint32_t)func;
  out->can_order = hd_rewrite_refusals(m, f, &r, 1) == 0;
  out->can_loop = out->can_order && hd_rewrite_agent_refusals(m, f, l->block, &r, 1) == 0;
  out->can_swap_threads = out->can_order && hd_rewrite_thread_refusals(m, f, false, &r, 1) == 0;
  out->can_turn_threads =
      out->can_order && l->block[1] > 1 && hd_rewrite_thread_refusals(m, f, true, &r, 1) == 0;
  hd_global_load *loads = calloc(MOST_LOADS, sizeof *loads);
  if (!loads) return hd_nomem(d);
  size_t n = hd_rewrite_loads(m, f, loads, MOST_LOADS);
  for (size_t i = 0; i < n && i < MOST_LOADS; i++) out->loads += !loads[i].kept;
  free(loads);
  return HD_OK;
}

hd_status tuner_blame(hd_status st, const hd_plan *p) {
  bool table = p->order.kind == HD_ORDER_TABLE && p->order.file;
  return st == HD_ERR_IO && table && access(p->order.file, R_OK) != 0 ? HD_ERR_INPUT : st;
}

/* ---- Candidates ----------------------------------------------------------------------- */

typedef struct offered {
  hd_plan plan;
  double promise;
} offered;

typedef struct offers {
  const tuner_space *s;
  offered list[2 * TUNER_CANDIDATES];
  size_t n;
} offers;

static void offer(offers *o, double promise, hd_plan plan) {
  if (o->n == sizeof o->list / sizeof *o->list || hd_plan_is_baseline(&plan) ||
      hd_plan_check(&plan, NULL) != HD_OK)
    return;
  for (size_t i = 0; i < o->n; i++)
    if (hd_plan_equal(&o->list[i].plan, &plan)) return;
  o->list[o->n++] = (offered){plan, promise};
}

/* Shapes of middling size are the likeliest to be near the best, from where climbing goes on. */
static double order_promise(const hd_order *o) {
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
  case HD_ORDER_REVERSE: return 0.35;
  case HD_ORDER_AFFINITY: return 0.95;
  case HD_ORDER_HEAVY_FIRST: return 0.93;
  default: return 0.3;
  }
}

static void offer_orders(offers *o) {
  hd_plan orders[MOST_ORDERS];
  size_t n = hd_plan_candidates(o->s->grid, orders, MOST_ORDERS);
  for (size_t i = 0; i < n && i < MOST_ORDERS; i++) offer(o, order_promise(&orders[i].order), orders[i]);
  const struct {
    hd_order order;
    bool has;
  } tables[] = {{{.kind = HD_ORDER_AFFINITY}, o->s->has_affinity},
                {{.kind = HD_ORDER_HEAVY_FIRST}, o->s->has_heavy_first}};
  for (size_t i = 0; i < 2; i++)
    if (tables[i].has) offer(o, order_promise(&tables[i].order), (hd_plan){.order = tables[i].order});
}

/* Row and column order: what shares is next to each other in one of them, most often. Where data decides who
 * shares, only a table knows. */
enum { LINE_ORDERS = 4 };
static size_t line_orders(const tuner_space *s, hd_order out[LINE_ORDERS]) {
  size_t n = 0;
  out[n++] = (hd_order){.kind = HD_ORDER_ROW};
  if (s->has_affinity) out[n++] = (hd_order){.kind = HD_ORDER_AFFINITY};
  if (s->grid[1] > 1) out[n++] = (hd_order){.kind = HD_ORDER_COL};
  if (s->grid[1] > 4 && s->grid[0] > 4) out[n++] = (hd_order){.kind = HD_ORDER_TILE, .a = 4, .b = 4};
  return n;
}

/* Whole lines of tasks for each SM, along the order: what a line shares is in one L1 then. */
static hd_split line_split(const tuner_space *s, const hd_order *o) {
  bool plane = s->grid[0] > 1 && s->grid[1] > 1;
  return (hd_split){.kind = plane && o->kind == HD_ORDER_COL   ? HD_SPLIT_COLS
                            : plane && o->kind == HD_ORDER_ROW ? HD_SPLIT_ROWS
                                                               : HD_SPLIT_CHUNK};
}
/* Tasks in such a line; 0: none is known. */
static uint32_t line_length(const tuner_space *s, const hd_order *o) {
  return o->kind == HD_ORDER_COL ? s->grid[1] : o->kind == HD_ORDER_ROW ? s->grid[0] : 0;
}

/* The next fewer agents: three quarters and a half of all, of that the same, ... */
static uint32_t fewer_agents(uint32_t most, uint32_t step) {
  uint32_t k = most >> step / 2;
  return step % 2 ? k - k / 4 : k;
}

/* All that fit, then fewer. */
static void offer_agents(offers *o, const hd_order *orders, size_t n) {
  uint32_t most = o->s->resident ? o->s->resident : MOST_AGENTS;
  for (size_t i = 0; i < n; i++) {
    double first = i == 0 ? 0.86 : i == 1 ? 0.87 : 0.5;
    hd_plan p = {.order = orders[i], .bind = HD_BIND_AGENTS};
    offer(o, first, p);
    for (uint32_t step = 1; fewer_agents(most, step); step++) {
      p.agents = fewer_agents(most, step);
      offer(o, first -= step % 2 ? 0.035 : 0.025, p);
    }
    p.agents = 0;
    p.split = (hd_split){.kind = HD_SPLIT_WAVE, .wave = most};
    offer(o, 0.55 - 0.1 * (double)i, p);
    p.split = (hd_split){.kind = HD_SPLIT_WAVE, .wave = line_length(o->s, &orders[i])};
    if (p.split.wave) offer(o, 0.6 - 0.1 * (double)i, p);
    p.split = line_split(o->s, &orders[i]);
    offer(o, 0.82 - 0.05 * (double)i, p);
  }
}

static void offer_bindings(offers *o) {
  const tuner_space *s = o->s;
  hd_order orders[LINE_ORDERS];
  size_t n = line_orders(s, orders);
  uint32_t wave = s->resident ? s->resident : MOST_AGENTS;
  if (s->tasks <= s->n_sms) return; /* every SM has one task at most: nothing to bind */
  if (s->can_loop) offer_agents(o, orders, n);
  for (size_t i = 0; i < n; i++) {
    double less = 0.1 * (double)i;
    offer(o, 0.72 - less, (hd_plan){.order = orders[i], .bind = HD_BIND_CLAIM});
    offer(o, 0.64 - less,
          (hd_plan){.order = orders[i], .bind = HD_BIND_CLAIM, .split = {HD_SPLIT_WAVE, wave}});
    offer(o, 0.66 - less, (hd_plan){.order = orders[i], .bind = HD_BIND_REDIRECT});
    offer(o, 0.65 - less,
          (hd_plan){.order = orders[i], .bind = HD_BIND_CLAIM, .split = line_split(s, &orders[i])});
  }
}

/* Every threshold: BYP's static way tries them all, and there are no more than 32. */
static void offer_bypassing(offers *o) {
  const tuner_space *s = o->s;
  if (!s->loads) return;
  if (!s->has_vote || !s->vote) offer(o, 0.75, (hd_plan){.stream = {.kind = HD_STREAM_L1}});
  if (s->has_streams) offer(o, 0.76, (hd_plan){.stream = {.kind = HD_STREAM_AUTO}});
  for (uint32_t k = 0; k < s->warps; k++) {
    if (s->has_vote && k != s->vote) continue;
    double promise = k == 0 ? 0.74 : 2 * k == s->warps ? 0.65 : 0.42 - 0.002 * k;
    offer(o, promise, (hd_plan){.bypass = {HD_BYPASS_L1, k}});
  }
  offer(o, 0.43, (hd_plan){.bypass = {HD_BYPASS_L2, 0}});
  if (s->warps > 1) offer(o, 0.36, (hd_plan){.bypass = {HD_BYPASS_L2, s->warps / 2}});
  /* Of memory that nobody writes. At times much faster: on an H100 2.2 times in atax, mvt and bicg, 5.9 in
   * copy-col. */
  offer(o, 0.78, (hd_plan){.bypass = {HD_BYPASS_READONLY, s->warps}});
  offer(o, 0.73, (hd_plan){.bypass = {HD_BYPASS_READONLY, 0}});
}

static void offer_prefetching(offers *o) {
  if (!o->s->loads || !o->s->can_order) return;
  for (uint32_t distance = 1; distance <= 4; distance *= 2) {
    double less = 0.05 * distance;
    offer(o, 0.5 - less, (hd_plan){.prefetch = {HD_PREFETCH_L2, distance}});
    offer(o, 0.48 - less, (hd_plan){.bind = HD_BIND_AGENTS, .prefetch = {HD_PREFETCH_L1, distance}});
    offer(o, 0.47 - less, (hd_plan){.bind = HD_BIND_AGENTS, .prefetch = {HD_PREFETCH_L2, distance}});
  }
}

static int by_promise(const void *a, const void *b) {
  const offered *x = *(offered *const *)a, *y = *(offered *const *)b;
  if (x->promise != y->promise) return x->promise > y->promise ? -1 : 1;
  return x < y ? -1 : x > y;
}

size_t tuner_candidates(const tuner_space *s, hd_plan *out) {
  offers *o = calloc(1, sizeof *o);
  offered **sorted = calloc(2 * TUNER_CANDIDATES, sizeof *sorted);
  size_t n = 0;
  if (o && sorted) {
    o->s = s;
    if (s->can_swap_threads) {
      /* Bands as high as a warp is wide: coalesced along y, and CTAs still take compact pieces. */
      offer(o, 1, (hd_plan){.threads = {.kind = HD_ORDER_BAND, .a = HD_WARP}});
      offer(o, 1, (hd_plan){.threads = {.kind = HD_ORDER_COL}});
      if (s->grid[1] > 8)
        offer(o, 0.99,
              (hd_plan){.order = {.kind = HD_ORDER_BAND, .a = 8},
                        .threads = {.kind = HD_ORDER_BAND, .a = HD_WARP}});
    }
    if (s->can_turn_threads)
      offer(o, 1, (hd_plan){.threads = {.kind = HD_ORDER_COL}, .threads_in_cta = true});
    if (s->can_order) {
      offer_orders(o);
      offer_bindings(o);
    }
    offer_bypassing(o);
    offer_prefetching(o);
    for (size_t i = 0; i < o->n; i++) sorted[i] = &o->list[i];
    qsort(sorted, o->n, sizeof *sorted, by_promise);
    for (; n < o->n && n < TUNER_CANDIDATES; n++) out[n] = sorted[n]->plan;
  }
  free(o);
  free(sorted);
  return n;
}

/* ---- Numbers of a plan that climbing turns ------------------------------------------------ */

typedef struct knob {
  uint32_t *(*of)(hd_plan *p);            /* NULL: the plan does not have it */
  uint64_t (*most)(const tuner_space *s); /* its greatest sensible value */
  bool fine;                              /* by ones as well: small numbers, where a doubling is much */
} knob;

static uint32_t *band_height(hd_plan *p) { return p->order.kind == HD_ORDER_BAND ? &p->order.a : NULL; }
static uint32_t *tile_width(hd_plan *p) { return p->order.kind == HD_ORDER_TILE ? &p->order.a : NULL; }
static uint32_t *tile_height(hd_plan *p) { return p->order.kind == HD_ORDER_TILE ? &p->order.b : NULL; }
static bool is_folded(const hd_plan *p) {
  return p->order.kind == HD_ORDER_ZIGZAG || p->order.kind == HD_ORDER_STRIDE;
}
static uint32_t *thread_band(hd_plan *p) { return p->threads.kind == HD_ORDER_BAND ? &p->threads.a : NULL; }
static uint32_t *groups(hd_plan *p) { return is_folded(p) ? &p->order.a : NULL; }
static uint32_t *group(hd_plan *p) { return is_folded(p) ? &p->order.b : NULL; }
static uint32_t *agents(hd_plan *p) { return p->bind == HD_BIND_AGENTS && p->agents ? &p->agents : NULL; }
static uint32_t *wave(hd_plan *p) { return p->split.kind == HD_SPLIT_WAVE ? &p->split.wave : NULL; }
static uint32_t *prefetch_distance(hd_plan *p) {
  return p->prefetch.kind != HD_PREFETCH_NONE ? &p->prefetch.distance : NULL;
}

static uint64_t grid_height(const tuner_space *s) { return s->grid[1] - 1; }
static uint64_t grid_width(const tuner_space *s) { return s->grid[0]; }
static uint64_t whole_height(const tuner_space *s) { return s->grid[1]; }
static uint64_t threads_high(const tuner_space *s) { return (uint64_t)s->grid[1] * s->block[1] - 1; }
static uint64_t half_of_tasks(const tuner_space *s) { return s->tasks / 2; }
static uint64_t residents(const tuner_space *s) { return s->resident ? s->resident : 32; }
static uint64_t waves(const tuner_space *s) { return 4 * residents(s); }
static uint64_t distances(const tuner_space *s) { return 8; }

static const knob knobs[] = {
    {band_height, grid_height, true},     {tile_width, grid_width, false},
    {tile_height, whole_height, false},   {groups, half_of_tasks, false},
    {group, half_of_tasks, false},        {agents, residents, true},
    {thread_band, threads_high, false},   {wave, waves, false},
    {prefetch_distance, distances, true},
};

/* The same plan but for this knob. */
static bool same_but(const knob *k, const hd_plan *a, const hd_plan *b, uint32_t *value) {
  hd_plan x = *a, y = *b;
  uint32_t *at = k->of(&x), *other = k->of(&y);
  if (!at || !other) return false;
  *value = *other;
  *other = *at;
  return hd_plan_equal(&x, &y);
}

/* Where a parabola through the best value and the measured ones nearest to it on either side has its top; 0:
 * there is none on one side. Values are taken by their logarithms, as sizes double. */
static uint32_t interpolate(const knob *k, const search_trial *trials, size_t n, size_t at) {
  hd_plan best = trials[at].plan;
  uint32_t middle = *k->of(&best), low = 0, high = 0, value;
  double low_score = 0, high_score = 0;
  for (size_t i = 0; i < n; i++) {
    if (i == at || trials[i].score <= 0 || !same_but(k, &trials[at].plan, &trials[i].plan, &value)) continue;
    if (value < middle && value > low) low = value, low_score = trials[i].score;
    if (value > middle && (!high || value < high)) high = value, high_score = trials[i].score;
  }
  if (!low || !high) return 0;
  double a = log2(low), b = log2(middle), c = log2(high), fb = trials[at].score;
  double p = (b - a) * (fb - high_score), q = (b - c) * (fb - low_score), bottom = p - q;
  if (!(bottom > 0)) return 0;
  double x = b - 0.5 * ((b - a) * p - (b - c) * q) / bottom;
  if (x <= a || x >= c) return 0;
  return (uint32_t)(exp2(x) + 0.5);
}

/* ---- Neighbours --------------------------------------------------------------------------------- */

typedef struct neighbours {
  hd_plan *out;
  size_t n;
} neighbours;

static void neighbour(neighbours *l, const hd_plan *p) {
  if (l->n == TUNER_NEIGHBOURS || hd_plan_check(p, NULL) != HD_OK) return;
  for (size_t i = 0; i < l->n; i++)
    if (hd_plan_equal(&l->out[i], p)) return;
  l->out[l->n++] = *p;
}

static void turn(neighbours *l, const tuner_space *s, const knob *k, const hd_plan *best, uint64_t value) {
  hd_plan p = *best;
  if (value < 1 || value > k->most(s) || value > UINT32_MAX) return;
  *k->of(&p) = (uint32_t)value;
  neighbour(l, &p);
}

/* p with those levers of q that p leaves alone; false when there are none. */
static bool join(const hd_plan *p, const hd_plan *q, hd_plan *out) {
  hd_plan r = *p;
  if (r.order.kind == HD_ORDER_ROW) r.order = q->order;
  if (r.bind == HD_BIND_NONE && q->bind != HD_BIND_NONE) {
    r.bind = q->bind;
    r.agents = q->agents;
    r.split = q->split;
    r.take = q->take;
  }
  if (r.threads.kind == HD_ORDER_ROW) {
    r.threads = q->threads;
    r.threads_in_cta = q->threads_in_cta;
  }
  /* Beside stream=l1 nothing is left to bypass. */
  if (r.bypass.kind == HD_BYPASS_NONE && r.stream.kind != HD_STREAM_L1) {
    r.bypass = q->bypass;
    r.form = q->form;
  }
  if (r.stream.kind == HD_STREAM_NONE && (q->stream.kind != HD_STREAM_L1 || r.bypass.kind == HD_BYPASS_NONE))
    r.stream = q->stream;
  if (r.prefetch.kind == HD_PREFETCH_NONE) r.prefetch = q->prefetch;
  *out = r;
  return !hd_plan_equal(&r, p);
}

/* Bindings and orders make each other worth while: what lost alone may win with the other. */
static void bind(neighbours *l, const tuner_space *s, const hd_plan *best) {
  uint32_t most = s->resident ? s->resident : MOST_AGENTS;
  const hd_plan binds[] = {{.bind = HD_BIND_AGENTS},
                           {.bind = HD_BIND_AGENTS, .agents = (most + 1) / 2},
                           {.bind = HD_BIND_AGENTS, .split = {HD_SPLIT_WAVE, most}},
                           {.bind = HD_BIND_CLAIM},
                           {.bind = HD_BIND_REDIRECT}};
  if (!s->can_order || s->tasks <= s->n_sms) return;
  for (size_t i = 0; i < sizeof binds / sizeof *binds; i++) {
    hd_plan p = *best;
    if (binds[i].bind == HD_BIND_AGENTS && !s->can_loop) continue;
    p.bind = binds[i].bind;
    p.agents = binds[i].agents;
    p.split = binds[i].split;
    neighbour(l, &p);
  }
}

static void reorder(neighbours *l, const tuner_space *s, const hd_plan *best) {
  hd_order orders[LINE_ORDERS];
  size_t n = line_orders(s, orders);
  for (size_t i = 0; i < n; i++) {
    hd_plan p = *best;
    p.order = orders[i];
    if (p.split.kind != HD_SPLIT_WAVE) p.split = line_split(s, &p.order);
    if (!hd_plan_equal(&p, best)) neighbour(l, &p);
  }
}

enum { JOINED = 4 };

size_t tuner_neighbours(const tuner_space *s, const search_trial *trials, size_t n, size_t at, hd_plan *out) {
  neighbours l = {.out = out};
  hd_plan best = trials[at].plan;
  for (size_t i = 0; i < sizeof knobs / sizeof *knobs; i++) {
    const knob *k = &knobs[i];
    uint32_t *at_value = k->of(&best);
    if (!at_value) continue;
    uint64_t v = *at_value, between = interpolate(k, trials, n, at);
    turn(&l, s, k, &best, v / 2);
    turn(&l, s, k, &best, 2 * v);
    if (between) turn(&l, s, k, &best, between);
    if (!k->fine) continue;
    turn(&l, s, k, &best, v - 1);
    turn(&l, s, k, &best, v + 1);
  }
  /* All agents that fit: their number is the GPU's to say, the next ones below are these. */
  if (best.bind == HD_BIND_AGENTS && !best.agents && s->resident > 1) {
    hd_plan fewer = best;
    fewer.agents = s->resident - 1;
    neighbour(&l, &fewer);
    fewer.agents = fewer_agents(s->resident, 1);
    neighbour(&l, &fewer);
  }
  if (best.bind == HD_BIND_AGENTS) {
    hd_plan other = best;
    bool segments = best.take.kind == HD_TAKE_SEGMENTS;
    other.take = (hd_take){.kind = segments ? HD_TAKE_TASKS : HD_TAKE_SEGMENTS};
    neighbour(&l, &other);
  }
  /* Levers of the fastest others. */
  double below = 1e300;
  for (size_t k = 0; k < JOINED; k++) {
    size_t next = n;
    for (size_t i = 0; i < n; i++)
      if (i != at && trials[i].score > 1 && trials[i].score < below &&
          (next == n || trials[i].score > trials[next].score))
        next = i;
    if (next == n) break;
    below = trials[next].score;
    hd_plan both;
    if (join(&best, &trials[next].plan, &both)) neighbour(&l, &both);
  }
  hd_plan lines = best;
  lines.split = line_split(s, &best.order);
  if (best.bind != HD_BIND_NONE && !hd_plan_equal(&lines, &best)) neighbour(&l, &lines);
  if (best.bind == HD_BIND_NONE)
    bind(&l, s, &best);
  else if (best.order.kind == HD_ORDER_ROW)
    reorder(&l, s, &best);
  return l.n;
}
