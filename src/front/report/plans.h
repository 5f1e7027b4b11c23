/* report/plans.h: the plans of a tuning in one text. */
#ifndef HEDDLE_REPORT_PLANS_H
#define HEDDLE_REPORT_PLANS_H

#include "heddle/tuner.h"

/* The adopted plan's notation; of several kernels "kernel: plan; ..."; "baseline" when there is none. `out`
 * is cut to fit. */
void report_plans(const hd_tuning *t, char *out, size_t cap);

#endif
