/* Locks: a thread that took one gives it back on every path, so that a waiting thread waits for one that goes
 * on by itself. That tells a lock from a flag, which the kernel does not write on every path. A lock is a
 * word that an atomic finds free, or a pair of numbers, of tickets that an atomic hands out and of the one
 * whose turn it is. */
#include "rewrite/waits/held.h"

enum { MOST_ADDED = 1 << 16 };

/* The value that the atomic leaves behind when it finds `free`. */
static bool taken_value(wait_search *w, uint32_t atom, int64_t free, int64_t *taken) {
  const hd_ptx_form *f = hd_inst_form(&w->g, atom);
  const hd_ptx_opnd *o = wait_operands(w, atom);
  uint32_t n = hd_inst_stmt(&w->g, atom)->n_opnds;
  int64_t expected;
  if (f->op != HD_OP_ATOM) return false;
  if (hd_ptx_form_has(f, HD_M_CAS) && n >= 4)
    return held_word(w, atom, &o[2], &expected) && expected == free && held_word(w, atom, &o[3], taken) &&
           *taken != free;
  return hd_ptx_form_has(f, HD_M_EXCH) && n >= 3 && held_word(w, atom, &o[2], taken) && *taken != free;
}

bool held_frees(const held *h, uint32_t inst) {
  wait_search *w = h->w;
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  const hd_ptx_form *f = &w->m->forms[s->form];
  const hd_ptx_opnd *o = wait_operands(w, inst);
  int64_t value, expected;
  if (s->guard) return false;
  if (f->op == HD_OP_ST) return s->n_opnds == 2 && held_word(w, inst, &o[1], &value) && value == h->free;
  if (f->op != HD_OP_ATOM) return false;
  if (hd_ptx_form_has(f, HD_M_EXCH)) return held_word(w, inst, &o[2], &value) && value == h->free;
  return hd_ptx_form_has(f, HD_M_CAS) && s->n_opnds >= 4 && held_word(w, inst, &o[2], &expected) &&
         expected == h->taken && held_word(w, inst, &o[3], &value) && value == h->free;
}

static bool adds_one(const wait_search *w, uint32_t inst) {
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  int64_t one;
  if (hd_inst_form(&w->g, inst)->op != HD_OP_ADD) return held_addend(w, inst) == 1;
  return !s->guard && s->n_opnds > 2 && wait_constant(w, inst, &wait_operands(w, inst)[2], &one) && one == 1;
}

/* An unguarded write of the number after the ticket, or an addition of one. */
static bool passes_on(const held *h, uint32_t inst) {
  const wait_search *w = h->w;
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  if (f->op != HD_OP_ST) return f->op != HD_OP_ADD && adds_one(w, inst);
  uint32_t next = hd_inst_stmt(&w->g, inst)->n_opnds == 2 ? wait_operand(w, inst, 1) : HD_NONE;
  uint32_t sum = next == HD_NONE || hd_inst_stmt(&w->g, inst)->guard ? HD_NONE : wait_only_writer(w, next);
  return sum != HD_NONE && adds_one(w, sum) && hd_inst_form(&w->g, sum)->op == HD_OP_ADD &&
         wait_operand(w, sum, 1) == wait_operand(w, h->atom, 0);
}

uint32_t held_way_of_lock(const held *h, uint32_t block) {
  const wait_search *w = h->w;
  wait_compare c;
  const uint32_t setp = wait_branch(w, block, &c);
  int64_t value;
  if (setp == HD_NONE || (c != CMP_EQ && c != CMP_NE) || !wait_comes_before(w, h->atom, setp)) return HD_NONE;
  const uint32_t reg = wait_operand(w, setp, 1);
  if (reg == HD_NONE || wait_only_writer(w, reg) != h->atom) return HD_NONE;
  if (!wait_constant(w, setp, &wait_operands(w, setp)[2], &value)) return HD_NONE;
  value = wait_word(value, wait_access(h->w, h->atom)->bytes);
  const bool holds = (value == h->free) == (c == CMP_EQ);
  if (value != h->free && value != h->taken) return HD_NONE;
  return w->g.edges[w->g.blocks[block].first_succ + !holds];
}

