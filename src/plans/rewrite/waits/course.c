/* How an address goes through places from round to round, where it is no plain chain: it is worked out anew
 * from one, or loaded by an index. */
#include "rewrite/waits/chain.h"
#include "rewrite/waits/sums.h"

enum { MOST_NESTED = 32, MOST_LOOKED_AT = 512, MOST_WRITES = 32, MOST_DEEP = 64 };

/* How a number changes from round to round. */
typedef enum course_kind {
  STAYS = 0, /* it may be the same in many rounds: whatever is not known */
  KEPT,      /* it is the same in all rounds */
  INNER,     /* it begins anew in every round, as a cycle within goes on from there */
  BACK,      /* a register that is worked out from it, and steps */
  GOES,      /* it moves one way, by a step that is not 0 */
  DATA,      /* it is loaded from places that go: taken for another each time */
} course_kind;

/* A step's direction. Numbers of the launch are not taken for 0, but may be of either sign: two of them go
 * one way only if they are one register, with one sign. */
enum { NOWHERE = 0, UP, DOWN, FIRST_NUMBER };

typedef struct course {
  course_kind kind;
  uint32_t of;   /* BACK: where in the path */
  uint32_t way;  /* of BACK and GOES: NOWHERE, UP, DOWN, or FIRST_NUMBER + 2 * register + its sign */
  int64_t sum;   /* BACK: of the steps, as far as they are known */
  unsigned bits; /* BACK: the fewest that a step is worked out in; 0: there was none */
  unsigned lost; /* GOES: log2 of the step at most, as far as it is known */
} course;

typedef struct course_search {
  wait_search *w;
  uint32_t look;                 /* the block */
  uint32_t path[MOST_NESTED], n; /* registers */
  uint32_t looked_at, deep;
} course_search;

static const course stays = {.kind = STAYS}, kept = {.kind = KEPT};

static course course_of(course_search *x, uint32_t reg);
static course course_of_write(course_search *x, uint32_t at);

static course course_of_operand(course_search *x, uint32_t inst, const hd_ptx_opnd *o) {
  const wait_search *w = x->w;
  if (o->kind == HD_O_BRACKET || o->kind == HD_O_VEC || o->kind == HD_O_INDEX) {
    course c = kept;
    for (uint32_t k = 0; k < o->n_kids; k++) {
      const course kid = course_of_operand(x, inst, &w->m->opnds[o->sym + k]);
      if (kid.kind == STAYS || kid.kind == BACK) return stays;
      if (kid.kind > c.kind) c = kid;
    }
    return c;
  }
  if (wait_invariant(w, inst, o)) return kept;
  if ((o->kind != HD_O_REG && o->kind != HD_O_ADDR) || o->part || o->flags & HD_OF_NEG) return stays;
  if (!o->sym || w->m->syms[o->sym].kind != HD_SYM_REG) return stays;
  const uint32_t reg = hd_cfg_reg(&w->g, w->g.insts[inst].call, o->sym);
  const uint32_t before = chain_write_before(w, inst, reg);
  if (before == HD_NONE || x->deep == MOST_DEEP) return course_of(x, reg);
  x->deep++;
  const course c = course_of_write(x, before);
  x->deep--;
  return c;
}

/* The places that are left of it in so many bits. */
static course in_bits(course c, unsigned bits) {
  return c.kind == GOES && c.lost + WAIT_LEAST_ROOM > bits ? stays : c;
}

/* ---- Sums and products -------------------------------------------------------------------------- */

static course worked_out_in(course c, const wait_search *w, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  hd_ptx_type type[2];
  hd_ptx_types_of(f, type);
  const unsigned bits = type[0].bits << hd_ptx_form_has(f, HD_M_WIDE);
  if (!c.bits || bits < c.bits) c.bits = bits;
  return c;
}

/* What a number that stays adds, or subtracts. */
static course step_by(course c, wait_search *w, uint32_t inst, const hd_ptx_opnd *by, bool minus) {
  int64_t value;
  uint32_t way = FIRST_NUMBER + minus;
  hd_ptx_type type[2];
  hd_ptx_types_of(hd_inst_form(&w->g, inst), type);
  if (wait_constant(w, inst, by, &value)) {
    value = wait_word(value, type[0].bits / 8u);
    if (!value) return c;
    if (value < -INT32_MAX || value > INT32_MAX) return stays;
    way = (value > 0) != minus ? UP : DOWN;
    c.sum += value > 0 ? value : -value;
  } else if (wait_positive(w, inst, by)) {
    way = minus ? DOWN : UP;
    c.sum += wait_greatest(w, inst, by);
  } else {
    const uint32_t reg = wait_register(w, inst, by);
    if (reg == HD_NONE || !wait_is_stride(w, inst, by)) return stays;
    way += 2 * reg;
    c.sum += wait_stride_at_most(w, inst, by);
  }
  if (c.way != NOWHERE && c.way != way) return stays;
  c.way = way;
  return worked_out_in(c, w, inst);
}

