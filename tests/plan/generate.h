/* Generated inputs: grids and plans, the same in every run. */
#ifndef TESTS_PLAN_GENERATE_H
#define TESTS_PLAN_GENERATE_H

#include "plan/cmocka_env.h"

typedef struct random_stream {
  uint64_t seed, n;
} random_stream;

static inline uint64_t next_random(random_stream *r) { return hd_random_at(r->seed, r->n++); }
/* lo..hi, both included. */
static inline uint64_t draw(random_stream *r, uint64_t lo, uint64_t hi) {
  return hi - lo == UINT64_MAX ? next_random(r) : lo + next_random(r) % (hi - lo + 1);
}

/* Small grids: lines, planes and boxes; ones, primes, powers of two, anything. */
static inline void draw_grid(random_stream *r, uint32_t g[3]) {
  static const uint32_t favourites[] = {1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17};
  uint32_t most = (uint32_t[]){40, 24, 9}[draw(r, 0, 2)];
  for (int i = 0; i < 3; i++) {
    g[i] = (uint32_t)draw(r, 1, most);
    if (draw(r, 0, 2) == 0) g[i] = favourites[draw(r, 0, 10)];
  }
  if (draw(r, 0, 2) > 0) g[2] = 1;
  if (draw(r, 0, 4) == 0) g[1] = 1;
  if (draw(r, 0, 8) == 0) g[0] = 1;
}

/* Mostly small, sometimes related to the grid, sometimes far larger. */
static inline uint32_t draw_parameter(random_stream *r, const uint32_t g[3]) {
  uint64_t plane = (uint64_t)g[0] * g[1];
  switch (draw(r, 0, 8)) {
  case 0: return g[0];
  case 1: return g[1];
  case 2: return (uint32_t)(plane < UINT32_MAX ? plane : UINT32_MAX);
  case 3: return (uint32_t)draw(r, 1, UINT32_MAX);
  case 4: return UINT32_MAX;
  case 5: return 1u << draw(r, 0, 5);
  default: return (uint32_t)draw(r, 1, 12);
  }
}

/* An order without a table, in the form that parsing gives. */
static inline hd_order draw_order(random_stream *r, const uint32_t g[3]) {
  hd_order o = {.kind = (hd_order_kind)draw(r, HD_ORDER_ROW, HD_ORDER_REVERSE)};
  bool two = o.kind == HD_ORDER_TILE || o.kind == HD_ORDER_ZIGZAG || o.kind == HD_ORDER_STRIDE;
  if (two || o.kind == HD_ORDER_BAND) o.a = draw_parameter(r, g);
  if (two) o.b = draw(r, 0, 2) ? draw_parameter(r, g) : 1;
  if (o.kind == HD_ORDER_TILE && draw(r, 0, 1)) o.c = draw_parameter(r, g);
  return o;
}

/* A split that goes with the plan's order. */
static inline hd_split draw_split(random_stream *r, const hd_order *o) {
  if (draw(r, 0, 1) == 0) return (hd_split){0};
  if (o->kind == HD_ORDER_ROW && draw(r, 0, 1)) return (hd_split){.kind = HD_SPLIT_ROWS};
  if (o->kind == HD_ORDER_COL && draw(r, 0, 1)) return (hd_split){.kind = HD_SPLIT_COLS};
  uint32_t wave = (uint32_t)(draw(r, 0, 9) ? draw(r, 1, 20) : draw(r, 1, UINT32_MAX));
  return (hd_split){.kind = HD_SPLIT_WAVE, .wave = wave};
}

/* Often none, often the grid in other words, and at times one with cells for few or for too many tasks. */
static inline hd_shape draw_shape(random_stream *r, const uint32_t g[3]) {
  hd_shape s = {.kind = HD_SHAPE_GIVEN};
  switch (draw(r, 0, 4)) {
  case 0: s.n[0] = g[0], s.n[1] = g[1], s.n[2] = g[2]; break;
  case 1: s.n[0] = g[1], s.n[1] = g[0]; break;
  case 2: s.n[0] = draw_parameter(r, g), s.n[1] = draw_parameter(r, g); break;
  case 3:
    s.n[0] = (uint32_t)draw(r, 1, 9), s.n[1] = (uint32_t)draw(r, 1, 9), s.n[2] = draw_parameter(r, g);
    break;
  default: return (hd_shape){0};
  }
  if (draw(r, 0, 1)) s.own = draw_order(r, g);
  return s;
}

