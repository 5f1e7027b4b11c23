// Streams, events, callbacks, pinned memory: a pipeline whose stages are ordered by events alone.
// check: init,race,streams
#include "check.h"
#include <vector>

__global__ void scale(float *v, int n, float f) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v[i] *= f;
}
__global__ void add(float *a, const float *b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] += b[i];
}

static void CUDART_CB called(cudaStream_t, cudaError_t status, void *data) {
  if (status == cudaSuccess) *(int *)data += 1;
}
static void CUDART_CB host(void *data) { *(int *)data *= 10; }

int main() {
  const int n = 5000, parts = 4;
  float *in, *out, *a[parts], *b;
  cudaStream_t s[parts], join;
  cudaEvent_t loaded[parts], start, end;
  OK(cudaMallocHost(&in, parts * n * sizeof *in));
  OK(cudaMallocHost(&out, n * sizeof *out));
  OK(cudaMalloc(&b, n * sizeof *b));
  OK(cudaStreamCreateWithFlags(&join, cudaStreamNonBlocking));
  OK(cudaEventCreate(&start));
  OK(cudaEventCreate(&end));
  for (int i = 0; i < parts * n; i++) in[i] = float(i % 100);
  OK(cudaMemsetAsync(b, 0, n * sizeof *b, join));
  OK(cudaEventRecord(start, join));
  for (int k = 0; k < parts; k++) {
    OK(cudaStreamCreate(&s[k]));
    OK(cudaEventCreateWithFlags(&loaded[k], cudaEventDisableTiming));
    OK(cudaMalloc(&a[k], n * sizeof *a[k]));
    OK(cudaMemcpyAsync(a[k], in + k * n, n * sizeof *in, cudaMemcpyHostToDevice, s[k]));
    scale<<<8, 128, 0, s[k]>>>(a[k], n, float(k + 1));
    OK(cudaEventRecord(loaded[k], s[k]));
    OK(cudaStreamWaitEvent(join, loaded[k], 0));
    add<<<4, 256, 0, join>>>(b, a[k], n);
  }
  OK(cudaMemcpyAsync(out, b, n * sizeof *out, cudaMemcpyDeviceToHost, join));
  int calls = 4;
  OK(cudaStreamAddCallback(join, called, &calls, 0));
  OK(cudaLaunchHostFunc(join, host, &calls));
  OK(cudaEventRecord(end, join));
  OK(cudaEventSynchronize(end));
  CHECK(calls == 50);
  for (int i = 0; i < n; i++) CHECK(out[i] == 10.0f * float(i % 100));
  float ms = -1;
  OK(cudaEventElapsedTime(&ms, start, end));
  CHECK(ms >= 0);
  EXPECT(cudaEventElapsedTime(&ms, loaded[0], end), cudaErrorInvalidResourceHandle);
  CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  OK(cudaStreamQuery(join));
  for (int k = 0; k < parts; k++) {
    OK(cudaStreamDestroy(s[k]));
    OK(cudaEventDestroy(loaded[k]));
    OK(cudaFree(a[k]));
  }
  OK(cudaFreeHost(in));
  puts("streams: ok");
}
