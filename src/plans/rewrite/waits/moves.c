/* Addresses that move on, and bounds that counters pass. */
#include "rewrite/waits/chain.h"

enum {
  MOST_PEELS = 10,
  MOST_MOVERS = 32,
};

/* ---- Addresses ---------------------------------------------------------------------------------- */

/* Multiplied so far, on the way back from an address: bits that all steps lose together. */
typedef struct loss {
  unsigned narrow; /* in 32 bits or less */
  unsigned all;    /* narrow, too */
} loss;

unsigned wait_log2(int64_t number) {
  unsigned n = 0;
  while (n < 62 && number >> n > 1) n++;
  return n;
}

static void lose(loss *l, const hd_ptx_form *f, unsigned bits) {
  hd_ptx_type type[2];
  hd_ptx_types_of(f, type);
  if (type[0].bits <= 32 && !hd_ptx_form_has(f, HD_M_WIDE)) l->narrow += bits;
  l->all += bits;
}

static uint32_t peel_product(const wait_search *w, uint32_t inst, const hd_ptx_term *t, loss *l) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  const hd_ptx_opnd *o = wait_operands(w, inst);
  int64_t by;
  if (t->power) {
    if (!wait_constant(w, inst, &o[t->by], &by) || by < 0 || by >= 16) return HD_NONE;
    lose(l, f, (unsigned)by);
    return wait_operand(w, inst, t->of);
  }
  const bool second = wait_positive(w, inst, &o[t->by]);
  const uint32_t factor = second ? t->by : t->of;
  if (!second && !wait_positive(w, inst, &o[factor])) return HD_NONE;
  lose(l, f, wait_log2(wait_most(w, inst, &o[factor])));
  return wait_operand(w, inst, second ? t->of : t->by);
}

/* The register that one is worked out from by adding what does not change, multiplying by a positive number,
 * and widening; HD_NONE. */
static uint32_t peel(const wait_search *w, uint32_t inst, loss *l) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  const hd_ptx_opnd *o = wait_operands(w, inst);
  const hd_ptx_result *r = wait_result(w, inst);
  const hd_ptx_term *t = r->terms;
  const uint32_t from = wait_copied(w, inst);
  if (from != HD_NONE) return from;
  if (r->makes != HD_MAKES_SUM || hd_ptx_form_has(f, HD_M_CC)) return HD_NONE;
  if (r->n_terms == 1) return t->by ? peel_product(w, inst, t, l) : HD_NONE;
  const bool stays = wait_invariant(w, inst, &o[t[1].of]);
  if (t[0].by) {
    if (stays) return peel_product(w, inst, &t[0], l);
    return wait_invariant(w, inst, &o[t[0].of]) && wait_invariant(w, inst, &o[t[0].by])
               ? wait_operand(w, inst, t[1].of)
               : HD_NONE;
  }
  if (stays) return wait_operand(w, inst, t[0].of);
  return !t[1].minus && wait_invariant(w, inst, &o[t[0].of]) ? wait_operand(w, inst, t[1].of) : HD_NONE;
}

/* `any_grid`: however many CTAs the steps go by. */
static bool moves(wait_search *w, uint32_t reg, uint32_t block, const loss *l, bool any_grid) {
  for (unsigned up = 0; up < 2; up++) {
    chain c = {.w = w, .up = up, .low = HD_NONE, .high = HD_NONE};
    if (!chain_close(&c, reg) || c.bits < 32) continue;
    /* Four steps of 2^30 come to where they began. */
    const unsigned lost = wait_log2(any_grid ? c.most_sum : c.sum);
    if (lost + WAIT_LEAST_ROOM > c.bits || lost + l->all + WAIT_LEAST_ROOM > 64) continue;
    if (l->narrow && lost + l->narrow + WAIT_LEAST_ROOM > 32) continue;
    if (chain_advances(&c, block, HD_NONE, false)) return true;
  }
  return false;
}

static bool looks_elsewhere(wait_search *w, uint32_t inst, bool any_grid) {
  const hd_ptx_opnd *o = wait_address(w, inst);
  uint32_t block = w->g.insts[inst].block;
  if (!o || o->kind != HD_O_ADDR || !o->sym || w->m->syms[o->sym].kind != HD_SYM_REG) return false;
  uint32_t reg = hd_cfg_reg(&w->g, w->g.insts[inst].call, o->sym);
  loss l = {0, 0};
  for (unsigned k = 0; k < MOST_PEELS && reg != HD_NONE && wait_written_inside(w, reg); k++) {
    if (moves(w, reg, block, &l, any_grid)) return true;
    uint32_t at = wait_only_writer_inside(w, reg);
    if (at == HD_NONE || !wait_every_round(w, block, &w->g.insts[at].block, 1)) return false;
    reg = peel(w, at, &l);
  }
  return false;
}

