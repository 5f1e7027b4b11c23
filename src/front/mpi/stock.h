/* mpi/stock.h: one process of a machine prepares the work, and its copies are the workers of all its ranks.
 */
#ifndef HEDDLE_MPI_STOCK_H
#define HEDDLE_MPI_STOCK_H

#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "heddle/work.h"

/* An address that the kernel chose, in no folder; it is gone with the last process that listens there. */
typedef struct stock_name {
  struct sockaddr_un address;
  socklen_t length; /* 0: none */
} stock_name;

/* A rank on its machine. */
typedef struct hand_node {
  uint32_t local, locals; /* its number, and how many there are */
  cpu_set_t own, all;     /* processors: of its worker; of all the machine's ranks together */
  stock_name stock;       /* the first rank's */
} hand_node;

/* The processors that a worker uses: those that its rank is bound to, or an equal part of the machine's where
 * ranks share all of them. */
cpu_set_t stock_own_part(uint32_t local, uint32_t locals);

/* Listen for ranks, before the process is copied. -1: it cannot be done. */
int stock_listen(stock_name *out);
/* A new worker with these processors, from the stock of that name, which must be this user's; the stream to
 * it, or -1. The stream ends early where the worker cannot use them all. */
int stock_connect(const stock_name *name, const cpu_set_t *own);

/* In the stock, as hd_work_how has it. `rank`: a stream to the rank that has it, with which it ends. */
typedef struct stock {
  int listener, rank;
  uint32_t workers; /* there will be */
  cpu_set_t own, all;
} stock;
int stock_divide(void *ctx, const hd_work *w);

#endif
