/* predict/sample.h: long launches predicted from parts of them.
 *
 * A launch is replayed whole where that is affordable. Else, where it has many waves of CTAs, a few runs of
 * consecutive waves from evenly spread places of the order are: between the first run's start and the last
 * one's end, tasks are taken to be done at the mean pace of the runs, each counted from the middle of its
 * first wave's end on. L2 is warmed by the traffic of the tasks before a run. Where not even three waves are
 * affordable, one wave is replayed with every warp cut after so many instructions, and so are two waves from
 * the middle of the launch; the rest goes on at the mean of their last paces. Where a few of short tasks have
 * far more work than the others, one run of waves begins where an order has about the mean's work, its warps
 * are cut, and times go by work.
 *
 * Every sample is checked against itself: runs from different places tell the pace's standard error, and
 * where that is more than HD_SAMPLE_ERROR of the time, more runs are replayed. Of a launch of one wave the
 * two halves of what is replayed stand for places.
 *
 * Of long rows of launches some are replayed (predict/launches.h).
 *
 * How much is affordable is a number of accesses and instructions, so that results follow from the options
 * alone. */
#ifndef HEDDLE_PREDICT_SAMPLE_H
#define HEDDLE_PREDICT_SAMPLE_H

#include "heddle/predict.h"
#include "predict/launches.h"
#include "predict/states.h"
#include "predict/survey.h"
#include "predict/task_traces.h"

enum {
  SAMPLE_PARTS = 4,
  SAMPLE_MOST_PARTS = 8, /* of a sample that grew */
};

typedef struct sample_launch {
  bool cut;                                /* warps are cut after `most` instructions */
  bool varied;                             /* a few tasks have far more work than others: times go by work */
  uint32_t n_parts;                        /* 0: the launch is replayed whole */
  hd_replay_part parts[SAMPLE_MOST_PARTS]; /* cut: a wave; two waves from the middle, where there are as
                                              many; what is left behind the last whole one */
  uint64_t warm;                           /* tasks before a part that warm L2 */
  uint64_t most;
  double at[SURVEYED]; /* varied: instructions of a task, in each of as many parts of the grid */
  double instructions; /* of a task, of all its warps: mean of tasks from all over the grid */
  double weight, part; /* of all launches' work: this one's; what is replayed of it */
  double threads;      /* that run a warp's instruction: mean of the original's parts */
  double compulsory;   /* bytes of a launch, likewise */
} sample_launch;

/* The data that all samples of a workload begin with, whatever they replay. */
typedef struct sample_basis {
  unsigned users;
  steering steering;
  runner_contents *contents; /* of the buffers, for recordings; NULL: they do not matter */
  states *before;            /* what launches that are replayed begin with; NULL: it does not matter */
  states_run run;            /* with `before` */
} sample_basis;

typedef struct sample {
  hd_arena arena;
  sample_launch *launches;
  launch_row row;
  launch_use *use; /* per launch */
  uint32_t *like;  /* per launch: the one whose trace stands for it; itself where it is replayed */
  sample_basis *basis;
  double part;  /* of all launches' work that is replayed */
  double units; /* that is */
} sample;

/* How to sample the launches (predict/launches.h says which), for o->sample_gpu and o->sample_units. *out
 * NULL: all are replayed whole. `like`: another one of the workload, whose basis serves for this one, too;
 * NULL: there is none. One thread makes and frees samples of one basis. */
hd_status sample_make(const hd_compiled *code, const hd_run_options *run, const hd_study_options *o,
                      const sample *like, sample **out, hd_diag *d);
void sample_free(sample *s); /* NULL is fine */
bool sample_leaves_out(const sample *s, uint32_t launch);
/* How launches are recorded for it. */
record_options sample_record(const sample *s);

/* group[i]: the first launch that is as launch i. */
void sample_group(const hd_compiled *code, uint32_t *group);
/* Surveys of the launches that have traces of their own, like[i] = i; the others' are those of launches like
 * them. */
hd_status sample_survey(recording *r, const uint32_t *like, const hd_gpu *g, survey *out, hd_diag *d);

/* The tasks that a replay of a sampled launch needs. *tasks is the caller's to free. */
hd_status sample_tasks(const sample_launch *l, const hd_replay_options *o, uint64_t launched,
                       uint64_t **tasks, uint64_t *n, hd_diag *d);
/* How many these are, some perhaps twice. */
uint64_t sample_size(const sample_launch *l, uint64_t launched);
/* The launch's trace has the original's parts: threads, compulsory and, where warps are cut, the part of the
 * work that is replayed follow. `bytes`: the launch accesses no more. */
void sample_learn(sample *s, uint32_t launch, const hd_trace *t, uint64_t bytes);
/* As hd_model_replay, of a sampled launch; time_error_us tells how far its places differ. */
hd_status sample_replay(const sample_launch *l, hd_model *m, const hd_gpu *g, const hd_trace *t,
                        const hd_replay_options *o, hd_counters *out, hd_diag *d);
/* So many runs of n tasks, the first at the launch's beginning and the last at its end. */
void sample_place_runs(sample_launch *l, uint32_t parts, uint64_t n, uint64_t tasks);
/* After such a replay of a launch of so many tasks: twice as many runs, where it is unsure and there is room
 * for them. */
bool sample_grow(sample_launch *l, const hd_counters *c, uint64_t tasks);

#endif
