/* Whether two accesses that a thread runs in turn are of one place, where their addresses are worked out in
 * different ways.
 *
 * An address is taken apart into a sum: a number of the text, and terms times numbers of the text. What both
 * sums have falls out of their difference. If nothing is left, they are one place. If what is left is made of
 * numbers of the launch and of counters alone, they are two: a stride of the launch is not taken for 0, nor
 * the distance from one parameter's buffer to another's. What is loaded from one place, or chosen, may be
 * anything; what two numbers are divided to may be one. */
#include "rewrite/waits/waits.h"

enum { MOST_TERMS = 16, MOST_DEPTH = 40, MOST_WRITERS = 16, MOST_LEVELS = 3 };

typedef enum term_kind {
  TERM_REGISTER = 0, /* as the instruction `at` reads it */
  TERM_ADDED,        /* what has been added to the register since it began */
  TERM_PRODUCT,      /* of two operands of `at` */
  TERM_VARIABLE,
} term_kind;

typedef struct term {
  term_kind kind;
  uint32_t reg, at;
  hd_sym variable;
  uint64_t times; /* 0: it has fallen out */
} term;

typedef struct wait_sum {
  term terms[MOST_TERMS];
  uint32_t n;
  uint64_t number;
  bool ok;
} sum;

/* What a value is made of: numbers of the text and of the launch, added and multiplied, */
enum {
  MADE_KNOWN = 1,
  MADE_BY_COUNTING = 2, /* a register that depends on itself, */
  MADE_BY_DIVISION = 4, /* what several numbers have in common, */
  MADE_OF_ANYTHING = 8
};

/* How one sum compares with another. */
typedef enum difference {
  DIFFER_PERHAPS = 0,
  DIFFER_BY_NUMBER, /* of the text, 0 as well */
  DIFFER_SURELY,
} difference;

static void add_operand(wait_search *w, sum *s, uint32_t inst, const hd_ptx_opnd *o, uint64_t times,
                        unsigned depth);
static void gather(wait_search *w, sum *s, unsigned level);
static difference differ(wait_search *w, sum *x, sum *y, uint64_t *number, unsigned level);
static wait_likeness compare(wait_search *w, uint32_t a, uint32_t b, unsigned level);

/* ---- Sums -------------------------------------------------------------------------------------- */

/* What a register holds that one instruction writes is the same wherever it is read. */
static void add_term(const wait_search *w, sum *s, term t) {
  for (uint32_t i = 0; i < s->n; i++) {
    term *u = &s->terms[i];
    if (u->kind != t.kind || u->reg != t.reg || u->variable != t.variable) continue;
    if (u->at != t.at && (t.kind != TERM_REGISTER || wait_only_writer(w, t.reg) == HD_NONE)) continue;
    u->times += t.times;
    return;
  }
  if (s->n < MOST_TERMS)
    s->terms[s->n++] = t;
  else
    s->ok = false;
}

/* Whole numbers of at least 32 bits, of which nothing is cut off but what overflows. */
static bool is_wide(const wait_search *w, uint32_t inst) {
  const hd_ptx_opnd *o = wait_operands(w, inst);
  return hd_ptx_form_is_whole(hd_inst_form(&w->g, inst), 32) && o[0].kind == HD_O_REG && !o[0].part;
}

/* The instruction whose result the register holds there; HD_NONE: one of several. */
static uint32_t written_by(wait_search *w, uint32_t reg, uint32_t inst) {
  const uint32_t *first = &w->writers.first[reg];
  const hd_block *b = &w->g.blocks[w->g.insts[inst].block];
  uint32_t last = wait_only_writer(w, reg);
  if (last != HD_NONE || first[0] == first[1] || first[1] - first[0] > MOST_WRITERS) return last;
  for (uint32_t i = first[0]; i < first[1]; i++) {
    const uint32_t at = w->writers.insts[i];
    if (at >= b->first && at < inst && (last == HD_NONE || at > last)) last = at;
  }
  for (uint32_t i = first[0]; i < first[1] && last == HD_NONE; i++) {
    const uint32_t at = w->writers.insts[i];
    if (wait_comes_before(w, at, inst) && wait_is_kept_since(w, reg, at, inst)) last = at;
  }
  return last != HD_NONE && hd_inst_stmt(&w->g, last)->guard ? HD_NONE : last;
}

