/* base/files.h: writing, for base's own files. */
#ifndef BASE_FILES_H
#define BASE_FILES_H

#include <stddef.h>

/* Writes all of it: 0, or an error number. Where the file would become longer than hd_file_limit, nothing is
 * written. */
int files_write(int fd, const char *data, size_t len);

#endif
