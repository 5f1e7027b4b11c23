/* heddle/store.h: verdicts, kept from run to run.
 *
 * A verdict is what tuning found for one kernel, launched one way, on one kind of GPU under one
 * driver: the plan that won, by how much, how surely, and what the counters said before and
 * after. The store is an SQLite database (write-ahead log), which many processes may use at
 * once; what another program wrote into it is checked like any other input.
 */
#ifndef HEDDLE_STORE_H
#define HEDDLE_STORE_H

#include "heddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_store hd_store;

/* What a verdict holds for. Texts are compared as they are. */
typedef struct hd_verdict_key {
  char kernel[HD_DIGEST_HEX]; /* hd_verdict_kernel */
  char launch[192];           /* hd_verdict_launch */
  char gpu[96];               /* the GPU's name and, where parts of it are hidden, its shape */
  char driver[32];
} hd_verdict_key;

typedef struct hd_verdict {
  hd_verdict_key key;
  char name[192];             /* kernel or workload, for people */
  char plan[512];             /* notation; "baseline": nothing won, the original stays */
  double speedup;             /* the plan's over the default, median of pairs; 1 for baseline */
  double low, high;           /* bounds of the speedup at `confidence` */
  double confidence;          /* 0.99 */
  double before_us, after_us; /* medians */
  uint32_t tried;             /* plans looked at */
  int64_t when;               /* seconds since 1970 */
  char counters[1536];        /* JSON of the counters before and after, or "" */
} hd_verdict;

/* The kernel's part of a key: of a module's text and the kernel's name. */
HD_API void hd_verdict_kernel(const char *text, size_t len, const char *kernel, char out[HD_DIGEST_HEX]);
/* "grid=64x64x1 block=32x8x1 shared=0 args=<digest of their bytes>"; args may be NULL: a verdict for every
 * argument. */
HD_API void hd_verdict_launch(const uint32_t grid[3], const uint32_t block[3], uint32_t shared,
                              const void *args, size_t args_bytes, char out[192]);

/* path NULL: verdicts.db in hd_cache_folder(), HD_ERR_IO when there is none. A file that is no store, or one
 * of a later version, is HD_ERR_INPUT and left alone. */
HD_API hd_status hd_store_open(const char *path, hd_store **out, hd_diag *d);
HD_API void hd_store_close(hd_store *s);
/* Keep a verdict in place of an earlier one for the same key. */
HD_API hd_status hd_store_put(hd_store *s, const hd_verdict *v, hd_diag *d);
/* *found false: there is none. */
HD_API hd_status hd_store_get(hd_store *s, const hd_verdict_key *key, hd_verdict *out, bool *found,
                              hd_diag *d);

typedef struct hd_store_filter {
  const char *name, *gpu, *driver; /* GLOB patterns ("matmul*"); NULL: all */
  int64_t before;                  /* only verdicts older than this; 0: all */
} hd_store_filter;
/* Call fn for the verdicts that pass, by name, then newest first, until it returns false. */
HD_API hd_status hd_store_each(hd_store *s, const hd_store_filter *f,
                               bool (*fn)(void *ctx, const hd_verdict *v), void *ctx, hd_diag *d);
/* Drop those that pass; *dropped counts them. */
HD_API hd_status hd_store_prune(hd_store *s, const hd_store_filter *f, uint64_t *dropped, hd_diag *d);

/* All verdicts that pass as JSON, and back: {"heddle_verdicts": 1, "verdicts": [{...}]}. Import keeps the
 * newer of two for a key; nothing is imported from a file with any mistake. `name` is the text's, for
 * diagnostics. */
HD_API hd_status hd_store_export(hd_store *s, const hd_store_filter *f, hd_buf *out, hd_diag *d);
HD_API hd_status hd_store_import(hd_store *s, const char *text, size_t len, const char *name,
                                 uint64_t *imported, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
