/* Executable graphs: several of one graph that run at once, replays, clones, graphs in graphs, nodes of any
 * type, updates by nodes and by graphs; and what graphs say of their nodes afterwards. Every CTA of every
 * launch adds once. */
#include "cu.h"

enum { CTAS = 40, MANY = 20, SHARED = 48 << 10 }; /* shared memory, so that few CTAs fit on an SM */

/* p[ctaid] += v */
static const char *const text =
    PTX_HEAD ".visible .entry add(.param .u64 p, .param .u32 v) { .reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
             "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v]; mov.u32 %r2, %ctaid.x;\n"
             "mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; red.global.add.u32 [%rd3], %r1; ret; }\n";
static cu_function function;
static cu_stream a, b;
static cu_address p, q;

static cu_kernel_node node_of(cu_address *at, unsigned *v, void **params) {
  params[0] = at;
  params[1] = v;
  return (cu_kernel_node){.function = function,
                          .grid = {CTAS, 1, 1},
                          .block = {1, 1, 1},
                          .dynamic_shared = SHARED,
                          .params = params};
}

static cu_any_node any_of(cu_address *at, unsigned *v, void **params) {
  cu_any_node n = {0};
  n.of.kernel = node_of(at, v, params);
  return n;
}

static void check(cu_address at, unsigned v) {
  unsigned got[CTAS];
  OK(cuCtxSynchronize());
  OK(cuMemcpyDtoH_v2(got, at, sizeof got));
  for (int k = 0; k < CTAS; k++) CHECK(got[k] == v);
  OK(cuMemsetD32_v2(at, 0, CTAS));
  OK(cuCtxSynchronize());
}

/* The graph says of its node what the program said. */
static void check_node(cu_node node, cu_address at, unsigned v) {
  cu_kernel_node n;
  OK(cuGraphKernelNodeGetParams_v2(node, &n));
  CHECK(n.function == function && n.grid[0] == CTAS && n.grid[1] == 1 && n.block[0] == 1);
  CHECK(memcmp(n.params[0], &at, sizeof at) == 0 && memcmp(n.params[1], &v, sizeof v) == 0);
}

static cu_graph captured(cu_address at, unsigned v) {
  cu_graph graph;
  void *params[] = {&at, &v};
  OK(cuStreamBeginCapture_v2(a, 0));
  OK(cuLaunchKernel(function, CTAS, 1, 1, 1, 1, 1, SHARED, a, params, NULL));
  OK(cuLaunchKernel(function, CTAS, 1, 1, 1, 1, 1, SHARED, a, params, NULL));
  OK(cuStreamEndCapture(a, &graph));
  return graph;
}

/* What graphs refuse: the CUDA driver API on edges, children, clones, and memory. */
static void refusals(void) {
  cu_graph graph, other, clone;
  cu_graph_exec exec;
  cu_node x, y, z, found, alloc, release, failed;
  int result;
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphCreate(&other, 0));
  OK(cuGraphAddEmptyNode(&x, graph, NULL, 0));
  OK(cuGraphAddEmptyNode(&y, graph, &x, 1));
  EXPECT(cuGraphAddEmptyNode(&z, graph, (cu_node[]){x, x}, 2), 1);
  OK(cuGraphAddEmptyNode(&z, graph, NULL, 0));
  EXPECT(cuGraphAddDependencies(graph, &x, &y, 1), 1); /* an edge that there is */
  EXPECT(cuGraphAddDependencies(graph, (cu_node[]){x, x}, (cu_node[]){z, z}, 2), 1);
  OK(cuGraphAddDependencies(graph, &x, &z, 1)); /* none of the two was added */
  EXPECT(cuGraphAddChildGraphNode(&found, graph, NULL, 0, graph), 1);
  OK(cuGraphClone(&clone, graph));
  OK(cuGraphNodeFindInClone(&found, z, clone));
  OK(cuGraphDestroyNode(y));
  OK(cuGraphNodeFindInClone(&x, z, clone));
  CHECK(x == found);
  OK(cuGraphAddEmptyNode(&x, other, NULL, 0));
  EXPECT(cuGraphNodeFindInClone(&found, x, clone), 1); /* a node of another graph */
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuGraphAddMemsetNode(&y, other, &x, 1, &(cu_set_node){.dst = p, .bytes = 4, .width = 1, .height = 1},
                          NULL));
  EXPECT(cuGraphExecUpdate(exec, other, &failed, &result), 910);
  CHECK(result == 3 && failed == y);
  OK(cuGraphAddEmptyNode(&z, other, NULL, 0));
  EXPECT(cuGraphExecUpdate(exec, other, &failed, &result), 910);
  CHECK(result == 2 && !failed);
  cu_alloc_node memory = {.props = {.type = 1, .location = {1, 0}}, .bytes = 64};
  OK(cuGraphAddMemAllocNode(&alloc, other, NULL, 0, &memory));
  EXPECT(cuGraphAddMemFreeNode(&release, other, NULL, 0, p), 1); /* no graph's */
  EXPECT(cuGraphAddMemFreeNode(&release, (cu_graph)(void *)exec, NULL, 0, memory.address), 1); /* no graph */
  OK(cuGraphAddMemFreeNode(&release, other, &alloc, 1, memory.address));
  EXPECT(cuGraphAddMemFreeNode(&release, other, &alloc, 1, memory.address), 1); /* twice */
  EXPECT(cuGraphClone(&clone, other), 801);
  EXPECT(cuGraphAddChildGraphNode(&found, graph, NULL, 0, other), 801);
  EXPECT(cuGraphDestroyNode(x), 801);
  EXPECT(cuGraphRemoveDependencies(other, &x, &y, 1), 801);
  OK(cuGraphExecDestroy(exec));
}

