/* Evaluation of registers on demand, as polynomials.
 *
 * Values wait for each other on an explicit stack, for chains of definitions may be as long as the
 * kernel. A function that evaluates one value asks for what it needs with an_get; when something is
 * missing it gives up and is called again later, so it must not have changed anything by then.
 *
 * A loop's phi is given a provisional value while its loop's values are worked out. Values computed from a
 * provisional one are on the trail, and are forgotten when the phi is resolved.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/internal.h"

/* ---- Values as numbers ------------------------------------------------------------------ */

/* The smallest 2^k - 1 that is at least x. */
static uint64_t fill_bits(uint64_t x) { return x ? UINT64_MAX >> __builtin_clzll(x) : 0; }

/* An unknown value like no other. */
static an_val fresh(an *a, hd_level level, an_blame blame, unsigned width) {
  return an_val_unknown(a, HD_V_OPAQUE, HD_NONE, a->eval.n_fresh++, level, blame, width);
}

an_val an_val_of(an *a, hd_poly p, unsigned width) {
  p = an_wrap(&a->alg, p, width);
  const hd_polynomial *q = &a->alg.polys.data[p];
  an_val v = {.poly = p,
              .lo = q->lo,
              .hi = q->hi,
              .ranged = a->alg.range_assumed.data[p],
              .pending = HD_NONE,
              .width = (uint8_t)width};
  v.maybe = hd_low_bits(width);
  if (v.lo >= 0) v.maybe &= fill_bits((uint64_t)v.hi);
  if (p)
    v.maybe &= ~((1ull << an_trailing_zeros(&a->alg, p)) - 1);
  else
    v.maybe = 0;
  return v;
}

an_val an_val_unknown(an *a, hd_symbol_kind kind, uint32_t x, uint32_t y, hd_level level, an_blame blame,
                      unsigned width) {
  hd_poly p = an_unknown(&a->alg, kind, x, y, level, blame);
  if (width == 1) an_note_range(&a->alg, p, 0, 1, 0);
  return an_val_of(a, p, width);
}

bool an_decided_by_cta(an *a, uint32_t reg, uint32_t block) {
  const hd_cfg *g = &a->pub.cfg;
  return !g->irreducible && g->blocks[block].loop == HD_NONE && an_is_of_cta(a, reg);
}

an_val an_val_of_cta(an *a, hd_symbol_kind kind, uint32_t x, uint32_t y, an_blame blame, unsigned width) {
  hd_poly p = an_unknown_of_cta(&a->alg, kind, x, y, blame);
  if (width == 1) an_note_range(&a->alg, p, 0, 1, 0);
  return an_val_of(a, p, width);
}

void an_raise(an *a, const an_val *v, hd_level *level, an_blame *blame) {
  if (!v || a->alg.polys.data[v->poly].level <= *level) return;
  *level = (hd_level)a->alg.polys.data[v->poly].level;
  *blame = an_culprit(&a->alg, v->poly);
}

an_val an_val_from(an *a, hd_poly p, unsigned width, const an_val *x, const an_val *y) {
  an_val r;
  if (p != HD_NONE) {
    r = an_val_of(a, p, width);
  } else {
    hd_level level = HD_LEVEL_NONLINEAR;
    an_blame blame = {HD_WHY_COMPLEX, HD_NONE};
    an_raise(a, x, &level, &blame);
    an_raise(a, y, &level, &blame);
    r = fresh(a, level, blame, width);
  }
  if (x) an_inherit(a, &r, x);
  if (y) an_inherit(a, &r, y);
  return r;
}

void an_inherit(an *a, an_val *to, const an_val *from) {
  to->assumes = an_union(&a->alg, to->assumes, from->assumes);
  to->ranged = an_union(&a->alg, to->ranged, from->ranged);
  if (from->pending < to->pending) to->pending = from->pending;
}

void an_known_range(an *a, an_val *v, int64_t lo, int64_t hi) {
  if (lo > v->lo) v->lo = lo;
  if (hi < v->hi) v->hi = hi;
  an_note_range(&a->alg, v->poly, lo, hi,
                an_union(&a->alg, an_union(&a->alg, v->assumes, v->ranged), a->alg.used));
  if (v->lo >= 0 && v->hi != INT64_MAX) v->maybe &= fill_bits((uint64_t)v->hi);
}

void an_use_range(an *a, an_val *v) { v->assumes = an_union(&a->alg, v->assumes, v->ranged); }

