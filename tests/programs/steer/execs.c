/* Executable graphs over the driver that does nothing, one of whose calls may fail: no two nodes of
 * executable graphs that may run at once have one state, whatever fails, and the graph's own nodes have the
 * program's kernel. `execs W`: the state is word W of a rewritten kernel's parameters, and some nodes have
 * one. Prints "calls N" when that is so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "order.h"

enum { NODES = 2, ROUNDS = 3, MOST = 17 };

static unsigned failures, with_states;
static cu_node nodes[NODES];
static cu_function function;

static int ok(int r) {
  failures += r != 0;
  return r == 0;
}

static bool none_failed(void) { return fake_calls() < strtoul(getenv("FAKE_FAIL"), NULL, 10); }

static void fail(const char *what) {
  printf("%s\n", what);
  exit(1);
}

/* The states of what may run now. */
static uint64_t taken[(MOST + 1) * NODES];
static unsigned n_taken;

static void take(cu_graph_exec exec, unsigned word) {
  for (int k = 0; k < NODES; k++) {
    const uint64_t state = fake_exec_word(exec, nodes[k], word);
    if (!word || fake_exec_function(exec, nodes[k]) == function) continue;
    if (!state) fail("a rewritten kernel has no state");
    for (unsigned i = 0; i < n_taken; i++)
      if (taken[i] == state) fail("two nodes have one state");
    taken[n_taken++] = state;
    with_states++;
  }
}

static void use(unsigned word) {
  cu_graph_exec exec[MOST];
  unsigned n = 0;
  for (unsigned k = 0; k < MOST; k++)
    if (ok(cuGraphInstantiateWithFlags(&exec[n], NULL, 0))) take(exec[n++], word);
  /* Updates, of which each exec has its states, or the original. */
  n_taken = 0;
  uint64_t out = 1, count = 2;
  void *params[] = {&out, &count};
  const cu_kernel_node p = {.function = function, .grid = {8, 1, 1}, .block = {1, 1, 1}, .params = params};
  for (unsigned k = 0; k < n; k++) {
    ok(k % 2 ? cuGraphExecUpdate_v2(exec[k], NULL, NULL)
             : cuGraphExecKernelNodeSetParams_v2(exec[k], nodes[0], &p));
    take(exec[k], word);
  }
  /* What is destroyed may still run, until the context is idle. */
  for (unsigned k = 0; k < n; k++) ok(cuGraphExecDestroy(exec[k]));
  cu_graph_exec more;
  if (ok(cuGraphInstantiateWithFlags(&more, NULL, 0))) {
    take(more, word);
    ok(cuGraphExecDestroy(more));
  }
  if (ok(cuCtxSynchronize())) n_taken = 0;
}

int main(int argc, char **argv) {
  const unsigned word = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
  cu_module module;
  uint64_t out = 0, count = 0;
  void *params[] = {&out, &count};
  ok(cuInit(0));
  if (ok(cuModuleLoadData(&module, PTX_ORDER)) && ok(cuModuleGetFunction(&function, module, "order"))) {
    const cu_kernel_node p = {.function = function, .grid = {8, 1, 1}, .block = {1, 1, 1}, .params = params};
    for (int k = 0; k < NODES; k++)
      while (!ok(cuGraphAddKernelNode_v2(&nodes[k], (cu_graph)&module, NULL, 0, &p))) continue;
    long held = 0;
    for (int round = 0; round < ROUNDS; round++) {
      use(word);
      if (n_taken) break; /* the wait failed */
      if (none_failed() && round && fake_held() > held) fail("states are not used again");
      held = fake_held();
      for (int k = 0; k < NODES; k++)
        if (word && fake_node_function(nodes[k]) != function) fail("the graph has another kernel");
    }
    ok(cuModuleUnload(module));
  }
  if (failures > 1) fail("more calls failed than one");
  if (none_failed() && word && with_states != ROUNDS * NODES * (2 * MOST + 1)) fail("nodes run the original");
  printf("calls %lu\n", fake_calls());
  return 0;
}
