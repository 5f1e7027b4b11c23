/* Memory that runs out in reuse/. */
#include "nomem.h"

#include "../model/synth.h"
#include "heddle/sharing.h"

static const uint32_t grid[3] = {12, 1, 1};
static const hd_reuse_array arrays[] = {{"a", 0, 4096}, {"b", 4096, 1 << 20}};

static void warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t w, void *ctx) {
  for (uint32_t i = 0; i < 30; i++)
    synth_put(h, worker, task, w, i, i % 5 ? HD_ACCESS_LOAD : HD_ACCESS_STORE, 512 * (task / 2) + 128 * i, 4);
}

static hd_status measure(void *ctx, hd_diag *d) {
  hd_reuse r;
  hd_status st = hd_reuse_measure(ctx, arrays, 2, NULL, &r, d);
  if (st == HD_OK) hd_reuse_free(&r);
  return st;
}

static hd_status loads(void *ctx, hd_diag *d) {
  hd_load_reuses sum = {0};
  hd_status st = hd_reuse_add_loads(ctx, 0, &sum, d);
  hd_load_reuses_free(&sum);
  return st;
}

static hd_status colours(void *ctx, hd_diag *d) {
  static const uint64_t tasks[] = {0, 1, 2};
  hd_colouring *c;
  const hd_status st = hd_sharing_colour(ctx, tasks, 3, NULL, 0, 128, &c, d);
  if (st == HD_OK) hd_colourings_free(c, 0);
  return st;
}

static hd_status affinity(void *ctx, hd_diag *d) {
  hd_affinity a;
  hd_table order;
  const hd_affinity_options o = {.threads = 2};
  hd_status st = hd_affinity_build(ctx, &o, &a, d);
  if (st != HD_OK) return st;
  st = hd_affinity_order(&a, 0, &order, d);
  if (st == HD_OK) hd_table_free(&order);
  hd_affinity_free(&a);
  return st;
}

static hd_status group(void *ctx, hd_diag *d) {
  const uint64_t tasks[] = {0, 1, 2};
  uint32_t warps;
  return hd_reuse_warp_group(ctx, tasks, 3, 64, &warps, d);
}

static hd_status heavy_first(void *ctx, hd_diag *d) {
  hd_table order;
  hd_status st = hd_reuse_heavy_first(ctx, &order, d);
  if (st == HD_OK) hd_table_free(&order);
  return st;
}

static hd_status sharing(void *ctx, hd_diag *d) {
  hd_sharing s;
  hd_status st = hd_sharing_measure(ctx, grid, arrays, 2, NULL, &s, d);
  if (st == HD_OK) hd_sharing_free(&s);
  return st;
}

static hd_status pattern(void *ctx, hd_diag *d) {
  hd_pattern p;
  hd_status st = hd_pattern_measure(ctx, grid, arrays, 2, 0, &p, d);
  if (st == HD_OK) hd_pattern_free(&p);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  hd_trace *t = synth_trace(12, 64, warp, NULL);
  const nomem_entry cases[] = {{"shares", measure, t, false},    {"loads", loads, t, false},
                               {"affinity", affinity, t, true},  {"colours", colours, t, true},
                               {"heavy", heavy_first, t, false}, {"sharing", sharing, t, false},
                               {"pattern", pattern, t, false},   {"group", group, t, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) nomem_expect(&cases[i]);
  hd_trace_destroy(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
