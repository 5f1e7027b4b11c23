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
/* The same by jansson's flags, and without the newline. */
void report_dump_json(json_t *j, size_t flags, hd_buf *out);
/* A string of a text. File names and PTX are bytes: those that are no UTF-8 become U+FFFD. */
json_t *report_bytes_json(const char *text, size_t len);
json_t *report_words_json(const char *words);
/* A string of the buffer's text, which is freed. */
json_t *report_text_json(hd_buf *text);
json_t *report_plan_json(const hd_plan *p);

#endif