/* A shape that goes with the plan's order and split. */
static inline void draw_shape_of(random_stream *r, const uint32_t g[3], hd_plan *p) {
  p->shape = draw_shape(r, g);
  if (hd_plan_check(p, NULL) != HD_OK) p->shape = (hd_shape){0};
}

/* The levers that decide which task a worker runs: any order without a table, no binding or redirect, any
 * split. */
static inline hd_plan draw_plan(random_stream *r, const uint32_t g[3]) {
  hd_plan p = {.order = draw_order(r, g), .bind = (hd_bind_kind)draw(r, HD_BIND_NONE, HD_BIND_REDIRECT)};
  if (p.bind != HD_BIND_NONE) p.split = draw_split(r, &p.order);
  draw_shape_of(r, g, &p);
  return p;
}

/* Every lever, in combinations that make sense. */
static inline hd_plan draw_full_plan(random_stream *r, const uint32_t g[3]) {
  hd_plan p = {.order = draw_order(r, g), .bind = (hd_bind_kind)draw(r, 0, HD_BIND_COUNT - 1)};
  if (draw(r, 0, 9) == 0)
    p.order = (hd_order){.kind = draw(r, 0, 1) ? HD_ORDER_AFFINITY : HD_ORDER_HEAVY_FIRST};
  if (hd_bind_has_clusters(p.bind)) p.split = draw_split(r, &p.order);
  draw_shape_of(r, g, &p);
  if (p.bind == HD_BIND_AGENTS && draw(r, 0, 1))
    p.take = draw(r, 0, 2) ? (hd_take){HD_TAKE_SEGMENTS, draw(r, 0, 1) ? (uint32_t)draw(r, 1, UINT32_MAX) : 0}
                           : (hd_take){HD_TAKE_STRIDES, 0};
  if (p.bind == HD_BIND_AGENTS) p.agents = (uint32_t)draw(r, 0, 9);
  if (draw(r, 0, 3) == 0) p.threads = draw_order(r, g);
  p.threads_in_cta = p.threads.kind != HD_ORDER_ROW && draw(r, 0, 1);
  if (draw(r, 0, 1)) p.bypass.kind = (hd_bypass_kind)draw(r, 1, HD_BYPASS_COUNT - 1);
  if (p.bypass.kind && p.bypass.kind != HD_BYPASS_AUTO) p.bypass.warps = (uint32_t)draw(r, 0, 32);
  if (p.bypass.kind == HD_BYPASS_L1_L2) p.bypass.l2_warps = (uint32_t)draw(r, 0, 32);
  if (p.bypass.kind) p.form = (hd_form)draw(r, 0, 1);
  p.stream.kind = (hd_stream_kind)draw(r, 0, HD_STREAM_COUNT - 1);
  if (p.stream.kind == HD_STREAM_LOADS) {
    uint32_t load = (uint32_t)draw(r, 0, 3) * 250;
    for (uint64_t n = draw(r, 1, 5); n; n--, load += 1 + (uint32_t)draw(r, 0, 9))
      hd_numbers_add(&p.stream.loads, load, load);
  }
  if (p.bind != HD_BIND_CANCEL) p.prefetch.kind = (hd_prefetch_kind)draw(r, 0, HD_PREFETCH_COUNT - 1);
  if (p.prefetch.kind) p.prefetch.distance = (uint32_t)draw(r, 1, 40);
  if (p.bind == HD_BIND_AGENTS && p.take.kind != HD_TAKE_STRIDES && draw(r, 0, 1)) {
    uint32_t sm = (uint32_t)draw(r, 0, 9);
    for (uint64_t n = draw(r, 1, 4); n; n--) {
      const uint32_t last = sm + (uint32_t)draw(r, 0, 9);
      hd_numbers_add(&p.sms, sm, last);
      sm = last + 2 + (uint32_t)draw(r, 0, 9);
    }
  }
  p.agents_voted = !p.agents && draw(r, 0, 1);
  if (hd_plan_check(&p, NULL) != HD_OK) p.agents_voted = false;
  return p;
}

/* For messages. */
static inline const char *describe(const hd_plan *p, const hd_grid *g, char out[256]) {
  hd_buf b = {0};
  hd_plan_print(p, &b);
  snprintf(out, 256, "%s on %u x %u x %u, %u SMs, grid %s", b.data, g->g[0], g->g[1], g->g[2], g->n_sms,
           g->known ? "known" : "unknown");
  hd_buf_free(&b);
  return out;
}

#endif
