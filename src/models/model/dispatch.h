/* model/dispatch.h: how a launch's tasks get to places on SMs: CTAs handed out as hardware does, tasks
 * claimed by workers, and the cycles that both take. */
#ifndef HEDDLE_MODEL_DISPATCH_H
#define HEDDLE_MODEL_DISPATCH_H

#include "model/replay.h"

static inline double larger(double a, double b) { return a > b ? a : b; }

/* Places in the order: next, next + apart, ... below stop. */
typedef struct dispatch_segment {
  uint64_t next, stop, apart;
} dispatch_segment;

/* A place whose worker searches. */
typedef struct dispatch_wait {
  uint64_t at;      /* cycle of its next step: in the middle of a look, or of a claim */
  uint32_t sm, cta; /* the place */
  uint32_t queue;   /* that it tries, or found empty */
  bool tries;
} dispatch_wait;

/* Searches for other queues' tasks (queue_search.c). */
typedef struct dispatch_search {
  uint64_t look, way;        /* cycles of a look at 32 queues, and of an atomic */
  uint64_t code;             /* of the instructions around them, about as many as those of a claim */
  uint64_t fence;            /* of the last worker, before the launch's end */
  uint32_t at_once;          /* warps of a worker that search */
  double port_rate, l2_rate; /* sectors that an SM and L2 serve in a cycle; 0: any number */
  double line_cycles;        /* of an atomic on the line on which workers count themselves out */
  double line, l2;           /* cycles until which that line and L2 are busy */
  double *port;              /* and each SM's way to it */
  dispatch_wait *waits;      /* one per place at most; NULL: searches cost nothing */
  uint32_t n;
  uint64_t wake; /* cycle of the first step of any; SM_NEVER: there is none */
  uint64_t gone; /* agents: cycle at which the last of them has left */
} dispatch_search;

typedef struct model_dispatcher {
  hd_replay_part part;
  uint64_t n_tasks; /* of the whole launch */
  uint64_t started, ended;
  uint32_t *ctas;               /* per SM: tasks started there; NULL: not asked for */
  model_watch *watch;           /* NULL: not asked for */
  hd_replay_progress *progress; /* NULL: not asked for */
  uint32_t epochs_per_mark, epochs;
  const hd_table *order;
  hd_dispatch how;
  uint64_t n_workers; /* they end with this one; without claims they begin with part.first */
  uint64_t next;      /* demand: the next worker to start */
  uint64_t *queue;    /* round robin: the next worker of each SM */
  uint32_t jitter;    /* demand: cycles by which a start may be late */
  hd_replay_claims claims;
  uint64_t *taken;            /* claims: tasks taken from each queue, or strides, empty ones as well */
  dispatch_segment *segments; /* agents: the rest of the segment that each place on an SM took */
  uint32_t running;           /* places on an SM */
  uint64_t at_once;           /* tasks taken at once */
  uint32_t extra;             /* instructions that each task's warps run beside it */
  double launched;            /* with a clock: cycle at which the next CTA can be launched */
  uint64_t claim_delay;       /* cycles from a worker's start to when it knows its task */
  uint64_t task_delay;        /* agents: from a task's end to the next one's begin */
  uint64_t left;              /* claims: tasks that are in queues */
  dispatch_search search;
} model_dispatcher;

/* For a launch of which `resident` CTAs fit on an SM; the options outlive it. False: out of memory. */
bool model_dispatch_init(model_dispatcher *q, const hd_model *m, const hd_trace *t,
                         const hd_replay_options *o, uint32_t resident);
void model_dispatch_free(model_dispatcher *q);
/* The part of queue i of n: [*from, *to) of its tasks. */
void model_dispatch_queue(const hd_replay_part *p, uint64_t tasks, uint32_t n, uint32_t i, uint64_t *from,
                          uint64_t *to);
hd_replay_part model_dispatch_part(const hd_replay_options *o, uint64_t tasks);
/* Place `cta` on SM `number` is free at that cycle: the worker that gets it, or its place in the order when
 * that is claimed. False: none is left, or it has to be searched for. */
bool model_dispatch_next(model_dispatcher *q, uint32_t number, uint32_t cta, uint32_t n_sms, uint64_t cycle,
                         uint64_t *worker);
/* It starts there `delay` cycles after `cycle`. */
void model_dispatch_start(model_dispatcher *q, hd_model *m, uint32_t number, uint32_t cta, uint64_t worker,
                          uint64_t cycle, uint64_t delay);
/* Tasks that queue i holds. */
uint64_t model_dispatch_left(const model_dispatcher *q, uint32_t i);
/* A worker's claim from queue i comes through at that cycle. False: the queue is empty. */
bool model_dispatch_take(model_dispatcher *q, hd_model *m, uint32_t number, uint32_t cta, uint32_t i,
                         uint64_t cycle);

bool dispatch_search_init(dispatch_search *s, uint32_t n_sms, uint32_t running);
void dispatch_search_free(dispatch_search *s);
/* The worker in a place knows at that cycle that its SM's queue is empty. */
void dispatch_search_begin(dispatch_search *s, uint32_t number, uint32_t cta, uint32_t queue, uint64_t cycle);
/* The steps of searches up to now. */
void model_dispatch_search(model_dispatcher *q, hd_model *m, uint64_t now);
/* The launch is over when so many cycles have passed since its last task ended, at cycle `end`. */
uint64_t model_dispatch_tail(const model_dispatcher *q, uint64_t end);
/* The cycles from a task's end until the place that it leaves can have the next. */
uint64_t model_dispatch_gap(const model_dispatcher *q);

#endif
