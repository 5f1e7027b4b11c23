/* report/seconds.h: the stages of a tuning by name. */
#ifndef HEDDLE_REPORT_SECONDS_H
#define HEDDLE_REPORT_SECONDS_H

#include "heddle/tuner.h"
#include "report/fields.h"

extern const field report_seconds_fields[]; /* of hd_tune_seconds */
/* ": tuned in 3.5 s (load 1.5, proof 0.3)" and a newline, without stages that took next to none. */
void report_put_seconds(const hd_tuning *t, hd_buf *out);

#endif
