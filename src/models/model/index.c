#include "model/index.h"

#include <stdlib.h>

bool model_index_grow(model_index *x, model_index_hash *hash, const void *things) {
  const size_t cap = x->cap ? x->cap * 2 : 256;
  uint32_t *slot = calloc(cap, sizeof *slot);
  if (!slot) return false;
  for (size_t i = 0; i < x->cap; i++) {
    if (!x->slot[i]) continue;
    size_t at = hash(things, x->slot[i] - 1) & (cap - 1);
    while (slot[at]) at = (at + 1) & (cap - 1);
    slot[at] = x->slot[i];
  }
  free(x->slot);
  x->slot = slot;
  x->cap = cap;
  return true;
}

void model_index_free(model_index *x) {
  free(x->slot);
  *x = (model_index){0};
}
