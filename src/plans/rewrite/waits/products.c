/* Numbers taken apart into sums: a number of the text, and products of registers times numbers of the text.
 *
 * Two numbers that are worked out in different ways are the same if all of their difference falls out. Sums
 * wrap as 64 bits do; what overflows in 32 bits is not seen. */
#include "rewrite/waits/sums.h"

enum { MOST_DEPTH = 40, MOST_WRITERS = 16, MOST_STEPS = 4096 };

static void add_operand(wait_search *w, wait_sum *s, uint32_t inst, const hd_ptx_opnd *o, uint64_t times,
                        unsigned depth);

/* ---- Terms -------------------------------------------------------------------------------------- */

bool sum_is_wide(const wait_search *w, uint32_t inst) {
  const hd_ptx_opnd *o = wait_operands(w, inst);
  return hd_ptx_form_is_whole(hd_inst_form(&w->g, inst), 32) && o[0].kind == HD_O_REG && !o[0].part;
}

/* Two atoms that need no search to be seen as one: what a register holds that one instruction writes is the
 * same wherever it is read. */
static bool is_same_atom(const wait_search *w, const sum_atom *a, const sum_atom *b) {
  return a->reg == b->reg && a->variable == b->variable &&
         (a->at == b->at || (!a->variable && wait_only_writer(w, a->reg) != HD_NONE));
}

static void add_term(const wait_search *w, wait_sum *s, const sum_term *t) {
  for (uint32_t i = 0; i < s->n; i++) {
    sum_term *u = &s->terms[i];
    bool same = u->n == t->n;
    for (uint32_t k = 0; k < t->n && same; k++) same = is_same_atom(w, &u->atoms[k], &t->atoms[k]);
    if (!same) continue;
    u->times += t->times;
    return;
  }
  if (s->n < SUM_TERMS)
    s->terms[s->n++] = *t;
  else
    s->ok = false;
}

static void add_atom(const wait_search *w, wait_sum *s, sum_atom a, uint64_t times) {
  if (times) add_term(w, s, &(sum_term){.atoms = {a}, .n = 1, .times = times});
}

/* Adds the product of two terms; one without atoms is a number. */
static void add_product_of(const wait_search *w, wait_sum *s, const sum_term *a, const sum_term *b,
                           uint64_t times) {
  sum_term t = *a;
  t.times = a->times * b->times * times;
  if (!t.times) return;
  if (a->n + b->n > SUM_ATOMS) {
    s->ok = false;
    return;
  }
  for (uint32_t k = 0; k < b->n; k++) t.atoms[t.n++] = b->atoms[k];
  if (t.n)
    add_term(w, s, &t);
  else
    s->number += t.times;
}

static void multiply(const wait_search *w, wait_sum *s, const wait_sum *a, const wait_sum *b,
                     uint64_t times) {
  for (uint32_t i = 0; i <= a->n; i++)
    for (uint32_t k = 0; k <= b->n; k++)
      add_product_of(w, s, i < a->n ? &a->terms[i] : &(sum_term){.times = a->number},
                     k < b->n ? &b->terms[k] : &(sum_term){.times = b->number}, times);
}

/* ---- Registers ---------------------------------------------------------------------------------- */

