/* model/mshrs.h: an SM's MSHRs, of which each line takes one that a load asks L2 for (sm.h). */
#ifndef HEDDLE_MODEL_MSHRS_H
#define HEDDLE_MODEL_MSHRS_H

#include "model/sm.h"

/* MSHRs that are free at `cycle`, if these may be fewer than wanted. */
static inline uint32_t free_mshrs(model_sm *s, uint32_t wanted, uint64_t cycle) {
  const uint32_t most = s->gpu->l1_mshrs;
  if (s->n_mshr + wanted > most) {
    uint32_t taken = 0;
    for (uint32_t i = 0; i < s->n_mshr; i++) {
      s->mshr[taken] = s->mshr[i];
      taken += s->mshr[i] > cycle;
    }
    s->n_mshr = taken;
  }
  return most - s->n_mshr;
}

/* When the next one is, if none is now. */
static inline uint64_t next_mshr(const model_sm *s) {
  uint64_t soonest = SM_NEVER;
  for (uint32_t i = 0; i < s->n_mshr; i++) soonest = s->mshr[i] < soonest ? s->mshr[i] : soonest;
  return soonest;
}

#endif
