/* report/html.h: parts that all HTML pages share. */
#ifndef HEDDLE_REPORT_HTML_H
#define HEDDLE_REPORT_HTML_H

#include "heddle/base.h"

/* A page's head with the reports' style, up to and with <body>; its end. html_begin_with: and further style.
 */
void html_begin(hd_buf *out, const char *title);
void html_begin_with(hd_buf *out, const char *title, const char *style);
void html_end(hd_buf *out);

#endif
