/* model/pace.h: how long a warp needs from one memory access to the next on some GPU.
 *
 * Between two accesses a warp does a segment: steps, each of which may begin when the load it waits for has
 * arrived, occupies its scheduler and its pipelines, and takes its time even without contention. Segments are
 * worked out once for each distinct path of a trace, from the dependences of the PTX:
 *
 *   - instructions issue in order; one whose operand is not ready holds up those behind it;
 *   - within a basic block ptxas moves loads up: instructions that use a load's result are put off until the
 *     block ends or their own results are needed, so that independent loads are in flight together. A load
 *     does not move across a store that may write to its address; .nc loads (memory that nothing writes) do.
 *     Several turns of a short counted loop are one block, because ptxas unrolls the loop;
 *   - results of loads in flight take registers, of which a thread has as many as leave room for all warps of
 *     an SM, or as .maxnreg allows, or as its code needs at least; loads that have none wait until an older
 *     one's result is used;
 *   - a load in flight delays no instruction before the first use of its result. */
#ifndef HEDDLE_MODEL_PACE_H
#define HEDDLE_MODEL_PACE_H

#include "heddle/model.h"
#include "model/code.h"
#include "model/path.h"

enum {
  PACE_LOADS = 32
}; /* a step can wait for one of that many latest loads; older ones count as the oldest */

typedef struct model_step {
  uint16_t wait;    /* 1: the warp's latest load, 2: the one before, ...; 0: nothing. Before the step */
  uint16_t issue;   /* cycles of the scheduler */
  uint32_t repeat;  /* how often it is done */
  uint32_t latency; /* cycles from its begin to its end without contention; at least `issue` */
  uint16_t busy[MODEL_UNITS]; /* cycles of each pipeline of the scheduler's, LSU: of the SM's */
} model_step;

typedef enum model_event_kind { EVENT_ACCESS = 0, EVENT_LOAD, EVENT_BARRIER, EVENT_END } model_event_kind;

typedef struct model_segment {
  uint32_t step, n_steps; /* into model_pace.steps */
  uint8_t event;    /* model_event_kind: the event after the steps. LOAD: a later step may wait for it */
  uint16_t repeats; /* of an atomic: lanes whose words other lanes name too */
  bool joined;      /* LOAD: a part of the load before, which has arrived when all its parts have */
} model_segment;

/* The segments of one path: into a worker's list. */
typedef struct model_pace_path {
  size_t first, n;
} model_pace_path;

typedef struct model_pace_worker {
  HD_VEC(uint32_t) segments;
  model_pace_path *paths;
} model_pace_worker;

typedef struct model_pace {
  HD_VEC(model_step) steps;
  HD_VEC(model_segment) segments;
  model_index by_segment;
  model_pace_worker *workers;
  unsigned n_workers;
  uint32_t registers; /* the limit of registers per thread that ptxas was given; 0: none */
} model_pace;

/* The trace keeps paths; it must be finished. `registers`: the limit per thread that ptxas was given; 0:
 * none. */
hd_status model_pace_make(const hd_trace *t, const hd_gpu *g, uint32_t registers, model_pace **out,
                          hd_diag *d);
/* The trace was resumed: so is its pace. */
hd_status model_pace_extend(model_pace *p, const hd_trace *t, const hd_gpu *g, hd_diag *d);
void model_pace_destroy(model_pace *p); /* NULL is fine */

#endif
