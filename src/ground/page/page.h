/* page/page.h: pages of results. A page is the results' JSON, one style sheet and one script, which draws
 * what it knows and shows the rest as it is: so each picture is drawn in one place, light and dark. Nothing
 * is fetched.
 */
#ifndef HEDDLE_PAGE_PAGE_H
#define HEDDLE_PAGE_PAGE_H

#include "heddle/base.h"

/* Add a file to those of a page: JSON, or other text in UTF-8. The script goes by the content of JSON, and by
 * the name of the rest. */
void page_add_json(hd_buf *files, const char *name, const char *json, size_t len);
void page_add_text(hd_buf *files, const char *name, const char *text, size_t len);
void page_add_skipped(hd_buf *files, const char *name, const char *why); /* only named */
/* Append the page: a heading, a line below it, and the files, in that order. */
void page_put(hd_buf *out, const char *title, const char *line, const hd_buf *files);

#endif
