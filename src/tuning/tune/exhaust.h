/* tune/exhaust.h: every plan of a space measured, to compare a search's choice with the best plan.
 *
 * Regret is the best plan's speedup in the choice's, less 1. Noise favours the best of many times, so the
 * best few are measured once more, with the choice, in fresh rounds. */
#ifndef HEDDLE_TUNE_EXHAUST_H
#define HEDDLE_TUNE_EXHAUST_H

#include "contest/search.h"

typedef struct exhaust_options {
  double seconds; /* of the bench's clock for all plans, about; 0: no limit */
  double each;    /* seconds of runs for one plan, about; 0.02 when 0 */
  size_t most;    /* plans; 0: no limit */
  /* A plan's result, as soon as it is there; another status than HD_OK ends the run. NULL: not wanted. */
  hd_status (*found)(void *ctx, const search_trial *t, hd_diag *d);
  void *ctx;
} exhaust_options;

/* Plans are those of one kernel, or one for all of them. */
typedef struct exhaust {
  const char *kernel;          /* NULL: all */
  HD_VEC(search_trial) trials; /* plans are owned; slots are released */
  bool complete;               /* all candidates, and all neighbours of the best, were measured */
} exhaust;

/* Add a plan, each once only, with its result from an earlier run: its score and rounds, or the reason why it
 * failed. The plan is copied. */
hd_status exhaust_put(exhaust *x, const search_trial *known, hd_diag *d);
/* Measure the candidates of the space and the plans that were put without a result; then neighbours of the
 * best ones, until these bring nothing new. Plans that were put with a result are not measured again. Runs
 * that are 3 times as slow as the best so far get no second one. */
hd_status exhaust_run(exhaust *x, const tuner_bench *b, const hd_plan_space *space, const exhaust_options *o,
                      hd_diag *d);
/* The trials by their score, best first: at most cap indices; returns how many. */
size_t exhaust_rank(const exhaust *x, size_t *out, size_t cap);
void exhaust_free(exhaust *x);

/* Plans against the original, all in the same rounds; where the bench can move, in as many places as `places`
 * says, each with its share of the rounds. speedups[i] is refilled for each plan that can be made ready;
 * median 0 for the others. */
hd_status exhaust_contest(const tuner_bench *b, const char *kernel, const hd_plan *plans, size_t n,
                          uint32_t rounds, uint32_t places, hd_speedup *speedups, hd_diag *d);

#endif
