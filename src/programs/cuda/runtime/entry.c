/* The runtime's exported symbols, from its table. They differ from the driver's (driver/entry.c) in that they
 * make a context where one is needed, and keep the last error. */
#include "cuda/runtime/runtime.h"

_Thread_local cu_result rt_last_error;

typedef enum needs { ANY, DEVICE, CONTEXT } needs;

static cu_result enter(needs n, core_capture_rule rule, bool per_thread) {
  pthread_mutex_lock(&core.lock);
  core.calls++;
  drv_per_thread = per_thread;
  if (n == ANY) return CU_SUCCESS;
  const cu_result r = n == CONTEXT ? rt_context() : core_start();
  return r == CU_SUCCESS ? core_capture_permits(rule, per_thread) : r;
}

static cu_result leave(cu_result r) {
  core_context *c = r == CU_SUCCESS ? NULL : core_current();
  if (c && r == c->fault) c->fault_seen = true;
  pthread_mutex_unlock(&core.lock);
  if (r != CU_SUCCESS) rt_last_error = r;
  return r;
}

#define HANDLER(name) rt_##name
#include "cuda/core/define_entry.h"

#define RT_ENTRY(name, needs, variant, captures, parameters, arguments)                                      \
  DEFINE_ENTRY(name, needs, CORE_CAPTURE_##captures, variant, parameters, arguments)
#include "cuda/runtime/entries.def"
