/* The value of a register where paths join, and at a loop's header.
 *
 * At a join below a branch it is a choice between values by the branches' conditions (the gamma functions of
 * gated SSA: Tu and Padua, "Gated SSA-based demand-driven symbolic analysis", 1995). At a loop's header it is
 * the value at entry + step * counter, where it moves in even steps.
 */
#include <string.h>

#include "analysis/internal.h"

enum { MAX_REGION = 64 };

/* ---- Choices ------------------------------------------------------------------------ */

/* The join of one phi, or of some of its predecessors. */
typedef struct join {
  an *a;
  an_value phi;
  uint32_t block, top;
  const an_value *args; /* per predecessor of block */
  bool back_edges;      /* only those, else only the others; of a header */
  bool header;
  uint32_t blocks[MAX_REGION]; /* memo: values at blocks on the way */
  an_val vals[MAX_REGION];
  bool none[MAX_REGION];
  uint32_t n;
  bool missing; /* a value is not known yet */
  bool failed;
} join;

static bool takes_part(const join *j, uint32_t pred) {
  return !j->header || hd_dominates(&j->a->pub.cfg, j->block, pred) == j->back_edges;
}

static bool value_at(join *j, uint32_t block, uint32_t depth, an_val *out);

/* The value that arrives over an edge; false: this way does not lead to the join. */
static bool value_over(join *j, uint32_t from, uint32_t to, uint32_t depth, an_val *out) {
  an *a = j->a;
  const hd_cfg *g = &a->pub.cfg;
  if (to == j->block) {
    if (!takes_part(j, from)) return false;
    const hd_block *b = &g->blocks[to];
    for (uint32_t k = 0; k < b->n_pred; k++) {
      if (g->edges[b->first_pred + k] != from) continue;
      if (!an_get_at(a, j->args[k], from, out) || !an_leave_loops(a, out, from, to)) {
        j->missing = true;
        return false;
      }
      return true;
    }
    return false;
  }
  if (to == g->n_blocks - 1 || hd_dominates(g, to, from)) return false; /* the exit; around another loop */
  return value_at(j, to, depth, out);
}

/* The block heads a loop that holds neither the join nor the block where the search began: the way goes
 * through the loop and leaves it again. */
static bool enters_loop(const join *j, uint32_t block) {
  const hd_cfg *g = &j->a->pub.cfg;
  uint32_t loop = g->blocks[block].loop;
  return loop != HD_NONE && g->loops[loop].header == block &&
         !hd_loop_contains(g, loop, g->blocks[j->block].loop) &&
         !hd_loop_contains(g, loop, g->blocks[j->top].loop);
}

/* Behind a loop: its only exit is the way on; with more of them nothing is known. */
static bool value_behind_loop(join *j, uint32_t loop, uint32_t depth, an_val *out) {
  const hd_loop *l = &j->a->pub.cfg.loops[loop];
  if (l->n_exits == 1) return value_over(j, l->leave, l->leaves, depth, out);
  j->failed = l->n_exits != 0;
  return false;
}

/* The value that the branch's condition chooses, where both ways lead to the join. */
static bool chosen_value(join *j, uint32_t block, const an_val v[2], an_val *out) {
  an *a = j->a;
  an_val cond;
  if (v[0].poly == v[1].poly || v[0].undefined || v[1].undefined) {
    *out = an_select(a, &v[0], &v[0], &v[1]); /* no condition decides anything */
    return true;
  }
  if (!an_branch(a, block, &cond) || !an_leave_loops(a, &cond, block, j->block)) {
    j->missing = true;
    return false;
  }
  *out = an_select(a, &cond, &v[0], &v[1]);
  return true;
}

/* At a branch of two ways, of which one or both lead to the join. */
static bool value_at_branch(join *j, uint32_t block, uint32_t depth, an_val *out) {
  const hd_cfg *g = &j->a->pub.cfg;
  const hd_block *b = &g->blocks[block];
  an_val v[2];
  bool leads[2] = {false, false};
  for (uint32_t k = 0; k < 2 && !j->failed; k++)
    leads[k] = value_over(j, block, g->edges[b->first_succ + k], depth, &v[k]);
  if (leads[0] && leads[1]) return chosen_value(j, block, v, out);
  if (leads[0] || leads[1]) *out = leads[0] ? v[0] : v[1];
  return leads[0] || leads[1];
}

