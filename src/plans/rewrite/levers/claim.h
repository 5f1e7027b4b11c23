/* rewrite/levers/claim.h: how the workers of bind=claim and bind=agents get their tasks, decided once.
 *
 *   claim.c         decides the scheme from the plan, the options and the kernel's traits, and puts it into
 *                   words
 *   claim_worker.c  emits a worker's identity: lane, warp, column, the queue of its SM; and the way out
 *   claim_task.c    emits the taking of a task: from its queue, from another one, ahead of time
 *   bind.c          puts the parts together: one emitter per kind of worker
 *   strides.c       the same for workers that claim once
 *
 * The emitters follow the scheme and nothing else. */
#ifndef HEDDLE_REWRITE_CLAIM_H
#define HEDDLE_REWRITE_CLAIM_H

#include "rewrite/rewrite_internal.h"

/* Queues are a line apart, so that they lie in different slices of L2. Byte offsets in the state, of column 0
 * and queue 0 where there are several; see bind.c. */
enum { CLAIM_LINE = 128, CLAIM_TAKEN = CLAIM_LINE, CLAIM_RANKS = 2 * CLAIM_LINE };

/* Values of %~u that are no position. */
enum {
  CLAIM_NO_TASK = -1,      /* all queues are empty, or this worker is one too many on its SM */
  CLAIM_LEFT_ALREADY = -2, /* as well, and this worker has counted itself as one that left */
};

typedef enum claim_unit {
  CLAIM_BY_CTA = 0, /* warp 0 claims for its CTA and hands the task over in shared memory */
  CLAIM_BY_WARP,    /* each warp claims for itself: warp k from the k-th column of queues */
  CLAIM_ONE_WARP,   /* the same where a CTA has one warp: there is one column */
} claim_unit;

typedef enum claim_take {
  CLAIM_ONE = 0,   /* a task when the one before is done */
  CLAIM_ONE_AHEAD, /* a task while the one before is done, which hides the atomic's way to L2 and back */
  CLAIM_SEGMENT,   /* several consecutive places of a queue */
  CLAIM_STRIDE,    /* places of a queue that are as far apart as it has strides: strides.c */
} claim_take;

typedef struct claim_scheme {
  bool agents;       /* workers take task after task; else each takes one */
  uint32_t throttle; /* agents: active per SM; 0: all that fit */
  bool voted;        /* agents: SMs differ in how many are active, and count the tasks that they do */
  bool ranked;       /* one of the two: workers are numbered on their SM */
  claim_unit unit;
  const char *why_unit;
  claim_take take;
  const char *why_take;
  uint32_t segment; /* CLAIM_SEGMENT: its tasks; 0: not known now, then they are worked out in %~size */
  uint64_t active;  /* throttle: workers active at once, of all SMs */

  bool any_grid;     /* the tasks' grid is not known */
  uint64_t V;        /* else: tasks */
  uint32_t clusters; /* queues of a column */
  uint32_t stride;   /* bytes from a queue to the next: 1 << stride_bits */
  unsigned stride_bits;
  uint64_t sure; /* so many first places are a task in every queue (and, without agents, not its last one, for
                    which more is to be done): no quota needs to be looked at. 0: none is known to */

  const hd_numbers *named;   /* the SMs that the plan names: workers on others leave. NULL: it names none */
  const hd_numbers *present; /* the numbers that SMs have, where these have holes; NULL: as they come */

  uint32_t lanes;   /* of each warp that claims; 0: not known, and counted into %~step */
  bool many_queues; /* more than there are lanes, or lanes are not known: searches go around */
  bool packs;       /* while a task is done one register, %~at, holds all that the warp keeps, in a lane each:
                       the number claimed ahead (or the present place) in the first, the queue in the second,
                       where the segment stops in the third */
  const char *got;  /* the register that the leader's atomic writes */
  bool clears_got;  /* it is set to 0 before: ptxas otherwise keeps the other lanes' old value in a register
                       of its own while a task is done */

  uint32_t ticket_bytes; /* CLAIM_BY_CTA: of shared memory that the kernel gets for handing tasks over; 0: it
                            has none to spare, and lends a variable of its own between two tasks */
  const char *ticket;    /* the name of that memory */

  bool second_entry; /* the loop over tasks has a second entry, so that ptxas sees no loop: see bind.c */
  bool votes;        /* the lanes of a warp vote after the claim ahead, which brings them together */
} claim_scheme;

