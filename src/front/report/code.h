/* report/code.h */
#ifndef HEDDLE_REPORT_CODE_H
#define HEDDLE_REPORT_CODE_H

#include <jansson.h>
#include <limits.h>

#include "heddle/timelines.h"

/* The timelines' kernel: {"before": {"first", "text"}, "after", "plans": [[{"line", "file", "source",
 * "accesses", "l1_sectors", ...}]], "sources": {file: text}}. "after" is its text in the module that was
 * rewritten (NULL: none was), plans the lines of the original text under each plan that leaves its accesses
 * as they are. Empty where the text is too long for a page. NULL: out of memory. */
json_t *report_code_json(const hd_timelines *t, const hd_buf *rewritten);

/* The file of this name in the folder, or in one below it, without links: pages may show it. False: it is not
 * there, or somewhere else. */
bool report_find_beside(const char *folder, const char *name, char path[PATH_MAX]);

#endif
