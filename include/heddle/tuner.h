/* heddle/tuner.h: the plan that wins on a device: search over plans by measuring; the original stays unless a
 * plan wins for sure. heddle/verdict.h keeps the results, and applies them. */
#ifndef HEDDLE_TUNER_H
#define HEDDLE_TUNER_H

#include "heddle/advise.h"
#include "heddle/contest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tuning --------------------------------------------------------------------- */

/* How the threshold of bypassing L1 is found (BYP 4.4), and the number of active agents (CLU 4.3). */
typedef enum hd_tune_strategy {
  HD_TUNE_SEARCH = 0, /* whole launches under every threshold are timed: BYP's static way; under some numbers
                         of agents */
  HD_TUNE_VOTE,       /* SMs try them during the same launches and vote; the one they choose is timed */
  HD_TUNE_SAMPLE,  /* models only, thresholds only: one CTA tries each, alone on the GPU; the fastest one's is
                      timed */
  HD_TUNE_COMPARE, /* votes are taken, on models CTAs are sampled, and all are timed as well */
  HD_TUNE_STRATEGIES
} hd_tune_strategy;

/* Zero is the default of each field. */
typedef struct hd_tune_options {
  hd_run_options run;
  double budget;     /* seconds of all but tables, levers alone and the proof, as work: on a GPU what its runs
                        take and what making plans ready costs on an idle machine, on a model what replays take on
                        an idle core. What is tried does not depend on the machine's load. Three quarters are for
                        search, which ends sooner if nothing comes near to winning; when 0, 4 and what eighty runs
                        take, twice that where DRAM moves four times the buffers' bytes, 10 at most */
  double wall;       /* seconds on the clock after which it ends, without an answer (hd_tuning.unanswered); 0:
                        hd_wall_seconds's */
  double confidence; /* 0.99 when 0 */
  bool keep_l2;      /* as in hd_timing_options */
  bool shared;   /* other programs use this GPU and need memory: the test of a plan then leaves free memory
                    alone, and tests contiguous memory only (hd_tune_places) */
  bool whole;    /* one plan for all kernels of the workload; models always do that */
  bool no_proof; /* adopt without the emulator's check */
  bool no_counters;
  bool each_lever;       /* also measure the best plan of each lever alone: hd_tuning.levers */
  const hd_gpu *advisor; /* have hd_advise propose on this model, from a small size; NULL: it is not asked.
                            Models advise themselves */
  double table_seconds;  /* that working out order=affinity and order=heavy-first may take, in place of the
                            budget; two and a half budgets when 0, none when negative */
  hd_tune_strategy strategy; /* other than SEARCH on models: all launches are replayed whole */
  const hd_plan *plans; /* to try first. The first with bind=agents:auto is not tried: it gives the order,
                           shape and split under which agents are voted on. By default that is row order */
  size_t n_plans;
  void (*progress)(void *ctx, const char *stage, size_t done, size_t n);
  void *ctx;
} hd_tune_options;

/* A plan that was looked at. */
typedef struct hd_tune_trial {
  hd_plan plan;
  hd_status status; /* HD_OK: it was measured */
  char why[200];    /* else: refused, or computes something else */
  double speedup;   /* median of the pairs that the search took; the more pairs, the better known */
  uint32_t pairs;
} hd_tune_trial;

typedef enum hd_proof_state {
  HD_PROOF_NONE = 0, /* nothing was adopted, or no proof was wanted */
  HD_PROOF_EQUAL,    /* the same bytes under all dispatchers */
  HD_PROOF_SKIPPED,  /* the emulator cannot run this kernel */
} hd_proof_state;

/* Evidence that an adopted plan's results are right: two comparisons with the original's, neither of which
 * contains the other.
 *
 * On the emulator, under every dispatcher, at the smallest size the workload has. Unless any_grid, the
 * kernel's text holds the grid it was rewritten for as constants, so the text that is proved there differs
 * from the one that runs at the tuned size: same rewriter, same plan, other constants.
 *
 * On the device, byte for byte at the tuned size, the very text that was adopted, in the order in which that
 * device handed out the CTAs in this run. */
typedef struct hd_proof {
  hd_proof_state emulated;
  char why[256];         /* why the emulator skipped it */
  char size[32];         /* the size that was emulated */
  uint32_t grid[3];      /* the kernel's first launch there */
  bool any_grid;         /* the text is right for any grid, and holds none */
  bool same_grid;        /* that size has the grids of the one that was tuned */
  uint32_t dispatchers;  /* that it ran under */
  uint64_t bytes;        /* compared after each of those runs */
  uint64_t device_bytes; /* compared on the device; 0: models, or nothing was adopted */
} hd_proof;

/* A vote on how many warps of each CTA use L1, or a choice among sampled CTAs; or a vote on how many agents
 * are active on an SM. Of equals the greatest wins: it changes the launch the least. */