static inline bool claims_by_warp(const claim_scheme *s) { return s->unit != CLAIM_BY_CTA; }

/* claim_worker.c */

/* %~queue: the address `offset` (a register; NULL: 0) bytes behind the state's beginning. */
void claim_put_address(const rewrite_job *j, hd_buf *t, const char *offset);
/* %~queue: where the warp's column begins. */
void claim_put_column(const rewrite_job *j, hd_buf *t);
/* %~queue: of the queue at `at`. */
void claim_put_queue(const rewrite_job *j, hd_buf *t, const char *at);
/* %~lane, and %~step where the number of lanes is not known. */
void claim_put_lanes(const rewrite_job *j, hd_buf *t);
/* `queue` goes on by as many queues as there are lanes. */
void claim_put_step(const rewrite_job *j, hd_buf *t, const char *queue);
/* The head of a loop that ptxas must not unroll: many iterations at once take many registers. */
void claim_put_loop(const rewrite_job *j, hd_buf *t, const char *label);
/* %~lead %~at, and %~first in CTAs that claim as one. */
void claim_put_who(const rewrite_job *j, hd_buf *t);
/* %~at goes on to the queue of this worker's SM. Workers that the plan does not want go out. */
void claim_put_where(const rewrite_job *j, hd_buf *t);
/* Where SMs vote: the task counts for this worker's SM, wherever it was taken from. */
void claim_put_vote(const rewrite_job *j, hd_buf *t);
/* All lanes of the warp zero its column, a queue each. Falls through to $~cleared. */
void claim_put_clear(const rewrite_job *j, hd_buf *t);
/* $~leave: no tasks are left for this warp, or for its CTA. */
void claim_put_leave(const rewrite_job *j, hd_buf *t);

/* %~i: the cluster of this SM. */
void claim_put_cluster(const rewrite_job *j, hd_buf *t);
/* result = value / M, both registers; value is below 2^31. */
void claim_put_quotient(const rewrite_job *j, hd_buf *t, const char *result, const char *value);

/* claim_task.c */

typedef hd_status claim_program(const hd_plan *, const hd_grid *, hd_prog *, hd_diag *);
/* A program over the place %~w and the cluster %~i; result: the register (or number) that it ends in. */
hd_status claim_put_program(const rewrite_job *j, hd_buf *t, const char *suffix, claim_program *make,
                            char result[64], hd_diag *d);
/* Where strides are taken: from $~claim to a stride %~w of cluster %~i, and $~cleared. */
hd_status claim_put_stride(const rewrite_job *j, hd_buf *t, hd_diag *d);
/* The leader's atomic. */
void claim_put_take(const rewrite_job *j, hd_buf *t);
/* From what the leader got to a position in %~u, by way of other queues; goes back to $~claim for those. */
hd_status claim_put_position(const rewrite_job *j, hd_buf *t, hd_diag *d);
/* The next place of the segment, if it has one more: to $~place. */
void claim_put_next_place(const rewrite_job *j, hd_buf *t);
/* The place and where its segment stops go to where a task leaves them alone. */
void claim_put_pack_segment(const rewrite_job *j, hd_buf *t);
/* $~inside, the second entry. */
void claim_put_inside(const rewrite_job *j, hd_buf *t);

/* strides.c: the text around a task of a worker that claims once; as rewrite_put_binding. */
hd_status claim_put_strides(const rewrite_job *j, hd_buf *t, hd_diag *d);

/* ---- bind.c ---- */

/* From the loop over tasks' second entry to $~inside. The registers that are live there are set. */
void claim_put_second_entry(const rewrite_job *j, hd_buf *t);

/* ---- attend.c ---- */

/* The loop of threads that have ended, until all have. */
void claim_put_attendance(const rewrite_job *j, hd_buf *t);

#endif
