/* Cycles that the thread itself ends, whatever other CTAs do. */
#include "rewrite/waits/waits.h"

enum { MOST_REGS = 16, MOST_DEPTH = 8, MOST_ADDED = 1 << 16 };

/* ---- Rounds ------------------------------------------------------------------------------------ */

/* The regions that are left without those blocks, in w->members and w->first; how many. */
static uint32_t regions_without(wait_search *w, const uint32_t *through, uint32_t n) {
  uint32_t rest = 0;
  w->steps += w->n_blocks;
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    bool taken = false;
    for (uint32_t k = 0; k < n && !taken; k++) taken = through[k] == w->blocks[i];
    if (!taken) w->part[rest++] = w->blocks[i];
  }
  return hd_regions_find(&w->regions, w->part, rest, w->members, w->first);
}

bool wait_every_round(wait_search *w, uint32_t block, const uint32_t *through, uint32_t n) {
  uint32_t *const seen = w->seen_round, round = ++w->round, top = 0;
  for (uint32_t k = 0; k < n; k++) {
    if (through[k] == block) return true;
    seen[through[k]] = round;
  }
  if (w->in[block] != w->stamp) return true;
  w->steps += w->n_blocks;
  for (w->part[top++] = block; top;) {
    const hd_block *b = &w->g.blocks[w->part[--top]];
    for (uint32_t k = 0; k < b->n_succ; k++) {
      const uint32_t to = w->g.edges[b->first_succ + k];
      if (to == block) return false;
      if (seen[to] == round || w->in[to] != w->stamp) continue;
      seen[to] = round;
      w->part[top++] = to;
    }
  }
  return true;
}

bool wait_every_round_around(wait_search *w, uint32_t block, const uint32_t *through, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (through[k] == block) return true;
  const uint32_t regions = regions_without(w, through, n);
  for (uint32_t i = 0; i < regions; i++) {
    bool here = false, around = false;
    for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++) {
      here |= w->members[k] == block;
      around |= w->within[w->members[k]] != w->stamp;
    }
    if (here && around) return false;
  }
  return true;
}

/* ---- Conditions -------------------------------------------------------------------------------- */

bool wait_exit(const wait_search *w, uint32_t block, uint32_t *reg, bool *leaves) {
  const hd_block *b = &w->g.blocks[block];
  uint32_t last = b->first + b->n_insts - 1;
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, last);
  if (b->n_succ != 2 || !s->guard) return false;
  bool taken = w->in[w->g.edges[b->first_succ]] != w->stamp;
  bool other = w->in[w->g.edges[b->first_succ + 1]] != w->stamp;
  if (taken == other) return false;
  *reg = hd_cfg_reg(&w->g, w->g.insts[last].call, s->guard);
  *leaves = taken != (bool)s->guard_neg;
  return true;
}

wait_compare wait_inverse(wait_compare c) {
  static const wait_compare table[] = {
      [CMP_EQ] = CMP_NE, [CMP_NE] = CMP_EQ, [CMP_LT] = CMP_GE,
      [CMP_GE] = CMP_LT, [CMP_GT] = CMP_LE, [CMP_LE] = CMP_GT,
  };
  return table[c];
}
wait_compare wait_mirrored(wait_compare c) {
  static const wait_compare table[] = {
      [CMP_EQ] = CMP_EQ, [CMP_NE] = CMP_NE, [CMP_LT] = CMP_GT,
      [CMP_GT] = CMP_LT, [CMP_GE] = CMP_LE, [CMP_LE] = CMP_GE,
  };
  return table[c];
}

