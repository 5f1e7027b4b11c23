/* Kernels that reach shared memory by numbers: their dynamic memory, or what they know to lie there, would
 * meet a variable of the rewriter's own.
 *
 * A value is what its operands make of it, whichever way was taken to them. The address of a variable stays
 * one if numbers are added to it or taken away, if its low bits are cleared, or mixed with numbers that have
 * no others: low bits are those below the boundary by which variables may move. Numbers are what the host
 * passes, what memory holds, and an address's low bits: these stay. A comparison of an address with a number
 * asks where the variable lies. The distance of two variables, and all else that is made of addresses, is
 * neither. Generic addresses of shared memory come from variables, as cvta is looked at like an access. */
#include "rewrite/rewrite_internal.h"

enum {
  NUMBER = 1,
  PLACE = 2,    /* an address in a shared variable, or behind it */
  SHIFTED = 4,  /* one shifted down; how far, `shifts` says */
  DISTANCE = 8, /* made of addresses: it may change where they do */
  MOST_ADDRESS = 0x3ffff,
};

typedef struct search {
  const hd_ptx_module *m;
  const hd_reach *reach;
  unsigned boundary;
  uint8_t *kinds; /* per symbol of a register or a parameter: what it may hold; 0: nothing is written there */
  uint8_t *now;   /* what it holds here, if it was written since the last label */
  uint32_t *since, stretch; /* the stretch of statements without a label in which it was */
  uint8_t *shifts;
  uint8_t *widths; /* of numbers in registers: bits that may be set, from the lowest on */
  bool compared;   /* an address is, with a number */
  unsigned stored; /* spaces in which memory may hold what is made of addresses */
  unsigned passed; /* DISTANCE, if some parameter of a function may */
  bool changed;
} search;

static unsigned of_operand(const search *s, const hd_ptx_opnd *o);

static unsigned of_kids(const search *s, const hd_ptx_opnd *o) {
  unsigned k = 0;
  for (uint32_t i = 0; i < o->n_kids; i++) k |= of_operand(s, &s->m->opnds[o->sym + i]);
  return k;
}

static unsigned held(const search *s, hd_sym sym) {
  return s->since[sym] == s->stretch ? s->now[sym] : s->kinds[sym];
}

/* What is no address any more. */
static unsigned as_number(unsigned k) { return (k & NUMBER) | (k & ~(unsigned)NUMBER ? DISTANCE : 0); }

static unsigned of_symbol(const search *s, hd_sym sym) {
  const hd_ptx_sym *y = &s->m->syms[sym];
  if (!sym) return NUMBER;
  if (y->kind != HD_SYM_VAR) return y->kind == HD_SYM_REG ? held(s, sym) : NUMBER;
  const hd_mod space = s->m->vars[y->decl].space;
  if (space == HD_M_PARAM) return s->kinds[sym];
  return hd_ptx_mod_value(space) & HD_IN_ANY_SHARED ? PLACE : NUMBER;
}

static unsigned of_operand(const search *s, const hd_ptx_opnd *o) {
  switch ((hd_ptx_opnd_kind)o->kind) {
  case HD_O_REG: return o->part || o->flags & HD_OF_NEG ? as_number(held(s, o->sym)) : held(s, o->sym);
  case HD_O_SYM:
  case HD_O_GENERIC:
  case HD_O_ADDR: return of_symbol(s, o->sym);
  case HD_O_MASKED: return as_number(of_operand(s, &s->m->opnds[o->sym]));
  case HD_O_VEC:
  case HD_O_LIST:
  case HD_O_BRACKET:
  case HD_O_PAIR:
  case HD_O_INDEX: return as_number(of_kids(s, o));
  case HD_O_NONE:
  case HD_O_SREG:
  case HD_O_INT:
  case HD_O_F32:
  case HD_O_F64:
  case HD_O_SINK:
  case HD_O_STRING:
  case HD_O_RAW: break;
  }
  return NUMBER;
}

enum { ALL_BITS = 32 };

/* A width that grows again does so in a loop, and ends at all bits. */
static void add_width(search *s, hd_sym sym, unsigned width) {
  if (width <= s->widths[sym]) return;
  s->widths[sym] = (uint8_t)(s->widths[sym] ? ALL_BITS : width);
  s->changed = true;
}

