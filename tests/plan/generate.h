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

/* Any plan but tables, in the form that parsing gives. */
static inline hd_plan draw_plan(random_stream *r, const uint32_t g[3]) {
  hd_plan p = {.order.kind = (hd_order_kind)draw(r, HD_ORDER_ROW, HD_ORDER_REVERSE),
               .bind = (hd_bind_kind)draw(r, HD_BIND_NONE, HD_BIND_REDIRECT)};
  bool two =
      p.order.kind == HD_ORDER_TILE || p.order.kind == HD_ORDER_ZIGZAG || p.order.kind == HD_ORDER_STRIDE;
  if (two || p.order.kind == HD_ORDER_BAND) p.order.a = draw_parameter(r, g);
  if (two) p.order.b = draw(r, 0, 2) ? draw_parameter(r, g) : 1;
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
