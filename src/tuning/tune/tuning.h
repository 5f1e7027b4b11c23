/* tune/tuning.h: one tuning, by its parts.
 *
 * suggest.c    advice from a small size of the workload
 * traced_orders.c  orders made from a trace, and whether they are affordable and worth it
 * kernel.c     one kernel: candidates, the search, its result in words
 * tuned_proof.c  the proof that the plan found computes the original's results
 * levers.c     the best plan of each lever alone
 * on_device.c  all of it on a device, kernel by kernel
 * on_model.c   on a modelled GPU
 */
#ifndef HEDDLE_TUNE_TUNING_H
#define HEDDLE_TUNE_TUNING_H

#include "heddle/optimize.h"
#include "tune/tuner.h"

typedef struct tuning {
  hd_device *dev;
  const hd_workload *w;
  hd_tune_options o;
  hd_tuning *out;
  const hd_compiled *code;
  HD_VEC(hd_plan) first; /* plans to try before all others: those given, those advised */
  size_t n_given;
  size_t n_likeliest;    /* behind these: one of each lever that the accesses ask for */
  double until;          /* hd_seconds at which the wall is */
  hd_study *whole_study; /* of the workload itself, once its tables need one */
  bool study_failed;     /* it takes too long or too much memory */
  bool wants_affinity;   /* the advice says that data decides which tasks share */
  bool wants_streams;    /* the advice proposes to choose among loads */
  double uneven;         /* by the advice: a launch's longest task's work, in the mean's; 0: unknown */
  double work;           /* thread instructions per thread, of the advice's size; 0: unknown */
  double accesses;       /* traced accesses per warp, likewise */
} tuning;

/* Bytes that DRAM moves over those of the buffers; 0: not counted. */
double tuning_moved_over_held(const tuning *t);
/* Grows once the original is counted, where much may be saved. */
double tuning_budget(const tuning *t);
double tuning_confidence(const tuning *t);
/* The seconds that the searches of all kernels may take together. */
double tuning_search_budget(const tuning *t);
void tuning_report(const tuning *t, const char *stage);
/* A speedup of 1 whose interval is 0 to infinity. */
hd_speedup tuning_no_speedup(const tuning *t);

/* A plan to try before all others. */
hd_status tuning_try_first(tuning *t, const hd_plan *p, hd_diag *d);
/* The plan under which agents are voted on. */
hd_plan tuning_agents_plan(const tuning *t);
/* Ask the advisor about a study of the workload, or of a small size of it. */
hd_status tuning_ask(tuning *t, const hd_workload *w, hd_study *s, const hd_gpu *g, hd_diag *d);
/* Ask it about a small size; without an answer all the rest is tried all the same. */
void tuning_seek_advice(tuning *t);

double tuning_table_seconds(const tuning *t);
/* The whole workload does nothing but move each of its bytes once, as fast as DRAM can. */
bool tuning_is_at_roofline(const tuning *t);
/* Compute the tables and facts that need a trace; the space gets those that are there. The kernel has that
 * share of the workload's time. */
void tuning_make_tables(tuning *t, device_bench *b, uint32_t launch, double share, hd_plan_space *s);

/* Search for the plan of a kernel (NULL: one for all kernels), under fixed plans of others. */
hd_status tuning_search_kernel(tuning *t, const tuner_bench *b, const hd_plan_space *space,
                               const char *kernel, const hd_plan_set *fixed, double budget, hd_tuned *k,
                               hd_diag *d);
/* Compare the adopted plan with the original on the emulator. */
void tuning_prove(tuning *t, hd_tuned *k);
/* Compare it with the original on the device, at the size that was tuned. */
hd_status tuning_compare(tuning *t, device_bench *b, const hd_plan_set *fixed, hd_tuned *k, hd_diag *d);
void tuning_drop(hd_tuned *k, const char *why, ...) HD_PRINTF(2, 3);
/* Add the kernel's plan to a set, which has room for it. */
void tuning_put(hd_plan_set *set, const hd_tuned *k, const hd_plan *p);

extern const char *const tuning_lever_names[HD_TUNE_LEVERS];
/* The kernels' best plans that use that lever alone; *score is the speedup of all kernels together, 0: there
 * is none. Kernels without such a plan count as they are. The set is empty, with room for all kernels. */
void tuning_best_alone(const hd_tuning *t, int lever, hd_plan_set *out, double *score);

hd_status tuning_on_device(tuning *t, hd_diag *d);
hd_status tuning_on_model(tuning *t, hd_diag *d);

#endif
