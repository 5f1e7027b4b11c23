/* Locks: a thread that took one gives it back on every path, so that a waiting thread waits for one that goes
 * on by itself. That tells a lock from a flag, which the kernel does not write on every path. A lock is a
 * word that an atomic finds free, or a pair of numbers, of tickets that an atomic hands out and of the one
 * whose turn it is. */
#include "rewrite/waits/held.h"

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
  const hd_block *b = &w->g.blocks[block];
  uint32_t last = b->first + b->n_insts - 1;
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, last);
  if (b->n_succ != 2 || !s->guard) return HD_NONE;
  bool taken = !s->guard_neg;
  uint32_t setp = wait_decides(w, hd_cfg_reg(&w->g, w->g.insts[last].call, s->guard), &taken, false);
  if (setp == HD_NONE) return HD_NONE;
  wait_compare c = wait_comparison(w, setp, taken);
  const hd_ptx_opnd *o = wait_operands(w, setp);
  int64_t value;
  uint32_t reg = wait_register(w, setp, &o[1]);
  if ((c != CMP_EQ && c != CMP_NE) || reg == HD_NONE || wait_only_writer(w, reg) != h->atom) return HD_NONE;
  if (!wait_constant(w, setp, &o[2], &value)) return HD_NONE;
  value = wait_word(value, wait_access(h->w, h->atom)->bytes);
  bool holds = (value == h->free) == (c == CMP_EQ);
  if (value != h->free && value != h->taken) return HD_NONE;
  return w->g.edges[b->first_succ + !holds];
}

/* A thread may open the lock here that does not hold it: the instruction may write `free` where the lock is.
 * Through another pointer that is taken for granted of one who writes the very number, even of a holder, who
 * may hand on to the next; ordinary stores of other values are results, and holders write data. */
static bool meddles(held *h, const wait_place *place, uint32_t inst) {
  wait_search *w = h->w;
  wait_meeting m = wait_may_write(w, place, inst);
  if (m != WAIT_OTHER_POINTER) return m == WAIT_MEETS;
  if (h->look == HD_NONE && held_writes_number(w, inst)) return true;
  return h->free_handed[inst] && !wait_is_plain_store(w, inst);
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
  h.n_leaves = 0; /* of its own address: those that a release shares with it follow */
  if (!held_is_given_back(&h)) return false;
  /* A thread that opens it without having taken it would make it a flag. */
  wait_place place = wait_place_of(w, atom);
  for (uint32_t i = 0; i < w->g.n_insts; i++)
    if (i != atom && !h.given[i] && held_may_store(w, i, wait_access(w, atom)->bytes, free) &&
        meddles(&h, &place, i))
      return false;
  return true;
}

bool wait_is_ticket(wait_search *w, uint32_t look, uint32_t atom, uint32_t exit) {
  held h = {.w = w, .atom = atom, .look = look, .exit = exit, .gives = passes_on};
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
