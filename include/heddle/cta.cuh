/* heddle/cta.cuh: which CTA does which task, for people who edit their CUDA source.
 *
 * The orders are functions from a position to a cell of the grid (cta_orders.h: the arithmetic that heddle
 * The orders are functions from a position to a cell of the grid (cta_orders.h: the arithmetic that heddle
 * itself lowers to PTX). The functions below give a CTA its position:
 *   heddle_worker()       its own number: the hardware's dispatch over the new order
 *   heddle_redirect()     clusters by assumed round robin (CLU listing 4)
 *   heddle_claim()        the next task of the cluster of the SM it runs on; one task a CTA
 *   HEDDLE_AGENTS         a loop over such tasks, for a grid of a few CTAs per SM, with throttling (CLU 5)
 *   HEDDLE_SEGMENTS       the same with a cluster for each worker of an SM (SMC listings 1 and 2)
 *
 * The last three run every task exactly once wherever the hardware puts the CTAs: a worker whose cluster is
 * empty takes from the others. `sms` is a number of clusters, one per SM; SM ids beyond it (they may have
 * holes) share. They need HEDDLE_STATE_BYTES of device memory, zero before the first launch; each launch
 * leaves it zero again. Launches that may run at once need one each. All threads of a CTA must call them
 * together. For sm_70 and later.
 *
 * Includes nothing but cta_orders.h, which must lie beside it; for nvcc, and for clang's CUDA mode. */
#ifndef HEDDLE_CTA_CUH
#define HEDDLE_CTA_CUH

#include "cta_orders.h"

#define HEDDLE_CTA_DEV static __device__ inline

/* ---- Without state -------------------------------------------------------------- */

/* This CTA's number in row order, and how many there are. */
HEDDLE_CTA_DEV unsigned heddle_worker() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}
HEDDLE_CTA_DEV unsigned heddle_workers() { return gridDim.x * gridDim.y * gridDim.z; }

/* Its position when the hardware deals CTAs to the SMs in turn. Any dispatch gives right results; only a
 * dispatch that comes close to this one gives what clusters are for. */
HEDDLE_CTA_DEV unsigned heddle_redirect(unsigned sms) {
  return heddle_cluster_deal(heddle_worker(), sms, heddle_workers());
}

/* ---- State ------------------------------------------------------------------------ */

/* A line of 128 bytes that counts workers, then two for each queue of tasks: how many were taken, and how
 * many workers arrived. Queues: sms, or with HEDDLE_SEGMENTS sms * active. */
#define HEDDLE_STATE_BYTES(queues) (128u + 256u * (queues))
#define HEDDLE_NO_TASK 0xffffffffu

/* A worker's state. Only `slot` is read by every warp; the first warp alone reads the other fields. */
typedef struct heddle_agent {
  unsigned *state;
  unsigned queues, tasks;
  unsigned queue; /* where it takes; HEDDLE_NO_TASK: it is one too many on its SM */
  unsigned last;  /* the task taken was the last of its queue */
  unsigned slot;  /* of the two tickets, the one written next */
} heddle_agent;

HEDDLE_CTA_DEV unsigned *heddle_taken(unsigned *state, unsigned queue) {
  return state + 32 + 64 * (size_t)queue;
}
HEDDLE_CTA_DEV unsigned *heddle_arrived(unsigned *state, unsigned queue) {
  return state + 64 + 64 * (size_t)queue;
}

HEDDLE_CTA_DEV unsigned heddle_thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
/* Lanes of the first warp, and their mask. */
HEDDLE_CTA_DEV unsigned heddle_lanes() {
  unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  return threads < 32 ? threads : 32;
}
HEDDLE_CTA_DEV unsigned heddle_mask() { return 0xffffffffu >> (32 - heddle_lanes()); }

/* ---- The first warp's work ----------------------------------------------------------- */

/* The nearest queue behind `queue` that has tasks, looked for by all lanes at once. */
HEDDLE_CTA_DEV unsigned heddle_search(const heddle_agent *a) {
  for (unsigned far = 1; far < a->queues; far += heddle_lanes()) {
    unsigned k = far + heddle_thread(), q = a->queue + k;
    if (q >= a->queues) q -= a->queues;
    /* Read by an atomic that compilers do not make a plain load of: others change what it reads. */
    bool any = k < a->queues &&
               atomicCAS(heddle_taken(a->state, q), 0u, 0u) < heddle_cluster_quota(q, a->queues, a->tasks);
    unsigned found = __ballot_sync(heddle_mask(), any);
    if (found) return __shfl_sync(heddle_mask(), q, __ffs((int)found) - 1);
  }
  return HEDDLE_NO_TASK;
}

/* One more task's position. Queues never fill, so one found empty is not looked at again but by
 * heddle_search. */
