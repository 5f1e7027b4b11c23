/* run/cut.h: a module's text with one kernel alone. */
#ifndef HEDDLE_RUN_CUT_H
#define HEDDLE_RUN_CUT_H

#include "heddle/base.h"

/* Appends the text with empty bodies for all kernels but this one; all else stays, on the lines where it was.
 */
void run_cut(const char *text, size_t len, const char *kernel, hd_buf *out);

#endif
