/* Chains: what a register is written from, round for round. */
#include "rewrite/waits/chain.h"

enum { MOST_BLOCKS_BACK = 10, MOST_COPIES = 4 };

#define UNKNOWN_REACH (INT64_C(1) << 50)

/* ---- Steps -------------------------------------------------------------------------------------- */

static bool add_edge(chain *c, unsigned to, uint32_t reg, bool step, uint32_t inst) {
  unsigned from = 0;
  if (reg == HD_NONE) return false;
  while (from < c->n && c->regs[from] != reg) from++;
  if (from == CHAIN_REGS || c->n_edges == CHAIN_EDGES) return false;
  if (from == c->n) c->regs[c->n++] = reg;
  c->edges[c->n_edges++] = (chain_edge){.to = (uint8_t)to,
                                        .from = (uint8_t)from,
                                        .step = step,
                                        .pred = HD_NONE,
                                        .block = c->w->g.insts[inst].block};
  return true;
}

/* Plain arithmetic of whole numbers: its type; number HD_NUM_NONE: it is none. Floats stop growing at 2^24.
 */
static hd_ptx_type arithmetic(const wait_search *w, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  hd_ptx_type type = f->n_mods == 1 ? hd_ptx_type_of(f->mods[0]) : (hd_ptx_type){0};
  return type.format == HD_FMT_NONE && type.elements == 1 && type.number != HD_NUM_FLOAT ? type
                                                                                         : (hd_ptx_type){0};
}

/* What an operand may be: bits. */
enum { NEGATIVE = 1, ZERO = 2, POSITIVE = 4, ANY = 7 };

static unsigned mirrored_sign(unsigned sign) {
  return (sign & ZERO) | (sign & NEGATIVE) << 2 | (sign & POSITIVE) >> 2;
}

/* Widened as an unsigned number, -1 is 2^32 - 1. */
static unsigned kept_sign(const hd_ptx_form *f, unsigned sign) {
  hd_ptx_type type[2];
  hd_ptx_types_of(f, type);
  const bool widens = f->op == HD_OP_CVT && type[0].bits > type[1].bits;
  return widens && type[1].number == HD_NUM_UNSIGNED && sign & NEGATIVE ? ANY : sign;
}

/* The number of the text that an operand is, in the bits that the instruction works with. */
static bool number_of(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, int64_t *value) {
  hd_ptx_type type[2];
  hd_ptx_types_of(hd_inst_form(&w->g, inst), type);
  if (!wait_constant(w, inst, o, value)) return false;
  *value = wait_word(*value, type[0].bits / 8u);
  return true;
}

/* The operand that the instruction takes away from 0; 0: it does something else. */
static unsigned negated(const wait_search *w, uint32_t inst) {
  const hd_ptx_result *r = wait_result(w, inst);
  int64_t zero;
  if (r->makes == HD_MAKES_NEGATED) return r->terms[0].of;
  if (!hd_ptx_adds_two(r) || !r->terms[1].minus) return 0;
  return wait_constant(w, inst, &wait_operands(w, inst)[r->terms[0].of], &zero) && !zero ? r->terms[1].of : 0;
}

