/* What the rounds of a loop over tiles leave to each other in memory.
 *
 * The tiles of one CTA are done one after the other, in the loop's order, so a round may find what an earlier
 * one stored, and of two that store to one place the later one's value stays. Neither shows where
 *
 *   - the loop reads no memory that a round may write;
 *   - its stores go to base + r * tile + t * %tid.x + c, with one base and one r in all of them, and the
 * places of one tile are no further apart than r bytes: every tile has places of its own. A second base may
 * be the same memory;
 *   - its reductions, and atomics whose result is not read, are all the same operation on whole numbers of
 * one size in global memory, which gives one result in any order. In shared memory they would add up what one
 * CTA's tiles give, and another order gives it other tiles.
 *
 * For the same reason no CTA may learn before the loop which of them it is: an atomic that brings a result
 * there, or a function, may give it memory or a number of its own.
 *
 * Threads that are not in the loop may look, without waiting, at what the rounds of others have done so far:
 *
 *   - reductions to one place are seen in the order in which their thread makes them, relaxed ones too, by an
 * ordered load or an atomic of that place;
 *   - what a CTA releases behind its loop says that all of its tiles are done, and so which tiles are one
 * CTA's.
 *
 * A weak load is ordered with neither. */
#include <string.h>

#include "rewrite/levers/threads.h"
#include "rewrite/levers/tiles.h"

enum { MOST_DEPTH = 24 };

/* ---- Addresses ----------------------------------------------------------------------------------------- */

/* base + r * tile + t * %tid.x + c: a sum of numbers that are not negative, below 2^31 without a base, so
 * that no arithmetic of 32 bits wraps. */
typedef struct line {
  bool known;
  hd_sym base; /* a parameter of the kernel that holds an address; 0: none */
  int64_t at;  /* of the address in the parameter */
  int64_t r, t, c;
} line;

typedef struct lines {
  const rewrite_job *j;
  const tile_loop *loop;
  uint64_t tiles;
} lines;

static const line unknown = {.known = false};

static line number(int64_t c) { return (line){.known = c >= 0 && c <= INT32_MAX, .c = c}; }

/* Factors and the number are below 2^31 each, and so are tiles and threads. */
static line checked(const lines *l, line x) {
  int64_t most;
  if (!x.known || x.r > INT32_MAX || x.t > INT32_MAX || x.c > INT32_MAX) return unknown;
  if (x.t && !l->j->block[0]) return unknown;
  most = x.r * ((int64_t)l->tiles - 1);
  if (x.t && __builtin_add_overflow(most, x.t * ((int64_t)l->j->block[0] - 1), &most)) return unknown;
  if (__builtin_add_overflow(most, x.c, &most)) return unknown;
  return x.base || most <= INT32_MAX ? x : unknown;
}

static line sum(const lines *l, line a, line b) {
  if (!a.known || !b.known || (a.base && b.base)) return unknown;
  const line of = a.base ? a : b;
  return checked(l, (line){true, of.base, of.at, a.r + b.r, a.t + b.t, a.c + b.c});
}

static line product(const lines *l, line a, line b) {
  const line by = b.r || b.t ? a : b, x = b.r || b.t ? b : a;
  if (!a.known || !b.known || a.base || b.base || by.r || by.t) return unknown;
  return checked(l, (line){true, 0, 0, x.r * by.c, x.t * by.c, x.c * by.c});
}

static line value_of(const lines *l, const hd_ptx_opnd *o, unsigned depth);

/* An address does not fit in this. */
static bool is_narrow(const hd_ptx_form *f) {
  bool narrow = false;
  for (unsigned k = 0; k < f->n_mods; k++)
    narrow |= hd_ptx_mod_kind(f->mods[k]) == HD_MK_TYPE && hd_ptx_type_of(f->mods[k]).bits < 64;
  return narrow;
}

static line parameter(const lines *l, const hd_ptx_form *f, const hd_ptx_opnd *o) {
  const hd_ptx_module *m = l->loop->m;
  const hd_ptx_func *kernel = &m->funcs[l->j->func];
  if (!hd_ptx_form_has(f, HD_M_PARAM) || hd_ptx_access_of(f).bytes != 8 || o->kind != HD_O_ADDR || !o->sym ||
      m->syms[o->sym].kind != HD_SYM_VAR)
    return unknown;
  const uint32_t var = m->syms[o->sym].decl;
  if (var < kernel->first_param || var >= kernel->first_param + kernel->n_params) return unknown;
  return (line){.known = true, .base = o->sym, .at = o->imm};
}