enum { HD_TUNE_NUMBERS = 33 };
typedef struct hd_tune_vote {
  uint32_t n;      /* numbers that were put to the vote; 0: no vote was taken */
  uint32_t least;  /* of them: 0 warps, 1 agent; the greatest is all warps of a CTA, all agents that fit */
  uint32_t winner; /* warps that use L1; agents */
  double share[HD_TUNE_NUMBERS]; /* from the least on: CTAs (agents: tasks) that an SM with this number ran,
                                    over the mean of all SMs; sampled: the mean of the CTAs' cycles, over
                                    those of its CTA */
  char
      plan[128]; /* agents: in whose company they were voted on, with all that fit: "order=col,bind=agents" */
  uint32_t launches; /* 0: sampled */
  double seconds;
  char why[200]; /* why none was taken, when one was asked for */
} hd_tune_vote;

/* The outcome for one kernel, or for all of a workload with one plan. */
typedef struct hd_tuned {
  char kernel[128]; /* "": all kernels */
  bool adopted;
  hd_plan plan;               /* adopted, or the baseline */
  hd_speedup speedup;         /* of the best plan, measured in fresh rounds; 1 when none was promising */
  hd_tune_places places;      /* where that was */
  char basis[48];             /* of a recalled verdict: what its interval is made of (hd_verdict_basis) */
  double before_us, after_us; /* medians of that, of the kernel's launches; of all when `kernel` is "" */
  char why[256];              /* why nothing was adopted */
  hd_proof proof;
  hd_tune_vote vote, sampled; /* thresholds */
  hd_tune_vote agents;
  hd_tune_trial *trials; /* the adopted one, then fastest first, failed ones last; without the baseline */
  uint32_t n_trials;
  uint32_t n_left; /* candidates that were not tried because the budget or the clock ended before */
} hd_tuned;

/* The best plan that uses one lever alone. */
typedef struct hd_tune_lever {
  const char *lever;  /* "order", "bind", "threads", "bypass", "stream", "prefetch" */
  hd_plan plan;       /* of several kernels, the first one's */
  hd_speedup speedup; /* of the whole workload */
} hd_tune_lever;
enum { HD_TUNE_LEVERS = 6 };

/* Where the seconds of a tuning went. */
typedef struct hd_tune_seconds {
  double compile; /* the workload's source, to PTX */
  double advice;  /* of a small size */
  double buffers; /* filling them, and putting them on the device */
  double tables;  /* of orders that come from a trace */
  double load;    /* rewriting for each plan, and the driver's compiler */
  double check;   /* each plan's first run, and whether it computes the same */
  double time;    /* timed rounds: restoring buffers, flushing L2, running */
  double move;    /* putting buffers elsewhere */
  double proof;   /* of what was adopted, on the emulator */
  double count;   /* counters */
} hd_tune_seconds;

typedef struct hd_tuning {
  hd_tuned *kernels;
  uint32_t n_kernels;
  bool adopted;          /* any kernel's */
  hd_speedup speedup;    /* of the whole workload under all adopted plans */
  hd_tune_places places; /* where that was */
  double before_us, after_us;
  double part;    /* models: hd_study_part of their replays */
  bool lack_ends; /* and hd_study_leaves_ends */
  bool has_counters;
  hd_counters before, after;
  char no_counters[256];
  hd_tune_lever levers[HD_TUNE_LEVERS];
  uint32_t n_levers;
  uint32_t tried; /* plans */
  double seconds; /* from the call to the verdict */
  hd_tune_seconds spent;
  double lever_seconds; /* of each_lever, which decides nothing: not in `seconds` nor in `spent` */
  bool unanswered; /* the clock ended it before its budget was spent, or a plan that won could not be compared
                      with the original: nothing is adopted, no verdict is kept, and only the kernels' `why`
                      says something about the plans tried */
  uint64_t buffer_bytes; /* of the workload's buffers */
  unsigned assume;       /* HD_ASSUME_..., which plans may rest on */
  bool recalled;         /* from a store: no trials, nothing measured */
  int64_t when;          /* then: when it was made, seconds since 1970 */
  hd_speedup verified;   /* by hd_tuning_verify, of the whole workload under all plans that were kept, those
                            that   it dropped included; median 0: one of them cannot be run */
} hd_tuning;

/* Tune a workload. HD_ERR_UNSUPPORTED: the device measures no times. *out is freed by hd_tuning_free; on
 * failure it needs no freeing. */
HD_API hd_status hd_tune(hd_device *dev, const hd_workload *w, const hd_tune_options *o, hd_tuning *out,
                         hd_diag *d);
HD_API void hd_tuning_free(hd_tuning *t);
/* The seconds on the clock that work of so many seconds may take: `wall`, or if that is 0 ten times the
 * budget, and at least ten minutes. */
HD_OWN double hd_wall_seconds(double wall, double budget);

/* The GPU file of that folder that is most like a device, to be hd_tune_options.advisor: that of its title,
 * or the newest that is no newer. HD_ERR_UNSUPPORTED when there is none. */
HD_OWN hd_status hd_tune_advisor(const hd_device_info *device, const char *gpu_dir, hd_gpu *out, hd_diag *d);
/* The size at which a workload is tuned there: "gpu" on GPUs; on models, which trace everything, "small". */
HD_OWN const char *hd_tune_size(const hd_device_info *info);

#ifdef __cplusplus
}
#endif
#endif
