/* Calls of the driver that newer ones have taken the place of. */
#include <stdlib.h>
#include <string.h>

#include "cuda/driver/driver.h"

/* ---- Launches whose parameters are set one by one ------------------------------------------- */

/* They belong to the function. */
typedef struct pending {
  const core_function *function;
  uint32_t block[3], shared, bytes;
  char params[4096];
} pending;
static HD_VEC(pending *) launches;

static pending *pending_of(core_function *f) {
  if (!f || f->kind != CORE_FUNCTION) return NULL;
  for (size_t k = 0; k < launches.n; k++)
    if (launches.data[k]->function == f) return launches.data[k];
  pending *p = calloc(1, sizeof *p);
  if (!p || !hd_vec_push(&launches, p)) {
    free(p);
    return NULL;
  }
  *p = (pending){.function = f, .block = {1, 1, 1}};
  return p;
}

cu_result drv_cuFuncSetBlockShape(cu_function function, int x, int y, int z) {
  pending *p = pending_of(function);
  if (!p) return CU_INVALID_HANDLE;
  if (x <= 0 || y <= 0 || z <= 0) return CU_INVALID_VALUE;
  p->block[0] = (uint32_t)x;
  p->block[1] = (uint32_t)y;
  p->block[2] = (uint32_t)z;
  return CU_SUCCESS;
}

cu_result drv_cuFuncSetSharedSize(cu_function function, unsigned bytes) {
  pending *p = pending_of(function);
  if (p) p->shared = bytes;
  return p ? CU_SUCCESS : CU_INVALID_HANDLE;
}

cu_result drv_cuParamSetSize(cu_function function, unsigned bytes) {
  pending *p = pending_of(function);
  if (!p) return CU_INVALID_HANDLE;
  if (bytes > sizeof p->params) return CU_INVALID_VALUE;
  p->bytes = bytes;
  return CU_SUCCESS;
}

cu_result drv_cuParamSetv(cu_function function, int offset, void *value, unsigned bytes) {
  pending *p = pending_of(function);
  if (!p) return CU_INVALID_HANDLE;
  if (!value || offset < 0 || (size_t)offset > sizeof p->params || bytes > sizeof p->params - (size_t)offset)
    return CU_INVALID_VALUE;
  memcpy(p->params + offset, value, bytes);
  return CU_SUCCESS;
}
cu_result drv_cuParamSeti(cu_function function, int offset, unsigned value) {
  return drv_cuParamSetv(function, offset, &value, sizeof value);
}
cu_result drv_cuParamSetf(cu_function function, int offset, float value) {
  return drv_cuParamSetv(function, offset, &value, sizeof value);
}

cu_result drv_cuLaunchGridAsync(cu_function function, int width, int height, cu_stream stream) {
  pending *p = pending_of(function);
  if (!p) return CU_INVALID_HANDLE;
  if (width <= 0 || height <= 0) return CU_INVALID_VALUE;
  size_t bytes = p->bytes;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER, p->params, CU_LAUNCH_PARAM_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  return drv_cuLaunchKernel(function, (unsigned)width, (unsigned)height, 1, p->block[0], p->block[1],
                            p->block[2], p->shared, stream, NULL, extra);
}
cu_result drv_cuLaunchGrid(cu_function function, int width, int height) {
  return drv_cuLaunchGridAsync(function, width, height, NULL);
}
cu_result drv_cuLaunch(cu_function function) { return drv_cuLaunchGrid(function, 1, 1); }

/* ---- Contexts -------------------------------------------------------------------------------- */

cu_result drv_cuCtxCreate_v3(cu_context *context, void *affinity, int n, unsigned flags, cu_device device) {
  return n ? drv_missing("a context for a part of the SMs") : drv_cuCtxCreate_v2(context, flags, device);
}

cu_result drv_cuCtxAttach(cu_context *context, unsigned flags) {
  if (!context || flags) return CU_INVALID_VALUE;
  *context = core_current();
  return *context ? CU_SUCCESS : CU_INVALID_CONTEXT;
}
/* Of the attachments only the creation counts. */
cu_result drv_cuCtxDetach(cu_context context) {
  return core_context_of(context) ? CU_SUCCESS : CU_INVALID_CONTEXT;
}

/* ---- Devices --------------------------------------------------------------------------------- */

cu_result drv_cuDeviceGetProperties(cu_device_properties *out, cu_device device) {
  static const int ids[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
  cu_result r = out ? CU_SUCCESS : CU_INVALID_VALUE;
  for (size_t k = 0; r == CU_SUCCESS && k < sizeof ids / sizeof *ids; k++)
    r = drv_cuDeviceGetAttribute((int *)out + k, ids[k], device);
  return r;
}

/* A Windows device's number. */
cu_result drv_cuDeviceGetLuid(char *luid, unsigned *mask, cu_device device) {
  if (!luid || !mask) return CU_INVALID_VALUE;
  return drv_device(device) ? CU_NOT_SUPPORTED : CU_INVALID_DEVICE;
}

cu_result drv_cuProfilerInitialize(const char *config, const char *output, int mode) { return CU_SUCCESS; }

/* ---- Names without a version, whose calls are those of the first one ------------------------- */

cu_result drv_cuCtxCreate(cu_context *context, unsigned flags, cu_device device) {
  return drv_cuCtxCreate_v2(context, flags, device);
}
cu_result drv_cuMemHostRegister(void *host, size_t bytes, unsigned flags) {
  return drv_cuMemHostRegister_v2(host, bytes, flags);
}
cu_result drv_cuStreamGetCtx_v2(cu_stream stream, cu_context *context, void **green) {
  if (green) *green = NULL; /* there are no green contexts */
  return drv_cuStreamGetCtx(stream, context);
}
cu_result drv_cuCtxDestroy(cu_context context) { return drv_cuCtxDestroy_v2(context); }
cu_result drv_cuCtxPushCurrent(cu_context context) { return drv_cuCtxPushCurrent_v2(context); }
cu_result drv_cuCtxPopCurrent(cu_context *context) { return drv_cuCtxPopCurrent_v2(context); }
cu_result drv_cuStreamDestroy(cu_stream stream) { return drv_cuStreamDestroy_v2(stream); }
cu_result drv_cuEventDestroy(cu_event event) { return drv_cuEventDestroy_v2(event); }
cu_result drv_cuGraphInstantiate(cu_graph_exec *exec, cu_graph graph, cu_node *failed, char *log,
                                 size_t bytes) {
  return drv_cuGraphInstantiate_v2(exec, graph, failed, log, bytes);
}
cu_result drv_cuLinkCreate(unsigned n, int *options, void **values, cu_link *out) {
  return drv_cuLinkCreate_v2(n, options, values, out);
}
cu_result drv_cuLinkAddData(cu_link link, int type, void *data, size_t bytes, const char *name, unsigned n,
                            int *options, void **values) {
  return drv_cuLinkAddData_v2(link, type, data, bytes, name, n, options, values);
}
cu_result drv_cuLinkAddFile(cu_link link, int type, const char *path, unsigned n, int *options,
                            void **values) {
  return drv_cuLinkAddFile_v2(link, type, path, n, options, values);
}

/* ---- Logs: there are none -------------------------------------------------------------------- */

cu_result drv_cuLogsRegisterCallback(void *fn, void *data, void **handle) {
  if (!fn || !handle) return CU_INVALID_VALUE;
  *handle = (void *)(uintptr_t)1;
  return CU_SUCCESS;
}
cu_result drv_cuLogsUnregisterCallback(void *handle) { return handle ? CU_SUCCESS : CU_INVALID_VALUE; }
