/* tune/tuner.h: the parts of tuning. The search is search.h's.
 *
 * units.c          the units that are tuned by themselves
 * device_bench.c   plans measured on a device
 * vote.c           the SMs' votes on a threshold of bypassing, and on the number of agents
 * model_bench.c    plans predicted by replays
 * tuner.c          all of it for a workload: tuning.h has the parts
 */
#ifndef HEDDLE_TUNE_TUNER_H
#define HEDDLE_TUNE_TUNER_H

#include "contest/search.h"
#include "heddle/tuner.h"
#include "launch/placement.h"

/* ---- Devices --------------------------------------------------------------------------- */

/* A workload on a device, under sets of plans. */
typedef struct device_bench device_bench;
/* until: hd_seconds at which its clock says that all time is over; 0: never. */
hd_status device_bench_open(hd_device *dev, const hd_workload *w, const hd_tune_options *o, double until,
                            device_bench **out, hd_diag *d);
void device_bench_close(device_bench *b); /* NULL is fine */
/* The seconds spent on loading, checking and timing so far. */
void device_bench_spent(const device_bench *b, hd_tune_seconds *out);
/* From now on times are those from the kernel's first launch to its last (NULL: of all launches). */
void device_bench_watch(device_bench *b, const char *kernel);
tuner_bench device_bench_interface(device_bench *b);
/* Run the original and the workload under those plans once more, and compare all buffers: byte for byte, but
 * for those that floating-point atomics add to, which are held to their tolerances. HD_ERR_REFUSED names the
 * first difference. */
hd_status device_bench_prove(device_bench *b, const hd_plan_set *plans, uint64_t *bytes, hd_diag *d);
/* Run the watched kernel `runs` times under a voting plan. ctas[HD_BALLOT_SMS] counts the CTAs, or tasks,
 * that each SM did; *most is the greatest number that is tried (hd_study_vote). `launch` is one of its
 * launches. */
hd_status device_bench_ballot(device_bench *b, const hd_plan *p, uint32_t launch, uint32_t runs,
                              uint32_t *ctas, uint32_t *most, hd_diag *d);
hd_status device_bench_resident(device_bench *b, uint32_t launch, uint32_t *resident, hd_diag *d);
hd_status device_bench_count(device_bench *b, uint32_t slot, hd_counters *out, bool *have, char *why,
                             size_t cap, hd_diag *d);

/* ---- Units --------------------------------------------------------------------------------- */

/* A unit that is tuned by itself. */
typedef struct tuner_unit {
  const char *kernel; /* NULL: all of them, under one plan */
  uint32_t launch;    /* the one with most threads */
  double us;          /* of the original */
  double seconds;     /* that one run of it takes, with all there is around it */
  double share;       /* of the budget; 0: it takes less than TUNER_LEAST_SHARE of the workload's time */
} tuner_unit;
/* Kernels with a smaller share are left alone: their gain would not show. */
#define TUNER_LEAST_SHARE 0.02

uint64_t tuner_threads(const hd_wl_launch *l);
/* The workload's kernels in the order of their first launches, or one unit for all of them; returns how many.
 * `out` has room for one per launch. */
uint32_t tuner_list_units(const hd_workload *w, bool whole, tuner_unit *out);
hd_status tuner_time_unit(device_bench *b, tuner_unit *u, hd_diag *d);
void tuner_share_out(tuner_unit *u, uint32_t n);
/* Unit i's part of the budget `all`: the time of its test, plus its share of the rest. At least half of the
 * budget is shared out. */
double tuner_unit_budget(const tuner_unit *u, uint32_t n, uint32_t i, const tuner_bench *b, double confidence,
                         double all);

/* ---- The vote ------------------------------------------------------------------------------ */

/* Count the votes on numbers up to `most`: of agents, or of warps. */
void vote_count(const uint32_t *ctas, uint32_t n_sms, bool agents, uint32_t most, hd_tune_vote *out);
/* Take the vote under p, bypass=auto or a plan with bind=agents:auto, on the watched kernel; out->why says
 * why there is none. */
void vote_take(device_bench *b, const hd_plan_space *s, const hd_plan *p, uint32_t launch, hd_tune_vote *out);
/* Single CTAs instead, on a model, by a clock. */
void vote_sample(const hd_study *study, const hd_gpu *g, const hd_plan_space *s, uint32_t launch,
                 hd_tune_vote *out);
/* The vote in replays on a model, by a clock. */
void vote_on_model(const hd_study *study, const hd_gpu *g, const hd_plan_space *s, const hd_plan *p,
                   uint32_t launch, hd_tune_vote *out);

/* ---- Models --------------------------------------------------------------------------------- */

typedef struct model_bench model_bench;
hd_status model_bench_open(hd_study *s, const hd_gpu *g, const hd_workload *w, const hd_run_options *run,
                           const hd_study_options *how, model_bench **out, hd_diag *d);
void model_bench_close(model_bench *b);
tuner_bench model_bench_interface(model_bench *b);
const hd_counters *model_bench_counters(const model_bench *b, uint32_t slot);

#endif