void an_end(an *a, an_val *v) { v->assumes = an_union(&a->alg, v->assumes, a->alg.used); }

an_val an_extend(an *a, const an_val *v, bool is_signed, uint32_t inst) {
  an_val r = *v;
  an_use_range(a, &r);
  if (v->width >= 64) {
    if (is_signed || v->lo >= 0) return r;
    r.assumes = an_assume(&a->alg, r.assumes, v->poly, 0, INT64_MAX, inst);
    an_note_range(&a->alg, v->poly, 0, INT64_MAX, r.assumes);
    r.lo = 0;
    return r;
  }
  int64_t lo = hd_least_of(v->width, is_signed), hi = hd_most_of(v->width, is_signed);
  r.width = 64;
  if (v->lo >= lo && v->hi <= hi) {
    if (v->lo < 0) r.maybe = UINT64_MAX;
    return r;
  }
  /* All of the range is one turn of the register away: constants written as negative numbers, mostly. */
  if (v->lo != INT64_MIN && v->hi != INT64_MAX) {
    int64_t once = hd_power_of_two(v->width), turn = v->hi < lo ? once : v->lo > hi ? hd_wrap_neg(once) : 0;
    int64_t from = hd_clamp_add(v->lo, turn), to = hd_clamp_add(v->hi, turn);
    if (turn && from >= lo && to <= hi) {
      r = an_val_from(a, an_add_const(&a->alg, v->poly, turn), 64, &r, NULL);
      if (from > r.lo) r.lo = from;
      if (to < r.hi) r.hi = to;
      if (r.lo < 0) r.maybe = UINT64_MAX;
      return r;
    }
  }
  /* The content as bits says it is small, whatever the polynomial. */
  if (v->width > 1 && v->maybe <= hd_low_bits(v->width - 1) && v->lo >= 0 && v->hi == INT64_MAX)
    hi = (int64_t)v->maybe;
  const hd_polynomial *q = &a->alg.polys.data[v->poly];
  if (q->lo > hi || q->hi < lo) /* certainly wrapped */
    return fresh(a, q->level > HD_LEVEL_NONLINEAR ? q->level : HD_LEVEL_NONLINEAR,
                 (an_blame){HD_WHY_BITS, inst}, 64);
  r.assumes = an_assume(&a->alg, r.assumes, v->poly, lo, hi, inst);
  an_note_range(&a->alg, v->poly, lo, hi, r.assumes);
  if (lo > r.lo) r.lo = lo;
  if (hi < r.hi) r.hi = hi;
  if (r.lo < 0) r.maybe = UINT64_MAX;
  return r;
}

/* Assumptions that matter only where cond is 1. */
static uint32_t assume_where(an *a, uint32_t set, hd_poly cond) {
  enum { MAX_ITEMS = 16 };
  an_set s = a->alg.sets.data[set];
  if (s.n > MAX_ITEMS) return set;
  uint32_t result = 0;
  for (uint32_t i = 0; i < s.n; i++) {
    uint32_t number = a->alg.set_items.data[s.first + i];
    hd_assumption x = a->alg.assumptions.data[number];
    int64_t most = INT64_MAX;
    hd_poly p;
    if (x.lo != INT64_MIN) { /* cond ? poly - lo : 0, at least 0 */
      p = an_add_const(&a->alg, x.poly, hd_wrap_neg(x.lo));
      if (x.hi != INT64_MAX && __builtin_sub_overflow(x.hi, x.lo, &most)) most = INT64_MAX;
    } else {
      p = an_add_const(&a->alg, an_scale(&a->alg, x.poly, -1), x.hi);
    }
    p = p == HD_NONE ? HD_NONE : an_if(&a->alg, cond, p);
    if (p == HD_NONE)
      p = x.poly;
    else
      x.lo = 0, x.hi = most;
    /* Ranges may rest on this very assumption: only a constant needs none. */
    int64_t c;
    if (!an_is_const(&a->alg, p, &c) || c < x.lo || c > x.hi)
      result = an_assume(&a->alg, result, p, x.lo, x.hi, x.inst);
  }
  return result;
}

