/* heddle/reuse.h: reuse of data inside and between CTAs, measured on traces, and orders made from it.
 *
 * shares     how much of a launch's reuse stays in a warp, in a CTA, or crosses CTAs (CLU 3.2, figure 3)
 * distances  how far apart reuses are, in distinct lines
 * loads      the part of each load's requests whose data is requested again
 * group      how many warps that run together find their data again in L1 (MAP 3)
 * affinity   how much of its data each pair of CTAs shares (SMC 5.2), and an order that keeps sharers
 * together
 *
 * Nothing here depends on a cache or on where CTAs run: shares are the same for every
 * schedule, distances are those of one stated order.
 */
#ifndef HEDDLE_REUSE_H
#define HEDDLE_REUSE_H

#include "heddle/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A named part of memory, in the trace's addresses (hd_trace_event). */
typedef struct hd_reuse_array {
  const char *name; /* not copied */
  uint64_t start, bytes;
} hd_reuse_array;

/* ---- Shares and distances -------------------------------------------------------- */

/* Requests of one granularity: one for each granule that a warp's access names. A request is
 *
 *   cold        the first of its granule in the launch
 *   intra_warp  its warp has named the granule before
 *   intra_cta   not its warp, but its CTA has
 *   inter_cta   its CTA has not, but another one has: with K CTAs that name a granule, K - 1
 *
 * so that the three kinds of reuse and the cold ones are all requests. */
typedef struct hd_reuse_shares {
  uint64_t requests, cold, intra_warp, intra_cta, inter_cta;
} hd_reuse_shares;

/* Part of all reuse that crosses CTAs, 0 when there is none. */
static inline double hd_reuse_inter(const hd_reuse_shares *s) {
  uint64_t reuse = s->requests - s->cold;
  return reuse ? (double)s->inter_cta / (double)reuse : 0;
}

enum {
  HD_REUSE_BUCKETS = 33, /* [0]: distance 0; [k]: 2^(k-1) to 2^k - 1 distinct lines between two requests */
};

typedef struct hd_reuse_row {
  hd_reuse_shares lines; /* granule: a line */
  hd_reuse_shares
      words; /* granule: 4 bytes. Reuse of lines without reuse of words is CLU's cache-line locality */
  uint64_t load_requests, store_requests, atomic_requests; /* of lines */
  uint64_t distinct_lines;
  uint64_t shared_lines;                     /* of these, named by more than one CTA */
  uint64_t written_shared_lines;             /* of these, written by one CTA and named by another */
  uint64_t inter_distance[HD_REUSE_BUCKETS]; /* inter-CTA reuses of lines, by distance */
  uint64_t intra_distance[HD_REUSE_BUCKETS]; /* the others */
} hd_reuse_row;

typedef struct hd_reuse_spread { /* over the tasks of one launch, or of several that were added up */
  uint64_t tasks;
  uint64_t least, median, most;
  uint64_t median_tasks; /* tasks of the launch that the median is taken of */
  double mean;
} hd_reuse_spread;

typedef struct hd_reuse {
  hd_reuse_row all;
  hd_reuse_row *arrays;      /* per array, and one more for what lies in none */
  uint32_t n_arrays;         /* without that one */
  hd_reuse_spread footprint; /* distinct lines that a task names */
  hd_reuse_spread work;      /* warp instructions of a task */
  double sampled; /* part of the lines whose distances were measured; counts are scaled by 1 / sampled */
} hd_reuse;

typedef struct hd_reuse_options {
  uint32_t line;            /* bytes, a power of two from 32 to 256; 128 when 0 */
  const hd_table *order;    /* the tasks' order for distances, one after the other; NULL: by number */
  uint64_t distance_budget; /* line requests whose distances are measured, about; 0: 4 million. Of longer
                               traces a sample of the lines is followed */
} hd_reuse_options;

/* arrays may be NULL when n is 0; they must not overlap. *out is freed by hd_reuse_free; on failure it
 * needs no freeing. */
HD_OWN hd_status hd_reuse_measure(const hd_trace *t, const hd_reuse_array *arrays, uint32_t n,
                                  const hd_reuse_options *o, hd_reuse *out, hd_diag *d);
HD_OWN void hd_reuse_free(hd_reuse *r);
/* Add the counts of another launch with the same arrays. Least, most and mean are then those of all tasks
 * together; the median is that of the launch with the most tasks, of equal ones the first. */
HD_OWN void hd_reuse_add(hd_reuse *sum, const hd_reuse *r);