/* The operand that an instruction adds to the register that it writes; NULL: it does something else. */
static const hd_ptx_opnd *step_of(const wait_search *w, uint32_t at, uint32_t reg) {
  const hd_ptx_result *r = wait_result(w, at);
  if (!hd_ptx_adds_two(r) || !is_wide(w, at) || hd_inst_stmt(&w->g, at)->guard) return NULL;
  for (unsigned k = 0; k < 2; k++)
    if (!r->terms[k].minus && wait_operand(w, at, r->terms[k].of) == reg)
      return &wait_operands(w, at)[r->terms[1 - k].of];
  return NULL;
}

/* So many bits hold the operand, and so many of them, the lowest, are 0. */
typedef struct extent {
  unsigned bits, zeros;
} extent;

/* A number of another type is the same if it is not negative in either. */
static bool keeps_extent(const wait_search *w, uint32_t copy, extent e) {
  hd_ptx_type type[2];
  hd_ptx_types_of(hd_inst_form(&w->g, copy), type);
  return !type[1].bits || (wait_copied(w, copy) != HD_NONE && e.bits < 32);
}

static extent extent_of(wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth) {
  const extent unknown = {.bits = 64};
  int64_t value;
  if (o->kind == HD_O_SREG && w->m->syms[o->sym].index == HD_SR_TID) return (extent){.bits = 10};
  const uint32_t reg = wait_register(w, inst, o), at = reg == HD_NONE ? HD_NONE : written_by(w, reg, inst);
  if (at == HD_NONE || depth >= MOST_DEPTH || !is_wide(w, at)) return unknown;
  const hd_ptx_opnd *p = wait_operands(w, at);
  const hd_ptx_result *r = wait_result(w, at);
  const hd_ptx_term *t = r->terms;
  hd_ptx_type type[2];
  if (!r->n_terms) return unknown;
  hd_ptx_types_of(hd_inst_form(&w->g, at), type);
  extent e = extent_of(w, at, &p[t->of], depth + 1);
  if (hd_ptx_is_copy(r)) return keeps_extent(w, at, e) ? e : unknown;
  if (!t->by || !wait_constant(w, at, &p[t->by], &value) || value < 0) return unknown;
  if (r->makes == HD_MAKES_MASKED && value < INT32_MAX) {
    for (e.bits = 0; value >> e.bits; e.bits++) continue;
    return e;
  }
  if (!t->power || value > 30) return unknown;
  if (e.bits > 32) e.bits = 64;
  if (r->makes == HD_MAKES_SUM) return (extent){e.bits + (unsigned)value, e.zeros + (unsigned)value};
  /* A signed one fills with the upper bit. */
  return e.bits < 32u + (type[0].number != HD_NUM_SIGNED)
             ? (extent){e.bits > value ? e.bits - (unsigned)value : 0, 0}
             : unknown;
}

/* An or of a number of the text whose bits the other operand does not have is a sum. */
static bool joins_bits(wait_search *w, uint32_t at) {
  const extent e = extent_of(w, at, &wait_operands(w, at)[1], 0);
  int64_t value;
  if (!wait_constant(w, at, &wait_operands(w, at)[2], &value) || value < 0 || value > INT32_MAX) return false;
  return value < INT64_C(1) << (e.zeros < 32 ? e.zeros : 32) ||
         (e.bits < 32 && !(value & ((INT64_C(1) << e.bits) - 1)));
}

