/* model/dispatch.h: how a launch's tasks get to places on SMs: CTAs handed out as hardware does, tasks
 * claimed by workers, and the cycles that both take. */
#ifndef HEDDLE_MODEL_DISPATCH_H
#define HEDDLE_MODEL_DISPATCH_H

#include "model/replay.h"

/* Places in the order. */
typedef struct dispatch_segment {
  uint64_t next, stop;
} dispatch_segment;

/* Workers whose queue is empty look through the others, 32 at a time, and go for the nearest one with tasks.
 * Of several that see the same last task one gets it, and the others search on. */
typedef struct dispatch_search {
  uint64_t look, take;       /* cycles of a look at 32 queues, and of an atomic */
  uint64_t seen;             /* so old is what a look told when the atomic behind it arrives */
  uint32_t at_once;          /* warps of a worker that search */
  double port_rate, l2_rate; /* sectors that an SM and L2 serve in a cycle; 0: any number */
  double l2;                 /* cycle until which L2 is busy with searches */
  double *port;              /* and each SM's way to it */
  uint64_t *emptied;         /* per queue: the cycle when its last task was taken */
} dispatch_search;

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
  uint64_t leave_delay;       /* agents: from a worker's last task to its end, beside its search */
  uint64_t fence;             /* of the last worker, before the launch's end */
  uint64_t task_delay; /* agents: from a task's end to the next one's begin, which was claimed meanwhile */
  dispatch_search search;
  uint64_t gone; /* agents: cycle at which the last of them has left */
} model_dispatcher;

/* For a launch of which `resident` CTAs fit on an SM; the options outlive it. False: out of memory. */
bool model_dispatch_init(model_dispatcher *q, const hd_model *m, const hd_trace *t,
                         const hd_replay_options *o, uint32_t resident);
void model_dispatch_free(model_dispatcher *q);
/* The part of queue i of n: [*from, *to) of its tasks. */
void model_dispatch_queue(const hd_replay_part *p, uint64_t tasks, uint32_t n, uint32_t i, uint64_t *from,
                          uint64_t *to);
hd_replay_part model_dispatch_part(const hd_replay_options *o, uint64_t tasks);
/* What a free place gets. */
typedef struct dispatch_turn {
  uint64_t worker; /* or its place in the order, when that is claimed */
  uint64_t search; /* cycles that it takes to find a queue with tasks; 0: the SM's own has some */
} dispatch_turn;

/* Place `cta` on SM `number` is free at that cycle. False: no worker is left for it. */
bool model_dispatch_next(model_dispatcher *q, uint32_t number, uint32_t cta, uint32_t n_sms, uint64_t cycle,
                         dispatch_turn *out);
/* It starts there `delay` cycles after `cycle`, and after its search. */
void model_dispatch_start(model_dispatcher *q, hd_model *m, uint32_t number, uint32_t cta,
                          const dispatch_turn *turn, uint64_t cycle, uint64_t delay);
/* The launch is over when so many cycles have passed since its last task ended, at cycle `end`. */
uint64_t model_dispatch_tail(const model_dispatcher *q, uint64_t end);
/* The cycles from a task's end until the place that it leaves can have the next. */
uint64_t model_dispatch_gap(const model_dispatcher *q);

#endif
