/* predict/study.h: the contents of a study, and declarations that the files of this floor share.
 *
 * retrace.c   traces taken, of the original or under plans that change accesses
 * study.c     the original's traces, kept
 * order_table.c  orders that need a trace                 streaming_loads.c  loads whose data is not
 * requested again resolve.c   the open parts of a plan filled in       plans.c     plans resolved, then run
 * steered.c   whether tasks can be left out            task_traces.c  traces of some tasks
 * states.c    what launches begin with                sample.c    long launches predicted from parts
 * survey.c    what tasks take, from some of them      launches.c long rows of launches, from some of them
 * plan_replay.c  resolved plans replayed on a GPU         sweep.c     many plans replayed
 * schedulers.c  policies of warp schedulers             streams.c   several studies replayed at once
 * estimate.c  what traces and replays take
 * votes.c     thresholds of bypassing and numbers of agents, by run-time ways
 * accuracy.c  the model against a device's counters    overhead.c  the cost of plans where they win nothing
 */
#ifndef HEDDLE_PREDICT_STUDY_H
#define HEDDLE_PREDICT_STUDY_H

#include <pthread.h>

#include "predict/retrace.h"
#include "predict/sample.h"

/* A table that was worked out from the study's traces. */
typedef struct study_table {
  uint32_t launch; /* the first one that shares it */
  hd_order_kind kind;
  hd_table table;
} study_table;

/* Tables and traces that replays of a study work out and keep; several replays may run at once. */
typedef struct study_memo {
  pthread_mutex_t lock; /* of the tables */
  HD_VEC(study_table) tables;
  retrace_store *changed; /* traces under plans that change accesses */
} study_memo;

struct hd_study {
  const hd_compiled *code;
  const hd_workload *w;
  hd_run_options run;
  hd_study_options how;
  sample *sample;         /* NULL: launches are replayed whole */
  recording *recording;   /* of the originals, where they are sampled: its traces are `traces` */
  hd_trace **traces;      /* per launch, of the originals */
  uint32_t *shared;       /* per launch: bytes of shared memory per CTA, static and dynamic */
  hd_reuse_array *arrays; /* per buffer */
  study_memo *memo;
  hd_arena arena;
  double seconds;
  double replay_seconds; /* hd_study_replay_seconds: of the traces as they were at first */
};

/* hd_study_open; `first` may be NULL (retrace_take). */
hd_status study_open(const hd_workload *w, const hd_run_options *run, const hd_study_options *how,
                     const retrace_contents *first, hd_study **out, hd_diag *d);

/* Host threads of what the study runs from now on. */
void study_set_threads(hd_study *s, unsigned threads);
/* Of a replay of it, by tasks. */
hd_meter study_meter(const hd_study *s);

/* estimate.c. Seconds of one idle core that a replay of these traces takes, about. `sampled` may be NULL. */
double estimate_replay(hd_trace *const *traces, const sample *sampled, uint32_t n, bool timed);

/* ---- Tables (order_table.c) -------------------------------------------------------------- */

enum { PREDICT_PATH = 4096 + HD_DIGEST_HEX + 16 };
/* The path of the cache file for the result of `method` on a launch's trace. Everything that the result
 * follows from is in its name. "" when there is no cache folder. */
hd_status predict_path(const hd_compiled *code, uint32_t launch, const char *method, const char *suffix,
                       char out[PREDICT_PATH], hd_diag *d);
/* The table that hd_order_table gives, a copy of the one that the study keeps from then on. Several threads
 * may ask. */
hd_status study_order_table(const hd_study *s, uint32_t launch, hd_order_kind kind, hd_table *out,
                            hd_diag *d);

/* ---- Sources of studies (study.c) ------------------------------------------------------ */

/* The study that is given, if it is one of the same text, else one that is opened when it is first needed. */
typedef struct study_source {
  const hd_compiled *code;
  hd_run_options run;
  const hd_study *given;
  hd_study *own;
} study_source;
hd_status study_source_get(study_source *s, const hd_study **out, hd_diag *d);
void study_source_close(study_source *s);

/* hd_order_table and hd_study_loads. */
hd_status order_table(study_source *from, uint32_t launch, hd_order_kind kind, hd_table *out, hd_diag *d);
hd_status study_loads(study_source *from, uint32_t launch, hd_load_facts **out, uint32_t *n, hd_diag *d);

/* ---- Replays (plan_replay.c) ------------------------------------------------------------------ */

/* extra.c. Per launch: instructions that the order and the binding of a plan add to each task. */
hd_status replay_extra(const hd_study *s, const hd_plan *p, uint32_t n_sms, hd_added *extra, hd_diag *d);

/* The traces of the part of a plan that changes accesses; the rest of it is for the replay. With HD_OK,
 * retrace_release is to follow. */
hd_status replay_retrace(const hd_study *s, const hd_gpu *g, const hd_plan *p, recording **recorded,
                         hd_trace *const **traces, hd_diag *d);

/* A plan as the model takes it, for one launch; it stays where it is, for the options point into it. */
typedef struct replay_launch {
  hd_table order;
  hd_replay_claims claims;
  uint32_t *queue_of;
  hd_replay_options options; /* of the plan: the dispatcher is to be set */
} replay_launch;
/* replay_launch_free is to be called whether this succeeds or not. */
hd_status replay_launch_make(const hd_study *s, uint32_t launch, const hd_trace *t, const hd_gpu *g,
                             const hd_plan *p, const hd_added *extra, replay_launch *out, hd_diag *d);
void replay_launch_free(replay_launch *r);

/* schedulers.c. How many warps may load under the launch, if the GPU's scheduler is `priority` without a
 * number; else 0. order: as hd_plan_tabulate makes it, NULL: by number. */
hd_status replay_priority(const hd_study *s, uint32_t launch, const hd_trace *t, const hd_gpu *g,
                          const hd_plan *p, const hd_table *order, uint32_t *warps, hd_diag *d);

/* As hd_study_replay, on a model of g. Tables and traces that the plan needs stay in the study. */
hd_status replay_on(hd_model *m, const hd_study *s, const hd_gpu *g, const hd_plan *p, hd_dispatch_kind kind,
                    uint64_t seed, hd_counters *out, hd_diag *d);

#endif
