/* report/timelines.h */
#ifndef HEDDLE_REPORT_TIMELINES_H
#define HEDDLE_REPORT_TIMELINES_H

#include <jansson.h>

#include "heddle/timelines.h"

/* {"kernel", "launch", "grid", "colours": [{"array", "groups", "requests", "within"}], "plans": [{"plan",
 * "cycles", ..., "bins", "ctas", "groups"}]}, groups being a string for each of the colours. NULL: out of
 * memory. */
json_t *report_timelines_json(const hd_timelines *t);

#endif