static line power_of_two(line x) {
  return x.known && !x.base && !x.r && !x.t && x.c < 31 ? number((int64_t)1 << x.c) : unknown;
}

/* A number of the text is cut to the operand's type. */
static line operand_of(const lines *l, const hd_ptx_stmt *s, unsigned operand, unsigned depth) {
  const hd_ptx_module *m = l->loop->m;
  const hd_ptx_opnd *o = &m->opnds[s->first_opnd + operand];
  if (o->kind != HD_O_INT) return value_of(l, o, depth);
  return number(hd_ptx_number_of(&m->forms[s->form], hd_ptx_result_of(m, s), operand, o->imm));
}

static line term_of(const lines *l, const hd_ptx_stmt *s, const hd_ptx_term *t, unsigned depth) {
  const line x = operand_of(l, s, t->of, depth);
  if (!t->by) return x;
  const line by = operand_of(l, s, t->by, depth);
  return product(l, x, t->power ? power_of_two(by) : by);
}

static line computed(const lines *l, uint32_t inst, unsigned depth) {
  const hd_ptx_form *f = hd_inst_form(&l->loop->g, inst);
  const hd_ptx_stmt *s = hd_inst_stmt(&l->loop->g, inst);
  const hd_ptx_opnd *o = &l->loop->m->opnds[s->first_opnd];
  const hd_ptx_result *r = hd_ptx_result_of(l->loop->m, s);
  const hd_ptx_term *t = r->terms;
  if (s->guard || s->n_opnds < 2 || o[0].kind != HD_O_REG || !hd_ptx_form_is_whole(f, 32)) return unknown;
  if (f->op == HD_OP_LD) return parameter(l, f, &o[1]);
  if (r->makes == HD_MAKES_PLACE)
    return hd_ptx_form_has(f, HD_M_GLOBAL) ? value_of(l, &o[t->of], depth + 1) : unknown;
  if (r->makes != HD_MAKES_SUM || t[1].minus) return unknown;
  const line x = term_of(l, s, &t[0], depth + 1);
  if (hd_ptx_is_copy(r)) return x.base && is_narrow(f) ? unknown : x;
  return r->n_terms == 2 ? sum(l, x, term_of(l, s, &t[1], depth + 1)) : x;
}

static line register_line(const lines *l, hd_sym sym, unsigned depth) {
  const tile_loop *t = l->loop;
  if (t->m->syms[sym].kind != HD_SYM_REG || depth > MOST_DEPTH) return unknown;
  const uint32_t reg = hd_cfg_reg(&t->g, 0, sym);
  if (reg == t->reg) return checked(l, (line){.known = true, .r = 1});
  const uint32_t *w = &t->writers.first[reg];
  return w[1] - w[0] == 1 ? computed(l, t->writers.insts[w[0]], depth) : unknown;
}

static line value_of(const lines *l, const hd_ptx_opnd *o, unsigned depth) {
  if (o->kind == HD_O_SREG && o->part == HD_M_X) {
    const uint32_t id = l->loop->m->syms[o->sym].index;
    if (id == HD_SR_TID) return checked(l, (line){.known = true, .t = 1});
    if (id == HD_SR_NTID && l->j->block[0]) return number(l->j->block[0]);
  }
  return tiles_is_register(l->loop, o) ? register_line(l, o->sym, depth) : unknown;
}

/* ---- Places -----------------------------------------------------------------------------------------------
 */

/* What the loop was seen to do so far. */
typedef struct found {
  bool stores, reduces;
  line place;     /* stores: of the first; the others differ in t and c */
  int64_t lo, hi; /* bytes from base + r * tile on */
  hd_mod operation;
  hd_ptx_type type; /* reduces */
} found;

