/* launch/runner.h: a workload set up on an emulator of its own. */
#ifndef HEDDLE_LAUNCH_RUNNER_H
#define HEDDLE_LAUNCH_RUNNER_H

#include "launch/setup.h"

/* A variable of the module that runs. */
typedef struct runner_variable {
  const char *name;
  uint64_t address, bytes;
} runner_variable;

/* The buffers' first contents, as the workload fills them, for any number of runners to begin with. */
typedef struct runner_contents {
  hd_emu *emu;  /* whose memory holds them, but for variables */
  void **bytes; /* per buffer */
  bool *filled; /* per buffer: the workload gives it contents */
  hd_arena arena;
} runner_contents;
/* runner_contents_free is to be called whether this succeeds or not. */
hd_status runner_contents_make(const hd_workload *w, runner_contents *out, hd_diag *d);
void runner_contents_free(runner_contents *c);

typedef struct runner {
  const hd_workload *w;
  const hd_compiled *code;
  hd_arena arena;
  hd_rewritten own;            /* under plans */
  const hd_ptx_module *module; /* the module that runs */
  hd_emu *emu;
  hd_emu_program *program;
  uint64_t *addresses; /* per buffer, on the emulator */
  void **pointers;     /* per buffer that points: its contents; else NULL */
  launch_setup setup;
  uint32_t n_sms;
  double until;     /* hd_seconds at which runs end, done or not; 0: never */
  const bool *stop; /* or once it is true; NULL: never */
  runner_variable
      *undescribed; /* in the order of the original's module; runner_find_undescribed finds them */
  uint32_t n_undescribed;
} runner;

/* Rewrite for `plans` (NULL: the original), load, allocate. `checks` are hd_emu_check bits. Plans were
 * resolved for `code`. runner_close is to be called whether this succeeds or not. */
hd_status runner_open(runner *r, const hd_compiled *code, const hd_resolved *plans, const hd_run_options *o,
                      unsigned checks, hd_diag *d);
/* The same, with buffers that hold these contents, without a copy of what no launch writes. They outlive the
 * runner. */
hd_status runner_open_with(runner *r, const hd_compiled *code, const hd_resolved *plans,
                           const hd_run_options *o, unsigned checks, const runner_contents *contents,
                           hd_diag *d);
void runner_close(runner *r);
/* Buffers as the workload fills them; those it leaves alone count as never written. The module's variables as
 * they are initialised: an earlier run may have changed them. */
hd_status runner_fill(runner *r, hd_diag *d);
/* The same from copies on the host: initial[i] where filled[i], else never written. */
void runner_fill_from(runner *r, void *const *initial, const bool *filled);
/* All launches in order, `resident` CTAs at once on each SM. HD_ERR_FAULT when a launch leaves its recipe's
 * state other than it found it. hooks[i] (the array or an entry may be NULL) watch launch i. */
hd_status runner_run(runner *r, const hd_dispatch *how, const hd_emu_hooks *const *hooks, hd_emu_stats *stats,
                     hd_diag *d);
/* One of them. */
hd_status runner_run_launch(runner *r, uint32_t launch, const hd_dispatch *how, const hd_emu_hooks *hooks,
                            hd_emu_stats *stats, hd_diag *d);
/* undescribed.c: the variables that the workload does not describe; a copy of what they hold, for free; the
 * name of one that holds something else now, or NULL. `what` says how it differs. */
hd_status runner_find_undescribed(runner *r, hd_diag *d);
hd_status runner_keep_undescribed(const runner *r, char **out, hd_diag *d);
const char *runner_compare_undescribed(const runner *r, const char *kept, uint64_t *compared, char *what,
                                       size_t cap);
/* Only these of a launch's CTAs, each on its own and no warp for more than `most` instructions: for kernels
 * whose CTAs do not depend on each other, but for those of a cluster, which run together with one of them.
 * One that is listed twice runs once. */
hd_status runner_run_some(runner *r, uint32_t launch, const hd_emu_hooks *hooks, const uint64_t *tasks,
                          uint64_t n, uint64_t most, unsigned threads, hd_diag *d);
/* A buffer's bytes on the host. */
void *runner_bytes(const runner *r, uint32_t buffer);

#endif
