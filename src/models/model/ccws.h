/* model/ccws.h: cache-conscious wavefront scheduling (Rogers, O'Connor, Aamodt, MICRO 2012) for one SM.
 *
 * Victim tags. Each line of L1 knows the warp whose miss fetched it. When another line takes its place, its
 * tag goes to that warp's victim tags: CCWS_TAGS of them, in sets of CCWS_TAG_WAYS, the least recent leaves.
 * A miss that finds its tag among its own warp's has lost locality to other warps.
 *
 * Scores. A warp's score is CCWS_BASE, and falls back to it by one a cycle. A miss that lost locality sets it
 * to
 *
 *     CCWS_THROTTLE * (such misses so far) / (instructions issued so far) * cutoff,   cutoff = CCWS_BASE *
 * warps
 *
 * if that is more. Warps are stacked by score, the highest first; those whose part of the stack ends above
 * the cutoff may not load. With all scores at their base all warps may; the first one always may. */
#ifndef HEDDLE_MODEL_CCWS_H
#define HEDDLE_MODEL_CCWS_H

#include "heddle/model.h"

enum {
  CCWS_WARPS = 64, /* at most */
  CCWS_TAGS = 16,
  CCWS_TAG_WAYS = 8,
  CCWS_BASE = 100,
  CCWS_THROTTLE = 8,
};

typedef struct model_ccws {
  uint8_t *owner; /* per line of L1: the warp that fetched it, and 1; 0: none */
  uint32_t lines;
  uint32_t tags[CCWS_WARPS][CCWS_TAGS]; /* the most recent of a set first */
  double score[CCWS_WARPS];             /* at cycle `scored` */
  uint64_t scored[CCWS_WARPS];
  bool there[CCWS_WARPS]; /* has started and not ended */
  uint32_t n;             /* of these */
  uint64_t lost, issued;
  uint64_t calm; /* cycle from which on all scores are at their base */
} model_ccws;

/* `owner` has room for `lines`. No warp is there, L1 is empty. */
void model_ccws_reset(model_ccws *c, uint8_t *owner, uint32_t lines);
void model_ccws_start(model_ccws *c, uint32_t warp);
void model_ccws_end(model_ccws *c, uint32_t warp);
/* A warp's load misses: `line` takes place `at` of L1, in which `old` was (UINT32_MAX: nothing). */
void model_ccws_miss(model_ccws *c, uint32_t warp, uint32_t line, uint32_t at, uint32_t old, uint64_t cycle);
double model_ccws_score(const model_ccws *c, uint32_t warp, uint64_t cycle);
/* Of equal scores the lower number is first. */
bool model_ccws_may_load(const model_ccws *c, uint32_t warp, uint64_t cycle);

#endif
