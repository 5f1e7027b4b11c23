/* Pools of memory. */
#include "cuda/runtime/front.h"

cu_result rt_cudaDeviceGetDefaultMemPool(cu_pool *pool, int device) {
  return drv_cuDeviceGetDefaultMemPool(pool, device);
}
cu_result rt_cudaDeviceGetMemPool(cu_pool *pool, int device) { return drv_cuDeviceGetMemPool(pool, device); }
cu_result rt_cudaDeviceSetMemPool(int device, cu_pool pool) { return drv_cuDeviceSetMemPool(device, pool); }
cu_result rt_cudaMemGetDefaultMemPool(cu_pool *pool, cu_location *where, int type) {
  return drv_cuMemGetDefaultMemPool(pool, where, type);
}
cu_result rt_cudaMemGetMemPool(cu_pool *pool, cu_location *where, int type) {
  return drv_cuMemGetMemPool(pool, where, type);
}
cu_result rt_cudaMemSetMemPool(cu_location *where, int type, cu_pool pool) {
  return drv_cuMemSetMemPool(where, type, pool);
}
cu_result rt_cudaMemPoolCreate(cu_pool *pool, const cu_pool_props *props) {
  return drv_cuMemPoolCreate(pool, props);
}
cu_result rt_cudaMemPoolDestroy(cu_pool pool) { return drv_cuMemPoolDestroy(pool); }
cu_result rt_cudaMemPoolTrimTo(cu_pool pool, size_t bytes) { return drv_cuMemPoolTrimTo(pool, bytes); }
cu_result rt_cudaMemPoolSetAttribute(cu_pool pool, int attribute, void *value) {
  return drv_cuMemPoolSetAttribute(pool, attribute, value);
}
cu_result rt_cudaMemPoolGetAttribute(cu_pool pool, int attribute, void *value) {
  return drv_cuMemPoolGetAttribute(pool, attribute, value);
}
cu_result rt_cudaMemPoolSetAccess(cu_pool pool, const cu_access *access, size_t n) {
  return drv_cuMemPoolSetAccess(pool, access, n);
}
cu_result rt_cudaMemPoolGetAccess(int *flags, cu_pool pool, cu_location *where) {
  return drv_cuMemPoolGetAccess(flags, pool, where);
}
cu_result rt_cudaMallocFromPoolAsync(void **p, size_t bytes, cu_pool pool, cu_stream stream) {
  cu_address a = 0;
  if (!p) return CU_INVALID_VALUE;
  cu_result r = rt_front_cuMemAllocFromPoolAsync(&a, bytes, pool, stream);
  *p = (void *)(uintptr_t)a;
  return r;
}
