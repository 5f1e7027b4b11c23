/* A kernel that is machine code alone, over the driver that does nothing: launched many times, as it is and
 * in clusters. Each launch that succeeded has run once, and at most one call has failed. Tells how many calls
 * of the driver's launches make. */
#include <stdio.h>
#include <string.h>

#include "fake.h"

enum { LAUNCHES = 1000 };

static unsigned failures;

static bool ok(int r) {
  failures += r != 0;
  return r == 0;
}

int main(void) {
  static const unsigned char cubin[64] = {0x7f, 'E', 'L', 'F', 2};
  cu_function function;
  cu_module module;
  uint64_t word, ran = 0;
  unsigned long before = 0;
  void *params[] = {&word};
  cu_launch_attribute cluster = {.id = CU_LAUNCH_CLUSTER_DIMENSION, .value.dims = {2, 1, 1}};
  const cu_launch_config config = {
      .grid = {8, 1, 1}, .block = {32, 1, 1}, .attributes = &cluster, .n_attributes = 1};
  ok(cuInit(0));
  while (!ok(cuMemAlloc_v2(&word, sizeof word))) continue;
  if (ok(cuModuleLoadData(&module, cubin)) && ok(cuModuleGetFunction(&function, module, "shipped")))
    for (int k = 0; k < LAUNCHES; k++) {
      before = fake_calls();
      ran += ok(cuLaunchKernel(function, 8, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
      ran += ok(cuLaunchKernelEx(&config, function, params, NULL));
    }
  if (failures > 1 || *(uint64_t *)(uintptr_t)word != ran) {
    printf("%u calls failed, %lu launches ran %lu times\n", failures, (unsigned long)ran,
           (unsigned long)*(uint64_t *)(uintptr_t)word);
    return 1;
  }
  printf("levers: as they should be, the last two launches made %lu calls\n", fake_calls() - before);
  return 0;
}