/* ---- Loads ------------------------------------------------------------------------- */

/* Requests of one load of the kernel, in sectors of 32 bytes, the least that any GPU fetches: one request for
 * each sector that an access of a warp names. `reused` counts the requests that a cache could serve: this or
 * another load of any CTA requests the sector too, before or after, or the launch stored into it before
 * loading it. Atomics go past the caches and do not count. */
typedef struct hd_load_reuse {
  uint32_t inst; /* hd_trace_event.inst */
  uint64_t requests, reused;
} hd_load_reuse;

typedef struct hd_load_reuses {
  hd_load_reuse *loads; /* by inst, increasing; those that called functions make are left out */
  uint32_t n;
} hd_load_reuses;

/* Add a launch's counts to those of others of the same kernel; *sum begins as zero. In launches with more
 * than `budget` (0: 4 million) distinct sectors, a sample of them is followed. The caller frees *sum, after a
 * failure too. */
HD_OWN hd_status hd_reuse_add_loads(const hd_trace *t, uint64_t budget, hd_load_reuses *sum, hd_diag *d);
HD_OWN void hd_load_reuses_free(hd_load_reuses *r);

/* ---- Groups of warps (MAP 3) --------------------------------------------------------- */

/* How many warps of an SM may load at once so that L1 holds what each will load again: MAP's groups of high
 * priority, from a launch's loads where its algorithm 2 has the code's loops. tasks[n]: those of one SM, in
 * the order in which it runs them, as many as run at once; up to 64 warps of them are followed. A warp needs
 * as many lines as lie between nine tenths of its loads of a line and their repetitions, those repeated at
 * all within `lines`, which is L1's number of lines; the group is the first warps that need no more than
 * `lines` together, lines that several need counted once. *out: their number, 0: all of the warps, because L1
 * is large enough or because they load few lines (under 5% of requests) again. */
HD_OWN hd_status hd_reuse_warp_group(const hd_trace *t, const uint64_t *tasks, uint32_t n, uint64_t lines,
                                     uint32_t *out, hd_diag *d);

/* ---- Affinity (SMC 5.2) ------------------------------------------------------------ */

/* An undirected graph: vertices are tasks, an edge's weight is their affinity
 * |A and B| / |A or B| (Jaccard) of the sets of data blocks that they name. Both directions are
 * stored, neighbours ascending. */
typedef struct hd_affinity {
  uint32_t n;
  uint64_t *first;  /* [n + 1] */
  uint32_t *to;     /* [first[n]] */
  uint16_t *weight; /* affinity * 65535, at least 1 */
  uint64_t blocks;  /* distinct data blocks */
  uint64_t popular; /* of these, left out because too many tasks name them */
  double sampled;   /* part of the blocks that the sets are made of */
} hd_affinity;

typedef struct hd_affinity_options {
  uint32_t block;          /* bytes of a data block, a power of two from 32 to 1 MB; 128 when 0 */
  double threshold;        /* no edge below; 0.05 (the paper's) when 0 */
  uint32_t max_neighbours; /* strongest edges kept per task; 64 when 0 */
  uint32_t max_sharers;    /* blocks that more tasks name bind nothing together; 1024 when 0 */
  uint64_t budget;  /* (task, block) pairs kept; 0: 16 million. Beyond, a sample of the blocks is followed */
  unsigned threads; /* 0: all */
} hd_affinity_options;

/* Tasks are those of the trace; at most 2^31. */
HD_OWN hd_status hd_affinity_build(const hd_trace *t, const hd_affinity_options *o, hd_affinity *out,
                                   hd_diag *d);
HD_OWN void hd_affinity_free(hd_affinity *a);
/* The graph in the DOT language, at most `edges` of its heaviest edges (0: all). */
HD_OWN void hd_affinity_dot(const hd_affinity *a, uint64_t edges, hd_buf *out);
/* The same of a trace's. */
HD_OWN hd_status hd_affinity_print(const hd_trace *t, uint64_t edges, hd_buf *out, hd_diag *d);

/* Put the tasks in a line: the next one is always the task that shares most with the last `window` (0: 64)
 * ones, of equals the one with the lowest number. out->task is allocated. */
HD_OWN hd_status hd_affinity_order(const hd_affinity *a, uint32_t window, hd_table *out, hd_diag *d);

/* Tasks by their work (warp instructions), most first; of equal ones the lower number. */
HD_OWN hd_status hd_reuse_heavy_first(const hd_trace *t, hd_table *out, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
