/* plan/notation.h: checks of values that follow from the notation's list of levers. */
#ifndef HEDDLE_PLAN_NOTATION_H
#define HEDDLE_PLAN_NOTATION_H

#include "heddle/plan.h"

/* HD_ERR_USAGE where a lever whose values are listed has one that is not in its list, or a number below its
 * least. */
hd_status plan_check_values(const hd_plan *p, hd_diag *d);

#endif
