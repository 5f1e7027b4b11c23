/* model/interleave.h: the order in which an SM's warps come to its L1 when no clock times them.
 *
 * It needs neither a GPU's pipelines nor the warps' paths, and gives no time: its cycles are good for an
 * order alone. A warp's next access may issue when
 *   - its dependence has arrived: two loads of different instructions overlap, a third waits for
 *     both, and so do stores, atomics, barriers and a load that repeats an outstanding one
 *     (the next turn of a loop);
 *   - it has executed the instructions between two accesses, one a cycle: the task's
 *     instructions spread evenly over its accesses;
 *   - the scheduler picks it among the ready warps: LRR, the next in turn after the last one;
 *     GTO, the last one again, else the oldest (by the CTA's arrival, then by number).
 * One access issues at a time; it holds the SM for as long as L1 needs for its bytes, or as
 * the instructions between accesses need of the SM's issue slots, at least a cycle. */
#ifndef HEDDLE_MODEL_INTERLEAVE_H
#define HEDDLE_MODEL_INTERLEAVE_H

#include "model/sm.h"

/* A task starts in CTA place `cta`, which is free, at that cycle. */
void model_interleave_start(model_sm *s, uint32_t cta, uint64_t task, uint64_t cycle);
/* The epoch from `begin` until `limit`. CTAs that ended are written to `retired`, at most one per
 * place; how many is returned. */
uint32_t model_interleave_run(model_sm *s, uint64_t begin, uint64_t limit, uint32_t number,
                              model_sm_retired *retired);

#endif
