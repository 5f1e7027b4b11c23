/* Words that threads take a part of and give it back: counting semaphores, and locks for readers and writers.
 *
 *     while (atomicAdd(s, -1) <= 0) atomicAdd(s, 1);  ...  atomicAdd(s, 1);
 *     do v = *l; while (v < 0 || atomicCAS(l, v, v + 1) != v);  ...  atomicAdd(l, -1);
 *     while (atomicCAS(l, 0, -1) != 0);  ...  atomicExch(l, 0);
 *
 * All of the kernel's writes to the word are takes and what gives them back, so it holds its first value
 * whenever no thread has any of it. A thread that has goes on by itself, so a waiting thread finds that value
 * at some time. It must let it in; that is known of a lock that a writer takes when it finds `free`, as
 * another first value would keep the writer out for ever. Without a writer the first value is not known. But
 * takes only move the word away from it, and the comparison lets in from some number on, away from where
 * they move it: if the first value did not let a thread in, no other would. */
#include "rewrite/waits/held.h"

enum { MOST_PART = 256, MOST_CHECKS = 8 };

typedef struct counted {
  wait_search *w;
  uint32_t look;    /* what the loop waits for */
  wait_place place; /* of the word */
  bool up;          /* takes of a part add to it */
  bool exclusive;   /* a take of all of it swaps `free` for a number beyond */
  int64_t free;     /* known if it is exclusive */
  uint8_t *takes;   /* per instruction: takes some of it */
  uint8_t *never;   /* takes some of it, or waits for it */
  uint8_t *given;   /* gives back what some take has got */
  uint8_t *held;    /* runs only in threads that have all of it; of a word without a writer, some of it */
} counted;

/* ---- Takes ------------------------------------------------------------------------------------- */

static bool is_part(const counted *c, int64_t part) {
  return c->up ? part > 0 && part <= MOST_PART : part < 0 && part >= -MOST_PART;
}

static bool swaps(const wait_search *w, uint32_t inst) {
  return wait_is_swap(w, inst) && !hd_inst_stmt(&w->g, inst)->guard;
}

/* A swap of two numbers of the text. */
static bool swaps_numbers(wait_search *w, uint32_t inst, int64_t *expected, int64_t *taken) {
  const hd_ptx_opnd *o = wait_operands(w, inst);
  return swaps(w, inst) && held_word(w, inst, &o[2], expected) && held_word(w, inst, &o[3], taken);
}

/* The instruction writes the register in front of `inst`, and nothing does in between. */
static bool is_fresh(wait_search *w, uint32_t reg, uint32_t writer, uint32_t inst) {
  return writer != HD_NONE && wait_comes_before(w, writer, inst) && wait_is_kept_since(w, reg, writer, inst);
}

/* What a swap of a register for its sum with a number of the text adds; 0: it is no such swap. */
static int64_t swapped_part(wait_search *w, uint32_t inst) {
  int64_t part;
  if (!swaps(w, inst)) return 0;
  const uint32_t from = wait_operand(w, inst, 2), to = wait_operand(w, inst, 3);
  const uint32_t sum = to == HD_NONE ? HD_NONE : wait_only_writer(w, to);
  if (from == HD_NONE || !is_fresh(w, to, sum, inst)) return 0;
  const hd_ptx_form *add = hd_inst_form(&w->g, sum);
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, sum);
  if (add->op != HD_OP_ADD || !hd_ptx_form_is_whole(add, 32) || s->n_opnds != 3) return 0;
  if (wait_operand(w, sum, 1) != from || !wait_is_kept_since(w, from, sum, inst)) return 0;
  return wait_constant(w, sum, &wait_operands(w, sum)[2], &part) ? part : 0;
}

/* A comparison of two registers for being equal decides about the branch at the end of the block: a swap's
 * result and what it expected. */
static uint32_t way_of_swap(const held *h, uint32_t block) {
  wait_search *w = h->w;
  wait_compare c;
  const uint32_t setp = wait_branch(w, block, &c);
  if (setp == HD_NONE || (c != CMP_EQ && c != CMP_NE) || !wait_comes_before(w, h->atom, setp)) return HD_NONE;
  const uint32_t found = wait_operand(w, h->atom, 0), expected = wait_operand(w, h->atom, 2);
  const uint32_t x = wait_operand(w, setp, 1), y = wait_operand(w, setp, 2);
  if (found == HD_NONE || wait_only_writer(w, found) != h->atom ||
      !wait_is_kept_since(w, expected, h->atom, setp))
    return HD_NONE;
  if (!(x == found && y == expected) && !(x == expected && y == found)) return HD_NONE;
  return w->g.edges[w->g.blocks[block].first_succ + (c != CMP_EQ)];
}

