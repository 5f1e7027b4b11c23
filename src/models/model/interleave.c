/* Whose access comes to the caches next, without a clock. */
#include "model/interleave.h"

/* The warp has its next event: when may that happen, if not before `cycle`? */
static void schedule(model_sm *s, uint32_t w, uint64_t cycle) {
  model_sm_warp *warp = &s->warps[w];
  unsigned kind = model_stream_kind(warp->next.attr);
  bool overlaps = warp->next.slot != STREAM_BARRIER && warp->next.slot != STREAM_END &&
                  (kind == HD_ACCESS_PREFETCH ||
                   (kind == HD_ACCESS_LOAD && warp->outstanding < 2 && warp->next.slot != warp->load_slot));
  if (warp->outstanding && !overlaps) {
    if (warp->loaded > cycle) cycle = warp->loaded;
    warp->outstanding = 0;
    warp->load_slot = STREAM_END;
  }
  s->ready[w] = cycle;
}

/* Its next event, behind the instructions before it. */
static void advance(model_sm *s, uint32_t w, uint64_t cycle) {
  model_sm_warp *warp = &s->warps[w];
  model_stream_next(&warp->reader, &warp->next);
  schedule(s, w, cycle + s->ctas[warp->cta].gap);
}

void model_interleave_start(model_sm *s, uint32_t cta, uint64_t task, uint64_t cycle) {
  model_sm_open(s, cta, task);
  for (uint32_t w = cta * s->warps_per_cta; w < (cta + 1) * s->warps_per_cta; w++) {
    schedule(s, w, cycle + s->ctas[cta].gap);
    if (s->ready[w] < s->wake) s->wake = s->ready[w];
  }
}

/* A warp has come to a barrier, or to its end. True when that ends its CTA. */
static bool arrive(model_sm *s, uint32_t w, uint64_t cycle) {
  model_sm_warp *warp = &s->warps[w];
  uint32_t cta = warp->cta;
  model_sm_cta *c = &s->ctas[cta];
  s->ready[w] = SM_NEVER;
  if (warp->next.slot == STREAM_BARRIER)
    c->waiting++;
  else
    c->live--;
  if (cycle > c->released) c->released = cycle;
  if (!c->live) {
    model_sm_close(s, cta);
    return true;
  }
  /* Warps that have ended are not waited for. */
  if (c->waiting < c->live) return false;
  c->waiting = 0;
  for (uint32_t i = cta * s->warps_per_cta; i < (cta + 1) * s->warps_per_cta; i++)
    if (s->warps[i].next.slot == STREAM_BARRIER) advance(s, i, c->released);
  return false;
}

/* The warp to go next, and when (SM_NEVER: none). */
static inline uint32_t pick(const model_sm *s, uint64_t *when) {
  uint64_t best = SM_NEVER;
  uint32_t warp = 0;
  if (s->gpu->scheduler == HD_SCHED_LRR) {
    uint32_t n = s->n_ctas * s->warps_per_cta;
    for (uint32_t k = 0, w = s->last; k < n; k++) {
      if (++w >= n) w = 0;
      if (s->ready[w] >= best) continue;
      best = s->ready[w];
      warp = w;
      if (best <= s->now) break;
    }
  } else {
    const bool in_turn = s->gpu->scheduler == HD_SCHED_OLDEST;
    if (!in_turn) best = s->ready[s->last], warp = s->last;
    for (uint32_t k = 0; k < s->n_by_age && best > s->now; k++) {
      const uint32_t first = s->by_age[k] * s->warps_per_cta, end = first + s->warps_per_cta;
      uint32_t w = in_turn && s->last >= first && s->last < end ? s->last : end - 1;
      for (uint32_t i = first; i < end && best > s->now; i++) {
        if (++w >= end) w = first;
        if (s->ready[w] >= best) continue;
        best = s->ready[w];
        warp = w;
      }
    }
  }
  *when = best > s->now ? best : s->now;
  if (best == SM_NEVER) *when = SM_NEVER;
  return warp;
}

/* Do the warp's access at `cycle`. */
static void access_memory(model_sm *s, uint32_t w, uint64_t cycle) {
  model_sm_warp *warp = &s->warps[w];
  const unsigned kind = model_stream_kind(warp->next.attr);
  const uint8_t slot = warp->next.slot;
  double busy;
  uint64_t again;
  const bool store = kind == HD_ACCESS_STORE, atomic = kind == HD_ACCESS_ATOMIC;
  const uint64_t there = model_sm_access(s, w, &cycle, &busy, &again);
  s->last = w;
  if (again) {
    s->now = cycle + (uint64_t)(busy + 0.5);
    s->ready[w] = again;
    return;
  }
  if (kind == HD_ACCESS_LOAD || atomic) {
    if (!warp->outstanding++) {
      warp->load_slot = slot;
      warp->loaded = there;
    } else if (there > warp->loaded) {
      warp->loaded = there;
    }
  }
  const model_sm_cta *c = &s->ctas[warp->cta];
  s->issue_debt += c->issue;
  uint32_t hold = (uint32_t)(busy + 0.5), issue = s->issue_debt >> 8;
  s->issue_debt &= 255;
  s->now = cycle + (issue > hold ? issue : hold);
  schedule(s, w, (store ? there : cycle) + c->gap);
}

uint32_t model_interleave_run(model_sm *s, uint64_t begin, uint64_t limit, uint32_t number,
                              model_sm_retired *retired) {
  uint32_t n = 0;
  if (s->wake >= limit) return 0;
  model_sm_begin_epoch(s, begin, limit);
  for (;;) {
    uint64_t when;
    uint32_t w = pick(s, &when);
    if (when >= limit) {
      s->wake = when;
      return n;
    }
    uint8_t slot = s->warps[w].next.slot;
    if (slot != STREAM_BARRIER && slot != STREAM_END) {
      access_memory(s, w, when);
    } else if (arrive(s, w, when)) {
      uint8_t cta = s->warps[w].cta;
      retired[n] = (model_sm_retired){.cycle = s->ctas[cta].released, .sm = number, .cta = cta, .rank = n};
      n++;
    }
  }
}
