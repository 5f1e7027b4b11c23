/* The passes in order. */
#include <stdlib.h>
#include <string.h>

#include "analysis/internal.h"

enum { DEFAULT_MAX_INSTS = 1000000 };
static const uint64_t DEFAULT_WORK = 40000000;

static void release(an *a) {
  hd_arena_free(&a->arena);
  free(a);
}

/* Read the limits that the kernel's directives (.reqntid, .maxntid) put on its blocks. */
static void read_limits(an *a) {
  const hd_ptx_func *f = &a->m->funcs[a->pub.func];
  const hd_ptx_dir *exact = hd_ptx_func_dir(a->m, f, HD_M_REQNTID),
                   *max = hd_ptx_func_dir(a->m, f, HD_M_MAXNTID);
  a->max_threads = HD_MAX_THREADS;
  if (max && max->n_vals) {
    int64_t n = 1;
    for (unsigned i = 0; i < max->n_vals && i < 3; i++)
      if (__builtin_mul_overflow(n, (int64_t)max->vals[i], &n)) n = HD_MAX_THREADS;
    if (n > 0 && n < HD_MAX_THREADS) a->max_threads = n;
  }
  for (unsigned i = 0; i < 3; i++) {
    a->max_block[i] = a->max_threads < hd_max_block[i] ? a->max_threads : hd_max_block[i];
    if (exact && !a->opt.block[i]) a->opt.block[i] = i < exact->n_vals ? exact->vals[i] : 1;
    if (a->opt.block[i]) a->max_block[i] = a->opt.block[i];
  }
  if (a->opt.block[0] && a->opt.block[1] && a->opt.block[2])
    a->max_threads = a->max_block[0] * a->max_block[1] * a->max_block[2];
}

static hd_status run(an *a) {
  an_poly_init(&a->alg, &a->arena);
  read_limits(a);
  a->param_offsets = HD_NEW_N(&a->arena, a->m->funcs[a->pub.func].n_params + 1u, uint64_t);
  a->param_bytes = hd_ptx_param_layout(a->m, &a->m->funcs[a->pub.func], a->param_offsets);
  hd_cfg *g = &a->pub.cfg;
  hd_status st = hd_cfg_build(a->m, a->pub.func, a->opt.max_insts, &a->arena, g, a->diag);
  if (st != HD_OK) return st;
  if (!g->n_insts) return hd_fail(a->diag, HD_ERR_INPUT, "the kernel has no instructions");
  a->pub.loop_values = HD_NEW_N(&a->arena, g->n_loops + 1u, hd_loop_values);
  for (uint32_t l = 0; l < g->n_loops; l++)
    a->pub.loop_values[l].counter = a->pub.loop_values[l].trips = a->pub.loop_values[l].rounds = HD_NONE;
  an_slots(a);
  an_defs(a);
  size_t n_values = an_first_phi(a);
  AN_RESERVE(&a->arena, &a->eval.vals, n_values + 1);
  AN_RESERVE(&a->arena, &a->eval.states, n_values + 1);
  memset(a->eval.states.data, AN_WAITING, n_values);
  a->eval.vals.n = a->eval.states.n = n_values;
  an_sites(a);
  an_publish(a);
  return a->launch ? an_find_tiles(a, a->launch) : HD_OK;
}

static hd_status prepare_and_run(an *a, const hd_analysis *plain) {
  hd_status st = plain ? an_prepare_launch(a, plain) : HD_OK;
  return st == HD_OK ? run(a) : st;
}

/* plain: where a launch is given, the analysis without it. */
static hd_status analyze(const hd_ptx_module *m, uint32_t func, const hd_analyze_options *opt,
                         const hd_point *launch, const hd_analysis *plain, hd_analysis **out, hd_diag *d) {
  static const hd_analyze_options defaults = {0};
  *out = NULL;
  if (func >= m->n_funcs || !m->funcs[func].has_body)
    return hd_fail(d, HD_ERR_INPUT, "the kernel is declared here but defined elsewhere");
  an *a = calloc(1, sizeof *a);
  if (!a) return hd_nomem(d);
  hd_arena_init(&a->arena);
  a->arena.escape = &a->out_of_memory;
  a->m = a->pub.module = m;
  a->pub.func = func;
  a->pub.priv = a;
  a->pub.tiles.loop = HD_NONE;
  a->opt = opt ? *opt : defaults;
  a->budget = a->opt.work ? a->opt.work : DEFAULT_WORK;
  if (!a->opt.max_insts) a->opt.max_insts = DEFAULT_MAX_INSTS;
  a->diag = d;
  a->launch = launch;
  hd_status st = setjmp(a->out_of_memory) ? hd_nomem(d) : prepare_and_run(a, plain);
  a->launch = NULL; /* the caller's */
  if (st != HD_OK) {
    release(a);
    return st;
  }
  a->pub.at_launch = launch != NULL;
  *out = &a->pub;
  return HD_OK;
}

hd_status hd_analyze(const hd_ptx_module *m, uint32_t func, const hd_analyze_options *opt, hd_analysis **out,
                     hd_diag *d) {
  return analyze(m, func, opt, NULL, NULL, out, d);
}

hd_status hd_analyze_launch(const hd_ptx_module *m, uint32_t func, const hd_point *at, hd_analysis **out,
                            hd_diag *d) {
  hd_analyze_options opt = {0};
  hd_analysis *plain;
  *out = NULL;
  memcpy(opt.grid, at->grid, sizeof opt.grid);
  memcpy(opt.block, at->block, sizeof opt.block);
  hd_status st = hd_analyze(m, func, &opt, &plain, d);
  if (st != HD_OK) return st;
  st = analyze(m, func, &opt, at, plain, out, d);
  hd_analysis_free(plain);
  return st;
}

static uint32_t count_to(const hd_analysis *a, hd_level most) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < a->n_sites; i++) n += a->sites[i].level <= most;
  return n;
}

/* Whether a launch may say more of the addresses. The grid alone says which tiles CTAs work on, where
 * constants divide their number. */
static bool may_gain(const hd_analysis *a, const hd_point *at) {
  return at && (at->args || at->grid[0]) && count_to(a, HD_LEVEL_AFFINE) < a->n_sites;
}

hd_status hd_analyze_best(const hd_ptx_module *m, uint32_t func, const hd_point *at, hd_analysis **out,
                          hd_diag *d) {
  hd_analysis *launched;
  hd_status st = hd_analyze(m, func, NULL, out, d);
  if (st != HD_OK || !may_gain(*out, at)) return st;
  st = hd_analyze_launch(m, func, at, &launched, d);
  bool better = st == HD_OK && (launched->tiles.answer == HD_TILES_FOUND ||
                                count_to(launched, HD_LEVEL_QUASI) > count_to(*out, HD_LEVEL_QUASI));
  if (st == HD_OK && !better) (*out)->tiles = launched->tiles; /* no tables: none were found */
  hd_analysis_free(st != HD_OK || better ? *out : launched);
  *out = st != HD_OK ? NULL : better ? launched : *out;
  return st;
}

void hd_analysis_free(hd_analysis *a) {
  if (a) release(a->priv);
}