static bool gives_part(const held *h, uint32_t inst) { return held_addend(h->w, inst) == -h->part; }

/* ---- Comparisons ------------------------------------------------------------------------------- */

/* A signed comparison with a number of the text that is true from `least` on upwards, or downwards: the
 * number where it begins. */
typedef struct threshold {
  bool upwards;
  int64_t at;
} threshold;

static bool is_threshold(wait_search *w, uint32_t setp, unsigned side, unsigned bytes, wait_compare compare,
                         threshold *t) {
  int64_t number;
  hd_ptx_type type[2];
  hd_ptx_types_of(hd_inst_form(&w->g, setp), type);
  if (type[0].number != HD_NUM_SIGNED || type[0].bits != 8 * bytes) return false;
  if (!wait_constant(w, setp, &wait_operands(w, setp)[3 - side], &number)) return false;
  if (number > INT32_MAX - 1 || number < INT32_MIN + 1) return false;
  t->upwards = compare == CMP_GE || compare == CMP_GT;
  t->at = number + (compare == CMP_GT) - (compare == CMP_LT);
  return t->upwards || compare == CMP_LE || compare == CMP_LT;
}

/* The way from one block to the next finds the number that a swap expects at or beyond `free`. */
static bool is_check(const counted *c, uint32_t from, uint32_t to, uint32_t swap) {
  wait_search *w = c->w;
  const uint32_t *ways = &w->g.edges[w->g.blocks[from].first_succ], expected = wait_operand(w, swap, 2);
  wait_compare now;
  threshold t;
  const uint32_t setp = wait_branch(w, from, &now);
  if (setp == HD_NONE || ways[0] == ways[1] || wait_operand(w, setp, 1) != expected) return false;
  if (ways[0] != to) now = wait_inverse(now);
  return is_threshold(w, setp, 1, c->place.bytes, now, &t) && t.upwards == c->up && t.at == c->free &&
         wait_comes_before(w, setp, swap) && wait_is_kept_since(w, expected, setp, swap);
}

/* The way to the swap leads through a branch that finds the expected number at or beyond `free`. */
static bool is_checked(const counted *c, uint32_t swap) {
  wait_search *w = c->w;
  uint32_t block = w->g.insts[swap].block;
  for (unsigned k = 0; k < MOST_CHECKS && w->g.blocks[block].n_pred == 1; k++) {
    const uint32_t from = w->g.edges[w->g.blocks[block].first_pred];
    if (is_check(c, from, block, swap)) return true;
    block = from;
  }
  return false;
}

/* ---- The word ---------------------------------------------------------------------------------- */

static bool is_the_word(const counted *c, uint32_t inst) {
  const wait_place p = wait_place_of(c->w, inst);
  return p.root == c->place.root && p.slot == c->place.slot && p.offset == c->place.offset && !p.step &&
         !p.mixed && p.bytes == c->place.bytes;
}

/* A swap of `free` for a number on the other side of it, from where parts lead. */
static bool takes_all(const counted *c, uint32_t inst, int64_t *taken) {
  int64_t expected;
  return c->exclusive && swaps_numbers(c->w, inst, &expected, taken) && expected == c->free &&
         (c->up ? *taken < c->free : *taken > c->free);
}

/* How an instruction takes some of the word: all, by an addition, or by a swap of what was found. */
typedef enum taking { TAKES_NONE = 0, TAKES_ALL, TAKES_BY_ADDING, TAKES_BY_SWAP } taking;

static taking taking_of(const counted *c, uint32_t inst, held *h) {
  if (takes_all(c, inst, &h->taken)) return TAKES_ALL;
  h->part = held_addend(c->w, inst);
  if (is_part(c, h->part)) return TAKES_BY_ADDING;
  h->part = swapped_part(c->w, inst);
  return is_part(c, h->part) ? TAKES_BY_SWAP : TAKES_NONE;
}

/* Compilers take the first try out of the loop. */
static const uint8_t *find_alike(const counted *c, const held *h, taking how) {
  uint8_t *takes = HD_NEW_N(c->w->arena, c->w->g.n_insts, uint8_t);
  for (uint32_t i = 0; i < c->w->g.n_insts; i++) {
    held other = {.free = c->free};
    takes[i] =
        c->takes[i] && taking_of(c, i, &other) == how && other.taken == h->taken && other.part == h->part;
  }
  return takes;
}

