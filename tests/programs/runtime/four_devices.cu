// A host thread for each of four devices: streams and events of their own, peers' memory, one sum of them all.
// emulate: --devices 4 --memory 4G
#include "check.h"
#include <thread>
#include <vector>

__global__ void partial(const int *v, int n, long long *out) {
  __shared__ long long sum;
  if (!threadIdx.x) sum = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd((unsigned long long *)&sum, (unsigned long long)v[i]);
  __syncthreads();
  if (!threadIdx.x) atomicAdd((unsigned long long *)out, (unsigned long long)sum);
}
__global__ void collect(const long long *const *parts, int n, long long *total) {
  *total = 0;
  for (int k = 0; k < n; k++) *total += *parts[k];
}

static const int devices = 4, n = 8000;
static int input[devices * n];
static long long *parts[devices];

static void work(int device) {
  int *d;
  cudaStream_t s;
  cudaEvent_t e;
  OK(cudaSetDevice(device));
  OK(cudaStreamCreate(&s));
  OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  OK(cudaMalloc(&d, n * sizeof *d));
  OK(cudaMalloc(&parts[device], sizeof(long long)));
  OK(cudaMemsetAsync(parts[device], 0, sizeof(long long), s));
  OK(cudaMemcpyAsync(d, input + device * n, n * sizeof *d, cudaMemcpyHostToDevice, s));
  partial<<<4, 128, 0, s>>>(d, n, parts[device]);
  OK(cudaEventRecord(e, s));
  while (cudaEventQuery(e) == cudaErrorNotReady) std::this_thread::yield();
  OK(cudaFree(d));
  OK(cudaEventDestroy(e));
  OK(cudaStreamDestroy(s));
  int now;
  OK(cudaGetDevice(&now));
  CHECK(now == device);
}

int main() {
  long long want = 0, total;
  for (int i = 0; i < devices * n; i++) want += input[i] = i % 1000;
  std::vector<std::thread> threads;
  for (int k = 0; k < devices; k++) threads.emplace_back(work, k);
  for (auto &t : threads) t.join();
  int now, can;
  OK(cudaGetDevice(&now));
  CHECK(now == 0);
  for (int k = 1; k < devices; k++) {
    OK(cudaDeviceCanAccessPeer(&can, 0, k));
    CHECK(can);
    OK(cudaDeviceEnablePeerAccess(k, 0));
  }
  long long **list, *out;
  OK(cudaMalloc(&list, sizeof parts));
  OK(cudaMalloc(&out, sizeof *out));
  OK(cudaMemcpy(list, parts, sizeof parts, cudaMemcpyHostToDevice));
  collect<<<1, 1>>>(list, devices, out);
  OK(cudaMemcpy(&total, out, sizeof total, cudaMemcpyDeviceToHost));
  printf("%lld of %lld\n", total, want);
  OK(cudaDeviceDisablePeerAccess(2));
  for (int k = 0; k < devices; k++) {
    OK(cudaSetDevice(k));
    size_t left, all;
    OK(cudaMemGetInfo(&left, &all));
    CHECK(all == size_t(4) << 30);
    OK(cudaFree(parts[k]));
  }
  OK(cudaSetDevice(0));
  OK(cudaFree(list));
  OK(cudaFree(out));
}
