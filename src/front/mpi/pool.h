/* mpi/pool.h: the items of a command's work handed out to the ranks of MPI_COMM_WORLD. */
#ifndef HEDDLE_MPI_POOL_H
#define HEDDLE_MPI_POOL_H

#include "mpi/hand.h"

/* Tags. To rank 0: READY with an hd_work_hello, ANSWER with an hd_work_answer and its bytes, DEAD with
 * why, BYE. From it: START with a bool, hand_start's `copies`; ITEM with an hd_work_order and its bytes;
 * END. */
typedef enum mpi_tag { TAG_START, TAG_READY, TAG_ITEM, TAG_ANSWER, TAG_DEAD, TAG_END, TAG_BYE } mpi_tag;

/* Rank 0's, with its own hand. Every rank gets as many items as its worker has threads, and one to go on with
 * while many are left, the costliest first.
 * When all are given out, idle ranks do those once more that are out for long: a rank that died or hangs
 * loses nothing but its time. Ranks whose devices are of another kind than rank 0's end the run unless the
 * work is mixed; so do two ranks with one device. */
typedef struct mpi_pool {
  hand *own;
  bool used;       /* the command had items */
  char stray[768]; /* why a rank took no part; "" */
} mpi_pool;
hd_status mpi_pool_run(void *ctx, const hd_work *w, const size_t *todo, size_t n, hd_work_done *done,
                       void *done_ctx, hd_diag *d);

/* The loop of any other rank, until rank 0 says END. False: rank 0 died, where `first` is its process on this
 * machine; 0: it runs elsewhere. */
bool mpi_serve(hand *h, pid_t first);

/* To a rank that may never receive it, being dead: nothing waits for it; then the bytes stay allocated. */
void mpi_post(int rank, mpi_tag tag, const void *data, size_t len);
/* A message from this rank, or from any; false: none is there. Ends the program where memory runs out. */
bool mpi_receive(int from, int *rank, mpi_tag *tag, hd_buf *bytes);

#endif
