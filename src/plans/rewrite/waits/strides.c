/* Strides of the launch: numbers that are not 0 if what the launch passes is not.
 *
 * A number is taken apart into a sum of products (products.c). Parameters, sizes of the CTA and the grid, and
 * addresses of variables are what the launch passes. What is left of a sum of them is not taken for 0 if all
 * of it is added or all of it subtracted: one size may be as large as another, or 1. A parameter of fewer
 * than 32 bits is a flag or a small count, which may be 0. Of one of two numbers, or the bits of both, each
 * must be a stride. What is loaded, divided, masked or cut, and a thread's own number, may be 0. */
#include "rewrite/waits/sums.h"

enum { MOST_DEPTH = 8, MOST_FACTOR = 1 << 16, MOST_OF_PLACE = 1 << 24, MOST_THREADS = 1024, LEAST_BITS = 32 };

static wait_worth worth_of(wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth);

static wait_worth smaller(wait_worth a, wait_worth b) { return a < b ? a : b; }

/* A large factor may lose all bits of a number. */
static bool is_small(uint64_t times, uint64_t most) { return times + most <= 2 * most; }

static bool is_size(const wait_search *w, uint32_t at) {
  const hd_ptx_opnd *o = &wait_operands(w, at)[1];
  return hd_inst_form(&w->g, at)->op == HD_OP_MOV && o->kind == HD_O_SREG && wait_positive(w, at, o);
}

static bool loads_stride(const wait_search *w, uint32_t at) {
  hd_ptx_type type[2];
  hd_ptx_types_of(hd_inst_form(&w->g, at), type);
  return type[0].bits >= LEAST_BITS && wait_loads_launch(w, at);
}

/* What the launch passes, as it is. */
static bool is_launched(wait_search *w, const sum_atom *a) {
  if (a->variable) return true;
  const uint32_t at = sum_written_by(w, a->reg, a->at);
  return at != HD_NONE && (loads_stride(w, at) || is_size(w, at));
}

static bool are_launched(wait_search *w, const sum_term *t) {
  for (uint32_t i = 0; i < t->n; i++)
    if (!is_launched(w, &t->atoms[i])) return false;
  return true;
}

bool sum_is_launched(wait_search *w, const sum_term *t) {
  return is_small(t->times, MOST_OF_PLACE) && are_launched(w, t);
}

/* Whether a number is below 0 is known if 32 bits hold it: 4294967295 is -1 in as many. */
bool sum_goes_one_way(const wait_sum *s) {
  const bool below = s->n && (int64_t)s->terms->times < 0;
  for (uint32_t i = 1; i < s->n; i++)
    if (((int64_t)s->terms[i].times < 0) != below) return false;
  return !s->n || !s->number || (is_small(s->number, INT32_MAX) && ((int64_t)s->number < 0) == below);
}

static wait_worth worth_of_sum(wait_search *w, const wait_sum *s, uint64_t most, unsigned depth);

/* A number loses nothing as it is copied to as many bits, or to 32. */
static bool is_kept_whole(const wait_search *w, uint32_t at) {
  const hd_ptx_form *f = hd_inst_form(&w->g, at);
  hd_ptx_type type[2];
  hd_ptx_types_of(f, type);
  for (unsigned k = 0; k < 2; k++)
    if (type[k].format != HD_FMT_NONE || type[k].number == HD_NUM_FLOAT || type[k].elements > 1) return false;
  return type[0].bits && !hd_ptx_form_has(f, HD_M_CC) && (type[0].bits >= type[1].bits || type[0].bits >= 32);
}

static wait_worth worth_of_write(wait_search *w, uint32_t at, unsigned depth) {
  const hd_ptx_opnd *o = wait_operands(w, at);
  const hd_ptx_result *r = wait_result(w, at);
  if (loads_stride(w, at)) return WAIT_OF_LAUNCH;
  if (o[0].kind != HD_O_REG || !is_kept_whole(w, at)) return WAIT_PERHAPS_ZERO;
  switch (r->makes) {
  case HD_MAKES_NEGATED:
  case HD_MAKES_SUM: {
    if (hd_ptx_is_copy(r)) return worth_of(w, at, &o[1], depth);
    const wait_sum s = sum_of_result(w, at);
    return worth_of_sum(w, &s, MOST_FACTOR, depth);
  }
  case HD_MAKES_LEAST:
  case HD_MAKES_GREATEST:
  case HD_MAKES_CHOICE:
  case HD_MAKES_JOINED:
    return smaller(worth_of(w, at, &o[r->terms[0].of], depth), worth_of(w, at, &o[r->terms[1].of], depth));
  default: return WAIT_PERHAPS_ZERO;
  }
}

