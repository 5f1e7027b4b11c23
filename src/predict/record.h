/* predict/record.h: traces of some tasks of a launch, taken when a replay needs them.
 *
 * The tasks of most kernels access what they access whatever other tasks have computed. Of these a recording
 * runs only the tasks that are asked for, in any order, and long ones not to their ends. */
#ifndef HEDDLE_PREDICT_RECORD_H
#define HEDDLE_PREDICT_RECORD_H

#include <pthread.h>

#include "launch/runner.h"

/* Whether addresses, branches and loops of the workload's kernels follow from the launches, or from buffers
 * that no launch writes: so the accesses of a task are the same whichever others have run. *reads_data: from
 * such buffers too. Follows from the text. */
hd_status record_is_possible(const hd_compiled *code, bool *possible, bool *reads_data, hd_diag *d);

typedef struct recording {
  runner r;
  unsigned threads;
  hd_trace **traces;    /* per launch, with gaps */
  pthread_rwlock_t use; /* held for writing while tasks run, for reading while traces are read */
} recording;

/* `plans` NULL: of the originals. The buffers are filled if `reads_data`, or if that costs little. *out is
 * for record_close. */
hd_status record_open(const hd_compiled *code, const hd_resolved *plans, const hd_run_options *o,
                      bool reads_data, recording **out, hd_diag *d);
void record_close(recording *r); /* NULL is fine */
/* These tasks of a launch are in its trace from then on; no warp runs more than `most` instructions. */
hd_status record_tasks(recording *r, uint32_t launch, const uint64_t *tasks, uint64_t n, uint64_t most,
                       hd_diag *d);
bool record_has(const recording *r, uint32_t launch, const uint64_t *tasks, uint64_t n);

#endif
