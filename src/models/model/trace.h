/* model/trace.h: a recorded launch, as the replay reads it. */
#ifndef HEDDLE_MODEL_TRACE_H
#define HEDDLE_MODEL_TRACE_H

#include "heddle/model.h"
#include "model/code.h"
#include "model/path.h"
#include "model/stream.h"

typedef struct model_trace_task {
  uint64_t warp_instructions;
  uint64_t accesses; /* by its warps */
} model_trace_task;

/* When it was made: tells it from one that lay at the same address before. */
double model_trace_born(const hd_trace *t);
uint64_t model_trace_tasks(const hd_trace *t);
uint32_t model_trace_warps(const hd_trace *t);            /* per task */
uint32_t model_trace_threads(const hd_trace *t);          /* per task */
uint32_t model_trace_slots(const hd_trace *t);            /* the most that any warp's stream uses */
bool model_trace_finished(const hd_trace *t);             /* once at least */
bool model_trace_shows(const hd_trace *t, uint64_t task); /* to walks: hd_trace_show_so_far */
bool model_trace_is_ranked(const hd_trace *t); /* some access has another priority than the normal one */
model_trace_task model_trace_get_task(const hd_trace *t, uint64_t task);
/* `slots` is room for as many as the trace uses. */
void model_trace_open(const hd_trace *t, uint64_t task, uint32_t warp, model_stream_reader *r,
                      model_stream_slot *slots);

/* NULL unless paths were kept. */
const model_code *model_trace_code(const hd_trace *t);
/* Paths lie with the host thread that recorded them; NULL unless they were kept. */
unsigned model_trace_workers(const hd_trace *t);
const model_paths *model_trace_paths(const hd_trace *t, unsigned worker);
unsigned model_trace_worker_of(const hd_trace *t, uint64_t task);
uint32_t model_trace_path_of(const hd_trace *t, uint64_t task, uint32_t warp);

#endif
