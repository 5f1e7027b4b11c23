/* A program over the driver that does nothing, which loads a module, launches its kernel and unloads it,
 * again and again: neither the driver nor the process holds more from one time to the next. Prints "ok" when
 * that is so. */
#include <malloc.h>
#include <stdio.h>

#include "fake.h"
#include "order.h"

enum { TIMES = 3000, BEFORE = 1000, MOST_BYTES = 500 };

static int once(const char *text) {
  cu_function f;
  cu_module module;
  uint64_t out = 256, count = 512;
  void *params[] = {&out, &count};
  return cuModuleLoadData(&module, text) != 0 || cuModuleGetFunction(&f, module, "order") != 0 ||
         cuLaunchKernel(f, 8, 1, 1, 1, 1, 1, 0, NULL, params, NULL) != 0 || cuModuleUnload(module) != 0;
}

int main(void) {
  size_t before = 0;
  cuInit(0);
  for (int k = 0; k < TIMES; k++) {
    if (once(k % 2 ? PTX_ORDER : PTX_COUNTING)) return 1;
    if (fake_held() != 0) {
      printf("the driver holds %ld things after time %d\n", fake_held(), k);
      return 1;
    }
    if (k == BEFORE) before = mallinfo2().uordblks;
  }
  /* The fake driver never gives a handle twice, and those that were given are kept. */
  const double each = (double)(mallinfo2().uordblks - before) / (TIMES - BEFORE - 1);
  if (each > MOST_BYTES) {
    printf("each time %.0f bytes more are held\n", each);
    return 1;
  }
  puts("ok");
  return 0;
}
