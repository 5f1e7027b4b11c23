/* Memory: allocations, the host's pages, questions about pointers. */
#include <stdio.h>
#include <string.h>

#include "cuda/driver/driver.h"

enum { PITCH = 512 };

cu_result drv_allocate(core_memory_kind kind, uint64_t bytes, unsigned flags, const char *call,
                       uint64_t *address) {
  char what[96];
  core_memory *m;
  const char *made =
      core_calling.name && strncmp(core_calling.name, "cuda", 4) == 0 ? core_calling.name : call;
  snprintf(what, sizeof what, "%s of %llu bytes", made, (unsigned long long)bytes);
  cu_result r = core_memory_create(core_current(), kind, bytes, flags, what, &m);
  if (r == CU_SUCCESS) *address = m->address;
  return r;
}

cu_result drv_cuMemGetInfo_v2(size_t *left, size_t *total) {
  if (total) *total = core.settings.memory;
  if (left) *left = core.settings.memory - core_current()->device->used;
  return CU_SUCCESS;
}

cu_result drv_cuMemAlloc_v2(cu_address *address, size_t bytes) {
  return address ? drv_allocate(CORE_MEMORY_DEVICE, bytes, 0, "cuMemAlloc", address) : CU_INVALID_VALUE;
}

cu_result drv_cuMemAllocPitch_v2(cu_address *address, size_t *pitch, size_t width, size_t height,
                                 unsigned element) {
  size_t bytes;
  if (!address || !pitch || !width || !height) return CU_INVALID_VALUE;
  if (element != 4 && element != 8 && element != 16) return CU_INVALID_VALUE;
  const size_t row = (width + PITCH - 1) / PITCH * PITCH;
  if (row < width || !hd_mul_size(row, height, &bytes)) return CU_INVALID_VALUE;
  cu_result r = drv_allocate(CORE_MEMORY_DEVICE, bytes, 0, "cuMemAllocPitch", address);
  if (r == CU_SUCCESS) *pitch = row;
  return r;
}

/* Flags: 1 for all streams, 2 for the host's, 4 for one. */
cu_result drv_cuMemAllocManaged(cu_address *address, size_t bytes, unsigned flags) {
  if (!address || (flags != 1 && flags != 2 && flags != 4)) return CU_INVALID_VALUE;
  return drv_allocate(CORE_MEMORY_MANAGED, bytes, flags, "cuMemAllocManaged", address);
}

/* Only where an allocation begins, and only once. */
cu_result drv_cuMemFree_v2(cu_address address) {
  if (!address) return CU_SUCCESS;
  core_memory *m = core_memory_find(address);
  if (m && m->address == address && !m->owned &&
      (m->kind == CORE_MEMORY_DEVICE || m->kind == CORE_MEMORY_MANAGED)) {
    cu_result r = core_wait_all();
    return r == CU_SUCCESS ? core_memory_free(m) : r;
  }
  const char *was = core_memory_was(address);
  if (!m && was)
    core_found(CORE_FOUND_ARGUMENT, "0x%llx is freed twice: %s", (unsigned long long)address, was);
  else
    core_found(CORE_FOUND_ARGUMENT, "0x%llx is freed, where no allocation of the device begins",
               (unsigned long long)address);
  return CU_INVALID_VALUE;
}

/* ---- The host's ------------------------------------------------------------------------------ */

/* An allocation of nothing is no error, and gives nothing. */

cu_result drv_cuMemHostAlloc(void **host, size_t bytes, unsigned flags) {
  uint64_t address;
  if (!host || flags & ~7u) return CU_INVALID_VALUE;
  *host = NULL;
  if (!bytes) return CU_SUCCESS;
  cu_result r = drv_allocate(CORE_MEMORY_PINNED, bytes, flags, "cuMemHostAlloc", &address);
  if (r == CU_SUCCESS) *host = (void *)(uintptr_t)address;
  return r;
}
cu_result drv_cuMemAllocHost_v2(void **host, size_t bytes) { return drv_cuMemHostAlloc(host, bytes, 0); }

cu_result drv_cuMemFreeHost(void *host) {
  if (!host) return CU_SUCCESS;
  core_memory *m = core_memory_find((uintptr_t)host);
  if (!m || m->kind != CORE_MEMORY_PINNED || m->host != host) {
    core_found(CORE_FOUND_ARGUMENT, "%p is freed, where no allocation of the host's begins", host);
    return CU_INVALID_VALUE;
  }
  cu_result r = core_wait_all();
  return r == CU_SUCCESS ? core_memory_free(m) : r;
}

cu_result drv_cuMemHostRegister_v2(void *host, size_t bytes, unsigned flags) {
  core_memory *m;
  return flags & ~15u ? CU_INVALID_VALUE : core_memory_register(core_current(), host, bytes, flags, &m);
}

cu_result drv_cuMemHostUnregister(void *host) {
  cu_result r = core_wait_all();
  return r == CU_SUCCESS ? core_memory_unregister(host) : r;
}

static core_memory *host_memory(const void *host) {
  core_memory *m = core_memory_find((uintptr_t)host);
  return m && (m->kind == CORE_MEMORY_PINNED || m->kind == CORE_MEMORY_REGISTERED) ? m : NULL;
}

cu_result drv_cuMemHostGetDevicePointer_v2(cu_address *address, void *host, unsigned flags) {
  const core_memory *m = host_memory(host);
  if (!address || flags || !m) return CU_INVALID_VALUE;
  *address = m->address + (uint64_t)((char *)host - (char *)m->host);
  return CU_SUCCESS;
}

