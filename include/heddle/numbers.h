/* heddle/numbers.h: sets of small numbers, as plain values. */
#ifndef HEDDLE_NUMBERS_H
#define HEDDLE_NUMBERS_H

#include "heddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A set of numbers below HD_NUMBERS: loads of a kernel's text, SMs of a GPU. All zero: none. */
enum { HD_NUMBERS = 1024 };
typedef struct hd_numbers {
  uint32_t bits[HD_NUMBERS / 32];
} hd_numbers;

/* Consecutive numbers, both ends included. */
typedef struct hd_range {
  uint32_t first, last;
} hd_range;

static inline bool hd_numbers_has(const hd_numbers *s, uint32_t number) {
  return number < HD_NUMBERS && (s->bits[number / 32] >> number % 32 & 1) != 0;
}
/* How many of them are below `end`. */
HD_OWN uint32_t hd_numbers_below(const hd_numbers *s, uint32_t end);
static inline uint32_t hd_numbers_count(const hd_numbers *s) { return hd_numbers_below(s, HD_NUMBERS); }
/* Adds first to last. False, and nothing is added, where last is below first or not below HD_NUMBERS. */
HD_OWN bool hd_numbers_add(hd_numbers *s, uint32_t first, uint32_t last);
/* The first run of the set's numbers from `at` on, as long as it goes. False: there is none. All of them:
 *
 *     for (uint32_t at = 0; hd_numbers_run(s, at, &r); at = r.last + 1) ... */
HD_OWN bool hd_numbers_run(const hd_numbers *s, uint32_t at, hd_range *r);

#ifdef __cplusplus
}
#endif
#endif
