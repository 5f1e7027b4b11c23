/* rewrite/waits/sums.h: numbers taken apart into sums of products. */
#ifndef HEDDLE_REWRITE_WAITS_SUMS_H
#define HEDDLE_REWRITE_WAITS_SUMS_H

#include "rewrite/waits/waits.h"

enum { SUM_TERMS = 16, SUM_ATOMS = 4 };

/* A register as the instruction `at` reads it, or the address of a variable. */
typedef struct sum_atom {
  uint32_t reg, at;
  hd_sym variable; /* 0: the register */
} sum_atom;

typedef struct sum_term {
  sum_atom atoms[SUM_ATOMS]; /* multiplied */
  uint32_t n;
  uint64_t times;
} sum_term;

typedef struct wait_sum {
  sum_term terms[SUM_TERMS];
  uint32_t n;
  uint64_t number;
  uint32_t steps; /* taken so far */
  bool ok;        /* false: the number is not known as a sum */
} wait_sum;

/* The operand of an instruction; its result; a term of its result. */
wait_sum sum_of_operand(wait_search *w, uint32_t inst, const hd_ptx_opnd *o);
wait_sum sum_of_result(wait_search *w, uint32_t at);
wait_sum sum_of_term(wait_search *w, uint32_t at, const hd_ptx_term *t);
/* b - a, without what falls out. */
wait_sum sum_difference(wait_search *w, const wait_sum *a, const wait_sum *b);

/* Multiplies a sum. */
void sum_scale(const wait_search *w, wait_sum *s, const sum_term *by);

/* What is known of a sum, and whether a term is made of what the launch passes alone, as it is. */
wait_worth sum_worth(wait_search *w, const wait_sum *s);
bool sum_is_launched(wait_search *w, const sum_term *t);
/* All of its terms, and its number, are added, or all are subtracted. */
bool sum_goes_one_way(const wait_sum *s);

/* Both have one value: what one instruction has written on the way is the same. */
bool sum_same_atom(wait_search *w, const sum_atom *a, const sum_atom *b);
/* Two terms are products of the same atoms; or (other) of the same but one each, which go there. */
bool sum_same_atoms(wait_search *w, const sum_term *a, const sum_term *b, sum_atom other[2]);
/* The instruction whose result the register holds there; HD_NONE: one of several. */
uint32_t sum_written_by(wait_search *w, uint32_t reg, uint32_t inst);
/* Whole numbers of at least 32 bits, of which nothing is cut off but what overflows. */
bool sum_is_wide(const wait_search *w, uint32_t inst);

#endif
