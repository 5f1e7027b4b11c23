/* heddle/tune.h: proving plans, predicting them, choosing one.
 *
 * check      the rewritten kernel computes the same bytes as the original, on the emulator,
 *            whatever the dispatcher does
 * simulate   one plan's counters on a modelled GPU
 * sweep      many plans over one trace
 */
#ifndef HEDDLE_TUNE_H
#define HEDDLE_TUNE_H

#include "heddle/device.h"
#include "heddle/model.h"
#include "heddle/reuse.h"
#include "heddle/rewrite.h"
#include "heddle/stats.h"
#include "heddle/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- A workload on the emulator ---------------------------------------------- */

/* What every run below needs. Zero is the default of each field. */
typedef struct hd_run_options {
  unsigned arch;        /* sm number to compile for; 80 when 0 */
  unsigned threads;     /* host threads; 0: all */
  unsigned n_sms;       /* SMs of the emulated machine, clusters of bind=redirect; 16 when 0 */
  bool any_grid;        /* rewrite for any grid instead of the launch's own */
  double trace_seconds; /* that taking a trace may last; longer ones end with HD_ERR_NOMEM; 0: as long as it
                           takes */
  bool more_registers;  /* as in hd_rewrite_options */
  const uint32_t
      *registers; /* per launch: that a thread of the original uses; 0 or NULL: what the workload says */
  hd_register_budget
      budget; /* as in hd_rewrite_options; where kernels are assembled, the first that is tried */
  bool no_hoisting;
  const hd_sm_set *sms;          /* as in hd_rewrite_options; on a GPU found out when NULL */
  const hd_kernel_plan *kernels; /* plans of single kernels, in place of the one that is for all */
  size_t n_kernels;
  const hd_table *table; /* of order=heavy-first and order=affinity: one entry per task of the one grid; NULL:
                            see hd_order_table */
} hd_run_options;

/* Rewrite every kernel the workload launches, in place. A kernel launched with several grids is
 * rewritten for any grid. recipes[i] says how launch i is made; NULL: plans that change how are refused. */
HD_API hd_status hd_rewrite_workload(hd_ptx_module *m, const hd_workload *w, const hd_plan *p,
                                     const hd_run_options *o, hd_recipe *recipes, hd_diag *d);

/* ---- Check ---------------------------------------------------------------------- */

typedef struct hd_check_options {
  hd_run_options run;
  const hd_dispatch_kind *dispatchers; /* NULL: all of them */
  size_t n_dispatchers;
  uint64_t seed;      /* of the first dispatcher; one more for each that follows */
  uint32_t resident;  /* CTAs alive at once per SM; 4 when 0 */
  bool no_reference;  /* do not compare the original with reference.c */
  bool no_race_check; /* do not look for tasks that read each other's output */
  uint32_t runs;      /* hd_check_on: of the rewritten kernel; 3 when 0 */
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
  uint32_t different;  /* hd_checker_run: the number of that dispatch */
  char what[768];      /* the first difference or fault, in one line; "" when equal */
} hd_check_result;

/* HD_OK with the result filled whether equal or not. HD_ERR_REFUSED when the plan cannot be
 * applied soundly (a table that is no bijection included). */
HD_API hd_status hd_check(const hd_workload *w, const hd_plan *p, const hd_check_options *o,
                          hd_check_result *r, hd_diag *d);

/* Many plans against one original, which runs once, when the checker is opened. The workload outlives it. *r:
 * how that went; when r->equal is false (the original faults, or its reference disagrees) there is nothing to
 * hold plans against. */
typedef struct hd_checker hd_checker;
HD_API hd_status hd_checker_open(const hd_workload *w, const hd_check_options *o, hd_checker **out,
                                 hd_check_result *r, hd_diag *d);
HD_API void hd_checker_close(hd_checker *c); /* NULL is fine */
/* As hd_check, under n dispatches. Several threads may do so at once. Of the original it says nothing. */
HD_API hd_status hd_checker_run(const hd_checker *c, const hd_plan *p, const hd_run_options *o,
                                const hd_dispatch *dispatches, size_t n, hd_check_result *r, hd_diag *d);