static void add_kinds(search *s, hd_sym sym, unsigned k, unsigned width) {
  s->changed |= (k & ~(unsigned)s->kinds[sym]) != 0;
  s->kinds[sym] |= (uint8_t)k;
  add_width(s, sym, width);
  if (s->m->syms[sym].kind == HD_SYM_VAR && k & ~(unsigned)NUMBER) s->passed = DISTANCE;
}

/* ---- Results ------------------------------------------------------------------------------------ */

static unsigned sum(unsigned a, unsigned b, bool minus) {
  unsigned k = 0;
  if (!a || !b) return 0;
  if ((a | b) & (SHIFTED | DISTANCE) || (a & PLACE && b & PLACE)) k |= DISTANCE;
  if (a & NUMBER && b & NUMBER) k |= NUMBER;
  if (a & PLACE && b & NUMBER) k |= PLACE;
  if (a & NUMBER && b & PLACE) k |= minus ? DISTANCE : PLACE;
  return k;
}

static unsigned of_term(const search *s, const hd_ptx_opnd *o, const hd_ptx_term *t) {
  const unsigned k = of_operand(s, &o[t->of]);
  return t->by ? as_number(k | of_operand(s, &o[t->by])) : k;
}

static bool number_at(const search *s, const hd_ptx_stmt *st, uint32_t operand, int64_t *value) {
  const hd_ptx_opnd *o = &s->m->opnds[st->first_opnd + operand];
  if (o->kind != HD_O_INT) return false;
  *value = hd_ptx_number_of(&s->m->forms[st->form], hd_ptx_result_of(s->m, st), operand, o->imm);
  return true;
}

/* Bits [0, below) of what a register holds. */
static unsigned low_bits(const search *s, const hd_ptx_opnd *o, uint64_t below) {
  const unsigned k = of_operand(s, o);
  unsigned out = as_number(k & (NUMBER | DISTANCE));
  if (k & PLACE) out |= below <= s->boundary ? NUMBER : DISTANCE;
  if (k & SHIFTED) out |= below << s->shifts[o->sym] <= s->boundary ? NUMBER : DISTANCE;
  return out;
}

/* A mask may clear an address's low bits, or leave some of these. */
static unsigned masked(const search *s, const hd_ptx_stmt *st, const hd_ptx_term *t) {
  const hd_ptx_opnd *o = &s->m->opnds[st->first_opnd];
  int64_t mask;
  const bool second = number_at(s, st, t->by, &mask);
  if (!second && !number_at(s, st, t->of, &mask)) return as_number(of_term(s, o, t));
  const hd_ptx_opnd *x = &o[second ? t->of : t->by];
  const bool keeps = ((uint64_t)mask & MOST_ADDRESS & ~(uint64_t)(s->boundary - 1)) ==
                     (MOST_ADDRESS & ~(uint64_t)(s->boundary - 1));
  if (keeps) return (of_operand(s, x) & PLACE) | as_number(of_operand(s, x) & ~(unsigned)PLACE);
  return low_bits(s, x, mask >= 0 && mask <= MOST_ADDRESS ? (uint64_t)mask + 1 : UINT64_C(1) << 32);
}

/* bfe d, a, pos, len */
static unsigned part(const search *s, const hd_ptx_stmt *st) {
  const hd_ptx_opnd *o = &s->m->opnds[st->first_opnd];
  int64_t at, bits;
  if (st->n_opnds == 4 && number_at(s, st, 2, &at) && number_at(s, st, 3, &bits) && at >= 0 && bits >= 0 &&
      at + bits < 32)
    return low_bits(s, &o[1], UINT64_C(1) << (at + bits));
  return 0xff;
}

static unsigned any_operands(const search *s, const hd_ptx_stmt *st, uint32_t first) {
  unsigned k = 0;
  for (uint32_t i = first; i < st->n_opnds; i++) k |= of_operand(s, &s->m->opnds[st->first_opnd + i]);
  return k;
}

