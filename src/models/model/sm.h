/* model/sm.h: one SM: its L1, its resident CTAs, and the accesses of their warps. Whose access is next is the
 * business of clock.h, and of interleave.h without a clock.
 *
 * L1. A miss takes its line at once; until the data is there, further accesses of the line
 * are hits that wait for it (hit-reserved). Lines in flight are not evicted: when a set has no
 * other, the access, and with it the SM, waits for one to arrive.
 *
 * MSHRs. Each line that a load asks L2 for takes one, whether the load goes through L1 or past it, and gives
 * it back when its data is there. Hits take none, nor do a line that is on its way already and loads through
 * the read-only cache. A load that finds too few does with those lines that get one, and asks again for the
 * others as soon as one is free. Other warps' accesses go on meanwhile, so that hits pass a miss that waits.
 */
#ifndef HEDDLE_MODEL_SM_H
#define HEDDLE_MODEL_SM_H

#include "model/ccws.h"
#include "model/memory.h"
#include "model/trace.h"

enum { SM_MAX_WARPS = 64, SM_MAX_CTAS = 64, SM_MAX_MSHRS = 1024 };
#define SM_NEVER UINT64_MAX

typedef struct model_sm_warp {
  model_stream_reader reader;
  model_stream_event next;
  uint64_t loaded;     /* cycle when all outstanding loads have arrived */
  uint64_t partly;     /* when the data of the lines before `done` is there */
  uint16_t done;       /* lines of its access that found an MSHR, if the others did not */
  uint8_t outstanding; /* loads issued and not waited for: 0 to 2 */
  uint8_t load_slot;   /* of the first of them */
  uint8_t cta;
  bool ended;
} model_sm_warp;

typedef struct model_sm_cta {
  uint64_t released; /* latest arrival at the barrier */
  uint32_t live, waiting;
  uint32_t gap;   /* instructions from access to access, of one warp: cycles */
  uint32_t issue; /* their part of the SM's issue slots: 1/256 cycles */
} model_sm_cta;

typedef struct model_watch model_watch;
typedef struct model_sm {
  uint32_t number;
  const hd_gpu *gpu;
  model_memory *mem;
  const hd_trace *trace;
  model_cache l1;
  model_cache readonly; /* sets 0: .nc loads go through L1 */
  hd_bypass threshold;  /* the register's (BYP 6.2) */
  uint32_t l1_unit;     /* 32-byte sectors per L1 sector */
  uint32_t warps_per_cta, n_ctas;
  uint64_t now;                           /* the next access issues no sooner */
  uint64_t wake;                          /* no sooner than this either; SM_NEVER: nothing to do */
  uint32_t issue_debt;                    /* 1/256 cycles */
  uint32_t last;                          /* warp that issued last */
  uint32_t by_age[SM_MAX_CTAS], n_by_age; /* CTAs, the oldest first */
  uint64_t ready[SM_MAX_WARPS];
  model_sm_warp warps[SM_MAX_WARPS];
  model_sm_cta ctas[SM_MAX_CTAS];
  model_stream_slot *slots;    /* [warps][slots_per_warp] */
  uint32_t slots_per_warp;     /* as many as the trace needs: together they stay in the host's cache */
  uint64_t mshr[SM_MAX_MSHRS]; /* cycle when each that was taken is free, as a heap; some are by now */
  uint32_t n_mshr;
  model_watch *watch; /* with a clock: fills a timeline; NULL: none is wanted */
  model_ccws *ccws;   /* its victim tags; NULL: another scheduler */
  uint32_t asking;    /* the warp whose access is under way */
  uint32_t missing;   /* lines that L1 does not have of that access, or has no part in */
  uint32_t line_base; /* added to its lines: other launches' data lies elsewhere */
  uint64_t l1_sectors, l1_hits;
  hd_counters counted;     /* what else it counts; collected as it is */
  double l1_cycles;        /* that L1 was busy */
  double port, store_port; /* cycles at which the ways from L2 to this SM, and back, are free */
  double stores_end;       /* at which the last of its stores has come to L2 */
} model_sm;

/* CTAs that ended in an epoch. */
typedef struct model_sm_retired {
  uint64_t cycle;
  uint32_t sm, cta;
  uint32_t rank; /* how many of this SM's ended before it */
} model_sm_retired;

/* `l1` gives the geometry, `store` and `ranks` are its memory; `slots` is room for STREAM_SLOTS a warp. */
void model_sm_init(model_sm *s, uint32_t number, const hd_gpu *g, model_memory *mem, const model_cache *l1,
                   model_set *store, model_ranks *ranks, model_stream_slot *slots);
/* Counters to zero, no CTAs, a trace to replay; L1 is empty. */
void model_sm_reset(model_sm *s, const hd_trace *t, uint32_t n_ctas);
/* A task takes CTA place `cta`, its warps have their first events; it leaves
 * that place; a warp makes the access of its event at *cycle, which moves on while L1 waits, and gets its
 * next event. Returns when the data is there, or a store taken; *busy: cycles that it keeps L1 busy. *again,
 * unless 0: it lacked MSHRs, its event stays the same, and no sooner than then it makes the rest of the
 * access.
 */
void model_sm_open(model_sm *s, uint32_t cta, uint64_t task);
void model_sm_close(model_sm *s, uint32_t cta);
uint64_t model_sm_access(model_sm *s, uint32_t warp, uint64_t *cycle, double *busy, uint64_t *again);

/* Accesses from `begin` until `limit` follow. */
void model_sm_begin_epoch(model_sm *s, uint64_t begin, uint64_t limit);

#endif
