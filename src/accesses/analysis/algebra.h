/* analysis/algebra.h: polynomials over symbols, functions of them, and assumptions about them.
 *
 * All are interned: equal ones have equal numbers. This part knows a symbol's kind, level and range only; its
 * callers know the loops, instructions and definitions that symbols stand for.
 *
 *   poly.c         symbols, products, interning, arithmetic
 *   poly_symbols.c  where symbols occur in polynomials; substitution
 *   poly_function.c  floors, maxima, conditions, bit operations
 *   assumptions.c  sets of assumptions
 */
#ifndef HEDDLE_ANALYSIS_ALGEBRA_H
#define HEDDLE_ANALYSIS_ALGEBRA_H

#include "analysis/tables.h"
#include "base/arith.h"
#include "heddle/analysis.h"

enum { AN_MAX_TERMS = 96, AN_MAX_DEGREE = 8, AN_MAX_NESTING = 24 };

/* In hd_value_symbol.varies and hd_polynomial.varies. */
enum { AN_OF_THREAD = 7, AN_OF_CTA = 7 << 3 };

/* Depends on the CTA's number, and on neither the thread nor a loop's round. */
static inline bool an_only_cta(uint8_t varies, bool iterates) {
  return varies && !(varies & AN_OF_THREAD) && !iterates;
}

/* Sets of assumptions, interned: sorted lists. */
typedef struct an_set {
  uint32_t first, n; /* into set_items */
} an_set;

typedef struct an_algebra {
  hd_arena *arena; /* holds all arrays below */
  uint64_t work;   /* steps taken so far, in any part of the analysis */

  AN_VEC(hd_value_symbol) symbols;
  AN_VEC(hd_polynomial) polys;
  AN_VEC(hd_term) terms;
  AN_VEC(hd_product) products;
  AN_VEC(hd_symbol) factors;
  an_hash symbol_hash, poly_hash, product_hash;

  AN_VEC(hd_assumption) assumptions;
  AN_VEC(an_set) sets;
  AN_VEC(uint32_t) set_items, set_scratch;
  an_hash assumption_hash, set_hash;
  AN_VEC(uint32_t) range_assumed;  /* per polynomial: the set its range rests on */
  AN_VEC(uint32_t) symbol_assumed; /* likewise, per symbol */
  uint32_t used;                   /* the set that simplifications since the last an_begin rest on */

  AN_VEC(uint32_t) seen, memo; /* per polynomial: scratch of searches and substitutions */
  uint32_t seen_stamp;
} an_algebra;

/* The cause of a value that is not affine. */
typedef struct an_blame {
  hd_why reason;
  uint32_t inst; /* or HD_NONE */
} an_blame;

/* ---- Assumptions -------------------------------------------------------------------------------------- */

uint32_t an_assume(an_algebra *a, uint32_t set, hd_poly p, int64_t lo, int64_t hi, uint32_t inst);
uint32_t an_union(an_algebra *a, uint32_t s, uint32_t t);

/* Begin to collect, in `used`, the assumptions that simplifications rest on. */
static inline void an_begin(an_algebra *a) { a->used = 0; }

/* ---- Polynomials --------------------------------------------------------------------------- */

/* *a is zeroed; `arena` leaves by its escape when memory runs out. */
void an_poly_init(an_algebra *a, hd_arena *arena);
hd_poly an_const(an_algebra *a, int64_t c);
hd_poly an_sym(an_algebra *a, hd_symbol s);
hd_poly an_add(an_algebra *a, hd_poly p, hd_poly q);
hd_poly an_sub(an_algebra *a, hd_poly p, hd_poly q);
hd_poly an_scale(an_algebra *a, hd_poly p, int64_t c);
hd_poly an_add_const(an_algebra *a, hd_poly p, int64_t c);
/* HD_NONE: too large. */
hd_poly an_mul(an_algebra *a, hd_poly p, hd_poly q);
/* Coefficients reduced to signed numbers of that many bits. */
hd_poly an_wrap(an_algebra *a, hd_poly p, unsigned width);
bool an_is_const(const an_algebra *a, hd_poly p, int64_t *c);
/* p with s replaced by q, in functions' arguments too; HD_NONE: too large. */
hd_poly an_subst(an_algebra *a, hd_poly p, hd_symbol s, hd_poly q);
bool an_mentions(an_algebra *a, hd_poly p, hd_symbol s);
/* The test holds for a symbol of p, or of a function's argument in it, that varies with loops. */
typedef bool (*an_symbol_test)(const void *what, hd_symbol s, const hd_value_symbol *symbol);
bool an_any_symbol(an_algebra *a, hd_poly p, an_symbol_test test, const void *what);
/* The same of whatever varies. */
bool an_any_varying(an_algebra *a, hd_poly p, an_symbol_test test, const void *what);
/* p = step * s + rest, neither holding s: false when s occurs otherwise. */
bool an_linear_in(an_algebra *a, hd_poly p, hd_symbol s, hd_poly *step, hd_poly *rest);

