/* heddle/timelines.h: timelines of a launch under plans, for a page and for viewers of traces. */
#ifndef HEDDLE_TIMELINES_H
#define HEDDLE_TIMELINES_H

#include "heddle/predict.h"
#include "heddle/sharing.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  HD_TIMELINES = 2,
  HD_TIMELINES_PAGE = 2048, /* CTAs of each plan that a page can draw */
  HD_TIMELINES_FILE = 1 << 16
};

/* The workload's busiest launch, under one plan or two. */
typedef struct hd_timelines {
  const hd_workload *workload;
  const hd_gpu *gpu;
  uint32_t launch;
  uint32_t n;
  hd_plan plans[HD_TIMELINES];
  hd_timeline at[HD_TIMELINES];
  uint64_t *tasks; /* of all their CTAs, in ascending order, each once */
  uint32_t n_tasks;
  const hd_reuse_array *arrays; /* of the study, which outlives this */
  uint32_t n_arrays;
  hd_colouring *colours; /* of the tasks, as hd_sharing_colour has them */
} hd_timelines;

/* Replays the launch under each of n plans, with up to `most` CTAs of each. HD_ERR_UNSUPPORTED: the study has
 * no clock. *out is to be freed on HD_OK. */
HD_OWN hd_status hd_timelines_make(const hd_study *s, const hd_workload *w, const hd_gpu *g,
                                   hd_dispatch_kind dispatch, uint64_t seed, const hd_plan *plans, uint32_t n,
                                   uint64_t most, hd_timelines *out, hd_diag *d);
HD_OWN void hd_timelines_free(hd_timelines *t);
/* The group of a CTA's task by the first of `colours`; HD_NO_COLOUR: it has none. */
HD_OWN uint8_t hd_timelines_group(const hd_timelines *t, const hd_colouring *c, uint64_t task);

/* A file in the trace event format, which Perfetto and speedscope open: a process for each plan, a thread for
 * each place on an SM, a complete event (ph "X") for each CTA, counters (ph "C") for hit rates and DRAM
 * traffic of each bin. Times are in microseconds of the modelled GPU. What is left out stands in otherData.
 */
HD_OWN void hd_timelines_trace(const hd_timelines *t, hd_buf *out);

/* Makes the timelines, with up to HD_TIMELINES_FILE CTAs of each plan, and writes such a file. */
HD_OWN hd_status hd_timelines_write(const hd_study *s, const hd_workload *w, const hd_gpu *g,
                                    hd_dispatch_kind dispatch, uint64_t seed, const hd_plan *plans,
                                    uint32_t n, const char *path, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