static unsigned shifted_down(search *s, const hd_ptx_stmt *st, const hd_ptx_term *t) {
  const hd_ptx_opnd *o = &s->m->opnds[st->first_opnd];
  const unsigned k = of_operand(s, &o[t->of]);
  int64_t by;
  if (!t->power || !number_at(s, st, t->by, &by) || by < 0 || by > 31 || o[0].kind != HD_O_REG)
    return as_number(of_term(s, o, t));
  if (k & PLACE && s->shifts[o[0].sym] < by) {
    s->shifts[o[0].sym] = (uint8_t)by;
    s->changed = true;
  }
  return as_number(k & ~(unsigned)PLACE) | (k & PLACE ? SHIFTED : 0);
}

/* ---- Widths of numbers --------------------------------------------------------------------------- */

static unsigned bits_of(uint64_t value) {
  unsigned n = 0;
  while (n < ALL_BITS && value >> n) n++;
  return n;
}

static unsigned operand_width(const search *s, const hd_ptx_stmt *st, uint32_t operand) {
  const hd_ptx_opnd *o = &s->m->opnds[st->first_opnd + operand];
  int64_t value;
  if (number_at(s, st, operand, &value)) return value < 0 ? ALL_BITS : bits_of((uint64_t)value);
  return o->kind == HD_O_REG && !o->part && !(o->flags & HD_OF_NEG) ? s->widths[o->sym] : ALL_BITS;
}

static unsigned greater(unsigned a, unsigned b) { return a > b ? a : b; }

static unsigned term_width(const search *s, const hd_ptx_stmt *st, const hd_ptx_term *t) {
  const unsigned w = operand_width(s, st, t->of);
  int64_t by;
  if (!t->by) return w;
  if (!number_at(s, st, t->by, &by) || by < 0) return ALL_BITS;
  const uint64_t more = t->power ? (uint64_t)by : bits_of((uint64_t)by);
  return w + more < ALL_BITS ? w + (unsigned)more : ALL_BITS;
}

/* Of what an instruction leaves, where that is a number. */
static unsigned width_of(const search *s, const hd_ptx_stmt *st) {
  const hd_ptx_form *f = &s->m->forms[st->form];
  const hd_ptx_result *r = hd_ptx_result_of(s->m, st);
  int64_t by;
  unsigned w = ALL_BITS;
  if (!st->n_opnds || !hd_ptx_form_is_whole(f, 32) || (r->n_opnds && st->n_opnds < r->n_opnds)) return w;
  switch ((hd_ptx_makes)r->makes) {
  case HD_MAKES_SUM:
    w = term_width(s, st, &r->terms[0]);
    if (r->n_terms == 2) w = r->terms[1].minus ? ALL_BITS : greater(w, term_width(s, st, &r->terms[1])) + 1;
    break;
  case HD_MAKES_MASKED:
    w = operand_width(s, st, 1);
    if (operand_width(s, st, 2) < w) w = operand_width(s, st, 2);
    break;
  case HD_MAKES_JOINED:
  case HD_MAKES_MIXED:
    if (st->n_opnds == 3) w = greater(operand_width(s, st, 1), operand_width(s, st, 2));
    break;
  case HD_MAKES_QUOTIENT:
    w = operand_width(s, st, 1);
    if (w < ALL_BITS && r->terms[0].power && number_at(s, st, 2, &by) && by >= 0)
      w = (int64_t)w > by ? w - (unsigned)by : 0;
    break;
  case HD_MAKES_CHOICE: w = greater(operand_width(s, st, 1), operand_width(s, st, 2)); break;
  case HD_MAKES_PART: /* bfe d, a, pos, len */
    if (hd_ptx_form_has(f, HD_M_U32) && st->n_opnds == 4 && number_at(s, st, 3, &by) && by >= 0 &&
        by < ALL_BITS)
      w = (unsigned)by;
    break;
  case HD_MAKES_ANYTHING:
  case HD_MAKES_PLACE:
  case HD_MAKES_NEGATED:
  case HD_MAKES_REMAINDER:
  case HD_MAKES_LEAST:
  case HD_MAKES_GREATEST:
  case HD_MAKES_COMPARISON: break;
  }
  return w < ALL_BITS ? w : ALL_BITS;
}

/* ---- What is computed ---------------------------------------------------------------------------- */

