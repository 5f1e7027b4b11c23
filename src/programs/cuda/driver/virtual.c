/* Reserved addresses, and memory that is mapped there.
 *
 * A reservation is memory of the emulator. Mapping memory copies its bytes into the reservation, and
 * unmapping copies them back, so mapping it at two addresses at once is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/driver/driver.h"

enum { GRANULARITY = 2 << 20 };

/* A handle of cuMemCreate. */
struct cu_physical_ {
  core_kind kind;
  unsigned refs; /* the handle's, and the mapping's */
  cu_physical_props props;
  size_t bytes;
  cu_address mapped; /* 0: nowhere */
  char *kept;        /* its bytes while it is mapped nowhere; NULL: zeros */
};
static HD_VEC(struct cu_physical_ *) mappings;

static struct cu_physical_ *physical_of(cu_physical h) { return h && h->kind == CORE_PHYSICAL ? h : NULL; }

static void release(struct cu_physical_ *p) {
  if (--p->refs) return;
  free(p->kept);
  p->kind = CORE_DEAD;
}

cu_result drv_cuMemGetAllocationGranularity(size_t *bytes, const cu_physical_props *props, int option) {
  if (!bytes || !props || option < 0 || option > 1) return CU_INVALID_VALUE;
  *bytes = GRANULARITY;
  return CU_SUCCESS;
}

cu_result drv_cuMemAddressReserve(cu_address *address, size_t bytes, size_t align, cu_address wish,
                                  unsigned long long flags) {
  if (!address || !bytes || bytes % GRANULARITY) return CU_INVALID_VALUE;
  cu_result r = drv_allocate(CORE_MEMORY_DEVICE, bytes + GRANULARITY, 0, "cuMemAddressReserve", address);
  if (r == CU_SUCCESS) core_memory_find(*address)->owned = true;
  return r;
}

cu_result drv_cuMemAddressFree(cu_address address, size_t bytes) {
  core_memory *m = core_memory_find(address);
  if (!m || m->address != address || m->bytes != bytes + GRANULARITY) return CU_INVALID_VALUE;
  cu_result r = core_wait_all();
  return r == CU_SUCCESS ? core_memory_free(m) : r;
}

cu_result drv_cuMemCreate(cu_physical *handle, size_t bytes, const cu_physical_props *props,
                          unsigned long long flags) {
  if (!handle || !props || !bytes || bytes % GRANULARITY) return CU_INVALID_VALUE;
  if (props->location.type != CU_LOCATION_DEVICE || !drv_device(props->location.id)) return CU_INVALID_DEVICE;
  if (props->handle_types) return drv_missing("memory that other processes share");
  struct cu_physical_ *p = calloc(1, sizeof *p);
  if (!p) return CU_OUT_OF_MEMORY;
  *p = (struct cu_physical_){.kind = CORE_PHYSICAL, .refs = 1, .props = *props, .bytes = bytes};
  *handle = p;
  return CU_SUCCESS;
}

cu_result drv_cuMemRelease(cu_physical handle) {
  struct cu_physical_ *p = physical_of(handle);
  if (!p) return CU_INVALID_VALUE;
  release(p);
  return CU_SUCCESS;
}

cu_result drv_cuMemMap(cu_address address, size_t bytes, size_t offset, cu_physical handle,
                       unsigned long long flags) {
  struct cu_physical_ *p = physical_of(handle);
  if (!p || offset || bytes != p->bytes) return CU_INVALID_VALUE;
  if (p->mapped) return drv_missing("memory at two addresses at one time");
  char *at = hd_emu_ptr(core.emu, address, bytes);
  if (!at || !hd_vec_push(&mappings, p)) return CU_INVALID_VALUE;
  if (p->kept) {
    memcpy(at, p->kept, bytes);
    hd_emu_mark_written(core.emu, address, bytes); /* which of it was is not kept */
  }
  free(p->kept);
  p->kept = NULL;
  p->mapped = address;
  p->refs++;
  return CU_SUCCESS;
}

static cu_result unmap(size_t k) {
  struct cu_physical_ *p = mappings.data[k];
  char *at = hd_emu_ptr(core.emu, p->mapped, p->bytes);
  if (p->refs > 1 && at) { /* the handle is still there: it may be mapped again */
    p->kept = malloc(p->bytes);
    if (!p->kept) return CU_OUT_OF_MEMORY;
    memcpy(p->kept, at, p->bytes);
  }
  if (at) memset(at, 0, p->bytes);
  p->mapped = 0;
  mappings.data[k] = mappings.data[--mappings.n];
  release(p);
  return CU_SUCCESS;
}

cu_result drv_cuMemUnmap(cu_address address, size_t bytes) {
  cu_result r = bytes ? core_wait_all() : CU_INVALID_VALUE;
  size_t found = 0;
  for (size_t k = mappings.n; r == CU_SUCCESS && k-- > 0;) {
    const struct cu_physical_ *p = mappings.data[k];
    if (p->mapped < address || p->mapped - address >= bytes) continue;
    found += p->bytes;
    r = unmap(k);
  }
  return r == CU_SUCCESS && found != bytes ? CU_INVALID_VALUE : r;
}

/* Whether memory is mapped at all of these addresses. */
static bool is_mapped(cu_address address, size_t bytes) {
  size_t found = 0;
  for (size_t k = 0; k < mappings.n; k++) {
    const struct cu_physical_ *p = mappings.data[k];
    const cu_address begin = p->mapped > address ? p->mapped : address, end = p->mapped + p->bytes;
    if (begin < end && begin - address < bytes)
      found += end - address < bytes ? end - begin : bytes - (begin - address);
  }
  return bytes && found == bytes;
}

cu_result drv_cuMemSetAccess(cu_address address, size_t bytes, const cu_access *access, size_t n) {
  return access && n && is_mapped(address, bytes) ? CU_SUCCESS : CU_INVALID_VALUE;
}

cu_result drv_cuMemGetAccess(unsigned long long *flags, const cu_location *where, cu_address address) {
  if (!flags || !where || !core_memory_find(address)) return CU_INVALID_VALUE;
  *flags = CU_ACCESS_READ_WRITE;
  return CU_SUCCESS;
}

cu_result drv_cuMemRetainAllocationHandle(cu_physical *handle, const void *address) {
  if (!handle) return CU_INVALID_VALUE;
  for (size_t k = 0; k < mappings.n; k++)
    if ((uintptr_t)address - mappings.data[k]->mapped < mappings.data[k]->bytes) {
      *handle = mappings.data[k];
      (*handle)->refs++;
      return CU_SUCCESS;
    }
  return CU_INVALID_VALUE;
}

cu_result drv_cuMemGetAllocationPropertiesFromHandle(cu_physical_props *props, cu_physical handle) {
  const struct cu_physical_ *p = physical_of(handle);
  if (!props || !p) return CU_INVALID_VALUE;
  *props = p->props;
  return CU_SUCCESS;
}
