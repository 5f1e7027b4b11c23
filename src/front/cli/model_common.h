/* cli/model_common.h: declarations that the commands on a modelled GPU share. */
#ifndef HEDDLE_CLI_MODEL_COMMON_H
#define HEDDLE_CLI_MODEL_COMMON_H

#include "cli.h"
#include "heddle/advise.h"

typedef struct model_options {
  cli_input in;
  const char *gpu_name, *dispatcher, *scheduler;
  cli_list plans; /* each as hd_plan_list_read takes it; none: all candidates */
  unsigned depth; /* DEPTH_... */
  uint64_t threads, seed;
  uint64_t l1_bytes;    /* in place of the GPU's own; 0: those */
  unsigned assume;      /* HD_ASSUME_... */
  uint64_t budget;      /* seconds of work; 0: 60 */
  uint64_t wall;        /* seconds on the clock; 0: hd_wall_seconds's */
  bool exact;           /* replay launches whole, however long that takes */
  bool free_mapping;    /* order and binding cost nothing */
  bool bypass_register; /* the caches have one */
  bool quiet;           /* a study's progress does not show */
  bool keep_launch;     /* without `plans`: only plans that keep the original launch */
} model_options;

/* Which GPU is modelled, and how long that may take; for commands that only replay. */
#define MODEL_OPTIONS(o)                                                                                     \
  CLI_COMMON("gpu", &(o).gpu_name), CLI_COMMON("dispatcher", &(o).dispatcher),                               \
      CLI_COMMON_AS("budget", &(o).budget,                                                                   \
                    "work to do, as seconds of two idle cores: longer launches are sampled (default: 60)"),  \
      CLI_COMMON("exact", &(o).exact), CLI_COMMON("scheduler", &(o).scheduler)
#define REPLAY_OPTIONS(o)                                                                                    \
  MODEL_OPTIONS(o), CLI_COMMON("l1", &(o).l1_bytes),                                                         \
      CLI_COMMON_AS("seed", &(o).seed, "seed of the dispatcher"), CLI_COMMON("depth", &(o).depth),           \
      CLI_COMMON("bypass-register", &(o).bypass_register),                                                   \
      CLI_INPUT_OPTIONS(&(o).in, "the workload's size (default: paper if there is one)"),                    \
      CLI_COMMON("threads", &(o).threads)

/* A workload, a GPU, the workload's traces. Close whether opening succeeded or not. */
typedef struct model_session {
  hd_workload *workload;
  hd_gpu gpu;
  hd_dispatch_kind dispatch;
  hd_study *study;
  bool timed; /* by a clock */
  hd_plan_list plans;
  hd_sweep_row *rows; /* the baseline's, then one of each plan, which the list owns */
  size_t n_rows;
  double part, sweep_seconds; /* hd_study_part of the sweep */
} model_session;

/* The GPU alone. */
hd_status model_open_gpu(model_session *s, const model_options *o, hd_diag *d);
/* And the workload. Its size is "paper" where the workload has it, when none is named. */
hd_status model_open_workload(model_session *s, const char *name, const model_options *o, hd_diag *d);
/* `replays`: that will share --budget; 0: one, and nothing is sampled. */
hd_status model_open_study(model_session *s, const model_options *o, size_t replays, hd_diag *d);
hd_status model_read_plans(const cli_list *lists, hd_plan_list *out, hd_diag *d); /* of --plans */
/* Rows for `plans`, or hd_advise_list's; the first is the baseline. --exact says how long it will take. */
hd_status model_list_plans(model_session *s, const model_options *o, hd_diag *d);
/* These, replayed. The study is opened if any row is to be. */
hd_status model_sweep(model_session *s, const model_options *o, const hd_work_how *how, bool *whole,
                      hd_diag *d);
void model_close(model_session *s);

#endif