/* True: tiles have places of their own, with those of this store. */
static bool add_store(const lines *l, uint32_t inst, const hd_ptx_access *a, found *f) {
  const hd_ptx_opnd *o = tiles_operand(l->loop, inst, a->touches[0].operand);
  const hd_ptx_form *form = hd_inst_form(&l->loop->g, inst);
  if (form->op != HD_OP_ST || a->n != 1 || a->async || a->bulk || !a->bytes || f->reduces || !o ||
      !(a->touches[0].space & (HD_IN_GLOBAL | HD_IN_GENERIC)) || o->kind != HD_O_ADDR || !o->sym)
    return false;
  const line x = register_line(l, o->sym, 0);
  if (!x.known || !x.base || !x.r) return false;
  const int64_t lo = x.c + o->imm, hi = lo + (x.t ? x.t * ((int64_t)l->j->block[0] - 1) : 0) + a->bytes;
  if (f->stores && (x.base != f->place.base || x.at != f->place.at || x.r != f->place.r)) return false;
  if (!f->stores || lo < f->lo) f->lo = lo;
  if (!f->stores || hi > f->hi) f->hi = hi;
  f->place = x;
  f->stores = true;
  return f->hi - f->lo <= x.r;
}

static bool brings_result(const tile_loop *t, uint32_t inst) {
  return hd_inst_form(&t->g, inst)->op == HD_OP_ATOM && hd_result_is_read(&t->g, t->is_read, inst);
}

/* A reduction does not show the old value. */
static bool is_reduction(const tile_loop *t, uint32_t inst, const hd_ptx_access *a) {
  return !a->unknown && !a->async && hd_inst_form(&t->g, inst)->flags & HD_OPF_UPDATES &&
         !brings_result(t, inst);
}

/* True: it gives one result in any order, with the reductions before. */
static bool add_reduction(const tile_loop *t, uint32_t inst, const hd_ptx_access *a, found *f) {
  static const hd_mod commuting[] = {HD_M_ADD, HD_M_AND, HD_M_OR, HD_M_XOR, HD_M_MIN, HD_M_MAX};
  const hd_ptx_form *form = hd_inst_form(&t->g, inst);
  hd_ptx_type y = {0};
  bool commutes = false;
  for (unsigned k = 0; k < form->n_mods; k++)
    if (hd_ptx_mod_kind(form->mods[k]) == HD_MK_TYPE) y = hd_ptx_type_of(form->mods[k]);
  for (size_t k = 0; k < sizeof commuting / sizeof *commuting; k++) commutes |= a->operation == commuting[k];
  const bool whole = y.number == HD_NUM_UNSIGNED || y.number == HD_NUM_SIGNED || y.number == HD_NUM_BITS;
  if (!commutes || !whole || y.elements != 1 || f->stores || a->n != 1 || a->touches[0].space != HD_IN_GLOBAL)
    return false;
  /* The sign counts in comparisons alone. */
  if (a->operation != HD_M_MIN && a->operation != HD_M_MAX) y.number = HD_NUM_BITS;
  if (f->reduces && (f->operation != a->operation || f->type.bits != y.bits || f->type.number != y.number))
    return false;
  f->operation = a->operation;
  f->type = y;
  f->reduces = true;
  return true;
}

/* ---- All of the loop -------------------------------------------------------------------------------------
 */

#define NEEDS_WORD "; --assume no-carry says that no tile does"
#define READS "in a loop over tiles, may read what an earlier tile left in memory" NEEDS_WORD
#define IDENTITY "before a loop over tiles, may show the CTA which CTA it is" NEEDS_WORD
#define MEETING "may meet threads of the CTA that are not in the same round of a loop over tiles"
#define ORDERS "in a loop over tiles, may show others which tiles are done" NEEDS_WORD
#define WRITES "in a loop over tiles, may overwrite what an earlier tile left in memory" NEEDS_WORD
#define SEES "outside of a loop over tiles, may see which tiles are done" NEEDS_WORD

typedef bool of_form(const hd_ptx_form *f);

/* A function that is called, or one that it reaches, may have such an instruction. */
static bool call_has(const tile_loop *t, uint32_t inst, of_form *has, hd_arena *arena) {
  const hd_ptx_stmt *s = hd_inst_stmt(&t->g, inst);
  const uint32_t callee = hd_callee(t->m, s);
  hd_reach reach;
  if (hd_call_writes_nothing(t->m, s)) return false;
  if (callee == HD_NONE || !t->m->funcs[callee].has_body) return true;
  hd_reach_find(t->m, callee, arena, &reach);
  if (reach.unknown) return true;
  for (uint32_t k = 0; k < reach.n; k++) {
    const hd_ptx_func *f = &t->m->funcs[reach.funcs[k]];
    for (uint32_t i = 0; i < f->n_stmts; i++)
      if (f->stmts[i].kind == HD_S_INST && has(&t->m->forms[f->stmts[i].form])) return true;
  }
  return false;
}

