/* heddle/store.h: the database of verdicts.
 *
 * A verdict is the result of tuning one kernel, launched one way, on one kind of GPU under one driver: the
 * plan that won, by how much, how surely, and the counters before and after. The store is an SQLite database
 * (write-ahead log), which many processes may use at once; rows that another program wrote into it are
 * checked like any other input.
 *
 * A plan's order may be a table computed from a trace. Such a table is kept beside the verdicts, under a name
 * computed from its entries, and is exported and imported with them.
 */
#ifndef HEDDLE_STORE_H
#define HEDDLE_STORE_H

#include "heddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_store hd_store;

/* The GPU and the driver of a prediction, which the store does not take: hd_optimized_predict. */
#define HD_VERDICT_ANY "any"

/* A verdict's key: it holds for launches with this key only. Texts are compared as they are. */
typedef struct hd_verdict_key {
  char kernel[HD_DIGEST_HEX]; /* hd_verdict_kernel */
  char launch[192];           /* hd_verdict_launch */
  char gpu[96];               /* the GPU's name and, where parts of it are hidden, its shape */
  char driver[32];
  char size[32]; /* the workload's size, by its name: equal launches may have different data. "": not known */
} hd_verdict_key;

/* What a verdict's interval is made of, and so what its confidence means. */
typedef enum hd_basis {
  HD_BASIS_UNKNOWN, /* made before this was kept */
  HD_BASIS_REPLAYS, /* a model's, which do not vary: the interval is a point */
  HD_BASIS_ROUNDS,  /* each a pair of times, of memory that stays where it is. What would differ in other
                       memory, or  with another content of L2, is not in the interval */
  HD_BASIS_PLACES,  /* each a pair of medians, with all buffers in other memory (hd_tune_places) */
  HD_BASIS_TRIALS,  /* rounds of one launch of a program, its memory put back before each */
  HD_BASIS_TURNS,   /* rounds of a program's own launches (heddle/turns.h) */
  HD_BASES
} hd_basis;

typedef struct hd_verdict {
  hd_verdict_key key;
  char name[192];             /* kernel or workload, for people */
  char plan[512];             /* notation; "baseline": nothing won, the original stays */
  double speedup;             /* the plan's over the default, median of pairs; 1 for baseline */
  double low, high;           /* bounds of the speedup at `confidence` */
  double confidence;          /* 0.99; 0: a prediction of a model, which nothing has measured */
  char basis[48];             /* what that is a confidence in: hd_verdict_basis; "": not known */
  double before_us, after_us; /* medians */
  uint32_t tried;             /* plans looked at */
  int64_t when;               /* seconds since 1970 */
  char assume[64]; /* words that the plan rests on, as hd_assume_text has them, and parameters whose memory
                      nothing writes: "no-waits,unwritten=1+3"; "": none */
  char counters[1536]; /* JSON of the counters before and after, or "" */
} hd_verdict;

/* "8 places in memory"; "" of HD_BASIS_UNKNOWN, or none at all. */
HD_OWN void hd_verdict_basis(hd_basis basis, uint32_t n, char out[48]);

/* ---- Keys: whoever keeps or looks up verdicts makes them here ---- */

/* The parts that say where: of a GPU by the driver's name for it, of a part of one (MIG) by its SMs too, and
 * cuDriverGetVersion's number ("13.0"). */
HD_OWN void hd_verdict_place(const char *gpu, uint32_t sms_of_part, uint32_t driver_version,
                             hd_verdict_key *key);
/* The kernel's part of a key: of a module's text and the kernel's name. */
HD_OWN void hd_verdict_kernel(const char *text, size_t len, const char *kernel, char out[HD_DIGEST_HEX]);
/* "grid=64x64x1 block=32x8x1 shared=0 args=<digest of their bytes>"; args may be NULL: a verdict for every
 * argument. */
HD_OWN void hd_verdict_launch(const uint32_t grid[3], const uint32_t block[3], uint32_t shared,
                              const void *args, size_t args_bytes, char out[192]);
/* Back, of a verdict for every argument; false: it is none. */
HD_OWN bool hd_verdict_launch_parse(const char *launch, uint32_t grid[3], uint32_t block[3],
                                    uint32_t *shared);
