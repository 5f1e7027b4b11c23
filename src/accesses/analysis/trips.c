/* How often a loop goes round: the first value of its counter for which the branch at its exit leaves. */
#include "analysis/internal.h"

enum { MAX_EXITS = 16 };

/* p is 0 or 1 and is 1 where *q >= 0, *q == 0 or *q != 0. */
typedef enum relation { REL_NONE = 0, REL_GE, REL_EQ, REL_NE } relation;

static relation relation_of(an *a, hd_poly p, hd_poly *q) {
  for (int negated = 0; negated < 2; negated++) {
    const hd_polynomial *r = &a->alg.polys.data[p];
    if (r->n == 1 && a->alg.terms.data[r->first].coefficient == 1) {
      const hd_product *prod = &a->alg.products.data[a->alg.terms.data[r->first].product];
      const hd_value_symbol s = a->alg.symbols.data[prod->n == 1 ? a->alg.factors.data[prod->first] : 0];
      *q = s.a;
      if (s.kind == HD_V_EQ) return negated ? REL_NE : REL_EQ;
      if (s.kind != HD_V_GE) return REL_NONE;
      if (negated) { /* not q >= 0: -q - 1 >= 0 */
        hd_poly minus = an_scale(&a->alg, s.a, -1);
        *q = minus == HD_NONE ? HD_NONE : an_add_const(&a->alg, minus, -1);
      }
      return *q == HD_NONE ? REL_NONE : REL_GE;
    }
    p = an_not(&a->alg, p);
    if (p == HD_NONE) return REL_NONE;
  }
  return REL_NONE;
}

/* The first value of the counter k for which `stay` does not hold; HD_NONE: not found. */
static hd_poly first_failure(an *a, hd_poly stay, hd_symbol k, uint32_t inst, uint32_t *assumes) {
  hd_poly q, step, start;
  int64_t c;
  if (an_is_const(&a->alg, stay, &c)) return c ? HD_NONE : 0;
  relation r = relation_of(a, stay, &q);
  if (r == REL_NONE || !an_linear_in(&a->alg, q, k, &step, &start) || !step) return HD_NONE;
  bool constant = an_is_const(&a->alg, step, &c);
  if (r == REL_GE) {
    hd_poly down = an_scale(&a->alg, step, -1);
    if (down == HD_NONE || a->alg.polys.data[down].lo <= 0) return HD_NONE;
    /* start - k down >= 0 for k = 0 .. floor(start / down) */
    hd_poly last = an_floor(&a->alg, start, down, inst);
    return last == HD_NONE ? HD_NONE : an_max0(&a->alg, an_add_const(&a->alg, last, 1));
  }
  if (r != REL_NE || !constant || c == INT64_MIN) return HD_NONE;
  /* start + c k == 0: k = -start / c, a whole number unless the loop goes on until the register wraps */
  hd_poly up = c < 0 ? start : an_scale(&a->alg, start, -1);
  int64_t d = c < 0 ? -c : c;
  hd_poly rounds = up == HD_NONE ? HD_NONE : an_floor_const(&a->alg, up, d, inst);
  if (rounds == HD_NONE) return HD_NONE;
  if (d > 1) {
    hd_poly left = an_sub(&a->alg, up, an_scale(&a->alg, rounds, d));
    if (left == HD_NONE) return HD_NONE;
    if (left) *assumes = an_assume(&a->alg, *assumes, left, 0, 0, inst);
  }
  if (a->alg.polys.data[rounds].lo < 0) *assumes = an_assume(&a->alg, *assumes, rounds, 0, INT64_MAX, inst);
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
    uint32_t b = a->ssa.dom_order[pre];
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
  a->alg.work += g->blocks[g->loops[loop].header].dom_last - g->blocks[g->loops[loop].header].dom_pre;
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
  hd_symbol k = an_counter(a, loop);
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
    if (a->alg.polys.data[conds[i].poly].level > level) {
      level = (hd_level)a->alg.polys.data[conds[i].poly].level;
      blame = an_culprit(&a->alg, conds[i].poly);
    }
    if (!in_every_round(g, loop, exits[i].from)) continue;
    uint32_t assumes = conds[i].assumes;
    hd_poly stay = exits[i].taken ? an_not(&a->alg, conds[i].poly) : conds[i].poly;
    hd_poly trips = stay == HD_NONE ? HD_NONE : first_failure(a, stay, k, exits[i].from, &assumes);
    if (trips == HD_NONE) continue;
    if (a->alg.polys.data[trips].hi < most) {
      most = a->alg.polys.data[trips].hi;
      most_assumes = assumes;
    }
    if (n != 1) continue;
    *out = an_val_of(a, trips, 64);
    an_inherit(a, out, &conds[i]);
    out->assumes = an_union(&a->alg, out->assumes, assumes);
    if (out->pending == HD_NONE) an_note_counter(&a->alg, k, most, assumes);
    return true;
  }
  if (n > MAX_EXITS) level = HD_LEVEL_DATA;
  if (sum.pending == HD_NONE && most != INT64_MAX) an_note_counter(&a->alg, k, most, most_assumes);
  *out = an_val_unknown(a, HD_V_EXIT, loop, 0, level, blame, 64);
  an_known_range(a, out, 0, most);
  an_inherit(a, out, &sum);
  return true;
}
