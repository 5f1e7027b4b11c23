/* model/mshrs.h: an SM's MSHRs, of which each line takes one that a load asks L2 for (sm.h). */
#ifndef HEDDLE_MODEL_MSHRS_H
#define HEDDLE_MODEL_MSHRS_H

#include "model/sm.h"

/* Take one until that cycle: they are a heap, the one that is free first at its root. */
static inline void take_mshr(model_sm *s, uint64_t until) {
  uint32_t at = s->n_mshr++;
  for (uint32_t up; at && s->mshr[up = (at - 1) / 2] > until; at = up) s->mshr[at] = s->mshr[up];
  s->mshr[at] = until;
}

/* Give back the one that is free first. */
static inline void drop_mshr(model_sm *s) {
  const uint32_t n = --s->n_mshr;
  const uint64_t last = s->mshr[n];
  uint32_t at = 0;
  for (uint32_t down = 1; down < n; at = down, down = 2 * at + 1) {
    if (down + 1 < n && s->mshr[down + 1] < s->mshr[down]) down++;
    if (s->mshr[down] >= last) break;
    s->mshr[at] = s->mshr[down];
  }
  s->mshr[at] = last;
}

/* MSHRs that are free at `cycle`, if these may be fewer than wanted. */
static inline uint32_t free_mshrs(model_sm *s, uint32_t wanted, uint64_t cycle) {
  const uint32_t most = s->gpu->l1_mshrs;
  if (s->n_mshr + wanted > most)
    while (s->n_mshr && s->mshr[0] <= cycle) drop_mshr(s);
  return most - s->n_mshr;
}

/* When the next one is, if none is now. */
static inline uint64_t next_mshr(const model_sm *s) { return s->n_mshr ? s->mshr[0] : SM_NEVER; }

#endif
