/* tune/runner.h: a workload set up on an emulator of its own. */
#ifndef HEDDLE_TUNE_RUNNER_H
#define HEDDLE_TUNE_RUNNER_H

#include "heddle/launch.h"
#include "heddle/rewrite.h"
#include "heddle/tune.h"

enum { RUNNER_ARCH = HD_LAUNCH_ARCH, RUNNER_SMS = 16 }; /* when the options say nothing */

typedef struct runner {
  const hd_workload *w;
  const hd_compiled *code; /* of the workload */
  hd_arena arena;          /* of the module, when it was rewritten */
  const hd_ptx_module *module;
  hd_emu *emu;
  hd_emu_program *program;
  uint64_t *addresses; /* per buffer, on the device */
  void **args;         /* per launch: parameter block */
  uint64_t *args_bytes;
  uint32_t n_sms;
  hd_recipe *recipes; /* per launch */
  uint64_t
      *states; /* per launch: device memory that a recipe asks for, the same for all launches of a kernel */
} runner;

/* ---- Applying a plan (apply.c) --------------------------------------------------- */

/* The first launch of the same kernel. */
uint32_t apply_first_launch(const hd_workload *w, uint32_t i);
/* The plan of a kernel: its own, or the one for all. */
const hd_plan *apply_plan_of(const hd_run_options *o, const char *kernel, const hd_plan *p);
hd_status apply_find_kernel(const hd_ptx_module *m, const char *name, int64_t *func, hd_diag *d);
/* The table of the plan's order for a launch: *table is NULL when it needs none, else `out`, read from the
 * plan's file or worked out (hd_order_table) and to be freed, or the one of the options. */
hd_status apply_table(const hd_workload *w, uint32_t launch, const hd_plan *p, const hd_run_options *o,
                      hd_table *out, const hd_table **table, hd_diag *d);

/* The plan with the loads that its stream=auto stands for in that launch's kernel, in *streams, whose loads
 * are to be freed. Shares all else that p owns. */
hd_status apply_streams(const hd_workload *w, uint32_t launch, const hd_plan *p, const hd_run_options *o,
                        hd_plan *out, hd_stream *streams, hd_diag *d);

/* The kernel's loads of memory that nobody writes in the workload's launches of it, as
 * hd_rewrite_options.unwritten has them; to be freed. */
hd_status apply_unwritten(const hd_ptx_module *m, uint32_t func, const hd_workload *w, uint32_t launch,
                          uint32_t **out, uint32_t *n, hd_diag *d);

/* ---- Registers of agents (agents.c) ---------------------------------------------- */

/* Ways to rewrite kernels with agents, tried one after the other: within limits on registers, loosened until
 * ptxas spills nothing; where it still takes more than HD_AGENT_REGISTERS more, the same again with nothing
 * hoisted. Begins as {.run = options}. */
typedef struct agents_search {
  hd_run_options *run; /* the way to try */
  int64_t added;       /* registers, by the best way that hoists */
  hd_register_budget budget, first;
  bool begun, settled;
} agents_search;
/* What came of the present way: whether it spills more than the original, and the registers that it added, in
 * the kernel where they are most. True: run is now another way, to be tried; false: the present one it is. */
bool agents_try_next(agents_search *s, bool spills, int64_t added);

/* ---- Running --------------------------------------------------------------------- */

/* Compile, rewrite for `plan` (NULL: the original), load, allocate. `checks` are hd_emu_check
 * bits. runner_close is to be called whether this succeeds or not. */
hd_status runner_open(runner *r, const hd_workload *w, const hd_plan *plan, const hd_run_options *o,
                      unsigned checks, hd_diag *d);
void runner_close(runner *r);
/* Buffers as the workload fills them; those it leaves alone count as never written. */
hd_status runner_fill(runner *r, hd_diag *d);
/* The same from copies on the host: initial[i] where filled[i], else never written. */
void runner_fill_from(runner *r, void *const *initial, const bool *filled);
/* All launches in order, `resident` CTAs at once on each SM. HD_ERR_FAULT when a launch leaves its recipe's
 * state other than it found it. hooks[i] (the array or an entry may be NULL) watch launch i. */
hd_status runner_run(runner *r, const hd_dispatch *how, const hd_emu_hooks *const *hooks, hd_emu_stats *stats,
                     hd_diag *d);
/* A buffer's bytes on the host. */
void *runner_bytes(const runner *r, uint32_t buffer);

#endif