/* What two numbers that move come to is not known, but where one is looked up; where one begins anew in every
 * round, the other moves on. */
static course sum_of(course c, course d) {
  if (c.kind == STAYS || d.kind == STAYS || c.kind == BACK || d.kind == BACK) return stays;
  if (c.kind == d.kind && c.kind > INNER) return stays;
  if (c.kind == DATA || d.kind == DATA) return (course){.kind = DATA};
  if (c.way == DOWN && d.kind == INNER) return stays;
  if (d.way == DOWN && c.kind == INNER) return stays;
  return c.kind > d.kind ? c : d;
}

/* What is taken away. */
static course mirrored(course c) {
  if (c.kind == INNER || c.kind == BACK) return stays;
  if (c.way == UP || c.way == DOWN) c.way = c.way == UP ? DOWN : UP;
  return c;
}

static course sum(course_search *x, uint32_t inst, const hd_ptx_opnd *a, const hd_ptx_opnd *b, bool minus) {
  const course c = course_of_operand(x, inst, a), d = course_of_operand(x, inst, b);
  if (c.kind == KEPT && d.kind == BACK) return minus ? stays : step_by(d, x->w, inst, a, false);
  if (c.kind == BACK && d.kind == KEPT) return step_by(c, x->w, inst, b, minus);
  if (minus && c.kind == INNER) return stays;
  return sum_of(c, minus ? mirrored(d) : d);
}

/* A product with a number that stays. `bits`: of the result. */
static course product(course_search *x, uint32_t inst, const hd_ptx_opnd *a, const hd_ptx_opnd *b,
                      unsigned bits) {
  course c = course_of_operand(x, inst, a), d = course_of_operand(x, inst, b);
  int64_t value;
  if (c.kind == KEPT && d.kind == KEPT) return kept;
  if (c.kind == KEPT) {
    const course other = c;
    c = d;
    d = other;
    b = a;
  }
  if (d.kind != KEPT || c.kind == STAYS || c.kind == BACK) return stays;
  if (!wait_constant(x->w, inst, b, &value)) return wait_is_stride(x->w, inst, b) ? in_bits(c, bits) : stays;
  if (!value || (value < 0 && c.kind == INNER)) return stays;
  if (value < 0) value = value == INT64_MIN ? INT64_MAX : -value;
  c.lost += wait_log2(value);
  return in_bits(c, bits);
}

/* ---- Writes ------------------------------------------------------------------------------------- */

static bool is_whole(hd_ptx_type t) {
  return t.bits && t.format == HD_FMT_NONE && t.number != HD_NUM_FLOAT && t.elements <= 1;
}

static course course_of_load(course_search *x, uint32_t at) {
  wait_search *w = x->w;
  const hd_ptx_access *a = wait_access(w, at);
  const uint32_t n = hd_inst_stmt(&w->g, at)->n_opnds;
  if (hd_ptx_form_has(hd_inst_form(&w->g, at), HD_M_PARAM)) {
    uint32_t store;
    const hd_ptx_opnd *argument = wait_argument(w, at, &store);
    return argument ? course_of_operand(x, store, argument) : stays;
  }
  for (unsigned k = 0; k < a->n; k++) {
    if (!(a->touches[k].kinds & HD_ACC_READ) || a->touches[k].operand >= n) continue;
    const course c = course_of_operand(x, at, &wait_operands(w, at)[a->touches[k].operand]);
    return c.kind == GOES || c.kind == DATA ? (course){.kind = DATA} : stays;
  }
  return stays;
}

/* a * b + a, as of the diagonal of a matrix: the number and its product with one of the launch, which is not
 * taken for -1. */
static bool is_diagonal(wait_search *w, uint32_t at, const hd_ptx_term t[2]) {
  const uint32_t addend = wait_operand(w, at, t[1].of);
  int64_t value;
  for (unsigned k = 0; k < 2 && addend != HD_NONE && !t->power; k++) {
    const hd_ptx_opnd *by = &wait_operands(w, at)[k ? t->of : t->by];
    if (wait_operand(w, at, k ? t->by : t->of) == addend && wait_invariant(w, at, by) &&
        !wait_constant(w, at, by, &value) && wait_is_stride(w, at, by))
      return true;
  }
  return false;
}

