/* Whether two accesses that a thread runs in turn are of one place, where their addresses are worked out in
 * different ways.
 *
 * Both are taken apart into sums (products.c), of which the difference is looked at. If nothing is left of
 * it, they are one place. They are two if a stride of the launch is left (strides.c), or if one register has
 * gone on in between: by strides that are multiples of one, all in one direction, and what else is left does
 * not take them back. Or two values are left that are loaded from two places. A thread's own number, what is
 * loaded from one place, divided or chosen, may be anything; a counter may be where it began. */
#include <string.h>

#include "base/arith.h"
#include "rewrite/waits/sums.h"

enum { MOST_LEVELS = 3 };

static wait_likeness compare(wait_search *w, uint32_t a, uint32_t b, unsigned level);

/* ---- Registers that go on ----------------------------------------------------------------------- */

/* The instruction adds a number, which *by brings, to the register that it writes, or to a copy of it. */
static bool is_step(wait_search *w, uint32_t at, uint32_t reg, wait_sum *by) {
  if (hd_inst_stmt(&w->g, at)->guard) return false;
  const uint32_t copied = wait_copied(w, at), add = copied == HD_NONE ? at : sum_written_by(w, copied, at);
  if (add == HD_NONE || !sum_is_wide(w, add) || !sum_is_wide(w, at)) return false;
  const hd_ptx_result *r = wait_result(w, add);
  if (!hd_ptx_adds_two(r) || (add != at && !wait_is_kept_since(w, reg, add, at))) return false;
  for (unsigned k = 0; k < 2; k++) {
    if (r->terms[k].minus || wait_operand(w, add, r->terms[k].of) != reg) continue;
    const wait_sum none = {.ok = true}, addend = sum_of_term(w, add, &r->terms[1 - k]);
    *by = r->terms[1 - k].minus ? sum_difference(w, &addend, &none) : addend;
    return by->ok;
  }
  return false;
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

/* The instruction may run on a path from one to another, round no loop twice. */
static bool may_lie_between(const wait_search *w, uint32_t from, uint32_t inst, uint32_t to) {
  const hd_block *blocks = w->g.blocks;
  const uint32_t a = w->g.insts[from].block, b = w->g.insts[to].block, c = w->g.insts[inst].block;
  if (a == c ? inst < from : blocks[c].rpo < blocks[a].rpo) return false;
  return b == c ? inst < to : blocks[c].rpo <= blocks[b].rpo;
}

/* The numbers are so small that their products do not overflow. */
static bool is_short(uint64_t times) { return times + INT32_MAX <= 2 * (uint64_t)INT32_MAX; }

/* b is a, times *by / *of. False: it is no multiple of it. */
static bool is_multiple(wait_search *w, const wait_sum *a, const wait_sum *b, int64_t *by, int64_t *of) {
  bool same = a->n == b->n && is_short(a->number) && is_short(b->number);
  *by = (int64_t)(a->n ? 0 : b->number);
  *of = (int64_t)(a->n ? a->terms->times : a->number);
  for (uint32_t i = 0; i < a->n && same; i++) {
    uint32_t k = 0;
    while (k < b->n && !sum_same_atoms(w, &a->terms[i], &b->terms[k], NULL)) k++;
    if (k == b->n) return false;
    if (!i) *by = (int64_t)b->terms[k].times;
    same = is_short(a->terms[i].times) && is_short(b->terms[k].times) &&
           a->terms[i].times * (uint64_t)*by == b->terms[k].times * (uint64_t)*of;
  }
  return same && *by && a->number * (uint64_t)*by == b->number * (uint64_t)*of;
}

static bool is_stride(wait_search *w, const wait_sum *s) {
  bool launched = s->ok && (s->n || s->number) && is_short(s->number) && sum_goes_one_way(s);
  for (uint32_t i = 0; i < s->n && launched; i++) launched = sum_is_launched(w, &s->terms[i]);
  return launched;
}

/* Makes *least the smaller of two strides that are multiples of each other, in one direction. */
static bool take_stride(wait_search *w, wait_sum *least, const wait_sum *s) {
  int64_t by, of;
  if (!is_stride(w, s)) return false;
  if (!least->ok) {
    *least = *s;
    return true;
  }
  if (!is_multiple(w, least, s, &by, &of) || (by < 0) != (of < 0)) return false;
  if (hd_magnitude(by) < hd_magnitude(of)) *least = *s;
  return true;
}

/* Between one reading of a register and another it has gone on by so much at least, or a multiple of that. */
static bool has_gone_on(wait_search *w, const sum_atom *a, const sum_atom *b, wait_sum *stride) {
  bool sure = false;
  if (a->variable || b->variable || a->reg != b->reg) return false;
  stride->ok = false;
  for (uint32_t i = w->writers.first[a->reg]; i < w->writers.first[a->reg + 1]; i++) {
    const uint32_t at = w->writers.insts[i];
    wait_sum by;
    if (!may_lie_between(w, a->at, at, b->at)) continue;
    if (!is_step(w, at, a->reg, &by) || !take_stride(w, stride, &by)) return false;
    sure |= lies_between(w, a->at, at, b->at);
  }
  return sure;
}

/* ---- What is left ------------------------------------------------------------------------------- */

typedef enum difference {
  DIFFER_PERHAPS = 0,
  DIFFER_BY_NUMBER, /* of the text, 0 as well */
  DIFFER_SURELY,
} difference;

/* The plain load that brings an atom; HD_NONE. */
static uint32_t loaded_by(wait_search *w, const sum_atom *a) {
  const uint32_t at = a->variable ? HD_NONE : sum_written_by(w, a->reg, a->at);
  return at != HD_NONE && hd_inst_form(&w->g, at)->op == HD_OP_LD && wait_is_plain_load(w, at) ? at : HD_NONE;
}

/* Two terms of a difference, one for each side: products of strides with two numbers that are not the same.
 * *stride: what the difference of those is at least, if it is known. */
static bool goes_on(wait_search *w, const sum_term *a, const sum_term *b, unsigned level, wait_sum *stride) {
  sum_atom other[2];
  sum_term factor = *a;
  if (a->times + b->times || !sum_same_atoms(w, a, b, other)) return false;
  factor.n = 0;
  for (uint32_t k = 0; k < a->n; k++)
    if (memcmp(&a->atoms[k], &other[0], sizeof *other) != 0) factor.atoms[factor.n++] = a->atoms[k];
  if (factor.n + 1 != a->n || !sum_is_launched(w, &factor)) return false;
  const bool back = has_gone_on(w, &other[0], &other[1], stride);
  if (back) factor.times = ~factor.times + 1;
  if (back || has_gone_on(w, &other[1], &other[0], stride)) {
    sum_scale(w, stride, &factor);
    return true;
  }
  stride->ok = false;
  const uint32_t x = loaded_by(w, &other[0]), y = loaded_by(w, &other[1]);
  return x != HD_NONE && y != HD_NONE && compare(w, x, y, level + 1) == WAIT_TWO_PLACES;
}

/* What is left beside a number that goes on does not take it back. */
static bool stays_apart(wait_search *w, const wait_sum *rest, const wait_sum *stride) {
  int64_t by, of;
  if (!rest->n && !rest->number) return true;
  return stride->ok && is_multiple(w, stride, rest, &by, &of) &&
         ((by < 0) == (of < 0) || hd_magnitude(by) < hd_magnitude(of));
}

/* How far apart two places are, if what a stride is multiplied with is 1. */
static uint64_t least_times(const wait_sum *s) {
  uint64_t least = s->number ? hd_magnitude((int64_t)s->number) : UINT64_MAX;
  for (uint32_t i = 0; i < s->n; i++) {
    const uint64_t times = hd_magnitude((int64_t)s->terms[i].times);
    if (times < least) least = times;
  }
  return least;
}

/* *number: the difference, or what it is a multiple of at least. */
static difference differ(wait_search *w, const wait_sum *x, const wait_sum *y, uint64_t *number,
                         unsigned level) {
  const wait_sum d = sum_difference(w, x, y);
  *number = d.number;
  if (!d.ok || w->steps >= WAIT_WALK) return DIFFER_PERHAPS;
  if (!d.n) return is_short(d.number) ? DIFFER_BY_NUMBER : DIFFER_PERHAPS;
  *number = least_times(&d);
  if (sum_worth(w, &d) != WAIT_PERHAPS_ZERO) return DIFFER_SURELY;
  for (uint32_t i = 0; i < d.n; i++)
    for (uint32_t k = 0; k < i; k++) {
      wait_sum rest = d, stride;
      if (!goes_on(w, &d.terms[i], &d.terms[k], level, &stride)) continue;
      rest.terms[i] = rest.terms[--rest.n];
      rest.terms[k] = rest.terms[--rest.n];
      if (!stays_apart(w, &rest, &stride)) continue;
      if (stride.ok && !stride.n) *number = hd_magnitude((int64_t)(stride.number + rest.number));
      return DIFFER_SURELY;
    }
  return DIFFER_PERHAPS;
}
/* They are in two variables, or behind two parameters. */
static bool have_two_roots(wait_search *w, uint32_t a, uint32_t b) {
  const wait_place p = wait_place_of(w, a), q = wait_place_of(w, b);
  return p.root && q.root && (p.root != q.root || p.slot != q.slot);
}

/* The sum that an address is; NULL: not known which. */
static const wait_sum *address_of(wait_search *w, uint32_t inst) {
  const hd_ptx_opnd *o = wait_address(w, inst);
  if (!w->sums[inst] && o) {
    w->sums[inst] = hd_arena_alloc(w->arena, sizeof(wait_sum), _Alignof(wait_sum));
    *w->sums[inst] = sum_of_operand(w, inst, o);
  }
  return w->sums[inst];
}

static wait_likeness compare(wait_search *w, uint32_t a, uint32_t b, unsigned level) {
  const unsigned m = wait_access(w, a)->bytes, n = wait_access(w, b)->bytes;
  uint64_t apart;
  if (level >= MOST_LEVELS) return WAIT_UNKNOWN_PLACES;
  if (have_two_roots(w, a, b)) return WAIT_TWO_PLACES;
  if (wait_same_place(w, a, b)) return WAIT_ONE_PLACE;
  const wait_sum *x = address_of(w, a), *y = address_of(w, b);
  if (!x || !y) return WAIT_UNKNOWN_PLACES;
  switch (differ(w, x, y, &apart, level)) {
  case DIFFER_SURELY: return m == n || apart >= (m > n ? m : n) ? WAIT_TWO_PLACES : WAIT_UNKNOWN_PLACES;
  case DIFFER_BY_NUMBER:
    if (!m || !n) return WAIT_UNKNOWN_PLACES;
    return apart < m || ~apart + 1 < n ? WAIT_ONE_PLACE : WAIT_TWO_PLACES;
  default: return WAIT_UNKNOWN_PLACES;
  }
}

wait_likeness wait_compare_places(wait_search *w, uint32_t a, uint32_t b) { return compare(w, a, b, 0); }

/* ---- Windows ------------------------------------------------------------------------------------ */

/* The only instruction of the region that writes a register; HD_NONE. */
static uint32_t writer_inside(wait_search *w, uint32_t reg) {
  uint32_t only = HD_NONE;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++) {
    if (!wait_inside(w, w->writers.insts[i])) continue;
    if (only != HD_NONE) return HD_NONE;
    only = w->writers.insts[i];
  }
  return only;
}

