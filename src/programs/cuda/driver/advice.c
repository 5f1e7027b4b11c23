/* Advice about managed memory, and its location: kept for the program to ask for. They have no effect on this
 * machine. Advice about a part of an allocation counts for all of it. */
#include "cuda/driver/driver.h"

enum { /* CUmem_advise */
       SET_READ_MOSTLY = 1,
       UNSET_READ_MOSTLY,
       SET_PREFERRED,
       UNSET_PREFERRED,
       SET_ACCESSED_BY,
       UNSET_ACCESSED_BY
};
enum { READ_MOSTLY = 0, PREFERRED, ACCESSED_BY, PREFETCHED }; /* core_memory.advice; locations are kept + 3 */
enum { HOST = -1, NOWHERE = -2 };                             /* in place of a device's number */

static core_memory *managed_range(cu_address address, size_t bytes) {
  core_memory *m = core_memory_find(address);
  const bool ok = m && m->kind == CORE_MEMORY_MANAGED && bytes && bytes <= m->bytes - (address - m->address);
  return ok ? m : NULL;
}

static int kept(int device) { return device + 3; }
static int given(int value) { return value ? value - 3 : NOWHERE; }

/* Of the devices that access it, the host first. */
static int bit(int device) { return device >= HOST && device < 30 ? 1 << (device + 1) : 0; }

static int device_of(cu_location where) { return where.type == CU_LOCATION_DEVICE ? where.id : HOST; }

cu_result drv_cuMemAdvise(cu_address address, size_t bytes, int advice, cu_device device) {
  core_memory *m = managed_range(address, bytes);
  if (!m || advice < SET_READ_MOSTLY || advice > UNSET_ACCESSED_BY) return CU_INVALID_VALUE;
  if (advice >= SET_PREFERRED && advice != UNSET_PREFERRED && device != HOST && !drv_device(device))
    return CU_INVALID_DEVICE;
  switch (advice) {
  case SET_READ_MOSTLY: m->advice[READ_MOSTLY] = 1; break;
  case UNSET_READ_MOSTLY: m->advice[READ_MOSTLY] = 0; break;
  case SET_PREFERRED: m->advice[PREFERRED] = kept(device); break;
  case UNSET_PREFERRED: m->advice[PREFERRED] = 0; break;
  case SET_ACCESSED_BY: m->advice[ACCESSED_BY] |= bit(device); break;
  default: m->advice[ACCESSED_BY] &= ~bit(device); break;
  }
  return CU_SUCCESS;
}
cu_result drv_cuMemAdvise_v2(cu_address address, size_t bytes, int advice, cu_location where) {
  return drv_cuMemAdvise(address, bytes, advice, device_of(where));
}

cu_result drv_cuMemPrefetchAsync(cu_address address, size_t bytes, cu_device device, cu_stream stream) {
  core_stream *s;
  cu_result r = drv_stream_for(CORE_CAPTURE_OUTSIDE, stream, &s);
  core_memory *m = managed_range(address, bytes);
  if (r == CU_SUCCESS && device != HOST && !drv_device(device)) r = CU_INVALID_DEVICE;
  if (r == CU_SUCCESS && !m) r = CU_INVALID_VALUE;
  if (r == CU_SUCCESS) m->advice[PREFETCHED] = kept(device);
  return r;
}
cu_result drv_cuMemPrefetchAsync_v2(cu_address address, size_t bytes, cu_location where, unsigned flags,
                                    cu_stream stream) {
  return flags ? CU_INVALID_VALUE : drv_cuMemPrefetchAsync(address, bytes, device_of(where), stream);
}

/* The devices that access the memory, then none up to the end. */
static void put_accessed_by(const core_memory *m, int *out, size_t n) {
  size_t at = 0;
  for (int device = HOST; device < 30 && at < n; device++)
    if (m->advice[ACCESSED_BY] & bit(device)) out[at++] = device;
  while (at < n) out[at++] = NOWHERE;
}

/* CUmem_range_attribute: 1 read mostly, 2 preferred location, 3 accessed by, 4 last prefetch; then both
 * locations as their type and their number. */
cu_result drv_cuMemRangeGetAttribute(void *value, size_t size, int attribute, cu_address address,
                                     size_t bytes) {
  const core_memory *m = managed_range(address, bytes);
  int *out = value;
  if (!m || !out || size < sizeof *out || size % sizeof *out) return CU_INVALID_VALUE;
  const int preferred = given(m->advice[PREFERRED]), last = given(m->advice[PREFETCHED]);
  switch (attribute) {
  case 1: *out = m->advice[READ_MOSTLY]; break;
  case 2: *out = preferred; break;
  case 3: put_accessed_by(m, out, size / sizeof *out); break;
  case 4: *out = last; break;
  case 5: *out = preferred == NOWHERE ? 0 : preferred == HOST ? 2 : 1; break;
  case 6: *out = preferred; break;
  case 7: *out = last == NOWHERE ? 0 : last == HOST ? 2 : 1; break;
  case 8: *out = last; break;
  default: return CU_INVALID_VALUE;
  }
  return CU_SUCCESS;
}

cu_result drv_cuMemRangeGetAttributes(void **values, size_t *sizes, int *attributes, size_t n,
                                      cu_address address, size_t bytes) {
  cu_result r = values && sizes && attributes && n ? CU_SUCCESS : CU_INVALID_VALUE;
  for (size_t k = 0; r == CU_SUCCESS && k < n; k++)
    r = drv_cuMemRangeGetAttribute(values[k], sizes[k], attributes[k], address, bytes);
  return r;
}
