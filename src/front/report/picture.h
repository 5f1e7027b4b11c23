/* report/picture.h */
#ifndef HEDDLE_REPORT_PICTURE_H
#define HEDDLE_REPORT_PICTURE_H

#include <jansson.h>

#include "heddle/report.h"

/* {"grid", "columns", "rows", "step", "maps": [{"task", "cell", "share"}]}: share has a digit of base 36 for
 * each cell, row by row, 35 times the root of the cell's mean share. NULL: out of memory. */
json_t *report_picture_json(const hd_reuse_picture *p);

#endif