static course scaled(course_search *x, uint32_t at, const hd_ptx_term *t, unsigned bits) {
  const hd_ptx_opnd *o = wait_operands(x->w, at);
  course c = course_of_operand(x, at, &o[t->of]);
  int64_t by;
  if (c.kind == KEPT) return wait_invariant(x->w, at, &o[t->by]) ? kept : stays;
  if (!wait_constant(x->w, at, &o[t->by], &by) || by < 0 || by >= 64 || c.kind == BACK) return stays;
  c.lost += (unsigned)by;
  return in_bits(c, bits);
}

static course course_of_product(course_search *x, uint32_t at, const hd_ptx_term *t, unsigned bits) {
  const hd_ptx_opnd *o = wait_operands(x->w, at);
  return t->power ? scaled(x, at, t, bits) : product(x, at, &o[t->of], &o[t->by], bits);
}

/* What a product adds to a number. */
static course product_sum(course_search *x, uint32_t at, const hd_ptx_term t[2], unsigned bits) {
  wait_search *w = x->w;
  const hd_ptx_opnd *o = wait_operands(w, at);
  const course c = course_of_product(x, at, &t[0], bits);
  course d = course_of_operand(x, at, &o[t[1].of]);
  if (is_diagonal(w, at, t)) return c;
  if (d.kind != BACK) return sum_of(c, d);
  /* What it adds is made of two numbers of the launch: one way, if it is the only step. */
  if (c.kind != KEPT || d.way != NOWHERE) return stays;
  const bool up = !t->power && wait_product_positive(w, at, &o[t->of], &o[t->by]);
  if (!up && !wait_steps_by(w, at, t)) return stays;
  d.way = up ? UP : FIRST_NUMBER + 2 * w->g.n_regs + 2 * at;
  if (up) d.sum += wait_greatest_product(w, at, &o[t->of], &o[t->by]);
  return worked_out_in(d, w, at);
}

static course course_of_terms(course_search *x, uint32_t at, const hd_ptx_result *r, unsigned bits) {
  const hd_ptx_opnd *o = wait_operands(x->w, at);
  const hd_ptx_term *t = r->terms;
  if (hd_ptx_adds_two(r)) return in_bits(sum(x, at, &o[t[0].of], &o[t[1].of], t[1].minus), bits);
  if (r->n_terms == 2) return product_sum(x, at, t, bits);
  return course_of_product(x, at, t, bits);
}

static course course_of_write(course_search *x, uint32_t at) {
  wait_search *w = x->w;
  const hd_ptx_form *f = hd_inst_form(&w->g, at);
  const hd_ptx_opnd *o = wait_operands(w, at);
  const hd_ptx_result *r = wait_result(w, at);
  hd_ptx_type type[2];
  w->steps++;
  if (hd_inst_stmt(&w->g, at)->guard || x->looked_at++ >= MOST_LOOKED_AT) return stays;
  if (wait_access(w, at)->kinds & HD_ACC_READ || f->op == HD_OP_LD) return course_of_load(x, at);
  hd_ptx_types_of(f, type);
  if (hd_ptx_form_has(f, HD_M_CC) || o[0].kind != HD_O_REG) return stays;
  const bool copies = r->makes == HD_MAKES_PLACE || hd_ptx_is_copy(r);
  if (copies && !type[1].bits) return course_of_operand(x, at, &o[1]);
  if (!is_whole(type[0])) return stays;
  if (r->makes == HD_MAKES_NEGATED) return sum_of(kept, mirrored(course_of_operand(x, at, &o[1])));
  if (r->makes != HD_MAKES_SUM && !copies) return stays;
  if (!copies) return course_of_terms(x, at, r, type[0].bits << hd_ptx_form_has(f, HD_M_WIDE));
  if (!is_whole(type[1]) || type[0].bits < 32 || type[1].bits < 32) return stays;
  return in_bits(course_of_operand(x, at, &o[1]), type[0].bits);
}

/* What two writes of one register make of it. */
static course either(course a, course b) {
  if (a.kind != b.kind || a.of != b.of || a.way != b.way) return stays;
  if (b.sum > a.sum) a.sum = b.sum;
  if (b.bits && (!a.bits || b.bits < a.bits)) a.bits = b.bits;
  if (b.lost > a.lost) a.lost = b.lost;
  return a;
}

