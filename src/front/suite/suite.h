/* suite/suite.h: jobs on devices. paper_tables.c and verify.c say what a job is, jobs.c has them done: one
 * after the other, or by the ranks of a pool, each on a GPU of its own. */
#ifndef HEDDLE_SUITE_SUITE_H
#define HEDDLE_SUITE_SUITE_H

#include "heddle/suite.h"

typedef struct suite_job {
  const char *name; /* of the workload */
  char size[32];
} suite_job;

typedef struct suite suite;

/* The outcome of a job. Its bytes go from process to process, verdicts behind them. */
typedef struct suite_answer {
  hd_bench_gpu gpu; /* that it was done on */
  char failed[512]; /* why there is no row; "" */
  bool gone;        /* there is none to be made */
  bool left;        /* it was not begun: the time for all is over */
  union {           /* the row, whichever kind it is */
    hd_bench_row tuned;
    hd_verify_row verified;
  } row;
} suite_answer;

typedef struct suite_kind {
  const char *name;
  /* A row of it is there, and did not fail. */
  bool (*is_done)(const suite *s, const suite_job *j);
  /* Make the row. Where answers are carried to another process, `verdicts` is what there is to be kept. */
  hd_status (*run)(suite *s, const suite_job *j, suite_answer *a, hd_buf *verdicts, hd_diag *d);
  /* Keep it, or, where it failed, one that says so. `line`: what is said of it. */
  hd_status (*keep)(suite *s, const suite_job *j, suite_answer *a, hd_buf *line, hd_diag *d);
  /* A row that another GPU measures once more, from its verdicts; both are replaced. NULL: none. */
  bool (*doubted)(const suite_answer *a);
  hd_status (*second)(suite *s, const suite_job *j, suite_answer *a, const char *text, size_t len,
                      hd_buf *verdicts, hd_diag *d);
} suite_kind;

struct suite {
  const hd_suite_options *o;
  const suite_kind *kind;
  hd_device **device;
  hd_bench_results *r;
  double least; /* verify.c: a speedup below it is bad */
  double start;
  size_t n_left;
  HD_VEC(suite_job) jobs;
  HD_VEC(double) costs; /* of each */
};

/* Twice the same is one job. The cost is in any unit. */
hd_status suite_add(suite *s, const char *name, const char *size, double cost, hd_diag *d);
/* *whole: all rows are kept, here; else in a journal, or in the process that asked for them. */
hd_status suite_run(suite *s, bool *whole, hd_diag *d);
void suite_free(suite *s);
/* Verdicts are carried to the process that keeps all rows, which puts them into its store. */
bool suite_carries(const suite *s);
/* A process with this GPU. */
hd_worker suite_worker(const hd_bench_gpu *g);

/* ---- Verdicts on their way (paper_tables.c) -------------------------------------------------------- */

/* A tuning's verdicts as text. */
hd_status suite_put_verdicts(hd_device *dev, const hd_workload *w, const hd_tune_options *how,
                             const hd_tuning *t, hd_buf *out, hd_diag *d);
/* Measure verdicts, as text, on another GPU than they were found on. *held: all still win. *t is to be freed
 * on HD_OK; it has the originals in place of plans that do not. */
hd_status suite_measure_again(hd_device *dev, const hd_workload *w, const hd_tune_options *how,
                              const char *text, size_t len, hd_tuning *t, bool *held, hd_diag *d);
/* Of the kernels. */
unsigned suite_count_adopted(const hd_tuning *t);

#endif