/* A number of the text, or one that is left as all else falls out. */
static bool is_number(wait_search *w, uint32_t at, const hd_ptx_opnd *o, unsigned depth, int64_t *number) {
  sum s = {.ok = true};
  if (wait_constant(w, at, o, number)) return true;
  add_operand(w, &s, at, o, 1, depth + MOST_DEPTH * 3 / 4);
  gather(w, &s, MOST_LEVELS);
  for (uint32_t i = 0; i < s.n; i++) s.ok = s.ok && !s.terms[i].times;
  *number = (int64_t)s.number;
  return s.ok;
}

static void add_product(wait_search *w, sum *s, uint32_t at, const hd_ptx_term *t, uint64_t times,
                        unsigned depth) {
  const hd_ptx_opnd *p = wait_operands(w, at);
  int64_t by;
  const bool second = is_number(w, at, &p[t->by], depth, &by);
  if (second || is_number(w, at, &p[t->of], depth, &by))
    add_operand(w, s, at, &p[second ? t->of : t->by], times * (uint64_t)by, depth);
  else
    add_term(w, s, (term){.kind = TERM_PRODUCT, .at = at, .times = times});
}

static bool is_sum(wait_search *w, uint32_t at, const hd_ptx_result *r) {
  if (r->makes == HD_MAKES_JOINED) return joins_bits(w, at);
  if (r->makes == HD_MAKES_PLACE || hd_ptx_is_copy(r)) return wait_operands(w, at)[1].kind != HD_O_SREG;
  return r->makes == HD_MAKES_SUM;
}

/* Takes the result of an instruction apart. False: it is none that is taken apart. */
static bool add_result(wait_search *w, sum *s, uint32_t at, uint64_t times, unsigned depth) {
  const hd_ptx_opnd *p = wait_operands(w, at);
  const hd_ptx_result *r = wait_result(w, at);
  int64_t by;
  if (!is_wide(w, at) || !is_sum(w, at, r)) return false;
  for (const hd_ptx_term *t = r->terms; t < r->terms + r->n_terms; t++) {
    if (t->power) { /* by itself */
      if (!wait_constant(w, at, &p[t->by], &by) || by < 0 || by > 30) return false;
      add_operand(w, s, at, &p[t->of], times << by, depth);
    } else if (t->by) {
      add_product(w, s, at, t, times, depth);
    } else {
      add_operand(w, s, at, &p[t->of], t->minus ? ~times + 1 : times, depth);
    }
  }
  return true;
}

static sum sum_of_result(wait_search *w, uint32_t at, unsigned depth) {
  sum s = {.ok = true};
  s.ok = add_result(w, &s, at, 1, depth) && s.ok;
  gather(w, &s, MOST_LEVELS);
  return s;
}

static sum sum_of_operand(wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  sum s = {.ok = true};
  add_operand(w, &s, inst, o, 1, 0);
  gather(w, &s, MOST_LEVELS);
  return s;
}

/* The instruction that a counter begins with, to which others add; HD_NONE: the register is none. Where it
 * begins in several ways, they are numbers of the launch apart. */
static uint32_t beginning(wait_search *w, uint32_t reg, unsigned depth) {
  uint32_t first = HD_NONE;
  bool counts = false;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++) {
    const uint32_t at = w->writers.insts[i];
    uint64_t number;
    if (step_of(w, at, reg)) {
      counts = true;
      continue;
    }
    if (hd_inst_stmt(&w->g, at)->guard) return HD_NONE;
    if (first != HD_NONE) {
      sum x = sum_of_result(w, first, depth), y = sum_of_result(w, at, depth);
      if (differ(w, &x, &y, &number, MOST_LEVELS) == DIFFER_PERHAPS) return HD_NONE;
    } else {
      first = at;
    }
  }
  return counts ? first : HD_NONE;
}