wait_compare wait_comparison(const wait_search *w, uint32_t setp, bool leaves) {
  static const struct {
    hd_mod mod;
    wait_compare compare;
  } table[] = {{HD_M_EQ, CMP_EQ}, {HD_M_NE, CMP_NE}, {HD_M_LT, CMP_LT}, {HD_M_LO, CMP_LT}, {HD_M_LE, CMP_LE},
               {HD_M_LS, CMP_LE}, {HD_M_GT, CMP_GT}, {HD_M_HI, CMP_GT}, {HD_M_GE, CMP_GE}, {HD_M_HS, CMP_GE}};
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, setp);
  const hd_ptx_form *f = &w->m->forms[s->form];
  if (f->op != HD_OP_SETP || f->n_mods != 2 || s->n_opnds != 3) return CMP_NONE;
  if (wait_operands(w, setp)[0].kind != HD_O_REG) return CMP_NONE;
  hd_ptx_type type = hd_ptx_type_of(f->mods[1]);
  if (type.number == HD_NUM_NONE || type.format != HD_FMT_NONE) return CMP_NONE;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].mod == f->mods[0]) return leaves ? table[i].compare : wait_inverse(table[i].compare);
  return CMP_NONE;
}

/* selp r, 1, 0, p or selp r, 0, 1, p: whether r is 1 where p is. */
static bool selects_bool(const wait_search *w, uint32_t inst, bool *same) {
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  const hd_ptx_opnd *o = wait_operands(w, inst);
  int64_t a, b;
  if (w->m->forms[s->form].op != HD_OP_SELP || s->n_opnds != 4) return false;
  if (!wait_constant(w, inst, &o[1], &a) || !wait_constant(w, inst, &o[2], &b)) return false;
  if ((a != 0) == (b != 0)) return false;
  *same = a != 0;
  return true;
}

/* setp.ne r, 0 of such an r: the predicate that r stands for. *selp: where it is selected. */
static uint32_t stands_for(const wait_search *w, uint32_t setp, bool *leaves, bool inside, uint32_t *selp) {
  wait_compare c = wait_comparison(w, setp, *leaves);
  const hd_ptx_opnd *o = wait_operands(w, setp);
  int64_t zero;
  if ((c != CMP_EQ && c != CMP_NE) || !wait_constant(w, setp, &o[2], &zero) || zero) return HD_NONE;
  uint32_t reg = wait_register(w, setp, &o[1]);
  uint32_t at = reg == HD_NONE ? HD_NONE
                : inside       ? wait_only_writer_inside(w, reg)
                               : wait_only_writer(w, reg);
  bool same;
  if (at == HD_NONE || !selects_bool(w, at, &same)) return HD_NONE;
  *selp = at;
  *leaves = (c == CMP_NE) == same;
  return wait_register(w, at, &wait_operands(w, at)[3]);
}

/* `reader`: the instruction that reads the register; each must come behind the one whose result it reads, so
 * that this is of the same round. HD_NONE: that is not asked. */
static uint32_t decides(const wait_search *w, uint32_t reg, bool *leaves, bool inside, uint32_t reader) {
  for (unsigned depth = 0; reg != HD_NONE && depth < MOST_DEPTH; depth++) {
    uint32_t at = inside ? wait_only_writer_inside(w, reg) : wait_only_writer(w, reg);
    if (at == HD_NONE || (reader != HD_NONE && !wait_comes_before(w, at, reader))) return HD_NONE;
    if (reader != HD_NONE) reader = at;
    const hd_ptx_form *f = hd_inst_form(&w->g, at);
    const hd_ptx_opnd *o = wait_operands(w, at);
    if (f->op == HD_OP_NOT && hd_ptx_form_has(f, HD_M_PRED)) {
      *leaves = !*leaves;
      reg = wait_register(w, at, &o[1]);
    } else if (f->op == HD_OP_MOV && hd_ptx_form_has(f, HD_M_PRED)) {
      reg = wait_register(w, at, &o[1]);
    } else {
      bool now = *leaves;
      uint32_t selp, meant = f->op == HD_OP_SETP ? stands_for(w, at, &now, inside, &selp) : HD_NONE;
      if (meant == HD_NONE) return at;
      if (reader != HD_NONE && !wait_comes_before(w, selp, at)) return HD_NONE;
      if (reader != HD_NONE) reader = selp;
      *leaves = now;
      reg = meant;
    }
  }
  return HD_NONE;
}

uint32_t wait_decides(const wait_search *w, uint32_t reg, bool *leaves, bool inside) {
  return decides(w, reg, leaves, inside, HD_NONE);
}

