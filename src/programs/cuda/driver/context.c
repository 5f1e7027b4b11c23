/* Contexts. */
#include "cuda/driver/driver.h"

cu_result drv_cuCtxCreate_v2(cu_context *context, unsigned flags, cu_device device) {
  if (!context || flags & ~(unsigned)CU_CTX_FLAGS) return CU_INVALID_VALUE;
  core_device *d = drv_device(device);
  if (!d) return CU_INVALID_DEVICE;
  cu_result r = core_context_create(d, flags, context);
  return r == CU_SUCCESS ? core_push(*context) : r;
}

cu_result drv_cuCtxCreate_v4(cu_context *context, void *params, unsigned flags, cu_device device) {
  return drv_cuCtxCreate_v2(context, flags, device);
}

cu_result drv_cuCtxDestroy_v2(cu_context context) {
  core_context *c = core_context_of(context), *top;
  if (!c || c->primary) return CU_INVALID_CONTEXT;
  if (core_current() == c) core_pop(&top);
  core_context_destroy(c);
  return CU_SUCCESS;
}

cu_result drv_cuCtxPushCurrent_v2(cu_context context) {
  core_context *c = core_context_of(context);
  return c ? core_push(c) : CU_INVALID_CONTEXT;
}

cu_result drv_cuCtxPopCurrent_v2(cu_context *context) {
  core_context *c;
  cu_result r = core_pop(&c);
  if (r == CU_SUCCESS && context) *context = c;
  return r;
}

cu_result drv_cuCtxSetCurrent(cu_context context) {
  if (context && !core_context_of(context)) return CU_INVALID_CONTEXT;
  return core_set_current(context);
}

cu_result drv_cuCtxGetCurrent(cu_context *context) {
  if (!context) return CU_INVALID_VALUE;
  *context = core_current();
  return CU_SUCCESS;
}

cu_result drv_cuCtxGetDevice(cu_device *device) {
  const core_context *c = core_current();
  if (!device) return CU_INVALID_VALUE;
  if (!c) return CU_INVALID_CONTEXT;
  *device = c->device->ordinal;
  return CU_SUCCESS;
}

cu_result drv_cuCtxGetDevice_v2(cu_device *device, cu_context context) {
  if (!context) return drv_cuCtxGetDevice(device);
  const core_context *c = core_context_of(context);
  if (!device) return CU_INVALID_VALUE;
  if (!c) return CU_INVALID_CONTEXT;
  *device = c->device->ordinal;
  return CU_SUCCESS;
}

cu_result drv_cuCtxGetFlags(unsigned *flags) {
  const core_context *c = core_current();
  if (!flags) return CU_INVALID_VALUE;
  if (!c) return CU_INVALID_CONTEXT;
  *flags = c->flags;
  return CU_SUCCESS;
}

cu_result drv_cuCtxSetFlags(unsigned flags) {
  core_context *c = core_current();
  if (flags & ~(unsigned)CU_CTX_FLAGS) return CU_INVALID_VALUE;
  if (!c) return CU_INVALID_CONTEXT;
  c->flags = flags;
  return CU_SUCCESS;
}

cu_result drv_cuCtxGetId(cu_context context, unsigned long long *id) {
  const core_context *c = context ? core_context_of(context) : core_current();
  if (!id) return CU_INVALID_VALUE;
  if (!c) return CU_CONTEXT_IS_DESTROYED;
  *id = c->id;
  return CU_SUCCESS;
}

cu_result drv_cuCtxSynchronize_v2(cu_context context) {
  core_context *c = context ? core_context_of(context) : core_current();
  cu_result r = c ? core_capture_context(c) : CU_INVALID_CONTEXT;
  return r == CU_SUCCESS ? core_wait_context(c) : r;
}
cu_result drv_cuCtxSynchronize(void) { return drv_cuCtxSynchronize_v2(NULL); }

cu_result drv_cuCtxGetApiVersion(cu_context context, unsigned *version) {
  if (!version) return CU_INVALID_VALUE;
  if (context && !core_context_of(context)) return CU_INVALID_CONTEXT;
  *version = 3020;
  return CU_SUCCESS;
}

/* ---- Settings -------------------------------------------------------------------------------- */

cu_result drv_cuCtxSetLimit(int limit, size_t value) {
  if (limit < 0 || limit >= CU_LIMITS) return CU_INVALID_VALUE;
  if (limit == CU_LIMIT_SYNC_DEPTH) return CU_UNSUPPORTED_LIMIT;
  core_current()->limits[limit] = value;
  return CU_SUCCESS;
}

cu_result drv_cuCtxGetLimit(size_t *value, int limit) {
  if (!value || limit < 0 || limit >= CU_LIMITS) return CU_INVALID_VALUE;
  *value = core_current()->limits[limit];
  return CU_SUCCESS;
}

cu_result drv_cuCtxGetCacheConfig(int *config) {
  if (!config) return CU_INVALID_VALUE;
  *config = core_current()->cache_config;
  return CU_SUCCESS;
}

cu_result drv_cuCtxSetCacheConfig(int config) {
  if (config < 0 || config > 3) return CU_INVALID_VALUE;
  core_current()->cache_config = config;
  return CU_SUCCESS;
}

cu_result drv_cuCtxGetSharedMemConfig(int *config) {
  if (!config) return CU_INVALID_VALUE;
  *config = core_current()->shared_config;
  return CU_SUCCESS;
}

cu_result drv_cuCtxSetSharedMemConfig(int config) {
  if (config < 0 || config > 2) return CU_INVALID_VALUE;
  core_current()->shared_config = config;
  return CU_SUCCESS;
}

cu_result drv_cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return CU_SUCCESS;
}

cu_result drv_cuCtxResetPersistingL2Cache(void) { return CU_SUCCESS; }

cu_result drv_cuCtxEnablePeerAccess(cu_context peer, unsigned flags) {
  const core_context *p = core_context_of(peer);
  core_context *c = core_current();
  if (flags) return CU_INVALID_VALUE;
  if (!p || p->device == c->device) return CU_INVALID_CONTEXT;
  const uint64_t bit = UINT64_C(1) << p->device->ordinal;
  if (c->peers & bit) return CU_PEER_ALREADY_ENABLED;
  c->peers |= bit;
  core_memory_reached_on(p->device);
  return CU_SUCCESS;
}

cu_result drv_cuCtxDisablePeerAccess(cu_context peer) {
  const core_context *p = core_context_of(peer);
  if (!p) return CU_INVALID_CONTEXT;
  core_wait_all(); /* kernels that run with it */
  const uint64_t bit = UINT64_C(1) << p->device->ordinal;
  if (!(core_current()->peers & bit)) return CU_PEER_NOT_ENABLED;
  core_current()->peers &= ~bit;
  core_memory_reached_on(p->device);
  return CU_SUCCESS;
}