static unsigned sign_of(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth) {
  int64_t value, by;
  if (number_of(w, inst, o, &value))
    return value < INT32_MIN || value > INT32_MAX ? ANY : value < 0 ? NEGATIVE : value ? POSITIVE : ZERO;
  if (wait_positive(w, inst, o)) return POSITIVE;
  uint32_t reg = wait_register(w, inst, o);
  if (reg == HD_NONE || depth == MOST_COPIES) return ANY;
  unsigned sign = 0;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++) {
    uint32_t at = w->writers.insts[i];
    const hd_ptx_form *f = hd_inst_form(&w->g, at);
    const hd_ptx_opnd *p = wait_operands(w, at);
    uint32_t n = hd_inst_stmt(&w->g, at)->n_opnds;
    hd_ptx_type type = arithmetic(w, at);
    if (f->op == HD_OP_SELP && n == 4)
      sign |= sign_of(w, at, &p[1], depth + 1) | sign_of(w, at, &p[2], depth + 1);
    else if ((wait_moves_whole(w, at) || wait_copied(w, at) != HD_NONE) && n == 2)
      sign |= kept_sign(f, sign_of(w, at, &p[1], depth + 1));
    else if (negated(w, at) && type.number == HD_NUM_SIGNED)
      sign |= mirrored_sign(sign_of(w, at, &p[negated(w, at)], depth + 1));
    else if (f->op == HD_OP_SHR && type.number == HD_NUM_SIGNED && n == 3 &&
             wait_constant(w, at, &p[2], &by) && by == type.bits - 1)
      sign |= NEGATIVE | ZERO;
    else if (f->op == HD_OP_SHR && type.number == HD_NUM_UNSIGNED && n == 3 &&
             wait_constant(w, at, &p[2], &by) && by >= 1)
      sign |= ZERO | POSITIVE;
    else if (f->op == HD_OP_AND && n == 3 && wait_constant(w, at, &p[2], &by) && by >= 0 && by <= INT32_MAX)
      sign |= ZERO | POSITIVE;
    else
      return ANY;
  }
  return sign ? sign : ANY;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* How far an addend goes at most, up or down: in the grids that a launch has, or in the largest. */
static int64_t reach_of(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, bool largest,
                        unsigned depth) {
  int64_t value, most = 0;
  if (number_of(w, inst, o, &value))
    return value < -UNKNOWN_REACH || value > UNKNOWN_REACH ? UNKNOWN_REACH : value < 0 ? -value : value;
  if (wait_positive(w, inst, o)) {
    most = largest ? wait_most(w, inst, o) : wait_greatest(w, inst, o);
    return most ? most : UNKNOWN_REACH;
  }
  const uint32_t reg = wait_register(w, inst, o);
  if (reg == HD_NONE || depth == MOST_COPIES) return UNKNOWN_REACH;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++) {
    const uint32_t at = w->writers.insts[i];
    const hd_ptx_op op = hd_inst_form(&w->g, at)->op;
    const hd_ptx_opnd *p = wait_operands(w, at);
    const uint32_t n = hd_inst_stmt(&w->g, at)->n_opnds;
    if (op == HD_OP_SELP && n == 4)
      most = larger(most, larger(reach_of(w, at, &p[1], largest, depth + 1),
                                 reach_of(w, at, &p[2], largest, depth + 1)));
    else if (n == 2 && (wait_moves_whole(w, at) || wait_copied(w, at) != HD_NONE))
      most = larger(most, reach_of(w, at, &p[1], largest, depth + 1));
    else if (negated(w, at))
      most = larger(most, reach_of(w, at, &p[negated(w, at)], largest, depth + 1));
    else if (op == HD_OP_AND && n == 3 && wait_constant(w, at, &p[2], &value) && value >= 0)
      most = larger(most, value);
    else if (op == HD_OP_SHR && n == 3 && wait_constant(w, at, &p[2], &value) && value >= 0 && value < 64 &&
             arithmetic(w, at).bits > value)
      most =
          larger(most, arithmetic(w, at).bits - value > 50 ? UNKNOWN_REACH
                                                           : INT64_C(1) << (arithmetic(w, at).bits - value));
    else
      return UNKNOWN_REACH;
  }
  return most > UNKNOWN_REACH ? UNKNOWN_REACH : most;
}

/* `most`: as much as it may be in the largest grid. */
static bool add_step(chain *c, uint32_t inst, int64_t by, int64_t most) {
  c->adds = true;
  for (uint32_t i = 0; i < c->n_steps; i++)
    if (c->steps[i] == inst) return true;
  if (c->n_steps == CHAIN_STEPS) return false;
  c->steps[c->n_steps++] = inst;
  c->sum += by;
  c->most_sum += most;
  return true;
}

