/* The library of local.c: its first call of the driver is one that heddle has no handler for. */
#include "fake.h"

__attribute__((visibility("default"))) int use(void);

int use(void) {
  static int set = 1;
  uint64_t memory;
  if (cuMemcpyBatchAsync((uint64_t)(uintptr_t)&set, 1, 2, 3, 4, 5, 6, 7) != 0) return 3;
  return cuMemAlloc_v2(&memory, 64) == 0 ? 0 : 4;
}
