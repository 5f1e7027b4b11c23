/* report/analysis.h: the parts of an analysis's document. */
#ifndef HEDDLE_REPORT_ANALYSIS_H
#define HEDDLE_REPORT_ANALYSIS_H

#include <jansson.h>

#include "heddle/report.h"
#include "report/fields.h"

enum { REPORT_SHORT_FORMULA = 72 }; /* columns that a formula takes, where it is cut */

/* accesses.c. The array that an access is to: a parameter, a variable, or "-". */
void report_put_base(const hd_analysis *a, const hd_site *s, hd_buf *out);
/* tid.x, ctaid.y, k1, tile.x. */
void report_variable_name(hd_symbol_kind kind, uint32_t i, char *out, size_t cap);
/* The table of a kernel's accesses; unrolled copies of one share a row. */
void report_put_accesses(hd_analysis *a, const hd_analysis_page *p, hd_buf *out);

/* pattern.c. How the threads of a warp lie to each other at a site, in a word (for programs) and in words.
 * `at` may be NULL: then threads next to each other along x count. */
const char *report_pattern(hd_analysis *a, uint32_t site, const hd_point *at, hd_buf *words);

/* The line that the PTX says an instruction is from; line 0: it does not say. */
static inline hd_ptx_source report_source_of(const hd_analysis *a, uint32_t inst) {
  return hd_ptx_source_of(a->module, a->cfg.insts[inst].func, a->cfg.insts[inst].stmt);
}

extern const field report_refusal_fields[]; /* of hd_refusal */
/* Keys: category, evidence, direction, reuse, arrays, launches, order_free, refusals, proposals. NULL: out of
 * memory, here and below. */
json_t *report_advice_json(const hd_advice_report *r);
/* One kernel. */
json_t *report_kernel_json(hd_analysis *a, const hd_analysis_page *p);
/* Which CTAs share lines, from the code; w (may be NULL) names the arrays. */
json_t *report_sharing_json(const hd_analysis *a, const hd_polyhedral *p, const hd_workload *w);
void report_put_sharing(const hd_analysis *a, const hd_polyhedral *p, const hd_workload *w, hd_buf *out);

#endif
