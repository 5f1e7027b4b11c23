/* difftest/values.h: inputs that are likely to show mistakes. */
#ifndef HEDDLE_DIFFTEST_VALUES_H
#define HEDDLE_DIFFTEST_VALUES_H

#include "heddle/base.h"

/* A stream of hd_random_at. */
typedef struct dt_random {
  uint64_t seed, n;
} dt_random;
static inline uint64_t dt_next(dt_random *r) { return hd_random_at(r->seed, r->n++); }
static inline uint32_t dt_below(dt_random *r, uint32_t n) { return (uint32_t)((dt_next(r) >> 32) * n >> 32); }
static inline bool dt_chance(dt_random *r, uint32_t percent) { return dt_below(r, 100) < percent; }

/* The type that a register's bits were written as. */
typedef enum dt_flavour {
  DT_INT = 0,
  DT_F16,
  DT_BF16,
  DT_F16X2,
  DT_BF16X2,
  DT_F32,
  DT_F32X2,
  DT_F64,
  DT_ANY, /* asks for no flavour */
} dt_flavour;

/* A value of that flavour in the low `bits` bits: random bits, special values, values near a rounding
 * boundary of this or the next smaller format, small integers, extremes. */
uint64_t dt_value(dt_random *r, dt_flavour f, unsigned bits);

#endif
