/* heddle/predict.h: traces of a workload, and predictions from them.
 *
 * study      one trace per launch, of the original kernels
 * resolve    what a plan leaves open, found out from the study: tables of orders, lists of loads
 * replay     a resolved plan's counters on a modelled GPU
 * sweep      many plans over one study
 */
#ifndef HEDDLE_PREDICT_H
#define HEDDLE_PREDICT_H

#include "heddle/launch.h"
#include "heddle/model.h"
#include "heddle/reuse.h"
#include "heddle/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Add to a digest everything that decides a workload's results: the text of its kernels (for `arch`, as
 * hd_launch_arch has it), its launches and its data. */
HD_OWN hd_status hd_workload_digest(const hd_workload *w, unsigned arch, hd_digest *h, hd_diag *d);

/* ---- Traces and sweeps ------------------------------------------------------------- */

/* What traces hold, and replays do. Zero is the default of each field. */
typedef struct hd_study_options {
  bool timed; /* traces keep their warps' paths, and replays go by a clock (hd_replay_options.timed) */
  /* With `timed`, for this GPU: accesses and instructions that a replay may do, as hd_sample_units counts
   * them; longer launches are sampled. 0: all are replayed whole. */
  const hd_gpu *sample_gpu;
  uint64_t sample_units;
  bool free_mapping;    /* with `timed`: the GPU's CTA scheduler does order and binding, as in MAP, so that
                           replays charge no instructions for them; agents know their next task */
  bool bypass_register; /* the caches compare each load's warp with a register (BYP 6.2): a threshold of a
                           plan that names no form is in there, and costs no instructions */
} hd_study_options;

/* One trace per launch of the workload, taken from the original kernels. `run` and `how` may be NULL. */
typedef struct hd_study hd_study;
HD_API hd_status hd_study_open(const hd_workload *w, const hd_run_options *run, const hd_study_options *how,
                               hd_study **out, hd_diag *d);
HD_API void hd_study_close(hd_study *s);
/* hd_budget.until of its replays from now on. No replay runs meanwhile. */
HD_OWN void hd_study_set_until(hd_study *s, double at);
/* The same for a workload of which `other` is a study, too. It takes over the data that `other` has filled
 * and computed, which takes long if graphs are drawn or launches steer later ones. Either may be closed
 * first. */
HD_OWN hd_status hd_study_open_like(const hd_study *other, const hd_run_options *run,
                                    const hd_study_options *how, hd_study **out, hd_diag *d);
HD_OWN const hd_trace *hd_study_trace(const hd_study *s, uint32_t launch);
/* In a long row of launches some are left out: launches like them, perhaps with other grids, stand for them.
 */
HD_OWN bool hd_study_leaves_out(const hd_study *s, uint32_t launch);
/* The launch that accesses memory most, of those that are not left out. */
HD_OWN uint32_t hd_study_busiest(const hd_study *s);
HD_OWN double hd_study_seconds(const hd_study *s); /* taken by the traces */
/* The part of the launches' work that replays of the study do; 1: all of it. The traces of a sampled study
 * hold only some of the tasks. */
HD_OWN double hd_study_part(const hd_study *s);
/* A sampled time is unsure whose parts, from different places, differ so that its standard error
 * (hd_counters.time_error_us) is more than this part of it. */
#define HD_SAMPLE_ERROR 0.1
/* The sample is of a launch of which a few warps have far more work than others. Where they are not in the
 * sample, or end later than they are cut, times lack how long these take to come to their ends. `s` NULL:
 * false. */
HD_OWN bool hd_study_leaves_ends(const hd_study *s);
/* Accesses and instructions that a replay of it does, as hd_study_options.sample_units counts them. */
HD_OWN double hd_study_units(const hd_study *s);
/* About how many seconds a replay of it takes on one idle core, computed from its traces alone. */
HD_OWN double hd_study_replay_seconds(const hd_study *s);
/* The hd_study_options.sample_units with which so many replays take about that many seconds on two cores. */
HD_OWN uint64_t hd_sample_units(double seconds, size_t replays);
/* About how many thread instructions the workload's launches have, from up to 16 tasks of each. 0: not known,
 * because the work of a task depends on what others compute. */
HD_OWN hd_status hd_estimate_instructions(const hd_workload *w, unsigned arch, unsigned threads, double *out,
                                          hd_diag *d);
/* About how many seconds it takes to trace all of the workload's launches and to replay them so often on
 * `threads` threads (0: all) without sampling. 0: not known, as above. */
HD_OWN hd_status hd_estimate_seconds(const hd_workload *w, unsigned arch, unsigned threads, bool timed,
                                     size_t replays, double *out, hd_diag *d);
/* The workload's buffers, in their order, at the addresses that the traces have; they live as long as the
 * study. */
HD_OWN const hd_reuse_array *hd_study_arrays(const hd_study *s, uint32_t *n);

/* The table of order=affinity or order=heavy-first for launch number `launch`: kept in the cache folder under
 * a hash of the kernel, the launches and the data; else worked out from the study's traces (NULL: one is
 * opened). All launches of one kernel and grid share one table, made from the busiest of them. */