/* The same on a device, under the order in which that hands out CTAs: original against reference.c, rewritten
 * against original, `runs` times. Counts no instructions and finds no races. The dispatcher of a difference
 * is the device's name. run.n_sms 0: the device's own. */
HD_API hd_status hd_check_on(hd_device *dev, const hd_workload *w, const hd_plan *p,
                             const hd_check_options *o, hd_check_result *r, hd_diag *d);

/* ---- Times on a device ----------------------------------------------------------- */

/* Zero is the default of each field. */
typedef struct hd_measure_options {
  hd_run_options run;
  uint32_t warmups;     /* rounds; 3 when 0 */
  uint32_t repetitions; /* rounds; 31 when 0 */
  bool keep_l2;         /* as in hd_timing_options */
  bool no_counters;
  double confidence; /* of the speedups' intervals; 0.99 when 0 */
} hd_measure_options;

typedef struct hd_measure_row {
  hd_plan plan; /* owned by the caller of hd_measure */
  hd_status status;
  char why[256]; /* when status is not HD_OK: refused, or computes something else than the baseline */
  double median_us, least_us; /* of all the workload's launches together */
  hd_speedup speedup;         /* over the first row, paired round by round */
  bool has_counters;
  hd_counters counters;
  char no_counters[256]; /* why there are none */
} hd_measure_row;

/* Run the workload under each row's plan (given; rows[0] is the baseline), compare all results with the
 * baseline's, and time those that are equal in interleaved rounds, the buffers' first contents restored
 * before each. Fails when the baseline or the device does; a plan that cannot be applied is its row's
 * business. */
HD_API hd_status hd_measure(hd_device *dev, const hd_workload *w, const hd_measure_options *o,
                            hd_measure_row *rows, size_t n, hd_diag *d);

/* ---- Traces and sweeps ------------------------------------------------------------- */

/* One trace per launch of the workload, taken from the original kernels. */
typedef struct hd_study hd_study;
HD_API hd_status hd_study_open(const hd_workload *w, const hd_run_options *o, hd_study **out, hd_diag *d);
HD_API void hd_study_close(hd_study *s);
HD_API uint32_t hd_study_launches(const hd_study *s);
HD_API const hd_trace *hd_study_trace(const hd_study *s, uint32_t launch);
HD_API double hd_study_seconds(const hd_study *s); /* what taking the traces cost */
/* The workload's buffers, in their order, where the traces have them; they live as long as the study. */
HD_API const hd_reuse_array *hd_study_arrays(const hd_study *s, uint32_t *n);

/* The table of order=affinity or order=heavy-first for launch number `launch`: kept in the cache folder under
 * a hash of the kernel, the launches and the data; else worked out from the study's traces (NULL: one is
 * opened). All launches of one kernel and grid have one, made from the busiest of them. Every function here
 * that is given a plan with such an order and no table comes by it so. */
HD_API hd_status hd_order_table(const hd_workload *w, uint32_t launch, const hd_run_options *o,
                                hd_order_kind kind, const hd_study *study, hd_table *out, hd_diag *d);

/* The loads of a kernel that a lever can change, in the order of its text, and how much of what they ask for
 * is asked for again (hd_load_reuse), over up to 16 of the kernel's launches. */
typedef struct hd_load_facts {
  uint32_t number; /* as stream= numbers loads */
  uint64_t requests, reused;
} hd_load_facts;

/* Those of launch number `launch`'s kernel; kept in the cache folder as hd_order_table's tables are. *out is
 * the caller's to free. */
HD_API hd_status hd_study_loads(const hd_workload *w, uint32_t launch, const hd_run_options *o,
                                const hd_study *study, hd_load_facts **out, uint32_t *n, hd_diag *d);
/* What stream=auto stands for: the loads that ask for something, of which at most the part HD_STREAM_REUSED
 * is asked for again (the edges of what CTAs divide up); with another `most`, those of more reuse too. kind
 * HD_STREAM_NONE when there are none. A kernel without any stays as it is under stream=auto; where all are
 * so, the plan is refused. out->loads is the caller's to free. */
#define HD_STREAM_REUSED 0.02
HD_API hd_status hd_streaming_loads(const hd_load_facts *loads, uint32_t n, double most, hd_stream *out,
                                    hd_diag *d);

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