/* The addend is one of two numbers of the text, of which one is 0: the other, and when it is that. */
static bool chosen(const wait_search *w, uint32_t inst, uint32_t addend, uint32_t *pred, bool *when,
                   int64_t *value) {
  const uint32_t reg = wait_operand(w, inst, addend);
  const uint32_t at = reg == HD_NONE ? HD_NONE : wait_only_writer_inside(w, reg);
  int64_t other;
  if (at == HD_NONE || at > inst || w->g.insts[at].block != w->g.insts[inst].block) return false;
  const hd_ptx_opnd *o = wait_operands(w, at);
  if (hd_inst_form(&w->g, at)->op != HD_OP_SELP || hd_inst_stmt(&w->g, at)->n_opnds != 4) return false;
  if (!number_of(w, at, &o[1], value) || !number_of(w, at, &o[2], &other)) return false;
  if ((*value != 0) == (other != 0)) return false;
  *when = *value != 0;
  if (!*value) *value = other;
  *pred = wait_operand(w, at, 3);
  return *pred != HD_NONE;
}

bool chain_choice(const wait_search *w, uint32_t inst, uint32_t *pred, bool *when) {
  const hd_ptx_result *r = wait_result(w, inst);
  int64_t value;
  if (!hd_ptx_adds_two(r)) return false;
  for (uint32_t k = 2; k >= 1u + r->terms[1].minus; k--)
    if (chosen(w, inst, k, pred, when, &value)) return true;
  return false;
}

/* add or sub of a number in the chain's direction: the register that moves. *step: the number is never 0. */
static uint32_t stepped(chain *c, uint32_t inst, bool *step) {
  const wait_search *w = c->w;
  const hd_ptx_result *r = wait_result(w, inst);
  const hd_ptx_term *t = r->terms;
  hd_ptx_type type = arithmetic(w, inst), types[2];
  const hd_ptx_opnd *o = wait_operands(w, inst);
  if (r->makes == HD_MAKES_SUM && r->n_terms == 2 && t->by && !t->power && c->up &&
      wait_product_positive(w, inst, &o[t->of], &o[t->by])) {
    hd_ptx_types_of(hd_inst_form(&w->g, inst), types);
    *step = true;
    c->one = c->even = c->launched = false;
    if (!add_step(c, inst, wait_greatest_product(w, inst, &o[t->of], &o[t->by]),
                  wait_most_product(w, inst, &o[t->of], &o[t->by])))
      return HD_NONE;
    if (types[0].bits < c->bits) c->bits = types[0].bits;
    return wait_register(w, inst, &o[t[1].of]);
  }
  if (!hd_ptx_adds_two(r) || type.number == HD_NUM_NONE) return HD_NONE;
  for (unsigned by = 2; by >= 1u + t[1].minus; by--) {
    unsigned sign = sign_of(w, inst, &o[by], 0);
    if (t[1].minus) sign = mirrored_sign(sign);
    if (sign & (c->up ? NEGATIVE : POSITIVE)) continue;
    int64_t value = 0;
    uint32_t pred;
    bool when, number = number_of(w, inst, &o[by], &value) || chosen(w, inst, by, &pred, &when, &value);
    *step = !(sign & ZERO);
    c->one &= number && (value == 1 || value == -1);
    if (number && value < 0) value = -value;
    if (!add_step(c, inst, number ? value : reach_of(w, inst, &o[by], false, 0),
                  number ? value : reach_of(w, inst, &o[by], true, 0)))
      return HD_NONE;
    if (number && value > c->most) c->most = value;
    if (number && (!c->least || value < c->least)) c->least = value;
    c->even &= number;
    c->launched &= number || wait_positive(w, inst, &o[by]);
    if (type.bits < c->bits) c->bits = type.bits;
    return wait_register(w, inst, &o[3 - by]);
  }
  return HD_NONE;
}

