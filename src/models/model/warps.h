/* model/warps.h: the policies of warp schedulers, for the clock (clock.h).
 *
 * A policy says two things: which of several warps that could issue at the same cycle goes first
 * (model_warps_turn), and whether a warp may issue its next load now (model_warps_may_load).
 *
 * lrr: the next one after the last, in the order of their places on the SM.
 *
 * gto: the last one again, else the oldest: by its CTA's arrival, then by its number.
 *
 * oldest: those of the CTA that arrived first, and of these the next one after the CTA's last. An H100 does
 * so: CTAs of equal work end one after the other, the warps of one together
 * (bench/results/H100-2026-11-24/policy.txt).
 *
 * two-level: fetch groups of `warps` places (Narasiman et al., MICRO 2011): lrr inside the current group;
 * another group, the next in turn, becomes current when no warp of the current one could issue.
 *
 * ccws: gto, and loads of warps that have lost no locality wait while others have (ccws.h).
 *
 * priority: gto, and only the `warps` oldest warps of the SM may load: MAP's programmable scheduler, whose
 * groups of high priority cross CTAs' borders (MAP 3, equation 8). Warps that have ended, or wait at a
 * barrier, are in no group, so that a barrier never waits for a warp that may not load.
 *
 * A warp that may not load asks again every WARPS_HOLD cycles. */
#ifndef HEDDLE_MODEL_WARPS_H
#define HEDDLE_MODEL_WARPS_H

#include "model/ccws.h"

enum {
  WARPS_MAX_SCHEDULERS = 16,
  WARPS_HOLD = 16,       /* cycles */
  WARPS_FETCH_GROUP = 8, /* two-level without a number: as its paper has it */
};

typedef struct model_warps {
  hd_warp_scheduler kind;
  uint32_t group;      /* two-level: places of a fetch group; priority: warps that may load, 0: all */
  uint32_t schedulers; /* warp w belongs to scheduler w mod schedulers */
  uint32_t places, per_cta;
  uint32_t last[WARPS_MAX_SCHEDULERS]; /* the warp that issued last */
  /* oldest: per CTA, the place behind that of its warp that issued last; a place is a bit of by_age. */
  uint8_t next[WARPS_MAX_SCHEDULERS][CCWS_WARPS];
  uint8_t cta[CCWS_WARPS];       /* per warp */
  uint32_t rank[CCWS_WARPS];     /* per warp, by age: the oldest is 0 */
  uint8_t scheduler[CCWS_WARPS]; /* per warp: its own */
  bool away[CCWS_WARPS];         /* per warp: not there, ended, or at a barrier */
  /* Per scheduler, of those CTAs on the SM that have warps of it, the oldest first: these warps, bit k for
   * warp k * schedulers + the scheduler. All bits behind the last one. */
  uint64_t by_age[WARPS_MAX_SCHEDULERS][CCWS_WARPS];
  model_ccws *ccws; /* of this SM; NULL: another policy */
} model_warps;

/* The policies' names, in the order of hd_warp_scheduler; NULL ends. */
extern const char *const model_schedulers[HD_SCHED_COUNT + 1];

/* `places` warps on an SM, in CTAs of per_cta; all are away. `ccws` may be NULL where g's scheduler is
 * another. */
void model_warps_reset(model_warps *p, const hd_gpu *g, uint32_t places, uint32_t per_cta, model_ccws *ccws);
/* The CTAs on the SM, the oldest first, after one has started or ended. */
void model_warps_order(model_warps *p, const uint32_t *ctas, uint32_t n);
/* A new warp takes that place; it waits at a barrier; it goes on; it ends. */
void model_warps_start(model_warps *p, uint32_t warp);
void model_warps_wait(model_warps *p, uint32_t warp);
void model_warps_go_on(model_warps *p, uint32_t warp);
void model_warps_end(model_warps *p, uint32_t warp);
/* Among warps of one scheduler the one with the lowest number goes first; no two have the same. */
uint32_t model_warps_turn(const model_warps *p, uint32_t warp);
/* Do older CTAs' warps go before others? So it is under gto, ccws and priority, but for the last one, which
 * goes on, and under oldest. */
static inline bool model_warps_oldest_first(const model_warps *p) {
  return p->kind != HD_SCHED_LRR && p->kind != HD_SCHED_TWO_LEVEL;
}
/* Where that is so: the warp with the lowest turn of a scheduler's, of which there is one or more in
 * `places`. */
uint32_t model_warps_oldest(const model_warps *p, uint32_t scheduler, uint64_t places);
/* It issued `instructions`, through its scheduler. */
static inline void model_warps_issued(model_warps *p, uint32_t scheduler, uint32_t warp,
                                      uint32_t instructions) {
  p->last[scheduler] = warp;
  if (p->kind == HD_SCHED_OLDEST) p->next[scheduler][p->cta[warp]] = (uint8_t)(warp / p->schedulers + 1);
  if (p->ccws) p->ccws->issued += instructions;
}
bool model_warps_may_load(model_warps *p, uint32_t warp, uint64_t cycle);
/* Do only replays with a clock know it? */
bool model_warps_need_clock(hd_warp_scheduler s);

#endif