HD_OWN hd_status hd_order_table(const hd_workload *w, uint32_t launch, const hd_run_options *o,
                                hd_order_kind kind, const hd_study *study, hd_table *out, hd_diag *d);

/* The loads of a kernel that a lever can change, in the order of its text, with the part of their requests
 * whose data is requested again (hd_load_reuse), over up to 16 of the kernel's launches. */
typedef struct hd_load_facts {
  uint32_t number; /* as stream= numbers loads */
  uint64_t requests, reused;
} hd_load_facts;

/* The facts about the loads of launch number `launch`'s kernel; kept in the cache folder as hd_order_table's
 * tables are. *out is the caller's to free. */
HD_OWN hd_status hd_study_loads(const hd_workload *w, uint32_t launch, const hd_run_options *o,
                                const hd_study *study, hd_load_facts **out, uint32_t *n, hd_diag *d);
/* The loads that stream=auto stands for: those that request data, of which at most the part HD_STREAM_REUSED
 * is requested again (at the edges of the CTAs' parts); with a greater `most`, loads of more reuse too. kind
 * HD_STREAM_NONE when there are none. A kernel without any stays as it is under stream=auto; where all are
 * so, the plan is refused. Loads that a plan has no room for (HD_NUMBERS) are not among them. */
#define HD_STREAM_REUSED 0.02
HD_OWN hd_stream hd_streaming_loads(const hd_load_facts *loads, uint32_t n, double most);

/* ---- Resolving plans --------------------------------------------------------------- */

/* Resolve the plans of a workload's kernels: tables are read or computed, stream=auto becomes a list of
 * loads, and for bypass=ro the loads of memory that nothing writes are listed. `study` (NULL: one is opened
 * if it is needed) saves tracing the originals again. HD_ERR_REFUSED when a table is no bijection, or
 * stream=auto finds no load in any kernel. *out is to be freed on HD_OK. */
HD_OWN hd_status hd_resolve(const hd_workload *w, const hd_plan_set *plans, const hd_run_options *o,
                            const hd_study *study, hd_resolved *out, hd_diag *d);

/* Write the text of the workload's kernels to a file under a plan that is resolved first, for its one launch:
 * what rewriting takes of a launch's arguments, as shape=auto does, is at hand. Of the options the number of
 * SMs, registers, no_hoisting and assume count. How it is launched is appended to *how (hd_recipe_tell).
 * HD_ERR_USAGE for several launches, or an order whose table heddle would have to make (`optimize` keeps
 * one). */
HD_OWN hd_status hd_rewrite_launch(const hd_workload *w, const hd_plan *p, const hd_rewrite_options *o,
                                   const char *output, hd_buf *how, hd_diag *d);

/* Resolve one plan for all kernels, then hd_check_resolved; the same on a device, for its architecture. */
HD_API hd_status hd_check(const hd_workload *w, const hd_plan *p, const hd_check_options *o,
                          hd_check_result *r, hd_diag *d);
/* As hd_check, with the original and each dispatcher an item of work, done as `how` says; `progress`, which
 * may be NULL, counts them. *r is filled where *whole. */
HD_OWN hd_status hd_check_split(const hd_workload *w, const hd_plan *p, const hd_check_options *o,
                                const hd_work_how *how, void (*progress)(void *ctx, size_t done, size_t n),
                                void *ctx, bool *whole, hd_check_result *r, hd_diag *d);
HD_API hd_status hd_check_on(hd_device *dev, const hd_workload *w, const hd_plan *p,
                             const hd_check_options *o, hd_check_result *r, hd_diag *d);
/* Resolve each row's plan, then hd_measure_resolved; rows[0] is the baseline. A plan that cannot be resolved
 * fails its own row only. */
HD_API hd_status hd_measure(hd_device *dev, const hd_workload *w, const hd_measure_options *o,
                            hd_measure_row *rows, size_t n, hd_diag *d);

/* ---- Replays ------------------------------------------------------------------------- */

/* Replay all launches under a plan, caches kept from one to the next; the counters are sums. */
HD_API hd_status hd_study_replay(const hd_study *s, const hd_gpu *g, const hd_plan *p,
                                 hd_dispatch_kind dispatch, uint64_t seed, hd_counters *out, hd_diag *d);

/* The timeline of the busiest launch under a plan, from a replay of it and of those before it. Where it is
 * sampled, it is of one of its parts. out->most is the caller's. Walks of the launch's trace show from then
 * on what the replay has recorded, too. HD_ERR_UNSUPPORTED: the study is not `timed`. */
HD_OWN hd_status hd_study_timeline(const hd_study *s, const hd_gpu *g, const hd_plan *p,
                                   hd_dispatch_kind dispatch, uint64_t seed, hd_timeline *out, hd_diag *d);

