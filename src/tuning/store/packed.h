/* store/packed.h: the stored form of order tables: compressed, and checked when read. */
#ifndef HEDDLE_STORE_PACKED_H
#define HEDDLE_STORE_PACKED_H

#include "heddle/store.h"

/* A table packed: the differences of consecutive entries, folded to unsigned (0, -1, 1, -2 ... become
 * 0, 1, 2, 3 ...), their lowest bytes first, then the second ones, third and fourth, all in one zstd frame.
 * Orders that walk through memory become a few bytes; one that scatters its tasks keeps some two bytes a
 * task. HD_ERR_REFUSED: no bijection; HD_ERR_UNSUPPORTED: more than HD_MOST_KEPT tasks. */
hd_status packed_make(const uint32_t *task, uint64_t n, hd_buf *out, hd_diag *d);
/* Back again, whatever the bytes are: a bijection of n tasks whose name is `name`, else HD_ERR_INPUT. *out is
 * malloc'd. */
hd_status packed_read(const void *bytes, size_t len, uint64_t n, const char *name, uint32_t **out,
                      hd_diag *d);

/* Base 64 (RFC 4648, section 4), padded. */
void packed_to_text(const void *bytes, size_t len, hd_buf *out);
/* False: not base 64, or out of memory (out->failed). */
bool packed_from_text(const char *text, size_t len, hd_buf *out);

#endif
