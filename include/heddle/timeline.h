/* heddle/timeline.h: what a replay by a clock did: each CTA on its SM, hits and misses over time, and what
 * each instruction asked of memory.
 *
 * Memory is bounded. CTAs are those of every SM until there are too many; then every other SM is left out,
 * again and again, so that of an SM that is shown all is shown. Bins double their length where the replay
 * takes longer. */
#ifndef HEDDLE_TIMELINE_H
#define HEDDLE_TIMELINE_H

#include "heddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  HD_TIMELINE_CTAS = 1 << 17, /* hd_timeline.most, if it is 0 */
  HD_TIMELINE_BINS = 256,
  HD_TIMELINE_EPOCH = 512, /* cycles: no epoch of the model is longer, nor is a bin shorter */
};

/* A CTA's stay on an SM, in cycles from the replay's start. Of agents: of one of their tasks. */
typedef struct hd_timeline_cta {
  uint64_t task;       /* of the original's grid, x first */
  uint64_t start, end; /* from when it takes its place to when its last warp has ended */
  uint32_t sm, slot;   /* slot: its place on the SM, which one CTA has at a time */
} hd_timeline_cta;

/* What the SMs and L2 served in the model's epochs that ended in a stretch of bin_cycles: all SMs, also those
 * that are left out. The units are hd_counters'. */
typedef struct hd_timeline_bin {
  uint64_t l1_sectors, l1_hits, l2_sectors, l2_hits;
  uint64_t dram_bytes; /* read, and written back until then */
} hd_timeline_bin;

/* An instruction that accesses global memory. */
typedef struct hd_timeline_access {
  uint32_t inst;     /* as hd_trace_event has it; HD_TRACE_CALLED: all of called functions together */
  uint64_t accesses; /* of warps */
  uint64_t l1_sectors, l1_hits, l2_sectors, l2_hits;
  uint64_t waited;    /* cycles of warps, for its data */
  uint64_t throttled; /* cycles of warps, until it was taken: for the pipeline, MSHRs, L1, queues */
} hd_timeline_access;

/* Zero, but for `most`, before a replay fills it in first; hd_timeline_free afterwards. */
typedef struct hd_timeline {
  uint64_t most; /* CTAs to keep; 0: HD_TIMELINE_CTAS */
  /* Filled in: */
  hd_timeline_cta *ctas;   /* those kept, in the order in which they took their places */
  uint64_t n, ran;         /* how many; and how many ran on all SMs */
  uint64_t first, tasks;   /* places of the order that were replayed: first .. first + tasks - 1 */
  uint32_t n_sms, sm_step; /* CTAs of SMs 0, sm_step, 2 sm_step, ... are kept, all of them */
  uint64_t kept_until;     /* unless of one SM alone there were too many: cycle of its first that is not; 0 */
  uint32_t slots;          /* places on an SM */
  uint64_t cycles;         /* until the last CTA's end */
  double clock_mhz;
  uint32_t n_bins;
  uint64_t bin_cycles;
  hd_timeline_bin bins[HD_TIMELINE_BINS];
  hd_timeline_access *accesses; /* by inst */
  uint32_t n_accesses;
  /* Of hd_study_timeline (predict.h): */
  uint64_t cut_after; /* instructions after which each warp ended, in a sample; 0: at its own end */
  bool other_text;    /* instructions are those of the kernel under the plan, not of the original */
} hd_timeline;

HD_OWN void hd_timeline_free(hd_timeline *t);

#ifdef __cplusplus
}
#endif
#endif
