/* The runtime's exported symbols, from its table. They differ from the driver's (driver/entry.c) in that they
 * make a context where one is needed, and keep the last error. */
#include "cuda/runtime/runtime.h"

_Thread_local cu_result rt_last_error;

typedef enum needs { ANY, DEVICE, CONTEXT } needs;

static cu_result enter(needs n, bool per_thread) {
  pthread_mutex_lock(&core.lock);
  drv_per_thread = per_thread;
  if (n == ANY) return CU_SUCCESS;
  return n == CONTEXT ? rt_context() : core_start();
}

static cu_result leave(cu_result r) {
  core_context *c = r == CU_SUCCESS ? NULL : core_current();
  if (c && r == c->fault) c->fault_seen = true;
  pthread_mutex_unlock(&core.lock);
  if (r != CU_SUCCESS) rt_last_error = r;
  return r;
}

#define EXPORT __attribute__((visibility("default")))

#define DEFINE(exported, name, needs, per_thread, parameters, arguments)                                     \
  EXPORT cu_result exported parameters;                                                                      \
  EXPORT cu_result exported parameters {                                                                     \
    const cu_result entered = enter(needs, per_thread);                                                      \
    return leave(entered == CU_SUCCESS ? rt_##name arguments : entered);                                     \
  }
#define VARIANT_NONE(name, needs, parameters, arguments)
#define VARIANT_ptsz(name, needs, parameters, arguments)                                                     \
  DEFINE(name##_ptsz, name, needs, true, parameters, arguments)
#define VARIANT_ptds(name, needs, parameters, arguments)                                                     \
  DEFINE(name##_ptds, name, needs, true, parameters, arguments)
#define RT_ENTRY(name, needs, variant, parameters, arguments)                                                \
  DEFINE(name, name, needs, false, parameters, arguments)                                                    \
  VARIANT_##variant(name, needs, parameters, arguments)
#include "cuda/runtime/entries.def"
