/* launch/launch.h: declarations that the files of this floor share.
 *
 * analyses.c   analyses of launches with their arguments
 * arch.c       the architecture to compile for
 * resolved.c   resolved plans applied to kernels       unwritten.c  buffers that no kernel writes
 * agents.c     registers of kernels with agents        bytes.c      buffers on the host: contents, results
 * setup.c      arguments, states, tables of a launch, on an emulator and on a device alike
 * runner.c     a workload on an emulator               placement.c  a workload's buffers on a device
 * workload_variant.c  its kernels on a device, under plans    moved_buffers.c  the same buffers in other
 * memory check.c      the proof on the emulator               measure.c    proof and times on a device
 * against_reference.c  results against the workload's reference  sums.c  sums in another order
 * workload_variables.c  variables of the module: which need a value; device_variables.c  their values on a
 * device; undescribed.c  results in those that the workload does not describe
 */
#ifndef HEDDLE_LAUNCH_LAUNCH_H
#define HEDDLE_LAUNCH_LAUNCH_H

#include "heddle/launch.h"

enum { /* SMs of the emulated machine, when the options say nothing */
       LAUNCH_SMS = 16,
       LAUNCH_COOPERATIVE_SMS = 132, /* where grids must fit that fit an H100 */
};

/* ---- Buffers on the host (bytes.c) -------------------------------------------------- */

/* Memory for the bytes of each buffer; NULL: there is none. */
void **launch_bytes_new(const hd_workload *w);
void launch_bytes_free(const hd_workload *w, void **bytes); /* NULL is fine */
uint64_t launch_bytes_total(const hd_workload *w);

/* Before a time that is given (0: none), is there enough left for the reference, which nothing interrupts? It
 * is taken for as long as twice the emulator's run, which began then: products of tensor cores are as fast
 * there. */
bool launch_has_time_for_reference(double began, double now, double until);

enum { LAUNCH_POISON = 0xCD };
/* Overwrite old contents, so that a byte that a run leaves unwritten shows. */
void launch_poison(void *at, uint64_t bytes);
/* Make the contents that buffers have before a run: poisoned, then filled as the workload says. filled[i]
 * says whether the workload gives buffer i contents at all. */
hd_status launch_first_contents(const hd_workload *w, void **bytes, bool *filled, hd_diag *d);

/* A buffer after the rewritten kernel and after the original: byte for byte, within the buffer's tolerance
 * where floating-point atomics may reorder sums. Else `what` says how they differ. */
bool launch_same_buffer(const hd_wl_buffer *b, const void *got, const void *want, uint64_t count, char *what,
                        size_t cap);
/* Buffers that are unwritten by somebody's word hold what they held; else `what` says which does not. */
bool launch_keeps_word(const hd_workload *w, void *const *before, const bool *filled, void *const *after,
                       char *what, size_t cap);
/* All buffers; `what` begins with the buffer's name. */
bool launch_same(const hd_workload *w, void *const *got, void *const *want, char *what, size_t cap);

/* Results that differ: say so behind `what` where sums of atomics, added in another order, may be why
 * (sums.c). */
void launch_explain_sums(const hd_compiled *code, const hd_wl_buffer *b, const void *got, const void *want,
                         char *what, size_t cap);

/* A kernel's fault is an answer of the check, in *r; any other failure is an error, in *d. */
hd_status launch_as_answer(hd_status st, const hd_diag *e, const char *who, hd_check_result *r, hd_diag *d);

/* ---- Variables of the module (workload_variables.c) ----------------------------------------- */

/* HD_ERR_INPUT names a variable that a kernel may read, itself or through what it calls, and that nothing
 * gives a value: no initial value, no [[variable]], no kernel that is launched. */
hd_status launch_check_variables(const hd_compiled *code, hd_diag *d);
/* The module's variable has so many bytes: does the workload's value fit? */
hd_status launch_check_variable(const hd_workload *w, uint32_t buffer, uint64_t bytes, hd_diag *d);

/* ---- Registers of agents (agents.c) ---------------------------------------------- */

/* Ways to rewrite kernels with agents, tried one after the other: within limits on registers, loosened until
 * ptxas spills nothing; where it still takes more than HD_AGENT_REGISTERS more, the same again with nothing
 * hoisted. Begins as {.apply = options}. */
typedef struct agents_search {
  hd_compile_options *apply; /* the way to try */
  int64_t added;             /* registers, by the best way that hoists */
  hd_register_budget budget, first;
  bool begun, settled;
} agents_search;
/* Tell the outcome of the present way: whether it spills more than the original, and the registers that it
 * added, in the kernel where they are most. True: `apply` is now another way, to be tried; false: the present
 * one it is. */
bool agents_try_next(agents_search *s, bool spills, int64_t added);

#endif
