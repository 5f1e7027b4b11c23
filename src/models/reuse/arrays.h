/* reuse/arrays.h: which array an address lies in. */
#ifndef HEDDLE_REUSE_ARRAYS_H
#define HEDDLE_REUSE_ARRAYS_H

#include "heddle/reuse.h"

typedef struct reuse_arrays {
  const hd_reuse_array *array;
  uint32_t *sorted; /* array numbers, by address */
  uint32_t n, last; /* last: the array found last, or n */
} reuse_arrays;

/* Refuses arrays that overlap. The caller closes *a, after a failure too. */
hd_status reuse_arrays_open(reuse_arrays *a, const hd_reuse_array *array, uint32_t n, hd_diag *d);
void reuse_arrays_close(reuse_arrays *a);
/* The array's number; n: in none. */
uint32_t reuse_arrays_find(reuse_arrays *a, uint64_t address);

#endif
