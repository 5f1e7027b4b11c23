/* heddle/optimize.h: the best plan of a workload for a modelled GPU, proved, and the kernel under it.
 *
 * Traces are taken once and replayed under every plan on the model. The fastest plan is chosen that can be
 * applied, that costs no more instructions than it gains, and that computes the same bytes under every
 * dispatcher, at the workload's size or, if that takes too long, at a smaller one. Traces, the proof and the
 * rewritten text all start from one compiled text (hd_launch_arch), whatever GPU is modelled. */
#ifndef HEDDLE_OPTIMIZE_H
#define HEDDLE_OPTIMIZE_H

#include "heddle/advise.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The default of hd_optimize_options.seconds. Traces may always take the work of half of these seconds, or of
 * half of the options' if that is more. */
#define HD_OPTIMIZE_SECONDS 60

/* Zero is the default of each field. */
typedef struct hd_optimize_options {
  hd_run_options run; /* n_sms is the GPU's, whatever it says */
  hd_dispatch_kind dispatch;
  uint64_t seed;
  const hd_candidate
      *plans; /* to choose among; NULL: the traces' proposals and all candidates, as far as `seconds` allow */
  size_t n_plans;
  bool keep_launch; /* without `plans`: only plans that leave the launch as it is */
  double seconds;   /* work: about as much as two idle cores do in that time. Without `plans` it decides how
                       many are tried; longer launches are sampled, and longer proofs use a smaller size.
                       HD_OPTIMIZE_SECONDS when 0. No clock is read for that: the answer does not depend on the
                       machine's load */
  double wall;  /* seconds on the clock after which the search ends with the plans that it has, which is then
                   no answer (hd_optimize_answers); 0: hd_wall_seconds (tuner.h), and no limit with `exact` */
  double proof; /* seconds of work, likewise, that a proof may take if no smaller size takes less. One that
                   would take longer is not made, and there is no answer if a plan needs it. 0: twice
                   `seconds`, or twice HD_OPTIMIZE_SECONDS if that is more */
  bool exact;   /* nothing is sampled, and the proof is at the workload's size */
  /* How far the work is; called by one thread at a time. */
  void (*progress)(void *ctx, const char *stage, size_t done, size_t n);
  /* Called between plans. The first true ends the replays, and the best plan so far is proved; true after
   * that ends the search without a plan. NULL: never. */
  bool (*stop)(void *ctx);
  void *ctx;
} hd_optimize_options;

/* Where the seconds of an optimization went: all of them, in stages that add up to the whole. */
typedef struct hd_optimize_seconds {
  double trace;  /* compiling the kernels and running the originals */
  double advice; /* which plans to try */
  double replay;
  double proof; /* counting instructions, and comparing results */
} hd_optimize_seconds;

typedef struct hd_optimized {
  hd_study *study;
  hd_sweep_row *rows; /* the baseline first; a plan that was struck out has its reason */
  size_t n_rows;
  size_t best;     /* row; 0: nothing helps */
  char why[512];   /* then: why; "": no_gain */
  bool no_gain;    /* no plan is predicted to gain anything, or only what the model may err: the default's
                      counters say what bounds the time */
  size_t most;     /* then: the plan that gains most; 0: none gains enough to be named */
  char fixed[512]; /* why the order of the CTAs cannot be changed, with the line; "": it can */
  hd_check_result proof; /* of the best one, of exactly the text below unless `proof_size` */
  /* Where the proof at the workload's size takes longer than the budget allows: the smaller size at which the
   * plan was proved, as applied to the kernels of that size; else "". */
  char proof_size[32];
  double whole_proof_seconds; /* on two cores, about, at the workload's size; 0: none was needed */
  /* If launches were sampled: the best plan's speedup in a second replay that had no part in the choice, and
   * the part of the work that it replayed; else 0. A plan that does not keep its promise there is struck out.
   */
  double second_speedup, second_part;
  hd_rewritten written; /* the module under the best plan, printed in place; empty when nothing helps */
  bool other_launch;    /* any is launched in another way than the original */
  hd_table table;       /* of the order, where the launches take one beside the text; of one kernel at most */
  /* Where nothing helps: plans whose gain the model does not see (hd_plan_is_unseen), which can be applied
   * all the same, the most promising first; for a GPU to judge. */
  hd_plan_list unseen;
  bool stopped;   /* not all plans were replayed */
  unsigned ended; /* the bounds that left work undone: bits 1 << hd_bound; 0: none did */
  size_t late;    /* plans that were not replayed because a bound was reached or the search was stopped */
  bool unproved;  /* a bound was reached before the best one was proved */
  uint32_t tried; /* plans whose instructions were counted */
  hd_dispatch_kind dispatch; /* of its replays: the options' */
  uint64_t seed;
  hd_optimize_seconds seconds;
} hd_optimized;

/* *out is freed by hd_optimized_free; on failure it needs no freeing. Fails when no plan can be replayed, the
 * baseline included. */
HD_API hd_status hd_optimize(const hd_workload *w, const hd_gpu *g, const hd_optimize_options *o,
                             hd_optimized *out, hd_diag *d);
HD_API void hd_optimized_free(hd_optimized *z);
/* Whether everything was tried. False if a bound, or `stop`, ended the search before: then the result says
 * nothing about the plans that were not tried. */
HD_API bool hd_optimize_answers(const hd_optimized *z);
/* Which bound was reached, and which of heddle's options moves it: "the time was over", "a longer --wall". */
HD_OWN const char *hd_bound_reached(hd_bound b);
HD_OWN const char *hd_bound_remedy(hd_bound b);

/* Seconds that so many runs of the workload take on the emulator, about, on two idle cores, if each thread
 * runs each instruction of its kernel once; longer where it loops. Nothing is run for that. */
HD_OWN hd_status hd_check_estimate(const hd_workload *w, unsigned arch, size_t runs, double *seconds,
                                   hd_diag *d);

/* The speedup that a plan must promise to be worth a rewritten kernel. The clock
 * is rarely wrong about effects of 5%, and cannot judge smaller ones; for some kinds of plans it promises too
 * much: so 1.3 for agents, bypassed caches and streams, 1.15 for other bindings and prefetches, 1.05 for all
 * others. Nine of ten plans of a kind reach their promise divided by that, on an H100
 * (docs/clock-measured.md). hd_optimize asks for 1.3 of all plans if hd_study_leaves_ends. */
HD_OWN double hd_optimize_worth(const hd_plan *p);

#ifdef __cplusplus
}
#endif
#endif
