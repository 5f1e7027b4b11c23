/* tune/second_look.h: what plans promise, from more of the work than the sweep replayed that ranked them.
 *
 * The best of many sampled times is partly the luckiest. So the winner of a sampled sweep and the default are
 * replayed again, from a sample of their own that is several times as large. */
#ifndef HEDDLE_TUNE_SECOND_LOOK_H
#define HEDDLE_TUNE_SECOND_LOOK_H

#include "heddle/optimize.h"

typedef struct second_look {
  const hd_study *first; /* that promises came from */
  const hd_gpu *g;
  hd_run_options run;
  hd_study_options how; /* sample_units of it are this look's */
  hd_dispatch_kind dispatch;
  uint64_t seed;
  hd_study *study; /* NULL: not opened yet */
  double default_us;
  unsigned looks;
  double seconds; /* spent */
} second_look;

/* The plan's speedup over the default. */
hd_status second_look_take(second_look *l, const hd_plan *p, double *speedup, hd_diag *d);
/* Where the time was over before a second look: is the first one's speedup so far above the one that is asked
 * for that luck does not explain it? Nine in ten sampled times are less than a quarter off (clock.md). */
static inline bool second_look_spared(double speedup, double worth) { return speedup >= 1.25 * worth; }
/* The least speedup to be spoken of. */
#define PROMISE_LEAST 1.01
/* The speedup that a plan of that study must promise: hd_optimize_worth, and more where times lack the ends
 * of the longest warps, of orders as well. */
double promise_asked(const hd_study *s, const hd_plan *p);
double second_look_part(const second_look *l); /* hd_study_part of its study */
void second_look_close(second_look *l);

#endif