static bool form_writes(const hd_ptx_form *f) {
  const hd_ptx_access a = hd_ptx_access_of(f);
  return a.unknown || hd_ptx_access_in(&a, ~(unsigned)HD_IN_PARAM) & HD_ACC_WRITE;
}

/* It may leave the CTA a number of its own: by a result, or in memory. */
static bool call_tells(const tile_loop *t, uint32_t inst, hd_arena *arena) {
  const hd_ptx_stmt *s = hd_inst_stmt(&t->g, inst);
  if (s->n_opnds && t->m->opnds[s->first_opnd].kind == HD_O_LIST) return true; /* results */
  return call_has(t, inst, form_writes, arena);
}

/* Why an instruction outside of the loop needs the caller's word; NULL: it does not. */
static const char *why_before(const tile_loop *t, uint32_t inst, hd_arena *arena) {
  const bool calls = hd_inst_form(&t->g, inst)->flags & HD_OPF_CALLS;
  return brings_result(t, inst) || (calls && call_tells(t, inst, arena)) ? IDENTITY : NULL;
}

/* Blocks from which a copy's header is reached, or those that are reached from one. */
static uint8_t *find_blocks(const tile_loop *t, bool before, hd_arena *arena) {
  const hd_cfg *g = &t->g;
  uint8_t *is_found = HD_NEW_N(arena, g->n_blocks, uint8_t);
  uint32_t *todo = HD_NEW_N(arena, g->n_blocks, uint32_t), n = 0;
  for (uint32_t k = 0; k < t->n_copies; k++) {
    const uint32_t header = g->loops[t->copies[k].loop].header;
    if (!is_found[header]) is_found[todo[n++] = header] = 1;
  }
  while (n) {
    const hd_block *b = &g->blocks[todo[--n]];
    const uint32_t *next = &g->edges[before ? b->first_pred : b->first_succ];
    for (uint32_t k = 0; k < (before ? b->n_pred : b->n_succ); k++)
      if (!is_found[next[k]]) is_found[todo[n++] = next[k]] = 1;
  }
  return is_found;
}

/* Others may look while the loop runs: what they find behind a release, or a fence, they may rely on. A
 * reduction by itself is in no order with anything. */
static bool shows_order(const hd_ptx_form *f, const hd_ptx_access *a) {
  const bool alone = a->kinds & HD_ACC_ATOMIC && a->order == HD_ORDERED_RELAXED;
  return f->flags & HD_OPF_FENCES || (a->kinds & HD_ACC_WRITE && a->order > HD_ORDERED_WEAK && !alone);
}

/* assert(): the launch ends with an error, as by a trap, and writes nothing of its own. */
static bool is_assertion(const tile_loop *t, uint32_t inst) {
  const uint32_t callee = hd_callee(t->m, hd_inst_stmt(&t->g, inst));
  if (!(hd_inst_form(&t->g, inst)->flags & HD_OPF_CALLS) || callee == HD_NONE) return false;
  const hd_ptx_func *f = &t->m->funcs[callee];
  return !f->has_body && strcmp(t->m->syms[f->sym].name, "__assertfail") == 0;
}

/* An argument of a call, which the thread alone has. */
static bool passes_argument(const hd_ptx_form *f, const hd_ptx_access *a) {
  return f->op == HD_OP_ST && !a->unknown && a->n == 1 && a->touches[0].space == HD_IN_PARAM;
}

/* Why the instruction of the loop needs the caller's word; NULL: it does not. */
static const char *why(const lines *l, uint32_t inst, found *so_far) {
  enum { CONSTANT = HD_IN_PARAM | HD_IN_CONST };
  const hd_ptx_form *f = hd_inst_form(&l->loop->g, inst);
  const hd_ptx_access a = hd_ptx_access_of(f);
  if (is_assertion(l->loop, inst) || passes_argument(f, &a)) return NULL;
  if (a.unknown || f->flags & (HD_OPF_CALLS | HD_OPF_LASTING | HD_OPF_UNKNOWN)) return READS;
  if (shows_order(f, &a)) return ORDERS;
  if (is_reduction(l->loop, inst, &a)) return add_reduction(l->loop, inst, &a, so_far) ? NULL : WRITES;
  if (!a.noncoherent && hd_ptx_access_in(&a, ~(unsigned)CONSTANT) & HD_ACC_READ) return READS;
  return a.kinds & HD_ACC_WRITE && !add_store(l, inst, &a, so_far) ? WRITES : NULL;
}

