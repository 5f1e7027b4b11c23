/* Hash tables and growing arrays in an arena. */
#include <string.h>

#include "analysis/tables.h"

void an_grow(hd_arena *arena, void **data, size_t *cap, size_t n, size_t need, size_t elem) {
  size_t more = *cap > 8 ? 2 * *cap : 16, bytes;
  if (more < need) more = need;
  if (__builtin_mul_overflow(more, elem, &bytes))
    bytes = SIZE_MAX / 2; /* the arena says that there is none */
  void *grown = hd_arena_alloc(arena, bytes, 16);
  if (n) memcpy(grown, *data, n * elem);
  *data = grown;
  *cap = more;
}

void an_hash_grow(hd_arena *arena, an_hash *h, an_rehash rehash, const void *of) {
  uint32_t cap = h->cap ? 2 * h->cap : 64;
  uint32_t *slots = HD_NEW_N(arena, cap, uint32_t);
  for (uint32_t k = 0; k < h->cap; k++) {
    if (!h->slots[k]) continue;
    uint32_t i = (uint32_t)rehash(of, h->slots[k] - 1) & (cap - 1);
    while (slots[i]) i = (i + 1) & (cap - 1);
    slots[i] = h->slots[k];
  }
  h->slots = slots;
  h->cap = cap;
}
