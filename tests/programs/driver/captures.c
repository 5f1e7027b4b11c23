/* Captures into a graph that the program has, their dependencies set by hand, and attributes of kernels in
 * graphs; and a capture of streams that part and meet again many times. */
#include "cu.h"

enum { PARTINGS = 40, COOPERATIVE = 2, PRIORITY = 8, ADD = 0, SET = 1 };

static const char *const append =
    PTX_HEAD ".visible .entry append(.param .u64 p, .param .u32 v) { .reg .b64 %rd<2>; .reg .b32 %r<4>;\n"
             "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v]; ld.global.u32 %r2, [%rd1];\n"
             "mul.lo.u32 %r3, %r2, 10; add.u32 %r3, %r3, %r1; st.global.u32 [%rd1], %r3; ret; }\n";
static cu_function function;
static cu_stream a, b;

static void digit(cu_address p, unsigned v, cu_stream stream) {
  void *params[] = {&p, &v};
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
}

static unsigned run(cu_graph graph, cu_address p) {
  cu_graph_exec exec;
  unsigned v;
  OK(cuMemsetD32_v2(p, 0, 2));
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuGraphLaunch(exec, a));
  OK(cuStreamSynchronize(a));
  OK(cuMemcpyDtoH_v2(&v, p, 4));
  return v;
}

static void into_a_graph(cu_address p) {
  cu_node *behind;
  cu_node nodes[4];
  cu_graph graph, again;
  int status;
  uint64_t id;
  size_t n = 4, edges = 0;
  OK(cuGraphCreate(&graph, 0));
  OK(cuStreamBeginCaptureToGraph(a, graph, NULL, NULL, 0, 0));
  digit(p, 1, a);
  OK(cuStreamEndCapture(a, &again));
  CHECK(again == graph);
  OK(cuGraphGetNodes(graph, nodes, &n));
  CHECK(n == 1);
  OK(cuStreamBeginCaptureToGraph(a, graph, nodes, NULL, 1, 0));
  digit(p, 2, a);
  OK(cuStreamUpdateCaptureDependencies_v2(a, NULL, NULL, 0, SET)); /* behind nothing */
  digit(p + 4, 3, a);
  OK(cuStreamGetCaptureInfo_v2(a, &status, &id, &again, &behind, &n));
  CHECK(status == 1 && again == graph && n == 1);
  nodes[1] = behind[0];
  OK(cuStreamUpdateCaptureDependencies_v2(a, nodes, NULL, 2, ADD));
  digit(p + 4, 4, a); /* behind the first one and the third one */
  OK(cuStreamEndCapture(a, &again));
  OK(cuGraphGetEdges(graph, NULL, NULL, &edges));
  CHECK(edges == 3);
  CHECK(run(graph, p) == 12);
  EXPECT(cuStreamUpdateCaptureDependencies_v2(a, nodes, NULL, 1, ADD), 401);
  EXPECT(cuStreamBeginCaptureToGraph(a, NULL, NULL, NULL, 0, 0), 1);
  OK(cuGraphDestroy(graph));
}

static void attributes(cu_address p) {
  cu_node nodes[2];
  cu_graph graph;
  size_t n = 2;
  char value[64] = {0};
  cu_kernel_node params, same;
  OK(cuStreamBeginCapture_v2(a, 0));
  digit(p, 5, a);
  digit(p, 6, a);
  OK(cuStreamEndCapture(a, &graph));
  OK(cuGraphGetNodes(graph, nodes, &n));
  *(int *)(void *)value = 1;
  OK(cuGraphKernelNodeSetAttribute(nodes[0], COOPERATIVE, value));
  *(int *)(void *)value = -2;
  OK(cuGraphKernelNodeSetAttribute(nodes[0], PRIORITY, value));
  OK(cuGraphKernelNodeCopyAttributes(nodes[1], nodes[0]));
  OK(cuGraphKernelNodeGetAttribute(nodes[1], COOPERATIVE, value));
  CHECK(*(int *)(void *)value == 1);
  OK(cuGraphKernelNodeGetAttribute(nodes[1], PRIORITY, value));
  CHECK(*(int *)(void *)value == -2);
  EXPECT(cuGraphKernelNodeGetAttribute(nodes[1], 0, value), 1);
  memset(&params, 0x55, sizeof params);
  memset(&same, 0x55, sizeof same);
  OK(cuGraphKernelNodeGetParams(nodes[1], &params)); /* of CUDA 11: without the last two members */
  CHECK(params.function == function && params.kernel == same.kernel);
  CHECK(run(graph, p) == 56);
  OK(cuGraphDestroy(graph));
}

static void many_partings(cu_address p) {
  cu_graph graph;
  cu_event event;
  size_t n = 0;
  OK(cuEventCreate(&event, 2));
  OK(cuStreamBeginCapture_v2(a, 0));
  for (int k = 0; k < PARTINGS; k++) {
    OK(cuEventRecord(event, a));
    OK(cuStreamWaitEvent(b, event, 0));
    digit(p, 1, a);
    digit(p + 4, 1, b);
    OK(cuEventRecord(event, b));
    OK(cuStreamWaitEvent(a, event, 0));
  }
  OK(cuStreamEndCapture(a, &graph));
  OK(cuGraphGetNodes(graph, NULL, &n));
  CHECK(n == 2 * PARTINGS);
  OK(cuGraphDestroy(graph));
  OK(cuEventDestroy_v2(event));
}

int main(void) {
  cu_module module;
  cu_address p;
  begin();
  function = kernel_of(append, "append", &module);
  OK(cuMemAlloc_v2(&p, 8));
  OK(cuStreamCreate(&a, 0));
  OK(cuStreamCreate(&b, 0));
  into_a_graph(p);
  attributes(p);
  many_partings(p);
  OK(cuMemFree_v2(p));
  puts("captures: as they were recorded");
  return 0;
}
