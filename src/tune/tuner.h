/* tune/tuner.h: the parts of tuning.
 *
 * space.c          what a kernel's launch leaves to try
 * neighbours.c     plans one step from a good one
 * units.c          what is tuned by itself
 * search.c         which of them are measured how often, and whether the best one is adopted
 * confirm.c        a plan against the original wherever buffers may lie
 * tuner_device.c   plans measured on a device
 * tuner_vote.c     the SMs' vote on a threshold of bypassing
 * tuner_model.c    plans predicted by replays
 * tuner.c          all of it for a workload, kernel by kernel
 * tuner_verdict.c  to and from the store
 * tuner_apply.c    launch paths
 */
#ifndef HEDDLE_TUNE_TUNER_H
#define HEDDLE_TUNE_TUNER_H

#include "heddle/tuner.h"
#include "launch/placement.h"

/* ---- Space ------------------------------------------------------------------------ */

enum { TUNER_NEIGHBOURS = 40 };

/* The kernel of launch `launch`, in a parsed module that holds it. */
hd_status hd_plan_space_of(const hd_ptx_module *m, const hd_workload *w, uint32_t launch, hd_plan_space *out,
                           hd_diag *d);

typedef struct search_trial search_trial;
/* The status of making a plan ready: a table's file that cannot be read is the plan's fault, not the
 * device's. */
hd_status tuner_blame(hd_status st, const hd_plan *p);
/* Plans one step from trials[at]: its numbers halved, doubled, between (SMC 5.1), its threshold of bypassing
 * anywhere, for what thresholds gain has several hills; its levers together with those of the best trial of
 * each family that was faster than the original, and with bindings or orders of any speed.
 * Returns how many, at most TUNER_NEIGHBOURS; they share what the trials' plans own, and some may be among
 * the trials already. */
size_t tuner_neighbours(const hd_plan_space *s, const search_trial *trials, size_t n, size_t at,
                        hd_plan *out);

/* ---- Search -------------------------------------------------------------------------- */

/* Where plans are measured. */
typedef struct tuner_bench {
  void *ctx;
  /* Make a plan ready (the baseline too: another copy of the original) and take one rough time.
   * HD_ERR_REFUSED, HD_ERR_UNSUPPORTED, HD_ERR_USAGE, HD_ERR_INPUT and HD_ERR_NOMEM are the plan's own
   * business, anything else is the end. */
  hd_status (*admit)(void *ctx, const hd_plan *p, uint32_t *slot, double *us, hd_diag *d);
  void (*release)(void *ctx, uint32_t slot);
  /* Rounds in which every slot runs once: us[i * rounds + r], after `warmups` rounds that do not count. */
  hd_status (*time)(void *ctx, const uint32_t *slots, size_t n, uint32_t warmups, uint32_t rounds, double *us,
                    hd_diag *d);
  double (*clock)(void *ctx); /* seconds */
  bool exact;                 /* times do not vary: one round says all */
  /* Put what the slots work on elsewhere, strewn or in a piece (once strewn, always, until settle); NULL: it
   * lies nowhere. *part gets how much of it that was. */
  hd_status (*move)(void *ctx, bool strewn, double *part, hd_diag *d);
  void (*settle)(void *ctx); /* there will be no more moves for a while */
  double moving;             /* seconds that a move takes, about */
} tuner_bench;

struct search_trial {
  hd_plan plan; /* owned by the search */
  uint32_t family;
  hd_status status;
  char why[200];
  uint32_t slot;
  bool ready;     /* slot is held */
  double *ratios; /* of the original's time to the plan's, by pairs */
  uint32_t n, cap;
  double score; /* their median; 0: never measured */
};

/* A plan against the original. */
typedef struct search_test {
  hd_speedup speedup;
  double before_us, after_us; /* medians */
  hd_tune_places places;
} search_test;

typedef struct search_options {
  double budget, confidence;
  uint32_t batch; /* plans that are screened together; 8 when 0 */
  void (*progress)(void *ctx, const char *stage, size_t done, size_t n);
  void *progress_ctx;
} search_options;

typedef struct search {
  const tuner_bench *bench;
  const hd_plan_space *space;
  search_options o;
  HD_VEC(hd_candidate) waiting; /* not tried so far; their plans are owned by the search */
  HD_VEC(search_trial) trials;
  uint32_t original; /* slot */
  double original_us;
  double start, second; /* clock when it began; seconds of the clock that one run takes */
  size_t runs;          /* so far */
  int64_t best;         /* trial; -1: none was promising */
  bool unaffordable;    /* a run takes so long that nothing was tried */
  bool adopted;         /* the best one's speedup is above 1 for sure */
  search_test tested;   /* the best, measured afresh */
} search;

/* Search and decide. The candidates' plans are taken over: what they own is freed by search_free, on failure
 * too. */
hd_status tuner_search(search *s, const tuner_bench *b, const hd_plan_space *space, const hd_candidate *list,
                       size_t n, const search_options *o, hd_diag *d);
void search_free(search *s);
/* Measure a plan against the original, both made ready anew in each of two halves. */
hd_status search_compare(const tuner_bench *b, const hd_plan *p, uint32_t rounds, double confidence,
                         hd_speedup *speedup, double *before_us, double *after_us, hd_diag *d);
