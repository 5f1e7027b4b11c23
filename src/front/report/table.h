/* report/table.h: helpers for tables. */
#ifndef HEDDLE_REPORT_TABLE_H
#define HEDDLE_REPORT_TABLE_H

#include "heddle/report.h"

/* The first row. t NULL: out of memory, which report_put_table says. */
void report_put_head(hd_text_table *t, const char *const *names, size_t n);
/* Append the table and free it; NULL makes `out` fail. */
void report_put_table(hd_text_table *t, hd_buf *out);
/* A cell with the text, which is freed. */
void report_take_cell(hd_text_table *t, hd_buf *text);
/* A cell with a kernel's title. */
void report_kernel_cell(hd_text_table *t, const char *symbol);

#endif