/* From `taken`, or whatever these additions make of it, the word comes to `free` after very many of them
 * only.
 */
static bool leads_away(const held *h, int64_t by) {
  return by >= -MOST_ADDED && by <= MOST_ADDED && by != 0 && (by > 0) == (h->taken > h->free);
}

/* It adds to what the place holds: an atomic, or a store of a sum with what was loaded from there. A number
 * of the text that is added leads away from `free`; other sums are data. */
static bool adds_data(held *h, uint32_t inst) {
  wait_search *w = h->w;
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  const int64_t by = held_addend(w, inst);
  if (by) return leads_away(h, by);
  if (f->op != HD_OP_ST || hd_inst_stmt(&w->g, inst)->n_opnds != 2) return false;
  const uint32_t reg = wait_operand(w, inst, 1), sum = reg == HD_NONE ? HD_NONE : wait_only_writer(w, reg);
  if (sum == HD_NONE || hd_inst_form(&w->g, sum)->op != HD_OP_ADD || hd_inst_stmt(&w->g, sum)->n_opnds != 3)
    return false;
  for (unsigned k = 1; k <= 2; k++) {
    const uint32_t found = wait_operand(w, sum, k);
    const uint32_t load = found == HD_NONE ? HD_NONE : wait_only_writer(w, found);
    uint32_t leaves[HELD_MOST_LEAVES], n = 0;
    int64_t number;
    if (load == HD_NONE || hd_inst_form(&w->g, load)->op != HD_OP_LD) continue;
    if (!wait_same_address(w, load, inst, leaves, &n, HELD_MOST_LEAVES)) continue;
    return !wait_constant(w, sum, &wait_operands(w, sum)[3 - k], &number) || leads_away(h, number);
  }
  return false;
}

/* A thread may open the lock here that does not hold it: the instruction may write `free` where the lock is.
 * Through another pointer that is taken for granted of one who writes the very number. Ordinary stores of
 * other values are results. Holders write data as well: those of the only lock may write what they will, as
 * they give it back anyway; those of one of several may hand on another's. */
static bool meddles(held *h, const wait_place *place, uint32_t inst) {
  wait_search *w = h->w;
  const wait_meeting m = wait_may_write(w, place, inst);
  const bool ticket = h->look != HD_NONE;
  if (m != WAIT_OTHER_POINTER) return m == WAIT_MEETS;
  const unsigned what = held_writes(w, inst, wait_access(w, h->atom)->bytes, h->free);
  if (ticket ? h->free_handed[inst] && !wait_place_of(w, inst).step && what & (HELD_NUMBER | HELD_OTHER)
             : what & HELD_NUMBER)
    return true;
  if (wait_is_plain_store(w, inst)) return false;
  if (h->free_handed[inst]) return true;
  return (place->step || !place->root || place->mixed) && (ticket || !adds_data(h, inst));
}

/* Compilers take the first try out of the loop, and a kernel may take one lock in several places. */
static const uint8_t *find_takers(wait_search *w, uint32_t atom, int64_t free, int64_t taken) {
  uint8_t *takes = HD_NEW_N(w->arena, w->g.n_insts, uint8_t);
  int64_t other;
  for (uint32_t i = 0; i < w->g.n_insts; i++)
    takes[i] =
        i == atom || (!hd_inst_stmt(&w->g, i)->guard && taken_value(w, i, free, &other) && other == taken &&
                      wait_access(w, i)->bytes == wait_access(w, atom)->bytes && wait_same_place(w, i, atom));
  return takes;
}