uint32_t wait_branch(const wait_search *w, uint32_t block, wait_compare *taken) {
  const hd_block *b = &w->g.blocks[block];
  const uint32_t last = b->first + b->n_insts - 1;
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, last);
  bool holds = !s->guard_neg;
  if (b->n_succ != 2 || !s->guard) return HD_NONE;
  const uint32_t setp = decides(w, hd_cfg_reg(&w->g, w->g.insts[last].call, s->guard), &holds, false, last);
  *taken = setp == HD_NONE ? CMP_NONE : wait_comparison(w, setp, holds);
  return *taken == CMP_NONE ? HD_NONE : setp;
}

/* ---- Updates ----------------------------------------------------------------------------------- */

bool wait_is_swap(const wait_search *w, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  return f->op == HD_OP_ATOM && hd_ptx_form_has(f, HD_M_CAS) && hd_inst_stmt(&w->g, inst)->n_opnds >= 4;
}

/* The instruction that wrote a register in this round, copies followed. */
static uint32_t origin(const wait_search *w, uint32_t reg) {
  for (unsigned depth = 0; reg != HD_NONE && depth < MOST_DEPTH; depth++) {
    uint32_t at = wait_only_writer_inside(w, reg);
    if (at == HD_NONE) return HD_NONE;
    uint32_t from = wait_copied(w, at);
    if (from == HD_NONE) return at;
    reg = from;
  }
  return HD_NONE;
}

/* In the next round the swap compares with the value that the last one found, or with one loaded again: it
 * succeeds if no other thread writes there. */
static bool is_refreshed(wait_search *w, uint32_t swap, uint32_t expected) {
  uint32_t result = wait_register(w, swap, &wait_operands(w, swap)[0]);
  uint32_t through[MOST_REGS], n = 0;
  for (uint32_t i = w->writers.first[expected]; i < w->writers.first[expected + 1]; i++) {
    uint32_t inst = w->writers.insts[i], leaf[MOST_REGS], n_leaves = 0;
    if (!wait_inside(w, inst)) continue;
    bool found = inst == swap || wait_copied(w, inst) == result;
    if (!found && wait_copied(w, inst) != HD_NONE) found = origin(w, wait_copied(w, inst)) == swap;
    if (!found && hd_inst_form(&w->g, inst)->op == HD_OP_LD)
      found = wait_access(w, inst)->bytes == wait_access(w, swap)->bytes &&
              wait_operand(w, inst, 0) != HD_NONE &&
              wait_same_address(w, swap, inst, leaf, &n_leaves, MOST_REGS);
    if (!found || n == MOST_REGS || hd_inst_stmt(&w->g, inst)->guard) return false;
    through[n++] = w->g.insts[inst].block;
  }
  return n && wait_every_round(w, w->g.insts[swap].block, through, n);
}

/* Between two instructions of one block nothing writes the register. */
static bool is_kept(const wait_search *w, uint32_t reg, uint32_t from, uint32_t to) {
  if (w->g.insts[from].block != w->g.insts[to].block || from > to) return false;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++)
    if (w->writers.insts[i] > from && w->writers.insts[i] < to) return false;
  return true;
}

/* A register and the one that the swap was given are the same, or one is the other's copy. */
static bool is_expected(const wait_search *w, uint32_t swap, uint32_t setp, uint32_t reg,
                        uint32_t *expected) {
  uint32_t given = wait_register(w, swap, &wait_operands(w, swap)[2]);
  if (given == HD_NONE || reg == HD_NONE) return false;
  uint32_t a = wait_only_writer_inside(w, given), b = wait_only_writer_inside(w, reg);
  uint32_t from_a = a == HD_NONE ? HD_NONE : wait_copied(w, a),
           from_b = b == HD_NONE ? HD_NONE : wait_copied(w, b);
  if (given == reg && is_kept(w, reg, swap, setp)) {
    /* In SSA form the swap is given this round's copy of the register that is carried around. */
    *expected = from_a != HD_NONE && is_kept(w, from_a, a, swap) ? from_a : given;
    return true;
  }
  *expected = given;
  if (from_b == given) return is_kept(w, given, b, swap) && is_kept(w, given, swap, setp);
  *expected = reg;
  if (from_a == reg) return is_kept(w, reg, a, swap) && is_kept(w, reg, swap, setp);
  return false;
}