bool wait_looks_elsewhere(wait_search *w, uint32_t inst) { return looks_elsewhere(w, inst, false); }

bool wait_looks_elsewhere_in_any_grid(wait_search *w, uint32_t inst) {
  return looks_elsewhere(w, inst, true);
}

bool wait_moves_on(wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  const uint32_t reg = wait_register(w, inst, o);
  return reg != HD_NONE && wait_written_inside(w, reg) &&
         moves(w, reg, w->g.insts[inst].block, &(loss){0, 0}, false);
}

/* ---- Bounds ------------------------------------------------------------------------------------- */

bool wait_is_plain_load(wait_search *w, uint32_t inst) {
  const hd_ptx_access *a = wait_access(w, inst);
  /* The copy engine reads memory itself, and so do switches between devices. */
  if (hd_inst_form(&w->g, inst)->op == HD_OP_MULTIMEM) return false;
  return w->source[inst] == WAIT_WEAK && !a->bulk && (!a->cache || a->cache == HD_M_CA) &&
         a->l1_priority != HD_M_L1_NO_ALLOCATE;
}

/* A number of the text as setp compares it: -1 is the greatest one of an unsigned type. False: it is none, or
 * one above those of 63 bits. */
static bool compared_number(const wait_search *w, uint32_t setp, const hd_ptx_opnd *o, int64_t *value) {
  const hd_ptx_type type = hd_ptx_type_of(hd_inst_form(&w->g, setp)->mods[1]);
  if (!wait_constant(w, setp, o, value)) return false;
  *value = wait_word(*value, type.bits / 8u);
  if (*value < 0 && type.number != HD_NUM_SIGNED && type.bits < 64) *value += INT64_C(1) << type.bits;
  return *value >= 0 || type.number == HD_NUM_SIGNED;
}

/* Some comparison's first operand, once it is the greater (up) or the less. */
static bool find_counter(wait_search *w, const wait_part *p, unsigned side, bool up, chain *c) {
  const hd_ptx_opnd *o = wait_operands(w, p->setp);
  wait_compare now = side == 1 ? p->leaves : wait_mirrored(p->leaves);
  uint32_t reg = wait_register(w, p->setp, &o[side]);
  bool is_signed = hd_ptx_type_of(hd_inst_form(&w->g, p->setp)->mods[1]).number == HD_NUM_SIGNED;
  int64_t least = -1;
  bool number = compared_number(w, p->setp, &o[3 - side], &least);
  bool ordered = up ? now == CMP_GE || now == CMP_GT : now == CMP_LE || now == CMP_LT;
  if (reg == HD_NONE || !wait_written_inside(w, reg) || (!ordered && now != CMP_EQ)) return false;
  *c = (chain){.w = w, .up = up, .low = HD_NONE, .high = HD_NONE};
  c->halves = !up && number && (now == CMP_EQ ? least == 0 : now == CMP_LT ? least > 0 : least >= 0);
  c->halves_signed = c->halves && is_signed && ordered;
  if (!chain_close(c, reg)) return false;
  /* Compilers turn < into !=. */
  return ordered || ((c->even || c->halves) && wait_invariant(w, p->setp, &o[3 - side]));
}

/* Whatever the bound is in each round, the counter passes it: by ones, unless the bound may be the greatest
 * number; signed numbers at all, which do not overflow in what compilers make of C. 64 bits do not run out.
 */
static bool passes_any(const wait_search *w, const wait_part *p, wait_compare now, const chain *c,
                       chain_pace pace) {
  hd_ptx_type type = hd_ptx_type_of(hd_inst_form(&w->g, p->setp)->mods[1]);
  if (now == CMP_EQ || c->halves || c->bits != type.bits || type.bits > 32) return false;
  return type.number == HD_NUM_SIGNED || (c->one && pace == CHAIN_SINGLE && (now == CMP_GE || now == CMP_LE));
}

static bool writes_multiple(const wait_search *w, uint32_t at, int64_t of, unsigned depth);

