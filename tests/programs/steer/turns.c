/* turns N [WAIT [COMMAND [WAY]]]: a kernel, over the driver that does nothing, is launched N times; the
 * program waits after WAIT launches each (8; 0: at the end alone). The command is run between its first
 * allocation and the load of its module. WAY is one of
 *   beside     every other launch or so runs while another stream has work
 *   captured   every other launch is captured
 *   destroyed  in the middle its context is destroyed, and another has its number
 *   unloaded   in the middle its module is unloaded, and loaded again
 *   shapes     every other launch has blocks of another size
 *   late       it loads another module, and launches a kernel of that, before it loads the kernel's
 *   children   it asks for children that have ended, and has none
 *   graph      its launches are of a graph with the kernel twice
 *   streams    the same, and every seventh is in another stream
 *   changed    the same, and in the middle its executable graph is changed, and what it was before runs no
 * more again      the same, and in the middle that is destroyed and made again gone       the same, and at
 * the end the module is unloaded after that Each launch adds one to a word, which it prints, and how many
 * launches the driver has seen, and how many texts beside its own. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "fake.h"
#include "order.h"

static const char *way = "";
static cu_stream other;
static volatile sig_atomic_t children;

static bool is_way(const char *name) { return strcmp(way, name) == 0; }

static void count_child(int signal) { children += signal == SIGCHLD; }

static void look_for_children(void) { children += waitpid(-1, NULL, WNOHANG) != -1; }

/* ---- As a graph ---- */

enum { NODES = 2 };
static cu_graph_exec exec;
static cu_node nodes[NODES];
static cu_kernel_node node;
static long changed = LONG_MAX; /* the launch before that */
static unsigned long stale;     /* launches of what it was before */

static bool is_graph(void) {
  return is_way("graph") || is_way("streams") || is_way("changed") || is_way("again") || is_way("gone");
}

static int make_graph(cu_function f, void **params) {
  int r = 0;
  node = (cu_kernel_node){.function = f, .grid = {8, 1, 1}, .block = {1, 1, 1}, .params = params};
  for (int k = 0; !r && k < NODES; k++) r = cuGraphAddKernelNode_v2(&nodes[k], (cu_graph)1, NULL, 0, &node);
  return r || cuGraphInstantiateWithFlags(&exec, (cu_graph)1, 0);
}

static int change_graph(void) {
  if (is_way("changed")) return cuGraphExecKernelNodeSetParams_v2(exec, nodes[0], &node);
  if (is_way("again")) return cuGraphExecDestroy(exec) || cuGraphInstantiateWithFlags(&exec, (cu_graph)1, 0);
  return 0;
}

static int launch(cu_function f, long k, void **params) {
  enum { RELAXED = 2 };
  const bool odd = k % 2;
  cu_graph graph;
  if (is_graph()) {
    const bool elsewhere = (is_way("streams") || is_way("changed")) && k % 7 == 0;
    const int r = cuGraphLaunch(exec, elsewhere ? other : NULL);
    stale += is_way("changed") && k > changed && fake_launched_exec() != exec;
    return r;
  }
  if (is_way("beside") && k * 7 % 11 % 2)
    fake_begin(other);
  else
    fake_end();
  if (!is_way("captured") || !odd)
    return cuLaunchKernel(f, 8, 1, 1, is_way("shapes") && odd ? 2 : 1, 1, 1, 0, NULL, params, NULL);
  if (cuStreamBeginCapture_v2(other, RELAXED)) return 1;
  const int r = cuLaunchKernel(f, 8, 1, 1, 1, 1, 1, 0, other, params, NULL);
  return cuStreamEndCapture(other, &graph) || r;
}

/* As the CUDA runtime loads modules: when the program launches a kernel of theirs first. */
static int launch_another(void **params) {
  cu_module module;
  cu_function f;
  return cuModuleLoadData(&module, PTX_COUNTING) || cuModuleGetFunction(&f, module, "order") ||
         cuLaunchKernel(f, 8, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
}

int main(int argc, char **argv) {
  const long n = argc > 1 ? atol(argv[1]) : 1, wait = argc > 2 ? atol(argv[2]) : 8;
  cu_module module;
  cu_function f;
  uint64_t out, count = 512;
  void *params[] = {&out, &count};
  if (argc > 4) way = argv[4];
  if (cuInit(0) || cuMemAlloc_v2(&out, 64) || (argc > 3 && system(argv[3])) ||
      (is_way("late") && launch_another(params)) || cuModuleLoadData(&module, PTX_ORDER) ||
      cuModuleGetFunction(&f, module, "order"))
    return 1;
  signal(SIGCHLD, count_child);
  if (argc > 4 && cuStreamCreate(&other, CU_STREAM_NON_BLOCKING)) return 1;
  if (is_graph() && make_graph(f, params)) return 1;
  for (long k = 1; k <= n; k++) {
    if (launch(f, k, params)) return 1;
    if (is_graph() && k == n / 2 && (cuCtxSynchronize() || change_graph())) return 1;
    if (is_graph() && k == n / 2) changed = k;
    if (is_way("unloaded") && k == n / 2 &&
        (cuModuleUnload(module) || cuModuleLoadData(&module, PTX_ORDER) ||
         cuModuleGetFunction(&f, module, "order")))
      return 1;
    if (is_way("destroyed") && k == n / 2 && cuCtxDestroy_v2((cu_context)1)) return 1;
    if (wait && k % wait == 0 && cuCtxSynchronize()) return 1;
    if (is_way("children")) look_for_children();
  }
  fake_end();
  if (cuCtxSynchronize()) return 1;
  if (children) printf("it has seen children, ");
  if (fake_stale()) printf("%lu times an event is asked for that is gone, ", fake_stale());
  if (is_way("late")) {
    --*(uint64_t *)(uintptr_t)out;
    fprintf(stderr, "%lu of %lu libraries are late\n", fake_late(), fake_libraries());
  }
  if (stale) printf("%lu launches are of a graph that was changed, ", stale);
  if (fake_overlaps()) printf("%lu graphs run beside themselves, ", fake_overlaps());
  if (is_graph()) *(uint64_t *)(uintptr_t)out /= NODES;
  if (is_graph() && cuGraphExecDestroy(exec)) return 1;
  if (is_way("gone") && cuModuleUnload(module)) return 1;
  if (fake_execs()) printf("%lu executable graphs are left, ", fake_execs());
  printf("ran %lu, compiled %lu, seen %lu\n", (unsigned long)*(uint64_t *)(uintptr_t)out, fake_compiled() - 1,
         fake_launches());
  return 0;
}
