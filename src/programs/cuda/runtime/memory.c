/* Memory. */
#include <string.h>

#include "cuda/runtime/front.h"

static cu_address at(const void *p) { return (uintptr_t)p; }
static void *pointer(cu_address a) { return (void *)(uintptr_t)a; }

/* The allocations' rule about captures comes after their parameters. One of nothing is no error, and gives
 * nothing. */
cu_result rt_cudaMalloc(void **p, size_t bytes) {
  cu_address a = 0;
  if (!p) return CU_INVALID_VALUE;
  cu_result r = bytes ? core_capture_unsafe() : CU_SUCCESS;
  if (r == CU_SUCCESS && bytes) r = rt_front_cuMemAlloc_v2(&a, bytes);
  *p = pointer(a);
  return r;
}

cu_result rt_cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height) {
  cu_address a = 0;
  if (!p || !pitch) return CU_INVALID_VALUE;
  cu_result r = width && height ? core_capture_unsafe() : CU_SUCCESS;
  if (r == CU_SUCCESS && width && height) r = rt_front_cuMemAllocPitch_v2(&a, pitch, width, height, 4);
  *p = pointer(a);
  return r;
}

cu_result rt_cudaMalloc3D(rt_pitched *p, rt_extent extent) {
  size_t rows;
  if (!p || !hd_mul_size(extent.height, extent.depth, &rows)) return CU_INVALID_VALUE;
  p->width = extent.width;
  p->height = extent.height;
  p->pitch = 0;
  return rt_cudaMallocPitch(&p->p, &p->pitch, extent.width, rows);
}

cu_result rt_cudaMallocManaged(void **p, size_t bytes, unsigned flags) {
  cu_address a;
  if (!p) return CU_INVALID_VALUE;
  cu_result r = core_capture_unsafe();
  if (r == CU_SUCCESS) r = rt_front_cuMemAllocManaged(&a, bytes, flags);
  if (r == CU_SUCCESS) *p = pointer(a);
  return r;
}

cu_result rt_cudaHostAlloc(void **p, size_t bytes, unsigned flags) {
  if (!p) return CU_INVALID_VALUE;
  *p = NULL;
  cu_result r = bytes ? core_capture_unsafe() : CU_SUCCESS;
  return r == CU_SUCCESS && bytes ? rt_front_cuMemHostAlloc(p, bytes, flags) : r;
}
cu_result rt_cudaMallocHost(void **p, size_t bytes) { return rt_cudaHostAlloc(p, bytes, 0); }

cu_result rt_cudaHostRegister(void *p, size_t bytes, unsigned flags) {
  return rt_front_cuMemHostRegister_v2(p, bytes, flags);
}
cu_result rt_cudaHostUnregister(void *p) { return rt_front_cuMemHostUnregister(p); }

cu_result rt_cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
  cu_address a;
  if (!device) return CU_INVALID_VALUE;
  cu_result r = drv_cuMemHostGetDevicePointer_v2(&a, host, flags);
  if (r == CU_SUCCESS) *device = pointer(a);
  return r;
}
cu_result rt_cudaHostGetFlags(unsigned *flags, void *host) { return drv_cuMemHostGetFlags(flags, host); }

cu_result rt_cudaFree(void *p) { return rt_front_cuMemFree_v2(at(p)); }
cu_result rt_cudaFreeHost(void *p) { return rt_front_cuMemFreeHost(p); }

cu_result rt_cudaMallocAsync(void **p, size_t bytes, cu_stream stream) {
  cu_address a = 0;
  core_stream *s;
  if (!p) return CU_INVALID_VALUE;
  cu_result r =
      bytes ? rt_front_cuMemAllocAsync(&a, bytes, stream) : drv_stream_for(CORE_CAPTURE_POOL, stream, &s);
  *p = pointer(a);
  return r;
}
cu_result rt_cudaFreeAsync(void *p, cu_stream stream) { return rt_front_cuMemFreeAsync(at(p), stream); }
cu_result rt_cudaMemGetInfo(size_t *left, size_t *total) { return rt_front_cuMemGetInfo_v2(left, total); }

cu_result rt_cudaPointerGetAttributes(rt_pointer *attributes, const void *p) {
  static const int types[] = {[CORE_MEMORY_DEVICE] = RT_DEVICE,
                              [CORE_MEMORY_MANAGED] = RT_MANAGED,
                              [CORE_MEMORY_PINNED] = RT_HOST,
                              [CORE_MEMORY_REGISTERED] = RT_HOST,
                              [CORE_MEMORY_VARIABLE] = RT_DEVICE};
  const core_memory *m = core_memory_find(at(p));
  if (!attributes) return CU_INVALID_VALUE;
  *attributes = (rt_pointer){.type = RT_UNREGISTERED, .device = -2};
  if (!m) {
    attributes->host_pointer = core_is_device(at(p)) ? NULL : pointer(at(p));
    return CU_SUCCESS;
  }
  attributes->type = types[m->kind];
  attributes->device = m->context->device->ordinal;
  cu_address device;
  drv_cuPointerGetAttribute(&device, CU_POINTER_DEVICE_POINTER, at(p));
  attributes->device_pointer = pointer(device);
  if (m->host) drv_cuPointerGetAttribute(&attributes->host_pointer, CU_POINTER_HOST_POINTER, at(p));
  return CU_SUCCESS;
}

/* Up to CUDA 12 this argument is a device's number; since CUDA 13 it is a location. */
static int device_of(rt_location where) {
  if (rt_major < 13) return where.type;
  return where.type == RT_LOCATION_DEVICE ? where.id : -1;
}

static cu_result advise(const void *p, size_t bytes, int advice, int device) {
  return drv_cuMemAdvise(at(p), bytes, advice, device);
}
cu_result rt_cudaMemAdvise(const void *p, size_t bytes, int advice, rt_location where) {
  return advise(p, bytes, advice, device_of(where));
}
cu_result rt_cudaMemAdvise_v2(const void *p, size_t bytes, int advice, rt_location where) {
  return advise(p, bytes, advice, where.type == RT_LOCATION_DEVICE ? where.id : -1);
}

cu_result rt_cudaMemPrefetchAsync(const void *p, size_t bytes, rt_location where, uint64_t flags,
                                  cu_stream stream) {
  if (rt_major < 13) stream = (cu_stream)(uintptr_t)flags;
  return drv_cuMemPrefetchAsync(at(p), bytes, device_of(where), stream);
}
cu_result rt_cudaMemPrefetchAsync_v2(const void *p, size_t bytes, rt_location where, unsigned flags,
                                     cu_stream stream) {
  return drv_cuMemPrefetchAsync(at(p), bytes, where.type == RT_LOCATION_DEVICE ? where.id : -1, stream);
}
