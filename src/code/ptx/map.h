/* A hash table of indices into an array that the caller owns.
 *
 * A slot holds the 32-bit hash in its upper half and index + 1 in its lower one; 0
 * is free. Linear probing, at most half of the slots in use.
 */
#ifndef PTX_MAP_H
#define PTX_MAP_H

#include "heddle/base.h"

#include <string.h>

typedef struct ptx_map {
  uint64_t *slots;
  uint32_t mask; /* slots - 1; slots is a power of two */
  uint32_t used;
} ptx_map;

/* Multiply-and-fold over eight bytes at a time. Reads nothing outside s[0..n). */
static inline uint32_t ptx_hash(const char *s, size_t n) {
  const uint64_t k = 0x9E3779B97F4A7C15ull;
  uint64_t h = n * k, w;
  if (n >= 8) {
    for (size_t i = 0; i + 8 < n; i += 8) {
      memcpy(&w, s + i, 8);
      h = (h ^ w) * k;
      h ^= h >> 32;
    }
    memcpy(&w, s + n - 8, 8);
  } else if (n >= 4) {
    uint32_t lo, hi;
    memcpy(&lo, s, 4);
    memcpy(&hi, s + n - 4, 4);
    w = lo | (uint64_t)hi << 32;
  } else {
    w = n == 0 ? 0
               : (uint64_t)(unsigned char)s[0] | (uint64_t)(unsigned char)s[n / 2] << 8 |
                     (uint64_t)(unsigned char)s[n - 1] << 16;
  }
  h = (h ^ w) * k;
  return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

/* Run the statement that follows for every `index` stored under hash `h`; leave
 * the loop by return, break or goto once the right one is found. */
#define PTX_MAP_EACH(map, h, index)                                                                          \
  for (uint64_t i_ = (h) & (map)->mask, s_, index;                                                           \
       (s_ = (map)->slots[i_]) != 0 && (index = (uint32_t)s_ - 1, true); i_ = (i_ + 1) & (map)->mask)        \
    if ((uint32_t)(s_ >> 32) == (h))

/* `slots` is a power of two. The arena escapes when it is out of memory. */
static inline void ptx_map_init(ptx_map *map, hd_arena *arena, uint32_t slots) {
  map->slots = HD_NEW_N(arena, slots, uint64_t);
  map->mask = slots - 1;
  map->used = 0;
}

static inline void ptx_map_put(ptx_map *map, uint64_t slot) {
  uint32_t i = (uint32_t)(slot >> 32) & map->mask;
  while (map->slots[i]) i = (i + 1) & map->mask;
  map->slots[i] = slot;
}

/* Add an index that is not in the map. */
static inline void ptx_map_add(ptx_map *map, hd_arena *arena, uint32_t hash, uint32_t index) {
  if (map->used * 2 >= map->mask) {
    ptx_map old = *map;
    ptx_map_init(map, arena, (old.mask + 1) * 2);
    map->used = old.used;
    for (uint32_t i = 0; i <= old.mask; i++)
      if (old.slots[i]) ptx_map_put(map, old.slots[i]);
  }
  ptx_map_put(map, (uint64_t)hash << 32 | (index + 1));
  map->used++;
}

#endif
