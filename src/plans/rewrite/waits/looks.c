/* Polls that give up: loops that end in any case, in whose rounds an instruction looks at what others write.
 * Under another order the loop is over before they have written. */
#include "rewrite/waits/waits.h"

enum { MOST_COPIES = 8 };

/* An atomic or a reduction. */
static bool combines(const hd_ptx_access *a) { return a->value && a->touches[0].kinds & HD_ACC_ATOMIC; }

/* The operand of an atomic or a reduction that says how it changes what it finds; NULL. */
static const hd_ptx_opnd *operand_of(wait_search *w, uint32_t inst) {
  const hd_ptx_access *a = wait_access(w, inst);
  return combines(a) && hd_inst_stmt(&w->g, inst)->n_opnds > a->value ? &wait_operands(w, inst)[a->value]
                                                                      : NULL;
}

/* An atomic or a reduction that leaves another number than it finds, whatever that is. */
static bool always_changes(wait_search *w, uint32_t inst) {
  const hd_ptx_access *a = wait_access(w, inst);
  const hd_ptx_opnd *o = operand_of(w, inst);
  int64_t value = 0;
  if (!o || !hd_ptx_form_is_whole(hd_inst_form(&w->g, inst), 16)) return false;
  const bool number = wait_constant(w, inst, o, &value) && wait_word(value, a->bytes) != 0;
  switch (a->operation) {
  case HD_M_ADD: return number || wait_positive(w, inst, o);
  case HD_M_XOR:
  case HD_M_INC:
  case HD_M_DEC: return number;
  default: return false;
  }
}

/* ---- What is looked at --------------------------------------------------------------------------- */

/* An addition in every round excuses a look at the whole number that it leaves: where it is compared, or the
 * place of something. Of its bits, and of what is worked out of it, some may stay as they were. */
typedef struct use_search {
  wait_search *w;
  uint32_t reg, depth;
  unsigned bytes, lowest; /* of the bits that change in every round, whatever they were */
  bool down;              /* a number below 0 is added */
  bool toggles;           /* after few rounds the word is what it was, but for what others write */
  int64_t ring;           /* the greatest number before it is 0 again; 0: that of its bits */
  bool index;             /* the register is worked out of the number, by other numbers that stay */
  bool apart;
  bool *shared; /* what shared memory holds was followed */
} use_search;

enum { LOWEST_UNKNOWN = 64, LEAST_BITS = 8, MOST_OF_RING = 1 << 20 };

static bool is_copy(const wait_search *w, uint32_t inst) {
  return wait_copied(w, inst) != HD_NONE || wait_moves_whole(w, inst) ||
         hd_inst_form(&w->g, inst)->op == HD_OP_SHFL;
}

/* What it is compared with does not go along with it: it stays, or is loaded. */
static bool is_compared_with_other(const use_search *x, uint32_t inst) {
  const wait_search *w = x->w;
  for (uint32_t k = 1; k <= 2; k++) {
    const hd_ptx_opnd *o = &wait_operands(w, inst)[k];
    const uint32_t reg = wait_register(w, inst, o);
    if (reg == x->reg || wait_invariant(w, inst, o)) continue;
    const uint32_t at = reg == HD_NONE ? HD_NONE : wait_only_writer_inside(w, reg);
    if (at == HD_NONE || !(wait_access(x->w, at)->kinds & HD_ACC_READ)) return false;
  }
  return true;
}