/* ---- Halves ------------------------------------------------------------------------------------- */

static uint32_t copied_from(const wait_search *w, uint32_t reg, uint32_t one, uint32_t other) {
  for (unsigned k = 0; k < MOST_COPIES && reg != HD_NONE && reg != one && reg != other; k++) {
    uint32_t at = wait_only_writer_inside(w, reg);
    reg = at == HD_NONE ? HD_NONE : wait_copied(w, at);
  }
  return reg;
}

bool chain_is_op(const wait_search *w, uint32_t inst, hd_ptx_op op, uint32_t n_opnds) {
  return inst != HD_NONE && hd_inst_form(&w->g, inst)->op == op &&
         arithmetic(w, inst).number != HD_NUM_NONE && hd_inst_stmt(&w->g, inst)->n_opnds == n_opnds;
}

static bool shifts_by(const wait_search *w, uint32_t inst, int64_t least, int64_t most) {
  int64_t by;
  return chain_is_op(w, inst, HD_OP_SHR, 3) && wait_constant(w, inst, &wait_operands(w, inst)[2], &by) &&
         by >= least && by <= most;
}

static uint32_t writer(const wait_search *w, uint32_t reg) {
  return reg == HD_NONE ? HD_NONE : wait_only_writer_inside(w, reg);
}

/* x >> 1, x / 2, and (x + (x >> 31)) >> 1, a signed division: x; HD_NONE. */
static uint32_t half_of(const wait_search *w, uint32_t inst) {
  int64_t two;
  if (chain_is_op(w, inst, HD_OP_DIV, 3) && wait_constant(w, inst, &wait_operands(w, inst)[2], &two) &&
      two == 2)
    return wait_operand(w, inst, 1);
  if (inst == HD_NONE || !shifts_by(w, inst, 1, 1)) return HD_NONE;
  uint32_t x = wait_operand(w, inst, 1), sum = writer(w, x);
  if (!chain_is_op(w, sum, HD_OP_ADD, 3)) return x;
  for (unsigned k = 1; k <= 2; k++) {
    uint32_t sign = writer(w, wait_operand(w, sum, k));
    if (sign != HD_NONE && shifts_by(w, sign, 31, 63) &&
        wait_operand(w, sign, 1) == wait_operand(w, sum, 3 - k))
      return wait_operand(w, sum, 3 - k);
  }
  return x;
}

static bool is_pair(const chain *c, uint32_t a, uint32_t b) {
  a = copied_from(c->w, a, c->low, c->high);
  b = copied_from(c->w, b, c->low, c->high);
  return (a == c->low && b == c->high) || (a == c->high && b == c->low);
}

static bool has_room(const chain *c, uint32_t half, uint32_t sum) {
  if (arithmetic(c->w, sum).bits == 64) return true;
  return c->met ? arithmetic(c->w, half).number == HD_NUM_SIGNED : !c->overflows;
}

/* low <= result < high: half of their sum, if there is room for it, or low and half of the distance. */
static bool is_middle(const chain *c, uint32_t inst) {
  const wait_search *w = c->w;
  if (c->low == HD_NONE) return false;
  uint32_t sum = writer(w, half_of(w, inst));
  if (chain_is_op(w, sum, HD_OP_ADD, 3) && has_room(c, inst, sum) &&
      is_pair(c, wait_operand(w, sum, 1), wait_operand(w, sum, 2)))
    return true;
  if (!chain_is_op(w, inst, HD_OP_ADD, 3)) return false;
  for (unsigned k = 1; k <= 2; k++) {
    if (copied_from(w, wait_operand(w, inst, k), c->low, c->low) != c->low) continue;
    uint32_t distance = writer(w, half_of(w, writer(w, wait_operand(w, inst, 3 - k))));
    if (chain_is_op(w, distance, HD_OP_SUB, 3) &&
        copied_from(w, wait_operand(w, distance, 1), c->high, c->high) == c->high &&
        copied_from(w, wait_operand(w, distance, 2), c->low, c->low) == c->low)
      return true;
  }
  return false;
}

