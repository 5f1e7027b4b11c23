// Graphs: captured with forks and joins, made by hand, launched again, updated, with a graph inside.
// check: init,race,streams
#include "check.h"
#include <vector>

__global__ void scale(int *v, int n, int f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] *= f;
}
__global__ void add(int *a, const int *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += b[i];
}
static void CUDART_CB count(void *data) { ++*(int *)data; }

static const int n = 1000;
static int *a, *b, *host;

static void captured() {
  cudaStream_t s, t;
  cudaEvent_t fork, join;
  cudaGraph_t g;
  cudaGraphExec_t e;
  int calls = 0;
  OK(cudaStreamCreate(&s));
  OK(cudaStreamCreate(&t));
  OK(cudaEventCreate(&fork));
  OK(cudaEventCreate(&join));
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  OK(cudaMemcpyAsync(a, host, n * 4, cudaMemcpyHostToDevice, s));
  OK(cudaEventRecord(fork, s));
  OK(cudaStreamWaitEvent(t, fork, 0));
  scale<<<4, 256, 0, s>>>(a, n, 3);
  OK(cudaMemsetAsync(b, 0, n * 4, t));
  OK(cudaMemcpyAsync(b, host, n * 4, cudaMemcpyHostToDevice, t));
  scale<<<4, 256, 0, t>>>(b, n, 5);
  OK(cudaEventRecord(join, t));
  OK(cudaStreamWaitEvent(s, join, 0));
  add<<<4, 256, 0, s>>>(a, b, n);
  OK(cudaMemcpyAsync(host, a, n * 4, cudaMemcpyDeviceToHost, s));
  OK(cudaLaunchHostFunc(s, count, &calls));
  cudaStreamCaptureStatus status;
  OK(cudaStreamIsCapturing(t, &status));
  CHECK(status == cudaStreamCaptureStatusActive);
  OK(cudaStreamEndCapture(s, &g));
  CHECK(calls == 0);
  size_t nodes, edges;
  OK(cudaGraphGetNodes(g, nullptr, &nodes));
  CHECK(nodes == 8);
  OK(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &edges));
  CHECK(edges == 8);
  OK(cudaGraphInstantiate(&e, g, 0));
  for (int i = 0; i < n; i++) host[i] = i;
  OK(cudaGraphLaunch(e, s));
  OK(cudaGraphLaunch(e, s));
  OK(cudaStreamSynchronize(s));
  CHECK(calls == 2);
  for (int i = 0; i < n; i++) CHECK(host[i] == 64 * i);
  OK(cudaGraphExecDestroy(e));
  OK(cudaGraphDestroy(g));
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  EXPECT(cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(s, &g), cudaErrorStreamCaptureInvalidated);
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(fork, s));
  OK(cudaStreamWaitEvent(t, fork, 0));
  scale<<<4, 256, 0, t>>>(b, n, 5);
  EXPECT(cudaStreamEndCapture(s, &g), cudaErrorStreamCaptureUnjoined);
  cudaGetLastError();
  OK(cudaStreamSynchronize(t));
}

static void by_hand() {
  cudaGraph_t g, inner, clone;
  cudaGraphExec_t e;
  cudaGraphNode_t in, twice, out, child, set, empty;
  int f = 2, *pa = a, count_ = n;
  OK(cudaGraphCreate(&inner, 0));
  void *args[] = {&pa, &count_, &f};
  cudaKernelNodeParams k = {};
  k.func = (void *)scale;
  k.gridDim = 4;
  k.blockDim = 256;
  k.kernelParams = args;
  OK(cudaGraphAddKernelNode(&twice, inner, nullptr, 0, &k));
  OK(cudaGraphCreate(&g, 0));
  cudaMemsetParams m = {};
  m.dst = b;
  m.value = 7;
  m.elementSize = 4;
  m.width = n;
  m.height = 1;
  OK(cudaGraphAddMemsetNode(&set, g, nullptr, 0, &m));
  OK(cudaGraphAddMemcpyNode1D(&in, g, nullptr, 0, a, host, n * 4, cudaMemcpyHostToDevice));
  OK(cudaGraphAddChildGraphNode(&child, g, &in, 1, inner));
  cudaGraphNode_t both[] = {child, set}, sum;
  OK(cudaGraphAddEmptyNode(&empty, g, both, 2));
  void *sum_args[] = {&pa, &b, &count_};
  k.func = (void *)add;
  k.kernelParams = sum_args;
  OK(cudaGraphAddKernelNode(&sum, g, &empty, 1, &k));
  OK(cudaGraphAddMemcpyNode1D(&out, g, &sum, 1, host, a, n * 4, cudaMemcpyDeviceToHost));
  OK(cudaGraphClone(&clone, g));
  OK(cudaGraphInstantiate(&e, clone, 0));
  for (int i = 0; i < n; i++) host[i] = i;
  OK(cudaGraphLaunch(e, 0));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) CHECK(host[i] == 2 * i + 7);
  m.value = 100;
  OK(cudaGraphMemsetNodeSetParams(set, &m));
  cudaGraphExecUpdateResultInfo info;
  OK(cudaGraphExecUpdate(e, g, &info));
  CHECK(info.result == cudaGraphExecUpdateSuccess);
  OK(cudaGraphLaunch(e, 0));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) CHECK(host[i] == 2 * (2 * i + 7) + 100);
  EXPECT(cudaGraphExecUpdate(e, inner, &info), cudaErrorGraphExecUpdateFailure);
  cudaGetLastError();
  cudaKernelNodeParams got;
  OK(cudaGraphKernelNodeGetParams(sum, &got));
  CHECK(got.func == (void *)add && got.gridDim.x == 4 && *(int *)got.kernelParams[2] == n);
  OK(cudaGraphAddDependencies(g, &out, &in, nullptr, 1)); // a circle
  cudaGraphExec_t none;
  CHECK(cudaGraphInstantiate(&none, g, 0) != cudaSuccess);
  OK(cudaGraphExecDestroy(e));
  OK(cudaGraphDestroy(g));
}

int main() {
  OK(cudaMalloc(&a, n * 4));
  OK(cudaMalloc(&b, n * 4));
  OK(cudaMallocHost(&host, n * 4));
  captured();
  by_hand();
  puts("graphs: ok");
}
