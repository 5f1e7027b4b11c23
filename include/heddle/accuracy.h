/* heddle/accuracy.h: how far the model is from a GPU's own counters, and from its times.
 *
 * Both count the workload's original kernels, beginning with an L2 that holds nothing of the workload: the
 * model by a replay through hd_gpu's caches, the device by its hardware counters. Times are compared for the
 * original and for plans: a choice among plans needs a model that ranks them as the device does.
 */
#ifndef HEDDLE_ACCURACY_H
#define HEDDLE_ACCURACY_H

#include "heddle/predict.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_accuracy_row {
  hd_status status; /* HD_OK: both are there */
  char why[256];    /* else why not */
  hd_counters model, device;
} hd_accuracy_row;

/* The model's counters of all the workload's launches: one trace, one replay as the GPU dispatches. */
HD_OWN hd_status hd_accuracy_model(const hd_workload *w, const hd_gpu *g, const hd_run_options *o, bool timed,
                                   hd_counters *out, hd_diag *d);
/* The device's. HD_ERR_UNSUPPORTED, with the reason, if it counts nothing. */
HD_OWN hd_status hd_accuracy_device(hd_device *dev, const hd_workload *w, const hd_run_options *o,
                                    hd_counters *out, hd_diag *d);

/* The counters that are compared. DRAM writes are not: sectors that are dirty when a kernel ends stay in the
 * GPU's L2, and sectors that were dirty before are written while it runs. */
typedef enum hd_accuracy_metric {
  HD_ACCURACY_L1_SECTORS = 0,
  HD_ACCURACY_L1_HITS,
  HD_ACCURACY_L2_READ_SECTORS,
  HD_ACCURACY_L2_WRITE_SECTORS,
  HD_ACCURACY_L2_HITS,
  HD_ACCURACY_DRAM_READ_BYTES,
  HD_ACCURACY_COUNT
} hd_accuracy_metric;
HD_OWN const char *hd_accuracy_name(hd_accuracy_metric m); /* "L2 read sectors" */
HD_OWN uint64_t hd_accuracy_value(const hd_counters *c, hd_accuracy_metric m);

/* Model over device: above 1, the model sees more. 1 if both are 0; NaN if one of them is, or if the row has
 * failed. */
HD_OWN double hd_accuracy_ratio(const hd_accuracy_row *row, hd_accuracy_metric m);

enum { HD_ACCURACY_WORST = 10 };
typedef struct hd_accuracy_summary {
  size_t n;                    /* rows that have a ratio */
  double median_ratio;         /* NaN when n is 0; so are the errors */
  double median_error;         /* of |ratio - 1| */
  double within_10, within_25; /* parts of the rows with an error of at most 0.1, 0.25 */
  size_t
      worst[HD_ACCURACY_WORST]; /* rows, by the factor between the two, whichever is more; the worst first */
  size_t n_worst;
} hd_accuracy_summary;
HD_OWN hd_status hd_accuracy_summarize(const hd_accuracy_row *rows, size_t n, hd_accuracy_metric m,
                                       hd_accuracy_summary *out, hd_diag *d);

/* ---- Many workloads ---------------------------------------------------------------------- */

/* Workloads that are modelled, each in a process of its own: only its end stops an emulator that is at work.
 */
typedef struct hd_accuracy_job {
  char **names;
  size_t n;
  const char *kernels_dir, *size;
  const hd_gpu *gpu;
  double seconds;                                     /* that one workload may take */
  size_t at_once;                                     /* processes; 0: one per processor */
  bool timed;                                         /* counters are of replays by a clock, as times are */
  void (*progress)(void *ctx, size_t done, size_t n); /* may be NULL */
  void *ctx;
} hd_accuracy_job;

/* The model's side of n rows, which start as zeros. */
HD_OWN hd_status hd_accuracy_models(const hd_accuracy_job *j, hd_accuracy_row *rows, hd_diag *d);

/* ---- Times ------------------------------------------------------------------------------- */

enum { HD_ACCURACY_PLANS = 32 };

typedef struct hd_accuracy_plan {
  char text[88];                /* notation; the first plan is "baseline" */
  double measured_us, model_us; /* 0: not known */
  hd_counters model;            /* if model_us is known */
} hd_accuracy_plan;

typedef struct hd_accuracy_times {
  hd_status status; /* of the model: HD_OK when the original has a time */
  char why[256];
  uint32_t n;
  hd_accuracy_plan plans[HD_ACCURACY_PLANS];
  double part; /* of the work that was replayed: hd_study_part */
} hd_accuracy_times;

/* The plans that are compared unless the caller names others. */
HD_OWN const char *const *hd_accuracy_plans(size_t *n);
/* The model's times of each row's plans. HD_ERR_UNSUPPORTED: its GPU has no clock. A plan that is refused, or
 * for which the time does not suffice, gets no time. */
HD_OWN hd_status hd_accuracy_model_times(const hd_accuracy_job *j, hd_accuracy_times *rows, hd_diag *d);
/* The device's, medians of `repetitions`; L2 is flushed before each. */
HD_OWN hd_status hd_accuracy_device_times(hd_device *dev, const hd_workload *w, uint32_t repetitions,
                                          hd_accuracy_times *row, hd_diag *d);

/* Smaller relative differences count as 0: repeated measurements of one plan differ by as much. */
#define HD_ACCURACY_NOISE 0.02
/* Effects of more than that part must be predicted with their sign. */
#define HD_ACCURACY_EFFECT 0.05

/* The plan changes the measured time by more than HD_ACCURACY_EFFECT. */
HD_OWN bool hd_accuracy_is_effect(const hd_accuracy_times *row, uint32_t plan);
/* It does, and the model predicts no change, or the opposite one. */
HD_OWN bool hd_accuracy_is_contradicted(const hd_accuracy_times *row, uint32_t plan);

/* The judgement of one workload; NaN if it has none. */
typedef struct hd_accuracy_verdict {
  double ratio;            /* model over measured time of the original */
  uint32_t effects, right; /* plans that change the measured time by more than HD_ACCURACY_EFFECT; of these,
                              plans whose change the model predicts with the right sign */
  double tau;    /* Kendall's, over the pairs whose measured times differ by more than HD_ACCURACY_NOISE: the
                    part that the model orders as the device does, less the part that it orders the other way */
  uint32_t best; /* the plan that is fastest in the model; of equals the first */
  double regret; /* its measured time over the least measured one, less 1 */
} hd_accuracy_verdict;
HD_OWN hd_accuracy_verdict hd_accuracy_judge(const hd_accuracy_times *row);

typedef struct hd_accuracy_ranking {
  size_t n, n_tau;                 /* workloads with a ratio; with a tau */
  double mean_error, median_error; /* of |ratio - 1| */
  double geometric;                /* mean factor between the two, whichever is more */
  uint32_t effects, right;
  double median_tau, median_regret, p90_regret;
  size_t worst[HD_ACCURACY_WORST], n_worst; /* by the factor between the two */
} hd_accuracy_ranking;
HD_OWN hd_status hd_accuracy_rank(const hd_accuracy_times *rows, size_t n, hd_accuracy_ranking *out,
                                  hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
