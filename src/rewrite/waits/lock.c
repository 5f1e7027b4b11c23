/* Locks: a thread that took one gives it back on every path, so that a waiting thread waits for one that goes
 * on by itself. That tells a lock from a flag, which the kernel does not write on every path. A lock is a
 * word that an atomic finds free, or a pair of numbers, of tickets that an atomic hands out and of the one
 * whose turn it is. */
#include <string.h>

#include "rewrite/waits/waits.h"

enum { MOST_LEAVES = 16 };

/* A number of the text, as the memory that the instruction accesses holds it. */
static bool word(wait_search *w, uint32_t inst, const hd_ptx_opnd *o, int64_t *value) {
  if (!wait_constant(w, inst, o, value)) return false;
  *value = wait_word(*value, wait_access(w, inst)->bytes);
  return true;
}

/* The value that the atomic leaves behind when it finds `free`. */
static bool taken_value(wait_search *w, uint32_t atom, int64_t free, int64_t *taken) {
  const hd_ptx_form *f = hd_inst_form(&w->g, atom);
  const hd_ptx_opnd *o = wait_operands(w, atom);
  uint32_t n = hd_inst_stmt(&w->g, atom)->n_opnds;
  int64_t expected;
  if (f->op != HD_OP_ATOM) return false;
  if (hd_ptx_form_has(f, HD_M_CAS) && n >= 4)
    return word(w, atom, &o[2], &expected) && expected == free && word(w, atom, &o[3], taken) &&
           *taken != free;
  return hd_ptx_form_has(f, HD_M_EXCH) && n >= 3 && word(w, atom, &o[2], taken) && *taken != free;
}

/* The operand that a store, an exchange or a swap writes; 0: it is none of them. */
static unsigned written_operand(const hd_ptx_form *f) {
  return f->op == HD_OP_ST                                      ? 1
         : f->op == HD_OP_ATOM && hd_ptx_form_has(f, HD_M_EXCH) ? 2
         : f->op == HD_OP_ATOM && hd_ptx_form_has(f, HD_M_CAS)  ? 3
                                                                : 0;
}

/* A write of `free`, or of a number that is not known. */
static bool may_free(wait_search *w, uint32_t inst, uint32_t atom, int64_t free) {
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  const hd_ptx_form *f = &w->m->forms[s->form];
  const hd_ptx_opnd *o = wait_operands(w, inst);
  unsigned by = written_operand(f);
  int64_t value;
  if (!by || by >= s->n_opnds || wait_access(w, inst)->bytes != wait_access(w, atom)->bytes) return true;
  return !word(w, inst, &o[by], &value) || value == free;
}

/* An unguarded write of `free`, by a store, an exchange, or a swap that finds the lock taken. */
static bool gives_back(wait_search *w, uint32_t inst, int64_t free, int64_t taken) {
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  const hd_ptx_form *f = &w->m->forms[s->form];
  const hd_ptx_opnd *o = wait_operands(w, inst);
  int64_t value, expected;
  if (s->guard) return false;
  if (f->op == HD_OP_ST) return s->n_opnds == 2 && word(w, inst, &o[1], &value) && value == free;
  if (f->op != HD_OP_ATOM) return false;
  if (hd_ptx_form_has(f, HD_M_EXCH)) return word(w, inst, &o[2], &value) && value == free;
  return hd_ptx_form_has(f, HD_M_CAS) && s->n_opnds >= 4 && word(w, inst, &o[2], &expected) &&
         expected == taken && word(w, inst, &o[3], &value) && value == free;
}

typedef struct held {
  wait_search *w;
  uint32_t atom;
  int64_t free, taken;
  uint32_t look, exit; /* of a ticket: the load that waits for its turn, and its exit's block; else HD_NONE */
  uint32_t leaves[MOST_LEAVES], n_leaves; /* registers that the address is made of */
  uint8_t *seen;                          /* per block: entered from its beginning */
  uint8_t *given;                         /* per instruction: gives the lock back that is held */
  uint8_t *free_handed; /* per instruction: may run in a thread that does not hold the lock */
  uint32_t *stack, top;
  bool moved; /* the address changed on the way */
} held;