/* At a branch of many ways, which no single condition describes: all ways must bring the same value. */
static bool value_at_switch(join *j, uint32_t block, uint32_t depth, an_val *out) {
  const hd_cfg *g = &j->a->pub.cfg;
  const hd_block *b = &g->blocks[block];
  bool found = false;
  for (uint32_t k = 0; k < b->n_succ && !j->failed; k++) {
    an_val x;
    if (!value_over(j, block, g->edges[b->first_succ + k], depth, &x)) continue;
    if (found && out->poly != x.poly) j->failed = true;
    *out = x;
    found = true;
  }
  return found;
}

/* The value that arrives at the join from this block on; false: no way leads there. Each block is evaluated
 * once and its value remembered; while it is under evaluation it counts as leading nowhere. */
static bool value_at(join *j, uint32_t block, uint32_t depth, an_val *out) {
  const hd_cfg *g = &j->a->pub.cfg;
  const hd_block *b = &g->blocks[block];
  for (uint32_t i = 0; i < j->n; i++)
    if (j->blocks[i] == block) {
      *out = j->vals[i];
      return !j->none[i];
    }
  if (j->n >= MAX_REGION || depth >= MAX_REGION) {
    j->failed = true;
    return false;
  }
  uint32_t slot = j->n++;
  j->blocks[slot] = block;
  j->none[slot] = true;
  bool found;
  if (enters_loop(j, block))
    found = value_behind_loop(j, b->loop, depth + 1, out);
  else if (b->n_succ == 1)
    found = value_over(j, block, g->edges[b->first_succ], depth + 1, out);
  else if (b->n_succ == 2)
    found = value_at_branch(j, block, depth + 1, out);
  else
    found = value_at_switch(j, block, depth + 1, out);
  if (j->missing || j->failed) return false;
  j->none[slot] = !found;
  if (found) j->vals[slot] = *out;
  return found;
}

/* All values that arrive by the edges that take part, when they are the same. */
static bool all_equal(join *j, an_val *out, uint32_t *n, hd_level *worst) {
  an *a = j->a;
  const hd_block *b = &a->pub.cfg.blocks[j->block];
  bool equal = true;
  *n = 0;
  *worst = HD_LEVEL_LAUNCH;
  out->undefined = true;
  for (uint32_t k = 0; k < b->n_pred; k++) {
    uint32_t from = a->pub.cfg.edges[b->first_pred + k];
    an_val x;
    if (a->pub.cfg.blocks[from].rpo == HD_NONE || !takes_part(j, from)) continue;
    if (!value_over(j, from, j->block, 0, &x)) continue; /* missing: the others are asked for as well */
    if (!x.undefined && a->alg.polys.data[x.poly].level > *worst)
      *worst = (hd_level)a->alg.polys.data[x.poly].level;
    if (!*n || out->undefined) {
      uint32_t assumes = *n ? out->assumes : 0;
      *out = x;
      out->assumes = an_union(&a->alg, out->assumes, assumes);
    } else if (!x.undefined) {
      if (x.poly != out->poly) equal = false;
      an_inherit(a, out, &x);
      if (x.lo < out->lo) out->lo = x.lo;
      if (x.hi > out->hi) out->hi = x.hi;
      out->maybe |= x.maybe;
    }
    ++*n;
  }
  return equal;
}

/* Narrow v to the range and the bits that all values have in common. Ranges that rest on an assumption are
 * left out: the assumption may hold on one path only. */
static void tighten(an_val *v, const an_val *common) {
  if (common->ranged) return;
  if (common->lo > v->lo) v->lo = common->lo;
  if (common->hi < v->hi) v->hi = common->hi;
  v->maybe &= common->maybe;
}