/* The operand is a multiple of a power of two. */
static bool is_multiple(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, int64_t of,
                        unsigned depth) {
  int64_t value;
  if (wait_constant(w, inst, o, &value)) return value % of == 0;
  uint32_t reg = wait_register(w, inst, o), at = reg == HD_NONE ? HD_NONE : wait_only_writer(w, reg);
  return at != HD_NONE && depth < MOST_PEELS && writes_multiple(w, at, of, depth);
}

/* A copy, x & -of, or x - (x & (of - 1)). */
static bool writes_multiple(const wait_search *w, uint32_t at, int64_t of, unsigned depth) {
  const hd_ptx_opnd *p = wait_operands(w, at);
  int64_t value;
  if (wait_moves_whole(w, at) || wait_copied(w, at) != HD_NONE)
    return is_multiple(w, at, &p[1], of, depth + 1);
  if (chain_is_op(w, at, HD_OP_AND, 3)) return wait_constant(w, at, &p[2], &value) && value % of == 0;
  if (!chain_is_op(w, at, HD_OP_SUB, 3)) return false;
  uint32_t x = wait_operand(w, at, 1), rest = wait_operand(w, at, 2);
  if (x == HD_NONE || rest == HD_NONE || wait_only_writer(w, x) == HD_NONE) return false;
  uint32_t mask = wait_only_writer(w, rest);
  return chain_is_op(w, mask, HD_OP_AND, 3) && wait_operand(w, mask, 1) == x &&
         wait_constant(w, mask, &wait_operands(w, mask)[2], &value) && value == of - 1;
}

/* By steps of a power of two, from a multiple of it, the counter comes upon a bound that is one as well. */
static bool comes_upon(const wait_search *w, const wait_part *p, unsigned side, const chain *c) {
  const hd_ptx_opnd *bound = &wait_operands(w, p->setp)[3 - side];
  int64_t by = c->most, begin, end;
  if (!c->even || c->least != by || by < 1 || (by & (by - 1))) return false;
  bool number = wait_constant(w, p->setp, bound, &end), multiple = is_multiple(w, p->setp, bound, by, 0);
  for (unsigned k = 0; k < c->n; k++)
    for (uint32_t i = w->writers.first[c->regs[k]]; i < w->writers.first[c->regs[k] + 1]; i++) {
      uint32_t at = w->writers.insts[i];
      if (wait_inside(w, at)) continue;
      const hd_ptx_opnd *from = &wait_operands(w, at)[1];
      bool moved = hd_inst_form(&w->g, at)->op == HD_OP_MOV && hd_inst_stmt(&w->g, at)->n_opnds == 2;
      if (moved && number && wait_constant(w, at, from, &begin) && (end - begin) % by == 0) continue;
      if (!multiple || !writes_multiple(w, at, by, 0)) return false;
    }
  return true;
}

/* Going on by numbers of the text that are known, the counter comes beyond this one before it overflows.
 * Where it must meet it, it has one of its values. */
static bool passes_number(const chain *c, wait_compare now, hd_ptx_type type, int64_t bound,
                          chain_pace pace) {
  unsigned bits = (c->bits < type.bits ? c->bits : type.bits) - 1;
  int64_t slack = c->sum + (now == CMP_GT || now == CMP_LT);
  if (now == CMP_EQ)
    return c->one && pace == CHAIN_SINGLE &&
           (c->bits >= type.bits || (bound >= 0 && bound < INT64_C(1) << bits));
  if (pace == CHAIN_ANY) return false;
  if (!c->even || bits > 62)
    return c->even && bits == 63 && bound >= INT32_MIN && bound <= INT32_MAX && (c->up || bound >= slack);
  if (c->up) return bound <= ((INT64_C(1) << bits) - 1) - slack;
  return bound >= slack;
}

/* The counter passes a bound that stays as it is: one of the text, or any. A counter of fewer bits than are
 * compared may come round below it. A loop that goes by the size of the grid is one over elements, of which
 * there are not so many that another grid beyond them is out of range. */
