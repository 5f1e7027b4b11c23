/* model/cache.h: a sectored, set-associative cache with least-recently-used replacement and eviction
 * priorities.
 *
 * Tags only. Lines are 128 bytes; a mask says which of the four 32-byte sectors of a line are
 * meant. The cache's own sectors can be larger than 32 bytes: masks are widened to whole ones
 * (model_cache_widen) before they are looked up.
 *
 * A sector is valid, dirty, both, or neither. Dirty without valid: written in part, the rest
 * never fetched. A line without any valid or dirty sector is free.
 *
 * Eviction priorities (PTX ISA, "Cache eviction priority hints"): a line has the one of its latest access. To
 * be evicted first are those that go first, then the normal ones, then those that go last, each from the
 * least recently used on. A set's ages are that order: behind the lines that go last come the normal ones,
 * those that go first, and free ways in the end; so an eviction always takes the oldest way, and only the
 * place of a new line depends on priorities. Where all accesses are normal (model_cache.ranked is false) no
 * ranks are kept.
 *
 * All data of a set lies together, in as few host cache lines as possible, because lookups of scattered
 * addresses spend their time waiting for it: 128 bytes for 16 ways. */
#ifndef HEDDLE_MODEL_CACHE_H
#define HEDDLE_MODEL_CACHE_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "heddle/model.h"
#include "model/coalesce.h"

enum {
  CACHE_MAX_WAYS = 64,
  CACHE_AGE_NEVER = 127,
  /* When a line's data arrives is kept in 16 bits, in units of 4 cycles: as seen from now, up to 131071
   * cycles away, on either side. Nothing is in flight for longer than CACHE_FAR, and arrivals of the past are
   * brought up to date every CACHE_SETTLE: both together stay in that range. */
  CACHE_TICK = 4,
  CACHE_FAR = 60000,
  CACHE_SETTLE = 30000,
};
#define CACHE_FREE UINT32_MAX

/* One set: tags u32[pitch] (line number or CACHE_FREE), arrivals u16[pitch], sector states u8[pitch] (valid,
 * dirty << 4), ages i8[pitch] (0 .. ways - 1, each once; 0 is the most recently used). Places beyond `ways`
 * are never used: their ages are CACHE_AGE_NEVER. */
typedef char model_set;

/* hd_access_cache's fields, shifted down. */
enum { CACHE_NORMAL = 0, CACHE_FIRST, CACHE_LAST, CACHE_UNCHANGED };
static inline unsigned model_l1_priority(unsigned cache) { return cache / HD_CACHE_L1_FIRST & 3; }
static inline unsigned model_l2_priority(unsigned cache) { return cache / HD_CACHE_L2_FIRST & 3; }

/* How many ways of a set hold lines that go last; that go first, free ones included. */
typedef struct model_ranks {
  uint8_t last, first;
} model_ranks;

typedef struct model_cache {
  model_set *store;
  uint32_t sets, ways;
  uint32_t pitch; /* ways rounded up to a multiple of 16, the step of all searches */
  uint32_t arrivals_at, states_at, ages_at, set_bytes;
  uint64_t reciprocal; /* ceil(2^64 / sets) */
  bool hashed;
  bool ranked;         /* `ranks` is in use */
  model_ranks *ranks;  /* per set */
  uint8_t widened[16]; /* mask -> mask of the whole sectors it touches */
  uint64_t settled;    /* cycle: no arrival is before it */
  uint64_t seen;       /* cycle: no access was after it */
} model_cache;

/* The geometry of a cache of that many bytes (the configuration's own number does not count). Its store
 * is to be set next: sets * set_bytes, aligned to 16, and its ranks; then model_cache_clear. */
