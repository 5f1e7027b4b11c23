/* heddle/trusted.h: files that become code: machine code, PTX, verdicts and their tables.
 *
 * Whoever can write such a file runs code as its reader. So it belongs to the user, is written for the user
 * alone, and is read only where nobody else may have put it there: the file and its folder belong to the user
 * (the effective one), and neither may be written by the group or by others. A symbolic link in place of
 * either is not followed. All that is asked is asked of the open file, not of its name.
 *
 * A sealed file says in its first line how long its content is, and its SHA-256: one that was cut off, or
 * changes while it is read, is not read. The line is a comment in PTX and in CUDA C.
 */
#ifndef HEDDLE_TRUSTED_H
#define HEDDLE_TRUSTED_H

#include "heddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HD_SHA256_HEX = 65 };
/* The SHA-256 of the parts, one behind the other, each with its length in front: 64 digits; returns out. */
typedef struct hd_part {
  const void *data;
  size_t len;
} hd_part;
HD_API const char *hd_sha256_hex(const hd_part *parts, size_t n, char out[HD_SHA256_HEX]);

/* HD_OK: a folder that is the user's alone to write. HD_ERR_REFUSED: it is not, and why. HD_ERR_IO: it is not
 * there, or no folder. `make`: it is made where it is missing, with no rights for others, whatever the umask.
 */
HD_API hd_status hd_trusted_folder(const char *path, bool make, hd_diag *d);

/* As hd_cache_folder, which has such a folder or none, with the reason. */
HD_API hd_status hd_trusted_cache(char *out, size_t cap, hd_diag *d);

/* Append a file's bytes to *out. HD_ERR_IO: it cannot be read; HD_ERR_REFUSED: somebody else may have written
 * it, or it changed meanwhile. */
HD_API hd_status hd_trusted_read(const char *path, hd_buf *out, hd_diag *d);
/* Write a file that no one else may read, whole or not at all. */
HD_API hd_status hd_trusted_write(const char *path, const void *data, size_t len, hd_diag *d);

/* The file is there, or is made, empty, for a library that opens it by its name afterwards. HD_ERR_REFUSED:
 * somebody else may have written it, or may put another one in its place. */
HD_API hd_status hd_trusted_make(const char *path, hd_diag *d);

/* The same of a sealed file's content. HD_ERR_INPUT: it is not what was written. */
HD_API hd_status hd_sealed_read(const char *path, hd_buf *out, hd_diag *d);
HD_API hd_status hd_sealed_write(const char *path, const void *data, size_t len, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