static void add_register(wait_search *w, sum *s, uint32_t inst, uint32_t reg, uint64_t times,
                         unsigned depth) {
  const uint32_t at = written_by(w, reg, inst);
  if (at != HD_NONE && add_result(w, s, at, times, depth + 1)) return;
  term t = {.reg = reg, .at = inst, .times = times};
  if (at == HD_NONE && depth < MOST_DEPTH / 2) {
    const uint32_t begun = beginning(w, reg, depth + MOST_DEPTH / 4);
    if (begun != HD_NONE && add_result(w, s, begun, times, depth + 1)) t.kind = TERM_ADDED;
  }
  add_term(w, s, t);
}

static void add_operand(wait_search *w, sum *s, uint32_t inst, const hd_ptx_opnd *o, uint64_t times,
                        unsigned depth) {
  int64_t value;
  w->steps++;
  if (o->part || o->flags & HD_OF_NEG || depth >= MOST_DEPTH || !s->ok) {
    s->ok = false;
  } else if (o->kind == HD_O_INT) {
    if (wait_constant(w, inst, o, &value)) s->number += times * (uint64_t)value;
  } else if (o->kind == HD_O_REG || o->kind == HD_O_ADDR || o->kind == HD_O_SYM) {
    if (o->kind != HD_O_REG) s->number += times * (uint64_t)o->imm;
    if (!o->sym) return;
    if (w->m->syms[o->sym].kind == HD_SYM_REG)
      add_register(w, s, inst, hd_cfg_reg(&w->g, w->g.insts[inst].call, o->sym), times, depth);
    else if (w->m->syms[o->sym].kind == HD_SYM_VAR)
      add_term(w, s, (term){.kind = TERM_VARIABLE, .variable = o->sym, .times = times});
    else
      s->ok = false;
  } else {
    s->ok = false;
  }
}

/* ---- What two sums have ------------------------------------------------------------------------ */

/* Two products of which one factor is the same: how the other ones differ. */
static difference factors_differ(wait_search *w, uint32_t a, uint32_t b, uint64_t *number, unsigned level) {
  if (level >= MOST_LEVELS) return DIFFER_PERHAPS;
  for (unsigned k = 0; k < 4; k++) {
    const hd_ptx_opnd *o = wait_operands(w, a), *p = wait_operands(w, b);
    sum x = sum_of_operand(w, a, &o[1 + k % 2]), y = sum_of_operand(w, b, &p[1 + k / 2]);
    if (differ(w, &x, &y, number, level + 1) != DIFFER_BY_NUMBER || *number) continue;
    x = sum_of_operand(w, a, &o[2 - k % 2]);
    y = sum_of_operand(w, b, &p[2 - k / 2]);
    return differ(w, &x, &y, number, level + 1);
  }
  return DIFFER_PERHAPS;
}

/* Both have one value: what one instruction has written on the way is the same. */
static bool are_equal(wait_search *w, const term *a, const term *b, unsigned level) {
  uint64_t number;
  if (a->kind != b->kind) return false;
  if (a->kind == TERM_VARIABLE) return a->variable == b->variable;
  if (a->at == b->at && a->reg == b->reg) return true;
  if (a->kind == TERM_PRODUCT)
    return factors_differ(w, a->at, b->at, &number, level) == DIFFER_BY_NUMBER && !number;
  const uint32_t x = written_by(w, a->reg, a->at), y = written_by(w, b->reg, b->at);
  if (x != HD_NONE && x == y) return true;
  if (a->reg != b->reg) return a->kind != TERM_ADDED && wait_same_value(w, a->reg, a->at, b->reg, b->at);
  return wait_comes_before(w, a->at, b->at) ? wait_is_kept_since(w, a->reg, a->at, b->at)
                                            : wait_is_kept_since(w, a->reg, b->at, a->at);
}

/* What a sum adds and takes away again, or adds twice, is one term. */
static void gather(wait_search *w, sum *s, unsigned level) {
  for (uint32_t i = 0; i < s->n; i++)
    for (uint32_t k = 0; k < i && s->terms[i].times; k++) {
      if (!s->terms[k].times || !are_equal(w, &s->terms[k], &s->terms[i], level)) continue;
      s->terms[k].times += s->terms[i].times;
      s->terms[i].times = 0;
    }
}