/* It does not write there, but for results through another pointer. */
static bool leaves_alone(wait_search *w, const wait_place *place, uint32_t inst) {
  const wait_meeting m = wait_may_write(w, place, inst);
  return m == WAIT_APART || (m == WAIT_OTHER_POINTER && wait_is_plain_store(w, inst));
}

/* The thread's own writes do not keep the swap from finding what it expects. */
static bool swaps_alone(wait_search *w, uint32_t swap) {
  const wait_place place = wait_place_of(w, swap);
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    w->steps += b->n_insts;
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++)
      if (k != swap && !leaves_alone(w, &place, k)) return false;
  }
  return true;
}

static bool updates(wait_search *w, uint32_t setp, const hd_ptx_opnd *a, const hd_ptx_opnd *b,
                    wait_compare leaves) {
  uint32_t reg = wait_register(w, setp, a), expected;
  if (leaves != CMP_EQ || reg == HD_NONE) return false;
  uint32_t swap = origin(w, reg);
  if (swap == HD_NONE || !wait_is_swap(w, swap)) return false;
  const hd_ptx_opnd *address = &wait_operands(w, swap)[1];
  if (!wait_invariant(w, swap, address) || !swaps_alone(w, swap)) return false;
  if (!is_expected(w, swap, setp, wait_register(w, setp, b), &expected)) return false;
  if (!is_refreshed(w, swap, expected)) {
    /* The copy may be the register that is refreshed. */
    uint32_t given = wait_register(w, swap, &wait_operands(w, swap)[2]);
    if (given == expected || !is_refreshed(w, swap, given)) return false;
  }
  uint32_t block = w->g.insts[swap].block;
  return wait_every_round(w, w->g.insts[setp].block, &block, 1);
}

/* ---- Fetching work ----------------------------------------------------------------------------- */

/* Adds a number that is never 0 in this direction. */
static bool adds(const wait_search *w, uint32_t inst, bool up) {
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  const hd_ptx_form *f = &w->m->forms[s->form];
  uint32_t by = f->flags & HD_OPF_RESULT ? 2 : 1;
  int64_t value;
  if (!(f->flags & HD_OPF_UPDATES) || !hd_ptx_form_has(f, HD_M_ADD) || s->n_opnds <= by) return false;
  for (unsigned k = 0; k < f->n_mods; k++)
    if (hd_ptx_type_of(f->mods[k]).format != HD_FMT_NONE) return false;
  const hd_ptx_opnd *o = &wait_operands(w, inst)[by];
  return up ? wait_positive(w, inst, o)
            : wait_constant(w, inst, o, &value) && value < 0 && value >= INT32_MIN;
}

/* An atomic addition of a number that is never 0, to one address: its result moves by itself. */
static bool is_growing(wait_search *w, uint32_t inst, bool *up) {
  if (hd_inst_form(&w->g, inst)->op != HD_OP_ATOM) return false;
  *up = adds(w, inst, true);
  return (*up || adds(w, inst, false)) && wait_invariant(w, inst, &wait_operands(w, inst)[1]);
}

/* Two plain places of shared memory that cannot be the same. */
static bool apart(const wait_search *w, uint32_t a, const hd_ptx_opnd *x, uint32_t b, const hd_ptx_opnd *y) {
  hd_sym p = wait_root(w, a, x), q = wait_root(w, b, y);
  return p && q && p != q;
}

/* The only store in the region that may write the place that a load of shared memory reads; HD_NONE. */
static uint32_t only_store(wait_search *w, uint32_t load) {
  uint32_t only = HD_NONE;
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    w->steps += b->n_insts;
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++) {
      if (hd_inst_form(&w->g, k)->flags & HD_OPF_CALLS && !w->g.insts[k].body) return HD_NONE;
      const hd_ptx_access *a = wait_access(w, k);
      for (unsigned t = 0; t < a->n; t++) {
        if (!(a->touches[t].kinds & HD_ACC_WRITE)) continue;
        if (!(a->touches[t].space & (HD_IN_ANY_SHARED | HD_IN_GENERIC))) continue;
        if (apart(w, load, &wait_operands(w, load)[1], k, &wait_operands(w, k)[a->touches[t].operand]))
          continue;
        if (only != HD_NONE || hd_inst_form(&w->g, k)->op != HD_OP_ST) return HD_NONE;
        only = k;
      }
    }
  }
  return only;
}