static bool passes(const wait_search *w, const wait_part *p, unsigned side, wait_compare now, const chain *c,
                   chain_pace pace) {
  hd_ptx_type type = hd_ptx_type_of(hd_inst_form(&w->g, p->setp)->mods[1]);
  const hd_ptx_opnd *bound = &wait_operands(w, p->setp)[3 - side];
  int64_t value;
  if (!wait_invariant(w, p->setp, bound)) return passes_any(w, p, now, c, pace);
  if (!c->adds) return true;
  if (compared_number(w, p->setp, bound, &value) && passes_number(c, now, type, value, pace)) return true;
  if (c->bits != type.bits) return false;
  if (now != CMP_EQ && (type.number == HD_NUM_SIGNED || (c->launched && !c->even))) return true;
  if (pace != CHAIN_SINGLE) return false;
  if (now == CMP_EQ && comes_upon(w, p, side, c)) return true;
  return c->one && now != CMP_GT && now != CMP_LT;
}

/* Numbers that 32 bits hold, or sums of a few; `natural`: none of them is below 0. */
static bool writes_short(const wait_search *w, uint32_t at, bool natural, unsigned depth);

static bool is_short_number(int64_t value, bool natural) {
  return value >= (natural ? 0 : INT32_MIN) && value <= UINT32_MAX;
}

static bool is_short(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, bool natural,
                     unsigned depth) {
  int64_t value;
  if (wait_constant(w, inst, o, &value)) return is_short_number(value, natural);
  const uint32_t reg = wait_register(w, inst, o), at = reg == HD_NONE ? HD_NONE : wait_only_writer(w, reg);
  return at != HD_NONE && depth < MOST_PEELS && writes_short(w, at, natural, depth);
}

static bool writes_short(const wait_search *w, uint32_t at, bool natural, unsigned depth) {
  const hd_ptx_form *f = hd_inst_form(&w->g, at);
  const hd_ptx_opnd *p = wait_operands(w, at);
  hd_ptx_type type[2];
  hd_ptx_types_of(f, type);
  const hd_ptx_type from = type[f->op == HD_OP_CVT];
  if (hd_inst_stmt(&w->g, at)->n_opnds < 2 || p[0].kind != HD_O_REG || from.number == HD_NUM_FLOAT)
    return false;
  if (from.bits && from.bits <= 32 && !hd_ptx_form_has(f, HD_M_WIDE))
    return !natural || from.number != HD_NUM_SIGNED;
  if (wait_moves_whole(w, at)) return is_short(w, at, &p[1], natural, depth + 1);
  if (chain_is_op(w, at, HD_OP_SUB, 3))
    return !natural && is_short(w, at, &p[1], false, depth + 1) && is_short(w, at, &p[2], false, depth + 1);
  return chain_is_op(w, at, HD_OP_ADD, 3) && is_short(w, at, &p[1], natural, depth + 1) &&
         is_short(w, at, &p[2], natural, depth + 1);
}

/* What the register holds in front of the region. */
static bool register_begins_short(const wait_search *w, uint32_t reg, bool natural) {
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++)
    if (!wait_inside(w, w->writers.insts[i]) && !writes_short(w, w->writers.insts[i], natural, 0))
      return false;
  return true;
}

static bool begins_short(const chain *c, bool natural) {
  for (unsigned k = 0; k < c->n; k++)
    if (!register_begins_short(c->w, c->regs[k], natural)) return false;
  return true;
}

/* It begins with numbers of the text between these. */
static bool begins_between(const chain *c, int64_t least, int64_t most) {
  const wait_search *w = c->w;
  for (unsigned k = 0; k < c->n; k++)
    for (uint32_t i = w->writers.first[c->regs[k]]; i < w->writers.first[c->regs[k] + 1]; i++) {
      const uint32_t at = w->writers.insts[i];
      int64_t value;
      if (wait_inside(w, at)) continue;
      if (!wait_moves_whole(w, at) || !wait_constant(w, at, &wait_operands(w, at)[1], &value)) return false;
      if (value < least || value > most) return false;
    }
  return true;
}

/* The rounds are so few that they come to an end in practice: 2^64 do not. So the counter may not go the long
 * way round, away from a bound that it must meet, nor come to one below 0 as an unsigned number. */
