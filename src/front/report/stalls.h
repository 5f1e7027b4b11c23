/* report/stalls.h: the reasons for which warps waited, by a clock. */
#ifndef HEDDLE_REPORT_STALLS_H
#define HEDDLE_REPORT_STALLS_H

#include "heddle/report.h"

/* "38% memory, 5% dependency, 27% throttle, 26% scheduler, 4% issuing": the parts of the warps'
 * cycles that round to 1% or more. Nothing without a clock. */
void report_put_stalls(const hd_counters *c, hd_buf *out);

#endif
