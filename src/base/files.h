/* base/files.h: writing, for base's own files. */
#ifndef BASE_FILES_H
#define BASE_FILES_H

#include <stddef.h>

/* Writes all of it at the beginning of a file: 0, or an error number. A file that would be longer than the
 * process may write (ulimit -f) is not begun: writing it would end the process by a signal. */
int files_write(int fd, const char *data, size_t len);

#endif