/* It is equal to something, or beyond a number that is no flag in its upper bits. */
static bool compares_whole(const use_search *x, uint32_t inst) {
  const wait_search *w = x->w;
  const hd_ptx_opnd *o = wait_operands(w, inst);
  const wait_compare c = wait_comparison(w, inst, true);
  int64_t bound;
  if (c == CMP_NONE) return false;
  const hd_ptx_type type = hd_ptx_type_of(hd_inst_form(&w->g, inst)->mods[1]);
  if (type.number == HD_NUM_FLOAT || type.bits != 8 * x->bytes) return false;
  const bool number = wait_constant(w, inst, &o[1], &bound) || wait_constant(w, inst, &o[2], &bound);
  if (x->toggles || (!number && (x->ring || !is_compared_with_other(x, inst)))) return false;
  if (x->index) return !number;
  if (x->ring && (bound < 0 || bound + (c == CMP_GT || c == CMP_LE) > x->ring)) return false;
  return c == CMP_EQ || c == CMP_NE || !number ||
         (x->down ? type.number == HD_NUM_SIGNED && !bound : bound >= 2 && bound <= MOST_OF_RING);
}

/* The other operands of a sum, a product or a shift stay as they are. */
static bool others_stay(const use_search *x, uint32_t inst) {
  const wait_search *w = x->w;
  bool all = true;
  for (uint32_t k = 1; k < hd_inst_stmt(&w->g, inst)->n_opnds; k++) {
    const hd_ptx_opnd *o = &wait_operands(w, inst)[k];
    const unsigned kind = o->kind == HD_O_SREG ? hd_ptx_sreg_kind(w->m->syms[o->sym].index) : HD_SRK_UNKNOWN;
    const bool size = kind >= HD_SRK_LAUNCH && kind <= HD_SRK_LANE;
    all &= size || wait_operand(w, inst, k) == x->reg || wait_invariant(w, inst, o);
  }
  return all;
}

static void follow_result(void *ctx, uint32_t reg);

/* The variable that an instruction reads, or writes, in shared memory or by a generic address; 0: not known,
 * or several. */
static hd_sym shared_variable(wait_search *w, uint32_t inst, unsigned kinds) {
  const hd_ptx_access *a = wait_access(w, inst);
  const hd_ptx_touch *only = NULL;
  for (unsigned k = 0; k < a->n; k++) {
    const hd_ptx_touch *t = &a->touches[k];
    if (!(t->space & (HD_IN_ANY_SHARED | HD_IN_GENERIC)) || !(t->kinds & kinds)) continue;
    if (only || t->operand >= hd_inst_stmt(&w->g, inst)->n_opnds) return 0;
    only = t;
  }
  return only ? wait_root(w, inst, &wait_operands(w, inst)[only->operand]) : 0;
}

/* A generic address may lead to shared memory: the kernel makes such, or may get one from its caller. */
static bool may_be_generic(const wait_search *w) {
  bool some = !w->whole;
  for (uint32_t i = 0; i < w->g.n_insts && !some; i++) {
    const hd_ptx_form *f = hd_inst_form(&w->g, i);
    const bool other = hd_ptx_form_has(f, HD_M_TO) || hd_ptx_form_has(f, HD_M_GLOBAL) ||
                       hd_ptx_form_has(f, HD_M_LOCAL) || hd_ptx_form_has(f, HD_M_CONST) ||
                       hd_ptx_form_has(f, HD_M_PARAM);
    some = f->op == HD_OP_MAPA || (f->op == HD_OP_CVTA && !other);
  }
  return some;
}

/* What the store leaves in shared memory may be read otherwise than by loads of whole numbers. */
static bool is_left_in_parts(const use_search *x, uint32_t store) {
  wait_search *w = x->w;
  const hd_sym stored = shared_variable(w, store, HD_ACC_WRITE);
  const bool generic = may_be_generic(w);
  w->steps += w->g.n_insts;
  for (uint32_t i = 0; i < w->g.n_insts; i++) {
    const hd_ptx_access *a = wait_access(w, i);
    const bool shared = hd_ptx_access_in(a, HD_IN_ANY_SHARED) & HD_ACC_READ;
    if (!shared && !(hd_ptx_access_in(a, HD_IN_GENERIC) & HD_ACC_READ)) continue;
    if (shared && hd_inst_form(&w->g, i)->op == HD_OP_LD && a->bytes == x->bytes * a->elements) continue;
    const hd_sym read = shared_variable(w, i, HD_ACC_READ);
    if (stored && read ? stored == read : (shared || generic)) return true;
  }
  return false;
}

