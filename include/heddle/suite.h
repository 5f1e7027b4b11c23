/* heddle/suite.h: one question asked of many workloads, one after the other.
 *
 * A workload that fails has a row that says why, and the next one's turn comes. A kernel's fault takes the
 * device's context with it, so the device is then opened again.
 */
#ifndef HEDDLE_SUITE_H
#define HEDDLE_SUITE_H

#include "heddle/bench.h"
#include "heddle/profile.h"
#include "heddle/results.h"
#include "heddle/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- On a device, with results on disk ------------------------------------------------------ */

/* Zero is the default of each field but the folders and the device's name. */
typedef struct hd_suite_options {
  const char *kernels_dir, *gpus_dir; /* of workloads, of GPU files */
  const char *size; /* of the workloads; NULL: hd_tune_size's if they have it; for verdicts: the size at which
                       each was made */
  hd_store *store;  /* of verdicts; NULL: none */
  const hd_gpu *advisor; /* as in hd_tune_options */
  double budget;         /* seconds for each workload; 0: as in hd_tune_options */
  double total;          /* seconds after which no further workload is begun; 0: no limit */
  unsigned threads;
  bool resume; /* leave out workloads that have a row, unless it failed */
  bool no_counters, shared;
  const hd_work_how *how; /* NULL: by this process, one after the other. A pool begins with the costly ones;
                             the folder has rows in the order of the names in any case */
  bool mixed;             /* the pool's GPUs may be of several kinds */
  bool once;              /* a pool's winners are not measured once more on a second GPU */
  /* NULL: no calls. `label` is the workload's name; `line` says what became of one, or of those left. */
  void (*progress)(void *label, const char *stage, size_t done, size_t n);
  void (*say)(void *ctx, const char *line);
  void *ctx;
} hd_suite_options;

/* Tune these workloads; each row is in r's folder as soon as it is known, tables and pages at the end. *dev
 * is closed and replaced after a fault (NULL: that failed). Of a pool's workers each tunes on its own GPU. A
 * winner is then measured on another worker's GPU, too, and the original stays if it does not win there;
 * verdicts go into the store of the process that has the pool. *whole false: it did a part only. */
HD_OWN hd_status hd_suite_tune(hd_device **dev, char *const *names, size_t n, const hd_suite_options *o,
                               hd_bench_results *r, bool *whole, hd_diag *d);
/* Measure every verdict of the store for this device and these workloads once more. Nothing is dropped. The
 * table names verdicts with a speedup below `least`. HD_ERR_USAGE: there is no store, or no verdict for this
 * device. */
HD_OWN hd_status hd_suite_verify(hd_device **dev, char *const *names, size_t n, double least,
                                 const hd_suite_options *o, hd_bench_results *r, bool *whole, hd_diag *d);

/* ---- On a device, reported one after the other -------------------------------------------------- */

typedef struct hd_tunings {
  hd_workload_request like; /* of each workload, except the name; size NULL: hd_tune_size's */
  char *const *names;
  size_t n;
  hd_device *device;
  hd_bench_place place; /* the device, by hd_bench_describe */
  hd_store *store;      /* NULL: none */
  hd_tune_options tune; /* ctx NULL: it becomes the workload's name */
  bool again, verify;   /* tune though there is a verdict; measure the verdict that there is */
  bool json;
  uint32_t most_trials; /* of each kernel, in text */
  bool mixed, once;     /* as hd_suite_options has them */
  const hd_work_how *how;
  /* The result of each, in the names' order, as hd_tuning_text or hd_tuning_json has it; false ends all. */
  bool (*told)(void *ctx, const char *text, size_t len);
  void (*failed)(void *ctx, const hd_diag *d); /* or why there is none */
  void (*unanswered)(void *ctx);               /* called before `told` if hd_tuning.unanswered. May be NULL */
  void *ctx;
} hd_tunings;
/* Tune each workload, or find its verdict in the store; each is an item of work, done as `how` says: by a
 * pool's GPUs and measured again as hd_suite_tune has it. */
HD_OWN hd_status hd_suite_tunings(const hd_tunings *t, bool *whole, hd_diag *d);

/* ---- On this machine ----------------------------------------------------------------------------- */

/* The workloads t->workloads, opened as `like` says except for the name; threads: of the host, 0: all.
 * Progress counts workloads. */
typedef struct hd_suite_run {
  hd_workload_request like;
  unsigned threads;
  void (*progress)(void *ctx, size_t done, size_t n); /* may be NULL */
  void *ctx;
} hd_suite_run;

/* cells[] has room for n_workloads * n_plans; texts are of the arena. Each cell is an item of work, done as
 * `how` says; they are filled if *whole. Progress counts cells. */
HD_OWN hd_status hd_suite_levers(const hd_suite_run *run, const hd_levers_table *t, hd_lever_cell *cells,
                                 hd_arena *arena, const hd_work_how *how, bool *whole, hd_diag *d);
/* rows[] has room for n_workloads * n_plans. */
HD_OWN hd_status hd_suite_overhead(const hd_suite_run *run, const hd_overhead_table *t, bool any_grid,
                                   hd_overhead_row *rows, hd_diag *d);

/* ---- Launches of one program ------------------------------------------------------------------ */

typedef struct hd_profile_options {
  const hd_gpu *gpu; /* the model that reuse is judged by */
  size_t most;       /* kernels that are looked at; 0: 5 */
  unsigned threads;
  hd_watch watch;
} hd_profile_options;

/* From a report that a program left at `path`. `why` is called for recordings that cannot be examined. */
HD_OWN hd_status hd_suite_profile(const char *path, const hd_profile_options *o, hd_profile *out, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
