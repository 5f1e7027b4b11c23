/* Contexts, and the one that a thread's calls use. */
#include <stdlib.h>

#include "cuda/core/order.h"

/* ---- Creation and destruction ----------------------------------------------------------------------- */

cu_result core_context_create(core_device *device, unsigned flags, core_context **out) {
  core_context *c = calloc(1, sizeof *c);
  if (!c) return CU_OUT_OF_MEMORY;
  c->kind = CORE_CONTEXT;
  c->device = device;
  c->flags = flags;
  c->id = ++core.next_id;
  c->limits[CU_LIMIT_STACK] = 1024;
  c->limits[CU_LIMIT_PRINTF_FIFO] = 1 << 20;
  c->limits[CU_LIMIT_HEAP] = 8 << 20;
  cu_result r = core_stream_create(c, 0, 0, &c->legacy);
  if (r == CU_SUCCESS && !hd_vec_push(&core.contexts, c)) {
    core_stream_destroy(c->legacy);
    r = CU_OUT_OF_MEMORY;
  }
  if (r != CU_SUCCESS) {
    free(c);
    return r;
  }
  *out = c;
  return CU_SUCCESS;
}

/* All that belongs to it. */
static void empty(core_context *c) {
  core_wait_context(c);
  while (c->modules.n) core_module_unload(c->modules.data[c->modules.n - 1]);
  core_memory_free_all(c);
  while (c->streams.n) core_stream_destroy(c->streams.data[c->streams.n - 1]);
  core_order_waited_gone(c, true);
  hd_vec_free(&c->modules);
  hd_vec_free(&c->streams);
}

/* Handles stay readable, so that a destroyed context is recognised for good. */
void core_context_destroy(core_context *c) {
  empty(c);
  for (size_t k = 0; k < core.contexts.n; k++)
    if (core.contexts.data[k] == c) core.contexts.data[k] = core.contexts.data[--core.contexts.n];
  core_memory_reached_on(NULL);
  c->kind = CORE_DEAD;
}

core_context *core_context_of(cu_context handle) {
  for (size_t k = 0; k < core.contexts.n; k++)
    if (core.contexts.data[k] == handle) return handle;
  return NULL;
}

/* ---- Primary contexts ---------------------------------------------------------------------------------- */

cu_result core_primary_retain(core_device *device, core_context **out) {
  if (!device->primary) {
    cu_result r = core_context_create(device, device->primary_flags, &device->primary);
    if (r != CU_SUCCESS) return r;
    device->primary->primary = true;
  }
  device->primary_refs++;
  *out = device->primary;
  return CU_SUCCESS;
}

/* A primary context's handle outlives its resets, so that threads which have it current go on. */
cu_result core_primary_reset(core_device *device) {
  core_context *c = device->primary;
  if (!c) return CU_SUCCESS;
  empty(c);
  c->fault = CU_SUCCESS;
  c->fault_seen = false;
  c->peers = 0;
  core_memory_reached_on(NULL);
  return core_stream_create(c, 0, 0, &c->legacy);
}

cu_result core_primary_release(core_device *device) {
  if (!device->primary || !device->primary_refs) return CU_INVALID_CONTEXT;
  if (--device->primary_refs) return CU_SUCCESS;
  return core_primary_reset(device);
}

/* ---- A thread's contexts --------------------------------------------------------------------- */

enum { STACK = 64 };
static _Thread_local struct {
  core_context *stack[STACK];
  int n;
  uint64_t number;
} mine;

core_context *core_current(void) { return mine.n ? mine.stack[mine.n - 1] : NULL; }

cu_result core_push(core_context *c) {
  if (mine.n == STACK) return CU_OUT_OF_MEMORY;
  mine.stack[mine.n++] = c;
  return CU_SUCCESS;
}

cu_result core_pop(core_context **c) {
  if (!mine.n) return CU_INVALID_CONTEXT;
  *c = mine.stack[--mine.n];
  return CU_SUCCESS;
}

cu_result core_set_current(core_context *c) {
  if (mine.n) mine.n--;
  return c ? core_push(c) : CU_SUCCESS;
}

uint64_t core_thread(void) {
  static uint64_t last;
  if (!mine.number) mine.number = ++last;
  return mine.number;
}
