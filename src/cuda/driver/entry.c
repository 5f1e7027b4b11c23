/* The driver's exported symbols: all of them, from two tables. An entry point takes core.lock, checks what it
 * needs, and calls its handler; one without a handler says that it is missing. */
#include "cuda/driver/driver.h"

_Thread_local bool drv_per_thread;
_Thread_local const void *drv_caller;

typedef enum needs { ANY, INIT, CONTEXT } needs;

/* Inlined, so that the return address is the exported function's. */
__attribute__((always_inline)) static inline cu_result enter(needs n, bool per_thread) {
  pthread_mutex_lock(&core.lock);
  drv_caller = __builtin_return_address(0);
  drv_per_thread = per_thread;
  if (n == ANY) return CU_SUCCESS;
  const cu_result r = core_ready();
  if (r != CU_SUCCESS || n == INIT) return r;
  const core_context *c = core_current();
  if (!c) return CU_INVALID_CONTEXT;
  return c->kind == CORE_CONTEXT ? c->fault : CU_CONTEXT_IS_DESTROYED;
}

static cu_result leave(cu_result r) {
  pthread_mutex_unlock(&core.lock);
  return r;
}

#define HANDLER(symbol) drv_##symbol
#include "cuda/core/define_entry.h"

#define CU_ENTRY DEFINE_ENTRY
#include "cuda/driver/entries.def"
