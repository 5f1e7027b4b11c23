/* A program over the driver that does nothing, with a kernel. Prints how often the driver compiled something,
 * beside the program's own text. */
#include <stdio.h>

#include "fake.h"
#include "order.h"

int main(void) {
  cu_function f;
  cu_module module;
  uint64_t out = 256, count = 512;
  void *params[] = {&out, &count};
  cuInit(0);
  if (cuModuleLoadData(&module, PTX_ORDER) || cuModuleGetFunction(&f, module, "order") ||
      cuLaunchKernel(f, 8, 1, 1, 1, 1, 1, 0, NULL, params, NULL) || cuModuleUnload(module))
    return 1;
  printf("compiled %lu\n", fake_compiled() - 1);
  return 0;
}
