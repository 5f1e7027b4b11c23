/* mpi/hand.h: a rank's own worker, a process that does items while the rank itself only carries messages.
 *
 * heddle-mpi is cli/ and this folder: rank 0 runs the command and hands out its items (ranks.c), every rank
 * has a hand that does some (hand.c), main.c joins the two. A worker that is killed is replaced, and does its
 * items once more. Workers are copies of the process from before MPI was initialized: MPI must not be used
 * after a fork.
 *
 * Workers of one machine that have no devices are copies of one process, their stock, which has prepared the
 * work (traces, compiled kernels) with all processors of the machine's ranks (stock.c). The first rank of the
 * machine has it; where it is gone, a rank's worker prepares the work for itself. */
#ifndef HEDDLE_MPI_HAND_H
#define HEDDLE_MPI_HAND_H

#include "heddle/process.h"
#include "mpi/stock.h"

enum { HAND_MOST = 256 }; /* items at once */

/* An item to be done, with the answer on which a second opinion is wanted. */
typedef struct hand_order {
  hd_work_order head;
  char *first;
} hand_order;

typedef struct hand {
  hd_keeper keeper;
  int listener; /* of the stock that this rank may have; -1: it has none */
  hand_node node;
  bool copies;     /* the worker is one of a stock's */
  int stock;       /* a stream to the stock, where this rank has it; -1: none */
  int fd;          /* of the worker that runs; -1: none */
  bool ready;      /* it said its hello */
  unsigned deaths; /* of workers, since the last answer */
  hd_work_hello hello;
  hand_order orders[HAND_MOST]; /* that it is at */
  unsigned n;
  double answered, pause; /* when it answered last; seconds between its last two answers */
  int said;               /* a file in memory: what workers wrote to their standard errors */
} hand;

typedef enum hand_event {
  HAND_NOTHING,
  HAND_READY,  /* the hello is there, for the first time */
  HAND_ANSWER, /* see hand_poll */
  HAND_DEAD,   /* workers end before they answer: there is no point in further ones */
} hand_event;

/* A worker's work: the command line, with its answers going into the stream. */
typedef struct hand_command {
  int argc;
  char **argv;
} hand_command;

/* While the process has one thread and no MPI. The command outlives it. */
hd_status hand_open(hand *h, const hand_command *c, hd_diag *d);
/* Start the worker; `copies`: where the machine has several ranks, as a copy of their stock. */
void hand_start(hand *h, bool copies);
/* `first`: o->len bytes. */
void hand_give(hand *h, const hd_work_order *o, const void *first);
/* The last line that a worker wrote to its standard error. */
void hand_last_words(const hand *h, char *out, size_t cap);
/* Wait for an event for so many milliseconds. HAND_ANSWER: *head, and its bytes in `bytes`. */
hand_event hand_poll(hand *h, int ms, hd_work_answer *head, hd_buf *bytes);
void hand_close(hand *h);

#endif
