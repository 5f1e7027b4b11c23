/* predict/retrace.h: traces of kernels whose accesses a plan changes.
 *
 * Order and binding say when a task runs, and the original's trace serves for all of them. threads, bypass,
 * stream and prefetch change a task's accesses: under them the rewritten kernels are traced, once for each
 * such plan, and order and binding are left to the replay. Prefetches depend on the order, which is therefore
 * in those traces: their tasks are positions, or workers of bind=redirect. */
#ifndef HEDDLE_PREDICT_RETRACE_H
#define HEDDLE_PREDICT_RETRACE_H

#include "heddle/predict.h"
#include "predict/task_traces.h"

/* The buffers' first contents, where the caller has them already: filling gigabytes again takes seconds. */
typedef struct retrace_contents {
  void *const *bytes; /* per buffer */
  const bool *filled; /* per buffer: the workload gives it contents */
} retrace_contents;

/* Trace all launches under plans (NULL: the original) that add nothing to them. traces[] and, where it is not
 * NULL, shared[] (bytes per CTA, static and dynamic) have room for one per launch; traces that were made are
 * the caller's on failure too. `addresses`, unless NULL, gets the buffers' addresses in the traces. `first`
 * NULL: the buffers are filled. */
hd_status retrace_take(const hd_compiled *code, const hd_resolved *plans, const hd_run_options *o, bool timed,
                       const retrace_contents *first, hd_trace **traces, uint32_t *shared,
                       uint64_t *addresses, hd_diag *d);

/* True when a plan's accesses differ from the original's. */
bool retrace_is_needed(const hd_plan *p);
/* The part of a plan that the traced kernels have, and the rest of it, for the replay of such traces. Both
 * share p's lists and paths. */
hd_plan retrace_part(const hd_plan *p);
hd_plan retrace_rest(const hd_plan *p);

/* The traces by plans; several threads may use one. */
typedef struct retrace_store retrace_store;
retrace_store *retrace_open(const hd_workload *w); /* NULL: out of memory */
void retrace_close(retrace_store *s);
/* One trace per launch under plans that are such parts, valid until retrace_release. `timed`: they keep their
 * warps' paths. With `how`, of the tasks that are recorded in *recorded. */
hd_status retrace_acquire(retrace_store *s, const hd_resolved *plans, const hd_run_options *o, bool timed,
                          const record_options *how, recording **recorded, hd_trace *const **traces,
                          hd_diag *d);
void retrace_release(retrace_store *s, hd_trace *const *traces);

#endif
