/* rewrite/waits/chain.h: registers that move one way as a region is gone round.
 *
 * A chain is a set of registers of which each is written, in the region, only from one of them: copied, or
 * moved by a step that is never 0, all in one direction. It advances in the rounds of a block when every
 * round through that block writes each of its registers, and no circle of copies leaves the step out. Then
 * the value of n rounds later is at least n / (registers) steps on. selp writes one of two values, as its
 * predicate has it, and a guarded instruction none or one; both are taken as the branch that they stand for,
 * and so is the addition of what selp chooses.
 */
#ifndef HEDDLE_REWRITE_WAITS_CHAIN_H
#define HEDDLE_REWRITE_WAITS_CHAIN_H

#include "rewrite/waits/waits.h"

enum { CHAIN_REGS = 16, CHAIN_EDGES = 48, CHAIN_STEPS = 16 };

/* Register `to` is written from register `from`. */
typedef struct chain_edge {
  uint8_t to, from;
  bool step, when;      /* it moves; it is so when `pred` has this value */
  uint32_t pred, block; /* pred HD_NONE: always */
} chain_edge;

typedef struct chain {
  wait_search *w;
  bool up;
  uint32_t low, high;         /* not HD_NONE: low < high in every round */
  bool inclusive;             /* low <= high only */
  bool wide;                  /* low + 2 <= high */
  bool overflows;             /* they are unsigned, so that low + high may be too great for their bits */
  bool met;                   /* they are compared for being equal: shifts have their sign */
  bool halves, halves_signed; /* above 0 in every round, of unsigned numbers; of signed ones as well */
  uint32_t regs[CHAIN_REGS], n;
  chain_edge edges[CHAIN_EDGES];
  uint32_t n_edges;
  uint32_t steps[CHAIN_STEPS], n_steps; /* the instructions that add or subtract */
  bool one;                             /* every step is by 1 */
  bool adds;           /* some step adds or subtracts a number, rather than halving a distance */
  int64_t least, most; /* of the steps by numbers of the text */
  int64_t sum;         /* of them, if each is gone once */
  int64_t most_sum;    /* the same, in the largest grid */
  bool even;           /* every step is by a number of the text */
  bool launched;       /* or by numbers of threads and CTAs */
  bool middle;         /* some step halves the distance of low and high */
  unsigned bits;       /* the fewest that a step is worked out in */
} chain;

/* Fills in the chain of a register; up, low, high, inclusive, overflows, met and the halves are given. False:
 * some register is written from elsewhere, or moves the other way. */
bool chain_close(chain *c, uint32_t reg);
/* Every round through the block, those where pred is `when` (HD_NONE: all), moves the chain on. */
bool chain_advances(const chain *c, uint32_t block, uint32_t pred, bool when);

/* From one run of a comparison to the next, which all lead to the exit at a block, the chain goes: */
typedef enum chain_pace {
  CHAIN_ANY = 0, /* so many steps */
  CHAIN_EACH,    /* each step once at most */
  CHAIN_SINGLE,  /* one step at most */
} chain_pace;
chain_pace chain_pace_at(const chain *c, uint32_t setp, uint32_t exit);

/* The instruction adds or subtracts one of two numbers of the text, of which one is 0: the other if the
 * predicate has this value. */
bool chain_choice(const wait_search *w, uint32_t inst, uint32_t *pred, bool *when);
/* The write that an instruction finds in a register, if that is on the only way to it; HD_NONE. */
uint32_t chain_write_before(const wait_search *w, uint32_t inst, uint32_t reg);
/* add, sub and the like of whole numbers with so many operands; an instruction HD_NONE is none. */
bool chain_is_op(const wait_search *w, uint32_t inst, hd_ptx_op op, uint32_t n_opnds);

#endif
