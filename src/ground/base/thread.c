#include "heddle/base.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

double hd_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

unsigned hd_cpu_count(void) {
  cpu_set_t own;
  if (sched_getaffinity(0, sizeof own, &own) == 0) return (unsigned)CPU_COUNT(&own);
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : (unsigned)n;
}

typedef struct job {
  void (*fn)(void *, unsigned);
  void *ctx;
  unsigned worker;
} job;

static void *run_job(void *arg) {
  job *j = arg;
  j->fn(j->ctx, j->worker);
  return NULL;
}

bool hd_parallel(unsigned n, void (*fn)(void *ctx, unsigned worker), void *ctx) {
  if (n <= 1) {
    fn(ctx, 0);
    return true;
  }
  pthread_t *threads = calloc(n, sizeof *threads);
  job *jobs = calloc(n, sizeof *jobs);
  bool ok = threads && jobs;
  unsigned started = 1;
  for (; ok && started < n; started++) {
    jobs[started] = (job){fn, ctx, started};
    if (pthread_create(&threads[started], NULL, run_job, &jobs[started]) != 0) {
      ok = false;
      break;
    }
  }
  fn(ctx, 0);
  if (threads && jobs)
    for (unsigned i = 1; i < started; i++) pthread_join(threads[i], NULL);
  free(threads);
  free(jobs);
  return ok;
}
