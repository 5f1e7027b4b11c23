/* report/pages.h: results on pages. */
#ifndef HEDDLE_REPORT_PAGES_H
#define HEDDLE_REPORT_PAGES_H

#include <jansson.h>

#include "heddle/base.h"

/* The JSON of a file for a page, made small: lists of objects travel as columns, {"$rows": n, "$columns":
 * {key:
 * [...]}}. Takes the reference; NULL: out of memory. */
void report_add_page_json(hd_buf *files, const char *name, json_t *j);

#endif
