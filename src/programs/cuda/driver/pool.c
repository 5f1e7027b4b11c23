/* Pools of memory for allocations in a stream's order. Freed memory returns to the device at once. */
#include <stdlib.h>

#include "cuda/driver/driver.h"

static core_pool *pool_of(cu_pool p) { return p && p->kind == CORE_POOL ? p : NULL; }

static cu_result create(core_device *d, core_pool **out) {
  core_pool *p = calloc(1, sizeof *p);
  if (!p) return CU_OUT_OF_MEMORY;
  *p = (core_pool){.kind = CORE_POOL, .device = d, .reuse = {1, 1, 1}};
  *out = p;
  return CU_SUCCESS;
}

cu_result drv_cuDeviceGetDefaultMemPool(cu_pool *pool, cu_device device) {
  core_device *d = drv_device(device);
  if (!pool) return CU_INVALID_VALUE;
  if (!d) return CU_INVALID_DEVICE;
  cu_result r = d->default_pool ? CU_SUCCESS : create(d, &d->default_pool);
  *pool = d->default_pool;
  return r;
}

cu_result drv_cuDeviceGetMemPool(cu_pool *pool, cu_device device) {
  cu_result r = drv_cuDeviceGetDefaultMemPool(pool, device);
  if (r == CU_SUCCESS && drv_device(device)->pool) *pool = drv_device(device)->pool;
  return r;
}

cu_result drv_cuDeviceSetMemPool(cu_device device, cu_pool pool) {
  core_device *d = drv_device(device);
  if (!d) return CU_INVALID_DEVICE;
  if (!pool_of(pool) || pool->device != d) return CU_INVALID_VALUE;
  d->pool = pool;
  return CU_SUCCESS;
}

/* By a location; there are pools of devices' memory alone. */
static core_device *device_at(const cu_location *where, int type) {
  enum { PINNED = 1 };
  return where && type == PINNED && where->type == CU_LOCATION_DEVICE ? drv_device(where->id) : NULL;
}
cu_result drv_cuMemGetDefaultMemPool(cu_pool *pool, cu_location *where, int type) {
  return device_at(where, type) ? drv_cuDeviceGetDefaultMemPool(pool, where->id) : CU_INVALID_VALUE;
}
cu_result drv_cuMemGetMemPool(cu_pool *pool, cu_location *where, int type) {
  return device_at(where, type) ? drv_cuDeviceGetMemPool(pool, where->id) : CU_INVALID_VALUE;
}
cu_result drv_cuMemSetMemPool(cu_location *where, int type, cu_pool pool) {
  return device_at(where, type) ? drv_cuDeviceSetMemPool(where->id, pool) : CU_INVALID_VALUE;
}

cu_result drv_cuMemPoolCreate(cu_pool *pool, const cu_pool_props *props) {
  if (!pool || !props) return CU_INVALID_VALUE;
  if (props->handle_types) return drv_missing("a pool that other processes share");
  core_device *d = props->location.type == CU_LOCATION_DEVICE ? drv_device(props->location.id) : NULL;
  return d ? create(d, pool) : CU_INVALID_VALUE;
}

cu_result drv_cuMemPoolDestroy(cu_pool pool) {
  if (!pool_of(pool) || pool == pool->device->default_pool) return CU_INVALID_VALUE;
  if (pool->device->pool == pool) pool->device->pool = NULL;
  pool->kind = CORE_DEAD; /* memory that came from it may still be freed */
  return CU_SUCCESS;
}

cu_result drv_cuMemPoolTrimTo(cu_pool pool, size_t bytes) {
  return pool_of(pool) ? CU_SUCCESS : CU_INVALID_VALUE;
}

cu_result drv_cuMemPoolSetAttribute(cu_pool pool, int attribute, void *value) {
  if (!pool_of(pool) || !value) return CU_INVALID_VALUE;
  if (attribute >= CU_POOL_REUSE_EVENTS && attribute <= CU_POOL_REUSE_DEPENDENCIES)
    pool->reuse[attribute - CU_POOL_REUSE_EVENTS] = *(const int *)value;
  else if (attribute == CU_POOL_THRESHOLD)
    pool->threshold = *(const uint64_t *)value;
  else if (attribute == CU_POOL_RESERVED_HIGH && !*(const uint64_t *)value)
    pool->reserved_high = pool->used;
  else if (attribute == CU_POOL_USED_HIGH && !*(const uint64_t *)value)
    pool->used_high = pool->used;
  else
    return CU_INVALID_VALUE;
  return CU_SUCCESS;
}