/* One thread hands the number to the others of its CTA: whatever is loaded from shared memory may be it. */
static bool is_shared_in_parts(const use_search *x, uint32_t store) {
  const hd_cfg *g = &x->w->g;
  use_search y = *x;
  if (is_left_in_parts(x, store)) return true;
  if (*x->shared) return false;
  *x->shared = true;
  for (uint32_t i = 0; i < g->n_insts && !y.apart; i++)
    if (hd_inst_form(g, i)->op == HD_OP_LD && hd_ptx_access_in(wait_access(x->w, i), HD_IN_ANY_SHARED))
      hd_inst_writes(g, i, follow_result, &y);
  return y.apart;
}

/* The region loads what the store leaves in global memory, as far as the text says, and uses a part of it. */
static bool is_loaded_in_parts(const use_search *x, uint32_t store) {
  wait_search *w = x->w;
  use_search y = *x;
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    w->steps += b->n_insts;
    for (uint32_t k = b->first; k < b->first + b->n_insts && !y.apart; k++) {
      if (hd_inst_form(&w->g, k)->op != HD_OP_LD || w->source[k] == WAIT_OWN) continue;
      const wait_place place = wait_place_of(w, k);
      if (!place.root || wait_may_write(w, &place, store) != WAIT_MEETS) continue;
      y.apart = wait_access(w, k)->bytes != x->bytes;
      hd_inst_writes(&w->g, k, follow_result, &y);
    }
  }
  return y.apart;
}

static bool is_stored_in_parts(const use_search *x, uint32_t inst) {
  const hd_ptx_access *a = wait_access(x->w, inst);
  if (a->bytes != x->bytes * a->elements || x->toggles) return true;
  if (hd_ptx_access_in(a, HD_IN_ANY_SHARED)) return x->index || is_shared_in_parts(x, inst);
  return !hd_ptx_access_in(a, HD_IN_GLOBAL) || is_loaded_in_parts(x, inst);
}

/* The lowest bit that changes in every round is among those that are left of the number. */
static bool keeps_lowest(const use_search *x, uint32_t inst, const hd_ptx_result *r) {
  const hd_ptx_term *t = r->terms;
  int64_t value;
  const bool known = wait_constant(x->w, inst, &wait_operands(x->w, inst)[t->by], &value);
  if (r->makes == HD_MAKES_REMAINDER) return !known && !x->lowest;
  if (!known || x->lowest >= 63) return false;
  if (r->makes == HD_MAKES_MASKED) return (uint64_t)value >> x->lowest & 1;
  return t->power && value >= 0 && value <= x->lowest;
}

/* The operand is the register, or a vector with it. */
static bool is_among(const use_search *x, uint32_t inst, uint32_t operand) {
  const wait_search *w = x->w;
  const hd_ptx_opnd *o = &wait_operands(w, inst)[operand];
  if (o->kind != HD_O_VEC) return wait_register(w, inst, o) == x->reg;
  for (uint32_t k = 0; k < o->n_kids; k++)
    if (wait_register(w, inst, &w->m->opnds[o->sym + k]) == x->reg) return true;
  return false;
}

/* The number is an address, or is stored as it is. */
static bool accesses_whole(const use_search *x, uint32_t inst) {
  wait_search *w = x->w;
  const hd_ptx_access *a = wait_access(w, inst);
  const uint32_t n = hd_inst_stmt(&w->g, inst)->n_opnds;
  if (!a->value) return !x->toggles && hd_ptx_alike_of(hd_inst_form(&w->g, inst)) == HD_ALIKE_MEMORY;
  if (!combines(a)) return n == 2 && (!is_among(x, inst, a->value) || !is_stored_in_parts(x, inst));
  for (uint32_t k = a->value; k < n; k++)
    if (is_among(x, inst, k)) return false;
  return true;
}

