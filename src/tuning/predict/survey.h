/* predict/survey.h: what the tasks of a launch take, from some of them. */
#ifndef HEDDLE_PREDICT_SURVEY_H
#define HEDDLE_PREDICT_SURVEY_H

#include "predict/task_traces.h"

enum {
  SURVEYED = 16,   /* tasks of a launch that tell its work */
  LEAST_CUT = 512, /* instructions of a warp that is cut */
};

typedef struct survey {
  uint64_t tasks, wave;
  double units, instructions; /* of a task */
  bool uneven;         /* a few tasks have most of the work: those looked at had less than half of it */
  bool varied;         /* most tasks are short, and a few of those looked at have far more work */
  double at[SURVEYED]; /* varied: instructions of a task, in each of as many parts of the grid */
} survey;

/* The units of what a trace has recorded. */
double sample_units_of(const hd_trace_info *info);

uint32_t survey_warps(const hd_wl_launch *l); /* of a task */
/* Short tasks are not cut, because their beginnings and ends are most of their time. */
bool survey_is_brief(double instructions, uint32_t warps);

/* Record some tasks of the launch. `g` NULL: without its waves. */
hd_status survey_take(recording *r, uint32_t launch, const hd_gpu *g, survey *out, hd_diag *d);
/* After that: varied tasks are surveyed once more, closer and part by part. */
hd_status survey_look_closer(recording *r, uint32_t launch, survey *out, hd_diag *d);

/* What a plan's tasks take, as a multiple of the originals', which have so many instructions on average: from
 * a few that both run to their ends. 1 where these would be too long, or are not the same tasks. The caller
 * holds the lock of `changed`. */
hd_status survey_compare(recording *original, recording *changed, uint32_t launch, double instructions,
                         double *out, hd_diag *d);

#endif
