/* Strides of the launch: numbers that are not 0 if what the launch passes is not. */
#include "rewrite/waits/waits.h"

enum { MOST_DEPTH = 8, MOST_FACTOR = UINT16_MAX };

/* What is known of a number. What is loaded, divided, masked or cut, or is a thread's own number, may be 0.
 */
typedef enum worth {
  PERHAPS_ZERO = 0,
  OF_TEXT,   /* a number of the text, not 0 */
  OF_LAUNCH, /* made of what the launch passes */
} worth;

static worth worth_of(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth);

static worth larger(worth a, worth b) { return a > b ? a : b; }
static worth smaller(worth a, worth b) { return a < b ? a : b; }

static bool is_whole(hd_ptx_type t) {
  return t.bits && t.format == HD_FMT_NONE && t.number != HD_NUM_FLOAT && t.elements <= 1;
}

/* Products of two numbers of the text, or with a large one, may lose all of their bits. */
static worth worth_of_term(const wait_search *w, uint32_t at, const hd_ptx_term *t, unsigned depth) {
  const hd_ptx_opnd *o = wait_operands(w, at);
  const worth of = worth_of(w, at, &o[t->of], depth);
  int64_t by;
  if (!t->by) return of;
  if (wait_constant(w, at, &o[t->by], &by))
    return of == OF_LAUNCH && (t->power || by) && by >= (t->power ? 0 : -MOST_FACTOR) &&
                   by <= (t->power ? 16 : MOST_FACTOR)
               ? OF_LAUNCH
               : PERHAPS_ZERO;
  const worth factor = t->power ? PERHAPS_ZERO : worth_of(w, at, &o[t->by], depth);
  const bool small = wait_constant(w, at, &o[t->of], &by) && by >= -MOST_FACTOR && by <= MOST_FACTOR;
  return factor == OF_LAUNCH && (of == OF_LAUNCH || (of == OF_TEXT && small)) ? OF_LAUNCH : PERHAPS_ZERO;
}

/* A number that takes nothing from a sum: of the text, or of the launch. */
static bool is_known(const wait_search *w, uint32_t at, const hd_ptx_term *t, worth of) {
  int64_t value;
  return of || (!t->by && wait_constant(w, at, &wait_operands(w, at)[t->of], &value));
}

static worth worth_of_sum(const wait_search *w, uint32_t at, const hd_ptx_result *r, unsigned depth) {
  const hd_ptx_term *t = r->terms;
  const worth first = worth_of_term(w, at, &t[0], depth);
  if (r->n_terms == 1) return first;
  const worth second = worth_of_term(w, at, &t[1], depth);
  const bool cancels = t[1].minus && !t[0].by && wait_operand(w, at, t[0].of) == wait_operand(w, at, t[1].of);
  if (cancels || !is_known(w, at, &t[0], first) || !is_known(w, at, &t[1], second)) return PERHAPS_ZERO;
  return larger(first, second) == OF_LAUNCH ? OF_LAUNCH : PERHAPS_ZERO;
}

/* One of two numbers, or the bits of both. */
static worth worth_of_result(const wait_search *w, uint32_t at, const hd_ptx_result *r, unsigned depth) {
  const hd_ptx_opnd *o = wait_operands(w, at);
  switch (r->makes) {
  case HD_MAKES_SUM: return worth_of_sum(w, at, r, depth);
  case HD_MAKES_LEAST:
  case HD_MAKES_GREATEST:
  case HD_MAKES_CHOICE:
  case HD_MAKES_JOINED:
    return smaller(worth_of(w, at, &o[r->terms[0].of], depth), worth_of(w, at, &o[r->terms[1].of], depth));
  default: return PERHAPS_ZERO;
  }
}

/* A number loses nothing as it is copied to as many bits, or to 32. */
static worth worth_of_write(const wait_search *w, uint32_t at, unsigned depth) {
  const hd_ptx_form *f = hd_inst_form(&w->g, at);
  const hd_ptx_opnd *o = wait_operands(w, at);
  hd_ptx_type type[2];
  uint32_t store;
  if (wait_loads_launch(w, at)) return OF_LAUNCH;
  if (f->op == HD_OP_LD && hd_ptx_form_has(f, HD_M_PARAM)) {
    const hd_ptx_opnd *argument = wait_argument(w, at, &store);
    return argument ? worth_of(w, store, argument, depth) : PERHAPS_ZERO;
  }
  hd_ptx_types_of(f, type);
  if (o[0].kind != HD_O_REG || hd_ptx_form_has(f, HD_M_CC) || !is_whole(type[0])) return PERHAPS_ZERO;
  if (type[1].bits && (!is_whole(type[1]) || (type[0].bits < type[1].bits && type[0].bits < 32)))
    return PERHAPS_ZERO;
  return worth_of_result(w, at, wait_result(w, at), depth);
}

/* A register may be written in several ways. */
static worth worth_of(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth) {
  int64_t value;
  if (wait_constant(w, inst, o, &value)) return value ? OF_TEXT : PERHAPS_ZERO;
  if (o->kind == HD_O_SREG) return wait_positive(w, inst, o) ? OF_LAUNCH : PERHAPS_ZERO;
  const uint32_t reg = wait_register(w, inst, o);
  if (reg == HD_NONE || depth == MOST_DEPTH) return PERHAPS_ZERO;
  const uint32_t *first = &w->writers.first[reg];
  worth least = first[0] < first[1] ? OF_LAUNCH : PERHAPS_ZERO;
  for (uint32_t i = first[0]; i < first[1] && least; i++)
    least = smaller(least, worth_of_write(w, w->writers.insts[i], depth + 1));
  return least;
}

bool wait_is_stride(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  return worth_of(w, inst, o, 0) != PERHAPS_ZERO;
}

bool wait_steps_by(const wait_search *w, uint32_t inst, const hd_ptx_term *t) {
  return worth_of_term(w, inst, t, 0) != PERHAPS_ZERO;
}