static void cancel(wait_search *w, sum *x, sum *y, unsigned level) {
  for (uint32_t i = 0; i < x->n; i++)
    for (uint32_t k = 0; k < y->n && x->terms[i].times; k++) {
      if (!y->terms[k].times || !are_equal(w, &x->terms[i], &y->terms[k], level)) continue;
      y->terms[k].times -= x->terms[i].times;
      x->terms[i].times = 0;
    }
}

/* ---- What is left ------------------------------------------------------------------------------ */

typedef struct maker {
  wait_search *w;
  unsigned depth;
  uint8_t made;
} maker;

static uint8_t made_of(wait_search *w, uint32_t reg, unsigned depth);

static void make(void *ctx, uint32_t reg) {
  maker *x = ctx;
  if (!(x->made & MADE_OF_ANYTHING)) x->made |= made_of(x->w, reg, x->depth + 1);
}

/* What an instruction makes of its operands. */
static uint8_t made_by(const wait_search *w, uint32_t at) {
  const hd_ptx_form *f = hd_inst_form(&w->g, at);
  if (hd_inst_stmt(&w->g, at)->guard) return MADE_OF_ANYTHING;
  for (uint32_t k = 1; k < hd_inst_stmt(&w->g, at)->n_opnds; k++) {
    const hd_ptx_opnd *o = &wait_operands(w, at)[k];
    if (o->kind == HD_O_SREG && hd_ptx_sreg_kind(w->m->syms[o->sym].index) == HD_SRK_SCHEDULE)
      return MADE_OF_ANYTHING;
  }
  const hd_ptx_result *r = hd_ptx_op_result(f->op);
  if (!is_wide(w, at))
    return r->makes == HD_MAKES_SUM && r->terms[0].by && hd_ptx_form_has(f, HD_M_HI) ? MADE_BY_DIVISION
                                                                                     : MADE_OF_ANYTHING;
  switch (r->makes) {
  case HD_MAKES_SUM:
  case HD_MAKES_PLACE: return MADE_KNOWN;
  case HD_MAKES_MASKED:
  case HD_MAKES_JOINED:
  case HD_MAKES_QUOTIENT:
  case HD_MAKES_REMAINDER:
  case HD_MAKES_LEAST:
  case HD_MAKES_GREATEST: return MADE_BY_DIVISION;
  default: return MADE_OF_ANYTHING;
  }
}

static uint8_t made_of_result(wait_search *w, uint32_t at, unsigned depth) {
  maker x = {w, depth, MADE_KNOWN};
  if (wait_loads_launch(w, at)) return MADE_KNOWN;
  x.made |= made_by(w, at);
  if (!(x.made & MADE_OF_ANYTHING)) hd_inst_reads(&w->g, at, make, &x);
  return x.made;
}

/* A register that is written in several ways counts, or it is a choice. What is found on the way is not all
 * that there is of registers in a circle, so that only the answer is remembered. */
static uint8_t made_of(wait_search *w, uint32_t reg, unsigned depth) {
  const uint32_t *first = &w->writers.first[reg];
  const uint32_t begun = depth ? 0 : w->n_making;
  uint8_t made = MADE_KNOWN;
  w->steps++;
  if (w->made_of[reg]) return w->made_of[reg];
  if (depth >= MOST_DEPTH) return MADE_OF_ANYTHING;
  w->made_of[reg] = MADE_BY_COUNTING; /* if it is met again */
  w->making[w->n_making++] = reg;
  for (uint32_t i = first[0]; i < first[1] && !(made & MADE_OF_ANYTHING); i++)
    made |= made_of_result(w, w->writers.insts[i], depth);
  if (first[1] - first[0] > 1 && !(made & MADE_BY_COUNTING)) made = MADE_OF_ANYTHING;
  while (!depth && w->n_making > begun) w->made_of[w->making[--w->n_making]] = 0;
  return w->made_of[reg] = made;
}

