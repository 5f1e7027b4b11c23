/* workload/reader.h: workload.toml on its way to an hd_workload, which description.c reads from the top.
 *
 * reader.c    places of the text, values of keys     buffers.c    [[buffer]], [[variable]]
 * sizes.c     [sizes.NAME] and [ranges]              images.c     [[texture]], [[surface]]
 * launch_list.c  [[launch]]                             arguments.c  its arguments
 *                                                    tensors.c    those that are tensor maps
 *
 * A table of the file is a JSON tree (text/toml.h). Any mistake in it is HD_ERR_INPUT with its line and
 * column. Functions that allocate may leave through the arena's escape.
 */
#ifndef HEDDLE_WORKLOAD_READER_H
#define HEDDLE_WORKLOAD_READER_H

#include "text/toml.h"
#include "workload/workload.h"

enum {
  WL_MAX_FILE = 4 << 20,     /* bytes of workload.toml */
  WL_MAX_LAUNCHES = 1 << 16, /* repetitions counted */
  WL_MAX_BUFFERS = 256,      /* variables counted */
};
#define WL_ITERATION "iteration" /* 0, 1, ... in a repeated launch or loop */

typedef struct wl_reader {
  const char *path, *text, *source; /* source: wl_input's */
  size_t len;
  hd_diag *d;
  hd_arena *arena;
  hd_workload *w;         /* the part read so far */
  wl_fill *fills;         /* by buffer */
  wl_names names;         /* parameters of the chosen size; in launches, `iteration` behind them */
  const char *const *set; /* "NAME=VALUE": in place of the size's own values */
  size_t n_set;
} wl_reader;

/* ---- Mistakes --------------------------------------------------------------------- */

/* Fail at table[key], or at the table when key is NULL. */
hd_status wl_bad(wl_reader *r, const json_t *table, const char *key, const char *fmt, ...) HD_PRINTF(4, 5);
/* Fail at byte e->offset of the string `value`, an element or the value of table[key]. */
hd_status wl_bad_text(wl_reader *r, const json_t *table, const char *key, const char *value,
                      const wl_error *e);
/* Fail at the first key of the table that is not among the NULL-terminated `known`. */
hd_status wl_only(wl_reader *r, const json_t *table, const char *const *known);

/* ---- Values ----------------------------------------------------------------------- */

/* table[key] as a string of the arena; `fallback` when it is missing and not NULL. */
hd_status wl_get_string(wl_reader *r, const json_t *table, const char *key, const char *fallback,
                        const char **out);
/* `v`, an element or the value of table[key]: an integer or an expression, in [low, high]. `what` names it.
 */
hd_status wl_get_integer(wl_reader *r, const json_t *table, const char *key, const json_t *v,
                         const char *what, int64_t low, int64_t high, int64_t *out);
/* table[key] as a number >= 0; 0 when it is missing. */
hd_status wl_get_number(wl_reader *r, const json_t *table, const char *key, double *out);
/* table[key] as true or false; false when it is missing. */
hd_status wl_get_flag(wl_reader *r, const json_t *table, const char *key, bool *out);
/* `v`, an element or the value of table[key]: the number of one of the words, which end with NULL; 0 when it
 * is missing. */
hd_status wl_get_word(wl_reader *r, const json_t *table, const char *key, const json_t *v,
                      const char *const *words, unsigned *out);
/* table[key] as an element type. */
hd_status wl_get_elem(wl_reader *r, const json_t *table, const char *key, hd_elem *out);
/* table[key] as an array of 1 to `max` tables. */
hd_status wl_get_tables(wl_reader *r, const json_t *table, const char *key, size_t max, const json_t **out,
                        size_t *n);

/* ---- Tables, in the order in which they are read ------------------------------------ */

/* [sizes.NAME] tables, all with the same parameters; those of the size `chosen` go into r->names. */
hd_status wl_read_sizes(wl_reader *r, const json_t *root, const char *chosen);
/* Apply the values that were set, then read [ranges]: the parameters in r->w, each within its range. */
hd_status wl_read_ranges(wl_reader *r, const json_t *root);
/* [[buffer]] and [[variable]] tables, in this order. */
hd_status wl_read_buffers(wl_reader *r, const json_t *root);
/* The buffer of this name, among those that have been read; false: none. */
bool wl_find_buffer(const wl_reader *r, const char *name, uint32_t *index);
/* [[texture]] and [[surface]] tables. */
hd_status wl_read_images(wl_reader *r, const json_t *root);
/* Every [[launch]] in order, repeated ones written out. */
hd_status wl_read_launches(wl_reader *r, const json_t *tables, size_t n);
/* One of a launch's arguments, or of a struct's fields. */
hd_status wl_read_arg(wl_reader *r, const json_t *launch, const json_t *v, hd_wl_arg *out);
/* { tensormap = "a", shape = ["m", "k"], box = [64, 64], swizzle = "128B" } */
hd_status wl_read_tensor(wl_reader *r, const json_t *table, hd_wl_arg *out);

#endif
