#include "model/cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static uint32_t round_up(uint32_t v, uint32_t unit) { return (v + unit - 1) / unit * unit; }

void model_cache_plan(model_cache *c, const hd_cache_config *config, uint64_t bytes) {
  *c = (model_cache){.ways = config->ways, .hashed = config->hashed};
  uint64_t sets = bytes / ((uint64_t)config->line * config->ways);
  c->sets = sets ? (uint32_t)sets : 1;
  c->reciprocal = c->sets == 1 ? 0 : UINT64_MAX / c->sets + 1;
  unsigned width = config->sector / MODEL_SECTOR, one = (1u << width) - 1;
  for (unsigned mask = 0; mask < 16; mask++)
    for (unsigned at = 0; at < 4; at += width)
      if (mask >> at & one) c->widened[mask] |= (uint8_t)(one << at);
  c->pitch = round_up(c->ways, 16);
  c->arrivals_at = c->pitch * (uint32_t)sizeof(uint32_t);
  c->states_at = c->arrivals_at + c->pitch * (uint32_t)sizeof(uint16_t);
  c->ages_at = c->states_at + c->pitch;
  c->set_bytes = c->ages_at + c->pitch; /* 128 for up to 16 ways */
}

model_set *model_store_alloc(size_t bytes) {
  const size_t huge = 2u << 20;
  size_t align = bytes < huge ? 64 : huge;
  if (bytes > SIZE_MAX - align) return NULL;
  model_set *store = aligned_alloc(align, (bytes + align - 1) / align * align);
  /* Lookups jump about: without large pages the host's TLB misses cost as much as they do. */
  if (store && align == huge) madvise(store, bytes, MADV_HUGEPAGE);
  return store;
}

void model_cache_clear(model_cache *c) {
  c->ranked = false;
  c->settled = c->seen = 0;
  model_set *s = c->store;
  for (uint32_t i = 0; i < c->sets; i++, s += c->set_bytes) {
    memset(s, 0, c->set_bytes);
    memset(s, 0xff, c->pitch * sizeof(uint32_t));
    int8_t *age = model_set_ages(c, s);
    for (uint32_t way = 0; way < c->pitch; way++)
      age[way] = way < c->ways ? (int8_t)way : (int8_t)CACHE_AGE_NEVER;
  }
}

/* ---- Eviction priorities ------------------------------------------------------------------- */

void model_cache_rank(model_cache *c, bool full) {
  if (c->ranked) return;
  c->ranked = true;
  model_set *s = c->store;
  for (uint32_t i = 0; i < c->sets; i++, s += c->set_bytes) {
    c->ranks[i] = (model_ranks){0};
    for (uint32_t way = 0; !full && way < c->ways; way++)
      c->ranks[i].first += model_set_tags(s)[way] == CACHE_FREE;
  }
}

static model_ranks *ranks_of(const model_cache *c, const model_set *s) {
  return &c->ranks[(size_t)(s - c->store) / c->set_bytes];
}

/* A way is no longer among its equals. */
static void leave(const model_cache *c, model_ranks *r, int8_t age) {
  if (age < r->last)
    r->last--;
  else if ((uint32_t)age >= c->ways - r->first)
    r->first--;
}

void model_set_place(const model_cache *c, model_set *s, uint32_t way, unsigned priority, bool fresh) {
  if (priority == CACHE_UNCHANGED && !fresh) return;
  model_ranks *r = ranks_of(c, s);
  int8_t *age = model_set_ages(c, s), was = age[way];
  leave(c, r, was);
  int8_t to = (int8_t)(priority == CACHE_LAST    ? 0
                       : priority == CACHE_FIRST ? (int)c->ways - 1 - r->first
                                                 : r->last);
  for (uint32_t i = 0; i < c->ways; i++) {
    age[i] -= age[i] > was;
    age[i] += age[i] >= to;
  }
  age[way] = to;
  r->last += priority == CACHE_LAST;
  r->first += priority == CACHE_FIRST;
}

/* The way becomes free, and the oldest. */
void model_set_unrank(const model_cache *c, model_set *s, uint32_t way) {
  model_ranks *r = ranks_of(c, s);
  leave(c, r, model_set_ages(c, s)[way]);
  r->first++;
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* Arrivals before `now` become `now`; all of them when nothing can be in flight. */
static void settle(model_cache *c, uint64_t now, bool all) {
  uint16_t tick = (uint16_t)(now / CACHE_TICK);
  model_set *s = c->store;
  for (uint32_t i = 0; i < c->sets; i++, s += c->set_bytes) {
    uint16_t *arrivals = model_set_arrivals(c, s);
    for (uint32_t way = 0; way < c->pitch; way++)
      arrivals[way] = all || (int16_t)(arrivals[way] - tick) <= 0 ? tick : arrivals[way];
  }
  c->settled = now;
}

void model_cache_restart(model_cache *c) {
  settle(c, 0, true);
  c->seen = 0;
}

void model_cache_epoch(model_cache *c, uint64_t now, uint64_t limit) {
  if (now - c->settled >= CACHE_SETTLE) settle(c, now, now > c->seen + CACHE_FAR);
  c->seen = limit;
}

uint64_t model_cache_clean(model_cache *c) {
  uint64_t n = 0;
  model_set *s = c->store;
  for (uint32_t i = 0; i < c->sets; i++, s += c->set_bytes)
    for (uint32_t way = 0; way < c->ways; way++) {
      unsigned dirty = model_set_states(c, s)[way] >> 4;
      if (!dirty) continue;
      n += model_sectors(dirty);
      /* Of a sector written in part nothing is left. */
      unsigned partial = dirty & ~(model_set_states(c, s)[way] & 15u);
      model_set_states(c, s)[way] &= 15;
      model_set_drop(c, s, way, partial);
    }
  return n;
}
