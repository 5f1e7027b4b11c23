/* report/folder.h: files of a results folder. */
#ifndef HEDDLE_REPORT_FOLDER_H
#define HEDDLE_REPORT_FOLDER_H

#include <jansson.h>

#include "heddle/base.h"

enum { REPORT_PATH = 4096 };

const char *folder_path(const char *folder, const char *name, char out[REPORT_PATH]);
/* Add to a file, and see that it is on the disk. */
hd_status folder_append(const char *folder, const char *name, const char *text, hd_diag *d);
/* One line; takes the reference. */
hd_status folder_append_json(const char *folder, const char *name, json_t *line, hd_diag *d);
/* Call fn for each line that is JSON, until it returns false, which is the answer then. */
bool folder_each_json(const hd_file *f, bool (*fn)(void *ctx, const json_t *line), void *ctx);
/* Call fn for each line of a file that is JSON, until it returns false: out of memory. A file that was cut
 * off within a line is mended; one that is not there has none. */
hd_status folder_each_line(const char *folder, const char *name, bool (*fn)(void *ctx, const json_t *line),
                           void *ctx, hd_diag *d);
/* A whole file; frees the text. */
hd_status folder_write(const char *folder, const char *name, hd_buf *text, hd_diag *d);

#endif
