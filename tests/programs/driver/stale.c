/* Handles that are gone, and a context that is released too often. That is not defined, and a GPU's driver
 * may crash over it; heddle's own says so. */
#include "cu.h"

int main(void) {
  cu_handle context = begin(), other, primary, stream, event;
  OK(cuStreamCreate(&stream, 0));
  OK(cuEventCreate(&event, 0));
  OK(cuStreamDestroy_v2(stream));
  EXPECT(cuStreamSynchronize(stream), 709);
  OK(cuEventDestroy_v2(event));
  EXPECT(cuEventRecord(event, NULL), 400);
  OK(cuCtxCreate_v2(&other, 0, 0));
  OK(cuCtxDestroy_v2(other));
  EXPECT(cuCtxSetCurrent(other), 201);
  OK(cuCtxDestroy_v2(context));
  OK(cuDevicePrimaryCtxRetain(&primary, 0));
  OK(cuDevicePrimaryCtxRelease_v2(0));
  EXPECT(cuDevicePrimaryCtxRelease_v2(0), 201);
  puts("stale: refused");
  return 0;
}