/* A register that is not written anew in every round holds what it held. Where it is, and goes on from there,
 * it is what it begins with. */
static course course_of_writes(course_search *x, uint32_t reg) {
  wait_search *w = x->w;
  uint32_t blocks[2][MOST_WRITES], n[2] = {0, 0};
  course all[2] = {stays, stays};
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++) {
    const uint32_t at = w->writers.insts[i];
    if (!wait_inside(w, at)) continue;
    const course one = course_of_write(x, at);
    const bool steps = one.kind == BACK && one.of + 1 == x->n;
    if (one.kind == STAYS || n[steps] == MOST_WRITES) return stays;
    all[steps] = n[steps] ? either(all[steps], one) : one;
    blocks[steps][n[steps]++] = w->g.insts[at].block;
  }
  const bool begins = n[0];
  if (!wait_every_round_around(w, x->look, blocks[!begins], n[!begins])) return stays;
  if (!begins || !n[1]) return all[!begins];
  /* Steps back within the round may undo how it goes on. */
  if (all[0].kind == BACK || all[1].way != UP) return stays;
  return all[0].kind == KEPT ? (course){.kind = INNER} : all[0];
}

static course course_of(course_search *x, uint32_t reg) {
  if (!wait_written_inside(x->w, reg)) return kept;
  for (uint32_t i = 0; i < x->n; i++)
    if (x->path[i] == reg) return (course){.kind = BACK, .of = i};
  if (x->n == MOST_NESTED) return stays;
  x->path[x->n++] = reg;
  course c = course_of_writes(x, reg);
  x->n--;
  if (c.kind != BACK || c.of != x->n) return c;
  if (c.way == NOWHERE) return stays;
  return in_bits((course){.kind = GOES, .way = c.way, .lost = wait_log2(c.sum)}, c.bits);
}

/* ---- Data --------------------------------------------------------------------------------------- */

/* A register that depends on itself. */
typedef struct circle {
  uint32_t reg;
  bool steps; /* what is read of it to write the next one is another number, as far as is known */
} circle;

typedef struct origin {
  wait_search *w;
  circle path[MOST_NESTED];
  uint32_t n, looked_at;
  bool found;
  bool sums;  /* only sums of strides, and loads from places that go by such, count as moving */
  bool twice; /* the region has two rounds, between which a number that is set anew moves on */
} origin;

static void find_moving(void *ctx, uint32_t reg);

/* ---- Loops of two rounds ------------------------------------------------------------------------ */

/* A number of the text that the instruction leaves in a register, whatever ran before. */
static bool is_set(const wait_search *w, uint32_t inst, int64_t *value) {
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  return hd_inst_form(&w->g, inst)->op == HD_OP_MOV && !s->guard && s->n_opnds == 2 &&
         wait_constant(w, inst, &wait_operands(w, inst)[1], value);
}

/* The region is one block, and each round but the first finds that it is the last: a compiler knew that there
 * are two.
 *
 *     last: mov p, q; ... mov q, 0; @p bra last;
 */
static bool runs_twice(const wait_search *w) {
  if (w->n_blocks != 1) return false;
  const hd_block *b = &w->g.blocks[w->blocks[0]];
  const uint32_t branch = b->first + b->n_insts - 1;
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, branch);
  int64_t value;
  if (hd_inst_form(&w->g, branch)->op != HD_OP_BRA || !s->guard || b->n_succ != 2) return false;
  const uint32_t goes_on = hd_cfg_reg(&w->g, w->g.insts[branch].call, s->guard);
  const uint32_t copy = wait_only_writer_inside(w, goes_on);
  const uint32_t from = copy == HD_NONE ? HD_NONE : wait_copied(w, copy);
  const uint32_t set = from == HD_NONE ? HD_NONE : wait_only_writer_inside(w, from);
  const bool back_if_taken = w->g.edges[b->first_succ] == w->blocks[0];
  return set != HD_NONE && is_set(w, set, &value) && (value != 0) == (back_if_taken == s->guard_neg);
}

/* One number of the text before the region, and another one in each of its rounds. */
static bool is_set_anew(const wait_search *w, uint32_t reg) {
  const uint32_t first = w->writers.first[reg], last = w->writers.first[reg + 1];
  int64_t x, y;
  if (last - first != 2) return false;
  const uint32_t a = w->writers.insts[first], b = w->writers.insts[first + 1];
  return wait_inside(w, a) != wait_inside(w, b) && is_set(w, a, &x) && is_set(w, b, &y) && x != y;
}

