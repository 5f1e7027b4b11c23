// Nodes of graphs beside kernels and copies: memory, events, nodes of any type, nodes that are switched off; edges that
// are taken away; objects that graphs keep.
#include "check.h"
#include <cstdint>

__global__ void add(int *p, int n, int x) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) p[k] += x;
}

enum { N = 100, BYTES = N * sizeof(int) };

static cudaKernelNodeParams kernel(void **arguments) {
  cudaKernelNodeParams p = {};
  p.func = reinterpret_cast<void *>(add);
  p.gridDim = dim3(1);
  p.blockDim = dim3(128);
  p.kernelParams = arguments;
  return p;
}

static uint64_t used(cudaGraphMemAttributeType attribute) {
  uint64_t bytes;
  OK(cudaDeviceGetGraphMemAttribute(0, attribute, &bytes));
  return bytes;
}

// Memory that a graph allocates, uses and frees, each time it runs.
static void memory_nodes(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t alloc, fill, run, copy, release;
  int host[N] = {};
  cudaMemAllocNodeParams a = {};
  a.poolProps.allocType = cudaMemAllocationTypePinned;
  a.poolProps.location.type = cudaMemLocationTypeDevice;
  a.bytesize = BYTES;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &a));
  CHECK(a.dptr);
  cudaMemsetParams s = {};
  s.dst = a.dptr;
  s.elementSize = 4;
  s.width = N;
  s.height = 1;
  s.value = 5;
  OK(cudaGraphAddMemsetNode(&fill, graph, &alloc, 1, &s));
  int n = N, x = 2;
  void *arguments[] = {&a.dptr, &n, &x};
  cudaKernelNodeParams k = kernel(arguments);
  OK(cudaGraphAddKernelNode(&run, graph, &fill, 1, &k));
  OK(cudaGraphAddMemcpyNode1D(&copy, graph, &run, 1, host, a.dptr, BYTES, cudaMemcpyDeviceToHost));
  OK(cudaGraphAddMemFreeNode(&release, graph, &copy, 1, a.dptr));

  cudaMemAllocNodeParams again;
  void *freed;
  OK(cudaGraphMemAllocNodeGetParams(alloc, &again));
  OK(cudaGraphMemFreeNodeGetParams(release, &freed));
  CHECK(again.dptr == a.dptr && again.bytesize == BYTES && freed == a.dptr);
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(alloc, &type));
  CHECK(type == cudaGraphNodeTypeMemAlloc);

  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int round = 0; round < 3; round++) {
    memset(host, 0, BYTES);
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(host[0] == 7 && host[N - 1] == 7);
    CHECK(used(cudaGraphMemAttrUsedMemHigh) >= BYTES);
  }
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  OK(cudaDeviceGraphMemTrim(0));
  CHECK(used(cudaGraphMemAttrUsedMemCurrent) == 0 && used(cudaGraphMemAttrReservedMemCurrent) == 0);
}

// Captured allocations become nodes; what the graph leaves allocated is the program's to free.
static void captured_memory(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  int *p, *q, host[N];
  size_t nodes;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaMallocAsync(&p, BYTES, stream));
  OK(cudaMallocAsync(&q, BYTES, stream));
  OK(cudaMemsetAsync(p, 0, BYTES, stream));
  add<<<1, 128, 0, stream>>>(p, N, 9);
  OK(cudaMemcpyAsync(q, p, BYTES, cudaMemcpyDeviceToDevice, stream));
  OK(cudaFreeAsync(p, stream));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 6);
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int round = 0; round < 2; round++) {
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaMemcpyAsync(host, q, BYTES, cudaMemcpyDeviceToHost, stream));
    OK(cudaFreeAsync(q, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(host[0] == 9 && host[N - 1] == 9);
  }
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

// Nodes of any type, events among them, edges that go, a node that is off.
static void any_nodes(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t first, second, record, wait;
  cudaEvent_t event, before;
  int *p, host[N], n = N, x = 1, y = 10;
  OK(cudaMalloc(&p, BYTES));
  OK(cudaMemset(p, 0, BYTES));
  OK(cudaEventCreate(&event));
  OK(cudaEventCreate(&before));
  OK(cudaEventRecord(before, stream));
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, before));
  cudaGraphNodeParams any = {};
  void *arguments[] = {&p, &n, &x}, *others[] = {&p, &n, &y};
  any.type = cudaGraphNodeTypeKernel;
  any.kernel.func = reinterpret_cast<void *>(add);
  any.kernel.gridDim = dim3(1);
  any.kernel.blockDim = dim3(128);
  any.kernel.kernelParams = arguments;