/* or, xor: with higher bits than those that stay it depends on the address's own which place comes of it. */
static unsigned mixed(const search *s, const hd_ptx_stmt *st) {
  const hd_ptx_opnd *o = &s->m->opnds[st->first_opnd];
  const unsigned a = of_operand(s, &o[1]), b = of_operand(s, &o[2]), k = sum(a, b, false);
  const bool high = (a & PLACE && (uint64_t)1 << operand_width(s, st, 2) > s->boundary) ||
                    (b & PLACE && (uint64_t)1 << operand_width(s, st, 1) > s->boundary);
  return high && k & PLACE ? (k & ~(unsigned)PLACE) | DISTANCE : k;
}

/* A generic pointer may be asked for being none. */
static bool compares_with_number(const search *s, const hd_ptx_stmt *st) {
  const hd_ptx_form *f = &s->m->forms[st->form];
  const hd_ptx_opnd *o = &s->m->opnds[st->first_opnd];
  if (hd_ptx_result_of(s->m, st)->makes != HD_MAKES_COMPARISON || st->n_opnds < 3) return false;
  const unsigned a = of_operand(s, &o[1]), b = of_operand(s, &o[2]);
  const bool by_place = (a & ~(unsigned)NUMBER && b & NUMBER) || (b & ~(unsigned)NUMBER && a & NUMBER);
  const bool none = (hd_ptx_form_has(f, HD_M_EQ) || hd_ptx_form_has(f, HD_M_NE)) &&
                    hd_ptx_form_is_whole(f, 64) && o[2].kind == HD_O_INT && o[2].imm == 0;
  return by_place && !none;
}

static unsigned computed(search *s, const hd_ptx_stmt *st) {
  const hd_ptx_form *f = &s->m->forms[st->form];
  const hd_ptx_opnd *o = &s->m->opnds[st->first_opnd];
  const hd_ptx_result *r = hd_ptx_result_of(s->m, st);
  const unsigned all = any_operands(s, st, 1);
  unsigned k;
  if (!hd_ptx_form_is_whole(f, 32) || o[0].kind != HD_O_REG) return as_number(all);
  switch ((hd_ptx_makes)r->makes) {
  case HD_MAKES_SUM:
    k = of_term(s, o, &r->terms[0]);
    return r->n_terms == 2 ? sum(k, of_term(s, o, &r->terms[1]), r->terms[1].minus) : k;
  case HD_MAKES_PLACE: /* a generic address that was in memory */
    k = of_operand(s, &o[r->terms[0].of]);
    return hd_ptx_form_has(f, HD_M_TO) && k & NUMBER ? (k & ~(unsigned)NUMBER) | PLACE : k;
  case HD_MAKES_QUOTIENT: return shifted_down(s, st, &r->terms[0]);
  case HD_MAKES_MASKED: return masked(s, st, &r->terms[0]);
  case HD_MAKES_PART: k = part(s, st); return k == 0xff ? as_number(all) : k;
  case HD_MAKES_JOINED:
  case HD_MAKES_MIXED: return st->n_opnds == 3 ? mixed(s, st) : as_number(all);
  case HD_MAKES_LEAST:
  case HD_MAKES_GREATEST:
  case HD_MAKES_CHOICE: return of_operand(s, &o[1]) | of_operand(s, &o[2]);
  case HD_MAKES_ANYTHING:
  case HD_MAKES_NEGATED:
  case HD_MAKES_REMAINDER:
  case HD_MAKES_COMPARISON: break;
  }
  return as_number(all);
}

/* ---- Memory and calls ------------------------------------------------------------------------------ */

static unsigned spaces_of(const hd_ptx_touch *t) {
  return t->space & HD_IN_GENERIC ? HD_IN_LOCAL | HD_IN_ANY_SHARED | HD_IN_GLOBAL : t->space;
}

static hd_sym named(const search *s, const hd_ptx_stmt *st, const hd_ptx_touch *t) {
  const hd_ptx_opnd *o = &s->m->opnds[st->first_opnd + t->operand];
  return t->operand < st->n_opnds && o->kind == HD_O_ADDR && o->sym && s->m->syms[o->sym].kind == HD_SYM_VAR
             ? o->sym
             : 0;
}