/* ---- Plain looks -------------------------------------------------------------------------------- */

/* Rounds divide by the number: if it were 0, PTX would not say what they do. */
static bool is_divided_by(wait_search *w, const wait_sum *s) {
  if (s->number || s->n != 1 || s->terms->n != 1 || s->terms->atoms->variable) return false;
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    w->steps += b->n_insts;
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++) {
      const hd_ptx_result *r = wait_result(w, k);
      if ((r->makes == HD_MAKES_QUOTIENT || r->makes == HD_MAKES_REMAINDER) && r->n_terms && r->terms->by &&
          !r->terms->power && wait_operand(w, k, r->terms->by) == s->terms->atoms->reg)
        return true;
    }
  }
  return false;
}

/* What stands beside a term, added to it or multiplied with it: made of numbers that stay, it is not 0 only
 * if it is a stride. */
static bool may_be_else(wait_search *w, const wait_sum *s, bool strides) {
  if (!s->n && !s->number) return false;
  for (uint32_t i = 0; i < s->n && !strides; i++)
    for (uint32_t k = 0; k < s->terms[i].n; k++) {
      const sum_atom *a = &s->terms[i].atoms[k];
      if (!a->variable && wait_written_inside(w, a->reg)) return true;
    }
  return sum_worth(w, s) != WAIT_PERHAPS_ZERO || is_divided_by(w, s);
}

static void find_in_write(origin *x, uint32_t at);

/* If the write before it is known, that alone is followed: of a register that is used again, all writes
 * together may look like a circle that no value goes through. */
static void find_in_atom(origin *x, const sum_atom *a) {
  const uint32_t before = x->sums ? chain_write_before(x->w, a->at, a->reg) : HD_NONE;
  if (before == HD_NONE || x->n == MOST_NESTED || x->looked_at++ >= MOST_LOOKED_AT) {
    find_moving(x, a->reg);
    return;
  }
  x->path[x->n++].reg = HD_NONE;
  find_in_write(x, before);
  x->n--;
}

static void find_in_term(origin *x, const wait_sum *s, uint32_t term) {
  const sum_term *t = &s->terms[term];
  wait_sum beside = *s;
  beside.terms[term] = beside.terms[--beside.n];
  const bool steps = may_be_else(x->w, &beside, x->sums);
  for (uint32_t k = 0; k < t->n && !x->found; k++) {
    wait_sum factor = {.terms = {*t}, .n = 1, .ok = true};
    if (t->atoms[k].variable) continue;
    factor.terms->atoms[k] = factor.terms->atoms[--factor.terms->n];
    if (t->n > 1 && !may_be_else(x->w, &factor, x->sums)) continue;
    if (x->n) x->path[x->n - 1].steps = steps;
    find_in_atom(x, &t->atoms[k]);
  }
}

/* Of one of two numbers nothing new comes; of other operations it does. */
static bool makes_other(const hd_ptx_result *r) {
  return !hd_ptx_is_copy(r) && r->makes != HD_MAKES_PLACE && r->makes != HD_MAKES_CHOICE &&
         r->makes != HD_MAKES_LEAST && r->makes != HD_MAKES_GREATEST;
}

/* Of numbers that stay, and others that all move by sums. */
static bool moves_by_sums(origin *x, const wait_sum *s) {
  wait_search *w = x->w;
  bool some = false;
  for (uint32_t i = 0; i < s->n; i++) {
    if (sum_is_launched(w, &s->terms[i])) continue;
    for (uint32_t k = 0; k < s->terms[i].n; k++) {
      const sum_atom *a = &s->terms[i].atoms[k];
      if (a->variable || !wait_written_inside(w, a->reg)) continue;
      x->found = false;
      find_in_term(x, s, i);
      if (!x->found) return false;
      some = true;
    }
  }
  return some;
}

static void find_in_sum(origin *x, const wait_sum *s) {
  if (x->sums)
    x->found = moves_by_sums(x, s);
  else
    for (uint32_t i = 0; i < s->n && !x->found; i++) find_in_term(x, s, i);
}

