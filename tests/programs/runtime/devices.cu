// Several devices: properties, peers, copies between them, one thread that goes from device to device.
// check: init,race,streams
// emulate: --devices 3 --gpu h100
#include "check.h"

__global__ void twice(const int *in, int *out, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}
__device__ int mine;
__global__ void note(int v) { mine = v; }

int main() {
  int n, can, h[64], *p[3], *q;
  cudaDeviceProp prop;
  OK(cudaGetDeviceCount(&n));
  CHECK(n == 3);
  for (int k = 0; k < n; k++) {
    OK(cudaSetDevice(k));
    OK(cudaGetDeviceProperties(&prop, k));
    CHECK(prop.major == 9 && prop.minor == 0 && prop.warpSize == 32 && prop.multiProcessorCount == 132);
    CHECK(prop.maxThreadsPerBlock == 1024 && prop.maxThreadsDim[2] == 64 && prop.maxGridSize[1] == 65535);
    CHECK(prop.sharedMemPerBlock == 49152 && prop.sharedMemPerBlockOptin == 232448 && prop.regsPerBlock == 65536);
    CHECK(prop.totalGlobalMem == size_t(80) << 30 && prop.totalConstMem == 65536 && prop.pciBusID == k + 1);
    CHECK(prop.maxThreadsPerMultiProcessor == 2048 && prop.maxBlocksPerMultiProcessor == 32);
    CHECK(prop.unifiedAddressing && prop.managedMemory && prop.cooperativeLaunch && prop.concurrentKernels);
    CHECK(prop.reservedSharedMemPerBlock == 1024 && prop.unifiedFunctionPointers == 1);
    OK(cudaMalloc(&p[k], sizeof h));
    note<<<1, 1>>>(k + 10); // each device has its own variable
  }
  for (int k = 0; k < n; k++) {
    int v;
    OK(cudaSetDevice(k));
    OK(cudaMemcpyFromSymbol(&v, mine, sizeof v));
    CHECK(v == k + 10);
  }
  for (int i = 0; i < 64; i++) h[i] = i;
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  CHECK(can == 1);
  OK(cudaSetDevice(0));
  OK(cudaDeviceEnablePeerAccess(1, 0));
  EXPECT(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  cudaGetLastError();
  OK(cudaMemcpy(p[0], h, sizeof h, cudaMemcpyHostToDevice));
  twice<<<1, 64>>>(p[0], p[1], 64); // into the peer's memory
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpyPeer(p[2], 2, p[1], 1, sizeof h));
  OK(cudaSetDevice(2));
  OK(cudaMalloc(&q, sizeof h));
  twice<<<1, 64>>>(p[2], q, 64);
  OK(cudaMemcpy(h, q, sizeof h, cudaMemcpyDefault));
  for (int i = 0; i < 64; i++) CHECK(h[i] == 4 * i);
  puts("devices: ok");
}
