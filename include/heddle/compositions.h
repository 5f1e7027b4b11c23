/* heddle/compositions.h: many random compositions of every lever, compared with their originals on the
 * emulator. */
#ifndef HEDDLE_COMPOSITIONS_H
#define HEDDLE_COMPOSITIONS_H

#include "heddle/compose.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hd_composed_outcome {
  HD_COMPOSED_EQUAL = 0,
  HD_COMPOSED_REFUSED,
  HD_COMPOSED_DIFFERENT,
  HD_COMPOSED_OUTCOMES
} hd_composed_outcome;

/* One composition, run under three dispatchers: one worker at a time, all at once, and one drawn. */
typedef struct hd_composed {
  hd_composed_outcome outcome;
  bool any_grid, no_hoisting;
  hd_dispatch_kind dispatch; /* drawn */
  char *plan;
  char *what; /* why it was refused; how it differs, and the command line that shows it; else NULL */
  char *why;  /* when refused: the same without the kernel's name, the place and the instruction */
} hd_composed;

/* So many of them on one workload at one size, whose original runs once. */
enum { HD_COMPOSED_PER_GROUP = 8 };
typedef struct hd_composed_group {
  hd_status status; /* of the group itself; `diag` says more */
  hd_diag diag;
  const char *name; /* of the workload */
  uint32_t grid[3]; /* of its first launch */
  uint32_t n_sms;   /* least of the trials' */
  unsigned arch;    /* that its kernels are compiled for: every fourth group's, by chance, has bind=cancel */
  char *broken;     /* how the original fails at this size, and the command line; else NULL */
  size_t n;
  hd_composed trials[HD_COMPOSED_PER_GROUP];
} hd_composed_group;

typedef struct hd_compositions_options {
  const char *const *names; /* of workloads */
  size_t n_names;
  const char *kernels_dir; /* as hd_workload_open takes it */
  const char *size;        /* the one around which parameters are drawn; each workload's first group has it */
  uint64_t n, seed;
  unsigned threads;                                   /* host threads; 0: all */
  void (*progress)(void *ctx, size_t done, size_t n); /* may be NULL; from one thread at a time */
  void *ctx;
} hd_compositions_options;

typedef struct hd_compositions {
  hd_composed_group *groups; /* the same whatever the number of threads */
  size_t n_groups;
  char folder[64]; /* of the tables of compositions that differ; removed if all are equal */
} hd_compositions;

/* HD_OK whether or not some differ; fails when a workload cannot be opened or run. */
HD_OWN hd_status hd_compositions_run(const hd_compositions_options *o, hd_compositions *out, hd_diag *d);
HD_OWN void hd_compositions_free(hd_compositions *r);

#ifdef __cplusplus
}
#endif
#endif
