/* analysis/tables.h: hash tables and growing arrays in an arena, which leaves by its escape when memory runs
 * out. */
#ifndef HEDDLE_ANALYSIS_TABLES_H
#define HEDDLE_ANALYSIS_TABLES_H

#include "heddle/base.h"

/* An array that grows by doubling; its smaller copies stay in the arena. */
#define AN_VEC(T)                                                                                            \
  struct {                                                                                                   \
    T *data;                                                                                                 \
    size_t n, cap;                                                                                           \
  }
void an_grow(hd_arena *arena, void **data, size_t *cap, size_t n, size_t need, size_t elem);
#define AN_RESERVE(arena, v, need)                                                                           \
  do {                                                                                                       \
    if ((need) > (v)->cap)                                                                                   \
      an_grow((arena), (void **)&(v)->data, &(v)->cap, (v)->n, (need), sizeof *(v)->data);                   \
  } while (0)
#define AN_PUSH(arena, v, x)                                                                                 \
  do {                                                                                                       \
    AN_RESERVE((arena), (v), (v)->n + 1);                                                                    \
    (v)->data[(v)->n++] = (x);                                                                               \
  } while (0)

/* An open-addressing hash table of numbers; the caller holds the keys. */
typedef struct an_hash {
  uint32_t *slots; /* value + 1; 0: free */
  uint32_t cap, n; /* cap is a power of two */
} an_hash;

/* Calls equal(of, value, key) on candidates with this hash; UINT32_MAX: not there. Inlined, so that `equal`
 * is inlined too. */
typedef bool (*an_equal)(const void *of, uint32_t value, const void *key);
static inline uint32_t an_hash_find(const an_hash *h, uint64_t hash, an_equal equal, const void *of,
                                    const void *key) {
  if (!h->cap) return UINT32_MAX;
  for (uint32_t i = (uint32_t)hash & (h->cap - 1); h->slots[i]; i = (i + 1) & (h->cap - 1))
    if (equal(of, h->slots[i] - 1, key)) return h->slots[i] - 1;
  return UINT32_MAX;
}

typedef uint64_t (*an_rehash)(const void *of, uint32_t value);
void an_hash_grow(hd_arena *arena, an_hash *h, an_rehash rehash, const void *of);
static inline void an_hash_add(hd_arena *arena, an_hash *h, uint64_t hash, uint32_t value, an_rehash rehash,
                               const void *of) {
  if (2 * (h->n + 1) > h->cap) an_hash_grow(arena, h, rehash, of);
  uint32_t i = (uint32_t)hash & (h->cap - 1);
  while (h->slots[i]) i = (i + 1) & (h->cap - 1);
  h->slots[i] = value + 1;
  h->n++;
}

static inline uint64_t an_mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15ull;
  return h ^ (h >> 29);
}

#endif
