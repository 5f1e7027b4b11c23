/* report/rows.h: the rows of a results folder as JSON. */
#ifndef HEDDLE_REPORT_ROWS_H
#define HEDDLE_REPORT_ROWS_H

#include <jansson.h>

#include "heddle/bench.h"

/* A line begins with where it was measured: on the row's own GPU, or on the place's. NULL: out of memory. */
json_t *report_bench_row_json(const hd_bench_place *p, const hd_bench_row *r);
json_t *report_verify_row_json(const hd_bench_place *p, const hd_verify_row *r);
/* False: it names no workload, or (of a verdict) no size. */
bool report_read_bench_row(const json_t *j, hd_bench_row *r);
bool report_read_verify_row(const json_t *j, hd_verify_row *r);
/* Whether a line was measured with this version of heddle, on this device and driver. */
bool report_is_of_place(const json_t *j, const hd_bench_place *p);

#endif