static bool is_short_way(const wait_search *w, const wait_part *p, unsigned side, wait_compare now,
                         const chain *c) {
  const hd_ptx_type type = hd_ptx_type_of(hd_inst_form(&w->g, p->setp)->mods[1]);
  const hd_ptx_opnd *bound = &wait_operands(w, p->setp)[3 - side];
  const bool is_signed = type.number == HD_NUM_SIGNED;
  int64_t value;
  if (type.bits <= 32 || !c->adds) return true;
  const bool number = wait_constant(w, p->setp, bound, &value);
  if (now != CMP_EQ)
    return begins_short(c, !is_signed && !c->up) && is_short(w, p->setp, bound, !is_signed, 0);
  if (number && (value < INT32_MIN || value > UINT32_MAX)) return false;
  if (c->up)
    return number ? begins_between(c, INT32_MIN, value)
                  : begins_between(c, INT32_MIN, 0) && is_short(w, p->setp, bound, true, 0);
  return number && (begins_between(c, value, UINT32_MAX) || (value <= 0 && begins_short(c, true)));
}

/* ---- Movers ------------------------------------------------------------------------------------- */

/* A block whose rounds, those where `pred` is `when`, bring the exit nearer. */
typedef struct mover {
  uint32_t block, pred, exit;
  bool when;
  bool passes;    /* the exit is taken at some time, whatever its bound */
  bool is_short;  /* after fewer rounds than 64 bits count */
  uint32_t setp;  /* what makes the predicate: a comparison of whole numbers; HD_NONE: something else */
  unsigned holds; /* that is so when the first is less, equal, or greater: bits */
} mover;

enum { LESS = 1, EQUAL = 2, GREATER = 4, ALWAYS = 7 };

struct wait_movers {
  mover list[MOST_MOVERS];
  uint32_t n;
  bool counts; /* some counter goes to a bound */
};

/* The predicate has one value from its only write, in this block, on; or in all rounds. */
static bool is_settled(const wait_search *w, uint32_t pred, uint32_t inst) {
  if (pred == HD_NONE) return false;
  if (!wait_written_inside(w, pred)) return true;
  uint32_t at = wait_only_writer_inside(w, pred);
  return at != HD_NONE && at < inst && w->g.insts[at].block == w->g.insts[inst].block;
}

static void note_mover(struct wait_movers *all, mover m) {
  for (uint32_t i = 0; i < all->n; i++) {
    const mover *o = &all->list[i];
    if (o->block == m.block && o->exit == m.exit && o->passes >= m.passes && o->is_short >= m.is_short &&
        (o->pred == HD_NONE || (o->pred == m.pred && o->when == m.when)))
      return;
  }
  if (all->n < MOST_MOVERS) all->list[all->n++] = m;
}

static unsigned holds_when(wait_compare c) {
  static const unsigned when[] = {
      [CMP_EQ] = EQUAL,        [CMP_NE] = LESS | GREATER, [CMP_LT] = LESS,
      [CMP_LE] = LESS | EQUAL, [CMP_GT] = GREATER,        [CMP_GE] = GREATER | EQUAL};
  return c < sizeof when / sizeof *when ? when[c] : 0;
}

static void note_comparison(const wait_search *w, mover *m) {
  const uint32_t at = wait_written_inside(w, m->pred) ? wait_only_writer_inside(w, m->pred) : HD_NONE;
  m->setp = HD_NONE;
  if (at == HD_NONE || hd_inst_form(&w->g, at)->op != HD_OP_SETP) return;
  m->holds = holds_when(wait_comparison(w, at, m->when));
  if (m->holds) m->setp = at;
}

static bool same_number(const wait_search *w, uint32_t a, uint32_t b, uint32_t k) {
  const hd_ptx_opnd *o = &wait_operands(w, a)[k], *p = &wait_operands(w, b)[k];
  const uint32_t reg = wait_register(w, a, o);
  if (o->kind == HD_O_INT && p->kind == HD_O_INT) return o->imm == p->imm;
  if (reg == HD_NONE || reg != wait_register(w, b, p)) return false;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++)
    if (w->writers.insts[i] >= a && w->writers.insts[i] < b) return false;
  return true;
}

/* Two comparisons of a block are of the same two numbers. */
static bool same_numbers(const wait_search *w, uint32_t a, uint32_t b) {
  if (a == b) return true;
  if (a > b) return same_numbers(w, b, a);
  return w->g.insts[a].block == w->g.insts[b].block &&
         hd_inst_form(&w->g, a)->mods[1] == hd_inst_form(&w->g, b)->mods[1] && same_number(w, a, b, 1) &&
         same_number(w, a, b, 2);
}

