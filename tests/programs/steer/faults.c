/* A program over the driver that does nothing, one of whose calls fails: the program sees at most that one
 * failure, and each of its launches that succeeded is one launch of the driver's; the memory is as if they
 * alone had run. `faults tuned`: heddle may launch more. `faults unparsed`: the same, beside a module whose
 * text is not PTX as heddle knows it. `faults guarded`: with more launches. `faults graphs`: with those of a
 * graph, in two streams. Prints "calls N" when that is so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "order.h"

static unsigned failures;
static unsigned long launched, run;
static uint64_t out;

static int ok(int r) {
  failures += r != 0;
  return r == 0;
}

static void launch(cu_function f, unsigned n) {
  uint64_t count = 512;
  void *params[] = {&out, &count};
  cu_launch_config config = {.grid = {n, 1, 1}, .block = {1, 1, 1}};
  cu_kernel_node node = {.function = f, .grid = {n, 1, 1}, .block = {1, 1, 1}, .params = params};
  cu_node added;
  run += (unsigned long)ok(cuLaunchKernel(f, n, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
  run += (unsigned long)ok(cuLaunchKernelEx(&config, f, params, NULL));
  launched += (unsigned long)ok(cuGraphAddKernelNode_v2(&added, NULL, NULL, 0, &node));
}

/* Of two kernels; the driver runs all of it or none. */
static void launch_graph(cu_function f) {
  uint64_t count = 512;
  void *params[] = {&out, &count};
  const cu_kernel_node node = {.function = f, .grid = {8, 1, 1}, .block = {1, 1, 1}, .params = params};
  cu_graph_exec exec;
  cu_stream other = NULL;
  cu_node added;
  unsigned nodes = 0;
  ok(cuStreamCreate(&other, 1));
  for (int k = 0; k < 2; k++)
    nodes += (unsigned)ok(cuGraphAddKernelNode_v2(&added, (cu_graph)1, NULL, 0, &node));
  if (!ok(cuGraphInstantiateWithFlags(&exec, (cu_graph)1, 0))) return;
  for (int k = 0; k < 40; k++)
    if (ok(cuGraphLaunch(exec, k % 10 == 9 ? other : NULL))) run += nodes;
  ok(cuCtxSynchronize());
  ok(cuGraphExecDestroy(exec));
}

int main(int argc, char **argv) {
  static const char unparsed[] = ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry e() { ? }\n";
  const bool guarded = argc > 1 && strcmp(argv[1], "guarded") == 0,
             graphs = argc > 1 && strcmp(argv[1], "graphs") == 0, tuned = argc > 1 && !guarded && !graphs;
  cu_function kernel;
  cu_library library;
  cu_function f;
  cu_module other, module;
  uint64_t unreached;
  ok(cuInit(0));
  while (!ok(cuMemAlloc_v2(&out, 64))) continue;
  if (tuned) ok(cuMemAlloc_v2(&unreached, 64));
  if (tuned && strcmp(argv[1], "unparsed") == 0) ok(cuModuleLoadData(&other, unparsed));
  if (ok(cuModuleLoadData(&module, PTX_ORDER))) {
    if (ok(cuModuleGetFunction(&f, module, "order"))) {
      ok(cuFuncSetAttribute(f, 8, 1024));
      for (int k = 0; k < (guarded ? 30 : 1); k++) launch(f, 8);
      launch(f, 5);
      if (graphs) launch_graph(f);
    }
    ok(cuModuleUnload(module));
  }
  if (ok(cuLibraryLoadData(&library, PTX_COUNTING, NULL, NULL, 0, NULL, NULL, 0))) {
    if (ok(cuLibraryGetKernel(&kernel, library, "order"))) {
      launch(kernel, 8);
      if (ok(cuKernelGetFunction(&f, kernel))) launch(f, 8);
      ok(cuKernelSetAttribute(8, 1024, kernel, 0));
      launch(kernel, 8);
      ok(cuStreamDestroy_v2(NULL));
      ok(cuCtxSynchronize());
      launch(kernel, 8);
    }
    ok(cuLibraryUnload(library));
  }
  ok(cuDevicePrimaryCtxRelease_v2(0));
  launched += run;
  if (failures > 1 || (tuned ? launched > fake_launches() : launched != fake_launches())) {
    printf("%u calls failed, %lu launches for %lu\n", failures, fake_launches(), launched);
    return 1;
  }
  if (*(uint64_t *)(uintptr_t)out != run) {
    printf("%lu launches wrote %lu\n", run, (unsigned long)*(uint64_t *)(uintptr_t)out);
    return 1;
  }
  if (fake_overlaps() ||
      (!failures && fake_execs() && fake_calls() < strtoul(getenv("FAKE_FAIL"), NULL, 10))) {
    printf("%lu graphs run beside themselves, %lu are left\n", fake_overlaps(), fake_execs());
    return 1;
  }
  printf("calls %lu\n", fake_calls());
  return 0;
}