static uint32_t fetched(wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth, bool *up,
                        wait_fetched *all);

static bool add_step(wait_fetched *all, uint32_t inst, uint32_t value) {
  if (all->n_steps == WAIT_MOST_STEPS) return false;
  all->steps[all->n_steps].inst = inst;
  all->steps[all->n_steps++].value = value;
  return true;
}

/* The operand that brings the number into an instruction that passes it on; 0: it does not. */
static uint32_t carrier(const wait_search *w, uint32_t at) {
  const hd_ptx_opnd *o = wait_operands(w, at);
  const hd_ptx_result *r = wait_result(w, at);
  const hd_ptx_term *t = r->terms;
  if (hd_ptx_alike_of(hd_inst_form(&w->g, at)) == HD_ALIKE_SOURCE) return 1; /* shfl */
  if (r->makes != HD_MAKES_SUM || hd_ptx_is_copy(r)) return wait_copied(w, at) != HD_NONE;
  if (t[0].by)
    return wait_positive(w, at, &o[t[0].by]) && (r->n_terms == 1 || wait_invariant(w, at, &o[t[1].of]));
  if (t[1].minus) return 0;
  return wait_invariant(w, at, &o[t[1].of]) ? t[0].of : wait_invariant(w, at, &o[t[0].of]) ? t[1].of : 0;
}

/* Registers with several writers: one loads the value, the others set a constant in threads that do not load.
 */
static uint32_t fetched_register(wait_search *w, uint32_t reg, unsigned depth, bool *up, wait_fetched *all) {
  uint32_t atom = HD_NONE;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++) {
    uint32_t at = w->writers.insts[i];
    if (!wait_inside(w, at)) continue;
    const hd_ptx_form *f = hd_inst_form(&w->g, at);
    const hd_ptx_opnd *o = wait_operands(w, at);
    uint32_t n = hd_inst_stmt(&w->g, at)->n_opnds, found = HD_NONE, by;
    int64_t number;
    if (f->op == HD_OP_MOV && n == 2 && wait_constant(w, at, &o[1], &number)) {
      if (!add_step(all, at, HD_NONE)) return HD_NONE;
      continue;
    }
    if (is_growing(w, at, up)) {
      found = add_step(all, at, HD_NONE) ? at : HD_NONE;
    } else if ((by = carrier(w, at)) != 0) {
      if (add_step(all, at, wait_register(w, at, &o[by]))) found = fetched(w, at, &o[by], depth + 1, up, all);
    } else if (f->op == HD_OP_LD && wait_access(w, at)->n == 1 &&
               wait_access(w, at)->touches[0].space == HD_IN_SHARED) {
      uint32_t store = only_store(w, at);
      if (store != HD_NONE && add_step(all, at, HD_NONE) && add_step(all, store, wait_operand(w, store, 1)))
        found = fetched(w, store, &wait_operands(w, store)[1], depth + 1, up, all);
    }
    if (found == HD_NONE || (atom != HD_NONE && atom != found)) return HD_NONE;
    atom = found;
  }
  return atom;
}

static uint32_t fetched(wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth, bool *up,
                        wait_fetched *all) {
  uint32_t reg = wait_register(w, inst, o);
  return reg == HD_NONE || depth == MOST_DEPTH ? HD_NONE : fetched_register(w, reg, depth, up, all);
}

/* What an addition adds: a number of the text, else the register or special register. */
static const hd_ptx_opnd *addend(const wait_search *w, uint32_t inst) {
  return &wait_operands(w, inst)[hd_inst_form(&w->g, inst)->op == HD_OP_ATOM ? 2 : 1];
}

