/* Libraries and kernels by the driver's handles; attributes of streams; advice about managed memory. */
#include <string.h>

#include "cuda/runtime/runtime.h"

/* ---- Libraries ------------------------------------------------------------------------------- */

cu_result rt_cudaLibraryLoadData(cu_library *library, const void *code, int *jit, void **jit_values,
                                 unsigned n_jit, int *options, void **values, unsigned n) {
  return drv_cuLibraryLoadData(library, code, jit, jit_values, n_jit, options, values, n);
}
cu_result rt_cudaLibraryLoadFromFile(cu_library *library, const char *path, int *jit, void **jit_values,
                                     unsigned n_jit, int *options, void **values, unsigned n) {
  return drv_cuLibraryLoadFromFile(library, path, jit, jit_values, n_jit, options, values, n);
}
cu_result rt_cudaLibraryUnload(cu_library library) { return drv_cuLibraryUnload(library); }
cu_result rt_cudaLibraryGetKernel(cu_function *kernel, cu_library library, const char *name) {
  return drv_cuLibraryGetKernel(kernel, library, name);
}
cu_result rt_cudaLibraryGetKernelCount(unsigned *n, cu_library library) {
  return drv_cuLibraryGetKernelCount(n, library);
}
cu_result rt_cudaLibraryEnumerateKernels(cu_function *kernels, unsigned n, cu_library library) {
  return drv_cuLibraryEnumerateKernels(kernels, n, library);
}
cu_result rt_cudaLibraryGetGlobal(void **address, size_t *bytes, cu_library library, const char *name) {
  cu_address a = 0;
  cu_result r = drv_cuLibraryGetGlobal(&a, bytes, library, name);
  if (r == CU_SUCCESS && address) *address = (void *)(uintptr_t)a;
  return r;
}
cu_result rt_cudaLibraryGetManaged(void **address, size_t *bytes, cu_library library, const char *name) {
  return rt_cudaLibraryGetGlobal(address, bytes, library, name);
}
cu_result rt_cudaKernelSetAttributeForDevice(cu_function kernel, int attribute, int value, int device) {
  return drv_cuKernelSetAttribute(attribute, value, kernel, device);
}
cu_result rt_cudaFuncGetParamInfo(const void *host, size_t index, size_t *offset, size_t *bytes) {
  cu_function f;
  cu_result r = rt_cudaGetFuncBySymbol(&f, host);
  return r == CU_SUCCESS ? drv_cuFuncGetParamInfo(f, index, offset, bytes) : r;
}

/* ---- Streams --------------------------------------------------------------------------------- */

cu_result rt_cudaStreamSetAttribute(cu_stream stream, int id, const void *value) {
  return drv_cuStreamSetAttribute(stream, id, value);
}
cu_result rt_cudaStreamGetAttribute(cu_stream stream, int id, void *value) {
  return drv_cuStreamGetAttribute(stream, id, value);
}
cu_result rt_cudaStreamCopyAttributes(cu_stream to, cu_stream from) {
  return drv_cuStreamCopyAttributes(to, from);
}

/* ---- Advice ---------------------------------------------------------------------------------- */

cu_result rt_cudaMemRangeGetAttribute(void *value, size_t size, int attribute, const void *p, size_t bytes) {
  return drv_cuMemRangeGetAttribute(value, size, attribute, (uintptr_t)p, bytes);
}
cu_result rt_cudaMemRangeGetAttributes(void **values, size_t *sizes, int *attributes, size_t n, const void *p,
                                       size_t bytes) {
  return drv_cuMemRangeGetAttributes(values, sizes, attributes, n, (uintptr_t)p, bytes);
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static rt_copy3d without_devices(const rt_copy3d_peer *p) {
  return (rt_copy3d){.src_array = p->src_array,
                     .src_position = p->src_position,
                     .src = p->src,
                     .dst_array = p->dst_array,
                     .dst_position = p->dst_position,
                     .dst = p->dst,
                     .extent = p->extent,
                     .kind = RT_DEVICE_TO_DEVICE};
}

cu_result rt_cudaMemcpy3DPeerAsync(const rt_copy3d_peer *p, cu_stream stream) {
  if (!p) return CU_INVALID_VALUE;
  if (!drv_device(p->src_device) || !drv_device(p->dst_device)) return CU_INVALID_DEVICE;
  const rt_copy3d c = without_devices(p);
  return rt_cudaMemcpy3DAsync(&c, stream);
}
cu_result rt_cudaMemcpy3DPeer(const rt_copy3d_peer *p) {
  cu_result r = core_wait_all(); /* in order with all work of both devices */
  if (r == CU_SUCCESS) r = rt_cudaMemcpy3DPeerAsync(p, NULL);
  return r == CU_SUCCESS ? core_wait_all() : r;
}