static bool adds_one(const wait_search *w, uint32_t inst) {
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  const hd_ptx_form *f = &w->m->forms[s->form];
  unsigned by = f->op == HD_OP_RED ? 1 : 2;
  int64_t one;
  if (s->guard || (f->op != HD_OP_ATOM && f->op != HD_OP_RED && f->op != HD_OP_ADD)) return false;
  if (f->op != HD_OP_ADD && !hd_ptx_form_has(f, HD_M_ADD)) return false;
  return s->n_opnds > by && wait_constant(w, inst, &wait_operands(w, inst)[by], &one) && one == 1;
}

/* An unguarded write of the number after the ticket, or an addition of one. */
static bool passes_on(const wait_search *w, uint32_t inst, uint32_t atom) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  if (f->op != HD_OP_ST) return f->op != HD_OP_ADD && adds_one(w, inst);
  uint32_t next = hd_inst_stmt(&w->g, inst)->n_opnds == 2 ? wait_operand(w, inst, 1) : HD_NONE;
  uint32_t sum = next == HD_NONE || hd_inst_stmt(&w->g, inst)->guard ? HD_NONE : wait_only_writer(w, next);
  return sum != HD_NONE && adds_one(w, sum) && hd_inst_form(&w->g, sum)->op == HD_OP_ADD &&
         wait_operand(w, sum, 1) == wait_operand(w, atom, 0);
}

/* It writes the lock's own word, no part of it, and nothing beside it. */
static bool is_release(held *h, uint32_t inst) {
  wait_search *w = h->w;
  uint32_t lock = h->look == HD_NONE ? h->atom : h->look;
  bool writes = h->look == HD_NONE ? gives_back(w, inst, h->free, h->taken) : passes_on(w, inst, h->atom);
  return writes && wait_access(w, inst)->bytes == wait_access(w, lock)->bytes &&
         wait_same_address(w, lock, inst, h->leaves, &h->n_leaves, MOST_LEAVES);
}

static void check_leaf(void *ctx, uint32_t reg) {
  held *h = ctx;
  for (uint32_t i = 0; i < h->n_leaves; i++) h->moved |= h->leaves[i] == reg;
}

/* The way that a branch on the atomic's result takes when the atomic found `free`; HD_NONE: it may take
 * any. */