/* A register may be written in several ways. */
static wait_worth worth_of_atom(wait_search *w, const sum_atom *a, unsigned depth) {
  if (a->variable) return WAIT_OF_LAUNCH;
  const uint32_t *first = &w->writers.first[a->reg], at = sum_written_by(w, a->reg, a->at);
  if (depth >= MOST_DEPTH) return WAIT_PERHAPS_ZERO;
  if (at != HD_NONE) return worth_of_write(w, at, depth + 1);
  wait_worth least = first[0] < first[1] ? WAIT_OF_LAUNCH : WAIT_PERHAPS_ZERO;
  for (uint32_t i = first[0]; i < first[1] && least; i++)
    least = smaller(least, worth_of_write(w, w->writers.insts[i], depth + 1));
  return least;
}

static wait_worth worth_of_sum(wait_search *w, const wait_sum *s, uint64_t most, unsigned depth) {
  wait_worth least = WAIT_OF_LAUNCH;
  bool launched = sum_goes_one_way(s);
  if (!s->ok) return WAIT_PERHAPS_ZERO;
  if (!s->n) return s->number ? WAIT_OF_TEXT : WAIT_PERHAPS_ZERO;
  for (uint32_t i = 0; i < s->n; i++)
    launched = launched && is_small(s->terms[i].times, most) && are_launched(w, &s->terms[i]);
  if (launched) return WAIT_OF_LAUNCH;
  if (s->n > 1 || s->number || !is_small(s->terms->times, most)) return WAIT_PERHAPS_ZERO;
  for (uint32_t k = 0; k < s->terms->n && least; k++)
    least = smaller(least, worth_of_atom(w, &s->terms->atoms[k], depth));
  return least;
}

static wait_worth worth_of(wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth) {
  int64_t value;
  if (wait_constant(w, inst, o, &value)) return value ? WAIT_OF_TEXT : WAIT_PERHAPS_ZERO;
  if (o->kind == HD_O_SREG) return wait_positive(w, inst, o) ? WAIT_OF_LAUNCH : WAIT_PERHAPS_ZERO;
  if (depth >= MOST_DEPTH) return WAIT_PERHAPS_ZERO;
  const wait_sum s = sum_of_operand(w, inst, o);
  return worth_of_sum(w, &s, MOST_FACTOR, depth);
}

wait_worth sum_worth(wait_search *w, const wait_sum *s) { return worth_of_sum(w, s, MOST_OF_PLACE, 0); }

bool wait_is_stride(wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  return worth_of(w, inst, o, 0) != WAIT_PERHAPS_ZERO;
}

/* Parameters and sizes of the grid count as 1. */
int64_t wait_stride_at_most(wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  const wait_sum s = sum_of_operand(w, inst, o);
  int64_t least = 0;
  for (uint32_t i = 0; i < s.n && s.ok; i++) {
    int64_t times = (int64_t)s.terms[i].times;
    if (times < 0) times = -times;
    for (uint32_t k = 0; k < s.terms[i].n && times < INT32_MAX; k++) {
      const sum_atom *a = &s.terms[i].atoms[k];
      const uint32_t at = a->variable ? HD_NONE : sum_written_by(w, a->reg, a->at);
      if (at != HD_NONE && is_size(w, at) && w->m->syms[wait_operands(w, at)[1].sym].index == HD_SR_NTID)
        times *= MOST_THREADS;
    }
    if (times > least) least = times;
  }
  return least;
}

bool wait_steps_by(wait_search *w, uint32_t inst, const hd_ptx_term *t) {
  const wait_sum s = sum_of_term(w, inst, t);
  return worth_of_sum(w, &s, MOST_FACTOR, 0) != WAIT_PERHAPS_ZERO;
}
