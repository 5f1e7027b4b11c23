/* plan/notation.h: checks of a plan's values (rules.c), for hd_plan_check. */
#ifndef HEDDLE_PLAN_NOTATION_H
#define HEDDLE_PLAN_NOTATION_H

#include "heddle/plan.h"

/* HD_ERR_USAGE for an order, a shape or a stream that none is. */
hd_status plan_check_shapes(const hd_plan *p, hd_diag *d);
/* HD_ERR_USAGE for levers that may not be set together. */
hd_status plan_check_rules(const hd_plan *p, hd_diag *d);

#endif