an_val an_select(an *a, const an_val *cond, const an_val *yes, const an_val *no) {
  if (yes->undefined) return *no;
  if (no->undefined) return *yes;
  an_val r;
  if (yes->poly == no->poly) {
    r = *yes;
    an_inherit(a, &r, no);
    return r;
  }
  hd_poly d = an_sub(&a->alg, yes->poly, no->poly);
  if (d != HD_NONE) d = an_if(&a->alg, cond->poly, an_wrap(&a->alg, d, yes->width));
  const an_val *worse = a->alg.polys.data[cond->poly].level > a->alg.polys.data[yes->poly].level ? cond : yes;
  r = an_val_from(a, d == HD_NONE ? HD_NONE : an_add(&a->alg, no->poly, d), yes->width, worse, no);
  r.assumes = 0;
  r.ranged = a->alg.range_assumed.data[r.poly];
  an_val x = *yes, y = *no;
  if (!x.ranged && !y.ranged) {
    int64_t lo = x.lo < y.lo ? x.lo : y.lo, hi = x.hi > y.hi ? x.hi : y.hi;
    if (r.lo < lo) r.lo = lo;
    if (r.hi > hi) r.hi = hi;
    r.maybe &= x.maybe | y.maybe;
  }
  x.ranged = y.ranged = 0;
  /* An assumption of both values is kept; one of a single value is made only where that value is chosen. */
  if (x.assumes != y.assumes) {
    hd_poly other = an_not(&a->alg, cond->poly);
    x.assumes = assume_where(a, x.assumes, cond->poly);
    y.assumes = other == HD_NONE ? y.assumes : assume_where(a, y.assumes, other);
  }
  an_inherit(a, &r, cond);
  an_inherit(a, &r, &x);
  an_inherit(a, &r, &y);
  return r;
}

/* ---- The evaluator ------------------------------------------------------------------------ */

bool an_get(an *a, an_value v, an_val *out) {
  if (a->eval.states.data[v] == AN_WAITING) {
    AN_PUSH(&a->arena, &a->eval.work, v);
    return false;
  }
  *out = a->eval.vals.data[v];
  return true;
}

static an_val provisional(an *a, an_value v, unsigned width) {
  hd_value_symbol s = {.kind = HD_V_PHI,
                       .level = HD_LEVEL_AFFINE,
                       .a = v,
                       .why = HD_NONE,
                       .iterates = true,
                       .varies = 63,
                       .lo = INT64_MIN,
                       .hi = INT64_MAX};
  if (width == 1) s.lo = 0, s.hi = 1;
  an_val r = an_val_of(a, an_sym(&a->alg, an_symbol(&a->alg, s)), width);
  r.pending = (uint32_t)a->eval.active.n;
  return r;
}

unsigned an_reg_width(const an *a, uint32_t reg) {
  uint32_t first = a->ssa.reg_first[reg];
  if (reg >= a->pub.cfg.n_regs) return a->slots.list.data[reg - a->pub.cfg.n_regs].bytes >= 8 ? 64 : 32;
  if (first == a->ssa.reg_first[reg + 1]) return 64;
  const an_def *d = &a->ssa.defs[a->ssa.reg_list[first]];
  /* The operand that names it has its type. */
  const hd_ptx_stmt *st = an_stmt(a, d->inst);
  uint32_t call = a->pub.cfg.insts[d->inst].call;
  uint32_t stack[32], top = 0;
  for (uint32_t i = 0; i < st->n_opnds && top < 32; i++) stack[top++] = st->first_opnd + i;
  while (top) {
    const hd_ptx_opnd *o = &a->m->opnds[stack[--top]];
    if (o->kind == HD_O_REG && a->m->syms[o->sym].kind == HD_SYM_REG && an_reg(a, call, o->sym) == reg) {
      hd_mod type = a->m->syms[o->sym].type;
      uint64_t bytes = hd_ptx_type_size(type);
      return type == HD_M_PRED ? 1 : bytes >= 8 ? 64 : bytes == 4 ? 32 : 16;
    }
    if (o->kind == HD_O_VEC || o->kind == HD_O_PAIR || o->kind == HD_O_LIST)
      for (uint32_t k = 0; k < o->n_kids && top < 32; k++) stack[top++] = o->sym + k;
  }
  return 64;
}

/* A value that rests on that many assumptions is a hash or the like: no address worth a formula. Convolutions
 * that divide by arguments at every step rest on 25 to 90. */
