/* A trace's accesses, one task at a time, for the floors above the model. */
#include <inttypes.h>
#include <stdlib.h>

#include "model/trace.h"

uint64_t hd_trace_tasks(const hd_trace *t) { return model_trace_tasks(t); }

uint64_t hd_trace_task_instructions(const hd_trace *t, uint64_t task) {
  return model_trace_shows(t, task) ? model_trace_get_task(t, task).warp_instructions : 0;
}

hd_status hd_trace_walk(const hd_trace *t, uint64_t first, uint64_t n, hd_trace_fn *fn, void *ctx,
                        hd_diag *d) {
  if (!model_trace_finished(t)) return hd_fail(d, HD_ERR_USAGE, "the trace is not finished");
  const uint64_t tasks = model_trace_tasks(t);
  if (first > tasks || n > tasks - first)
    return hd_fail(d, HD_ERR_USAGE, "the trace has no task %" PRIu64, first > tasks ? first : tasks);
  model_stream_slot slots[STREAM_SLOTS];
  for (uint64_t task = first; task < first + n; task++)
    for (uint32_t warp = 0; model_trace_shows(t, task) && warp < model_trace_warps(t); warp++) {
      model_stream_reader r;
      model_stream_event e;
      model_trace_open(t, task, warp, &r, slots);
      for (model_stream_next(&r, &e); e.slot != STREAM_END; model_stream_next(&r, &e)) {
        if (e.slot == STREAM_BARRIER) continue;
        model_runs runs;
        model_stream_runs(e.shape, e.address, &runs);
        const hd_trace_event event = {.task = task,
                                      .warp = warp,
                                      .kind = (hd_access_kind)model_stream_kind(e.attr),
                                      .cache = (uint8_t)model_stream_cache(e.attr),
                                      .inst = slots[e.slot].inst,
                                      .n = runs.n,
                                      .start = runs.start,
                                      .bytes = runs.bytes};
        fn(ctx, &event);
      }
    }
  return HD_OK;
}
