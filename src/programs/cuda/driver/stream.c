/* Streams and events. */
#include <stdlib.h>
#include <string.h>

#include "cuda/driver/driver.h"

/* ---- Streams --------------------------------------------------------------------------------- */

cu_result drv_cuStreamCreateWithPriority(cu_stream *stream, unsigned flags, int priority) {
  if (!stream || flags & ~(unsigned)CU_STREAM_NON_BLOCKING) return CU_INVALID_VALUE;
  if (priority > 0) priority = 0;
  if (priority < -5) priority = -5;
  return core_stream_create(core_current(), flags, priority, stream);
}

cu_result drv_cuStreamCreate(cu_stream *stream, unsigned flags) {
  return drv_cuStreamCreateWithPriority(stream, flags, 0);
}

cu_result drv_cuStreamDestroy_v2(cu_stream stream) {
  if (!stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD || stream->kind != CORE_STREAM)
    return CU_INVALID_HANDLE;
  core_stream_destroy(stream);
  return CU_SUCCESS;
}

cu_result drv_cuStreamSynchronize(cu_stream stream) {
  core_stream *s;
  cu_result r = drv_stream_for(CORE_CAPTURE_WAITS, stream, &s);
  return r == CU_SUCCESS ? core_wait_stream(s) : r;
}

cu_result drv_cuStreamQuery(cu_stream stream) {
  core_stream *s;
  cu_result r = drv_stream_for(CORE_CAPTURE_WAITS, stream, &s);
  if (r != CU_SUCCESS) return r;
  if (!core_stream_idle(s)) return CU_NOT_READY;
  return s->context->fault;
}

/* Functions that give a property of a stream. */
#define GETTER(symbol, type, value)                                                                          \
  cu_result drv_##symbol(cu_stream stream, type *out) {                                                      \
    core_stream *s;                                                                                          \
    cu_result r = drv_stream(stream, &s);                                                                    \
    if (!out) return CU_INVALID_VALUE;                                                                       \
    if (r == CU_SUCCESS) *out = (value);                                                                     \
    return r;                                                                                                \
  }
GETTER(cuStreamGetFlags, unsigned, s->flags)
GETTER(cuStreamGetPriority, int, s->priority)
GETTER(cuStreamGetId, unsigned long long, s->id)
GETTER(cuStreamGetCtx, cu_context, s->context)
GETTER(cuStreamGetDevice, cu_device, s->context->device->ordinal)

/* ---- Attributes: kept for the program to ask for; only the priority has another meaning ---- */

static bool is_of_streams(int id) {
  return id == CU_LAUNCH_POLICY_WINDOW || id == CU_LAUNCH_SYNC_POLICY || id == CU_LAUNCH_PRIORITY ||
         id == CU_LAUNCH_SYNC_DOMAIN_MAP || id == CU_LAUNCH_SYNC_DOMAIN;
}

cu_result drv_cuStreamSetAttribute(cu_stream stream, int id, const void *value) {
  core_stream *s;
  cu_result r = drv_stream(stream, &s);
  if (r != CU_SUCCESS) return r;
  if (!value || !is_of_streams(id)) return CU_INVALID_VALUE;
  if (!s->attributes) s->attributes = calloc(CU_LAUNCH_ATTRIBUTES, sizeof *s->attributes);
  if (!s->attributes) return CU_OUT_OF_MEMORY;
  memcpy(s->attributes[id], value, sizeof *s->attributes);
  if (id == CU_LAUNCH_PRIORITY) s->priority = *(const int *)value;
  return CU_SUCCESS;
}

cu_result drv_cuStreamGetAttribute(cu_stream stream, int id, void *value) {
  core_stream *s;
  cu_result r = drv_stream(stream, &s);
  if (r != CU_SUCCESS) return r;
  if (!value || !is_of_streams(id)) return CU_INVALID_VALUE;
  memset(value, 0, sizeof *s->attributes);
  if (s->attributes) memcpy(value, s->attributes[id], sizeof *s->attributes);
  if (id == CU_LAUNCH_PRIORITY) *(int *)value = s->priority;
  return CU_SUCCESS;
}

