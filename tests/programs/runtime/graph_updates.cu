// Graphs that are changed: parameters of nodes of the graph and of its executable form, whole updates, clones, events.
#include "check.h"

__global__ void set(int *v, int n, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] = value;
}
__global__ void sum(const int *v, int n, int *out) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(out, v[i]);
}
static void CUDART_CB note(void *data) { ++*(int *)data; }

int main() {
  int n = 200, value = 3, *v, *out, *host, calls = 0;
  OK(cudaMalloc(&v, n * sizeof *v));
  OK(cudaMalloc(&out, sizeof *out));
  OK(cudaMallocHost(&host, sizeof *host));
  cudaGraph_t g;
  cudaGraphNode_t nodes[6], found[8];
  cudaGraphExec_t e;
  cudaEvent_t done;
  cudaStream_t s;
  OK(cudaEventCreate(&done));
  OK(cudaStreamCreate(&s));
  OK(cudaGraphCreate(&g, 0));
  cudaKernelNodeParams k = {};
  void *set_args[] = {&v, &n, &value}, *sum_args[] = {&v, &n, &out};
  k.func = (void *)set;
  k.gridDim = dim3(2);
  k.blockDim = dim3(128);
  k.kernelParams = set_args;
  OK(cudaGraphAddKernelNode(&nodes[0], g, nullptr, 0, &k));
  cudaMemsetParams zero = {};
  zero.dst = out;
  zero.elementSize = 4;
  zero.width = zero.height = 1;
  OK(cudaGraphAddMemsetNode(&nodes[1], g, nullptr, 0, &zero));
  k.func = (void *)sum;
  k.gridDim = dim3(1);
  k.kernelParams = sum_args;
  OK(cudaGraphAddKernelNode(&nodes[2], g, nodes, 2, &k));
  OK(cudaGraphAddMemcpyNode1D(&nodes[3], g, &nodes[2], 1, host, out, sizeof *host, cudaMemcpyDeviceToHost));
  cudaHostNodeParams h = {note, &calls};
  OK(cudaGraphAddHostNode(&nodes[4], g, &nodes[3], 1, &h));
  OK(cudaGraphAddEventRecordNode(&nodes[5], g, &nodes[4], 1, done));
  size_t count = 8;
  OK(cudaGraphGetRootNodes(g, found, &count));
  CHECK(count == 2);
  OK(cudaGraphNodeGetDependencies(nodes[2], nullptr, nullptr, &count));
  CHECK(count == 2);
  count = 8;
  OK(cudaGraphNodeGetDependentNodes(nodes[2], found, nullptr, &count));
  CHECK(count == 1 && found[0] == nodes[3]);
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(nodes[4], &type));
  CHECK(type == cudaGraphNodeTypeHost);
  OK(cudaGraphInstantiate(&e, g, 0));
  OK(cudaGraphLaunch(e, s));
  OK(cudaEventSynchronize(done));
  OK(cudaStreamSynchronize(s));
  printf("%d after %d call\n", *host, calls);

  /* The executable form alone. */
  value = 5;
  k.func = (void *)set;
  k.gridDim = dim3(2);
  k.kernelParams = set_args;
  OK(cudaGraphExecKernelNodeSetParams(e, nodes[0], &k));
  zero.value = 1000;
  OK(cudaGraphExecMemsetNodeSetParams(e, nodes[1], &zero));
  OK(cudaGraphLaunch(e, s));
  OK(cudaStreamSynchronize(s));
  printf("%d after %d calls\n", *host, calls);

  /* The graph, then the executable form by a clone of it. */
  value = 7;
  OK(cudaGraphKernelNodeSetParams(nodes[0], &k));
  cudaGraph_t clone;
  cudaGraphExecUpdateResultInfo info;
  OK(cudaGraphClone(&clone, g));
  OK(cudaGraphExecUpdate(e, clone, &info));
  OK(cudaGraphLaunch(e, s));
  OK(cudaGraphLaunch(e, s));
  OK(cudaStreamSynchronize(s));
  printf("%d after %d calls\n", *host, calls);
  OK(cudaGraphNodeFindInClone(&found[0], nodes[0], clone));
  /* The nodes of the graph that it was made from name its own, after the update, too. */
  OK(cudaGraphExecMemsetNodeSetParams(e, nodes[1], &zero));

  /* Another shape cannot be taken over. */
  OK(cudaGraphDestroyNode(nodes[5]));
  CHECK(cudaGraphExecUpdate(e, g, &info) == cudaErrorGraphExecUpdateFailure);
  cudaGetLastError();
  OK(cudaGraphExecDestroy(e));
  OK(cudaGraphDestroy(clone));
  OK(cudaGraphDestroy(g));
  OK(cudaFree(v));
  OK(cudaFree(out));
  OK(cudaFreeHost(host));
  OK(cudaEventDestroy(done));
  OK(cudaStreamDestroy(s));
}