/* It may see only bits that stay as they are. *made: its result is worked out of the whole number. */
static bool sees_part(const use_search *x, uint32_t inst, bool *made) {
  const wait_search *w = x->w;
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  const hd_ptx_result *r = wait_result(w, inst);
  *made = true;
  if (is_copy(w, inst)) return false;
  if (hd_ptx_form_has(f, HD_M_HI) || hd_ptx_form_has(f, HD_M_CC)) return true;
  switch (r->makes) {
  case HD_MAKES_SUM: return hd_ptx_is_copy(r) || !others_stay(x, inst);
  case HD_MAKES_MASKED:
  case HD_MAKES_QUOTIENT:
  case HD_MAKES_REMAINDER: return x->index || !keeps_lowest(x, inst, r);
  default: break;
  }
  *made = false;
  return r->makes == HD_MAKES_COMPARISON ? !compares_whole(x, inst) : !accesses_whole(x, inst);
}

static void look_at_use(use_search *x, uint32_t inst);

static void follow_result(void *ctx, uint32_t reg) {
  use_search *x = ctx, y = *x;
  uint32_t n;
  const uint32_t *readers = wait_readers(x->w, reg, &n);
  if (x->depth == MOST_COPIES) {
    x->apart = true;
    return;
  }
  y.reg = reg;
  y.depth++;
  for (uint32_t i = 0; i < n && !y.apart; i++) look_at_use(&y, readers[i]);
  y.w->steps += n;
  x->apart |= y.apart;
}

static void look_at_use(use_search *x, uint32_t inst) {
  wait_search *w = x->w;
  bool made;
  x->apart |= sees_part(x, inst, &made);
  if (x->apart || !made) return;
  use_search y = *x;
  y.index = x->index || !is_copy(w, inst);
  hd_inst_writes(&w->g, inst, follow_result, &y);
  x->apart |= y.apart;
}

/* Some reader of what the look finds may see only bits that `by`, an atomic which changes the word in every
 * round, leaves as they are. */
static bool is_read_in_parts(wait_search *w, uint32_t look, uint32_t by) {
  const hd_ptx_opnd *o = operand_of(w, by);
  bool shared = false;
  use_search x = {.w = w, .bytes = wait_access(w, look)->bytes, .lowest = LOWEST_UNKNOWN, .shared = &shared};
  const hd_mod operation = wait_access(w, by)->operation;
  int64_t value = 0;
  const bool known = o && wait_constant(w, by, o, &value) && value;
  if (operation == HD_M_INC || operation == HD_M_DEC)
    x.lowest = 0;
  else if (known)
    for (x.lowest = 0; !((uint64_t)value >> x.lowest & 1);) x.lowest++;
  const bool ring = operation == HD_M_INC || operation == HD_M_DEC;
  x.ring = ring && (uint64_t)value < MOST_OF_RING ? value : 0;
  x.toggles = operation == HD_M_XOR ||
              (operation == HD_M_ADD && x.lowest != LOWEST_UNKNOWN && 8 * x.bytes < x.lowest + LEAST_BITS);
  x.down = operation == HD_M_ADD && x.lowest != LOWEST_UNKNOWN && wait_word(value, x.bytes) < 0;
  hd_inst_writes(&w->g, look, follow_result, &x);
  return x.apart;
}

/* ---- Looks -------------------------------------------------------------------------------------- */

/* It adds another number in each round, of which one may be 0. */
static bool adds_others(wait_search *w, uint32_t inst) {
  const hd_ptx_opnd *o = operand_of(w, inst);
  return o && wait_access(w, inst)->operation == HD_M_ADD &&
         hd_ptx_form_is_whole(hd_inst_form(&w->g, inst), 32) && wait_moves_on(w, inst, o);
}