/* A vote of SMs: a replay under p, which is bypass=auto (a threshold of bypassing L1: BYP 4.4.2), or
 * bind=agents:auto with what goes with it (the number of active agents: CLU 4.3). ctas has an element for
 * each of the GPU's SMs, and gets the tasks that it ran of launch number `launch`: of bypass=auto by the SM's
 * number, hd_bypass_voted being its threshold; of agents by its cluster, with hd_agents_voted of them active.
 * *most: the largest number that is tried: of warps of a CTA, or of CTAs that fit on an SM.
 * HD_ERR_UNSUPPORTED: the study is sampled, which shows a part of the tasks, or is not `timed`. */
HD_OWN hd_status hd_study_vote(const hd_study *s, const hd_gpu *g, const hd_plan *p, uint32_t launch,
                               uint32_t *ctas, uint32_t *most, hd_diag *d);

/* BYP's first scheme (4.4.2, figure 11): cycles[k], for k from 0 to all of a CTA's warps, is the time of CTA
 * k of launch number `launch` in which k warps use L1, alone on the GPU, with all of L1, and L2 cold.
 * HD_ERR_UNSUPPORTED: there are too few CTAs, the study is sampled or is not `timed`. */
HD_OWN hd_status hd_study_sample_thresholds(const hd_study *s, const hd_gpu *g, uint32_t launch,
                                            double *cycles, hd_diag *d);

/* Workloads that run at the same time on a modelled GPU, each again and again in a stream of its own
 * (hd_model_replay_streams), by a clock. Plans that change accesses, and sampled studies, are
 * HD_ERR_UNSUPPORTED. */
typedef struct hd_stream_row {
  const hd_study *study;
  const hd_plan *plan;
  double us;         /* filled in: of one turn, on average */
  uint32_t turns;    /* filled in */
  uint32_t resident; /* filled in: CTAs of its first launch that fit on an SM */
  double l1_hits;    /* filled in: of its sectors, 0 to 1 */
} hd_stream_row;
HD_OWN hd_status hd_study_replay_streams(hd_stream_row *rows, uint32_t n, const hd_gpu *g, uint32_t turns,
                                         hd_diag *d);

typedef struct hd_sweep_row {
  hd_plan plan;
  hd_status status;
  hd_bound bound; /* of HD_ERR_BUDGET */
  hd_counters counters;
  char why[256]; /* when status is not HD_OK */
} hd_sweep_row;

/* Fill every row's counters (rows[i].plan is given); rows are spread over `threads` (0: all).
 * `progress` may be NULL. */
HD_API hd_status hd_sweep(const hd_study *s, const hd_gpu *g, hd_dispatch_kind dispatch, uint64_t seed,
                          hd_sweep_row *rows, size_t n, unsigned threads,
                          void (*progress)(void *ctx, size_t done, size_t n), void *ctx, hd_diag *d);

/* A sweep whose rows are items of work (heddle/work.h): it can be done in parts, resumed, and by several
 * processes. */
typedef struct hd_sweep_job {
  const hd_workload *workload;
  hd_run_options run; /* of the study */
  hd_study_options how;
  hd_study **study; /* the caller's; opened when a row needs it, unless it is open. A run that takes all rows
                       from journals leaves it NULL */
  double *part;     /* becomes hd_study_part of the study that rows were replayed on; may be NULL */
  const hd_gpu *gpu;
  hd_dispatch_kind dispatch;
  uint64_t seed;
  hd_sweep_row *rows; /* as for hd_sweep; filled where *whole */
  size_t n;
  unsigned threads; /* 0: all */
  void (*progress)(void *ctx, size_t done, size_t n);
  bool (*stop)(void *ctx); /* asked before each row, by any thread; where it says so, the row says it was
                              stopped. Not where answers are kept for others. NULL: never */
  void *ctx;
} hd_sweep_job;
HD_OWN hd_status hd_sweep_split(const hd_sweep_job *j, const hd_work_how *how, bool *whole, hd_diag *d);

/* Index of the row with the least predicted time (ties: less DRAM traffic, then less L2 traffic,
 * then the earlier row); -1 when no row is HD_OK. */
HD_API int64_t hd_sweep_best(const hd_sweep_row *rows, size_t n);

/* Whether the plan uses a lever whose effect on caches the model lacks: the read-only path, and lines that L2
 * evicts first. */
HD_OWN bool hd_plan_is_unseen(const hd_plan *p);
/* A description of these, to follow the words "the model does not see". */
HD_OWN const char *hd_explain_unseen(void);
/* How much of a GPU a workload's largest launch keeps busy. */
typedef struct hd_filling {
  uint64_t tasks;         /* its CTAs */
  uint32_t warps;         /* of each */
  uint32_t resident;      /* CTAs of it that fit on an SM */
  uint32_t busy_sms;      /* SMs that get one at all */
  uint32_t warps_at_once; /* on each of those, at most */
  bool few; /* SMs stay idle, or hold an eighth of the warps for which they have room: latency decides the
               time, not bandwidth */
} hd_filling;
/* `resident`: as hd_counters has it. */
HD_OWN hd_filling hd_find_filling(const hd_workload *w, uint32_t resident, const hd_gpu *g);
/* "16 CTAs of 4 warps keep 16 of 132 SMs busy, ..." */
HD_OWN void hd_filling_print(const hd_filling *f, const hd_gpu *g, char *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
