/* tune/winner_proof.h: the proof of the plans that an optimization would choose, on the emulator.
 *
 * At the workload's size where that is affordable; else at the largest of its sizes where it is, or else at
 * the smallest. The kernel proved there is the rewritten text but for the constants of the grid. */
#ifndef HEDDLE_TUNE_WINNER_PROOF_H
#define HEDDLE_TUNE_WINNER_PROOF_H

#include "heddle/predict.h"

typedef struct winner_proof {
  const hd_workload *w; /* what runs: the workload, or `smaller` */
  hd_workload *smaller; /* NULL: none */
  hd_run_options run;
  uint64_t seed;
  hd_checker *checker;      /* NULL: the original has not run yet */
  hd_check_result original; /* how that went */
  double seconds;           /* on two cores, about, that the proof at the workload's own size would take */
} winner_proof;

/* Runs that a proof costs: one under each dispatcher, the original with its races looked for, which takes
 * about two, and the reference, which takes no longer than one. */
enum { PROOF_RUNS = HD_DISPATCH_COUNT + 3 };
/* Seconds that one of them takes on two cores, about, where it runs so many thread instructions. */
double proof_run_seconds(const hd_workload *w, double instructions);
/* Under how many dispatchers a proof may run that is to end within `seconds`, where a run takes `each`; 0:
 * not even under one. */
size_t proof_affordable(double each, double seconds);

/* Choose the size, for a workload whose launches run so many thread instructions. `seconds`: affordable, on
 * two cores; 0: whatever it takes. `most`: seconds that it may take where no size is affordable; beyond them
 * HD_ERR_BUDGET, by HD_BOUND_PROOF; 0: any. winner_proof_close is to be called whether this succeeds or not.
 */
hd_status winner_proof_choose(winner_proof *p, const hd_workload *w, const hd_run_options *run, uint64_t seed,
                              double instructions, double seconds, double most, hd_diag *d);
void winner_proof_close(winner_proof *p);
/* Run the original, unless it has run. p->original.equal is false where that fails. */
hd_status winner_proof_open(winner_proof *p, hd_diag *d);
/* Compare a plan with the original under dispatchers `from` to `to`. `plans`: the plan resolved for the
 * workload; at a smaller size it is resolved for that. */
hd_status winner_proof_check(const winner_proof *p, const hd_plan *plan, const hd_resolved *plans,
                             unsigned from, unsigned to, hd_check_result *r, hd_diag *d);

#endif