/* What is left of a number above 0: its half, or the rest without that and one more. *step: it is less for
 * sure.
 */
static uint32_t lessened(const chain *c, uint32_t inst, bool *step) {
  const wait_search *w = c->w;
  if (!c->halves) return HD_NONE;
  *step = true;
  if (shifts_by(w, inst, 1, 63) && (c->halves_signed || arithmetic(w, inst).number != HD_NUM_SIGNED)) {
    uint32_t x = half_of(w, inst);
    return x == HD_NONE ? wait_operand(w, inst, 1) : x;
  }
  uint32_t x = wait_operand(w, inst, 1);
  if (x == HD_NONE) return HD_NONE;
  if (chain_is_op(w, inst, HD_OP_SUB, 3)) {
    uint32_t part = writer(w, wait_operand(w, inst, 2));
    int64_t more;
    *step = chain_is_op(w, part, HD_OP_ADD, 3) && wait_constant(w, part, &wait_operands(w, part)[2], &more) &&
            more == 1;
    if (*step) part = writer(w, wait_operand(w, part, 1));
    uint32_t whole = half_of(w, part);
    return whole != HD_NONE && copied_from(w, whole, x, x) == x ? x : HD_NONE;
  }
  if (!chain_is_op(w, inst, HD_OP_ADD, 3)) return HD_NONE;
  for (unsigned k = 1; k <= 2; k++) {
    uint32_t from = wait_operand(w, inst, k), inverse = writer(w, wait_operand(w, inst, 3 - k));
    if (from == HD_NONE || !chain_is_op(w, inverse, HD_OP_NOT, 2)) continue;
    uint32_t whole = half_of(w, writer(w, wait_operand(w, inverse, 1)));
    if (whole != HD_NONE && copied_from(w, whole, from, from) == from) return from;
  }
  return HD_NONE;
}

/* ---- Chains ------------------------------------------------------------------------------------- */

static bool add_selection(chain *c, unsigned to, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&c->w->g, inst);
  if (f->op != HD_OP_SELP || hd_inst_stmt(&c->w->g, inst)->n_opnds != 4) return false;
  uint32_t pred = wait_operand(c->w, inst, 3);
  for (unsigned k = 1; k <= 2; k++) {
    if (pred == HD_NONE || !add_edge(c, to, wait_operand(c->w, inst, k), false, inst)) return false;
    c->edges[c->n_edges - 1].pred = pred;
    c->edges[c->n_edges - 1].when = k == 1;
  }
  return true;
}

/* cvt to fewer bits of what was widened from as few: the register that was widened. */
static uint32_t widened_before(const wait_search *w, uint32_t inst) {
  hd_ptx_type to[2], from[2];
  if (hd_inst_form(&w->g, inst)->op != HD_OP_CVT || hd_inst_stmt(&w->g, inst)->n_opnds != 2) return HD_NONE;
  uint32_t at = writer(w, wait_operand(w, inst, 1)), source = at == HD_NONE ? HD_NONE : wait_copied(w, at);
  if (source == HD_NONE || hd_inst_form(&w->g, at)->op != HD_OP_CVT) return HD_NONE;
  hd_ptx_types_of(hd_inst_form(&w->g, inst), to);
  hd_ptx_types_of(hd_inst_form(&w->g, at), from);
  return to[0].format == HD_FMT_NONE && to[0].number != HD_NUM_FLOAT && to[0].bits == from[1].bits &&
                 !hd_ptx_form_has(hd_inst_form(&w->g, inst), HD_M_SAT)
             ? source
             : HD_NONE;
}

