/* How fast launches are traced, and replayed by the H100's clock: thread instructions per second of one
 * core's time.
 *
 *   bench_timing [WORKLOAD...]     at size paper; default: four of different kinds */
#include <stdio.h>
#include <time.h>

#include "heddle/predict.h"

static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static hd_status measure(const char *name, const hd_gpu *g, hd_diag *d) {
  hd_workload *w = NULL;
  hd_study *s = NULL;
  hd_counters c = {0};
  const hd_plan baseline = {0};
  const hd_run_options run = {.machine.threads = 1, .machine.n_sms = g->n_sms};
  const hd_study_options how = {.timed = true};
  hd_status st = hd_workload_open(name, SOURCE_DIR "/kernels", "paper", &w, d);
  double begin = cpu_seconds();
  if (st == HD_OK) st = hd_study_open(w, &run, &how, &s, d);
  double traced = cpu_seconds();
  if (st == HD_OK) st = hd_study_replay(s, g, &baseline, g->dispatch, 0, &c, d);
  double end = cpu_seconds(), millions = (double)c.thread_instructions / 1e6;
  if (st == HD_OK)
    printf("%-24s %10.1f M thread instructions: trace %7.1f M/s, replay %7.1f M/s (%.1f M units/s), both "
           "%7.1f M/s\n",
           name, millions, millions / (traced - begin), millions / (end - traced),
           hd_study_units(s) / 1e6 / (end - traced), millions / (end - begin));
  hd_study_close(s);
  hd_workload_close(w);
  return st;
}

int main(int argc, char **argv) {
  static const char *const some[] = {"matmul-naive", "atax", "lps", "histogram"};
  const char *const *names = argc > 1 ? (const char *const *)argv + 1 : some;
  int n = argc > 1 ? argc - 1 : (int)(sizeof some / sizeof *some);
  hd_gpu g;
  hd_diag d = {0};
  hd_status st = hd_gpu_load("h100", SOURCE_DIR "/gpus", &g, &d);
  for (int i = 0; st == HD_OK && i < n; i++) st = measure(names[i], &g, &d);
  if (st != HD_OK) fprintf(stderr, "%s\n", d.message);
  return st != HD_OK;
}