/* By additions like its own, a thread comes to every number that it could come to with the help of this one:
 * a multiple of its own, up to a power of two beyond which numbers come round. */
static bool adds_nothing_new(const wait_search *w, uint32_t atom, uint32_t inst) {
  const hd_ptx_opnd *own = addend(w, atom), *other = addend(w, inst);
  int64_t a, b;
  if (wait_constant(w, atom, own, &a)) {
    uint64_t low = (uint64_t)a & (~(uint64_t)a + 1);
    return low == 1 || (wait_constant(w, inst, other, &b) && (uint64_t)b % low == 0);
  }
  uint32_t x = wait_register(w, atom, own), y = wait_register(w, inst, other);
  if (x == HD_NONE)
    return own->kind == HD_O_SREG && other->kind == HD_O_SREG && own->sym == other->sym &&
           own->part == other->part;
  return x == y && wait_only_writer(w, x) != HD_NONE;
}

/* It runs once at most from one time that the thread comes to a block of the region to the next. */
static bool is_once(wait_search *w, uint32_t inst, uint32_t block) {
  return wait_every_round(w, w->g.insts[inst].block, &block, 1);
}

/* What an addition adds is at most this, or at least minus this; 0: not known. */
static int64_t most_added(const wait_search *w, uint32_t inst) {
  int64_t by;
  if (!wait_constant(w, inst, addend(w, inst), &by)) return wait_most(w, inst, addend(w, inst));
  return by == INT64_MIN ? 0 : by < 0 ? -by : by;
}

/* An addition in the loop itself comes with the fetched number in each round: together they must not come
 * round to where they were, nor leave out a number that the fetch alone comes to. Through another pointer it
 * is enough that they do not come round. */
static bool adds_beside(wait_search *w, const wait_place *place, uint32_t inst, uint32_t block) {
  const int64_t by = most_added(w, inst);
  if (wait_may_write(w, place, inst) == WAIT_MEETS) return false;
  return by == 1 || (by && by <= MOST_ADDED && is_once(w, inst, block));
}

/* No thread of the kernel writes the place in another way: what an atomic added stays there. `block`: where
 * the loop is left. */
static bool only_grows(wait_search *w, uint32_t atom, bool up, uint32_t block) {
  wait_place place = wait_place_of(w, atom);
  if (!w->whole || (most_added(w, atom) != 1 && !is_once(w, atom, block))) return false;
  w->steps += w->g.n_insts;
  for (uint32_t i = 0; i < w->g.n_insts; i++) {
    if (i == atom || leaves_alone(w, &place, i)) continue;
    if (!adds(w, i, up) || wait_access(w, i)->bytes != wait_access(w, atom)->bytes ||
        !adds_nothing_new(w, atom, i))
      return false;
    if (wait_inside(w, i) && !adds_beside(w, &place, i, block)) return false;
  }
  return true;
}

bool wait_fetch(wait_search *w, uint32_t block, uint32_t reg, bool leaves, wait_fetched *all) {
  uint32_t setp = wait_decides(w, reg, &leaves, true);
  if (setp == HD_NONE) return false;
  wait_compare c = wait_comparison(w, setp, leaves);
  if (c == CMP_NONE) return false;
  const hd_ptx_opnd *o = wait_operands(w, setp);
  for (unsigned side = 1; side <= 2; side++) {
    bool up = false;
    wait_compare now = side == 1 ? c : wait_mirrored(c);
    if (!wait_is_bound(w, setp, &o[3 - side], false)) continue;
    *all = (wait_fetched){.bound = wait_register(w, setp, &o[3 - side])};
    const uint32_t atom = fetched(w, setp, &o[side], 0, &up, all);
    if (atom == HD_NONE) continue;
    if ((up ? now == CMP_GE || now == CMP_GT : now == CMP_LE || now == CMP_LT) &&
        only_grows(w, atom, up, block))
      return true;
  }
  return false;
}

/* ---- Exits ------------------------------------------------------------------------------------- */