void model_cache_plan(model_cache *c, const hd_cache_config *config, uint64_t bytes);
/* Memory for stores, on large pages where the host has them; freed with free(). */
model_set *model_store_alloc(size_t bytes);
/* Nothing valid, nothing dirty, nothing in flight, no priorities. */
void model_cache_clear(model_cache *c);
/* Accesses with priorities follow. `full`: free ways hold normal lines of others, which are not requested. */
void model_cache_rank(model_cache *c, bool full);
/* Cycles count from 0 again; all lines that were in flight have arrived. */
void model_cache_restart(model_cache *c);
/* Accesses from `now` until `limit` follow. */
void model_cache_epoch(model_cache *c, uint64_t now, uint64_t limit);
/* All dirty sectors become clean; how many there were, in 32 bytes. */
uint64_t model_cache_clean(model_cache *c);

static inline uint32_t *model_set_tags(model_set *s) { return (uint32_t *)(void *)s; }
static inline uint16_t *model_set_arrivals(const model_cache *c, model_set *s) {
  return (uint16_t *)(void *)(s + c->arrivals_at);
}
static inline uint8_t *model_set_states(const model_cache *c, model_set *s) {
  return (uint8_t *)s + c->states_at;
}
static inline int8_t *model_set_ages(const model_cache *c, model_set *s) { return (int8_t *)s + c->ages_at; }

static inline unsigned model_cache_widen(const model_cache *c, unsigned mask) { return c->widened[mask]; }

/* The set of a line. Plain: line mod sets. Hashed: each run of `sets` lines is rotated by a
 * hash of its number, so neighbours never share a set but large powers of two do no harm. */
static inline model_set *model_cache_set(const model_cache *c, uint32_t line) {
  if (c->sets == 1) return c->store; /* whose reciprocal would not fit */
  uint32_t run = (uint32_t)(((unsigned __int128)c->reciprocal * line) >> 64);
  uint32_t set = line - run * c->sets;
  if (c->hashed) {
    uint32_t h = run * 0x9E3779B1u;
    h = (h ^ (h >> 15)) * 0x85EBCA6Bu;
    h ^= h >> 13;
    set += (uint32_t)(((uint64_t)h * c->sets) >> 32);
    if (set >= c->sets) set -= c->sets;
  }
  return c->store + (size_t)set * c->set_bytes;
}

/* Bring a set into the host's cache: lookups of scattered lines spend their time waiting for it. */
static inline void model_set_prefetch(const model_cache *c, const model_set *s) {
  const model_set *end = s + c->set_bytes; /* a multiple of 128 */
  do {
    __builtin_prefetch(s, 1);
    __builtin_prefetch(s + 64, 1);
  } while ((s += 128) < end);
}

/* Sets are searched 16 ways at a time; bit i of a result is for way i. */
#ifdef __SSE2__
static inline uint32_t model_match_tags(const uint32_t *tags, uint32_t line) {
  const __m128i *t = (const __m128i *)(const void *)tags;
  __m128i wanted = _mm_set1_epi32((int)line);
  __m128i low = _mm_packs_epi32(_mm_cmpeq_epi32(t[0], wanted), _mm_cmpeq_epi32(t[1], wanted));
  __m128i high = _mm_packs_epi32(_mm_cmpeq_epi32(t[2], wanted), _mm_cmpeq_epi32(t[3], wanted));
  return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
}

static inline uint32_t model_match_ages(const int8_t *ages, int8_t age) {
  __m128i a = *(const __m128i *)(const void *)ages;
  return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, _mm_set1_epi8(age)));
}

static inline void model_raise_ages(int8_t *ages, int8_t below) {
  __m128i *a = (__m128i *)(void *)ages;
  *a = _mm_sub_epi8(*a, _mm_cmplt_epi8(*a, _mm_set1_epi8(below))); /* true is -1 */
}
#else
static inline uint32_t model_match_tags(const uint32_t *tags, uint32_t line) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < 16; i++) found |= (uint32_t)(tags[i] == line) << i;
  return found;
}

static inline uint32_t model_match_ages(const int8_t *ages, int8_t age) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < 16; i++) found |= (uint32_t)(ages[i] == age) << i;
  return found;
}

