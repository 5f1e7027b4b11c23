/* turns N [WAIT [COMMAND [beside]]]: a kernel, over the driver that does nothing, is launched N times; the
 * program waits after WAIT launches each (8; 0: at the end alone). The command is run between its first
 * allocation and the load of its module. `beside`: every other launch or so runs while another stream has
 * work. Each launch adds one to a word, which it prints, and how many launches the driver has seen, and how
 * many texts beside its own. */
#include <stdio.h>
#include <stdlib.h>

#include "fake.h"
#include "order.h"

int main(int argc, char **argv) {
  const long n = argc > 1 ? atol(argv[1]) : 1, wait = argc > 2 ? atol(argv[2]) : 8;
  const bool beside = argc > 4;
  cu_module module;
  cu_function f;
  cu_stream other = NULL;
  uint64_t out, count = 512;
  void *params[] = {&out, &count};
  if (cuInit(0) || cuMemAlloc_v2(&out, 64) || (argc > 3 && system(argv[3])) ||
      cuModuleLoadData(&module, PTX_ORDER) || cuModuleGetFunction(&f, module, "order"))
    return 1;
  if (beside && cuStreamCreate(&other, CU_STREAM_NON_BLOCKING)) return 1;
  for (long k = 1; k <= n; k++) {
    if (beside && k * 7 % 11 % 2)
      fake_begin(other);
    else if (beside)
      fake_end();
    if (cuLaunchKernel(f, 8, 1, 1, 1, 1, 1, 0, NULL, params, NULL)) return 1;
    if (wait && k % wait == 0 && cuCtxSynchronize()) return 1;
  }
  fake_end();
  if (cuCtxSynchronize()) return 1;
  printf("ran %lu, compiled %lu, seen %lu\n", (unsigned long)*(uint64_t *)(uintptr_t)out, fake_compiled() - 1,
         fake_launches());
  return 0;
}