/* An atomic that leaves behind what it finds, or at most a number of the text that ends its changes. */
static bool is_idle(wait_search *w, uint32_t inst) {
  const hd_ptx_opnd *o = operand_of(w, inst);
  int64_t value, other;
  if (!o || !wait_constant(w, inst, o, &value)) return false;
  switch (wait_access(w, inst)->operation) {
  case HD_M_ADD:
  case HD_M_XOR: return value == 0;
  case HD_M_CAS: return wait_constant(w, inst, o + 1, &other) && other == value;
  case HD_M_OR:
  case HD_M_AND:
  case HD_M_MIN:
  case HD_M_MAX: return true;
  default: return false;
  }
}

/* Added one after the other, such numbers come to each. */
static bool comes_to_each(wait_search *w, uint32_t inst) {
  const hd_ptx_opnd *o = operand_of(w, inst);
  const hd_ptx_access *a = wait_access(w, inst);
  int64_t value;
  if (a->operation == HD_M_INC || a->operation == HD_M_DEC) return true;
  if (a->operation != HD_M_ADD || !wait_constant(w, inst, o, &value)) return false;
  value = wait_word(value, a->bytes);
  return value == 1 || value == -1;
}

/* Another atomic that adds as this one does, and is looked at as well: each number comes to one of them. */
static bool adds_alike(wait_search *w, uint32_t inst, uint32_t other) {
  const hd_ptx_access *a = wait_access(w, inst), *b = wait_access(w, other);
  int64_t x, y;
  if (hd_inst_form(&w->g, other)->op != HD_OP_ATOM || a->operation != b->operation || a->bytes != b->bytes ||
      !wait_result_is_read(w, other))
    return false;
  const bool constant = wait_constant(w, inst, operand_of(w, inst), &x);
  return constant == wait_constant(w, other, operand_of(w, other), &y) && (!constant || x == y);
}

/* Whatever else may write the word adds alike. Numbers that come to nobody, or come about in another way, may
 * be those for which a round is meant: whether one finds them depends on who was first. A plain store counts
 * as a result unless it goes to the word for certain. */
static bool adds_alone(wait_search *w, uint32_t inst) {
  const wait_place place = wait_place_of(w, inst);
  w->steps += w->g.n_insts;
  for (uint32_t i = 0; i < w->g.n_insts; i++) {
    if (i == inst || adds_alike(w, inst, i)) continue;
    const wait_meeting m = wait_may_write(w, &place, i);
    if (m != WAIT_APART && (!wait_is_plain_store(w, i) || wait_same_place(w, inst, i))) return false;
  }
  return true;
}

/* It leaves another number in every round, and that is what is looked at. */
static bool counts(wait_search *w, uint32_t inst) {
  return (always_changes(w, inst) || adds_others(w, inst)) && !is_read_in_parts(w, inst, inst) &&
         !wait_keeps_outcome(w, inst, comes_to_each(w, inst) ? WAIT_EACH : WAIT_SOME) && adds_alone(w, inst);
}

static bool fetches(wait_search *w, uint32_t inst) {
  return w->fetches[inst] && !wait_keeps_outcome(w, inst, WAIT_FETCHED) && !wait_shows_end(w);
}

bool wait_reads_others(wait_search *w, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  if (w->source[inst] == WAIT_OWN) return false;
  return f->op != HD_OP_ATOM || (wait_result_is_read(w, inst) && !counts(w, inst));
}

/* Reads what others write, and is made to see it. */
static bool looks_anew(wait_search *w, uint32_t inst) {
  const wait_source source = (wait_source)w->source[inst];
  if (source == WAIT_OWN) return false;
  if (wait_call_copies(w, inst)) return w->fence;
  return source == WAIT_STRONG || w->fence || (source == WAIT_CTA && w->any_fence) ||
         (source == WAIT_WEAK && !wait_is_plain_load(w, inst));
}

static bool is_inner(const wait_search *w, uint32_t inst) {
  return w->inner[w->g.insts[inst].block] == w->stamp;
}

typedef struct way_back {
  wait_search *w;
  uint32_t depth, store;
  bool only;
} way_back;

