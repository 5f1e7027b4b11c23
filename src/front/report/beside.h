/* report/beside.h: a GPU's file beside what was probed, as a part of the probe's results. */
#ifndef HEDDLE_REPORT_BESIDE_H
#define HEDDLE_REPORT_BESIDE_H

#include <jansson.h>

#include "heddle/results.h"

json_t *report_beside_json(const hd_probe_beside *b);
void report_put_beside(const hd_probe_beside *b, hd_buf *out);

#endif
