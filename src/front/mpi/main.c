/* heddle-mpi: the program heddle over the ranks of MPI. mpirun -n 8 heddle-mpi sweep ... */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "mpi/pool.h"

static const double patience = 5; /* seconds for ranks to say goodbye */

/* The ranks on one machine. */
typedef struct neighbours {
  int n;
  int (*who)[2]; /* in the first of them: rank and process */
  pid_t first;   /* the process of rank 0, where it is one of them; else 0 */
} neighbours;

static neighbours find_neighbours(MPI_Comm node) {
  int rank, local, own[2];
  neighbours out = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_rank(node, &local);
  MPI_Comm_size(node, &out.n);
  own[0] = rank;
  own[1] = (int)getpid();
  if (local == 0) out.who = calloc((size_t)out.n, sizeof *out.who);
  MPI_Gather(own, 2, MPI_INT, out.who, 2, MPI_INT, 0, node);
  MPI_Bcast(own, 2, MPI_INT, 0, node);
  out.first = own[0] == 0 ? own[1] : 0;
  return out;
}

/* A rank's place on its machine, whose first rank's stock is the one that all use. */
static void find_place(MPI_Comm node, hand_node *n) {
  int local, locals;
  MPI_Comm_rank(node, &local);
  MPI_Comm_size(node, &locals);
  n->local = (uint32_t)local;
  n->locals = (uint32_t)locals;
  n->own = n->all = stock_own_part(n->local, n->locals);
  MPI_Allreduce(MPI_IN_PLACE, &n->all, sizeof n->all, MPI_BYTE, MPI_BOR, node);
  MPI_Bcast(&n->stock, sizeof n->stock, MPI_BYTE, 0, node);
}

/* Seen by rank 0: every rank's goodbye, in said[]. Those that are stopped or dead say none. */
static bool part(int ranks, bool *said) {
  const double start = hd_seconds();
  hd_buf late = {0};
  int left = ranks - 1;
  for (int r = 1; r < ranks; r++) mpi_post(r, TAG_END, NULL, 0);
  while (left && hd_seconds() - start < patience) {
    int rank;
    mpi_tag tag;
    if (!mpi_receive(MPI_ANY_SOURCE, &rank, &tag, &late))
      usleep(1000);
    else if (tag == TAG_BYE)
      said[rank] = true, left--;
  }
  hd_buf_free(&late);
  for (int r = 1; r < ranks && !left; r++) mpi_post(r, TAG_END, NULL, 0);
  return left == 0;
}

/* Seen by another rank: goodbye, then whether all ranks have said so. MPI_Finalize waits for dead ones for
 * ever. */
static bool part_from_first(void) {
  const double start = hd_seconds();
  hd_buf none = {0};
  int rank;
  mpi_tag tag;
  bool all = false;
  mpi_post(0, TAG_BYE, NULL, 0);
  while (!all && hd_seconds() - start < 2 * patience)
    if (!(all = mpi_receive(0, &rank, &tag, &none))) usleep(1000);
  hd_buf_free(&none);
  return all;
}

/* All is written: end what is left. An mpiexec that goes on without ranks that die does not end stopped ones
 * either. */
static void leave(int ranks, const neighbours *near, int rc) {
  bool *said = calloc((size_t)ranks, sizeof *said);
  if (said && part(ranks, said)) {
    free(said);
    return;
  }
  for (int i = 0; said && near->who && i < near->n; i++)
    if (near->who[i][0] && !said[near->who[i][0]]) kill(near->who[i][1], SIGKILL);
  free(said);
  MPI_Abort(MPI_COMM_WORLD, rc);
}

int main(int argc, char **argv) {
  hand own;
  hd_diag d = {0};
  const hand_command command = {argc, argv};
  if (hand_open(&own, &command, &d) != HD_OK) return cli_fail(&d);
  int level, rank, ranks, rc = EXIT_OK;
  MPI_Comm node;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
    return cli_usage("MPI cannot be initialized");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  find_place(node, &own.node);
  neighbours near = find_neighbours(node);
  if (rank == 0) {
    mpi_pool pool = {.own = &own};
    const hd_work_pool way = {&pool, mpi_pool_run};
    cli_how.pool = &way;
    rc = cli_main(argc, argv);
    if (rc == EXIT_OK && ranks > 1 && !pool.used)
      fprintf(stderr, "heddle: this command has no items to share: one rank did all of it (docs/fleet.md)\n");
    if (rc == EXIT_OK && pool.stray[0]) fprintf(stderr, "heddle: %s\n", pool.stray);
    fflush(NULL);
    hand_close(&own);
    leave(ranks, &near, rc);
  } else {
    const bool ended = mpi_serve(&own, near.first);
    hand_close(&own);
    if (!ended || !part_from_first()) _exit(EXIT_USAGE); /* !ended: no rank is left to say goodbye to */
  }
  free(near.who);
  MPI_Finalize();
  return rc;
}