/* ---- What is seen from outside of the loop ------------------------------------------------------------- */

/* Others may rely on what stands before it. An atomic whose result is read may be the last of all CTAs'. */
static bool form_orders(const hd_ptx_form *f) {
  const hd_ptx_access a = hd_ptx_access_of(f);
  return a.unknown || f->flags & HD_OPF_UNKNOWN || shows_order(f, &a);
}

/* It brings what others wrote in order. */
static bool form_sees(const hd_ptx_form *f) {
  enum { CONSTANT = HD_IN_PARAM | HD_IN_CONST };
  const hd_ptx_access a = hd_ptx_access_of(f);
  return a.unknown || f->flags & HD_OPF_UNKNOWN ||
         (rewrite_is_strong(&a) && f->op != HD_OP_RED &&
          hd_ptx_access_in(&a, ~(unsigned)CONSTANT) & HD_ACC_READ);
}

static bool has(const tile_loop *t, uint32_t inst, of_form *has_form, hd_arena *arena) {
  const hd_ptx_form *f = hd_inst_form(&t->g, inst);
  if (f->flags & HD_OPF_CALLS) return !t->g.insts[inst].body && call_has(t, inst, has_form, arena);
  return has_form(f);
}

/* The bytes of an access of one place. */
static line place_of(const lines *l, uint32_t inst, int64_t *lo, int64_t *hi) {
  const hd_ptx_access a = hd_ptx_access_of(hd_inst_form(&l->loop->g, inst));
  if (a.unknown || a.n != 1 || !a.bytes || a.touches[0].space != HD_IN_GLOBAL) return unknown;
  const hd_ptx_opnd *o = tiles_operand(l->loop, inst, a.touches[0].operand);
  if (!o || o->kind != HD_O_ADDR || !o->sym) return unknown;
  const line x = register_line(l, o->sym, 0);
  if (!x.known || !x.base || x.r || x.t) return unknown;
  *lo = x.c + o->imm;
  *hi = *lo + a.bytes;
  return x;
}

/* The look is at another place than the loop's reductions, one and all. */
static bool looks_elsewhere(const lines *l, uint32_t look) {
  const hd_cfg *g = &l->loop->g;
  int64_t lo, hi, from, to;
  const hd_ptx_access of = hd_ptx_access_of(hd_inst_form(g, look));
  if (of.n && !of.unknown && !(hd_ptx_access_in(&of, HD_IN_ANY_GLOBAL) & HD_ACC_READ)) return true;
  const line x = place_of(l, look, &lo, &hi);
  if (!x.known) return false;
  for (uint32_t i = 0; i < g->n_insts; i++) {
    const hd_ptx_access a = hd_ptx_access_of(hd_inst_form(g, i));
    if (!tiles_inside(l->loop, i) || !(a.kinds & HD_ACC_WRITE)) continue;
    const line y = place_of(l, i, &from, &to);
    if (!y.known || x.base != y.base || x.at != y.at || (lo < to && from < hi)) return false;
  }
  return true;
}

/* Behind the loop something makes its stores seen; or elsewhere, in threads that met the loop's behind it. */
static bool releases(const tile_loop *t, hd_arena *arena) {
  const uint8_t *behind = find_blocks(t, false, arena);
  bool meets = false, here = false, anywhere = false;
  for (uint32_t i = 0; i < t->g.n_insts; i++) {
    const hd_ptx_form *f = hd_inst_form(&t->g, i);
    const bool orders = has(t, i, form_orders, arena);
    anywhere |= orders;
    if (!behind[t->g.insts[i].block]) continue;
    here |= orders;
    meets |= f->flags & (HD_OPF_CTA_WIDE | HD_OPF_CLUSTER_WIDE | HD_OPF_WARP_WIDE | HD_OPF_CALLS);
  }
  return here || (meets && anywhere);
}

/* The instruction outside of the loop that may see which tiles are done, as `f` says what rounds leave;
 * HD_NONE. */
