/* Handles that are gone. To use them is not defined, and a GPU's driver may crash over it; heddle's own names
 * them. */
#include "cu.h"

int main(void) {
  cu_handle context = begin(), stream, event;
  OK(cuStreamCreate(&stream, 0));
  OK(cuEventCreate(&event, 0));
  OK(cuStreamDestroy_v2(stream));
  EXPECT(cuStreamSynchronize(stream), 400);
  OK(cuEventDestroy_v2(event));
  EXPECT(cuEventRecord(event, NULL), 400);
  OK(cuCtxDestroy_v2(context));
  puts("stale: refused");
  return 0;
}
