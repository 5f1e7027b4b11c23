/* model/index.h: numbers of things that are kept once, by their hashes: open addressing. A look-up begins at
 * slot hash & (cap - 1) and goes on, around the end, to the first that is free. */
#ifndef HEDDLE_MODEL_INDEX_H
#define HEDDLE_MODEL_INDEX_H

#include "heddle/base.h"

typedef struct model_index {
  uint32_t *slot; /* a number plus one; 0 is free */
  size_t cap, n;
} model_index;

/* The hash of one of the things. */
typedef uint64_t model_index_hash(const void *things, uint32_t number);

/* Room for one more, before it is looked up. False: out of memory. */
bool model_index_grow(model_index *x, model_index_hash *hash, const void *things);
static inline bool model_index_room(model_index *x, model_index_hash *hash, const void *things) {
  return 4 * (x->n + 1) <= 3 * x->cap || model_index_grow(x, hash, things);
}
/* Into the free slot where its look-up ended. */
static inline void model_index_put(model_index *x, size_t at, uint32_t number) {
  x->slot[at] = number + 1;
  x->n++;
}
void model_index_free(model_index *x);

#endif
