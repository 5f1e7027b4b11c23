/* model/queue.h: a fluid queue before a level of memory.
 *
 * Bytes that are asked for during one epoch, beyond those that the level delivers in that time, are backlog.
 * Each access of the next epochs waits until the backlog before it is served, and for the requests that it
 * meets at its slice or bank (M/D/1: Kleinrock, Queueing Systems I, 5.5). So the result does not depend on
 * the order in which SMs are simulated within an epoch. */
#ifndef HEDDLE_MODEL_QUEUE_H
#define HEDDLE_MODEL_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "heddle/model.h"

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

/* Askers that get equal shares of a queue's rate: what one leaves over goes to the others. */
enum { MODEL_MOST_SHARES = HD_MOST_GPCS };
typedef struct model_shares {
  uint32_t n; /* 1: the queue itself says how long requests wait */
  double asked[MODEL_MOST_SHARES];
  double backlog[MODEL_MOST_SHARES];
  uint32_t wait[MODEL_MOST_SHARES]; /* cycles */
} model_shares;

static inline void model_shares_reset(model_shares *s) { *s = (model_shares){.n = s->n}; }

/* Serve the smallest backlogs whole and the others alike, as far as `served` goes; what each of these gets.
 */
static inline double model_shares_serve(model_shares *s, double served) {
  bool whole[MODEL_MOST_SHARES] = {false};
  uint32_t open = s->n;
  for (uint32_t found = 1; found && open;) {
    const double each = served / open;
    found = 0;
    for (uint32_t i = 0; i < s->n; i++) {
      if (whole[i] || s->backlog[i] > each) continue;
      whole[i] = true;
      served -= s->backlog[i];
      s->backlog[i] = 0;
      found++;
    }
    open -= found;
  }
  const double each = open ? served / open : 0;
  for (uint32_t i = 0; i < s->n; i++)
    if (!whole[i]) s->backlog[i] -= each;
  return each;
}

/* After the queue's own end of the epoch. */
static inline void model_shares_end_epoch(model_shares *s, const model_queue *q, uint64_t cycles) {
  if (s->n == 1) {
    s->wait[0] = q->wait;
    return;
  }
  for (uint32_t i = 0; i < s->n; i++) {
    s->backlog[i] += s->asked[i];
    s->asked[i] = 0;
  }
  const double each = model_shares_serve(s, (double)cycles * q->bytes_per_cycle);
  const double met = q->service * q->load / (2 * (1 - q->load));
  for (uint32_t i = 0; i < s->n; i++)
    s->wait[i] = (uint32_t)(met + (each > 0 ? s->backlog[i] * (double)cycles / each : 0));
}

#endif
