/* tune/runner.h: a workload set up on an emulator of its own. */
#ifndef HEDDLE_TUNE_RUNNER_H
#define HEDDLE_TUNE_RUNNER_H

#include "heddle/tune.h"

typedef struct runner {
  const hd_workload *w;
  hd_arena arena;
  hd_ptx_module *module;
  hd_emu *emu;
  hd_emu_program *program;
  uint64_t *addresses; /* per buffer, on the device */
  void **args;         /* per launch: parameter block */
  uint64_t *args_bytes;
} runner;

/* Compile, rewrite for `plan` (NULL: the original), load, allocate. `checks` are hd_emu_check
 * bits. runner_close is to be called whether this succeeds or not. */
hd_status runner_open(runner *r, const hd_workload *w, const hd_plan *plan, const hd_run_options *o,
                      unsigned checks, hd_diag *d);
void runner_close(runner *r);
/* Buffers as the workload fills them; those it leaves alone count as never written. */
hd_status runner_fill(runner *r, hd_diag *d);
/* All launches in order. hooks[i] (the array or an entry may be NULL) watch launch i. */
hd_status runner_run(runner *r, const hd_dispatch *how, const hd_emu_hooks *const *hooks, hd_emu_stats *stats,
                     hd_diag *d);
/* A buffer's bytes on the host. */
void *runner_bytes(const runner *r, uint32_t buffer);

#endif