hd_symbol an_symbol(an_algebra *a, hd_value_symbol s); /* interned on kind, a, b, width, is_signed */
/* An unknown value. */
hd_poly an_unknown(an_algebra *a, hd_symbol_kind kind, uint32_t x, uint32_t y, hd_level level,
                   an_blame blame);
/* One that the CTA's number and the launch's arguments decide, once for all threads of the CTA. */
hd_poly an_unknown_of_cta(an_algebra *a, hd_symbol_kind kind, uint32_t x, uint32_t y, an_blame blame);
/* The reason, and its instruction, that p has no better level. */
an_blame an_culprit(const an_algebra *a, hd_poly p);
/* The range is a fact about the polynomial itself, or follows from that assumption. A range that follows from
 * how the polynomial was made rests on `used`: a simplification on the way may have given it a form that
 * others have, too. */
void an_note_range(an_algebra *a, hd_poly p, int64_t lo, int64_t hi, uint32_t assumed);

/* Functions, simplified where they can be. HD_NONE in, HD_NONE out, here and above. */
hd_poly an_floor(an_algebra *a, hd_poly p, hd_poly divisor, uint32_t inst);
hd_poly an_floor_const(an_algebra *a, hd_poly p, int64_t divisor, uint32_t inst);
hd_poly an_high_half(an_algebra *a, hd_poly x, uint64_t m,
                     uint32_t inst); /* floor(m x / 2^64); HD_NONE: no form */
hd_poly an_max0(an_algebra *a, hd_poly p);
hd_poly an_ge0(an_algebra *a, hd_poly p);
hd_poly an_eq0(an_algebra *a, hd_poly p);
hd_poly an_not(an_algebra *a, hd_poly p); /* 1 - p */
hd_poly an_both(an_algebra *a, hd_poly p, hd_poly q);
hd_poly an_either(an_algebra *a, hd_poly p, hd_poly q);
hd_poly an_if(an_algebra *a, hd_poly cond, hd_poly p); /* cond ? p : 0 */
hd_poly an_bits(an_algebra *a, hd_symbol_kind kind, hd_poly p, hd_poly q, uint32_t inst);
hd_poly an_pow2(an_algebra *a, hd_poly p, uint32_t inst);
bool an_is_bool(const an_algebra *a, hd_poly p);

/* Greatest common divisor of the coefficients but the constant term's; 0: there are none. */
int64_t an_content(const an_algebra *a, hd_poly p, int64_t *constant);
hd_poly an_divide_exact(an_algebra *a, hd_poly p,
                        int64_t d); /* every coefficient is a multiple of d, d > 0 */
hd_poly an_without_constant(an_algebra *a, hd_poly p);
/* d > 0. p = d * result + *rest, the rest's coefficients below d and of their signs, its constant in 0 .. d
 * - 1. */
hd_poly an_multiples(an_algebra *a, hd_poly p, int64_t d, hd_poly *rest);
/* The function of that symbol, of other arguments. */
hd_poly an_function_of(an_algebra *a, const hd_value_symbol *sym, hd_poly x, hd_poly y);
bool an_is_function(uint8_t kind); /* hd_symbol_kind whose a (and b) are polynomials */
bool an_has_two_arguments(uint8_t kind);
/* A loop's counter is at most hi. */
void an_note_counter(an_algebra *a, hd_symbol k, int64_t hi, uint32_t assumed);

typedef struct an_range {
  int64_t lo, hi; /* INT64_MIN, INT64_MAX: no bound */
} an_range;
an_range an_range_add(an_range x, an_range y);
an_range an_range_mul(an_range x, an_range y);

/* A decision about p made use of its range. */
static inline void an_rely(an_algebra *a, hd_poly p) {
  if (a->range_assumed.data[p]) a->used = an_union(a, a->used, a->range_assumed.data[p]);
}

/* The power of two that divides every value of p: 0..63; p is not 0. */
unsigned an_trailing_zeros(const an_algebra *a, hd_poly p);

/* ---- Between the files of this part --------------------------------------------------------- */

/* A list of numbers, sorted: a product's factors, a set's items. */
typedef struct an_list {
  const uint32_t *s;
  uint32_t n;
} an_list;
static inline uint64_t an_list_hash(const uint32_t *s, uint32_t n) {
  uint64_t h = n;
  for (uint32_t i = 0; i < n; i++) h = an_mix(h, s[i]);
  return h;
}

static inline const hd_term *an_terms(const an_algebra *a, hd_poly p) {
  return a->terms.data + a->polys.data[p].first;
}
uint32_t an_product(an_algebra *a, const hd_symbol *s, uint32_t n); /* sorted */
/* Takes terms sorted by product, none of them zero. */
hd_poly an_intern(an_algebra *a, const hd_term *t, uint32_t n);
/* Sorts, adds up equal products, interns. HD_NONE: too many terms, or too large coefficients. */
hd_poly an_collect(an_algebra *a, hd_term *t, uint32_t n);

#endif
