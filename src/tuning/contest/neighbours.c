/* Plans one step from a good one. */
#include <math.h>

#include "contest/search.h"
#include "plan/candidates.h"

/* ---- Numbers of a plan that climbing turns ------------------------------------------------ */

typedef struct knob {
  uint32_t *(*of)(hd_plan *p);              /* NULL: the plan does not have it */
  uint64_t (*most)(const hd_plan_space *s); /* its greatest sensible value */
  bool fine;                                /* by ones as well: small numbers, where a doubling is much */
} knob;

static uint32_t *band_height(hd_plan *p) { return p->order.kind == HD_ORDER_BAND ? &p->order.a : NULL; }
static bool is_in_rows(const hd_plan *p) { return p->order.kind == HD_ORDER_TILE && p->order.c; }
static bool is_tiled(const hd_plan *p) { return p->order.kind == HD_ORDER_TILE && !p->order.c; }
static uint32_t *tile_width(hd_plan *p) { return is_tiled(p) ? &p->order.a : NULL; }
static uint32_t *tile_height(hd_plan *p) { return is_tiled(p) ? &p->order.b : NULL; }
static uint32_t *row_length(hd_plan *p) { return is_in_rows(p) ? &p->order.c : NULL; }
/* Of row-order positions, whatever the grid is. */
static bool is_folded(const hd_plan *p) {
  return p->order.kind == HD_ORDER_ZIGZAG || p->order.kind == HD_ORDER_STRIDE || is_in_rows(p);
}
static uint32_t *thread_band(hd_plan *p) { return p->threads.kind == HD_ORDER_BAND ? &p->threads.a : NULL; }
static uint32_t *groups(hd_plan *p) { return is_folded(p) ? &p->order.a : NULL; }
static uint32_t *group(hd_plan *p) { return is_folded(p) ? &p->order.b : NULL; }
static uint32_t *agents(hd_plan *p) { return p->bind == HD_BIND_AGENTS && p->agents ? &p->agents : NULL; }
static uint32_t *wave(hd_plan *p) { return p->split.kind == HD_SPLIT_WAVE ? &p->split.wave : NULL; }
static uint32_t *prefetch_distance(hd_plan *p) {
  return p->prefetch.kind != HD_PREFETCH_NONE ? &p->prefetch.distance : NULL;
}

static uint64_t grid_height(const hd_plan_space *s) { return s->grid[1] - 1; }
static uint64_t grid_width(const hd_plan_space *s) { return s->grid[0]; }
static uint64_t whole_height(const hd_plan_space *s) { return s->grid[1]; }
static uint64_t threads_high(const hd_plan_space *s) { return (uint64_t)s->grid[1] * s->block[1] - 1; }
static uint64_t half_of_tasks(const hd_plan_space *s) { return s->tasks / 2; }
static uint64_t residents(const hd_plan_space *s) { return s->resident ? s->resident : 32; }
static uint64_t waves(const hd_plan_space *s) { return 4 * residents(s); }
static uint64_t distances(const hd_plan_space *s) { return 8; }

