/* report/summary.h: shared between the forms of a report. */
#ifndef HEDDLE_REPORT_SUMMARY_H
#define HEDDLE_REPORT_SUMMARY_H

#include "heddle/report.h"

/* "1 kernel", "2 kernels". */
void report_put_count(uint64_t n, const char *what, hd_buf *out);
double report_rate(uint64_t part, uint64_t whole); /* 0 of 0 is 0 */
/* Row numbers in the order of hd_sweep_best (hd_counters_cost, least DRAM, least L2 traffic), failed rows
 * last; freed by the caller; NULL: out of memory. */
size_t *report_ranking(const hd_report *r);
const hd_counters *report_default(const hd_report *r); /* the original's; NULL: none */
bool report_by_clock(const hd_report *r);              /* there are times */
/* The row was not replayed, for want of time; how many were not. */
bool report_is_untried(const hd_report *r, size_t row);
size_t report_count_untried(const hd_report *r);
double report_stage_seconds(const hd_report *r); /* their sum */
/* The stages' seconds, or the whole's where that is more. */
double report_all_seconds(const hd_report *r);
/* The table of the plans, as hd_report_text has it. */
void report_put_tried(const hd_report *r, size_t limit, bool colour, hd_buf *out);
/* hd_optimize_answers; and what there is to say where it is false, without the full stop. */
bool report_has_answer(const hd_report *r);
void report_put_no_answer(const hd_report *r, hd_buf *out);
/* Why the kernel is left as it is, without the full stop. */
void report_put_nothing_helps(const hd_report *r, hd_buf *out);
/* The proof is of a smaller size than the workload's. */
bool report_proof_is_smaller(const hd_report *r);
/* A line on what the GPU's file lacks, and so times on it, or on what ranks plans without a clock. Nothing if
 * nothing is lacking. */
void report_put_lacks(const hd_gpu *g, bool clock, hd_buf *out);
/* A line on the part of the work that was replayed, and on how to have `more` of it. Nothing of 1. */
void report_put_part(const hd_gpu *g, double part, const char *more, bool lack_ends, hd_buf *out);
/* Lines on how well such times were confirmed, and on what they lack; `part` as hd_study_part has it;
 * `lack_ends`: hd_study_leaves_ends; c: of the original, or NULL. */
void report_put_confirmation(const hd_gpu *g, bool clock, double part, bool lack_ends, const hd_counters *c,
                             hd_buf *out);
/* The same of an optimization's rows. */
void report_put_own_confirmation(const hd_report *r, hd_buf *out);

#endif