static uint32_t known_way(const held *h, uint32_t block) {
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

static void go(held *h, uint32_t block) {
  if (h->seen[block]) return;
  h->seen[block] = 1;
  h->stack[h->top++] = block;
}

/* Along a block from `inst`: false when the thread ends, or comes to the lock again, with the lock in hand.
 */
static bool follow(held *h, uint32_t inst, uint32_t block) {
  wait_search *w = h->w;
  const hd_block *b = &w->g.blocks[block];
  for (; inst < b->first + b->n_insts; inst++) {
    w->steps++;
    if (inst == h->atom) return false;
    if (is_release(h, inst)) {
      h->given[inst] = 1;
      return true;
    }
    if (hd_inst_form(&w->g, inst)->op == HD_OP_TRAP && !hd_inst_stmt(&w->g, inst)->guard) return true;
    hd_inst_writes(&w->g, inst, check_leaf, h);
  }
  uint32_t way = h->look == HD_NONE ? known_way(h, block) : HD_NONE;
  for (uint32_t k = 0; k < b->n_succ; k++) {
    uint32_t to = w->g.edges[b->first_succ + k];
    if (way != HD_NONE && to != way) continue;
    if (to == w->g.n_blocks - 1) return false;
    go(h, to);
  }
  return true;
}

static bool walk(held *h) {
  const wait_search *w = h->w;
  uint32_t block = w->g.insts[h->atom].block;
  memset(h->seen, 0, w->g.n_blocks);
  h->top = 0;
  bool back = follow(h, h->atom + 1, block);
  while (back && h->top) {
    uint32_t next = h->stack[--h->top];
    back = follow(h, w->g.blocks[next].first, next);
  }
  return back && !h->moved;
}

/* From the block's instruction `inst` on without the lock, as far as the next instruction that ends the way.
 */
static void mark_free_handed(held *h, uint32_t inst, uint32_t block) {
  const wait_search *w = h->w;
  const hd_block *b = &w->g.blocks[block];
  uint32_t way = HD_NONE;
  for (; inst < b->first + b->n_insts; inst++) {
    h->w->steps++;
    h->free_handed[inst] = 1;
    if (inst == h->atom && h->look == HD_NONE) way = known_way(h, block);
  }
  for (uint32_t k = 0; k < b->n_succ; k++) {
    uint32_t to = w->g.edges[b->first_succ + k];
    bool holds = h->look == HD_NONE ? to == way : block == h->exit && w->in[to] != w->stamp;
    if (!holds) go(h, to);
  }
}

/* The instructions that threads run without the lock: from the beginning, and behind each release. The way
 * that the branch behind the atomic takes with the lock is left out. */
static void find_free_handed(held *h) {
  const wait_search *w = h->w;
  memset(h->seen, 0, w->g.n_blocks);
  h->top = 0;
  go(h, 0);
  for (uint32_t i = 0; i < w->g.n_insts; i++)
    if (h->given[i]) mark_free_handed(h, i + 1, w->g.insts[i].block);
  while (h->top) {
    uint32_t next = h->stack[--h->top];
    mark_free_handed(h, w->g.blocks[next].first, next);
  }
}

/* It writes a number of the text, in one of its parts at least. */
static bool writes_number(const wait_search *w, uint32_t inst) {
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  unsigned by = written_operand(&w->m->forms[s->form]);
  if (!by || by >= s->n_opnds) return false;
  const hd_ptx_opnd *o = &wait_operands(w, inst)[by];
  int64_t value;
  if (o->kind != HD_O_VEC) return wait_constant(w, inst, o, &value);
  for (uint32_t k = 0; k < o->n_kids; k++)
    if (wait_constant(w, inst, &w->m->opnds[o->sym + k], &value)) return true;
  return false;
}

/* A thread may open the lock here that does not hold it: the instruction may write `free` where the lock is.
 * Through another pointer that is taken for granted of one who writes the very number, even of a holder, who
 * may hand on to the next; ordinary stores of other values are results, and holders write data. */
static bool meddles(held *h, const wait_place *place, uint32_t inst) {
  wait_search *w = h->w;
  wait_meeting m = wait_may_write(w, place, inst);
  if (m != WAIT_OTHER_POINTER) return m == WAIT_MEETS;
  if (h->look == HD_NONE && writes_number(w, inst)) return true;
  return h->free_handed[inst] && !wait_is_plain_store(w, inst);
}

/* Every thread that took it gives it back, and no other does. */
static bool is_given_back(held *h) {
  wait_search *w = h->w;
  h->seen = HD_NEW_N(w->arena, w->g.n_blocks, uint8_t);
  h->given = HD_NEW_N(w->arena, w->g.n_insts, uint8_t);
  h->free_handed = HD_NEW_N(w->arena, w->g.n_insts, uint8_t);
  h->stack = HD_NEW_N(w->arena, w->g.n_blocks, uint32_t);
  /* Twice: the first walk finds the registers that releases depend on, the second checks that they do not
   * change. */
  if (!walk(h) || !walk(h)) return false;
  find_free_handed(h);
  for (uint32_t i = 0; i < w->g.n_insts; i++)
    if (h->given[i] && h->free_handed[i]) return false;
  return true;
}

bool wait_is_lock(wait_search *w, uint32_t atom, int64_t free) {
  held h = {.w = w,
            .atom = atom,
            .free = wait_word(free, wait_access(w, atom)->bytes),
            .look = HD_NONE,
            .exit = HD_NONE};
  free = h.free;
  if (!w->whole || !taken_value(w, atom, free, &h.taken)) return false;
  if (!wait_same_address(w, atom, atom, h.leaves, &h.n_leaves, MOST_LEAVES)) return false;
  h.n_leaves = 0; /* of its own address: those that a release shares with it follow */
  if (!is_given_back(&h)) return false;
  /* A thread that opens it without having taken it would make it a flag. */
  wait_place place = wait_place_of(w, atom);
  for (uint32_t i = 0; i < w->g.n_insts; i++)
    if (i != atom && !h.given[i] && may_free(w, i, atom, free) && meddles(&h, &place, i)) return false;
  return true;
}

bool wait_is_ticket(wait_search *w, uint32_t look, uint32_t atom, uint32_t exit) {
  held h = {.w = w, .atom = atom, .look = look, .exit = exit};
  if (!w->whole || hd_inst_form(&w->g, atom)->op != HD_OP_ATOM || !adds_one(w, atom) || wait_inside(w, atom))
    return false;
  if (wait_access(w, look)->bytes != wait_access(w, atom)->bytes || !is_given_back(&h)) return false;
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