static unsigned loaded(const search *s, const hd_ptx_stmt *st, const hd_ptx_access *a) {
  unsigned k = 0;
  for (unsigned i = 0; i < a->n; i++) {
    const hd_ptx_touch *t = &a->touches[i];
    const hd_sym of = named(s, st, t);
    if (!(t->kinds & HD_ACC_READ)) continue;
    if (t->space & HD_IN_PARAM)
      k |= of ? s->kinds[of] : NUMBER | s->passed;
    else
      k |= NUMBER | (s->stored & spaces_of(t) ? DISTANCE : 0);
  }
  return k;
}

static bool add_value(void *ctx, const hd_ptx_leaf *leaf) {
  struct {
    const search *s;
    unsigned k;
  } *x = ctx;
  if (leaf->role & HD_ROLE_READ && !(leaf->role & (HD_ROLE_BASE | HD_ROLE_GUARD)) && leaf->opnd)
    x->k |= of_operand(x->s, leaf->opnd);
  return true;
}

static void see_store(search *s, const hd_ptx_stmt *st, const hd_ptx_access *a) {
  struct {
    const search *s;
    unsigned k;
  } x = {s, 0};
  unsigned written = 0;
  hd_ptx_visit(s->m, st, add_value, &x);
  for (unsigned i = 0; i < a->n; i++) {
    const hd_ptx_touch *t = &a->touches[i];
    const hd_sym of = t->space & HD_IN_PARAM ? named(s, st, t) : 0;
    if (!(t->kinds & HD_ACC_WRITE)) continue;
    if (of) add_kinds(s, of, x.k, ALL_BITS);
    written |= spaces_of(t);
  }
  const bool copies = a->kinds & HD_ACC_READ && s->stored; /* also an atomic, which adds to what is there */
  if (!(x.k & ~(unsigned)NUMBER) && !copies) return;
  s->changed |= written & ~s->stored;
  s->stored |= written;
}

/* The operands of a call's list before, or behind, the callee. */
static const hd_ptx_opnd *list_of(const search *s, const hd_ptx_stmt *st, bool results, uint32_t *n) {
  const hd_ptx_opnd *o = &s->m->opnds[st->first_opnd];
  *n = 0;
  for (uint32_t i = 0; i < st->n_opnds; i++) {
    if (o[i].kind != HD_O_LIST || (i == 0) != results) continue;
    *n = o[i].n_kids;
    return &s->m->opnds[o[i].sym];
  }
  return NULL;
}

static void see_callee(search *s, const hd_ptx_stmt *st, uint32_t func) {
  const hd_ptx_func *f = &s->m->funcs[func];
  uint32_t n;
  const hd_ptx_opnd *o = list_of(s, st, false, &n);
  for (uint32_t i = 0; i < n && i < f->n_params; i++)
    add_kinds(s, s->m->vars[f->first_param + i].sym, of_operand(s, &o[i]), ALL_BITS);
  o = list_of(s, st, true, &n);
  for (uint32_t i = 0; i < n && i < f->n_rets; i++)
    if (o[i].sym) add_kinds(s, o[i].sym, s->kinds[s->m->vars[f->first_ret + i].sym], ALL_BITS);
}

static void see_call(search *s, const hd_ptx_stmt *st) {
  const uint32_t callee = hd_callee(s->m, st);
  uint32_t n;
  if (callee != HD_NONE && s->m->funcs[callee].has_body) {
    see_callee(s, st, callee);
    return;
  }
  for (uint32_t i = 1; callee == HD_NONE && i < s->reach->n; i++) see_callee(s, st, s->reach->funcs[i]);
  const hd_ptx_opnd *o = list_of(s, st, true, &n);
  for (uint32_t i = 0; i < n; i++)
    if (o[i].sym) add_kinds(s, o[i].sym, NUMBER | DISTANCE, ALL_BITS);
}

typedef struct writing {
  search *s;
  unsigned kinds, width;
  bool whole; /* it leaves nothing of what was there */
} writing;

static bool write_leaf(void *ctx, const hd_ptx_leaf *leaf) {
  const writing *w = ctx;
  search *s = w->s;
  if (!(leaf->role & HD_ROLE_WRITTEN) || !leaf->sym) return true;
  const bool whole = w->whole && leaf->opnd && !leaf->opnd->part;
  const unsigned before = whole ? 0 : held(s, leaf->sym);
  add_kinds(s, leaf->sym, w->kinds, whole ? w->width : ALL_BITS);
  s->now[leaf->sym] = (uint8_t)(before | w->kinds);
  s->since[leaf->sym] = s->stretch;
  return true;
}

