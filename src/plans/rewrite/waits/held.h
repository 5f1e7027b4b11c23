/* What a thread takes and has to give back: a lock, a turn, or a part of a word that counts. */
#ifndef HEDDLE_REWRITE_WAITS_HELD_H
#define HEDDLE_REWRITE_WAITS_HELD_H

#include "rewrite/waits/waits.h"

enum { HELD_MOST_LEAVES = 16 };

typedef struct held held;
struct held {
  wait_search *w;
  uint32_t atom;       /* takes it */
  uint32_t look, exit; /* of a ticket: the load that waits for its turn, and its exit's block; else HD_NONE */
  int64_t free, taken; /* of a lock: what the word holds */
  int64_t part;        /* of a word that counts: what the atomic adds to it */
  /* The instruction, which runs whenever it is reached, writes what gives it back. */
  bool (*gives)(const held *h, uint32_t inst);
  /* The way out of a block with a branch on the atomic's result that a thread takes which has got it;
   * HD_NONE: any. NULL: there is no such branch. */
  uint32_t (*way)(const held *h, uint32_t block);
  /* Of a ticket: the way out of a block in front of the loop that a thread takes whose turn it is; HD_NONE.
   */
  uint32_t (*turn)(const held *h, uint32_t block);
  const uint8_t *takes; /* per instruction: takes the same as the atomic does; NULL: the atomic alone */
  const uint8_t *never; /* per instruction: no thread runs it with this in hand; NULL: only the atomic */

  /* Made by held_is_given_back, in the search's arena. */
  uint32_t leaves[HELD_MOST_LEAVES], n_leaves; /* registers that the address is made of */
  uint32_t of; /* a predicate that divides the threads: those that hold it have the value `is`; HD_NONE */
  bool is;
  uint8_t *seen;        /* per block and kind of thread: entered from its beginning */
  uint8_t *given;       /* per instruction: gives back what is held */
  uint8_t *free_handed; /* per instruction: may run in a thread that does not hold it */
  uint32_t *stack, top;
  bool moved; /* the address changed on the way */
};

/* From the atomic on, and from what takes the same, every path gives it back, at the address where it was
 * taken, before the thread ends or takes it again, and no path comes to a release with free hands. */
bool held_is_given_back(held *h);

/* A number of the text, as the memory that the instruction accesses holds it. */
bool held_word(wait_search *w, uint32_t inst, const hd_ptx_opnd *o, int64_t *value);
/* The operand that a store, an exchange or a swap writes; 0: it is none of them. */
unsigned held_written_operand(const hd_ptx_form *f);
/* The number of the text that the instruction adds to what it finds, unguarded: by an atomic or a reduction;
 * 0: none. */
int64_t held_addend(const wait_search *w, uint32_t inst);

/* ---- written.c --------------------------------------------------------------------------------- */

/* What a store, an exchange or a swap writes, beside this word of so many bytes: of each of its parts one. */
enum {
  HELD_DATA = 1,   /* not known; also of any other instruction */
  HELD_OTHER = 2,  /* another number of the text, as long as the word */
  HELD_NUMBER = 4, /* any other number of the text */
};
unsigned held_writes(wait_search *w, uint32_t inst, unsigned bytes, int64_t value);
/* What the instruction writes may be this word, or a part of it. */
static inline bool held_may_store(wait_search *w, uint32_t inst, unsigned bytes, int64_t value) {
  return held_writes(w, inst, bytes, value) & (HELD_DATA | HELD_NUMBER);
}

/* ---- lock.c: of a lock that an atomic takes when it finds h->free, and leaves h->taken ---------- */

/* `gives`: a write of `free`, by a store, an exchange, or a swap that finds it taken. */
bool held_frees(const held *h, uint32_t inst);
/* `way`: by a comparison of what the atomic found. */
uint32_t held_way_of_lock(const held *h, uint32_t block);

#endif