static const knob knobs[] = {
    {band_height, grid_height, true},   {tile_width, grid_width, false},
    {tile_height, whole_height, false}, {groups, half_of_tasks, false},
    {group, half_of_tasks, false},      {agents, residents, true},
    {thread_band, threads_high, false}, {wave, waves, true},
    {row_length, half_of_tasks, false}, {prefetch_distance, distances, true},
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

static void turn(neighbours *l, const hd_plan_space *s, const knob *k, const hd_plan *best, uint64_t value) {
  hd_plan p = *best;
  if (value < 1 || value > k->most(s) || value > UINT32_MAX) return;
  *k->of(&p) = (uint32_t)value;
  neighbour(l, &p);
}

/* A wave ends where tiles do, or does not: their sizes go together, and of either alone each step may be one
 * down. */
static void fit_tiles(neighbours *l, const hd_plan_space *s, const hd_plan *best) {
  if (best->order.kind != HD_ORDER_TILE || best->split.kind != HD_SPLIT_WAVE) return;
  const uint32_t w = best->order.a, h = best->order.b, rows = best->order.c;
  const uint64_t widest = rows ? rows : grid_width(s), highest = rows ? s->tasks / rows : whole_height(s);
  const uint32_t sizes[][2] = {{w, h / 2}, {w, 2 * h}, {w / 2, h}, {2 * w, h}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (uint32_t k = best->split.wave - 1; k <= best->split.wave + 1; k += 2) {
      hd_plan p = *best;
      if (!sizes[i][0] || !sizes[i][1] || sizes[i][0] > widest || sizes[i][1] > highest || !k) continue;
      p.order.a = sizes[i][0];
      p.order.b = sizes[i][1];
      p.split.wave = k;
      neighbour(l, &p);
    }
}

/* Thresholds of bypassing: all of a small CTA's, of a large one's those near and those all over. The speedup
 * rises and falls with the number of warps that use the cache, so the nearest thresholds tell little about
 * the others. */
static void rethreshold(neighbours *l, const hd_plan_space *s, const hd_plan *best) {
  enum { FEW = 8, SPREAD = 6 };
  static const hd_bypass_kind kinds[] = {HD_BYPASS_L1, HD_BYPASS_READONLY, HD_BYPASS_L2};
  uint32_t k = best->bypass.warps < s->warps ? best->bypass.warps : s->warps;
  uint32_t values[FEW + SPREAD], n = 0;
  if (best->bypass.kind == HD_BYPASS_NONE || best->bypass.kind == HD_BYPASS_AUTO) return;
  if (s->warps <= FEW) {
    while (n <= s->warps) values[n] = n, n++;
  } else {
    const uint32_t near[] = {k + 1, k ? k - 1 : 0, 2 * k, k / 2};
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) values[n++] = near[i];
    for (uint32_t i = 0; i <= SPREAD; i++) values[n++] = s->warps * i / SPREAD;
  }
  for (uint32_t i = 0; i < n; i++) {
    hd_plan p = *best;
    p.bypass.warps = values[i];
    /* From all warps on nothing bypasses: only ro, whose loads are others then, is a plan of its own. */
    if (values[i] > s->warps || (values[i] == s->warps && p.bypass.kind != HD_BYPASS_READONLY)) continue;
    if (!hd_plan_equal(&p, best)) neighbour(l, &p);
  }
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    hd_plan p = *best;
    p.bypass = (hd_bypass){.kind = kinds[i], .warps = best->bypass.warps};
    if (p.bypass.kind != best->bypass.kind && (k < s->warps || kinds[i] == HD_BYPASS_READONLY))
      neighbour(l, &p);
  }
}

/* Bindings and orders make each other worth while: one that lost alone may win with the other. */
static void bind(neighbours *l, const hd_plan_space *s, const hd_plan *best) {
  uint32_t most = plan_resident(s);
  const hd_plan binds[] = {{.bind = HD_BIND_AGENTS},
                           {.bind = HD_BIND_AGENTS, .agents = (most + 1) / 2},
                           {.bind = HD_BIND_AGENTS, .split = {HD_SPLIT_WAVE, most}},
                           {.bind = HD_BIND_CLAIM},
                           {.bind = HD_BIND_CLAIM, .split = {HD_SPLIT_WAVE, most}},
                           {.bind = HD_BIND_REDIRECT},
                           {.bind = HD_BIND_CANCEL}};
  if (!s->can_order || s->clusters || s->tasks <= s->n_sms) return;
  for (size_t i = 0; i < sizeof binds / sizeof *binds; i++) {
    hd_plan p = *best;
    if (binds[i].bind == HD_BIND_AGENTS && !s->can_loop) continue;
    if (binds[i].bind == HD_BIND_CANCEL && !s->can_cancel) continue;
    p.bind = binds[i].bind;
    p.agents = binds[i].agents;
    p.split = binds[i].split;
    neighbour(l, &p);
    /* Bound tasks are known far ahead: the farthest fetch that is sensible, which no step from here reaches.
     */
    if (p.prefetch.kind == HD_PREFETCH_NONE || p.agents || p.split.kind != HD_SPLIT_CHUNK) continue;
    p.prefetch.distance = (uint32_t)distances(s);
    neighbour(l, &p);
  }
}

