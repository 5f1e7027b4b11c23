/* predict/states.h: what deciding buffers hold before launches.
 *
 * Where launches compute what decides the accesses of later ones, the original is run once, without a trace,
 * and the buffers concerned are kept before each launch that is to be recorded. A rewritten kernel leaves
 * them as the original does, so that one run serves all plans. */
#ifndef HEDDLE_PREDICT_STATES_H
#define HEDDLE_PREDICT_STATES_H

#include "predict/task_traces.h"

/* `which` outlives *out, which states_free frees. The recording's buffers are filled, as they are before the
 * first launch. */
hd_status states_begin(const recording *r, const steering *which, states **out, hd_diag *d);

/* The work of a run of the launches, as far as it came. */
typedef struct states_run {
  uint32_t n;           /* launches */
  double *instructions; /* per launch: of warps */
} states_run;

/* How far to run. */
typedef struct states_bounds {
  double most;     /* instructions of threads */
  uint32_t least;  /* launches, unless they cost several times as much */
  uint32_t fewest; /* launches, whatever they cost */
  double until;    /* hd_seconds after which no more than these are begun; 0: never */
  bool keep;       /* the buffers that are state, before each */
} states_bounds;

/* Run the launches of the recording, whose buffers are filled, in order. run->instructions has room for all.
 */
hd_status states_count(states *s, recording *r, const states_bounds *b, states_run *run, hd_diag *d);
/* Unless they are kept already: run the launches again from the beginning, up to the last launch that is
 * wanted, and keep the buffers that are state before each of these. */
hd_status states_keep(states *s, recording *r, const bool *wanted, hd_diag *d);
void states_free(states *s); /* NULL is fine */
/* The buffers as they were before a launch, if it is one of those. */
void states_restore(const states *s, uint32_t launch, runner *r);

#endif
