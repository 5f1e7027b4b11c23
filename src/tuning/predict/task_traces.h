/* predict/task_traces.h: traces of some tasks of a launch, taken when a replay needs them.
 *
 * The tasks of most kernels access what they access whatever other tasks have computed. Of these a recording
 * runs only the tasks that are asked for, in any order, and long ones not to their ends. Where launches
 * compute what decides the accesses of later ones (breadth-first search), the recording has what the buffers
 * concerned held before the launch (predict/states.h). */
#ifndef HEDDLE_PREDICT_TASK_TRACES_H
#define HEDDLE_PREDICT_TASK_TRACES_H

#include <pthread.h>

#include "launch/runner.h"

/* Where the data come from that decide addresses, branches before accesses, and loops. */
typedef enum steered {
  STEERED_BY_NOTHING, /* from buffers that no launch writes, if from any: tasks can run alone */
  STEERED_BETWEEN, /* from earlier launches, too: tasks can run alone with the buffers as these left them */
  STEERED_WITHIN,  /* from other tasks of the launch, perhaps */
} steered;
typedef struct steering {
  steered kind;
  bool reads_data; /* data decide */
  bool *written;   /* per buffer: a launch writes it */
  bool *state;     /* per buffer: it decides, too */
} steering;
/* Follows from the text, and from which launch is given which buffers. steering_free frees what it holds. */
hd_status record_steering(const hd_compiled *code, steering *out, hd_diag *d);
void steering_free(steering *s);

typedef struct states states;

/* products.c: have a runner of the originals, with its buffers filled, leave matrix products out, where no
 * access follows from them. For traces alone. */
void predict_skip_products(const hd_compiled *code, runner *r);

typedef struct recording {
  runner r;
  unsigned threads;
  bool timed;
  hd_diag broken;       /* why tasks broke off, some in their traces in part; HD_OK: none did */
  hd_trace **traces;    /* per launch, with gaps; a launch that has none of its own has another's */
  bool *own;            /* per launch */
  double *counted;      /* per launch: survey_compare's; 0: not known yet */
  uint64_t most;        /* record_most of its options */
  bool reordered;       /* a plan's order or binding is in the traces: their tasks are not the originals' */
  const states *before; /* of launches; NULL: they do not matter */
  pthread_mutex_t lock; /* one thread at a time asks which tasks there are, and records; replays go on */
} recording;

typedef struct record_options {
  const runner_contents *contents; /* of the buffers; NULL: they do not matter */
  const uint32_t *like; /* per launch: the launch whose trace stands for it; itself: it has one. NULL: all
                           have */
  bool timed;           /* traces keep their warps' paths */
  const states *before; /* of launches that are to be recorded; NULL: they do not matter */
} record_options;

/* Contents for recordings of a workload: NULL where no data decide and it would cost much to fill buffers.
 * record_contents_free frees them. */
hd_status record_contents(const hd_workload *w, bool reads_data, runner_contents **out, hd_diag *d);
void record_contents_free(runner_contents *c); /* NULL is fine */

/* The work that a trace may be by these options (hd_trace_set_most); 0: any. */
uint64_t record_most(const hd_run_options *o);
/* Have the runner's emulator end what is far more work than the traces of its launches may be. */
void record_bound(runner *r, uint64_t most);
/* `plans` NULL: of the originals. *out is for record_close. */
hd_status record_open(const hd_compiled *code, const hd_resolved *plans, const hd_run_options *o,
                      const record_options *how, recording **out, hd_diag *d);
void record_close(recording *r); /* NULL is fine */
/* A trace of its own for a launch that has another's. */
hd_status record_add(recording *r, uint32_t launch, hd_diag *d);
/* These tasks of a launch are in its trace from then on; no warp runs more than `most` instructions. */
hd_status record_tasks(recording *r, uint32_t launch, const uint64_t *tasks, uint64_t n, uint64_t most,
                       hd_diag *d);
/* Instructions of warps in these tasks, run to their ends; the launch's trace stays as it is. */
hd_status record_count(recording *r, uint32_t launch, const uint64_t *tasks, uint64_t n, double *out,
                       hd_diag *d);
bool record_has(const recording *r, uint32_t launch, const uint64_t *tasks, uint64_t n);

#endif