static void note_chain(struct wait_movers *all, const chain *c, uint32_t exit, bool sure, bool is_short) {
  const wait_search *w = c->w;
  for (unsigned k = 0; k < c->n; k++)
    for (uint32_t i = w->writers.first[c->regs[k]]; i < w->writers.first[c->regs[k] + 1]; i++) {
      uint32_t at = w->writers.insts[i], block = w->g.insts[at].block, pred = HD_NONE;
      if (!wait_inside(w, at)) continue;
      if (chain_advances(c, block, HD_NONE, false)) {
        note_mover(all, (mover){.block = block,
                                .pred = HD_NONE,
                                .exit = exit,
                                .passes = sure,
                                .is_short = is_short,
                                .setp = HD_NONE});
        continue;
      }
      bool chosen;
      hd_sym guard = hd_inst_stmt(&w->g, at)->guard;
      if (guard) pred = hd_cfg_reg(&w->g, w->g.insts[at].call, guard);
      if (hd_inst_form(&w->g, at)->op == HD_OP_SELP) pred = wait_operand(w, at, 3);
      if (!guard) (void)chain_choice(w, at, &pred, &chosen);
      if (!is_settled(w, pred, at)) continue;
      for (unsigned when = 0; when < 2; when++) {
        mover m = {
            .block = block, .pred = pred, .exit = exit, .when = when, .passes = sure, .is_short = is_short};
        if (!chain_advances(c, block, pred, when)) continue;
        note_comparison(w, &m);
        note_mover(all, m);
      }
    }
}

static bool goes_by_ones(const chain *c, uint32_t setp, uint32_t exit) {
  return !c->adds || (c->one && chain_pace_at(c, setp, exit) == CHAIN_SINGLE);
}

/* Two registers come together in so few rounds that this comes to an end in practice. */
static bool is_short_distance(const chain *up, const chain *down, hd_ptx_type type, bool met) {
  const bool halves = (up->middle || !up->n) && (down->middle || !down->n);
  const bool natural = type.number != HD_NUM_SIGNED;
  return type.bits <= 32 || halves ||
         (!met && begins_short(up, natural) && begins_short(down, natural) &&
          register_begins_short(up->w, up->low, natural) && register_begins_short(up->w, up->high, natural));
}

/* The distance of two registers that move towards each other. `wide`: it is 2 or more in every round. */
static void note_pair(wait_search *w, struct wait_movers *all, uint32_t low, uint32_t high,
                      wait_compare leaves, bool wide, const wait_part *p, uint32_t exit) {
  const hd_ptx_type type = hd_ptx_type_of(hd_inst_form(&w->g, p->setp)->mods[1]);
  chain up = {.w = w,
              .up = true,
              .low = low,
              .high = high,
              .inclusive = leaves == CMP_GT,
              .wide = wide,
              .overflows = type.number != HD_NUM_SIGNED && leaves != CMP_EQ,
              .met = leaves == CMP_EQ},
        down = up;
  down.up = false;
  if (low == HD_NONE || high == HD_NONE) return;
  if (wait_written_inside(w, low) && !chain_close(&up, low)) return;
  if (wait_written_inside(w, high) && !chain_close(&down, high)) return;
  /* By ones, or by halves, they do not pass each other unmet, nor the greatest number. */
  bool ones = goes_by_ones(&up, p->setp, exit) && goes_by_ones(&down, p->setp, exit);
  if (leaves == CMP_EQ && (!ones || (up.adds && down.adds))) return;
  /* The middle of 0 and 1 is 0, and one less the greatest number. */
  if (type.number != HD_NUM_SIGNED && down.middle && down.adds) return;
  bool sure = type.number == HD_NUM_SIGNED || (ones && leaves != CMP_GT);
  if (up.adds) sure &= up.bits == type.bits || !up.n;
  if (down.adds) sure &= down.bits == type.bits || !down.n;
  const bool is_short = is_short_distance(&up, &down, type, leaves == CMP_EQ);
  if (up.n) note_chain(all, &up, exit, sure, is_short);
  if (down.n) note_chain(all, &down, exit, sure, is_short);
}

