/* Devices, and the one that a thread's calls use. */
#include <string.h>

#include "cuda/runtime/front.h"

static _Thread_local int my_device;
static bool retained[CORE_MAX_DEVICES]; /* the runtime keeps each primary context that it uses */

/* The primary context of the thread's device becomes current. */
static cu_result use_device(void) {
  core_device *d = drv_device(my_device);
  core_context *c;
  if (!d) return CU_INVALID_DEVICE;
  cu_result r = CU_SUCCESS;
  if (retained[my_device])
    c = d->primary;
  else
    r = core_primary_retain(d, &c);
  if (r != CU_SUCCESS) return r;
  retained[my_device] = true;
  return core_set_current(c);
}

cu_result rt_context(void) {
  cu_result r = core_start();
  if (r == CU_SUCCESS && !core_current()) r = use_device();
  if (r != CU_SUCCESS) return r;
  const core_context *c = core_current();
  return c->kind == CORE_CONTEXT ? c->fault : CU_CONTEXT_IS_DESTROYED;
}

cu_result rt_cudaGetDeviceCount(int *n) { return drv_cuDeviceGetCount(n); }

cu_result rt_cudaGetDevice(int *device) {
  if (!device) return CU_INVALID_VALUE;
  const core_context *c = core_current();
  *device = c ? c->device->ordinal : my_device;
  return CU_SUCCESS;
}

cu_result rt_cudaSetDevice(int device) {
  if (!drv_device(device)) return CU_INVALID_DEVICE;
  my_device = device;
  return use_device();
}

cu_result rt_cudaInitDevice(int device, unsigned flags, unsigned more) {
  return drv_device(device) ? CU_SUCCESS : CU_INVALID_DEVICE;
}

cu_result rt_cudaSetValidDevices(int *devices, int n) {
  for (int k = 0; k < n; k++)
    if (!devices || !drv_device(devices[k])) return CU_INVALID_DEVICE;
  return CU_SUCCESS;
}

cu_result rt_cudaChooseDevice(int *device, const void *properties) {
  if (!device || !properties) return CU_INVALID_VALUE;
  *device = 0;
  return CU_SUCCESS;
}

cu_result rt_cudaSetDeviceFlags(unsigned flags) {
  return drv_cuDevicePrimaryCtxSetFlags_v2(my_device, flags);
}

cu_result rt_cudaGetDeviceFlags(unsigned *flags) {
  int active;
  cu_result r = flags ? drv_cuDevicePrimaryCtxGetState(my_device, flags, &active) : CU_INVALID_VALUE;
  if (r == CU_SUCCESS) *flags |= CU_CTX_MAP_HOST;
  return r;
}

cu_result rt_cudaDeviceGetAttribute(int *value, int attribute, int device) {
  return drv_cuDeviceGetAttribute(value, attribute, device);
}
cu_result rt_cudaDeviceGetPCIBusId(char *id, int cap, int device) {
  return drv_cuDeviceGetPCIBusId(id, cap, device);
}
cu_result rt_cudaDeviceGetByPCIBusId(int *device, const char *id) {
  return drv_cuDeviceGetByPCIBusId(device, id);
}

cu_result rt_cudaDeviceSynchronize(void) { return rt_front_cuCtxSynchronize(); }
cu_result rt_cudaThreadSynchronize(void) { return rt_front_cuCtxSynchronize(); }

cu_result rt_cudaDeviceReset(void) {
  rt_last_error = CU_SUCCESS;
  return rt_front_cuDevicePrimaryCtxReset_v2(my_device);
}
cu_result rt_cudaThreadExit(void) { return rt_cudaDeviceReset(); }

cu_result rt_cudaDeviceSetLimit(int limit, size_t value) { return drv_cuCtxSetLimit(limit, value); }
cu_result rt_cudaDeviceGetLimit(size_t *value, int limit) { return drv_cuCtxGetLimit(value, limit); }
cu_result rt_cudaDeviceSetCacheConfig(int config) { return drv_cuCtxSetCacheConfig(config); }
cu_result rt_cudaDeviceGetCacheConfig(int *config) { return drv_cuCtxGetCacheConfig(config); }
cu_result rt_cudaDeviceSetSharedMemConfig(int config) { return drv_cuCtxSetSharedMemConfig(config); }
cu_result rt_cudaDeviceGetSharedMemConfig(int *config) { return drv_cuCtxGetSharedMemConfig(config); }
cu_result rt_cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  return drv_cuCtxGetStreamPriorityRange(least, greatest);
}
/* Names of CUDA 3. */
cu_result rt_cudaThreadSetLimit(int limit, size_t value) { return drv_cuCtxSetLimit(limit, value); }
cu_result rt_cudaThreadGetLimit(size_t *value, int limit) { return drv_cuCtxGetLimit(value, limit); }
cu_result rt_cudaThreadSetCacheConfig(int config) { return drv_cuCtxSetCacheConfig(config); }
cu_result rt_cudaThreadGetCacheConfig(int *config) { return drv_cuCtxGetCacheConfig(config); }
/* Devices have doubles. */
cu_result rt_cudaSetDoubleForDevice(double *d) { return CU_SUCCESS; }
cu_result rt_cudaSetDoubleForHost(double *d) { return CU_SUCCESS; }
cu_result rt_cudaProfilerInitialize(const char *config, const char *output, int mode) { return CU_SUCCESS; }
cu_result rt_cudaCtxResetPersistingL2Cache(void) { return CU_SUCCESS; }

/* ---- Peers ----------------------------------------------------------------------------------- */

cu_result rt_cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  return drv_cuDeviceCanAccessPeer(can, device, peer);
}

static cu_result peer_context(int peer, core_context **c) {
  core_device *d = drv_device(peer);
  if (!d) return CU_INVALID_DEVICE;
  *c = d->primary;
  if (retained[peer]) return CU_SUCCESS;
  retained[peer] = true;
  return core_primary_retain(d, c);
}

cu_result rt_cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  core_context *c;
  cu_result r = peer_context(peer, &c);
  if (r == CU_SUCCESS) r = drv_cuCtxEnablePeerAccess(c, flags);
  return r == CU_INVALID_CONTEXT ? CU_INVALID_DEVICE : r;
}

cu_result rt_cudaDeviceDisablePeerAccess(int peer) {
  core_context *c;
  cu_result r = peer_context(peer, &c);
  return r == CU_SUCCESS ? drv_cuCtxDisablePeerAccess(c) : r;
}

cu_result rt_cudaDeviceGetP2PAttribute(int *value, int attribute, int device, int peer) {
  return drv_cuDeviceGetP2PAttribute(value, attribute, device, peer);
}
