/* The passes in order. */
#include <stdlib.h>
#include <string.h>

#include "analysis/internal.h"

enum { DEFAULT_MAX_INSTS = 1000000 };
static const uint64_t DEFAULT_WORK = 40000000;

static void release(an *a) {
  hd_vec_free(&a->slots);
  hd_vec_free(&a->phis);
  hd_vec_free(&a->vals);
  hd_vec_free(&a->states);
  hd_vec_free(&a->active);
  hd_vec_free(&a->trail);
  hd_vec_free(&a->work);
  hd_vec_free(&a->symbols);
  hd_vec_free(&a->polys);
  hd_vec_free(&a->terms);
  hd_vec_free(&a->products);
  hd_vec_free(&a->factors);
  hd_vec_free(&a->assumptions);
  hd_vec_free(&a->sets);
  hd_vec_free(&a->set_items);
  hd_vec_free(&a->set_scratch);
  hd_vec_free(&a->range_assumed);
  hd_vec_free(&a->symbol_assumed);
  hd_vec_free(&a->seen);
  hd_vec_free(&a->memo);
  hd_vec_free(&a->list_items);
  hd_vec_free(&a->set_lists);
  hd_vec_free(&a->guards);
  hd_vec_free(&a->sites);
  hd_arena_free(&a->arena);
  free(a);
}

void an_publish(an *a) {
  hd_analysis *p = &a->pub;
  p->symbols = a->symbols.data;
  p->n_symbols = (uint32_t)a->symbols.n;
  p->polys = a->polys.data;
  p->n_polys = (uint32_t)a->polys.n;
  p->terms = a->terms.data;
  p->n_terms = (uint32_t)a->terms.n;
  p->products = a->products.data;
  p->n_products = (uint32_t)a->products.n;
  p->factors = a->factors.data;
  p->n_factors = (uint32_t)a->factors.n;
  p->assumptions = a->assumptions.data;
  p->n_assumptions = (uint32_t)a->assumptions.n;
  p->assumption_lists = a->list_items.data;
  p->n_assumption_lists = (uint32_t)a->list_items.n;
  p->guards = a->guards.data;
  p->n_guards = (uint32_t)a->guards.n;
  p->sites = a->sites.data;
  p->n_sites = (uint32_t)a->sites.n;
  p->over_budget = a->stop;
}

/* What the kernel's directives say of its CTAs. */
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
  an_poly_init(a);
  read_limits(a);
  hd_cfg *g = &a->pub.cfg;
  hd_status st = hd_cfg_build(a->m, a->pub.func, a->opt.max_insts, &a->arena, g, a->diag);
  if (st != HD_OK) return st;
  if (!g->n_insts) return hd_fail(a->diag, HD_ERR_INPUT, "the kernel has no instructions");
  a->pub.loop_values = HD_NEW_N(&a->arena, g->n_loops + 1u, hd_loop_values);
  for (uint32_t l = 0; l < g->n_loops; l++)
    a->pub.loop_values[l].counter = a->pub.loop_values[l].trips = HD_NONE;
  an_slots(a);
  an_defs(a);
  size_t n_values = an_first_phi(a);
  if (!hd_vec_reserve(&a->vals, n_values + 1) || !hd_vec_reserve(&a->states, n_values + 1)) an_nomem(a);
  memset(a->states.data, AN_WAITING, n_values);
  a->vals.n = a->states.n = n_values;
  an_sites(a);
  an_publish(a);
  return HD_OK;
}

hd_status hd_analyze(const hd_ptx_module *m, uint32_t func, const hd_analyze_options *opt, hd_analysis **out,
                     hd_diag *d) {
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
  a->opt = opt ? *opt : defaults;
  a->budget = a->opt.work ? a->opt.work : DEFAULT_WORK;
  if (!a->opt.max_insts) a->opt.max_insts = DEFAULT_MAX_INSTS;
  a->diag = d;
  hd_status st = setjmp(a->out_of_memory) ? hd_nomem(d) : run(a);
  if (st != HD_OK) {
    release(a);
    return st;
  }
  *out = &a->pub;
  return HD_OK;
}

void hd_analysis_free(hd_analysis *a) {
  if (a) release(a->priv);
}
