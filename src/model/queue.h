/* model/queue.h: a fluid queue before a level of memory.
 *
 * Bytes that are asked for during one epoch, beyond those that the level delivers in that time, are backlog.
 * Each access of the next epochs waits until the backlog before it is served, and for the requests that it
 * meets at its slice or bank (M/D/1: Kleinrock, Queueing Systems I, 5.5). So the result does not depend on
 * the order in which SMs are simulated within an epoch. */
#ifndef HEDDLE_MODEL_QUEUE_H
#define HEDDLE_MODEL_QUEUE_H

#include <stdint.h>

typedef struct model_queue {
  double bytes_per_cycle; /* 0: no limit */
  double asked;           /* bytes in this epoch */
  double backlog;         /* bytes from the epochs before */
  double load;            /* the part of its rate that was asked for lately */
  double service;         /* cycles for which a request keeps its slice or bank busy */
  uint32_t wait;          /* cycles to serve the backlog */
} model_queue;

static inline void model_queue_reset(model_queue *q) {
  q->asked = q->backlog = q->load = 0;
  q->wait = 0;
}

/* The cycles, of so many, in which it serves what was asked for. */
static inline double model_queue_end_epoch(model_queue *q, uint64_t cycles) {
  const double most_load = 0.95; /* beyond it the backlog says how long requests wait */
  const double kept = 0.75;      /* of the load so far, after an epoch */
  if (q->bytes_per_cycle <= 0) return 0;
  const double served = (double)cycles * q->bytes_per_cycle, load = q->asked / served;
  q->load = kept * q->load + (1 - kept) * (load < most_load ? load : most_load);
  q->backlog += q->asked;
  const double busy = q->backlog < served ? q->backlog / q->bytes_per_cycle : (double)cycles;
  q->backlog = q->backlog > served ? q->backlog - served : 0;
  q->wait = (uint32_t)(q->backlog / q->bytes_per_cycle + q->service * q->load / (2 * (1 - q->load)));
  q->asked = 0;
  return busy;
}

#endif