static cu_graph_exec instantiated(cu_graph graph) {
  cu_graph_exec exec;
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  return exec;
}

/* Two nodes beside each other, and one behind them. */
static void several_of_one(void) {
  cu_graph_exec exec[2];
  cu_node nodes[3];
  cu_graph graph;
  unsigned v = 1;
  void *params[2];
  cu_kernel_node n = node_of(&p, &v, params);
  cu_any_node any = any_of(&p, &v, params);
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddKernelNode_v2(&nodes[0], graph, NULL, 0, &n));
  OK(cuGraphAddNode(&nodes[1], graph, NULL, 0, &any));
  v = 10;
  OK(cuGraphAddNode(&nodes[2], graph, nodes, 2, &any));
  OK(cuGraphInstantiate_v2(&exec[0], graph, NULL, NULL, 0));
  exec[1] = instantiated(graph);
  for (int k = 0; k < 4; k++) {
    OK(cuGraphLaunch(exec[k % 2], a));
    OK(cuGraphLaunch(exec[(k + 1) % 2], b));
  }
  check(p, 8 * 12);
  check_node(nodes[0], p, 1);
  check_node(nodes[2], p, 10);
  v = 5;
  any = any_of(&q, &v, params);
  OK(cuGraphExecNodeSetParams(exec[0], nodes[0], &any));
  v = 6;
  n = node_of(&q, &v, params);
  OK(cuGraphExecKernelNodeSetParams_v2(exec[1], nodes[1], &n));
  OK(cuGraphLaunch(exec[0], a));
  OK(cuGraphLaunch(exec[1], b));
  OK(cuGraphLaunch(exec[1], a));
  check(q, 5 + 2 * 6);
  check(p, 3 * 11);
  v = 7;
  OK(cuGraphNodeSetParams(nodes[2], &any));
  check_node(nodes[2], q, 7);
  OK(cuGraphExecDestroy(exec[0]));
  exec[0] = instantiated(graph);
  OK(cuGraphLaunch(exec[0], a));
  check(p, 2);
  check(q, 7);
  OK(cuGraphExecDestroy(exec[0]));
  OK(cuGraphExecDestroy(exec[1]));
  OK(cuGraphDestroy(graph));
}

static void copies_and_children(void) {
  cu_graph graph = captured(p, 1), clone, whole;
  cu_node child[2];
  cu_graph_exec exec[3];
  OK(cuGraphClone(&clone, graph));
  OK(cuGraphCreate(&whole, 0));
  OK(cuGraphAddChildGraphNode(&child[0], whole, NULL, 0, graph));
  OK(cuGraphAddChildGraphNode(&child[1], whole, NULL, 0, clone));
  exec[0] = instantiated(graph);
  exec[1] = instantiated(clone);
  exec[2] = instantiated(whole);
  OK(cuGraphDestroy(graph));
  OK(cuGraphDestroy(clone));
  for (int k = 0; k < 6; k++) OK(cuGraphLaunch(exec[k % 3], k % 2 ? a : b));
  check(p, 2 * (2 + 2 + 4));
  for (int k = 0; k < 3; k++) OK(cuGraphExecDestroy(exec[k]));
  OK(cuGraphDestroy(whole));
}

/* By graphs that are gone afterwards. */
static void updates(void) {
  cu_update_info result;
  cu_graph graph = captured(p, 1), other;
  cu_graph_exec exec = instantiated(graph);
  for (unsigned v = 2; v < 5; v++) {
    OK(cuGraphLaunch(exec, a));
    other = captured(v % 2 ? p : q, v);
    OK(cuGraphExecUpdate_v2(exec, other, &result));
    OK(cuGraphDestroy(other));
    OK(cuGraphLaunch(exec, b));
  }
  check(p, 2 * (1 + 3 + 3));
  check(q, 2 * (2 + 2 + 4));
  OK(cuGraphExecUpdate_v2(exec, graph, &result));
  OK(cuGraphLaunch(exec, a));
  OK(cuGraphLaunch(exec, b));
  check(p, 2 * 2);
  OK(cuGraphCreate(&other, 0));
  CHECK(cuGraphExecUpdate_v2(exec, other, &result) != 0);
  OK(cuGraphLaunch(exec, a));
  check(p, 2);
  OK(cuGraphDestroy(other));
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
}

static void many(void) {
  cu_graph graph = captured(p, 1);
  cu_graph_exec exec[MANY];
  for (int round = 0; round < 2; round++) {
    for (int k = 0; k < MANY; k++) {
      exec[k] = instantiated(graph);
      if (k % 5 == 0) OK(cuGraphLaunch(exec[k], k % 2 ? a : b));
    }
    for (int k = 0; k < MANY; k++) OK(cuGraphExecDestroy(exec[k]));
  }
  check(p, 2 * 2 * MANY / 5);
  OK(cuGraphDestroy(graph));
}

int main(void) {
  cu_module module;
  begin();
  function = kernel_of(text, "add", &module);
  OK(cuStreamCreate(&a, 1));
  OK(cuStreamCreate(&b, 1));
  OK(cuMemAlloc_v2(&p, CTAS * sizeof(unsigned)));
  OK(cuMemAlloc_v2(&q, CTAS * sizeof(unsigned)));
  OK(cuMemsetD32_v2(p, 0, CTAS));
  OK(cuMemsetD32_v2(q, 0, CTAS));
  OK(cuCtxSynchronize());
  several_of_one();
  refusals();
  copies_and_children();
  updates();
  many();
  OK(cuMemFree_v2(p));
  OK(cuMemFree_v2(q));
  OK(cuModuleUnload(module));
  puts("executable graphs: as they should be");
  return 0;
}