/* By how much one term of a sum goes on in each round of the region. False: it stays, or it is not known. */
static bool term_step(wait_search *w, const sum_term *t, wait_sum *step) {
  for (uint32_t k = 0; k < t->n; k++) {
    sum_term factor = *t;
    if (t->atoms[k].variable || !wait_written_inside(w, t->atoms[k].reg)) continue;
    const uint32_t at = writer_inside(w, t->atoms[k].reg);
    factor.atoms[k] = factor.atoms[--factor.n];
    if (at == HD_NONE || !sum_is_launched(w, &factor) || !is_step(w, at, t->atoms[k].reg, step)) return false;
    sum_scale(w, step, &factor);
    return step->ok;
  }
  return false;
}

bool wait_slides(wait_search *w, uint32_t a, uint32_t b, int64_t *rounds) {
  const wait_sum *x = address_of(w, a), *y = address_of(w, b);
  if (!x || !y || !x->ok) return false;
  const wait_sum apart = sum_difference(w, x, y);
  int64_t by, of;
  w->steps++;
  *rounds = 0;
  if (!apart.ok) return false;
  if (!apart.n && !apart.number) return true;
  for (uint32_t i = 0; i < x->n; i++) {
    wait_sum step;
    if (!term_step(w, &x->terms[i], &step) || !is_multiple(w, &step, &apart, &by, &of) || by % of) continue;
    *rounds = by / of;
    return true;
  }
  return false;
}
