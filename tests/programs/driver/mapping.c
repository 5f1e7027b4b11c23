/* Virtual memory: addresses that are reserved, memory that is mapped there, and moves to others with its
 * bytes. */
#include "cu.h"

int main(void) {
  begin();
  const cu_physical_props p = {.type = 1, .location = {CU_LOCATION_DEVICE, 0}};
  const cu_access all = {{CU_LOCATION_DEVICE, 0}, CU_ACCESS_READ_WRITE};
  size_t unit;
  cu_address small, large;
  cu_physical first, second, again;
  unsigned v;
  OK(cuMemGetAllocationGranularity(&unit, &p, 0));
  OK(cuMemAddressReserve(&small, unit, 0, 0, 0));
  OK(cuMemAddressReserve(&large, 2 * unit, 0, 0, 0));
  EXPECT(cuMemCreate(&first, unit + 1, &p, 0), 1);
  OK(cuMemCreate(&first, unit, &p, 0));
  OK(cuMemCreate(&second, unit, &p, 0));
  OK(cuMemMap(small, unit, 0, first, 0));
  OK(cuMemSetAccess(small, unit, &all, 1));
  OK(cuMemsetD32_v2(small, 42, unit / 4));
  /* The memory behind an address, whose handle is gone, and taken again. */
  OK(cuMemRelease(first));
  OK(cuMemRetainAllocationHandle(&again, (const void *)(uintptr_t)(small + 100)));
  CHECK(again == first);
  EXPECT(cuMemRetainAllocationHandle(&again, (const void *)(uintptr_t)large), 1);
  OK(cuCtxSynchronize());      /* the fill may still run */
  OK(cuMemUnmap(small, unit)); /* it grows: another address, more memory behind it */
  OK(cuMemMap(large, unit, 0, first, 0));
  OK(cuMemMap(large + unit, unit, 0, second, 0));
  OK(cuMemSetAccess(large, 2 * unit, &all, 1));
  OK(cuMemcpyDtoH_v2(&v, large + unit - 4, 4));
  CHECK(v == 42);
  OK(cuMemsetD32_v2(large + unit - 8, 7, 4)); /* over the seam */
  OK(cuMemcpyDtoH_v2(&v, large + unit + 4, 4));
  CHECK(v == 7);
  OK(cuCtxSynchronize());
  OK(cuMemUnmap(large, 2 * unit));
  OK(cuMemRelease(first));
  OK(cuMemRelease(second));
  OK(cuMemAddressFree(small, unit));
  OK(cuMemAddressFree(large, 2 * unit));
  EXPECT(cuMemAddressFree(large, 2 * unit), 1);
  puts("mapping: moved");
  return 0;
}
