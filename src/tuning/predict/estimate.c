/* What all of a workload's launches take, from surveys of them. */
#include <math.h>
#include <stdlib.h>

#include "heddle/predict.h"
#include "predict/study.h"

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

double estimate_replay(hd_trace *const *traces, const sample *sampled, uint32_t n, bool timed) {
  estimate e = {0};
  for (uint32_t i = 0; i < n; i++) {
    if (sampled && sample_leaves_out(sampled, i)) continue;
    const hd_trace_info info = hd_trace_get_info(traces[i]);
    add(&e, &info, (double)info.recorded, timed);
  }
  return e.replay;
}

static void add_up(recording *r, const uint32_t *like, bool timed, estimate *out) {
  *out = (estimate){0};
  for (uint32_t i = 0; i < r->r.w->n_launches; i++) {
    const hd_trace_info info = hd_trace_get_info(r->traces[like[i]]);
    uint64_t tasks;
    hd_grid_tasks(r->r.w->launches[i].grid, &tasks);
    add(out, &info, (double)tasks, timed);
  }
}

static double seconds_of(const estimate *e, unsigned asked, size_t replays) {
  const double threads = asked ? asked : hd_cpu_count();
  return e->trace / threads + e->replay * ceil((double)replays / threads);
}

/* One task of each launch, from the middle of its grid. */
static hd_status take_one(recording *r, const uint32_t *like, hd_diag *d) {
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && i < r->r.w->n_launches; i++) {
    uint64_t tasks;
    hd_grid_tasks(r->r.w->launches[i].grid, &tasks);
    const uint64_t middle = tasks / 2;
    if (like[i] == i && tasks) st = record_tasks(r, i, &middle, 1, UINT64_MAX, d);
  }
  return st;
}

/* All zero: not known. `replays`: one task of each launch is enough where they take BRIEF seconds by these; a
 * survey would be all of a launch that has few. 0: it is not. */
static hd_status survey_workload(const hd_workload *w, unsigned arch, unsigned threads, bool timed,
                                 size_t replays, estimate *out, hd_diag *d) {
  enum { BRIEF = 5 };
  const hd_run_options run = {.compile.arch = arch, .machine.threads = threads};
  const hd_compiled *code;
  runner_contents *contents = NULL;
  steering by = {0};
  recording *r;
  *out = (estimate){0};
  hd_status st = hd_workload_compiled(w, hd_launch_arch(NULL, arch), &code, d);
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
    st = record_open(code, NULL, &run, &(record_options){.contents = contents, .like = like}, &r, d);
  if (st == HD_OK) {
    if (replays) st = take_one(r, like, d);
    if (st == HD_OK && replays) add_up(r, like, timed, out);
    if (st == HD_OK && (!replays || seconds_of(out, threads, replays) > BRIEF)) {
      st = sample_survey(r, like, NULL, s, d);
      if (st == HD_OK) add_up(r, like, timed, out);
    }
    record_close(r);
  }
  record_contents_free(contents);
  free(s);
  free(like);
  return st;
}

hd_status hd_estimate_instructions(const hd_workload *w, unsigned arch, unsigned threads, double *out,
                                   hd_diag *d) {
  estimate e;
  const hd_status st = survey_workload(w, arch, threads, false, 0, &e, d);
  *out = e.instructions;
  return st;
}

hd_status hd_estimate_seconds(const hd_workload *w, unsigned arch, unsigned threads, bool timed,
                              size_t replays, double *out, hd_diag *d) {
  estimate e;
  const hd_status st = survey_workload(w, arch, threads, timed, replays ? replays : 1, &e, d);
  *out = seconds_of(&e, threads, replays);
  return st;
}
