/* model/dispatch.h: how a launch's tasks get to places on SMs: CTAs handed out as hardware does, tasks
 * claimed by workers, and the cycles that both take. */
#ifndef HEDDLE_MODEL_DISPATCH_H
#define HEDDLE_MODEL_DISPATCH_H

#include "model/replay.h"

/* Places in the order. */
typedef struct dispatch_segment {
  uint64_t next, stop;
} dispatch_segment;

typedef struct model_dispatcher {
  hd_replay_part part;
  uint64_t n_tasks; /* of the whole launch */
  uint64_t started, ended;
  hd_replay_progress *progress; /* NULL: not asked for */
  uint32_t epochs_per_mark, epochs;
  const hd_table *order;
  hd_dispatch how;
  uint64_t n_workers; /* they end with this one; without claims they begin with part.first */
  uint64_t next;      /* demand: the next worker to start */
  uint64_t *queue;    /* round robin: the next worker of each SM */
  uint32_t jitter;    /* demand: cycles by which a start may be late */
  hd_replay_claims claims;
  uint64_t *taken;            /* claims: tasks taken from each queue */
  dispatch_segment *segments; /* agents: the rest of the segment that each place on an SM took */
  uint32_t running;           /* places on an SM */
  uint64_t at_once;           /* tasks taken at once */
  uint32_t extra;             /* instructions that each task's warps run beside it */
  double launched;            /* with a clock: cycle at which the next CTA can be launched */
  uint64_t claim_delay;       /* cycles from a worker's start to when it knows its task */
  uint64_t leave_delay;       /* from a worker's last task to its end: it says that it is done */
  uint64_t end_delay;         /* from the last task's end to the launch's */
  uint64_t task_delay; /* agents: from a task's end to the next one's begin, which was claimed meanwhile */
} model_dispatcher;

/* For a launch of which `resident` CTAs fit on an SM; the options outlive it. False: out of memory. */
bool model_dispatch_init(model_dispatcher *q, const hd_model *m, const hd_trace *t,
                         const hd_replay_options *o, uint32_t resident);
void model_dispatch_free(model_dispatcher *q);
/* The part of queue i of n: [*from, *to) of its tasks. */
void model_dispatch_queue(const hd_replay_part *p, uint64_t tasks, uint32_t n, uint32_t i, uint64_t *from,
                          uint64_t *to);
hd_replay_part model_dispatch_part(const hd_replay_options *o, uint64_t tasks);
/* Place `cta` on SM `number` is free: the worker that gets it, or its place in the order when that is
 * claimed. False: none is left. */
bool model_dispatch_next(model_dispatcher *q, uint32_t number, uint32_t cta, uint32_t n_sms,
                         uint64_t *worker);
/* It starts there `delay` cycles after `cycle`. */
void model_dispatch_start(model_dispatcher *q, hd_model *m, uint32_t number, uint32_t cta, uint64_t worker,
                          uint64_t cycle, uint64_t delay);
/* The cycles from a task's end until the place that it leaves can have the next. */
uint64_t model_dispatch_gap(const model_dispatcher *q);

#endif