cu_result drv_cuStreamCopyAttributes(cu_stream to, cu_stream from) {
  char value[sizeof *((core_stream *)NULL)->attributes];
  cu_result r = CU_SUCCESS;
  for (int id = 0; r == CU_SUCCESS && id < CU_LAUNCH_ATTRIBUTES; id++) {
    if (!is_of_streams(id) || id == CU_LAUNCH_PRIORITY) continue;
    r = drv_cuStreamGetAttribute(from, id, value);
    if (r == CU_SUCCESS) r = drv_cuStreamSetAttribute(to, id, value);
  }
  return r;
}

cu_result drv_cuStreamAttachMemAsync(cu_stream stream, cu_address address, size_t bytes, unsigned flags) {
  core_stream *s;
  const core_memory *m = core_memory_find(address);
  cu_result r = drv_stream_for(CORE_CAPTURE_WAITS, stream, &s);
  const bool known = flags == 1 || flags == 2 || flags == 4; /* CUmemAttach_flags */
  return r == CU_SUCCESS && (!known || !m || m->kind != CORE_MEMORY_MANAGED) ? CU_INVALID_VALUE : r;
}

typedef struct callback {
  cu_stream stream;
  cu_stream_callback *fn;
  void *data;
} callback;

static void call_back(void *data) {
  const callback *c = data;
  c->fn(c->stream, CU_SUCCESS, c->data);
  free(data);
}

