/* How long whole replays take, beside what hd_estimate_seconds says before: seconds of one core for the
 * traces and one replay, of the traffic alone and by the H100's clock. Those that would take over half a
 * minute are left out.
 *
 *   bench_estimate [WORKLOAD...]     at size paper; default: all */
#include <stdio.h>

#include "heddle/predict.h"

enum { LONG = 30, MANY = 1 << 20 };

static unsigned n, in_two, in_three;

/* Of so many replays all tasks of a survey are looked at, however brief they are. */
static hd_status estimate(const hd_workload *w, bool timed, double *out, hd_diag *d) {
  double many, more;
  hd_status st = hd_estimate_seconds(w, 0, 1, timed, MANY, &many, d);
  if (st == HD_OK) st = hd_estimate_seconds(w, 0, 1, timed, MANY + 1, &more, d);
  if (st == HD_OK) *out = many - (MANY - 1) * (more - many);
  return st;
}

static hd_status measure(const char *name, const hd_gpu *g, bool timed, hd_diag *d) {
  const hd_run_options run = {.machine.threads = 1, .machine.n_sms = g->n_sms};
  const hd_study_options how = {.timed = timed};
  const hd_plan baseline = {0};
  const char *depth = timed ? "timing" : "traffic";
  hd_workload *w = NULL;
  hd_study *s = NULL;
  hd_counters c;
  double says = 0;
  hd_status st = hd_workload_open(name, SOURCE_DIR "/kernels", "paper", &w, d);
  if (st == HD_OK) st = estimate(w, timed, &says, d);
  const double begin = hd_seconds();
  if (st == HD_OK && (says <= 0 || says > LONG)) {
    printf("%-24s %-8s %s\n", name, depth, says > LONG ? "left out" : "not known");
  } else if (st == HD_OK) {
    st = hd_study_open(w, &run, &how, &s, d);
    if (st == HD_OK) st = hd_study_replay(s, g, &baseline, g->dispatch, 0, &c, d);
    const double took = hd_seconds() - begin, ratio = says / took;
    if (st == HD_OK) printf("%-24s %-8s %8.2f s, estimate %8.2f s, %.2f\n", name, depth, took, says, ratio);
    n++;
    in_two += ratio >= 1. / 2 && ratio <= 2;
    in_three += ratio >= 1. / 3 && ratio <= 3;
  }
  fflush(stdout);
  hd_study_close(s);
  hd_workload_close(w);
  return st;
}

int main(int argc, char **argv) {
  char **names = NULL;
  size_t many = 0;
  hd_gpu g;
  hd_diag d = {0};
  hd_status st = hd_gpu_load("h100", SOURCE_DIR "/gpus", &g, &d);
  if (st == HD_OK)
    st = hd_workload_names(SOURCE_DIR "/kernels", argv + 1, (size_t)(argc - 1), &names, &many, &d);
  for (size_t i = 0; st == HD_OK && i < 2 * many; i++) st = measure(names[i / 2], &g, i % 2, &d);
  if (st != HD_OK) fprintf(stderr, "%s\n", d.message);
  printf("%u estimates, %u within a factor of two, %u within three\n", n, in_two, in_three);
  if (names) hd_workload_list_free(names, many);
  return st != HD_OK;
}
