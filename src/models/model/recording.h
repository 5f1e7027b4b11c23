/* model/recording.h: how the hooks of an emulator fill a trace, and what a trace is made of.
 *
 * Of the room model/ alone: model/trace.c makes, finishes and reads traces, model/recording.c has the hooks.
 */
#ifndef HEDDLE_MODEL_RECORDING_H
#define HEDDLE_MODEL_RECORDING_H

#include <pthread.h>
#include <stdatomic.h>

#include "model/footprint.h"
#include "model/path.h"
#include "model/trace.h"

enum { MODEL_WORKER_BLOCKS = 13 }; /* each has as many workers as all before it, and the first one at least */

/* A CTA that has started and not ended. */
typedef struct open_cta {
  uint64_t task;
  bool open;
  model_stream_writer *warps;
  model_path_writer *paths; /* NULL unless paths are kept */
  model_task_writes writes;
} open_cta;

/* One of a worker's distinct streams: a part of its `bytes`. */
typedef struct stream_place {
  size_t offset, length;
} stream_place;

/* The records of one host thread in one recording. No other thread sees them before hd_trace_finish, and none
 * changes them after it: replays read them while further tasks are recorded. */
typedef struct model_worker {
  HD_VEC(open_cta) ctas;
  size_t latest; /* index of the CTA that the last hook was about */
  HD_VEC(uint8_t) bytes;
  HD_VEC(stream_place) streams;
  model_index index; /* of streams */
  model_footprint foot;
  model_paths paths;
  hd_trace_info info; /* this worker's share of the sums */
  uint32_t slots;     /* the most that a stream uses */
  bool ranked;        /* some access has another priority than the normal one */
  uint64_t charged;   /* bytes of memory accounted for */
  char pad[64];
} model_worker;

typedef struct task_entry {
  uint64_t warp_instructions;
  uint32_t accesses;       /* UINT32_MAX: as many or more */
  _Atomic uint32_t worker; /* number + 1; 0: it has not ended. Written last */
} task_entry;

struct hd_trace {
  uint32_t threads, warps; /* per task */
  uint64_t tasks;
  hd_emu_hooks hooks;
  task_entry *task;
  /* [tasks * warps]: where each warp starts, and its stream in its worker's list */
  uint64_t *base;
  uint32_t *stream;
  uint32_t *path;                            /* the same, of its path; NULL unless paths are kept */
  model_code code;                           /* of the module, where paths are kept */
  model_worker *blocks[MODEL_WORKER_BLOCKS]; /* they do not move */
  unsigned first_block;                      /* workers of the first one: a power of two */
  unsigned n_workers;
  unsigned at_once, recording; /* host threads of a launch; the first of the workers that now record */
  _Atomic unsigned published;  /* workers whose records are for all to read; 0: never finished */
  _Atomic unsigned shown;      /* workers whose tasks walks and sums show; 0: all that are published */
  uint64_t limit;
  uint64_t most;         /* work that it may be (hd_trace_set_most); 0: any */
  hd_meter *meter;       /* or NULL */
  _Atomic uint64_t work; /* so far */
  _Atomic uint64_t memory;
  _Atomic int failure;    /* model_trace_failure, the first one */
  _Atomic uint32_t slots; /* the most that a stream uses */
  _Atomic bool ranked;
  bool open; /* it takes tasks */
  bool gaps; /* tasks may be missing */
  double born;
  pthread_mutex_t lock; /* of info */
  hd_trace_info info;   /* of what is shown */
};

typedef enum model_trace_failure {
  TRACE_OK = 0,
  TRACE_LIMIT,
  TRACE_LONG,
  TRACE_NOMEM,
  TRACE_ADDRESS,
  TRACE_UNEXPECTED,
  TRACE_TWICE,
} model_trace_failure;

/* Block k begins with worker first_block * (2^k - 1). */
static inline unsigned model_worker_block(const hd_trace *t, unsigned number) {
  return (unsigned)(__builtin_clz(t->first_block) - __builtin_clz(number + t->first_block));
}

static inline model_worker *model_worker_at(const hd_trace *t, unsigned number) {
  const unsigned k = model_worker_block(t, number);
  return &t->blocks[k][number + t->first_block - (t->first_block << k)];
}

/* No more tasks start. hd_trace_finish reports the first failure. */
void model_recording_fail(hd_trace *t, model_trace_failure f);
bool model_recording_has_failed(const hd_trace *t);
/* Account for memory. False: it is more than the trace's limit, and the trace has failed. */
bool model_recording_charge(hd_trace *t, uint64_t bytes);

/* With `ran` where the trace has room for paths. */
hd_emu_hooks model_recording_hooks(hd_trace *t);

/* Give back the room that a worker's lists do not use. */
void model_recording_shrink(model_worker *w);
/* Free the memory that only recording needs, of the workers from `first` on; of a trace that may be resumed,
 * all but the footprint. */
void model_recording_free(hd_trace *t, unsigned first, bool resumes);

#endif