/* What is added to a counter in all of its additions. */
static uint8_t made_of_steps(wait_search *w, uint32_t reg) {
  uint8_t made = MADE_BY_COUNTING;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++) {
    const uint32_t at = w->writers.insts[i];
    const hd_ptx_opnd *by = step_of(w, at, reg);
    const uint32_t step = by ? wait_register(w, at, by) : HD_NONE;
    if (step != HD_NONE) made |= made_of(w, step, 0) & MADE_OF_ANYTHING;
  }
  return made;
}

static uint8_t made_of_term(wait_search *w, const term *t) {
  maker x = {w, 0, MADE_KNOWN};
  switch (t->kind) {
  case TERM_VARIABLE: return MADE_KNOWN;
  case TERM_ADDED: return made_of_steps(w, t->reg);
  case TERM_PRODUCT: hd_inst_reads(&w->g, t->at, make, &x); return x.made;
  default: return made_of(w, t->reg, 0);
  }
}

/* The plain load that brings a term; HD_NONE. */
static uint32_t loaded_by(wait_search *w, const term *t) {
  const uint32_t at = t->kind == TERM_REGISTER ? written_by(w, t->reg, t->at) : HD_NONE;
  return at != HD_NONE && hd_inst_form(&w->g, at)->op == HD_OP_LD && wait_is_plain_load(w, at) ? at : HD_NONE;
}

/* Every path from one instruction to another, round no loop twice, runs this one. */
static bool lies_between(const wait_search *w, uint32_t from, uint32_t inst, uint32_t to) {
  const hd_block *blocks = w->g.blocks;
  const uint32_t a = w->g.insts[from].block, b = w->g.insts[to].block, c = w->g.insts[inst].block;
  if (a == c ? inst < from : blocks[c].rpo < blocks[a].rpo) return false;
  if (b == c ? inst > to : blocks[c].rpo > blocks[b].rpo) return false;
  uint32_t behind = a;
  while (behind != c && behind != HD_NONE) behind = blocks[behind].ipdom;
  return behind == c || wait_comes_before(w, inst, to);
}

/* A register counts on the way, rather than what it is a quotient of. */
static bool has_gone_on(wait_search *w, const term *a, const term *b) {
  const uint8_t made = made_of_term(w, a);
  const bool forwards = !wait_comes_before(w, b->at, a->at);
  bool steps = false;
  if (!(made & MADE_BY_COUNTING) || made & MADE_OF_ANYTHING) return false;
  for (uint32_t i = w->writers.first[a->reg]; i < w->writers.first[a->reg + 1]; i++) {
    const uint32_t at = w->writers.insts[i];
    if (step_of(w, at, a->reg) || !(made & MADE_BY_DIVISION))
      steps |= lies_between(w, forwards ? a->at : b->at, at, forwards ? b->at : a->at);
  }
  return steps;
}

/* Two terms that stand for different numbers: a counter that has gone on, products of one factor with two, or
 * what is loaded from two places. */
static bool goes_on(wait_search *w, const term *a, const term *b, unsigned level) {
  uint64_t number;
  if (a->times != b->times || a->kind != b->kind || a->kind == TERM_VARIABLE) return false;
  if (a->kind == TERM_PRODUCT) {
    const difference d = factors_differ(w, a->at, b->at, &number, level);
    return d == DIFFER_SURELY || (d == DIFFER_BY_NUMBER && number);
  }
  if (a->reg == b->reg && has_gone_on(w, a, b)) return true;
  const uint32_t x = loaded_by(w, a), y = loaded_by(w, b);
  return x != HD_NONE && y != HD_NONE && compare(w, x, y, level + 1) == WAIT_TWO_PLACES;
}

/* Not 0, however many bits are left of it. */
static bool is_short(uint64_t times) { return times + INT32_MAX <= 2 * (uint64_t)INT32_MAX; }

