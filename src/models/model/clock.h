/* model/clock.h: one SM's schedulers and pipelines: when each warp goes on.
 *
 * A warp does the steps of its segments (pace.h) one after the other and an access after each. A step begins
 * when the warp is ready, its scheduler is free and its pipelines are; it keeps the scheduler for its issue
 * cycles and each pipeline for as long as it uses it. The scheduler's policy (warps.h) chooses among warps
 * that could begin at the same time, and says which warps may load.
 *
 * An access goes through the SM's one load/store pipeline to L1 and on (sm.h): the pipeline is taken for as
 * long as L1 needs for its bytes, and waits with it where L1 waits for a line. A load that lacks MSHRs leaves
 * it to others meanwhile. */
#ifndef HEDDLE_MODEL_CLOCK_H
#define HEDDLE_MODEL_CLOCK_H

#include "model/pace.h"
#include "model/sm.h"
#include "model/warps.h"

enum { CLOCK_MAX_SCHEDULERS = WARPS_MAX_SCHEDULERS };

/* Cycles of warps, by the reasons for which they waited. The rest of `resident` are cycles in which they
 * issued, or a pipeline's own. */
typedef struct clock_stalls {
  uint64_t resident;   /* from a warp's start to its end */
  uint64_t memory;     /* for a load */
  uint64_t dependency; /* for the result of an instruction that is no load */
  uint64_t barrier;
  uint64_t throttle; /* for a pipeline, for L1, for queues to take a store */
  uint64_t issue;    /* ready, while the scheduler issued for others, or let it not load */
} clock_stalls;

typedef struct clock_warp {
  const uint32_t *segment; /* the one that it does */
  const model_step *step;  /* the next of it */
  uint32_t steps_left, repeat_left;
  uint32_t loads; /* issued so far */
  uint8_t event, joined;
  uint8_t scheduler, place;  /* its scheduler, and how many of that one's warps have lower numbers */
  uint16_t repeats;          /* of an atomic */
  uint64_t started, arrived; /* cycles: of the warp, at the barrier */
  uint64_t drained;          /* all that it asked memory for is done: it keeps its place until then */
  uint64_t older;            /* arrival of the latest of loads that are no longer in `arrival` */
  uint64_t arrival[PACE_LOADS];
} clock_warp;

/* The warps of a scheduler that can go on first: with a step, and with an access or at a barrier. */
typedef struct clock_choice {
  uint64_t step_at, event_at; /* SM_NEVER: none */
  uint32_t step, event;       /* warps */
  bool stale;
} clock_choice;

/* Warps of a scheduler that are ready at different cycles, in sets: bit k for the one in place k. */
typedef struct clock_line {
  uint64_t ripe;   /* ready by a cycle that never goes back, such as the one at which the scheduler is free */
  uint64_t unripe; /* ready later */
  uint64_t soonest; /* of `unripe`: ready at next_ripe; 0: to be found out again */
  uint64_t next_ripe;
} clock_line;

/* The warps of a scheduler that can go on, in sets, so that few are looked at for each step. Under the
 * policy two-level all are looked at instead. */
typedef struct clock_queue {
  clock_line steps; /* have a step; ripe: by the time that the scheduler is free */
  clock_line
      accesses;    /* have an access, but under LRR; ripe: by the time that the load/store pipeline is free */
  uint64_t events; /* have another event, under LRR any */
  uint64_t first;  /* of these: ready at first_event; 0: to be found out again */
  uint64_t first_event;
} clock_queue;

typedef struct model_clock {
  const model_pace *pace;
  uint32_t schedulers;
  uint32_t per_issue; /* cycles of a scheduler for one instruction */
  model_warps policy;
  uint64_t free[CLOCK_MAX_SCHEDULERS]; /* cycle */
  clock_choice choice[CLOCK_MAX_SCHEDULERS];
  clock_queue queue[CLOCK_MAX_SCHEDULERS];
  bool steps[SM_MAX_WARPS]; /* per warp: a step comes next, not an event */
  uint64_t pipe[CLOCK_MAX_SCHEDULERS][MODEL_UNITS];
  uint64_t load_store; /* the SM's pipeline */
  uint64_t end;        /* cycle at which its last CTA ended */
  uint64_t issued;     /* cycles of schedulers */
  clock_stalls stalls;
  clock_warp warps[SM_MAX_WARPS];
} model_clock;

/* For CTAs of per_cta warps, n_ctas at once; `ccws` is for that scheduler. */
void model_clock_reset(model_clock *c, const model_pace *p, const hd_gpu *g, uint32_t n_ctas,
                       uint32_t per_cta, model_ccws *ccws);
/* As model_interleave_start and model_interleave_run, by this clock. */
void model_clock_start(model_clock *c, model_sm *s, uint32_t cta, uint64_t task, uint64_t cycle);
/* Each scheduler issues so many instructions from `cycle` on that no task's path has. */
void model_clock_occupy(model_clock *c, uint64_t cycle, uint32_t cycles);
uint32_t model_clock_run(model_clock *c, model_sm *s, uint64_t begin, uint64_t limit, uint32_t number,
                         model_sm_retired *retired);

#endif
