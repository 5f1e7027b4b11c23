/* The time of each launch, between two events in its stream. Events whose times are known are used again. */
#include <string.h>

#include "run/watch.h"

enum { PENDING = 1024 };

typedef struct timing {
  run_kernel *kernel;
  cu_event begin, end;
} timing;

/* A ring: timings whose end is not known to have been reached, the oldest first; the events of others are
 * made already. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static timing pending[PENDING];
static size_t first, n;

static void take_times(void) {
  for (; n; first = (first + 1) % PENDING, n--) {
    timing *t = &pending[first];
    float ms;
    const int r = run_real.cuEventElapsedTime(&ms, t->begin, t->end);
    if (r == CU_NOT_READY) return;
    if (r == CU_SUCCESS) {
      t->kernel->seconds += (double)ms * 1e-3;
      t->kernel->timed++;
    }
  }
}

void run_times_take(void) {
  if (!run_settings.profile || !run_real.cuEventElapsedTime) return;
  pthread_mutex_lock(&lock);
  const int mode = run_captures_relax();
  take_times();
  run_captures_restore(mode);
  pthread_mutex_unlock(&lock);
}

static int record(const run_launch *l, cu_event event) {
  fn_cuEventRecord *const mark = l->per_thread ? run_real.cuEventRecord_ptsz : run_real.cuEventRecord;
  return mark ? mark(event, l->stream) : CU_NOT_SUPPORTED;
}

bool run_time_begin(run_kernel *k, const run_launch *l, run_time *out) {
  const run_driver *d = &run_real;
  if (!k || !d->cuEventCreate || !d->cuEventElapsedTime || run_is_captured(l)) return false;
  pthread_mutex_lock(&lock);
  const int mode = run_captures_relax();
  take_times();
  timing *t = n < PENDING ? &pending[(first + n) % PENDING] : NULL;
  if (t && !t->begin && d->cuEventCreate(&t->begin, 0) != CU_SUCCESS) t->begin = NULL;
  if (t && !t->end && d->cuEventCreate(&t->end, 0) != CU_SUCCESS) t->end = NULL;
  run_captures_restore(mode);
  const bool ok = t && t->begin && t->end && record(l, t->begin) == CU_SUCCESS;
  if (ok) *out = (run_time){k, t->end};
  /* Until it ends, no other thread may take its place. */
  if (!ok) pthread_mutex_unlock(&lock);
  return ok;
}

void run_time_end(const run_time *t, const run_launch *l, bool launched) {
  if (launched && record(l, t->end) == CU_SUCCESS) pending[(first + n++) % PENDING].kernel = t->kernel;
  pthread_mutex_unlock(&lock);
}
