/* What the passes found, as readers of hd_analysis see it. */
#include "analysis/internal.h"

void an_publish(an *a) {
  hd_analysis *p = &a->pub;
  p->symbols = a->alg.symbols.data;
  p->n_symbols = (uint32_t)a->alg.symbols.n;
  p->polys = a->alg.polys.data;
  p->n_polys = (uint32_t)a->alg.polys.n;
  p->terms = a->alg.terms.data;
  p->n_terms = (uint32_t)a->alg.terms.n;
  p->products = a->alg.products.data;
  p->n_products = (uint32_t)a->alg.products.n;
  p->factors = a->alg.factors.data;
  p->n_factors = (uint32_t)a->alg.factors.n;
  p->assumptions = a->alg.assumptions.data;
  p->n_assumptions = (uint32_t)a->alg.assumptions.n;
  p->assumption_lists = a->result.list_items.data;
  p->n_assumption_lists = (uint32_t)a->result.list_items.n;
  p->guards = a->result.guards.data;
  p->n_guards = (uint32_t)a->result.guards.n;
  p->sites = a->result.sites.data;
  p->n_sites = (uint32_t)a->result.sites.n;
  p->work = a->alg.work;
  p->over_budget = a->eval.stop;
}
