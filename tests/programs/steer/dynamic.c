/* A program over the driver that does nothing, whose launches have dynamic shared memory at times, of which
 * its kernel's text says nothing: so that fewer CTAs fit on an SM. The variable by which a plan's CTAs hand
 * tasks over never stands where that memory begins. Prints "dynamic: ok" when that is so. */
#include <stdio.h>
#include <stdlib.h>

#include "fake.h"

enum { LAUNCHES = 10, BYTES = 2048 };

static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".visible .entry meet(.param .u64 at)\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<4>;\n"
                           "ld.param.u64 %rd1, [at];\nmov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
                           "add.s64 %rd3, %rd1, %rd2;\nbar.sync 0;\nst.global.u32 [%rd3], %r1;\nret;\n}\n";
static cu_function function;
static uint64_t word;

static void ok(int r) {
  if (!r) return;
  printf("a call gives: %d\n", r);
  exit(1);
}

static void launch(unsigned shared) {
  void *params[] = {&word};
  for (int k = 0; k < LAUNCHES; k++)
    ok(cuLaunchKernel(function, 8, 1, 1, 64, 1, 1, shared, NULL, params, NULL));
  ok(cuCtxSynchronize());
}

int main(void) {
  cu_module module;
  ok(cuInit(0));
  ok(cuMemAlloc_v2(&word, sizeof word));
  ok(cuModuleLoadData(&module, text));
  ok(cuModuleGetFunction(&function, module, "meet"));
  ok(cuCtxSynchronize());
  launch(0);
  launch(BYTES); /* none is known before: they keep the original */
  launch(BYTES);
  launch(0);
  launch(2 * BYTES);
  const uint64_t ran = *(uint64_t *)(uintptr_t)word;
  if (fake_behind() || ran != 5 * LAUNCHES) {
    printf("%lu launches ran, %lu with memory that begins at a plan's variable\n", (unsigned long)ran,
           fake_behind());
    return 1;
  }
  printf("dynamic: ok\n");
  return 0;
}
