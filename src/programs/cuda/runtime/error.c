/* Errors and versions. */
#include <string.h>

#include "cuda/runtime/runtime.h"

#define EXPORT __attribute__((visibility("default")))

int rt_major = 13;

/* The shared runtime that the program asks for says which one it is. */
EXPORT void cuda_heddle_major(int major);
EXPORT void cuda_heddle_major(int major) { rt_major = major; }

static const struct {
  cu_result result;
  const char *name, *text;
} results[] = {
#define CUDA_RESULT(number, driver, runtime, text) {number, runtime, text},
#include "cuda/core/errors.def"
#undef CUDA_RESULT
};

static const char *describe(cu_result r, bool name) {
  for (size_t k = 0; k < sizeof results / sizeof *results; k++)
    if (results[k].result == r && results[k].name[0]) return name ? results[k].name : results[k].text;
  return "unrecognized error code";
}

EXPORT const char *cudaGetErrorName(cu_result r);
EXPORT const char *cudaGetErrorName(cu_result r) { return describe(r, true); }
EXPORT const char *cudaGetErrorString(cu_result r);
EXPORT const char *cudaGetErrorString(cu_result r) { return describe(r, false); }

/* The last error. A fault belongs to the context and stays: every call returns it, from the first that waited
 * for it. */
static cu_result last(void) {
  pthread_mutex_lock(&core.lock);
  const core_context *c = core_current();
  const cu_result r = rt_last_error ? rt_last_error : c && c->fault_seen ? c->fault : CU_SUCCESS;
  pthread_mutex_unlock(&core.lock);
  return r;
}

EXPORT cu_result cudaPeekAtLastError(void);
EXPORT cu_result cudaPeekAtLastError(void) { return last(); }
EXPORT cu_result cudaGetLastError(void);
EXPORT cu_result cudaGetLastError(void) {
  const cu_result r = last();
  rt_last_error = CU_SUCCESS;
  return r;
}

/* ---- Versions -------------------------------------------------------------------------------- */

cu_result rt_cudaDriverGetVersion(int *version) { return drv_cuDriverGetVersion(version); }

cu_result rt_cudaRuntimeGetVersion(int *version) {
  if (!version) return CU_INVALID_VALUE;
  *version = rt_major == 13 ? CORE_VERSION : rt_major == 12 ? 12080 : 11080;
  return CU_SUCCESS;
}

cu_result rt_cudaGetDriverEntryPointByVersion(const char *name, void **fn, unsigned version,
                                              unsigned long long flags, int *status) {
  int own;
  if (!flags && drv_per_thread) flags = 2;
  cu_result r = drv_cuGetProcAddress_v2(name, fn, (int)version, flags, status ? status : &own);
  return r;
}

cu_result rt_cudaGetDriverEntryPoint(const char *name, void **fn, unsigned long long flags, int *status) {
  int version;
  rt_cudaRuntimeGetVersion(&version);
  return rt_cudaGetDriverEntryPointByVersion(name, fn, (unsigned)version, flags, status);
}

cu_result rt_cudaGetExportTable(const void **table, const cu_uuid *id) {
  if (table) *table = NULL;
  return drv_missing("cudaGetExportTable");
}

cu_result rt_cudaProfilerStart(void) { return CU_SUCCESS; }
cu_result rt_cudaProfilerStop(void) { return CU_SUCCESS; }
