/* work.h: work that takes long: the interpreter's lock is free meanwhile, Ctrl-C ends it, and a function of
 * Python's learns how far it is. */
#ifndef HEDDLE_PYTHON_WORK_H
#define HEDDLE_PYTHON_WORK_H

#include "convert.h"

typedef struct work {
  bool *stop;          /* for hd_run_options.stop: true once it is to end */
  bool own;            /* where `stop` points, unless something that outlives the work has a flag */
  hd_watch watch;      /* for the library */
  PyObject *progress;  /* borrowed; None: nobody asks */
  PyObject *raised[3]; /* what ended it: type, value, traceback */
} work;

/* progress: a callable (stage, done, n), or None. `stop`: a flag that outlives the work, or NULL. The struct
 * must not move. */
void work_begin(work *w, PyObject *progress, bool *stop);
/* Do fn(ctx, d) in a thread of its own, while this one waits for it and for signals. False: an exception is
 * raised: of Ctrl-C's, of the callable's, or of the failure. */
bool work_run(work *w, hd_status (*fn)(void *ctx, hd_diag *d), void *ctx, PyObject *module);

/* As the library calls them; ctx is the work. */
void work_tell(void *ctx, const char *stage, size_t done, size_t n);
bool work_is_stopped(void *ctx);

#endif