cu_result drv_cuMemHostGetFlags(unsigned *flags, void *host) {
  const core_memory *m = host_memory(host);
  if (!flags || !m) return CU_INVALID_VALUE;
  *flags = m->flags | CU_HOST_MAPPED;
  return CU_SUCCESS;
}

/* ---- Pointers -------------------------------------------------------------------------------- */

cu_result drv_cuMemGetAddressRange_v2(cu_address *start, size_t *bytes, cu_address address) {
  const core_memory *m = core_memory_find(address);
  if (!m) return CU_NOT_FOUND;
  if (start) *start = m->address;
  if (bytes) *bytes = m->bytes;
  return CU_SUCCESS;
}

static void *host_of(const core_memory *m, cu_address address) {
  if (!m->host) return NULL;
  const uint64_t base = core_is_device(address) ? m->address : (uintptr_t)m->host;
  return (char *)m->host + (address - base);
}

static cu_address device_of(const core_memory *m, cu_address address) {
  return core_is_device(address) ? address : m->address + (address - (uintptr_t)m->host);
}

static bool on_host(const core_memory *m) {
  return m->kind == CORE_MEMORY_PINNED || m->kind == CORE_MEMORY_REGISTERED;
}

static bool is_attribute(int attribute) { return attribute > 0 && attribute <= CU_POINTER_LAST; }

cu_result drv_cuPointerGetAttribute(void *value, int attribute, cu_address address) {
  const core_memory *m = core_memory_find(address);
  if (!value) return CU_INVALID_VALUE;
  if (!m && attribute == CU_POINTER_MAPPED) {
    *(bool *)value = false;
    return CU_SUCCESS;
  }
  if (!m) return CU_INVALID_VALUE;
  switch (attribute) {
  case CU_POINTER_CONTEXT: *(cu_context *)value = m->context; break;
  case CU_POINTER_MEMORY_TYPE: *(unsigned *)value = on_host(m) ? CU_MEMORY_HOST : CU_MEMORY_DEVICE; break;
  case CU_POINTER_DEVICE_POINTER: *(cu_address *)value = device_of(m, address); break;
  case CU_POINTER_HOST_POINTER:
    *(void **)value = host_of(m, address);
    return m->host ? CU_SUCCESS : CU_INVALID_VALUE;
  case CU_POINTER_SYNC_MEMOPS: *(unsigned *)value = 0; break;
  case CU_POINTER_BUFFER_ID: *(unsigned long long *)value = m->id; break;
  case CU_POINTER_IS_MANAGED: *(unsigned *)value = m->kind == CORE_MEMORY_MANAGED; break;
  case CU_POINTER_DEVICE_ORDINAL: *(int *)value = m->context->device->ordinal; break;
  case CU_POINTER_LEGACY_IPC: *(unsigned *)value = 0; break;
  case CU_POINTER_RANGE_START: *(cu_address *)value = m->address; break;
  case CU_POINTER_RANGE_SIZE: *(size_t *)value = m->bytes; break;
  case CU_POINTER_MAPPED: *(bool *)value = true; break;
  default: return is_attribute(attribute) ? CU_NOT_SUPPORTED : CU_INVALID_VALUE;
  }
  return CU_SUCCESS;
}

/* Bytes of an attribute's value, for those that a pointer does not have. */
static size_t value_bytes(int attribute) {
  switch (attribute) {
  case CU_POINTER_MEMORY_TYPE:
  case CU_POINTER_SYNC_MEMOPS:
  case CU_POINTER_IS_MANAGED:
  case CU_POINTER_DEVICE_ORDINAL:
  case CU_POINTER_LEGACY_IPC: return 4;
  case CU_POINTER_MAPPED: return 1;
  default: return 8;
  }
}

cu_result drv_cuPointerGetAttributes(unsigned n, int *attributes, void **values, cu_address address) {
  if (!attributes || !values) return CU_INVALID_VALUE;
  for (unsigned k = 0; k < n; k++) {
    cu_result r = drv_cuPointerGetAttribute(values[k], attributes[k], address);
    if (r == CU_NOT_SUPPORTED || !is_attribute(attributes[k])) return r;
    if (r == CU_SUCCESS) continue;
    memset(values[k], 0, value_bytes(attributes[k]));
    if (attributes[k] == CU_POINTER_DEVICE_ORDINAL) *(int *)values[k] = -2;
  }
  return CU_SUCCESS;
}

cu_result drv_cuPointerSetAttribute(const void *value, int attribute, cu_address address) {
  if (!value || !core_memory_find(address)) return CU_INVALID_VALUE;
  return attribute == CU_POINTER_SYNC_MEMOPS ? CU_SUCCESS : CU_INVALID_VALUE;
}

/* ---- In a stream's order --------------------------------------------------------------------- */

cu_result drv_cuMemFreeAsync(cu_address address, cu_stream stream) {
  core_stream *s;
  cu_result r = drv_stream_for(CORE_CAPTURE_POOL, stream, &s);
  const core_memory *m = core_memory_find(address);
  if (r != CU_SUCCESS || !address) return r;
  if (s->capture && (!m || !m->of)) return CU_INVALID_VALUE; /* a graph frees what graphs allocate */
  if (!m || m->address != address || m->kind != CORE_MEMORY_DEVICE || m->owned)
    return drv_cuMemFree_v2(address);
  core_work *w;
  r = core_free_work(s->context, address, &w);
  return r == CU_SUCCESS ? core_submit(s, w, NULL, NULL) : r;
}
