/* tune/undone.h: what an optimization leaves undone where a bound is reached or it is stopped, and says of
 * it. */
#ifndef HEDDLE_TUNE_UNDONE_H
#define HEDDLE_TUNE_UNDONE_H

#include "heddle/optimize.h"

/* Something was left undone: no answer. */
void undone_end(hd_optimized *z, hd_bound b);
/* The row's plan was not tried. */
void undone_row(hd_sweep_row *row, hd_bound b, const char *why);
/* Of the rows only the first so many were replayed, because of the wall, or z->stopped; a bound of their own
 * may have left some of these undone, too. */
void undone_count(hd_optimized *z, size_t replayed);
/* The reason where no plan is kept. Without traces, or a replay of the default, nothing is known of any plan:
 * row 0 says why. */
void undone_know_nothing(hd_optimized *z);
/* A plan that is not proved is not written. `stage`: what it was still to go through. */
void undone_leave_unproved(hd_optimized *z, const hd_sweep_row *row, hd_bound b, const char *stage);
/* The proof of the row's plan could not be made for a reason that is no plan's: it says nothing about the
 * plan. Failures that end all work, such as want of memory, are returned as they are. */
hd_status undone_lack_proof(hd_optimized *z, const hd_sweep_row *row, const hd_diag *e, hd_diag *d);
/* No plan that was tried is kept. */
void undone_explain(hd_optimized *z);

#endif
