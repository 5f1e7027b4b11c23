/* report/analysis.h: the parts of an analysis's document. */
#ifndef HEDDLE_REPORT_ANALYSIS_H
#define HEDDLE_REPORT_ANALYSIS_H

#include <jansson.h>

#include "heddle/report.h"

/* Keys: category, evidence, direction, reuse, arrays, launches, order_free, refusals, proposals. NULL: out of
 * memory, here and below. */
json_t *report_advice_json(const hd_advice_report *r);
/* One kernel. */
json_t *report_kernel_json(hd_analysis *a, const hd_analysis_page *p);
/* Which CTAs share lines, from the code; w (may be NULL) names the arrays. */
json_t *report_sharing_json(const hd_analysis *a, const hd_polyhedral *p, const hd_workload *w);
void report_put_sharing(const hd_analysis *a, const hd_polyhedral *p, const hd_workload *w, hd_buf *out);

#endif