static void note_part(wait_search *w, struct wait_movers *all, const wait_part *p, uint32_t exit) {
  const hd_ptx_opnd *o = wait_operands(w, p->setp);
  const hd_ptx_type type = hd_ptx_type_of(hd_inst_form(&w->g, p->setp)->mods[1]);
  int64_t least;
  for (unsigned side = 1; side <= 2; side++) {
    wait_compare now = side == 1 ? p->leaves : wait_mirrored(p->leaves);
    uint32_t a = wait_register(w, p->setp, &o[side]), b = wait_register(w, p->setp, &o[3 - side]);
    for (unsigned up = 0; up < 2; up++) {
      chain c;
      if (!wait_is_bound(w, p->setp, &o[3 - side], false) || !find_counter(w, p, side, up, &c)) continue;
      bool sure = passes(w, p, side, now, &c, chain_pace_at(&c, p->setp, exit));
      uint32_t before = all->n;
      note_chain(all, &c, exit, sure, is_short_way(w, p, side, now, &c));
      all->counts |= all->n != before;
    }
    if (now == CMP_GE || now == CMP_GT || now == CMP_EQ) note_pair(w, all, a, b, now, false, p, exit);
    uint32_t distance = a == HD_NONE ? HD_NONE : wait_only_writer_inside(w, a);
    if ((now == CMP_LE || now == CMP_LT) && compared_number(w, p->setp, &o[3 - side], &least) &&
        least >= (now == CMP_LT) && chain_is_op(w, distance, HD_OP_SUB, 3))
      note_pair(w, all, wait_operand(w, distance, 2), wait_operand(w, distance, 1),
                type.number == HD_NUM_SIGNED ? CMP_GE : CMP_EQ, /* unsigned, it is never below 0 */
                least - (now == CMP_LT) >= 1, p, exit);
  }
}

static struct wait_movers *movers_of(wait_search *w) {
  if (w->movers) return w->movers;
  w->movers = hd_arena_alloc(w->arena, sizeof *w->movers, _Alignof(struct wait_movers));
  w->movers->n = 0;
  w->movers->counts = false;
  for (uint32_t i = 0; i < w->n_blocks && w->steps < WAIT_WALK; i++) {
    wait_part parts[WAIT_MOST_PARTS];
    uint32_t n = wait_exit_parts(w, w->blocks[i], parts);
    for (uint32_t k = 0; k < n; k++) note_part(w, w->movers, &parts[k], w->blocks[i]);
  }
  return w->movers;
}

/* 2^64 rounds come to no end, unless each needs another place of memory. */
static bool ends_here(wait_search *w, const mover *m, uint32_t block) {
  return m->block == block && m->passes && (m->is_short || !w->stays) &&
         wait_every_round(w, block, &m->exit, 1);
}

bool wait_brings_end(wait_search *w, uint32_t block) {
  const struct wait_movers *all = movers_of(w);
  for (uint32_t i = 0; i < all->n; i++) {
    const mover *m = &all->list[i];
    if (!ends_here(w, m, block)) continue;
    if (m->pred == HD_NONE) return true;
    unsigned holds = m->setp == HD_NONE ? 0 : m->holds;
    for (uint32_t k = 0; k < i; k++) {
      const mover *o = &all->list[k];
      if (!ends_here(w, o, block)) continue;
      if (o->pred == m->pred && o->when != m->when) return true;
      if (m->setp != HD_NONE && o->setp != HD_NONE && same_numbers(w, m->setp, o->setp)) holds |= o->holds;
    }
    if (holds == ALWAYS) return true;
  }
  return false;
}

bool wait_counts(wait_search *w) { return movers_of(w)->counts; }

bool wait_counts_out(wait_search *w, uint32_t block) {
  const struct wait_movers *all = movers_of(w);
  for (uint32_t i = 0; i < all->n; i++) {
    const mover *m = &all->list[i];
    if (m->passes && wait_every_round(w, block, &m->exit, 1) && wait_every_round(w, block, &m->block, 1) &&
        (m->pred == HD_NONE || wait_brings_end(w, m->block)))
      return true;
  }
  return false;
}

bool wait_counts_to_plain_bound(wait_search *w, uint32_t block) {
  wait_part part[WAIT_MOST_PARTS];
  if (w->fence || wait_exit_parts(w, block, part) != 1) return false;
  const hd_ptx_opnd *o = wait_operands(w, part->setp);
  for (unsigned side = 1; side <= 2; side++) {
    wait_compare now = side == 1 ? part->leaves : wait_mirrored(part->leaves);
    chain c;
    if (wait_is_bound(w, part->setp, &o[3 - side], true) &&
        find_counter(w, part, side, now == CMP_GE || now == CMP_GT, &c) &&
        passes_any(w, part, now, &c, chain_pace_at(&c, part->setp, block)) &&
        chain_advances(&c, block, HD_NONE, false))
      return true;
  }
  return false;
}