static inline void model_raise_ages(int8_t *ages, int8_t below) {
  for (uint32_t i = 0; i < 16; i++) ages[i] += ages[i] < below;
}
#endif

/* The way of a line, or `ways`. */
static inline uint32_t model_set_find(const model_cache *c, const model_set *s, uint32_t line) {
  const uint32_t *tags = (const uint32_t *)(const void *)s;
  uint32_t way = 0;
  do {
    uint32_t found = model_match_tags(tags + way, line);
    if (found) return way + (uint32_t)__builtin_ctz(found);
  } while ((way += 16) < c->pitch);
  return c->ways;
}

/* The least recently used way. */
static inline uint32_t model_set_oldest(const model_cache *c, const model_set *s) {
  const int8_t *ages = (const int8_t *)s + c->ages_at;
  for (uint32_t way = 0;; way += 16) {
    uint32_t found = model_match_ages(ages + way, (int8_t)(c->ways - 1));
    if (found) return way + (uint32_t)__builtin_ctz(found);
  }
}

/* A way becomes the most recently used. */
static inline void model_set_touch(const model_cache *c, model_set *s, uint32_t way) {
  int8_t *ages = model_set_ages(c, s), was = ages[way];
  if (!was) return;
  uint32_t i = 0;
  do model_raise_ages(ages + i, was);
  while ((i += 16) < c->pitch);
  ages[way] = 0;
}

/* cache.c: the same with a priority. */
void model_set_place(const model_cache *c, model_set *s, uint32_t way, unsigned priority, bool fresh);
void model_set_unrank(const model_cache *c, model_set *s, uint32_t way);

/* A way is accessed; fresh: its line is new. `ranked` is the cache's; callers that must be fast pass a
 * constant. */
static inline void model_set_use(const model_cache *c, model_set *s, uint32_t way, bool ranked,
                                 unsigned priority, bool fresh) {
  if (ranked)
    model_set_place(c, s, way, priority, fresh);
  else
    model_set_touch(c, s, way);
}

/* A way becomes the next to go. */
static inline void model_set_expose(const model_cache *c, model_set *s, uint32_t way) {
  if (c->ranked) model_set_unrank(c, s, way);
  int8_t *age = model_set_ages(c, s), was = age[way];
  for (uint32_t i = 0; i < c->ways; i++) age[i] -= age[i] > was;
  age[way] = (int8_t)(c->ways - 1);
}

/* Cycles from now until a line's data is there; 0 or less: it is. */
static inline int32_t model_set_wait(const model_cache *c, model_set *s, uint32_t way, uint64_t now) {
  int16_t ticks = (int16_t)(model_set_arrivals(c, s)[way] - (uint16_t)(now / CACHE_TICK));
  return ticks * CACHE_TICK - (int32_t)(now % CACHE_TICK);
}

static inline void model_set_arrives(const model_cache *c, model_set *s, uint32_t way, uint64_t now,
                                     uint32_t wait) {
  model_set_arrivals(c, s)[way] = (uint16_t)((now + (wait < CACHE_FAR ? wait : CACHE_FAR)) / CACHE_TICK);
}

/* A way gets a new line, without any sector yet. */
static inline void model_set_take(const model_cache *c, model_set *s, uint32_t way, uint32_t line,
                                  uint64_t now) {
  model_set_tags(s)[way] = line;
  model_set_states(c, s)[way] = 0;
  model_set_arrivals(c, s)[way] = (uint16_t)(now / CACHE_TICK);
}

/* Sectors become invalid and clean; a line without any is free. */
static inline void model_set_drop(const model_cache *c, model_set *s, uint32_t way, unsigned mask) {
  uint8_t *state = &model_set_states(c, s)[way];
  *state &= (uint8_t) ~(mask | mask << 4);
  if (*state) return;
  model_set_tags(s)[way] = CACHE_FREE;
  model_set_expose(c, s, way);
}

#endif
