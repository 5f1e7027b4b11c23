/* The driver's exported symbols that have a handler. An entry point takes core.lock, checks what it needs,
 * and calls its handler; one without a handler says that it is missing (missing.c). */
#include "cuda/driver/driver.h"

_Thread_local bool drv_per_thread;
_Thread_local const void *drv_caller;

/* What must be there before a call. The stream or the event that it names has a context. */
typedef struct needs {
  enum { NOTHING, START, CURRENT } what;
  cu_stream stream;
  cu_event event;
} needs;
#define ANY ((needs){NOTHING, NULL, NULL})
#define INIT ((needs){START, NULL, NULL})
#define CONTEXT ((needs){CURRENT, NULL, NULL})
#define STREAM ((needs){CURRENT, stream, NULL})
#define EVENT ((needs){CURRENT, NULL, event})
#define EVENTS ((needs){CURRENT, NULL, start})
#define LAUNCH ((needs){CURRENT, config ? config->stream : NULL, NULL})

/* A thread without a context has that of its call's stream until the call is over. Calls may be made within
 * calls, by a callback. */
static _Thread_local unsigned depth, lent;

static void lend(const needs *n) {
  const cu_stream s = n->stream;
  const bool named = s && s != CU_STREAM_LEGACY && s != CU_STREAM_PER_THREAD && s->kind == CORE_STREAM;
  core_context *c = named ? s->context : n->event && n->event->kind == CORE_EVENT ? n->event->context : NULL;
  if (c && core_push(c) == CU_SUCCESS) lent = depth;
}

static cu_result current(const needs *n) {
  if (!core_current() && (n->stream || n->event)) lend(n);
  const core_context *c = core_current();
  if (!c) return CU_INVALID_CONTEXT;
  return c->kind == CORE_CONTEXT ? c->fault : CU_CONTEXT_IS_DESTROYED;
}

/* Inlined, so that the return address is the exported function's. */
__attribute__((always_inline)) static inline cu_result enter(needs n, core_capture_rule rule,
                                                             bool per_thread) {
  pthread_mutex_lock(&core.lock);
  core.calls++;
  drv_caller = __builtin_return_address(0);
  drv_per_thread = per_thread;
  depth++;
  if (n.what == NOTHING) return CU_SUCCESS;
  cu_result r = core_ready();
  if (r == CU_SUCCESS && n.what == CURRENT) r = current(&n);
  return r == CU_SUCCESS ? core_capture_permits(rule, per_thread) : r;
}

static cu_result leave(cu_result r) {
  core_context *c;
  if (lent && lent == depth) {
    core_pop(&c);
    lent = 0;
  }
  depth--;
  pthread_mutex_unlock(&core.lock);
  return r;
}

#define HANDLER(symbol) drv_##symbol
#include "cuda/core/define_entry.h"

#define CU_ENTRY(symbol, version, variant, stream, run, needs, captures, parameters, arguments)              \
  DEFINE_ENTRY(symbol, needs, CORE_CAPTURE_##captures, variant, parameters, arguments)
#include "abi/driver.def"
