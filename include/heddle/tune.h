/* heddle/tune.h: proving plans, predicting them, choosing one.
 *
 * check      the rewritten kernel computes the same bytes as the original, on the emulator,
 *            whatever the dispatcher does
 * simulate   one plan's counters on a modelled GPU
 * sweep      many plans over one trace
 */
#ifndef HEDDLE_TUNE_H
#define HEDDLE_TUNE_H

#include "heddle/model.h"
#include "heddle/ptx.h"
#include "heddle/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- A workload on the emulator ---------------------------------------------- */

/* What every run below needs. Zero is the default of each field. */
typedef struct hd_run_options {
  unsigned arch;    /* sm number to compile for; 80 when 0 */
  unsigned threads; /* host threads; 0: all */
  unsigned n_sms;   /* SMs of the emulated machine, clusters of bind=redirect; 16 when 0 */
  bool any_grid;    /* rewrite for any grid instead of the launch's own */
} hd_run_options;

/* Rewrite every kernel the workload launches, in place. A kernel launched with several grids is
 * rewritten for any grid. */
HD_API hd_status hd_rewrite_workload(hd_ptx_module *m, const hd_workload *w, const hd_plan *p,
                                     const hd_run_options *o, hd_diag *d);

/* ---- Check ---------------------------------------------------------------------- */

typedef struct hd_check_options {
  hd_run_options run;
  const hd_dispatch_kind *dispatchers; /* NULL: all of them */
  size_t n_dispatchers;
  uint64_t seed;
  bool no_reference;  /* do not compare the original with reference.c */
  bool no_race_check; /* do not look for tasks that read each other's output */
} hd_check_options;

typedef struct hd_check_result {
  bool equal;
  bool against_reference;  /* the original was also compared with reference.c */
  bool race_free;          /* no task touched what another wrote, on this input */
  uint32_t runs;           /* of the rewritten kernel: one per dispatcher */
  uint64_t bytes_compared; /* per run */
  uint64_t thread_instructions, thread_instructions_rewritten;
  double seconds;
  char dispatcher[32]; /* of the first difference */
  char what[768];      /* the first difference or fault, in one line; "" when equal */
} hd_check_result;

/* HD_OK with the result filled whether equal or not. HD_ERR_REFUSED when the plan cannot be
 * applied soundly (a table that is no bijection included). */
HD_API hd_status hd_check(const hd_workload *w, const hd_plan *p, const hd_check_options *o,
                          hd_check_result *r, hd_diag *d);

/* ---- Traces and sweeps ------------------------------------------------------------- */

/* One trace per launch of the workload, taken from the original kernels. */
typedef struct hd_study hd_study;
HD_API hd_status hd_study_open(const hd_workload *w, const hd_run_options *o, hd_study **out, hd_diag *d);
HD_API void hd_study_close(hd_study *s);
HD_API uint32_t hd_study_launches(const hd_study *s);
HD_API const hd_trace *hd_study_trace(const hd_study *s, uint32_t launch);
HD_API double hd_study_seconds(const hd_study *s); /* what taking the traces cost */

/* Replay all launches under a plan, caches kept from one to the next; the counters are sums. */
HD_API hd_status hd_study_replay(const hd_study *s, const hd_gpu *g, const hd_plan *p,
                                 hd_dispatch_kind dispatch, uint64_t seed, hd_counters *out, hd_diag *d);

typedef struct hd_sweep_row {
  hd_plan plan; /* owned by the caller of hd_sweep */
  hd_status status;
  hd_counters counters;
  char why[256]; /* when status is not HD_OK */
} hd_sweep_row;

/* Fill every row's counters (rows[i].plan is given); rows are spread over `threads` (0: all).
 * `progress` may be NULL. */
HD_API hd_status hd_sweep(const hd_study *s, const hd_gpu *g, hd_dispatch_kind dispatch, uint64_t seed,
                          hd_sweep_row *rows, size_t n, unsigned threads,
                          void (*progress)(void *ctx, size_t done, size_t n), void *ctx, hd_diag *d);

/* Index of the row with the least predicted time (ties: less DRAM traffic, then less L2 traffic,
 * then the earlier row); -1 when no row is HD_OK. */
HD_API int64_t hd_sweep_best(const hd_sweep_row *rows, size_t n);

/* Why nothing helps, in one sentence, from the baseline's counters. */
HD_API void hd_explain_nothing_helps(const hd_counters *base, const hd_gpu *g, char *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