/* Nothing reads the register but sums, of which the store writes the last. */
static void follow_back(void *ctx, uint32_t reg) {
  way_back *x = ctx, y = *x;
  const hd_cfg *g = &x->w->g;
  uint32_t n;
  const uint32_t *readers = wait_readers(x->w, reg, &n);
  y.depth++;
  y.only = x->depth < MOST_COPIES;
  y.w->steps += n;
  for (uint32_t i = 0; i < n && y.only; i++) {
    const hd_ptx_result *r = hd_ptx_op_result(hd_inst_form(g, readers[i])->op);
    if (readers[i] == x->store) continue;
    y.only = r->makes == HD_MAKES_SUM && r->n_terms == 2;
    if (y.only) hd_inst_writes(g, readers[i], follow_back, &y);
  }
  x->only &= y.only;
}

/* The value only goes back to its place, in a sum, and is not used. */
static bool goes_back(wait_search *w, uint32_t look, uint32_t store) {
  way_back x = {.w = w, .store = store, .only = true};
  if (hd_inst_form(&w->g, look)->op != HD_OP_LD) return false;
  hd_inst_writes(&w->g, look, follow_back, &x);
  return x.only;
}

/* It changes what the look finds, for certain, if that is where it writes: a sum in memory, or the lock that
 * a cycle within takes. */
static bool replaces(wait_search *w, uint32_t look, uint32_t inst) {
  const hd_ptx_op op = hd_inst_form(&w->g, inst)->op;
  if (always_changes(w, inst))
    return !is_read_in_parts(w, look, inst) && !wait_keeps_outcome(w, look, WAIT_SOME);
  if (op == HD_OP_RED) return false;
  if (op == HD_OP_ATOM && !is_inner(w, inst) && wait_result_is_read(w, inst)) return false;
  return is_inner(w, look) ? !is_idle(w, inst) : op == HD_OP_ST && goes_back(w, look, inst);
}

/* The loop itself changes what it looks at, in every round and at the same address. */
static bool is_written_here(wait_search *w, uint32_t look) {
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    w->steps += b->n_insts;
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++) {
      uint32_t leaves[8], n = 0;
      if (!(hd_ptx_access_in(wait_access(w, k), HD_IN_ANY_GLOBAL) & HD_ACC_WRITE)) continue;
      if (k == look || hd_inst_stmt(&w->g, k)->guard) continue;
      if (wait_same_address(w, look, k, leaves, &n, 8) && replaces(w, look, k) &&
          wait_every_round_around(w, w->g.insts[look].block, &w->blocks[i], 1))
        return true;
    }
  }
  return false;
}

typedef struct factor_search {
  wait_search *w;
  uint32_t readers, others;
} factor_search;

static void look_for_product(void *ctx, uint32_t reg) {
  factor_search *x = ctx;
  uint32_t n;
  const uint32_t *readers = wait_readers(x->w, reg, &n);
  for (uint32_t i = 0; i < n; i++) {
    const hd_ptx_result *r = hd_ptx_op_result(hd_inst_form(&x->w->g, readers[i])->op);
    x->others += r->makes != HD_MAKES_SUM || !r->terms[0].by || r->terms[0].power;
  }
  x->readers += n;
}

/* A float that is multiplied, and nothing else: of a row of a matrix. */
static bool is_factor(wait_search *w, uint32_t inst) {
  factor_search x = {.w = w};
  hd_ptx_type type[2];
  hd_ptx_types_of(hd_inst_form(&w->g, inst), type);
  if (type[0].number != HD_NUM_FLOAT) return false;
  hd_inst_writes(&w->g, inst, look_for_product, &x);
  return x.readers && !x.others;
}

/* Rows of data are read again and again: by weak loads, but for loops with a fence, or in which a thread
 * sleeps; and factors by any. */
static bool sees_others(wait_search *w, uint32_t inst) {
  return (w->source[inst] != WAIT_WEAK || w->fence || w->rests) && !is_factor(w, inst);
}

/* In a cycle within the region the place may change from round to round; what stays, or a row that begins
 * anew, is looked at again as the cycle is run again. */