static uint8_t made_of_rest(wait_search *w, const sum *s) {
  uint8_t made = 0;
  for (uint32_t i = 0; i < s->n; i++)
    if (s->terms[i].times)
      made |= is_short(s->terms[i].times) ? made_of_term(w, &s->terms[i]) : MADE_OF_ANYTHING;
  return made;
}

/* Lets the terms fall out that stand for different numbers. True: there were some. */
static bool drop_different(wait_search *w, sum *x, sum *y, unsigned level) {
  bool some = false;
  for (uint32_t i = 0; i < x->n; i++)
    for (uint32_t k = 0; k < y->n && x->terms[i].times; k++) {
      if (!y->terms[k].times || !goes_on(w, &x->terms[i], &y->terms[k], level)) continue;
      x->terms[i].times = y->terms[k].times = 0;
      some = true;
    }
  return some;
}

/* A register is left on both sides, which may have changed in between, or not. */
static bool share_register(const sum *x, const sum *y) {
  for (uint32_t i = 0; i < x->n; i++)
    for (uint32_t k = 0; k < y->n; k++) {
      const term *a = &x->terms[i], *b = &y->terms[k];
      if (a->times && b->times && a->kind == b->kind && a->reg == b->reg && a->kind < TERM_PRODUCT)
        return true;
    }
  return false;
}

static difference differ(wait_search *w, sum *x, sum *y, uint64_t *number, unsigned level) {
  *number = y->number - x->number;
  if (!x->ok || !y->ok || w->steps >= WAIT_WALK) return DIFFER_PERHAPS;
  cancel(w, x, y, level);
  const bool gone_on = drop_different(w, x, y, level);
  const uint8_t left = made_of_rest(w, x), right = made_of_rest(w, y);
  if ((left | right) & (MADE_OF_ANYTHING | MADE_BY_DIVISION) || share_register(x, y)) return DIFFER_PERHAPS;
  if (gone_on || left || right) return DIFFER_SURELY;
  return !*number || is_short(*number) ? DIFFER_BY_NUMBER : DIFFER_PERHAPS;
}

/* They are in two variables, or behind two parameters. */
static bool have_two_roots(wait_search *w, uint32_t a, uint32_t b) {
  const wait_place p = wait_place_of(w, a), q = wait_place_of(w, b);
  return p.root && q.root && (p.root != q.root || p.slot != q.slot);
}

/* The sum that an address is; NULL: not known which. */
static const sum *address_of(wait_search *w, uint32_t inst) {
  const hd_ptx_opnd *o = wait_address(w, inst);
  if (!w->sums[inst] && o) {
    w->sums[inst] = hd_arena_alloc(w->arena, sizeof(sum), _Alignof(sum));
    *w->sums[inst] = sum_of_operand(w, inst, o);
  }
  return w->sums[inst];
}

static wait_likeness compare(wait_search *w, uint32_t a, uint32_t b, unsigned level) {
  const unsigned m = wait_access(w, a)->bytes, n = wait_access(w, b)->bytes;
  uint64_t apart;
  if (level >= MOST_LEVELS) return WAIT_UNKNOWN_PLACES;
  if (wait_same_place(w, a, b)) return WAIT_ONE_PLACE;
  if (have_two_roots(w, a, b)) return WAIT_TWO_PLACES;
  const sum *of_a = address_of(w, a), *of_b = address_of(w, b);
  if (!of_a || !of_b) return WAIT_UNKNOWN_PLACES;
  sum x = *of_a, y = *of_b;
  switch (differ(w, &x, &y, &apart, level)) {
  case DIFFER_SURELY: return WAIT_TWO_PLACES;
  case DIFFER_BY_NUMBER:
    if (!m || !n) return WAIT_UNKNOWN_PLACES;
    return apart < m || ~apart + 1 < n ? WAIT_ONE_PLACE : WAIT_TWO_PLACES;
  default: return WAIT_UNKNOWN_PLACES;
  }
}

wait_likeness wait_compare_places(wait_search *w, uint32_t a, uint32_t b) { return compare(w, a, b, 0); }