bool wait_is_lock(wait_search *w, uint32_t atom, int64_t free) {
  held h = {.w = w,
            .atom = atom,
            .free = wait_word(free, wait_access(w, atom)->bytes),
            .look = HD_NONE,
            .exit = HD_NONE,
            .gives = held_frees,
            .way = held_way_of_lock};
  free = h.free;
  if (!w->whole || !taken_value(w, atom, free, &h.taken)) return false;
  if (!wait_same_address(w, atom, atom, h.leaves, &h.n_leaves, HELD_MOST_LEAVES)) return false;
  h.takes = find_takers(w, atom, free, h.taken);
  h.n_leaves = 0; /* of its own address: those that a release shares with it follow */
  if (!held_is_given_back(&h)) return false;
  /* A thread that opens it without having taken it would make it a flag. */
  wait_place place = wait_place_of(w, atom);
  for (uint32_t i = 0; i < w->g.n_insts; i++)
    if (!h.takes[i] && !h.given[i] && held_may_store(w, i, wait_access(w, atom)->bytes, free) &&
        meddles(&h, &place, i))
      return false;
  return true;
}

bool wait_is_free_lock(wait_search *w, uint32_t look, int64_t free) {
  int64_t taken;
  w->steps += w->g.n_insts;
  for (uint32_t i = 0; i < w->g.n_insts; i++)
    if (hd_inst_form(&w->g, i)->op == HD_OP_ATOM && wait_access(w, i)->bytes == wait_access(w, look)->bytes &&
        taken_value(w, i, wait_word(free, wait_access(w, i)->bytes), &taken) && wait_same_place(w, look, i) &&
        wait_is_lock(w, i, free))
      return true;
  return false;
}

/* Compilers take the first look out of a loop with a body: it finds the thread's turn as well. */
static uint32_t way_of_turn(const held *h, uint32_t block) {
  wait_search *w = h->w;
  wait_compare c;
  const uint32_t setp = wait_branch(w, block, &c);
  if (setp == HD_NONE || (c != CMP_EQ && c != CMP_NE)) return HD_NONE;
  for (unsigned side = 1; side <= 2; side++) {
    const uint32_t found = wait_operand(w, setp, side), ticket = wait_operand(w, setp, 3 - side);
    const uint32_t look = found == HD_NONE ? HD_NONE : wait_only_writer(w, found);
    if (look == HD_NONE || ticket == HD_NONE || wait_only_writer(w, ticket) != h->atom) continue;
    if (hd_inst_form(&w->g, look)->op != HD_OP_LD ||
        wait_access(w, look)->bytes != wait_access(w, h->look)->bytes)
      continue;
    if (wait_comes_before(w, h->atom, look) && wait_comes_before(w, look, setp) &&
        wait_same_place(w, look, h->look))
      return w->g.edges[w->g.blocks[block].first_succ + (c != CMP_EQ)];
  }
  return HD_NONE;
}

bool wait_is_ticket(wait_search *w, uint32_t look, uint32_t atom, uint32_t exit) {
  held h = {.w = w, .atom = atom, .look = look, .exit = exit, .gives = passes_on, .turn = way_of_turn};
  if (!w->whole || hd_inst_form(&w->g, atom)->op != HD_OP_ATOM || !adds_one(w, atom) || wait_inside(w, atom))
    return false;
  if (wait_access(w, look)->bytes != wait_access(w, atom)->bytes || !held_is_given_back(&h)) return false;
  wait_place turn = wait_place_of(w, look), next = wait_place_of(w, atom);
  /* Whoever takes a ticket here waits there: one turn for each counter, and one counter for each turn. */
  bool fixed = turn.root && !turn.step && next.root && !next.step;
  if (!fixed && !wait_beside(w, atom, look)) return false;
  for (uint32_t i = 0; i < w->g.n_insts; i++) {
    if (i != atom && !h.given[i] && meddles(&h, &turn, i)) return false;
    if (i != atom && meddles(&h, &next, i)) return false;
  }
  return wait_may_write(w, &turn, atom) == WAIT_APART;
}