HEDDLE_CTA_DEV unsigned heddle_take(heddle_agent *a) {
  while (a->queue != HEDDLE_NO_TASK) {
    unsigned rank = 0, quota = heddle_cluster_quota(a->queue, a->queues, a->tasks);
    if (heddle_thread() == 0) rank = atomicAdd(heddle_taken(a->state, a->queue), 1u);
    rank = __shfl_sync(heddle_mask(), rank, 0);
    a->last = rank + 1 == quota;
    if (rank < quota) return heddle_cluster_place(a->queue, rank, a->queues, a->tasks);
    a->queue = heddle_search(a);
  }
  return HEDDLE_NO_TASK;
}

/* The atomic's result is used; otherwise compilers make a plain store of it. */
HEDDLE_CTA_DEV void heddle_zero(unsigned *p) {
  unsigned before = atomicExch(p, 0u);
  asm volatile("" ::"r"(before));
}

/* Count to `full`; whoever comes last zeroes the state, which nobody looks at any more. */
HEDDLE_CTA_DEV void heddle_count_out(const heddle_agent *a, unsigned full) {
  unsigned before = 0;
  __threadfence();
  if (heddle_thread() == 0) before = atomicInc(a->state, full - 1);
  if (__shfl_sync(heddle_mask(), before, 0) != full - 1) return;
  for (unsigned q = heddle_thread(); q < a->queues; q += heddle_lanes()) {
    heddle_zero(heddle_taken(a->state, q));
    heddle_zero(heddle_arrived(a->state, q));
  }
}

/* ---- Claims -------------------------------------------------------------------------- */

HEDDLE_CTA_DEV unsigned heddle_sm() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

/* A position for this CTA, in a launch of exactly `tasks` of them. */
HEDDLE_CTA_DEV unsigned heddle_claim(unsigned *state, unsigned sms, unsigned tasks) {
  __shared__ unsigned ticket;
  if (heddle_thread() < 32) {
    heddle_agent a = {state, sms, tasks, __shfl_sync(heddle_mask(), heddle_sm() % sms, 0), 0, 0};
    unsigned position = heddle_take(&a);
    /* As many workers as tasks: when the last task of the last queue is taken, all have theirs. */
    if (position != HEDDLE_NO_TASK && a.last) heddle_count_out(&a, tasks < sms ? tasks : sms);
    if (heddle_thread() == 0) ticket = position;
  }
  __syncthreads();
  return ticket;
}

/* ---- Agents ---------------------------------------------------------------------------- */

HEDDLE_CTA_DEV heddle_agent heddle_agent_begin(unsigned *state, unsigned sms, unsigned active, bool segments,
                                               unsigned tasks) {
  heddle_agent a = {state, segments ? sms * active : sms, tasks, 0, 0, 0};
  if (heddle_thread() >= 32) return a;
  unsigned sm = __shfl_sync(heddle_mask(), heddle_sm() % sms, 0), rank = 0;
  a.queue = sm;
  if (!active) return a;
  if (heddle_thread() == 0) rank = atomicAdd(heddle_arrived(state, sm), 1u);
  rank = __shfl_sync(heddle_mask(), rank, 0);
  a.queue = rank >= active ? HEDDLE_NO_TASK : segments ? sm * active + rank : sm;
  return a;
}

/* Two tickets in turn: a warp that is late may still read the one while the next task is written to the
 * other. The barrier that shows the new task ends the old one. */
HEDDLE_CTA_DEV bool heddle_agent_next(heddle_agent *a, unsigned *position) {
  __shared__ unsigned ticket[2];
  if (heddle_thread() < 32) {
    unsigned taken = heddle_take(a);
    if (heddle_thread() == 0) ticket[a->slot] = taken;
  }
  __syncthreads();
  *position = ticket[a->slot];
  a->slot ^= 1;
  if (*position != HEDDLE_NO_TASK) return true;
  if (heddle_thread() < 32) heddle_count_out(a, heddle_workers());
  return false;
}

/* HEDDLE_AGENTS(state, sms, active, tasks, position) { ... } runs its body for task after task: `position` is
 * a new unsigned. In the body `continue` ends a task, for all threads or for some; nothing may return or
 * break. Launch any number of CTAs, best as many as fit on all SMs. Of those on one SM `active` stay (0:
 * all). */
#define HEDDLE_AGENTS(state, sms, active, tasks, position)                                                   \
  unsigned position;                                                                                         \
  for (heddle_agent heddle_this_##position = heddle_agent_begin(state, sms, active, false, tasks);           \
       heddle_agent_next(&heddle_this_##position, &position);)

/* The same; each of the `active` workers of an SM (1 or more) has a segment of its own of the SM's tasks. */
#define HEDDLE_SEGMENTS(state, sms, active, tasks, position)                                                 \
  unsigned position;                                                                                         \
  for (heddle_agent heddle_this_##position = heddle_agent_begin(state, sms, active, true, tasks);            \
       heddle_agent_next(&heddle_this_##position, &position);)

#endif
