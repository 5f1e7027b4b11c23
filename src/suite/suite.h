/* suite/suite.h: jobs on a device. tune.c and verify.c say what a job is, jobs.c does one after the other. */
#ifndef HEDDLE_SUITE_SUITE_H
#define HEDDLE_SUITE_SUITE_H

#include "heddle/suite.h"

typedef struct suite_job {
  const char *name; /* of the workload */
  char size[32];
} suite_job;

typedef struct suite suite;

/* The row of a job, whichever kind it is. */
typedef union suite_row {
  hd_bench_row tuned;
  hd_verify_row verified;
} suite_row;

typedef struct suite_kind {
  /* A row of it is there, and did not fail. */
  bool (*is_done)(const suite *s, const suite_job *j);
  /* Make the row; *gone: there is none to be made. */
  hd_status (*run)(suite *s, const suite_job *j, suite_row *row, bool *gone, hd_diag *d);
  /* Keep it, or, where `failed` says why there is none, one that says so. `line`: what is said of it. */
  hd_status (*keep)(suite *s, const suite_job *j, suite_row *row, const char *failed, hd_buf *line,
                    hd_diag *d);
} suite_kind;

struct suite {
  const hd_suite_options *o;
  const suite_kind *kind;
  hd_device **device;
  hd_bench_results *r;
  double least; /* verify.c: a speedup below it is bad */
  HD_VEC(suite_job) jobs;
};

/* Twice the same is one job. */
hd_status suite_add(suite *s, const char *name, const char *size, hd_diag *d);
hd_status suite_run(suite *s, hd_diag *d);
void suite_free(suite *s);

#endif
