/* cuda/core/queue.h: the state of the queue, for the files that run its operations: queue.c on the thread of
 * a call, aside.c on threads of their own. */
#ifndef HEDDLE_CUDA_CORE_QUEUE_H
#define HEDDLE_CUDA_CORE_QUEUE_H

#include "cuda/core/core.h"

/* A thread of the program inside a call until `op` ends; NULL: until all do. */
typedef struct core_blocked {
  const core_op *op;
  struct core_blocked *next;
} core_blocked;

typedef struct core_queue {
  uint64_t serial, draws;
  bool running;     /* an operation runs, in some thread, and no other one may */
  core_op *current; /* that one */
  size_t pending;   /* operations that are not over */
  size_t waiting;   /* of them: those that have begun, and let others run while they wait for a change */
  struct core_blocked *blocked;
  uint64_t events; /* operations were submitted, have ended, or may have written before they waited */
} core_queue;
extern core_queue core_queue_now;

/* Start an operation that is next in its stream: run it, or give it to a thread. The lock is held. */
void core_queue_start(core_op *o);
/* Run it to its end, on this thread, and take it out of the queue. */
void core_queue_run(core_op *o);
/* An operation that may start: the earliest one, or any one with a seed. NULL: there is none. */
core_op *core_queue_pick(void);

/* A thread beside the program's own, which makes no call. False: there is none. */
bool core_aside_thread(void *(*body)(void *), void *arg);
/* Give an operation that may wait to a thread of its own. False: there is no thread for it. */
bool core_aside_start(core_op *o);
/* Whether it waits or has waited: a call that submitted it does not stay for its end. */
bool core_aside_waited(const core_op *o);
/* A program may look for results in memory that it shares with the device, and make no call that runs pending
 * operations: they start some time after the last event. */
void core_aside_later(void);

#endif
