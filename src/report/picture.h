/* report/picture.h */
#ifndef HEDDLE_REPORT_PICTURE_H
#define HEDDLE_REPORT_PICTURE_H

#include "heddle/report.h"

/* One drawing per chosen CTA, as SVG in HTML. */
void report_put_picture(hd_buf *out, const hd_reuse_picture *p);

#endif
