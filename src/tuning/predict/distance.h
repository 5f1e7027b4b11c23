/* predict/distance.h: predictions by how far they are off, the farthest first. */
#ifndef HEDDLE_PREDICT_DISTANCE_H
#define HEDDLE_PREDICT_DISTANCE_H

#include <stddef.h>

typedef struct distance {
  double factor; /* at least 1 */
  size_t row;
} distance;

/* For qsort. Equal ones stay in the order of their rows. */
static inline int distance_order(const void *a, const void *b) {
  const distance *x = a, *y = b;
  if (x->factor != y->factor) return x->factor < y->factor ? 1 : -1;
  return (x->row > y->row) - (x->row < y->row);
}

#endif