static void simplify(an *a, an_value v, an_val *r) {
  enum { MAX_ASSUMPTIONS = 96 };
  if (a->alg.sets.data[r->assumes].n <= MAX_ASSUMPTIONS) return;
  hd_level level = (hd_level)a->alg.polys.data[r->poly].level;
  an_blame blame = an_culprit(&a->alg, r->poly);
  if (level < HD_LEVEL_NONLINEAR) {
    level = HD_LEVEL_NONLINEAR;
    blame = (an_blame){HD_WHY_COMPLEX, a->pub.cfg.blocks[an_value_block(a, v)].first};
  }
  an_val x = fresh(a, level, blame, r->width);
  x.pending = r->pending;
  x.undefined = r->undefined;
  *r = x;
}

static void finish(an *a, an_value v, an_val *r) {
  if (!an_is_loop(a, v)) simplify(a, v, r);
  a->eval.vals.data[v] = *r;
  a->eval.states.data[v] = AN_DONE;
  if (r->pending != HD_NONE) AN_PUSH(&a->arena, &a->eval.trail, v);
}

/* The phi has its value: values computed from its provisional one are dropped. */
static void end_phi(an *a, an_value v, an_val *r) {
  uint32_t number = (uint32_t)a->eval.active.n - 1;
  uint32_t keep = a->eval.active.data[number].trail;
  while (a->eval.trail.n > keep) a->eval.states.data[a->eval.trail.data[--a->eval.trail.n]] = AN_WAITING;
  a->eval.active.n--;
  if (r->pending >= number) r->pending = HD_NONE;
  finish(a, v, r);
}

static bool is_header_phi(const an *a, an_value v, uint32_t *loop) {
  const hd_cfg *g = &a->pub.cfg;
  uint32_t block = an_value_block(a, v);
  *loop = g->blocks[block].loop;
  return *loop != HD_NONE && g->loops[*loop].header == block;
}

static bool step_phi(an *a, an_value v) {
  uint32_t loop;
  bool header = is_header_phi(a, v, &loop);
  /* In a cycle with several entries any join may come round to itself. */
  bool circular = header || a->pub.cfg.irreducible;
  if (circular && a->eval.states.data[v] == AN_WAITING) {
    an_val p = provisional(a, v, an_reg_width(a, a->ssa.phis.data[v - an_first_phi(a)].reg));
    AN_PUSH(&a->arena, &a->eval.active, ((an_active){v, (uint32_t)a->eval.trail.n}));
    a->eval.vals.data[v] = p;
    a->eval.states.data[v] = AN_ACTIVE;
  }
  an_val r;
  if (!an_merge(a, v, &r)) return false;
  an_end(a, &r);
  if (!circular) {
    finish(a, v, &r);
    return true;
  }
  end_phi(a, v, &r);
  /* The counter's range should be known before the value is used. */
  if (header && a->eval.states.data[an_loop_value(a, loop)] == AN_WAITING &&
      a->alg.polys.data[r.poly].iterates) {
    a->eval.work.n--;
    AN_PUSH(&a->arena, &a->eval.work, an_loop_value(a, loop));
    AN_PUSH(&a->arena, &a->eval.work, v);
  }
  return true;
}

static bool step(an *a, an_value v) {
  an_val r;
  an_begin(&a->alg);
  if (an_is_phi(a, v)) return step_phi(a, v);
  if (an_is_loop(a, v)) {
    if (!an_trips(a, v - a->ssa.n_defs, &r)) return false;
  } else if (!an_transfer(a, v, &r)) {
    return false;
  }
  an_end(a, &r);
  finish(a, v, &r);
  return true;
}

bool an_run(an *a) {
  while (a->eval.work.n && !a->eval.stop) {
    an_value top = a->eval.work.data[a->eval.work.n - 1];
    a->alg.work += 4;
    /* A phi that is active further down the stack is evaluated there. */
    if (a->eval.states.data[top] == AN_DONE || step(a, top)) a->eval.work.n--;
    if (a->alg.work > a->budget) a->eval.stop = true;
  }
  return !a->eval.stop;
}

/* ---- Leaving loops ----------------------------------------------------------------------------- */