uint32_t chain_write_before(const wait_search *w, uint32_t inst, uint32_t reg) {
  uint32_t block = w->g.insts[inst].block, end = inst;
  for (unsigned k = 0; k < MOST_BLOCKS_BACK; k++) {
    uint32_t last = HD_NONE;
    const hd_block *b = &w->g.blocks[block];
    for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++) {
      uint32_t at = w->writers.insts[i];
      if (at >= b->first && at < end && (last == HD_NONE || at > last)) last = at;
    }
    if (last != HD_NONE) return hd_inst_stmt(&w->g, last)->guard ? HD_NONE : last;
    if (b->n_pred != 1 || w->in[w->g.edges[b->first_pred]] != w->stamp) return HD_NONE;
    block = w->g.edges[b->first_pred];
    end = w->g.blocks[block].first + w->g.blocks[block].n_insts;
  }
  return HD_NONE;
}

static bool add_write(chain *c, unsigned to, uint32_t inst, bool stepped_since, unsigned depth);

/* The register `to` is written by `inst` from `reg`: where one write of that is the only one that can be
 * found, from what it is written from. */
static bool add_source(chain *c, unsigned to, uint32_t reg, bool step, uint32_t inst, unsigned depth) {
  if (reg == HD_NONE) return false;
  uint32_t before =
      wait_only_writer_inside(c->w, reg) == HD_NONE ? chain_write_before(c->w, inst, reg) : HD_NONE;
  if (before != HD_NONE && depth < MOST_COPIES) return add_write(c, to, before, step, depth + 1);
  return add_edge(c, to, reg, step, inst);
}

/* A step by one of two numbers, of which one is 0, is taken as the branch that it stands for. */
static bool add_choice(chain *c, unsigned to, uint32_t from, uint32_t inst) {
  uint32_t pred;
  bool when;
  if (!chain_choice(c->w, inst, &pred, &when)) return false;
  if (wait_only_writer_inside(c->w, from) == HD_NONE && chain_write_before(c->w, inst, from) != HD_NONE)
    return false;
  for (unsigned moves = 0; moves < 2; moves++) {
    if (!add_edge(c, to, from, moves, inst)) return false;
    c->edges[c->n_edges - 1].pred = pred;
    c->edges[c->n_edges - 1].when = moves == when;
  }
  return true;
}

static bool add_write(chain *c, unsigned to, uint32_t inst, bool stepped_since, unsigned depth) {
  uint32_t from = wait_copied(c->w, inst);
  bool step;
  if (from == HD_NONE) from = widened_before(c->w, inst);
  if (from != HD_NONE) return add_source(c, to, from, stepped_since, inst, depth);
  if (is_middle(c, inst)) {
    c->middle = true;
    step = c->up ? c->wide : !c->inclusive;
    return add_edge(c, to, c->up ? c->low : c->high, stepped_since || step, inst);
  }
  if ((from = stepped(c, inst, &step)) != HD_NONE) {
    if (!step && !stepped_since && depth == 0 && add_choice(c, to, from, inst)) return true;
    return add_source(c, to, from, step || stepped_since, inst, depth);
  }
  if ((from = lessened(c, inst, &step)) != HD_NONE) return add_edge(c, to, from, step || stepped_since, inst);
  return !stepped_since && depth == 0 && add_selection(c, to, inst);
}

/* False: some register is written from elsewhere, or moves the other way. */
bool chain_close(chain *c, uint32_t reg) {
  const wait_search *w = c->w;
  c->one = c->even = c->launched = true;
  c->bits = 64;
  c->regs[c->n++] = reg;
  for (unsigned k = 0; k < c->n; k++)
    for (uint32_t i = w->writers.first[c->regs[k]]; i < w->writers.first[c->regs[k] + 1]; i++)
      if (wait_inside(w, w->writers.insts[i]) && !add_write(c, k, w->writers.insts[i], false, 0))
        return false;
  return true;
}

