/* report/trees.h: results as trees, for pages. NULL: out of memory. */
#ifndef HEDDLE_REPORT_TREES_H
#define HEDDLE_REPORT_TREES_H

#include <jansson.h>

#include "heddle/bench.h"
#include "heddle/profile.h"
#include "heddle/report.h"
#include "heddle/results.h"

/* hd_report_json's, and what the page says beside it. */
json_t *report_page_tree(const hd_report *r);
json_t *report_bench_tree(const hd_bench_place *p, const hd_bench_row *rows, size_t n);
json_t *report_probe_tree(const hd_probe_result *r, const hd_probe_beside *beside);
json_t *report_profile_tree(const hd_profile *p);

#endif