bool an_leave_loops(an *a, an_val *v, uint32_t from, uint32_t to) {
  const hd_cfg *g = &a->pub.cfg;
  uint32_t inner = g->blocks[from].loop, outer = g->blocks[to].loop;
  for (uint32_t l = inner; l != HD_NONE && !hd_loop_contains(g, l, outer); l = g->loops[l].parent) {
    if (!a->alg.polys.data[v->poly].iterates) return true;
    hd_symbol k = a->pub.loop_values[l].counter;
    if (k == HD_NONE || !an_mentions(&a->alg, v->poly, k)) continue;
    an_val trips;
    if (!an_get(a, an_loop_value(a, l), &trips)) return false;
    an_val left = an_val_from(a, an_subst(&a->alg, v->poly, k, trips.poly), v->width, v, &trips);
    left.lo = v->lo > left.lo ? v->lo : left.lo;
    left.hi = v->hi < left.hi ? v->hi : left.hi;
    *v = left;
  }
  return true;
}

bool an_get_at(an *a, an_value v, uint32_t at, an_val *out) {
  if (v == HD_NONE) {
    *out = an_val_unknown(a, HD_V_UNDEF, 0, 0, HD_LEVEL_DATA, (an_blame){HD_WHY_UNDEFINED, HD_NONE}, 64);
    out->undefined = true;
    return true;
  }
  if (!an_get(a, v, out)) return false;
  return an_leave_loops(a, out, an_value_block(a, v), at);
}

/* ---- Operands ------------------------------------------------------------------------------------- */

static hd_poly launch_symbol(an *a, hd_symbol_kind kind, uint32_t x, uint32_t y, int64_t lo, int64_t hi) {
  hd_value_symbol s = {
      .kind = (uint8_t)kind, .level = HD_LEVEL_LAUNCH, .a = x, .b = y, .why = HD_NONE, .lo = lo, .hi = hi};
  return an_sym(&a->alg, an_symbol(&a->alg, s));
}

static hd_poly dimension(an *a, hd_symbol_kind kind, uint32_t part) {
  uint32_t known = kind == HD_V_NTID ? a->opt.block[part] : a->opt.grid[part];
  if (known) return an_const(&a->alg, known);
  return launch_symbol(a, kind, part, 0, 1, kind == HD_V_NTID ? a->max_block[part] : hd_max_grid[part]);
}

hd_poly an_ntid(an *a, uint32_t part) { return dimension(a, HD_V_NTID, part); }

static hd_poly identity(an *a, hd_symbol_kind kind, uint32_t part) {
  uint32_t known = kind == HD_V_TID ? a->opt.block[part] : a->opt.grid[part];
  int64_t most = known ? known : kind == HD_V_TID ? a->max_block[part] : hd_max_grid[part];
  if (most == 1) return 0;
  hd_value_symbol s = {.kind = (uint8_t)kind,
                       .level = HD_LEVEL_AFFINE,
                       .a = part,
                       .why = HD_NONE,
                       .varies = (uint8_t)(1u << (part + (kind == HD_V_CTAID ? 3 : 0))),
                       .hi = most - 1};
  return an_sym(&a->alg, an_symbol(&a->alg, s));
}

/* The thread's number in its CTA: lanes and warps follow from it. */
static hd_poly thread_number(an *a) {
  hd_poly z = an_mul(&a->alg, dimension(a, HD_V_NTID, 1), identity(a, HD_V_TID, 2));
  hd_poly y = an_mul(&a->alg, dimension(a, HD_V_NTID, 0), an_add(&a->alg, identity(a, HD_V_TID, 1), z));
  hd_poly t = an_add(&a->alg, identity(a, HD_V_TID, 0), y);
  an_note_range(&a->alg, t, 0, a->max_threads - 1, 0);
  return t;
}