uint32_t sum_written_by(wait_search *w, uint32_t reg, uint32_t inst) {
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
  const uint32_t reg = wait_register(w, inst, o),
                 at = reg == HD_NONE ? HD_NONE : sum_written_by(w, reg, inst);
  if (at == HD_NONE || depth >= MOST_DEPTH || !sum_is_wide(w, at)) return unknown;
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

/* ---- Sums --------------------------------------------------------------------------------------- */

static bool is_sum(wait_search *w, uint32_t at, const hd_ptx_result *r) {
  if (r->makes == HD_MAKES_JOINED) return joins_bits(w, at);
  if (r->makes == HD_MAKES_PLACE || hd_ptx_is_copy(r)) return wait_operands(w, at)[1].kind != HD_O_SREG;
  return r->makes == HD_MAKES_SUM || r->makes == HD_MAKES_NEGATED;
}

static void add_times(wait_search *w, wait_sum *s, uint32_t at, const hd_ptx_term *t, uint64_t times,
                      unsigned depth) {
  const hd_ptx_opnd *p = wait_operands(w, at);
  int64_t by;
  if (wait_constant(w, at, &p[t->by], &by)) {
    if (t->power && (by < 0 || by > 30))
      s->ok = false;
    else
      add_operand(w, s, at, &p[t->of], t->power ? times << by : times * (uint64_t)by, depth);
  } else if (t->power) {
    s->ok = false;
  } else if (wait_constant(w, at, &p[t->of], &by)) {
    add_operand(w, s, at, &p[t->by], times * (uint64_t)by, depth);
  } else {
    wait_sum a = {.ok = true, .steps = s->steps}, b = a;
    add_operand(w, &a, at, &p[t->of], 1, depth);
    b.steps = a.steps;
    add_operand(w, &b, at, &p[t->by], 1, depth);
    s->steps = b.steps;
    s->ok = s->ok && a.ok && b.ok;
    if (s->ok) multiply(w, s, &a, &b, times);
  }
}

static void add_terms(wait_search *w, wait_sum *s, uint32_t at, const hd_ptx_result *r, uint64_t times,
                      unsigned depth) {
  for (const hd_ptx_term *t = r->terms; t < r->terms + r->n_terms; t++) {
    if (t->by)
      add_times(w, s, at, t, times, depth);
    else
      add_operand(w, s, at, &wait_operands(w, at)[t->of], t->minus ? ~times + 1 : times, depth);
  }
}

/* Takes the result of an instruction apart. False: it is none that is taken apart. */
static bool add_result(wait_search *w, wait_sum *s, uint32_t at, uint64_t times, unsigned depth) {
  const hd_ptx_result *r = wait_result(w, at);
  const hd_ptx_form *f = hd_inst_form(&w->g, at);
  uint32_t store;
  if (f->op == HD_OP_LD && hd_ptx_form_has(f, HD_M_PARAM)) {
    const hd_ptx_opnd *argument = wait_argument(w, at, &store);
    if (argument) add_operand(w, s, store, argument, times, depth);
    return argument;
  }
  if (!sum_is_wide(w, at) || !is_sum(w, at, r)) return false;
  const wait_sum before = *s;
  add_terms(w, s, at, r, times, depth);
  if (s->ok || s->steps >= MOST_STEPS) return true;
  *s = before; /* as a whole */
  return false;
}

static void add_register(wait_search *w, wait_sum *s, uint32_t inst, uint32_t reg, uint64_t times,
                         unsigned depth) {
  const uint32_t at = sum_written_by(w, reg, inst);
  if (at == HD_NONE || !add_result(w, s, at, times, depth + 1))
    add_atom(w, s, (sum_atom){.reg = reg, .at = inst}, times);
}

static void add_operand(wait_search *w, wait_sum *s, uint32_t inst, const hd_ptx_opnd *o, uint64_t times,
                        unsigned depth) {
  int64_t value;
  w->steps++;
  if (o->part || o->flags & HD_OF_NEG || depth >= MOST_DEPTH || s->steps++ >= MOST_STEPS || !s->ok) {
    s->ok = false;
  } else if (o->kind == HD_O_INT) {
    if (wait_constant(w, inst, o, &value)) s->number += times * (uint64_t)value;
  } else if (o->kind == HD_O_REG || o->kind == HD_O_ADDR || o->kind == HD_O_SYM) {
    if (o->kind != HD_O_REG) s->number += times * (uint64_t)o->imm;
    if (!o->sym) return;
    if (w->m->syms[o->sym].kind == HD_SYM_REG)
      add_register(w, s, inst, hd_cfg_reg(&w->g, w->g.insts[inst].call, o->sym), times, depth);
    else if (w->m->syms[o->sym].kind == HD_SYM_VAR)
      add_atom(w, s, (sum_atom){.variable = o->sym}, times);
    else
      s->ok = false;
  } else {
    s->ok = false;
  }
}

/* ---- What two sums have ------------------------------------------------------------------------- */

bool sum_same_atom(wait_search *w, const sum_atom *a, const sum_atom *b) {
  if (a->variable || b->variable) return a->variable == b->variable;
  if (is_same_atom(w, a, b)) return true;
  const uint32_t x = sum_written_by(w, a->reg, a->at), y = sum_written_by(w, b->reg, b->at);
  if (x != HD_NONE && x == y) return true;
  if (a->reg != b->reg) return wait_same_value(w, a->reg, a->at, b->reg, b->at);
  return wait_comes_before(w, a->at, b->at) ? wait_is_kept_since(w, a->reg, a->at, b->at)
                                            : wait_is_kept_since(w, a->reg, b->at, a->at);
}

bool sum_same_atoms(wait_search *w, const sum_term *a, const sum_term *b, sum_atom other[2]) {
  bool found[SUM_ATOMS] = {false};
  uint32_t single = 0;
  if (a->n != b->n) return false;
  for (uint32_t i = 0; i < a->n; i++) {
    uint32_t k = 0;
    while (k < b->n && (found[k] || !sum_same_atom(w, &a->atoms[i], &b->atoms[k]))) k++;
    if (k < b->n)
      found[k] = true;
    else if (!other || single++)
      return false;
    else
      other[0] = a->atoms[i];
  }
  for (uint32_t k = 0; k < b->n && single; k++)
    if (!found[k]) other[1] = b->atoms[k];
  return !other || single;
}

/* Lets terms fall out that are in both, or twice in one (x == y). */
static void merge(wait_search *w, wait_sum *x, wait_sum *y, bool minus) {
  for (uint32_t i = 0; i < x->n; i++)
    for (uint32_t k = 0; k < (x == y ? i : y->n) && x->terms[i].times; k++) {
      sum_term *t = &x->terms[i], *u = &y->terms[k];
      if (!u->times || !sum_same_atoms(w, t, u, NULL)) continue;
      u->times += minus ? ~t->times + 1 : t->times;
      t->times = 0;
    }
}

/* Drops terms that have fallen out. */
static void close_up(wait_search *w, wait_sum *s) {
  uint32_t n = 0;
  if (s->ok) merge(w, s, s, false);
  for (uint32_t i = 0; i < s->n; i++)
    if (s->terms[i].times) s->terms[n++] = s->terms[i];
  s->n = n;
}

wait_sum sum_of_operand(wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  wait_sum s = {.ok = true};
  add_operand(w, &s, inst, o, 1, 0);
  close_up(w, &s);
  return s;
}

wait_sum sum_of_result(wait_search *w, uint32_t at) {
  wait_sum s = {.ok = true};
  s.ok = add_result(w, &s, at, 1, 0) && s.ok;
  close_up(w, &s);
  return s;
}

wait_sum sum_of_term(wait_search *w, uint32_t at, const hd_ptx_term *t) {
  wait_sum s = {.ok = true};
  if (t->by)
    add_times(w, &s, at, t, 1, 0);
  else
    add_operand(w, &s, at, &wait_operands(w, at)[t->of], 1, 0);
  close_up(w, &s);
  return s;
}

void sum_scale(const wait_search *w, wait_sum *s, const sum_term *by) {
  const wait_sum before = *s;
  s->n = 0;
  s->number = 0;
  for (uint32_t i = 0; i <= before.n; i++)
    add_product_of(w, s, i < before.n ? &before.terms[i] : &(sum_term){.times = before.number}, by, 1);
}

wait_sum sum_difference(wait_search *w, const wait_sum *a, const wait_sum *b) {
  wait_sum x = *a, y = *b;
  y.number -= x.number;
  y.ok = x.ok && y.ok;
  if (!y.ok) return y;
  merge(w, &x, &y, true);
  close_up(w, &y);
  for (uint32_t i = 0; i < x.n && y.ok; i++)
    if (x.terms[i].times) {
      y.ok = y.n < SUM_TERMS;
      if (y.ok) y.terms[y.n] = x.terms[i];
      if (y.ok) y.terms[y.n++].times = ~x.terms[i].times + 1;
    }
  return y;
}
