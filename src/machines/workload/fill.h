/* workload/fill.h: kinds of fills whose elements hang together, or that may fail: they make whole buffers. */
#ifndef HEDDLE_WORKLOAD_FILL_H
#define HEDDLE_WORKLOAD_FILL_H

#include "workload/workload.h"

/* Fill out[0..b->count) elements. Wrong data is HD_ERR_INPUT. */
typedef hd_status wl_whole_fn(const hd_workload *w, const wl_fill *f, const hd_wl_buffer *b, void *out,
                              hd_diag *d);

wl_whole_fn wl_fill_file;        /* f->file, read by its ending */
wl_whole_fn wl_fill_column;      /* one column of f->file */
wl_whole_fn wl_fill_each;        /* f->text for i = 0, 1, ... */
wl_whole_fn wl_fill_permutation; /* of 0 .. count - 1 */
wl_whole_fn wl_fill_sorted;      /* random, ascending */

/* 53 random bits as a multiple of 2^-53 in [0, 1). */
double wl_unit(uint64_t random);
/* Elements of uniform(low, high) and uniform_int(low, high), as a kind of fill makes them. */
void wl_uniform(const wl_fill *f, uint64_t seed, uint64_t first, unsigned n, double *v);
void wl_uniform_int(const wl_fill *f, uint64_t seed, uint64_t first, unsigned n, int64_t *v);

/* ---- Numbers in files (number_files.c) --------------------------------------------------------------- */

/* Where numbers are to be put. */
typedef struct wl_numbers {
  const char *path, *buffer; /* for messages */
  hd_elem type;
  uint64_t count; /* that must be there, exactly */
  void *out;
} wl_numbers;

/* A NumPy array (.npy, versions 1 to 3): of the buffer's type, little-endian, in C's order, of any shape with
 * as many elements. */
hd_status wl_read_npy(const char *data, size_t len, const wl_numbers *to, hd_diag *d);
/* Numbers apart by blanks, commas, semicolons or line ends. Lines that begin with '#', and a first line that
 * does not begin with a number, are passed over. `column`: only those of that number on each line, from 0;
 * UINT64_MAX: all. */
hd_status wl_read_csv(const char *data, size_t len, uint64_t column, const wl_numbers *to, hd_diag *d);

#endif