/* Anew in each round that comes to the exit. */
static bool looks_each_round(wait_search *w, uint32_t look, uint32_t block) {
  const uint32_t home = w->g.insts[look].block;
  return w->source[look] == WAIT_STRONG && wait_inside(w, look) && wait_every_round(w, block, &home, 1);
}

/* The exit's condition compares operand `side` of setp, which an instruction has found in memory, with the
 * other one. */
static bool takes_lock(wait_search *w, uint32_t setp, unsigned side, wait_compare leaves, uint32_t block) {
  const hd_ptx_opnd *other = &wait_operands(w, setp)[3 - side];
  int64_t number;
  uint32_t reg = wait_operand(w, setp, side), ticket = wait_register(w, setp, other);
  uint32_t look = reg == HD_NONE ? HD_NONE : wait_only_writer(w, reg);
  if (look == HD_NONE || !looks_each_round(w, look, block)) return false;
  if (wait_constant(w, setp, other, &number))
    return (leaves == CMP_EQ && (wait_is_lock(w, look, number) || wait_is_free_lock(w, look, number))) ||
           wait_is_counted(w, look, setp, side, leaves);
  uint32_t atom = ticket == HD_NONE ? HD_NONE : wait_only_writer(w, ticket);
  return atom != HD_NONE && leaves == CMP_EQ && hd_inst_form(&w->g, look)->op == HD_OP_LD &&
         wait_is_ticket(w, look, atom, block);
}

/* A value from before this round gives the exit nothing new. */
static uint32_t decides_now(wait_search *w, uint32_t reg, bool *leaves, uint32_t block) {
  uint32_t at = wait_decides(w, reg, leaves, true);
  if (at == HD_NONE) return HD_NONE;
  uint32_t home = w->g.insts[at].block;
  return wait_every_round(w, block, &home, 1) ? at : HD_NONE;
}

static void take_apart(wait_search *w, uint32_t reg, bool leaves, uint32_t block, unsigned depth,
                       wait_part *parts, uint32_t *n) {
  uint32_t at = decides_now(w, reg, &leaves, block);
  if (at == HD_NONE || depth == MOST_DEPTH) return;
  const hd_ptx_form *f = hd_inst_form(&w->g, at);
  if ((f->op == HD_OP_AND || f->op == HD_OP_OR) && hd_ptx_form_has(f, HD_M_PRED) &&
      leaves == (f->op == HD_OP_OR)) {
    for (unsigned k = 1; k <= 2; k++) {
      uint32_t part = wait_register(w, at, &wait_operands(w, at)[k]);
      if (part != HD_NONE) take_apart(w, part, leaves, block, depth + 1, parts, n);
    }
    return;
  }
  if (*n < WAIT_MOST_PARTS) parts[(*n)++] = (wait_part){at, wait_comparison(w, at, leaves)};
}

uint32_t wait_exit_conditions(wait_search *w, uint32_t block, wait_part parts[WAIT_MOST_PARTS]) {
  uint32_t reg, n = 0;
  bool leaves;
  if (wait_exit(w, block, &reg, &leaves)) take_apart(w, reg, leaves, block, 0, parts, &n);
  return n;
}

uint32_t wait_exit_parts(wait_search *w, uint32_t block, wait_part parts[WAIT_MOST_PARTS]) {
  uint32_t n = wait_exit_conditions(w, block, parts), kept = 0;
  for (uint32_t i = 0; i < n; i++)
    if (parts[i].leaves != CMP_NONE) parts[kept++] = parts[i];
  return kept;
}

bool wait_ends_itself(wait_search *w, uint32_t block) {
  wait_part parts[WAIT_MOST_PARTS];
  uint32_t n = wait_exit_parts(w, block, parts);
  for (uint32_t i = 0; i < n; i++) {
    const hd_ptx_opnd *o = wait_operands(w, parts[i].setp);
    for (unsigned side = 1; side <= 2; side++) {
      wait_compare now = side == 1 ? parts[i].leaves : wait_mirrored(parts[i].leaves);
      if (updates(w, parts[i].setp, &o[side], &o[3 - side], now) ||
          takes_lock(w, parts[i].setp, side, now, block))
        return true;
    }
  }
  return false;
}
