/* Persistent kernels: as many CTAs as fit, each of which goes through the tiles in steps of the grid's size.
 *
 * Round k of CTA c works on tile c + nctaid.x * k, and the round's addresses depend on that number alone. It
 * takes the CTA's place in the search for tiles.
 */
#include "analysis/internal.h"
#include "analysis/tiles.h"

/* ctaid.x as the tile's number less the rounds before: *p becomes a formula in the number. HD_NONE: too
 * large. */
static hd_poly in_task(an *a, hd_poly p, hd_symbol id, hd_poly id_in_task) {
  return an_subst(&a->alg, p, id, id_in_task);
}

static hd_poly task_symbol(an *a, uint32_t loop, uint64_t tasks) {
  hd_value_symbol s = {.kind = HD_V_TASK,
                       .level = HD_LEVEL_AFFINE,
                       .a = loop,
                       .why = HD_NONE,
                       .varies = 8, /* as ctaid.x */
                       .hi = (int64_t)tasks - 1};
  return an_sym(&a->alg, an_symbol(&a->alg, s));
}

/* The rounds of all CTAs are the tiles' numbers from 0 on, each once; 0: they are not. */
static uint64_t count_tasks(an *a, uint32_t loop, const hd_point *launch) {
  const hd_loop_values *l = &a->pub.loop_values[loop];
  hd_point at = *launch;
  uint64_t n = 0, end = 0;
  if (l->trips == HD_NONE || a->pub.cfg.loops[loop].depth != 1 || launch->grid[1] != 1 ||
      launch->grid[2] != 1)
    return 0;
  an_publish(a);
  for (uint32_t c = 0; c < launch->grid[0]; c++) {
    int64_t rounds;
    at.ctaid[0] = c;
    if (!hd_poly_eval(&a->pub, l->trips, &at, &rounds) || rounds < 0 || rounds >= TILES_MOST_CTAS) return 0;
    uint64_t last = c + (uint64_t)launch->grid[0] * (uint64_t)rounds;
    n += (uint64_t)rounds + 1;
    if (last + 1 > end) end = last + 1;
  }
  return n == end && n <= TILES_MOST_CTAS ? n : 0;
}

static bool is_inside(const an *a, uint32_t inst, uint32_t loop) {
  const hd_cfg *g = &a->pub.cfg;
  return hd_loop_contains(g, loop, g->blocks[g->insts[inst].block].loop);
}

/* Every address and coordinate inside depends on the number alone, and some do. */
static bool follows_number(an *a, uint32_t loop, hd_symbol id, hd_poly id_in_task) {
  hd_symbol k = a->pub.loop_values[loop].counter;
  bool some = false;
  for (size_t i = 0; i < a->result.sites.n; i++) {
    const hd_site s = a->result.sites.data[i];
    if (!is_inside(a, s.inst, loop) || s.level > HD_LEVEL_NONLINEAR) continue;
    bool before = an_mentions(&a->alg, s.address, k);
    hd_poly p = in_task(a, s.address, id, id_in_task);
    if (p == HD_NONE || an_mentions(&a->alg, p, k)) return false;
    some |= before;
  }
  for (size_t i = 0; i < a->result.places.n; i++) {
    const an_place x = a->result.places.data[i];
    if (!is_inside(a, x.inst, loop)) continue;
    bool before = an_mentions(&a->alg, x.at, k);
    hd_poly p = in_task(a, x.at, id, id_in_task);
    if (p == HD_NONE || an_mentions(&a->alg, p, k)) return false;
    some |= before;
  }
  return some;
}

static void put_in_task(an *a, uint32_t loop, hd_symbol id, hd_poly id_in_task) {
  for (size_t i = 0; i < a->result.sites.n; i++) {
    hd_site *s = &a->result.sites.data[i];
    if (is_inside(a, s->inst, loop) && s->level <= HD_LEVEL_NONLINEAR) {
      hd_poly p = in_task(a, s->address, id, id_in_task);
      a->result.sites.data[i].address = p;
    }
  }
  for (size_t i = 0; i < a->result.places.n; i++) {
    const an_place x = a->result.places.data[i];
    if (is_inside(a, x.inst, loop)) a->result.places.data[i].at = in_task(a, x.at, id, id_in_task);
  }
}

uint32_t an_find_tile_loop(an *a, const hd_point *at, uint64_t *tasks) {
  hd_symbol id = hd_find_symbol(&a->pub, HD_V_CTAID, 0, 0);
  for (uint32_t l = 0; id != HD_NONE && l < a->pub.cfg.n_loops; l++) {
    hd_symbol k = a->pub.loop_values[l].counter;
    if (k == HD_NONE || !(*tasks = count_tasks(a, l, at))) continue;
    hd_poly before = an_scale(&a->alg, an_sym(&a->alg, k), at->grid[0]);
    hd_poly id_in_task = an_sub(&a->alg, task_symbol(a, l, *tasks), before);
    if (!follows_number(a, l, id, id_in_task)) continue;
    put_in_task(a, l, id, id_in_task);
    return l;
  }
  return HD_NONE;
}