cu_result drv_cuMemPoolGetAttribute(cu_pool pool, int attribute, void *value) {
  if (!pool_of(pool) || !value) return CU_INVALID_VALUE;
  switch (attribute) {
  case CU_POOL_THRESHOLD: *(uint64_t *)value = pool->threshold; return CU_SUCCESS;
  case CU_POOL_RESERVED:
  case CU_POOL_USED: *(uint64_t *)value = pool->used; return CU_SUCCESS;
  case CU_POOL_RESERVED_HIGH: *(uint64_t *)value = pool->reserved_high; return CU_SUCCESS;
  case CU_POOL_USED_HIGH: *(uint64_t *)value = pool->used_high; return CU_SUCCESS;
  default: break;
  }
  if (attribute < CU_POOL_REUSE_EVENTS || attribute > CU_POOL_REUSE_DEPENDENCIES) return CU_INVALID_VALUE;
  *(int *)value = pool->reuse[attribute - CU_POOL_REUSE_EVENTS];
  return CU_SUCCESS;
}

cu_result drv_cuMemPoolSetAccess(cu_pool pool, const cu_access *access, size_t n) {
  if (!pool_of(pool) || (n && !access)) return CU_INVALID_VALUE;
  for (size_t k = 0; k < n; k++)
    if (access[k].location.type != CU_LOCATION_DEVICE || !drv_device(access[k].location.id))
      return CU_INVALID_DEVICE;
  core_wait_all();
  for (size_t k = 0; k < n; k++) {
    const uint64_t bit = UINT64_C(1) << access[k].location.id;
    pool->users = access[k].flags ? pool->users | bit : pool->users & ~bit;
  }
  core_memory_reached_on(pool->device);
  return CU_SUCCESS;
}

cu_result drv_cuMemPoolGetAccess(int *flags, cu_pool pool, cu_location *where) {
  if (!flags || !where || !pool_of(pool) || !drv_device(where->id)) return CU_INVALID_VALUE;
  const bool open = where->id == pool->device->ordinal || pool->users >> where->id & 1;
  *flags = open ? CU_ACCESS_READ_WRITE : 0;
  return CU_SUCCESS;
}

/* The graph has the memory, not the pool. */
static cu_result allocate_in_capture(core_stream *s, size_t bytes, cu_address *address) {
  core_work *w;
  cu_result r = core_alloc_work(s->context, bytes, &w);
  if (r != CU_SUCCESS) return r;
  *address = core_alloc_address(w, NULL);
  return core_submit(s, w, NULL, NULL);
}

cu_result drv_cuMemAllocFromPoolAsync(cu_address *address, size_t bytes, cu_pool pool, cu_stream stream) {
  core_stream *s;
  cu_result r = drv_stream_for(CORE_CAPTURE_POOL, stream, &s);
  if (r == CU_SUCCESS && (!address || !pool_of(pool))) r = CU_INVALID_VALUE;
  if (r == CU_SUCCESS && s->capture) return allocate_in_capture(s, bytes, address);
  if (r == CU_SUCCESS) r = drv_allocate(CORE_MEMORY_DEVICE, bytes, 0, "cuMemAllocAsync", address);
  if (r != CU_SUCCESS) return r;
  core_memory *m = core_memory_find(*address);
  m->pool = pool;
  core_memory_reached(m);
  pool->used += bytes;
  if (pool->used > pool->used_high) pool->used_high = pool->used;
  if (pool->used > pool->reserved_high) pool->reserved_high = pool->used;
  return core_allocated(s, *address);
}

cu_result drv_cuMemAllocAsync(cu_address *address, size_t bytes, cu_stream stream) {
  cu_pool pool;
  cu_result r = drv_cuDeviceGetMemPool(&pool, core_current()->device->ordinal);
  return r == CU_SUCCESS ? drv_cuMemAllocFromPoolAsync(address, bytes, pool, stream) : r;
}