static uint32_t find_look(const lines *l, const found *f, hd_arena *arena) {
  const tile_loop *t = l->loop;
  const bool released = releases(t, arena);
  if (!f->reduces && !(f->stores && released)) return HD_NONE;
  for (uint32_t i = 0; i < t->g.n_insts; i++) {
    if (tiles_inside(t, i)) continue;
    const bool atomic = hd_inst_form(&t->g, i)->op == HD_OP_ATOM;
    if (!has(t, i, form_sees, arena) || (atomic && !brings_result(t, i))) continue;
    if (released || !looks_elsewhere(l, i)) return i;
  }
  return HD_NONE;
}

/* ---- All of it ---------------------------------------------------------------------------------------- */

enum { CTA_MEETS = HD_OPF_CTA_WIDE | HD_OPF_CLUSTER_WIDE | HD_OPF_CALLS, WARP_MEETS = HD_OPF_WARP_WIDE };

/* The first instruction by which threads meet that not all of the CTA, or of a warp, run; HD_NONE: all do. */
static uint32_t not_run_by_all(const tile_loop *t, const hd_uniformity *same, unsigned how, hd_same least) {
  const hd_cfg *g = &t->g;
  for (uint32_t i = 0; i < g->n_insts; i++) {
    const hd_ptx_form *f = hd_inst_form(g, i);
    const bool calls = f->flags & HD_OPF_CALLS;
    if (!(f->flags & how) || hd_inst_same(same, i) <= least) continue;
    if (!calls || (!g->insts[i].body && !hd_call_writes_nothing(t->m, hd_inst_stmt(g, i)))) return i;
  }
  return HD_NONE;
}

/* Threads meet in the loop's rounds that are not in the same one: those that stand outside of it, and those
 * that are a barrier ahead, since they met once more in front of it. HD_NONE, or where. */
static uint32_t meets_others(const rewrite_job *j, const tile_loop *t, hd_arena *arena) {
  const hd_cfg *g = &t->g;
  hd_uniformity same;
  uint32_t block[3], first = HD_NONE;
  unsigned how = 0;
  for (uint32_t i = 0; i < g->n_insts; i++) {
    const unsigned meets = hd_inst_form(g, i)->flags & (CTA_MEETS | WARP_MEETS);
    if (!meets || !tiles_inside(t, i)) continue;
    if (first == HD_NONE) first = i;
    how |= meets;
  }
  if (first == HD_NONE) return HD_NONE;
  rewrite_find_block(t->m, j->func, j->opt->block, block);
  hd_uniformity_find(g, block, arena, &same);
  for (uint32_t k = 0; k < t->n_copies; k++)
    if (same.block[g->loops[t->copies[k].loop].header] != HD_SAME_IN_CTA) return first;
  const uint32_t ahead = how & CTA_MEETS ? not_run_by_all(t, &same, CTA_MEETS, HD_SAME_IN_CTA) : HD_NONE;
  if (ahead != HD_NONE || !(how & (WARP_MEETS | HD_OPF_CALLS))) return ahead;
  return not_run_by_all(t, &same, WARP_MEETS, HD_SAME_IN_WARP);
}

hd_status tiles_check_memory(const rewrite_job *j, const tile_loop *t, uint64_t tiles, hd_arena *arena,
                             bool *rests, hd_diag *d) {
  const hd_cfg *g = &t->g;
  const lines l = {j, t, tiles};
  const uint8_t *before = find_blocks(t, true, arena);
  const uint32_t meeting = meets_others(j, t, arena);
  found f = {0};
  if (meeting != HD_NONE) return rewrite_refuse(t->m, hd_inst_stmt(g, meeting), MEETING, d);
  for (uint32_t i = 0; i < g->n_insts && !*rests; i++) {
    const char *needs = NULL;
    if (tiles_inside(t, i))
      needs = why(&l, i, &f);
    else if (before[g->insts[i].block])
      needs = why_before(t, i, arena);
    if (!needs) continue;
    *rests = true;
    if (!(j->opt->assume & HD_ASSUME_NO_CARRY)) return rewrite_refuse(t->m, hd_inst_stmt(g, i), needs, d);
  }
  const uint32_t look = *rests ? HD_NONE : find_look(&l, &f, arena);
  *rests |= look != HD_NONE;
  return look == HD_NONE || j->opt->assume & HD_ASSUME_NO_CARRY
             ? HD_OK
             : rewrite_refuse(t->m, hd_inst_stmt(g, look), SEES, d);
}