#if CUDART_VERSION >= 13000
  OK(cudaGraphAddNode(&first, graph, &wait, nullptr, 1, &any));
#else
  OK(cudaGraphAddNode(&first, graph, &wait, 1, &any));
#endif
  cudaKernelNodeParams k = kernel(others);
  OK(cudaGraphAddKernelNode(&second, graph, &first, 1, &k));
  OK(cudaGraphAddEventRecordNode(&record, graph, &second, 1, event));
  cudaEvent_t same;
  OK(cudaGraphEventRecordNodeGetEvent(record, &same));
  CHECK(same == event);

  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaEventSynchronize(event));
  float ms = -1;
  OK(cudaEventElapsedTime(&ms, before, event));
  CHECK(ms >= 0);
  OK(cudaMemcpy(host, p, BYTES, cudaMemcpyDeviceToHost));
  CHECK(host[0] == 11 && host[N - 1] == 11);

  unsigned on = 7;
  OK(cudaGraphNodeSetEnabled(exec, second, 0));
  OK(cudaGraphNodeGetEnabled(exec, second, &on));
  CHECK(on == 0);
  EXPECT(cudaGraphNodeSetEnabled(exec, record, 0), cudaErrorInvalidValue);
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(host, p, BYTES, cudaMemcpyDeviceToHost));
  CHECK(host[0] == 12);

#if CUDART_VERSION >= 13000
  OK(cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1));
  EXPECT(cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1), cudaErrorInvalidValue);
#else
  OK(cudaGraphRemoveDependencies(graph, &first, &second, 1));
  EXPECT(cudaGraphRemoveDependencies(graph, &first, &second, 1), cudaErrorInvalidValue);
#endif
  size_t roots;
  OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  CHECK(roots == 2);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  OK(cudaEventDestroy(event));
  OK(cudaEventDestroy(before));
  OK(cudaFree(p));
}

// The parameters of nodes can be read and replaced.
static void parameters(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t fill, copy;
  int *p, host[N] = {}, other[N] = {};
  OK(cudaMalloc(&p, BYTES));
  OK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams s = {}, t;
  s.dst = p;
  s.elementSize = 4;
  s.width = N;
  s.height = 1;
  s.value = 3;
  OK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &s));
  OK(cudaGraphMemsetNodeGetParams(fill, &t));
  CHECK(t.dst == p && t.value == 3 && t.width == N && t.elementSize == 4 && t.height == 1);
  OK(cudaGraphAddMemcpyNode1D(&copy, graph, &fill, 1, host, p, BYTES, cudaMemcpyDeviceToHost));
  cudaMemcpy3DParms c;
  OK(cudaGraphMemcpyNodeGetParams(copy, &c));
  CHECK(c.srcPtr.ptr == p && c.dstPtr.ptr == host && c.extent.width == BYTES && c.kind == cudaMemcpyDeviceToHost);
  OK(cudaGraphMemcpyNodeSetParams1D(copy, other, p, BYTES, cudaMemcpyDeviceToHost));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(host[0] == 0 && other[0] == 3 && other[N - 1] == 3);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  OK(cudaFree(p));
}

// An object lives as long as a graph that keeps it, or what was instantiated from it.
static void objects() {
  static int ended;
  ended = 0;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t node;
  cudaUserObject_t object;
  OK(cudaUserObjectCreate(&object, &ended, [](void *p) { ++*static_cast<int *>(p); }, 1, cudaUserObjectNoDestructorSync));
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphDestroy(graph));
  CHECK(ended == 0);
  OK(cudaGraphExecDestroy(exec));
  CHECK(ended == 1);
}

int main() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  memory_nodes(stream);
  captured_memory(stream);
  any_nodes(stream);
  parameters(stream);
  objects();
  OK(cudaStreamDestroy(stream));
  puts("graph nodes: ok");
}