static an_val special_register(an *a, uint32_t inst, const hd_ptx_opnd *o) {
  uint32_t id = a->m->syms[o->sym].index;
  uint32_t part = o->part == HD_M_Y ? 1 : o->part == HD_M_Z ? 2 : 0;
  switch (id) {
  case HD_SR_TID: return an_val_of(a, o->part == HD_M_W ? 0 : identity(a, HD_V_TID, part), 32);
  case HD_SR_CTAID: return an_val_of(a, o->part == HD_M_W ? 0 : identity(a, HD_V_CTAID, part), 32);
  case HD_SR_NTID: return an_val_of(a, dimension(a, HD_V_NTID, part), 32);
  case HD_SR_NCTAID: return an_val_of(a, dimension(a, HD_V_NCTAID, part), 32);
  case HD_SR_LANEID: {
    hd_poly t = thread_number(a), w = an_floor_const(&a->alg, t, AN_WARP, inst);
    hd_poly lane = an_sub(&a->alg, t, an_scale(&a->alg, w, AN_WARP));
    an_note_range(&a->alg, lane, 0, AN_WARP - 1, a->alg.used);
    return an_val_of(a, lane, 32);
  }
  case HD_SR_NSMID:
  case HD_SR_NWARPID:
  case HD_SR_DYNAMIC_SMEM_SIZE:
  case HD_SR_TOTAL_SMEM_SIZE:
  case HD_SR_AGGR_SMEM_SIZE:
  case HD_SR_CLUSTER_NCTAID:
  case HD_SR_CLUSTER_NCTARANK:
  case HD_SR_NCLUSTERID: return an_val_of(a, launch_symbol(a, HD_V_SREG, id, part, 0, INT32_MAX), 32);
  case HD_SR_CLUSTER_CTAID:
  case HD_SR_CLUSTER_CTARANK:
  case HD_SR_CLUSTERID:
    return an_val_unknown(a, HD_V_OPAQUE, inst, 0, HD_LEVEL_NONLINEAR, (an_blame){HD_WHY_INSTRUCTION, inst},
                          32);
  default:
    return an_val_unknown(a, HD_V_OPAQUE, inst, 0, HD_LEVEL_DATA, (an_blame){HD_WHY_SCHEDULE, inst}, 64);
  }
}

static an_val address_of(an *a, hd_sym sym, unsigned width) {
  const hd_ptx_sym *s = &a->m->syms[sym];
  hd_poly p;
  if (s->kind == HD_SYM_VAR)
    p = launch_symbol(a, HD_V_ADDRESS, s->decl, 0, 0, INT64_MAX);
  else
    p = launch_symbol(a, HD_V_ADDRESS, HD_NONE, sym, 0, INT64_MAX);
  return an_val_of(a, p, width);
}

bool an_operand(an *a, uint32_t inst, const hd_ptx_opnd *o, unsigned width, an_val *out) {
  uint32_t call = a->pub.cfg.insts[inst].call;
  switch (o->kind) {
  case HD_O_INT:
  case HD_O_F32:
  case HD_O_F64: *out = an_val_of(a, an_const(&a->alg, o->imm), width); return true;
  case HD_O_SREG: *out = special_register(a, inst, o); return true;
  case HD_O_ADDR:
  case HD_O_SYM:
  case HD_O_REG: {
    if (!o->sym) {
      *out = an_val_of(a, an_const(&a->alg, o->imm), width);
      return true;
    }
    const hd_ptx_sym *s = &a->m->syms[o->sym];
    if (s->kind != HD_SYM_REG) {
      *out = address_of(a, o->sym, width);
    } else {
      if (!an_get_at(a, an_reaching(a, an_reg(a, call, o->sym), inst), a->pub.cfg.insts[inst].block, out))
        return false;
      if (out->width != width && width > 1 && out->width > width) {
        an_val narrow = an_val_of(a, out->poly, width);
        an_inherit(a, &narrow, out);
        *out = narrow;
      }
    }
    if (o->kind != HD_O_REG && o->imm) {
      *out = an_val_from(a, an_add_const(&a->alg, out->poly, o->imm), out->width, out, NULL);
    }
    if (o->kind == HD_O_REG && o->flags & HD_OF_NEG) {
      an_val negated =
          an_val_from(a, out->width == 1 ? an_not(&a->alg, out->poly) : an_scale(&a->alg, out->poly, -1),
                      out->width, out, NULL);
      negated.undefined = out->undefined;
      *out = negated;
    }
    return true;
  }
  default: *out = fresh(a, HD_LEVEL_DATA, (an_blame){HD_WHY_INSTRUCTION, inst}, width); return true;
  }
}

bool an_guard(an *a, uint32_t inst, an_val *out) {
  const hd_ptx_stmt *st = an_stmt(a, inst);
  hd_ptx_opnd o = {.kind = HD_O_REG, .flags = st->guard_neg ? HD_OF_NEG : 0, .sym = st->guard};
  return an_operand(a, inst, &o, 1, out);
}

bool an_branch(an *a, uint32_t block, an_val *out) {
  const hd_block *b = &a->pub.cfg.blocks[block];
  uint32_t last = b->first + b->n_insts - 1;
  if (!an_stmt(a, last)->guard) { /* a table of targets */
    *out = an_val_unknown(a, HD_V_OPAQUE, last, 0, HD_LEVEL_DATA, (an_blame){HD_WHY_PATH, last}, 1);
    return true;
  }
  return an_guard(a, last, out);
}