static void find_in_write(origin *x, uint32_t at) {
  wait_search *w = x->w;
  const hd_ptx_result *r = wait_result(w, at);
  int64_t mask;
  if (r->makes == HD_MAKES_SUM) {
    const wait_sum s = sum_of_result(w, at);
    if (s.ok) find_in_sum(x, &s);
    if (s.ok) return;
  }
  if (x->sums && r->makes != HD_MAKES_PLACE && !(wait_access(w, at)->kinds & HD_ACC_READ)) return;
  if (r->makes == HD_MAKES_MASKED && wait_constant(w, at, &wait_operands(w, at)[r->terms->by], &mask) &&
      !mask)
    return;
  x->path[x->n - 1].steps = makes_other(r);
  hd_inst_reads(&w->g, at, find_moving, x);
}

/* The register depends on itself, or is worked out or loaded by means of one that does. */
static void find_moving(void *ctx, uint32_t reg) {
  origin *x = ctx;
  const wait_search *w = x->w;
  bool steps = false;
  for (uint32_t i = 0; i < x->n; i++) {
    if (x->path[i].reg != reg && !steps) continue;
    steps = true;
    x->found |= x->path[i].steps;
  }
  x->found |= x->twice && is_set_anew(w, reg);
  if (steps || x->found || x->n == MOST_NESTED || x->looked_at++ >= MOST_LOOKED_AT) return;
  x->path[x->n++].reg = reg;
  x->w->steps++;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1] && !x->found; i++)
    if (wait_inside(w, w->writers.insts[i])) find_in_write(x, w->writers.insts[i]);
  x->n--;
}

static bool may_move(wait_search *w, uint32_t inst, const hd_ptx_opnd *o, bool sums) {
  origin x = {.w = w, .sums = sums, .twice = runs_twice(w)};
  if (o->kind == HD_O_BRACKET || o->kind == HD_O_VEC || o->kind == HD_O_INDEX) {
    for (uint32_t k = 0; k < o->n_kids; k++)
      if (may_move(w, inst, &w->m->opnds[o->sym + k], sums)) return true;
    return false;
  }
  if (!o->sym || w->m->syms[o->sym].kind != HD_SYM_REG) return false;
  const wait_sum s = sum_of_operand(w, inst, o);
  if (s.ok) find_in_sum(&x, &s);
  if (!s.ok) find_moving(&x, hd_cfg_reg(&w->g, w->g.insts[inst].call, o->sym));
  return x.found;
}

bool wait_looks_once(wait_search *w, uint32_t inst) {
  const hd_ptx_opnd *o = wait_address(w, inst);
  return o && w->source[inst] == WAIT_WEAK && runs_twice(w) && may_move(w, inst, o, false);
}

/* The coordinates of a texture, and of a surface that clamps, may lie beyond its end, where all are one
 * place.
 */
static bool may_clamp(wait_search *w, uint32_t inst) {
  const hd_ptx_access *a = wait_access(w, inst);
  if (hd_ptx_access_in(a, HD_IN_TEXTURE)) return true;
  return hd_ptx_access_in(a, HD_IN_SURFACE) && hd_ptx_form_has(hd_inst_form(&w->g, inst), HD_M_CLAMP);
}

/* Its address moves one way, or is loaded from places that do. */
static bool takes_course(wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  course_search x = {.w = w, .look = w->g.insts[inst].block};
  const course_kind kind = in_bits(course_of_operand(&x, inst, o), 64).kind;
  return kind == GOES || kind == DATA;
}

/* The loop goes through places of data: a weak look beside them may find one of its own for several of those.
 */
static bool goes_through_data(wait_search *w) {
  for (uint32_t i = 0; i < w->n_blocks && w->steps < WAIT_WALK; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    w->steps += b->n_insts;
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++) {
      const hd_ptx_opnd *o =
          hd_ptx_access_in(wait_access(w, k), HD_IN_ANY_GLOBAL) ? wait_address(w, k) : NULL;
      if (o && !wait_invariant(w, k, o) && (may_move(w, k, o, true) || takes_course(w, k, o))) return true;
    }
  }
  return false;
}

/* A weak look reads data if nothing is made to see what others write, and nothing rests. */
static bool may_read_data(wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  if (w->source[inst] == WAIT_STRONG || w->fence || !may_move(w, inst, o, false)) return false;
  return hd_inst_form(&w->g, inst)->op != HD_OP_LD || wait_is_plain_load(w, inst) ||
         (!w->rests && goes_through_data(w));
}

bool wait_goes_through(wait_search *w, uint32_t inst) {
  const hd_ptx_opnd *o = wait_address(w, inst);
  if (!o || (w->fence && may_clamp(w, inst))) return false;
  return wait_looks_elsewhere(w, inst) || may_read_data(w, inst, o) || takes_course(w, inst, o);
}
