/* model/watch.h: what a replay fills a timeline with. It only looks: times are the same with and without. */
#ifndef HEDDLE_MODEL_WATCH_H
#define HEDDLE_MODEL_WATCH_H

#include "heddle/timeline.h"
#include "model/pace.h"
#include "model/sm.h"

struct model_watch {
  hd_timeline *out;
  HD_VEC(hd_timeline_cta) ctas;
  uint32_t *open; /* per place on an SM: entry of `ctas`, UINT32_MAX: none */
  uint32_t n_sms, slots;
  HD_VEC(hd_timeline_access) accesses; /* by inst */
  hd_timeline_access called;
  uint32_t *loads;            /* per warp of each SM: the instructions of its latest loads */
  hd_timeline_access *totals; /* per SM: of its L1, by its latest access */
  hd_timeline_access l2;      /* the same of L2, which all share */
  hd_timeline_bin sums;       /* by the latest epoch */
  bool failed;                /* out of memory */
};

/* Fills `out` in, in place of what it has. False: out of memory; else model_watch_end is to follow. */
bool model_watch_begin(model_watch *w, hd_timeline *out, uint32_t n_sms, uint32_t slots);
/* False: memory had run out; the timeline is empty then, as it is without `keep`. */
bool model_watch_end(model_watch *w, bool keep);
void model_watch_start(model_watch *w, uint32_t sm, uint32_t slot, uint64_t task, uint64_t cycle);
void model_watch_stop(model_watch *w, uint32_t sm, uint32_t slot, uint64_t cycle);
/* An epoch is over, at that cycle. */
void model_watch_epoch(model_watch *w, const model_sm *sms, const model_memory *mem, uint64_t now);
/* The instruction of a warp's next access. */
uint32_t model_watch_next(const model_sm *s, uint32_t warp);
/* The warp's load of that number, which is under way, is of that instruction. */
void model_watch_load(model_watch *w, const model_sm *s, uint32_t warp, uint32_t load, uint32_t inst);
/* An access, or a part of one, was made; `again`: its rest follows. */
void model_watch_access(model_watch *w, const model_sm *s, uint32_t inst, uint64_t throttled, bool again);
/* A warp waits so many cycles for its load of that number. */
void model_watch_wait(model_watch *w, const model_sm *s, uint32_t warp, uint32_t load, uint64_t cycles);

#endif
