/* What all of a workload's launches take, from surveys of them. */
#include <math.h>
#include <stdlib.h>

#include "heddle/predict.h"
#include "predict/sample.h"

/* Nanoseconds of one core of a processor of 2022. */
enum {
  TRACED_INSTRUCTION = 20, /* of a warp */
  TRACED_SECTOR = 20,
  TRACED_SHARED = 80,   /* where a clock will ask for bank conflicts */
  REPLAYED_ACCESS = 50, /* of a warp, to global memory */
  REPLAYED_SECTOR = 25,
  CLOCKED_ACCESS = 200, /* which a clock adds */
  CLOCKED_SHARED = 30,
};

typedef struct estimate {
  double instructions;  /* of threads */
  double trace, replay; /* seconds of one core; with a clock, if the options have one */
} estimate;

static void add(estimate *e, const hd_trace_info *of, double tasks, bool timed) {
  const double many = of->recorded ? tasks / (double)of->recorded : 0;
  const double accesses = (double)of->warp_accesses, shared = (double)of->shared_accesses,
               sectors = (double)of->sectors;
  e->instructions += many * (double)of->thread_instructions;
  e->trace += 1e-9 * many *
              ((double)of->warp_instructions * TRACED_INSTRUCTION + sectors * TRACED_SECTOR +
               (timed ? shared * TRACED_SHARED : 0));
  e->replay += 1e-9 * many *
               (accesses * REPLAYED_ACCESS + sectors * REPLAYED_SECTOR +
                (timed ? accesses * CLOCKED_ACCESS + shared * CLOCKED_SHARED : 0));
}

/* All zero: not known. */
static hd_status survey_workload(const hd_workload *w, const hd_run_options *o, estimate *out, hd_diag *d) {
  hd_run_options untimed = *o;
  const hd_compiled *code;
  runner_contents *contents = NULL;
  steering by = {0};
  recording *r;
  *out = (estimate){0};
  untimed.timed = false;
  hd_status st = hd_workload_compiled(w, hd_launch_arch(NULL, o->arch), &code, d);
  if (st == HD_OK) st = record_steering(code, &by, d);
  const bool possible = by.kind == STEERED_BY_NOTHING, reads_data = by.reads_data;
  steering_free(&by);
  if (st != HD_OK || !possible) return st;
  survey *s = calloc((size_t)w->n_launches + 1, sizeof *s);
  uint32_t *like = calloc((size_t)w->n_launches + 1, sizeof *like);
  if (!s || !like) st = hd_nomem(d);
  if (st == HD_OK) sample_group(code, like);
  if (st == HD_OK) st = record_contents(w, reads_data, &contents, d);
  if (st == HD_OK)
    st = record_open(code, NULL, &untimed, &(record_options){.contents = contents, .like = like}, &r, d);
  if (st == HD_OK) {
    st = sample_survey(r, like, NULL, s, d);
    for (uint32_t i = 0; st == HD_OK && i < w->n_launches; i++) {
      const hd_trace_info info = hd_trace_get_info(r->traces[like[i]]);
      add(out, &info, (double)s[i].tasks, o->timed);
    }
    record_close(r);
  }
  record_contents_free(contents);
  free(s);
  free(like);
  return st;
}

hd_status hd_estimate_instructions(const hd_workload *w, const hd_run_options *o, double *out, hd_diag *d) {
  estimate e;
  const hd_status st = survey_workload(w, o, &e, d);
  *out = e.instructions;
  return st;
}

hd_status hd_estimate_seconds(const hd_workload *w, const hd_run_options *o, size_t replays, double *out,
                              hd_diag *d) {
  estimate e;
  const double threads = o->threads ? o->threads : hd_cpu_count();
  const hd_status st = survey_workload(w, o, &e, d);
  *out = e.trace / threads + e.replay * ceil((double)replays / threads);
  return st;
}
