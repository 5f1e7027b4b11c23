/* cli/model_common.h: declarations that the commands on a modelled GPU share. */
#ifndef HEDDLE_CLI_MODEL_COMMON_H
#define HEDDLE_CLI_MODEL_COMMON_H

#include "cli.h"
#include "heddle/advise.h"

typedef struct model_options {
  cli_input in;
  const char *gpu_name, *dispatcher, *plans, *depth;
  uint64_t threads, seed;
  uint64_t l1_bytes; /* in place of the GPU's own; 0: those */
  unsigned assume;   /* HD_ASSUME_... */
  bool keep_launch;  /* without `plans`: only plans that the launch of the original does for */
} model_options;

/* Which GPU is modelled, and how. */
#define MODEL_OPTIONS(o)                                                                                     \
  {"gpu",                                                                                                    \
   0,                                                                                                        \
   CLI_TEXT,                                                                                                 \
   &(o).gpu_name,                                                                                            \
   0,                                                                                                        \
   "NAME",                                                                                                   \
   "a file of gpus/ (gtx480 to gtx1080, k40, m2075, h100, h200) or a .toml (default: h100)"},                \
  {                                                                                                          \
    "dispatcher", 0, CLI_TEXT, &(o).dispatcher, 0, "NAME",                                                   \
        "demand or round-robin (default: as the GPU's file says)"                                            \
  }
/* The same for commands that only replay. */
#define REPLAY_OPTIONS(o)                                                                                    \
  MODEL_OPTIONS(o),                                                                                          \
      {"l1", 0, CLI_NUMBER, &(o).l1_bytes, UINT32_MAX, "BYTES", "of L1 per SM, in place of the GPU's own"},  \
      {"seed", 0, CLI_NUMBER, &(o).seed, 0, "N", "seed of the dispatcher"},                                  \
      {"depth",                                                                                              \
       0,                                                                                                    \
       CLI_TEXT,                                                                                             \
       &(o).depth,                                                                                           \
       0,                                                                                                    \
       "NAME",                                                                                               \
       "timing: by a clock (default where the GPU's file says what launches take); traffic: a bound"},       \
      CLI_INPUT_OPTIONS((o).in, "the workload's size (default: paper where there is one)"),                  \
      CLI_THREADS_OPTION((o).threads)

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
  double sweep_seconds;
} model_session;

/* The size is "paper" where the workload has it, when none is named. */
hd_status model_open_workload(model_session *s, const char *name, const model_options *o, hd_diag *d);
hd_status model_open_study(model_session *s, const model_options *o, hd_diag *d);
/* The plans that a command line lists, between white space, or in a file that it names: @FILE. */
hd_status model_list_plans(const char *plans, hd_plan_list *out, hd_diag *d);
/* Rows for `plans` (NULL: those of hd_advise_list); the baseline is always the first. */
hd_status model_sweep(model_session *s, const model_options *o, hd_diag *d);
void model_close(model_session *s);

#endif
