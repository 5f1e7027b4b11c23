/* cli/matrix_random.h: random compositions of levers, grids and dispatchers (matrix --random). */
#ifndef HEDDLE_CLI_MATRIX_RANDOM_H
#define HEDDLE_CLI_MATRIX_RANDOM_H

#include "cli.h"

typedef struct random_request {
  char **names; /* of workloads */
  size_t n_names;
  const char *size; /* the one around which parameters are drawn */
  uint64_t n, seed;
  unsigned jobs; /* threads; 0: all */
} random_request;

/* Prints the tables, or JSON; returns the exit code: 1 when any composition differs. */
int matrix_random(const random_request *q, bool json);

#endif
