#include "work.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

typedef struct job {
  hd_status (*fn)(void *ctx, hd_diag *d);
  void *ctx;
  hd_diag d;
  hd_status status;
  pthread_mutex_t lock;
  pthread_cond_t ended;
  bool done;
} job;

void work_begin(work *w, PyObject *progress, bool *stop) {
  *w = (work){.progress = progress, .stop = stop ? stop : &w->own};
  __atomic_store_n(w->stop, false, __ATOMIC_RELAXED);
  if (progress && progress != Py_None) w->watch = (hd_watch){work_tell, w};
}

/* The first exception is kept, and ends the work. */
static void keep_raised(work *w) {
  if (w->raised[0])
    PyErr_Clear();
  else
    PyErr_Fetch(&w->raised[0], &w->raised[1], &w->raised[2]);
  __atomic_store_n(w->stop, true, __ATOMIC_RELAXED);
}

void work_tell(void *ctx, const char *stage, size_t done, size_t n) {
  work *w = ctx;
  if (!w->progress || w->progress == Py_None || work_is_stopped(w)) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject *out = PyObject_CallFunction(w->progress, "snn", stage, (Py_ssize_t)done, (Py_ssize_t)n);
  if (!out) keep_raised(w);
  Py_XDECREF(out);
  PyGILState_Release(state);
}

bool work_is_stopped(void *ctx) { return __atomic_load_n(((work *)ctx)->stop, __ATOMIC_RELAXED); }

static void *do_job(void *ctx) {
  job *j = ctx;
  const hd_status status = j->fn(j->ctx, &j->d);
  pthread_mutex_lock(&j->lock);
  j->status = status;
  j->done = true;
  pthread_cond_signal(&j->ended);
  pthread_mutex_unlock(&j->lock);
  return NULL;
}

/* A moment, or until it has ended. */
static bool wait_for(job *j) {
  enum { MOMENT_NS = 50 * 1000 * 1000, SECOND_NS = 1000 * 1000 * 1000 };
  struct timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  at.tv_nsec += MOMENT_NS;
  at.tv_sec += at.tv_nsec / SECOND_NS;
  at.tv_nsec %= SECOND_NS;
  pthread_mutex_lock(&j->lock);
  if (!j->done) pthread_cond_timedwait(&j->ended, &j->lock, &at);
  const bool done = j->done;
  pthread_mutex_unlock(&j->lock);
  return done;
}

/* Python runs handlers of signals in its main thread only, between two steps of its own. */
static void attend(work *w, job *j) {
  for (bool done = false; !done;) {
    PyThreadState *others = PyEval_SaveThread();
    done = wait_for(j);
    PyEval_RestoreThread(others);
    if (PyErr_CheckSignals() != 0) keep_raised(w);
  }
}

bool work_run(work *w, hd_status (*fn)(void *ctx, hd_diag *d), void *ctx, PyObject *module) {
  job j = {.fn = fn, .ctx = ctx, .lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};
  pthread_t thread;
  if (pthread_create(&thread, NULL, do_job, &j) == 0) {
    attend(w, &j);
    pthread_join(thread, NULL);
  } else { /* no room for another thread */
    PyThreadState *others = PyEval_SaveThread();
    do_job(&j);
    PyEval_RestoreThread(others);
  }
  pthread_cond_destroy(&j.ended);
  pthread_mutex_destroy(&j.lock);
  if (w->raised[0]) {
    PyErr_Restore(w->raised[0], w->raised[1], w->raised[2]);
    memset(w->raised, 0, sizeof w->raised);
    return false;
  }
  if (j.status != HD_OK) raise_failure(module, &j.d);
  return j.status == HD_OK;
}
