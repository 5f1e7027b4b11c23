/* The library of local.c: its first call of the driver is one that heddle has no handler for. */
#include "fake.h"

__attribute__((visibility("default"))) int use(void);

int use(void) {
  static cu_address set = 1;
  uint64_t memory;
  if (cuMemcpyBatchAsync(&set, FAKE_WORDS) != 0) return 3;
  return cuMemAlloc_v2(&memory, 64) == 0 ? 0 : 4;
}