/* The value at the join; false: not known yet. `top` dominates all ways to the join. */
static bool resolve(join *j, uint32_t top, unsigned width, an_val *out, uint32_t *n) {
  an *a = j->a;
  hd_level worst;
  bool equal = all_equal(j, out, n, &worst);
  if (j->missing) return false;
  if (equal || !*n) return true;
  an_val merged = *out;
  j->top = top;
  if (value_at(j, top, 0, out)) {
    tighten(out, &merged);
    return true;
  }
  if (j->missing) return false;
  uint32_t reg = a->ssa.phis.data[j->phi - an_first_phi(a)].reg, number = 2 * j->phi + j->back_edges;
  an_blame blame = {HD_WHY_PATH, a->pub.cfg.blocks[j->block].first};
  if (worst < HD_LEVEL_DATA) worst = an_tainted(a, reg) ? HD_LEVEL_DATA : HD_LEVEL_NONLINEAR;
  *out = worst == HD_LEVEL_NONLINEAR && an_decided_by_cta(a, reg, j->block)
             ? an_val_of_cta(a, HD_V_MERGE, j->block, number, blame, width)
             : an_val_unknown(a, HD_V_MERGE, j->block, number, worst, blame, width);
  an_inherit(a, out, &merged);
  tighten(out, &merged);
  return true;
}

/* ---- Loops ------------------------------------------------------------------------------- */

hd_symbol an_counter(an *a, uint32_t loop) {
  hd_loop_values *l = &a->pub.loop_values[loop];
  if (l->counter == HD_NONE)
    l->counter = an_symbol(&a->alg, (hd_value_symbol){.kind = HD_V_COUNTER,
                                                      .level = HD_LEVEL_AFFINE,
                                                      .iterates = true,
                                                      .a = loop,
                                                      .why = HD_NONE,
                                                      .hi = INT64_MAX});
  return l->counter;
}

typedef struct loop_of {
  an *a;
  uint32_t loop;
} loop_of;

/* Unknown values that come up inside a loop may differ from one iteration to the next. */
static bool is_of_loop(const void *what, hd_symbol s, const hd_value_symbol *sym) {
  const loop_of *l = what;
  const hd_cfg *g = &l->a->pub.cfg;
  (void)s;
  switch (sym->kind) {
  case HD_V_COUNTER: return hd_loop_contains(g, l->loop, sym->a);
  case HD_V_EXIT: return hd_loop_contains(g, l->loop, g->loops[sym->a].parent);
  case HD_V_LOAD:
  case HD_V_CALL:
  case HD_V_OPAQUE:
    return sym->a == HD_NONE || hd_loop_contains(g, l->loop, g->blocks[g->insts[sym->a].block].loop);
  case HD_V_PHI: return hd_loop_contains(g, l->loop, g->blocks[an_value_block(l->a, sym->a)].loop);
  case HD_V_MERGE:
  case HD_V_RECUR: return hd_loop_contains(g, l->loop, g->blocks[sym->a].loop);
  default: return false;
  }
}

/* Something in p may change from one iteration of the loop to the next. */
static bool changes_in_loop(an *a, hd_poly p, uint32_t loop) {
  return an_any_symbol(&a->alg, p, is_of_loop, &(loop_of){a, loop});
}

/* The phi of a header from its value on entry and, in terms of the provisional `self`, after one round. */
static hd_poly closed_form(an *a, uint32_t loop, hd_symbol self, hd_poly init, hd_poly next, unsigned width) {
  hd_poly step = HD_NONE, rest = HD_NONE;
  if (an_linear_in(&a->alg, next, self, &step, &rest) && step == an_const(&a->alg, 1)) {
    rest = an_wrap(&a->alg, rest, width);
    if (changes_in_loop(a, rest, loop)) return HD_NONE;
    hd_poly way = rest ? an_mul(&a->alg, rest, an_sym(&a->alg, an_counter(a, loop))) : 0;
    return way == HD_NONE ? HD_NONE : an_add(&a->alg, init, way);
  }
  if (step != 0 || rest == HD_NONE) return HD_NONE;
  /* The phi holds the value of the round before, f(counter - 1), but for the first round. */
  hd_symbol k = an_counter(a, loop);
  hd_poly before = an_subst(&a->alg, next, k, an_add_const(&a->alg, an_sym(&a->alg, k), -1));
  hd_poly first = an_subst(&a->alg, next, k, an_const(&a->alg, -1));
  if (before == HD_NONE || first == HD_NONE) return HD_NONE;
  /* Apart from the counter it must not change on the way. */
  hd_poly fixed = an_subst(&a->alg, next, k, 0);
  if (fixed == HD_NONE || changes_in_loop(a, fixed, loop)) return HD_NONE;
  hd_poly odd = an_sub(&a->alg, init, first);
  if (odd == HD_NONE) return HD_NONE;
  odd = an_if(&a->alg, an_eq0(&a->alg, an_sym(&a->alg, k)), an_wrap(&a->alg, odd, width));
  return odd == HD_NONE ? HD_NONE : an_add(&a->alg, before, odd);
}