static bool is_given_back(counted *c, held *h, taking how) {
  h->w = c->w;
  h->look = h->exit = HD_NONE;
  h->never = c->never;
  h->takes = find_alike(c, h, how);
  if (!held_is_given_back(h)) return false;
  for (uint32_t i = 0; i < c->w->g.n_insts; i++) {
    c->given[i] |= h->given[i];
    c->held[i] |= !h->free_handed[i] && (how == TAKES_ALL || !c->exclusive);
  }
  return true;
}

/* Of an instruction that takes some of the word: it may, and every path gives that back. */
static bool check_take(counted *c, uint32_t inst) {
  held h = {.atom = inst, .free = c->free, .gives = gives_part};
  const taking how = taking_of(c, inst, &h);
  if (how == TAKES_ALL) {
    h.gives = held_frees;
    h.way = held_way_of_lock;
  } else if (how == TAKES_BY_SWAP) {
    h.way = way_of_swap;
    if (c->exclusive && !is_checked(c, inst)) return false;
  } else if (c->exclusive) {
    return false;
  }
  return is_given_back(c, &h, how);
}

static bool is_take(const counted *c, uint32_t inst) {
  held h = {.free = c->free};
  return taking_of(c, inst, &h) != TAKES_NONE;
}

/* Through another pointer, a number that lets a thread in may be meant for the word: `free`, or whatever is
 * stored to one place only. So may be what is no plain store, but for two: whoever has all of the word sets
 * it to `free` in the end, whatever it wrote meanwhile; and what threads with a part add away from where
 * takes move the word lets others in no later. */
static bool meddles(const counted *c, uint32_t inst) {
  const wait_place p = wait_place_of(c->w, inst);
  const unsigned what = held_writes(c->w, inst, c->place.bytes, c->free);
  if (c->exclusive ? what & HELD_NUMBER : !p.step && what & (HELD_NUMBER | HELD_OTHER)) return true;
  if (wait_is_plain_store(c->w, inst)) return false;
  if (!c->held[inst] || c->exclusive) return !c->held[inst];
  const int64_t by = held_addend(c->w, inst);
  return !by || by > MOST_PART || by < -MOST_PART || (by > 0) == c->up;
}

/* Every write to the word takes some of it or gives that back. */
static bool is_kept(counted *c) {
  wait_search *w = c->w;
  c->takes = HD_NEW_N(w->arena, w->g.n_insts, uint8_t);
  c->never = HD_NEW_N(w->arena, w->g.n_insts, uint8_t);
  c->given = HD_NEW_N(w->arena, w->g.n_insts, uint8_t);
  c->held = HD_NEW_N(w->arena, w->g.n_insts, uint8_t);
  c->never[c->look] = 1;
  for (uint32_t i = 0; i < w->g.n_insts; i++) {
    if (wait_may_write(w, &c->place, i) != WAIT_MEETS) continue;
    if (!is_the_word(c, i)) return false;
    c->takes[i] = is_take(c, i);
    c->never[i] |= c->takes[i];
  }
  for (uint32_t i = 0; i < w->g.n_insts; i++)
    if (c->takes[i] && !check_take(c, i)) return false;
  for (uint32_t i = 0; i < w->g.n_insts; i++) {
    const wait_meeting m = wait_may_write(w, &c->place, i);
    if (m == WAIT_MEETS && !c->given[i] && !c->takes[i]) return false;
    if (m == WAIT_OTHER_POINTER && meddles(c, i)) return false;
  }
  return true;
}

/* Some writer swaps this number for another. */
static bool has_writer(const counted *c, int64_t free) {
  wait_search *w = c->w;
  int64_t expected, taken;
  for (uint32_t i = 0; i < w->g.n_insts; i++)
    if (is_the_word(c, i) && swaps_numbers(w, i, &expected, &taken) && expected == free) return true;
  return false;
}

bool wait_is_counted(wait_search *w, uint32_t look, uint32_t setp, unsigned side, wait_compare leaves) {
  counted c = {.w = w, .look = look, .place = wait_place_of(w, look)};
  int64_t number, taken;
  threshold t;
  w->steps += 4 * (uint64_t)w->g.n_insts;
  if (!w->whole || !c.place.root || c.place.step || c.place.mixed || c.place.bytes < 4) return false;
  if (leaves == CMP_EQ) {
    if (!wait_constant(w, setp, &wait_operands(w, setp)[3 - side], &number)) return false;
    c.exclusive = true;
    c.free = wait_word(number, c.place.bytes);
    if (!swaps_numbers(w, look, &number, &taken) || number != c.free) return false;
    c.up = taken < c.free;
  } else {
    if (!is_threshold(w, setp, side, c.place.bytes, leaves, &t)) return false;
    c.free = t.at;
    c.exclusive = has_writer(&c, t.at);
    c.up = c.exclusive == t.upwards;
  }
  return is_kept(&c);
}