/* Rounds of that comparison of runs that take so long which fit into so many seconds: at least those that
 * tell something, at most `most`. */
uint32_t search_rounds(double us, double seconds, uint32_t most);

/* ---- Places ------------------------------------------------------------------------------ */

/* How a plan is tested in other places (hd_tune_places); benches that cannot move have none. */
typedef struct confirm_options {
  double confidence;
  double least;    /* a speedup at or below it in any place ends the test */
  uint32_t rounds; /* in each place */
  bool slow;       /* a run takes so long that neither warm-ups nor loading anew are worth it */
} confirm_options;

/* Places that the confidence needs, at least 1. */
uint32_t confirm_places(double confidence);
/* The rounds, and whether slow, for so many seconds, when a run takes `second` of them. */
void confirm_afford(const tuner_bench *b, double second, double seconds, confirm_options *o);
/* What the least of them takes, in seconds. */
double confirm_takes(const tuner_bench *b, double second, double confidence);
/* out->places.n says how far it came: with fewer than confirm_places the interval is 0 to infinity. */
hd_status search_confirm(const tuner_bench *b, const hd_plan *p, const confirm_options *o, search_test *out,
                         hd_diag *d);

/* ---- Devices --------------------------------------------------------------------------- */

/* A workload's kernel (NULL: all of them) on a device, under `fixed` plans of other kernels. */
typedef struct device_bench device_bench;
hd_status device_bench_open(hd_device *dev, const hd_workload *w, const hd_tune_options *o,
                            device_bench **out, hd_diag *d);
void device_bench_close(device_bench *b); /* NULL is fine */
/* What went into loading, checking and timing so far. */
void device_bench_spent(const device_bench *b, hd_tune_seconds *out);
/* From now on plans are those of that kernel (NULL: of all), and times are those from its first launch to its
 * last; `fixed` plans of other kernels hold meanwhile, in place of them in the original too. */
void device_bench_focus(device_bench *b, const char *kernel, const hd_kernel_plan *fixed, size_t n_fixed);
/* From now on any plan but the baseline stands for `fixed` plans of single kernels, and times are those of
 * all launches. */
void device_bench_together(device_bench *b, const hd_kernel_plan *fixed, size_t n_fixed);
tuner_bench device_bench_interface(device_bench *b);
/* search_compare of the whole workload under those plans and under none. */
hd_status device_bench_compare(device_bench *b, const hd_kernel_plan *plans, size_t n, uint32_t rounds,
                               double confidence, hd_speedup *speedup, double *before_us, double *after_us,
                               hd_diag *d);
/* search_confirm of them, in about so many seconds beside its moves when the whole takes so many
 * microseconds. */
hd_status device_bench_confirm(device_bench *b, const hd_kernel_plan *plans, size_t n, double us,
                               double seconds, double confidence, double least, search_test *out, hd_diag *d);
/* Run the kernel in focus under bypass=auto so many times: ctas[HD_BALLOT_SMS] gets the CTAs of each SM.
 * `launch` is one of its launches. */
hd_status device_bench_ballot(device_bench *b, uint32_t launch, uint32_t runs, uint32_t *ctas, hd_diag *d);
hd_status device_bench_resident(device_bench *b, uint32_t launch, uint32_t *resident, hd_diag *d);
hd_status device_bench_count(device_bench *b, uint32_t slot, hd_counters *out, bool *have, char *why,
                             size_t cap, hd_diag *d);

/* ---- Units --------------------------------------------------------------------------------- */

/* What is tuned by itself. */
typedef struct tuner_unit {
  const char *kernel; /* NULL: all of them, under one plan */
  uint32_t launch;    /* the one with most threads */
  double us;          /* of the original */
  double share;       /* of the budget; 0: it takes less than TUNER_LEAST_SHARE of the workload's time */
} tuner_unit;
/* Kernels that take less are left alone: nobody would notice. */
#define TUNER_LEAST_SHARE 0.02

uint64_t tuner_threads(const hd_wl_launch *l);
/* The workload's kernels in the order of their first launches, or one unit for all of them; returns how many.
 * `out` has room for one per launch. */
uint32_t tuner_list_units(const hd_workload *w, bool whole, tuner_unit *out);
hd_status tuner_time_unit(device_bench *b, tuner_unit *u, hd_diag *d);
void tuner_share_out(tuner_unit *u, uint32_t n);

/* ---- The vote ------------------------------------------------------------------------------ */

/* Count the votes of CTAs that use `warps` warps. */
void vote_count(const uint32_t *ctas, uint32_t n_sms, uint32_t warps, hd_tune_vote *out);
/* Take it on the kernel in focus; out->why says why there is none. */
void vote_take(device_bench *b, const hd_plan_space *s, uint32_t launch, hd_tune_vote *out);

/* ---- Models --------------------------------------------------------------------------------- */

typedef struct model_bench model_bench;
hd_status model_bench_open(hd_study *s, const hd_gpu *g, const hd_workload *w, const hd_run_options *run,
                           model_bench **out, hd_diag *d);
void model_bench_close(model_bench *b);
tuner_bench model_bench_interface(model_bench *b);
const hd_counters *model_bench_counters(const model_bench *b, uint32_t slot);

#endif