/* Some circle of copies has no step in it. */
static bool stands_still(const chain *c, uint32_t block, uint32_t pred, bool when) {
  uint16_t to[CHAIN_REGS] = {0};
  for (unsigned i = 0; i < c->n_edges; i++) {
    const chain_edge *e = &c->edges[i];
    bool other = e->pred != HD_NONE && e->pred == pred && e->when != when && e->block == block;
    if (!e->step && !other) to[e->from] |= (uint16_t)(1u << e->to);
  }
  for (unsigned k = 0; k < c->n; k++)
    for (unsigned i = 0; i < c->n; i++)
      if (to[i] >> k & 1) to[i] |= to[k];
  for (unsigned i = 0; i < c->n; i++)
    if (to[i] >> i & 1) return true;
  return false;
}

/* Every round through the block, those where pred is `when`, moves the chain on. */
bool chain_advances(const chain *c, uint32_t block, uint32_t pred, bool when) {
  wait_search *w = c->w;
  if (stands_still(c, block, pred, when)) return false;
  for (unsigned k = 0; k < c->n; k++) {
    uint32_t through[CHAIN_EDGES], n = 0;
    for (uint32_t i = w->writers.first[c->regs[k]]; i < w->writers.first[c->regs[k] + 1]; i++) {
      uint32_t at = w->writers.insts[i];
      const hd_ptx_stmt *s = hd_inst_stmt(&w->g, at);
      if (!wait_inside(w, at)) continue;
      if (s->guard) {
        bool runs = pred == hd_cfg_reg(&w->g, w->g.insts[at].call, s->guard) && when != (bool)s->guard_neg &&
                    w->g.insts[at].block == block;
        if (!runs) continue;
      }
      if (n < CHAIN_EDGES) through[n++] = w->g.insts[at].block;
    }
    w->steps += n + 1;
    if (!wait_every_round(w, block, through, n)) return false;
  }
  return true;
}

/* ---- Pace --------------------------------------------------------------------------------------- */

/* Steps of the chain among these instructions: `same` itself, and how many in all. */
static uint32_t count_steps(const chain *c, uint32_t first, uint32_t end, uint32_t same, bool *again) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->n_steps; i++) {
    const bool here = c->steps[i] >= first && c->steps[i] < end;
    n += here;
    *again |= here && c->steps[i] == same;
  }
  return n;
}

/* How many steps may follow a step before the comparison runs; *again: the same one. */
static uint32_t steps_behind(const chain *c, uint32_t step, uint32_t setp, bool *again) {
  wait_search *w = c->w;
  const uint32_t home = w->g.insts[setp].block;
  uint32_t block = w->g.insts[step].block, top = 0, found = 0, *stack = w->part;
  const uint32_t mark = ++w->pace;
  const hd_block *b = &w->g.blocks[block];
  if (block == home && step < setp) return count_steps(c, step + 1, setp, step, again);
  found += count_steps(c, step + 1, b->first + b->n_insts, step, again);
  stack[top++] = block;
  w->steps += w->n_blocks;
  while (top) {
    b = &w->g.blocks[stack[--top]];
    for (uint32_t k = 0; k < b->n_succ; k++) {
      const uint32_t to = w->g.edges[b->first_succ + k];
      const hd_block *next = &w->g.blocks[to];
      if (w->in[to] != w->stamp || w->seen_pace[to] == mark) continue;
      w->seen_pace[to] = mark;
      found += count_steps(c, next->first, to == home ? setp : next->first + next->n_insts, step, again);
      if (to != home) stack[top++] = to;
    }
  }
  return found;
}

chain_pace chain_pace_at(const chain *c, uint32_t setp, uint32_t exit) {
  bool again = false;
  uint32_t behind = 0;
  if (!wait_every_round(c->w, c->w->g.insts[setp].block, &exit, 1)) return CHAIN_ANY;
  for (uint32_t i = 0; i < c->n_steps; i++) behind += steps_behind(c, c->steps[i], setp, &again);
  return again ? CHAIN_ANY : behind ? CHAIN_EACH : CHAIN_SINGLE;
}