/* Fewer CTAs leave more room in caches, and levers for caches change how many are best: both at once are one
 * step. */
static void join_agents(neighbours *l, const hd_plan_space *s, const hd_plan *best, const hd_plan *joined) {
  uint32_t most = plan_resident(s), n = best->agents ? best->agents : most;
  if (best->bind != HD_BIND_AGENTS ||
      (joined->bypass.kind == best->bypass.kind && joined->stream.kind == best->stream.kind))
    return;
  for (uint32_t k = n - 1; k <= n + 1; k += 2) {
    hd_plan p = *joined;
    if (k < 1 || k > most) continue;
    p.agents = k;
    neighbour(l, &p);
  }
}

static void reorder(neighbours *l, const hd_plan_space *s, const hd_plan *best) {
  hd_order orders[PLAN_LINE_ORDERS];
  size_t n = plan_line_orders(s, orders);
  for (size_t i = 0; i < n; i++) {
    hd_plan p = *best;
    p.order = orders[i];
    if (p.split.kind != HD_SPLIT_WAVE) p.split = plan_line_split(s, &p.order);
    plan_give_shape(s, &p);
    if (!hd_plan_equal(&p, best)) neighbour(l, &p);
  }
}

/* The best levers of other families that were faster than the original: of one family the best alone, or its
 * many members would leave no room for the others. */
static void join_families(neighbours *l, const hd_plan_space *s, const search_trial *trials, size_t n,
                          size_t at) {
  enum { JOINED = 6 };
  double below = INFINITY;
  uint32_t seen[JOINED];
  for (size_t k = 0; k < JOINED;) {
    size_t next = n;
    for (size_t i = 0; i < n; i++)
      if (i != at && trials[i].score > 1 && trials[i].score < below &&
          (next == n || trials[i].score > trials[next].score))
        next = i;
    if (next == n) return;
    below = trials[next].score;
    bool known = false;
    for (size_t i = 0; i < k; i++) known |= seen[i] == trials[next].family;
    hd_plan both;
    if (known || !hd_plan_join(&trials[at].plan, &trials[next].plan, &both)) continue;
    seen[k++] = trials[next].family;
    neighbour(l, &both);
    if (k == 1) join_agents(l, s, &trials[at].plan, &both);
  }
}

/* A bound CTA knows its next tasks, whose fetch may win in the best order where it lost in the launch's. */
static void fetch_ahead(neighbours *l, const hd_plan *best) {
  static const uint32_t distance = 2;
  hd_plan p = *best;
  if (p.bind == HD_BIND_NONE || p.prefetch.kind != HD_PREFETCH_NONE) return;
  p.prefetch = (hd_prefetch){.kind = HD_PREFETCH_L2, .distance = distance};
  neighbour(l, &p);
}

size_t tuner_neighbours(const hd_plan_space *s, const search_trial *trials, size_t n, size_t at,
                        hd_plan *out) {
  neighbours l = {.out = out};
  hd_plan best = trials[at].plan;
  /* Time may end before the list does: levers that have won come first. */
  join_families(&l, s, trials, n, at);
  fetch_ahead(&l, &best);
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
    fewer.agents = plan_fewer_agents(s->resident, 1);
    neighbour(&l, &fewer);
  }
  for (unsigned kind = 0; best.bind == HD_BIND_AGENTS && kind < HD_TAKE_COUNT; kind++) {
    hd_plan other = best;
    other.take = (hd_take){.kind = (hd_take_kind)kind};
    if (other.take.kind != best.take.kind) neighbour(&l, &other);
  }
  fit_tiles(&l, s, &best);
  rethreshold(&l, s, &best);
  hd_plan lines = best;
  lines.split = plan_line_split(s, &best.order);
  if (best.bind != HD_BIND_NONE && !hd_plan_equal(&lines, &best)) neighbour(&l, &lines);
  if (best.bind == HD_BIND_NONE)
    bind(&l, s, &best);
  else if (best.order.kind == HD_ORDER_ROW)
    reorder(&l, s, &best);
  return l.n;
}
