/* report/stalls.h: the reasons for which warps waited, by a clock. */
#ifndef HEDDLE_REPORT_STALLS_H
#define HEDDLE_REPORT_STALLS_H

#include "heddle/report.h"

/* "38% memory, 5% dependency, 0% barrier, 27% throttle, 26% scheduler, 4% issuing": parts of the warps'
 * cycles. Nothing without a clock. */
void report_put_stalls(const hd_counters *c, hd_buf *out);
/* The same as bars, of the default and of the plan kept, with a legend. */
void report_put_stall_bars(const hd_report *r, hd_buf *out);

#endif