cu_result drv_cuStreamAddCallback(cu_stream stream, cu_stream_callback *fn, void *data, unsigned flags) {
  core_stream *s;
  core_work *w;
  cu_result r = drv_stream_for(CORE_CAPTURE_OUTSIDE, stream, &s);
  if (r != CU_SUCCESS) return r;
  if (!fn || flags) return CU_INVALID_VALUE;
  callback *c = malloc(sizeof *c);
  if (!c) return CU_OUT_OF_MEMORY;
  *c = (callback){stream, fn, data};
  r = core_host_work(s->context, call_back, c, &w);
  if (r == CU_SUCCESS) return core_submit(s, w, NULL, NULL);
  free(c);
  return r;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static core_event *event_of(cu_event e) { return e && e->kind == CORE_EVENT ? e : NULL; }

static cu_result nothing(core_work *w) { return CU_SUCCESS; }

cu_result drv_cuEventCreate(cu_event *event, unsigned flags) {
  const bool between_processes = flags & CU_EVENT_INTERPROCESS;
  if (!event || flags & ~7u || (between_processes && !(flags & CU_EVENT_DISABLE_TIMING)))
    return CU_INVALID_VALUE;
  core_event *e = calloc(1, sizeof *e);
  if (!e) return CU_OUT_OF_MEMORY;
  e->kind = CORE_EVENT;
  e->context = core_current();
  e->flags = flags;
  *event = e;
  return CU_SUCCESS;
}

cu_result drv_cuEventDestroy_v2(cu_event event) {
  core_event *e = event_of(event);
  if (!e) return CU_INVALID_HANDLE;
  core_op_release(e->op);
  e->op = NULL;
  e->kind = CORE_DEAD;
  return CU_SUCCESS;
}

/* The event stands for the nodes that the stream's next one would follow. */
static cu_result record_in_capture(core_event *e, core_stream *s) {
  e->behind.n = 0;
  for (size_t k = 0; k < s->behind.n; k++)
    if (!hd_vec_push(&e->behind, s->behind.data[k])) return CU_OUT_OF_MEMORY;
  e->capture = s->capture;
  return s->capture->invalid ? CU_CAPTURE_INVALIDATED : CU_SUCCESS;
}

cu_result drv_cuEventRecord(cu_event event, cu_stream stream) {
  core_event *e = event_of(event);
  core_stream *s;
  core_op *op;
  cu_result r = drv_stream(stream, &s);
  if (r != CU_SUCCESS) return r;
  if (!e || e->context != s->context) return CU_INVALID_HANDLE;
  if (s->capture) return record_in_capture(e, s);
  e->capture = NULL;
  core_work *w = core_work_new(CORE_WORK_EVENT, sizeof *w, s->context, nothing);
  if (!w) return CU_OUT_OF_MEMORY;
  r = core_submit(s, w, NULL, &op);
  if (r != CU_SUCCESS) return r;
  core_op_release(e->op);
  e->op = op;
  return CU_SUCCESS;
}

/* CU_EVENT_RECORD_EXTERNAL, CU_EVENT_WAIT_EXTERNAL: in a captured stream alone. */
enum { EXTERNAL = 1 };
static cu_result external(core_stream *s, cu_node_type type, core_event *e) {
  return s->capture ? core_capture_add_event(s, type, e) : CU_INVALID_VALUE;
}

cu_result drv_cuEventRecordWithFlags(cu_event event, cu_stream stream, unsigned flags) {
  core_event *e = event_of(event);
  core_stream *s;
  if (!flags) return drv_cuEventRecord(event, stream);
  cu_result r = flags == EXTERNAL ? drv_stream(stream, &s) : CU_INVALID_VALUE;
  if (r != CU_SUCCESS) return r;
  return e && e->context == s->context ? external(s, CU_NODE_RECORD, e) : CU_INVALID_HANDLE;
}

cu_result drv_cuStreamWaitEvent(cu_stream stream, cu_event event, unsigned flags) {
  core_event *e = event_of(event);
  core_stream *s;
  cu_result r = drv_stream(stream, &s);
  if (r != CU_SUCCESS) return r;
  if (!e) return CU_INVALID_HANDLE;
  if (flags) return flags == EXTERNAL ? external(s, CU_NODE_WAIT, e) : CU_INVALID_VALUE;
  if (e->capture) return core_capture_join(s, e->capture, &e->behind);
  if (!e->op) return CU_SUCCESS;
  if (s->capture) return core_capture_isolation(s);
  core_work *w = core_work_new(CORE_WORK_EMPTY, sizeof *w, s->context, nothing);
  return w ? core_submit(s, w, e->op, NULL) : CU_OUT_OF_MEMORY;
}

cu_result drv_cuEventQuery(cu_event event) {
  core_event *e = event_of(event);
  cu_result r = e ? core_capture_event(e) : CU_INVALID_HANDLE;
  return r != CU_SUCCESS ? r : !e->op || core_op_over(e->op) ? CU_SUCCESS : CU_NOT_READY;
}

cu_result drv_cuEventSynchronize(cu_event event) {
  core_event *e = event_of(event);
  cu_result r = e ? core_capture_event(e) : CU_INVALID_HANDLE;
  return r == CU_SUCCESS ? core_wait_op(e->op, e->context) : r;
}

cu_result drv_cuEventElapsedTime(float *ms, cu_event start, cu_event end) {
  const core_event *a = event_of(start), *b = event_of(end);
  if (!ms) return CU_INVALID_VALUE;
  if (!a || !b) return CU_INVALID_HANDLE;
  if (a->capture || b->capture) return CU_CAPTURED_EVENT;
  if (a->context != b->context || !a->op || !b->op || (a->flags | b->flags) & CU_EVENT_DISABLE_TIMING)
    return CU_INVALID_HANDLE;
  if (!core_op_over(a->op) || !core_op_over(b->op)) return CU_NOT_READY;
  *ms = (float)(1000 * (b->op->ended - a->op->ended));
  return CU_SUCCESS;
}
cu_result drv_cuEventElapsedTime_v2(float *ms, cu_event start, cu_event end) {
  return drv_cuEventElapsedTime(ms, start, end);
}
