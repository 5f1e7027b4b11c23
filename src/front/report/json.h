/* report/json.h: helpers for the JSON of results. Jansson stays inside this folder: results leave it as text.
 */
#ifndef HEDDLE_REPORT_JSON_H
#define HEDDLE_REPORT_JSON_H

#include <jansson.h>

#include "heddle/model.h"
#include "heddle/stats.h"
#include "heddle/tuner.h"

/* Append the tree, indented by two, with a newline behind it. Takes the reference; NULL: out of memory, which
 * makes `out` fail. */
void report_put_json(json_t *j, hd_buf *out);
/* A string of the buffer's text, which is freed. */
json_t *report_text_json(hd_buf *text);
json_t *report_plan_json(const hd_plan *p);
json_t *report_number_json(double v); /* null for infinity and NaN */
json_t *report_speedup_json(const hd_speedup *s);
json_t *report_counters_json(const hd_counters *c);

/* seconds.c: the parts of a tuning's seconds, by number and name. */
enum { REPORT_SECONDS = 10 };
const char *report_seconds_name(size_t i);
double *report_seconds_part(hd_tune_seconds *s, size_t i);
json_t *report_seconds_json(const hd_tune_seconds *s);
void report_read_seconds(const json_t *j, hd_tune_seconds *out); /* 0 where there are none */

#endif
