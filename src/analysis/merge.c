/* What a register holds where paths join, and in a loop.
 *
 * At a join below a branch: the choice between the values by the branches' conditions (the gamma
 * functions of gated SSA: Tu and Padua, "Gated SSA-based demand-driven symbolic analysis", 1995). At a
 * loop's header: value at entry + step * counter where it moves in even steps.
 */
#include <string.h>

#include "analysis/internal.h"

enum { MAX_REGION = 64, MAX_EXITS = 16 };

/* ---- Choices ------------------------------------------------------------------------ */

/* The join of one phi, or of some of its predecessors. */
typedef struct join {
  an *a;
  uint32_t block, top;
  const an_value *args; /* per predecessor of block */
  bool back_edges;      /* only those, else only the others; of a header */
  bool header;
  uint32_t blocks[MAX_REGION]; /* memo: values at blocks on the way */
  an_val vals[MAX_REGION];
  bool none[MAX_REGION];
  uint32_t n;
  bool missing; /* something was asked for */
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

static bool value_at(join *j, uint32_t block, uint32_t depth, an_val *out) {
  an *a = j->a;
  const hd_cfg *g = &a->pub.cfg;
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
  bool found = false;
  uint32_t loop = b->loop;
  if (loop != HD_NONE && g->loops[loop].header == block &&
      !hd_loop_contains(g, loop, g->blocks[j->block].loop) &&
      !hd_loop_contains(g, loop, g->blocks[j->top].loop)) {
    /* A loop on the way: it is left by its only exit, or nothing is known. */
    if (g->loops[loop].n_exits == 1)
      found = value_over(j, a->pub.cfg.loops[loop].leave, a->pub.cfg.loops[loop].leaves, depth + 1, out);
    else
      j->failed = g->loops[loop].n_exits != 0;
  } else if (b->n_succ == 1) {
    found = value_over(j, block, g->edges[b->first_succ], depth + 1, out);
  } else {
    an_val v[2], cond;
    bool is[2] = {false, false};
    uint32_t n = 0;
    for (uint32_t k = 0; k < b->n_succ && !j->failed; k++) {
      an_val x;
      if (!value_over(j, block, g->edges[b->first_succ + k], depth + 1, &x)) continue;
      if (b->n_succ == 2) {
        v[k] = x;
        is[k] = true;
      } else if (n && v[0].poly != x.poly) {
        j->failed = true;
      } else {
        v[0] = x;
        is[0] = true;
      }
      n++;
    }
    if (is[0] && is[1] && v[0].poly != v[1].poly && !v[0].undefined && !v[1].undefined) {
      if (an_branch(a, block, &cond) && an_leave_loops(a, &cond, block, j->block))
        *out = an_select(a, &cond, &v[0], &v[1]);
      else
        j->missing = true;
    } else if (is[0] && is[1]) {
      *out = an_select(a, &v[0], &v[0], &v[1]); /* no condition decides anything */
    } else if (is[0] || is[1]) {
      *out = is[0] ? v[0] : v[1];
    }
    found = (is[0] || is[1]) && !j->missing;
  }
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
    if (!x.undefined && a->polys.data[x.poly].level > *worst) *worst = (hd_level)a->polys.data[x.poly].level;
    if (!*n || out->undefined) {
      uint32_t assumes = *n ? out->assumes : 0;
      *out = x;
      out->assumes = an_union(a, out->assumes, assumes);
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

/* What all the values have in common, unless it rests on what may hold on one path only. */
static void tighten(an_val *v, const an_val *common) {
  if (common->ranged) return;
  if (common->lo > v->lo) v->lo = common->lo;
  if (common->hi < v->hi) v->hi = common->hi;
  v->maybe &= common->maybe;
}

/* The value at the join; false: something was asked for. `top` dominates all that leads there. */
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
  if (worst < HD_LEVEL_DATA) worst = HD_LEVEL_DATA; /* the path may depend on data */
  uint32_t first = a->pub.cfg.blocks[j->block].first;
  *out = an_val_unknown(a, HD_V_MERGE, j->block, *j->args, worst, (an_blame){HD_WHY_PATH, first}, width);
  an_inherit(a, out, &merged);
  tighten(out, &merged);
  return true;
}

/* ---- Loops ------------------------------------------------------------------------------- */

static hd_symbol counter_of(an *a, uint32_t loop) {
  hd_loop_values *l = &a->pub.loop_values[loop];
  if (l->counter == HD_NONE)
    l->counter = an_symbol(a, (hd_value_symbol){.kind = HD_V_COUNTER,
                                                .level = HD_LEVEL_AFFINE,
                                                .iterates = true,
                                                .a = loop,
                                                .why = HD_NONE,
                                                .hi = INT64_MAX});
  return l->counter;
}

/* The phi of a header from its value on entry and, in terms of the provisional `self`, after one round. */
static hd_poly closed_form(an *a, uint32_t loop, hd_symbol self, hd_poly init, hd_poly next, unsigned width) {
  hd_poly step = HD_NONE, rest = HD_NONE;
  if (an_linear_in(a, next, self, &step, &rest) && step == an_const(a, 1)) {
    rest = an_wrap(a, rest, width);
    if (an_mentions_loop(a, rest, loop)) return HD_NONE;
    hd_poly way = rest ? an_mul(a, rest, an_sym(a, counter_of(a, loop))) : 0;
    return way == HD_NONE ? HD_NONE : an_add(a, init, way);
  }
  if (step != 0 || rest == HD_NONE) return HD_NONE;
  /* What the last round computed: f(counter - 1), but for the first round. */
  hd_symbol k = counter_of(a, loop);
  hd_poly before = an_subst(a, next, k, an_add_const(a, an_sym(a, k), -1));
  hd_poly first = an_subst(a, next, k, an_const(a, -1));
  if (before == HD_NONE || first == HD_NONE) return HD_NONE;
  /* Apart from the counter it must not change on the way. */
  hd_poly fixed = an_subst(a, next, k, 0);
  if (fixed == HD_NONE || an_mentions_loop(a, fixed, loop)) return HD_NONE;
  hd_poly odd = an_sub(a, init, first);
  if (odd == HD_NONE) return HD_NONE;
  odd = an_if(a, an_eq0(a, an_sym(a, k)), an_wrap(a, odd, width));
  return odd == HD_NONE ? HD_NONE : an_add(a, before, odd);
}

static uint32_t phi_inst(const an *a, an_value phi) {
  const hd_block *b = &a->pub.cfg.blocks[an_value_block(a, phi)];
  return b->first;
}

/* It stands for itself, so nothing has to be waited for: phis that depend on each other would otherwise be
 * worked out again and again. */
static an_val recurrent(an *a, an_value phi, unsigned width) {
  uint32_t reg = a->phis.data[phi - an_first_phi(a)].reg;
  hd_level level = an_tainted(a, reg) ? HD_LEVEL_DATA : HD_LEVEL_NONLINEAR;
  return an_val_unknown(a, HD_V_RECUR, an_value_block(a, phi), phi, level,
                        (an_blame){HD_WHY_RECURRENCE, phi_inst(a, phi)}, width);
}

static bool merge_header(an *a, an_value phi, uint32_t loop, an_val *out) {
  uint32_t block = an_value_block(a, phi), n_init, n_next;
  const an_value *args = an_phi_args(a, phi);
  an_val self = a->vals.data[phi], init, next;
  join entry = {.a = a, .block = block, .args = args, .header = true};
  join around = {.a = a, .block = block, .args = args, .header = true, .back_edges = true};
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
        a->factors.data[a->products.data[a->terms.data[a->polys.data[self.poly].first].product].first];
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
  join j = {.a = a, .block = block, .args = an_phi_args(a, phi)};
  unsigned width = an_reg_width(a, a->phis.data[phi - an_first_phi(a)].reg);
  if (!resolve(&j, g->blocks[block].idom, width, out, &n)) return false;
  if (a->states.data[phi] == AN_ACTIVE && !out->undefined) { /* irreducible */
    hd_symbol s =
        a->factors
            .data[a->products.data[a->terms.data[a->polys.data[a->vals.data[phi].poly].first].product].first];
    if (an_mentions(a, out->poly, s)) {
      *out = recurrent(a, phi, width);
    }
  }
  return true;
}

/* ---- How often a loop goes round ------------------------------------------------------------- */

/* p is 0 or 1 and is 1 where *q >= 0, *q == 0 or *q != 0. */
typedef enum relation { REL_NONE = 0, REL_GE, REL_EQ, REL_NE } relation;

static relation relation_of(an *a, hd_poly p, hd_poly *q) {
  for (int negated = 0; negated < 2; negated++) {
    const hd_polynomial *r = &a->polys.data[p];
    if (r->n == 1 && a->terms.data[r->first].coefficient == 1) {
      const hd_product *prod = &a->products.data[a->terms.data[r->first].product];
      const hd_value_symbol s = a->symbols.data[prod->n == 1 ? a->factors.data[prod->first] : 0];
      *q = s.a;
      if (s.kind == HD_V_EQ) return negated ? REL_NE : REL_EQ;
      if (s.kind != HD_V_GE) return REL_NONE;
      if (negated) { /* not q >= 0: -q - 1 >= 0 */
        hd_poly minus = an_scale(a, s.a, -1);
        *q = minus == HD_NONE ? HD_NONE : an_add_const(a, minus, -1);
      }
      return *q == HD_NONE ? REL_NONE : REL_GE;
    }
    p = an_not(a, p);
    if (p == HD_NONE) return REL_NONE;
  }
  return REL_NONE;
}

/* The first value of the counter k for which `stay` does not hold; HD_NONE: not found. */
static hd_poly first_failure(an *a, hd_poly stay, hd_symbol k, uint32_t inst, uint32_t *assumes) {
  hd_poly q, step, start;
  int64_t c;
  if (an_is_const(a, stay, &c)) return c ? HD_NONE : 0;
  relation r = relation_of(a, stay, &q);
  if (r == REL_NONE || !an_linear_in(a, q, k, &step, &start) || !step) return HD_NONE;
  bool constant = an_is_const(a, step, &c);
  if (r == REL_GE) {
    hd_poly down = an_scale(a, step, -1);
    if (down == HD_NONE || a->polys.data[down].lo <= 0) return HD_NONE;
    /* start - k down >= 0 for k = 0 .. floor(start / down) */
    hd_poly last = an_floor(a, start, down, inst);
    return last == HD_NONE ? HD_NONE : an_max0(a, an_add_const(a, last, 1));
  }
  if (r != REL_NE || !constant || c == INT64_MIN) return HD_NONE;
  /* start + c k == 0: k = -start / c, a whole number unless the loop goes on until the register wraps */
  hd_poly up = c < 0 ? start : an_scale(a, start, -1);
  int64_t d = c < 0 ? -c : c;
  hd_poly rounds = up == HD_NONE ? HD_NONE : an_floor_const(a, up, d, inst);
  if (rounds == HD_NONE) return HD_NONE;
  if (d > 1) {
    hd_poly left = an_sub(a, up, an_scale(a, rounds, d));
    if (left == HD_NONE) return HD_NONE;
    if (left) *assumes = an_assume(a, *assumes, left, 0, 0, inst);
  }
  if (a->polys.data[rounds].lo < 0) *assumes = an_assume(a, *assumes, rounds, 0, INT64_MAX, inst);
  return rounds;
}

/* Every round passes through the block. */
static bool in_every_round(const hd_cfg *g, uint32_t loop, uint32_t block) {
  const hd_block *h = &g->blocks[g->loops[loop].header];
  if (g->blocks[block].loop != loop) return false;
  for (uint32_t k = 0; k < h->n_pred; k++) {
    uint32_t latch = g->edges[h->first_pred + k];
    if (hd_dominates(g, g->loops[loop].header, latch) && !hd_dominates(g, block, latch)) return false;
  }
  return true;
}

typedef struct exit_edge {
  uint32_t from;
  bool taken; /* the branch's first successor leaves */
} exit_edge;

/* Edges that leave the loop, the ways to the kernel's end included; more than MAX_EXITS are only counted. */
static uint32_t exits_of(const an *a, uint32_t loop, exit_edge *out) {
  const hd_cfg *g = &a->pub.cfg;
  uint32_t n = 0, first = g->blocks[g->loops[loop].header].dom_pre,
           last = g->blocks[g->loops[loop].header].dom_last;
  for (uint32_t pre = first; pre <= last; pre++) {
    uint32_t b = a->dom_order[pre];
    if (!hd_loop_contains(g, loop, g->blocks[b].loop)) continue;
    for (uint32_t k = 0; k < g->blocks[b].n_succ; k++) {
      uint32_t to = g->edges[g->blocks[b].first_succ + k];
      if (hd_loop_contains(g, loop, g->blocks[to].loop)) continue;
      if (n < MAX_EXITS) out[n] = (exit_edge){b, k == 0};
      n++;
    }
  }
  return n;
}

bool an_trips(an *a, uint32_t loop, an_val *out) {
  hd_cfg *g = &a->pub.cfg;
  exit_edge exits[MAX_EXITS];
  uint32_t n = exits_of(a, loop, exits);
  an_val conds[MAX_EXITS];
  bool ok = true, known[MAX_EXITS] = {false};
  a->pub.work += g->blocks[g->loops[loop].header].dom_last - g->blocks[g->loops[loop].header].dom_pre;
  for (uint32_t i = 0; i < n && i < MAX_EXITS; i++) {
    const hd_block *b = &g->blocks[exits[i].from];
    known[i] = b->n_succ == 2 && an_stmt(a, b->first + b->n_insts - 1)->guard;
    if (!known[i]) continue;
    if (!an_branch(a, exits[i].from, &conds[i]))
      ok = false;
    else if (!an_leave_loops(a, &conds[i], exits[i].from, g->loops[loop].header))
      ok = false;
  }
  if (!ok) return false;
  hd_symbol k = counter_of(a, loop);
  hd_level level = HD_LEVEL_NONLINEAR;
  an_blame blame = {HD_WHY_LOOP_COUNT, g->blocks[g->loops[loop].header].first};
  an_val sum = {.pending = HD_NONE};
  int64_t most = INT64_MAX;
  uint32_t most_assumes = 0;
  for (uint32_t i = 0; i < n && i < MAX_EXITS; i++) {
    if (!known[i]) {
      level = HD_LEVEL_DATA;
      continue;
    }
    an_inherit(a, &sum, &conds[i]);
    if (a->polys.data[conds[i].poly].level > level) {
      level = (hd_level)a->polys.data[conds[i].poly].level;
      blame = an_culprit(a, conds[i].poly);
    }
    if (!in_every_round(g, loop, exits[i].from)) continue;
    uint32_t assumes = conds[i].assumes;
    hd_poly stay = exits[i].taken ? an_not(a, conds[i].poly) : conds[i].poly;
    hd_poly trips = stay == HD_NONE ? HD_NONE : first_failure(a, stay, k, exits[i].from, &assumes);
    if (trips == HD_NONE) continue;
    if (a->polys.data[trips].hi < most) {
      most = a->polys.data[trips].hi;
      most_assumes = assumes;
    }
    if (n != 1) continue;
    *out = an_val_of(a, trips, 64);
    an_inherit(a, out, &conds[i]);
    out->assumes = an_union(a, out->assumes, assumes);
    if (out->pending == HD_NONE) an_note_counter(a, k, most, assumes);
    return true;
  }
  if (n > MAX_EXITS) level = HD_LEVEL_DATA;
  if (sum.pending == HD_NONE && most != INT64_MAX) an_note_counter(a, k, most, most_assumes);
  *out = an_val_unknown(a, HD_V_EXIT, loop, 0, level, blame, 64);
  an_known_range(a, out, 0, most);
  an_inherit(a, out, &sum);
  return true;
}