/* "triton grid=64x64x1": of a kernel whose key holds all else that is launched. */
HD_OWN void hd_verdict_grid(const uint32_t grid[3], char out[192]);

/* The tables of orders. A verdict's plan says "order=table:#NAME". */
#define HD_MOST_KEPT (UINT64_C(1) << 26) /* tasks of a table that can be kept */
/* A table's name: 32 hexadecimal digits. */
HD_OWN void hd_verdict_table(const uint32_t *task, uint64_t n, char out[HD_DIGEST_HEX]);
/* The name of the table that a plan's notation asks for; false: it asks for none. */
HD_OWN bool hd_verdict_table_of(const char *plan, char out[HD_DIGEST_HEX]);

/* path NULL: verdicts.db in hd_cache_folder(), HD_ERR_IO when there is none; ":memory:": a store of this
 * process that ends with it. A file that is no store, or one
 * of a later version, is HD_ERR_INPUT and left alone. HD_ERR_UNSUPPORTED on a network file system: machines
 * that write at once would tear it; each keeps its own, and imports put them together. */
HD_API hd_status hd_store_open(const char *path, hd_store **out, hd_diag *d);
/* The same for those who cannot wait 10 s for others that hold the store's lock: HD_ERR_IO after so many
 * milliseconds, in the open and in every later call. */
HD_OWN hd_status hd_store_open_within(const char *path, unsigned milliseconds, hd_store **out, hd_diag *d);
HD_API void hd_store_close(hd_store *s);
/* Keep a verdict in place of an earlier one for the same key. */
HD_OWN hd_status hd_store_put(hd_store *s, const hd_verdict *v, hd_diag *d);
/* The same with the table that its plan names, of n tasks. HD_ERR_REFUSED when that is no bijection. */
HD_OWN hd_status hd_store_put_table(hd_store *s, const hd_verdict *v, const uint32_t *task, uint64_t n,
                                    hd_diag *d);
/* *found false: there is none. A key without a size asks for the newest verdict of any; one with a size gets
 * that size's, else one whose size is not known. */
HD_OWN hd_status hd_store_get(hd_store *s, const hd_verdict_key *key, hd_verdict *out, bool *found,
                              hd_diag *d);

/* The table of that name, checked; *task is malloc'd. */
HD_OWN hd_status hd_store_get_table(hd_store *s, const char *name, uint32_t **task, uint64_t *n, bool *found,
                                    hd_diag *d);

typedef struct hd_store_filter {
  const char *name, *gpu, *driver; /* GLOB patterns ("matmul*"); NULL: all */
  int64_t before;                  /* only verdicts older than this; 0: all */
} hd_store_filter;
/* Call fn for the verdicts that pass, by name, then newest first, until it returns false. */
HD_API hd_status hd_store_each(hd_store *s, const hd_store_filter *f,
                               bool (*fn)(void *ctx, const hd_verdict *v), void *ctx, hd_diag *d);
/* Drop those that pass, and the tables that no other one names; *dropped counts verdicts. */
HD_OWN hd_status hd_store_prune(hd_store *s, const hd_store_filter *f, uint64_t *dropped, hd_diag *d);

/* All verdicts that pass as JSON, and back: {"heddle_verdicts": 4, "verdicts": [{...}], "tables": [{...}]},
 * with the tables that they name (packed, in base 64); version 1 had neither tables nor sizes, version 2
 * nothing assumed, version 3 no basis. Of two for a key import keeps the one with more evidence: a confirmed
 * win before none found, then the tighter interval, then the newer; in whatever order files are imported, the
 * store is the same. Nothing is imported from a file with any mistake:
 * a table that is no bijection, is another than its name says, does not fit its verdict's grid or is missing,
 * a plan that names a file. `name` is the text's, for diagnostics. Predictions are taken by a store of this
 * process (":memory:") alone: HD_ERR_REFUSED. */
HD_API hd_status hd_store_export(hd_store *s, const hd_store_filter *f, hd_buf *out, hd_diag *d);
HD_OWN hd_status hd_store_import(hd_store *s, const char *text, size_t len, const char *name,
                                 uint64_t *imported, hd_diag *d);
HD_API hd_status hd_store_import_file(hd_store *s, const char *path, uint64_t *imported, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
