// Questions to a device: attributes, properties, limits, versions, ids.
// emulate: --gpu h100
#include "check.h"

int main() {
  int driver, runtime, v, device;
  OK(cudaDriverGetVersion(&driver));
  OK(cudaRuntimeGetVersion(&runtime));
  CHECK(driver >= 12000 && runtime >= 11000);
  OK(cudaGetDevice(&device));
  cudaDeviceProp p;
  OK(cudaGetDeviceProperties(&p, 0));
  printf("%.4s, %d.%d, %d SMs, %d MB of L2\n", strstr(p.name, "H100"), p.major, p.minor, p.multiProcessorCount,
         p.l2CacheSize >> 20);
  CHECK(p.totalGlobalMem >> 30 >= 79);
  static const struct {
    cudaDeviceAttr attribute;
    int want;
  } known[] = {{cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
               {cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]},
               {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
               {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
               {cudaDevAttrMaxSharedMemoryPerBlock, int(p.sharedMemPerBlock)},
               {cudaDevAttrMaxSharedMemoryPerBlockOptin, int(p.sharedMemPerBlockOptin)},
               {cudaDevAttrMaxSharedMemoryPerMultiprocessor, int(p.sharedMemPerMultiprocessor)},
               {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
               {cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor},
               {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
               {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
               {cudaDevAttrWarpSize, 32},
               {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
               {cudaDevAttrComputeCapabilityMajor, p.major},
               {cudaDevAttrComputeCapabilityMinor, p.minor},
               {cudaDevAttrUnifiedAddressing, 1},
               {cudaDevAttrManagedMemory, 1},
               {cudaDevAttrConcurrentManagedAccess, 1},
               {cudaDevAttrCooperativeLaunch, 1},
               {cudaDevAttrMemoryPoolsSupported, 1},
               {cudaDevAttrStreamPrioritiesSupported, 1},
               {cudaDevAttrTotalConstantMemory, 65536},
               {cudaDevAttrTextureAlignment, int(p.textureAlignment)},
               {cudaDevAttrL2CacheSize, p.l2CacheSize}};
  for (auto &k : known) {
    OK(cudaDeviceGetAttribute(&v, k.attribute, 0));
    if (v != k.want) printf("attribute %d is %d, not %d\n", int(k.attribute), v, k.want);
  }
  EXPECT(cudaDeviceGetAttribute(&v, cudaDeviceAttr(5000), 0), cudaErrorInvalidValue);
  EXPECT(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 9), cudaErrorInvalidDevice);
  cudaGetLastError();
  size_t bytes, left, total;
  OK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  CHECK(bytes == 8 << 20);
  OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
  CHECK(bytes >= 4096);
  OK(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
  CHECK(bytes >= 1 << 20);
  OK(cudaMemGetInfo(&left, &total));
  CHECK(left <= total && total == p.totalGlobalMem);
  char bus[32];
  OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
  OK(cudaDeviceGetByPCIBusId(&device, bus));
  CHECK(device == 0);
  cudaDeviceProp wish = {};
  wish.major = 8;
  OK(cudaChooseDevice(&device, &wish));
  CHECK(device == 0);
  cudaFuncCache cache;
  OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  OK(cudaDeviceGetCacheConfig(&cache));
  int least, greatest;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(least >= greatest);
  unsigned flags;
  OK(cudaGetDeviceFlags(&flags));
  OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  puts("device_query: ok");
}
