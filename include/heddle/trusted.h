/* heddle/trusted.h: files that become code: machine code, PTX, verdicts and their tables.
 *
 * Whoever can write such a file runs code as its reader. So heddle writes such files for the user alone, and
 * reads them only if no other user can have written them: the file and its folder belong to the (effective)
 * user, and neither the group nor others may write to them. A symbolic link in place of either is not
 * followed. These checks look at the open file, not at its name.
 *
 * A sealed file says in its first line how long its content is, and its SHA-256: one that was cut off, or
 * changes while it is read, is not read. The line is a comment in PTX and in CUDA C. */
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
HD_OWN const char *hd_sha256_hex(const hd_part *parts, size_t n, char out[HD_SHA256_HEX]);

/* HD_OK: only the user can write to the folder. HD_ERR_REFUSED: others can, and the message says why.
 * HD_ERR_IO: it is missing, or not a folder. `make`: a missing folder is made, without rights for others,
 * whatever the umask. */
HD_OWN hd_status hd_trusted_folder(const char *path, bool make, hd_diag *d);

/* As hd_cache_folder, but with the reason if there is no such folder. */
HD_OWN hd_status hd_trusted_cache(char *out, size_t cap, hd_diag *d);

/* Append a file's bytes to *out. HD_ERR_IO: it cannot be read; HD_ERR_REFUSED: somebody else may have written
 * it, or it changed meanwhile. */
HD_OWN hd_status hd_trusted_read(const char *path, hd_buf *out, hd_diag *d);
/* Write a file that no one else may read, whole or not at all. */
HD_OWN hd_status hd_trusted_write(const char *path, const void *data, size_t len, hd_diag *d);

/* Make the file, empty, unless it is there, for a library that opens it by its name afterwards.
 * HD_ERR_REFUSED: somebody else may have written it, or may put another one in its place. */
HD_OWN hd_status hd_trusted_make(const char *path, hd_diag *d);

/* The same for a sealed file's content. HD_ERR_INPUT: the content is not the one that was written. */
HD_OWN hd_status hd_sealed_read(const char *path, hd_buf *out, hd_diag *d);
HD_OWN hd_status hd_sealed_write(const char *path, const void *data, size_t len, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