static uint32_t phi_inst(const an *a, an_value phi) {
  const hd_block *b = &a->pub.cfg.blocks[an_value_block(a, phi)];
  return b->first;
}

/* An unknown that stands for itself and waits for nothing. Without it, phis that depend on each other would
 * be evaluated again and again. */
static an_val recurrent(an *a, an_value phi, unsigned width) {
  uint32_t reg = a->ssa.phis.data[phi - an_first_phi(a)].reg;
  hd_level level = an_tainted(a, reg) ? HD_LEVEL_DATA : HD_LEVEL_NONLINEAR;
  return an_val_unknown(a, HD_V_RECUR, an_value_block(a, phi), phi, level,
                        (an_blame){HD_WHY_RECURRENCE, phi_inst(a, phi)}, width);
}

static bool merge_header(an *a, an_value phi, uint32_t loop, an_val *out) {
  uint32_t block = an_value_block(a, phi), n_init, n_next;
  const an_value *args = an_phi_args(a, phi);
  an_val self = a->eval.vals.data[phi], init, next;
  join entry = {.a = a, .phi = phi, .block = block, .args = args, .header = true};
  join around = {.a = a, .phi = phi, .block = block, .args = args, .header = true, .back_edges = true};
  uint32_t idom = a->pub.cfg.blocks[block].idom;
  bool ok = resolve(&entry, idom == HD_NONE ? 0 : idom, self.width, &init, &n_init);
  if (!resolve(&around, block, self.width, &next, &n_next) || !ok) return false;
  if (!n_init || init.undefined) {
    init = an_val_unknown(a, HD_V_UNDEF, block, phi, HD_LEVEL_DATA,
                          (an_blame){HD_WHY_UNDEFINED, phi_inst(a, phi)}, self.width);
    init.undefined = true;
  }
  hd_poly p = HD_NONE;
  if (!n_next || next.undefined || next.poly == self.poly) {
    p = init.poly;
  } else if (!init.undefined) {
    hd_symbol s =
        a->alg.factors
            .data[a->alg.products.data[a->alg.terms.data[a->alg.polys.data[self.poly].first].product].first];
    p = closed_form(a, loop, s, init.poly, next.poly, self.width);
  }
  if (p != HD_NONE) {
    *out = an_val_of(a, p, self.width);
    out->undefined = init.undefined;
    if (p == init.poly) {
      out->maybe &= init.maybe;
      if (init.lo > out->lo) out->lo = init.lo;
      if (init.hi < out->hi) out->hi = init.hi;
    }
  } else {
    *out = recurrent(a, phi, self.width);
    return true;
  }
  an_inherit(a, out, &init);
  an_inherit(a, out, &next);
  return true;
}

bool an_merge(an *a, an_value phi, an_val *out) {
  const hd_cfg *g = &a->pub.cfg;
  uint32_t block = an_value_block(a, phi), loop = g->blocks[block].loop, n;
  if (loop != HD_NONE && g->loops[loop].header == block) return merge_header(a, phi, loop, out);
  join j = {.a = a, .phi = phi, .block = block, .args = an_phi_args(a, phi)};
  unsigned width = an_reg_width(a, a->ssa.phis.data[phi - an_first_phi(a)].reg);
  if (!resolve(&j, g->blocks[block].idom, width, out, &n)) return false;
  if (a->eval.states.data[phi] == AN_ACTIVE && !out->undefined) { /* irreducible */
    hd_symbol s =
        a->alg.factors
            .data[a->alg.products
                      .data[a->alg.terms.data[a->alg.polys.data[a->eval.vals.data[phi].poly].first].product]
                      .first];
    if (an_mentions(&a->alg, out->poly, s)) {
      *out = recurrent(a, phi, width);
    }
  }
  return true;
}
