// Faults of several kinds, each with its error, and a device that is reset and works again.
// check: none
#include "check.h"
#include <unistd.h>

__global__ void store(int *p, long long at) { p[at] = 1; }
__global__ void shifted(char *p) { *(int *)(p + 1) = 1; }
__global__ void trapped(int *p) {
  if (*p) asm("trap;");
}
__global__ void fine(int *p) { *p = 11; }

static void after(const char *name, cudaError_t want) {
  int *p, h = 0;
  const cudaError_t got = cudaDeviceSynchronize();
  printf("%s: %s\n", name, cudaGetErrorName(got));
  CHECK(got == want);
  CHECK(cudaMalloc(&p, 4) == want && cudaPeekAtLastError() == want);
  OK(cudaDeviceReset());
  cudaGetLastError();
  // A GPU may take its time.
  for (int k = 0; k < 100 && cudaMalloc(&p, 4) == cudaErrorDevicesUnavailable; k++) usleep(50000);
  fine<<<1, 1>>>(p);
  OK(cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost));
  CHECK(h == 11);
  OK(cudaFree(p));
}

int main() {
  int *p;
  OK(cudaMalloc(&p, 64));
  store<<<1, 1>>>(p, 1LL << 44); // a GPU maps more than was asked for
  after("beyond its memory", cudaErrorIllegalAddress);
  OK(cudaMalloc(&p, 64));
  shifted<<<1, 1>>>((char *)p);
  after("between two words", cudaErrorMisalignedAddress);
  OK(cudaMalloc(&p, 64));
  OK(cudaMemset(p, 1, 64));
  trapped<<<1, 1>>>(p);
  after("a trap", cudaErrorLaunchFailure);
  int *host = (int *)malloc(64), reachable = 0;
  OK(cudaDeviceGetAttribute(&reachable, cudaDevAttrPageableMemoryAccess, 0));
  if (reachable) OK(cudaMalloc((void **)&p, 64));
  store<<<1, 1>>>(reachable ? p + (1LL << 44) : host, 0);
  after("the host's memory", cudaErrorIllegalAddress);
  free(host);
  puts("recovery: ok");
}