static void see(search *s, const hd_ptx_stmt *st) {
  const hd_ptx_form *f = &s->m->forms[st->form];
  const hd_ptx_access a = hd_ptx_access_of(f);
  if (f->flags & HD_OPF_CALLS) {
    see_call(s, st);
    s->stretch++; /* what is written there counts from now on */
    return;
  }
  if (a.kinds & HD_ACC_WRITE) see_store(s, st, &a);
  writing w = {s,
               a.unknown               ? NUMBER | DISTANCE
               : a.kinds & HD_ACC_READ ? loaded(s, st, &a)
               : st->n_opnds           ? computed(s, st)
                                       : 0,
               a.unknown || a.kinds & HD_ACC_READ ? ALL_BITS : width_of(s, st), !st->guard};
  s->compared |= compares_with_number(s, st);
  hd_ptx_visit(s->m, st, write_leaf, &w);
}

/* ---- Accesses ------------------------------------------------------------------------------------------ */

static bool is_by_number(const search *s, const hd_ptx_stmt *st) {
  const hd_ptx_form *f = &s->m->forms[st->form];
  const hd_ptx_access a = hd_ptx_access_of(f);
  const hd_ptx_opnd *o = &s->m->opnds[st->first_opnd];
  if (f->op == HD_OP_CVTA)
    return st->n_opnds == 2 && f->n_mods && hd_ptx_mod_value(f->mods[0]) & HD_IN_ANY_SHARED &&
           !hd_ptx_form_has(f, HD_M_TO) && of_operand(s, &o[1]) & ~(unsigned)PLACE;
  for (unsigned k = 0; k < a.n; k++) {
    const hd_ptx_touch *t = &a.touches[k];
    if (!(t->space & (HD_IN_ANY_SHARED | HD_IN_GENERIC)) || t->operand >= st->n_opnds) continue;
    const unsigned kinds = of_operand(s, &o[t->operand]);
    if (t->space & HD_IN_GENERIC) { /* a number leads to other memory, for no cvta has seen it */
      if (kinds & (SHIFTED | DISTANCE)) return true;
      continue;
    }
    /* A descriptor of matrices holds some bits of an address. */
    if (o[t->operand].kind == HD_O_ADDR ? kinds & ~(unsigned)PLACE
                                        : o[t->operand].kind == HD_O_REG && kinds == NUMBER)
      return true;
  }
  return false;
}

/* Once through all functions. True: something has changed; or, if accesses are asked for, one is by a number.
 */
static bool go_through(search *s, bool asks) {
  bool found = false;
  s->changed = false;
  for (uint32_t k = 0; k < s->reach->n; k++) {
    const hd_ptx_func *f = &s->m->funcs[s->reach->funcs[k]];
    s->stretch++;
    for (uint32_t i = 0; i < f->n_stmts; i++) {
      s->stretch += f->stmts[i].kind == HD_S_LABEL;
      if (f->stmts[i].kind != HD_S_INST) continue;
      found |= asks && is_by_number(s, &f->stmts[i]);
      see(s, &f->stmts[i]);
    }
  }
  return asks ? found : s->changed;
}

bool rewrite_shared_by_number(const hd_ptx_module *m, const hd_reach *reach, unsigned boundary,
                              hd_arena *arena) {
  search s = {.m = m,
              .reach = reach,
              .boundary = boundary,
              .kinds = HD_NEW_N(arena, m->n_syms + 1u, uint8_t),
              .now = HD_NEW_N(arena, m->n_syms + 1u, uint8_t),
              .since = HD_NEW_N(arena, m->n_syms + 1u, uint32_t),
              .shifts = HD_NEW_N(arena, m->n_syms + 1u, uint8_t),
              .widths = HD_NEW_N(arena, m->n_syms + 1u, uint8_t)};
  const hd_ptx_func *kernel = &m->funcs[reach->funcs[0]];
  for (uint32_t i = kernel->first_param; i < kernel->first_param + kernel->n_params; i++)
    s.kinds[m->vars[i].sym] = NUMBER;
  while (go_through(&s, false)) {
  }
  s.compared = false; /* from now on what is seen is all that there is */
  return go_through(&s, true) || s.compared;
}
