/* launch/reference.h: a kernel's results compared with the workload's reference. */
#ifndef HEDDLE_LAUNCH_REFERENCE_H
#define HEDDLE_LAUNCH_REFERENCE_H

#include "launch/launch.h"

/* Bytes of all buffers on the host, one array each: `result` after the original kernel, `initial` before it,
 * of which those in `filled` hold the workload's contents. A difference is an answer, in *out; all buffers
 * that are compared were, when out->equal is still set. */
hd_status reference_compare(const hd_workload *w, void *const *initial, const bool *filled,
                            void *const *result, hd_check_result *out, hd_diag *d);

#endif