static bool is_look(wait_search *w, uint32_t inst) {
  const bool atomic = hd_inst_form(&w->g, inst)->op == HD_OP_ATOM;
  if (!looks_anew(w, inst)) return false;
  const hd_ptx_opnd *address = wait_address(w, inst);
  const bool stays = !address || (wait_invariant(w, inst, address) && !wait_looks_once(w, inst));
  if (is_inner(w, inst))
    return (!atomic || is_idle(w, inst)) && (stays || (sees_others(w, inst) && wait_begins_anew(w, inst)));
  if (atomic && (fetches(w, inst) || counts(w, inst) || !wait_result_is_read(w, inst))) return false;
  if (stays || !wait_goes_through(w, inst)) return true;
  w->passes[inst] = w->stamp;
  return false;
}

/* Looks that go through places, one behind the other, so that each place is looked at in several rounds: the
 * first of so many. */
static uint32_t find_window(wait_search *w) {
  uint32_t *looks = HD_NEW_N(w->arena, w->g.n_insts + 1u, uint32_t), n = 0;
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++)
      if (w->passes[k] == w->stamp && w->source[k] == WAIT_STRONG) looks[n++] = k;
  }
  for (uint32_t i = 0; i < n && n >= WAIT_POLL_LOOKS; i++) {
    int64_t rounds[WAIT_POLL_LOOKS];
    uint32_t found = 0;
    for (uint32_t k = 0; k < n && found < WAIT_POLL_LOOKS && w->steps < WAIT_WALK; k++) {
      uint32_t other = 0;
      if (!wait_slides(w, looks[i], looks[k], &rounds[found])) continue;
      while (rounds[other] != rounds[found]) other++;
      found += other == found;
    }
    if (found == WAIT_POLL_LOOKS) return looks[i];
  }
  return HD_NONE;
}

uint32_t wait_looks_again(wait_search *w, const uint32_t *rest, uint32_t n_rest) {
  const uint32_t regions = hd_regions_find(&w->regions, rest, n_rest, w->members, w->first);
  for (uint32_t i = 0; i < w->first[regions]; i++)
    w->inner[w->members[i]] = w->within[w->members[i]] = w->stamp;
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++)
      if (is_look(w, k) && !is_written_here(w, k)) return k;
  }
  return find_window(w);
}

/* The same, but neither the tries of an update nor the rounds of a loop that fetches work are rounds of the
 * region around it. */
static bool goes_through_around(wait_search *w, uint32_t inst) {
  const uint32_t loop = w->g.blocks[w->g.insts[inst].block].loop;
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const uint32_t block = w->blocks[i], other = w->g.blocks[block].loop;
    const bool inner = loop != HD_NONE && other != HD_NONE && hd_loop_contains(&w->g, loop, other);
    if (w->settled[block] || inner) w->within[block] = w->stamp;
  }
  const bool goes = wait_goes_through(w, inst);
  for (uint32_t i = 0; i < w->n_blocks; i++) w->within[w->blocks[i]] = 0;
  return goes;
}

static bool looks_in_settled(wait_search *w, uint32_t inst) {
  return w->settled[w->g.insts[inst].block] && w->word[inst] != WAIT_WORD && !w->fetches[inst] &&
         looks_anew(w, inst) && wait_reads_others(w, inst) &&
         !(w->word[inst] == WAIT_SHOWN ? goes_through_around(w, inst) : wait_goes_through(w, inst)) &&
         !is_written_here(w, inst);
}

/* A cycle within fetches work until nothing is left, again and again. */
static bool fetches_again(wait_search *w, uint32_t inst) {
  return w->fetches[inst] && w->fetches[inst] < w->n_blocks && hd_inst_form(&w->g, inst)->op == HD_OP_ATOM &&
         !goes_through_around(w, inst);
}

uint32_t wait_looks_within(wait_search *w) {
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++)
      if (looks_in_settled(w, k) || fetches_again(w, k)) return k;
  }
  return HD_NONE;
}
