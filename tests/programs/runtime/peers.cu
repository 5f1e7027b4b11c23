// What a kernel of one device reaches on another one, before and after peer access: memory by its kind, streams
// and events.
// check: none
// emulate: --devices 3
#include "check.h"

__global__ void bump(int *p) { p[threadIdx.x] += 1; }
__device__ int of_device;

typedef enum kind { PLAIN, PITCHED, VARIABLE, IN_STREAM, SHARED_POOL, MANAGED, PINNED, REGISTERED, KINDS } kind;
typedef enum access { NONE, ENABLED, OTHER_WAY, OF_ANOTHER, DISABLED, ACCESSES } access;

static int own[64];

// Memory of device 1.
static int *make(kind k) {
  int *p = nullptr;
  void *v = nullptr;
  size_t pitch;
  cudaMemPool_t pool;
  cudaMemAccessDesc desc = {};
  OK(cudaSetDevice(1));
  switch (k) {
  case PLAIN: OK(cudaMalloc(&p, sizeof own)); break;
  case PITCHED: OK(cudaMallocPitch(&v, &pitch, sizeof own, 2)); break;
  case VARIABLE: OK(cudaGetSymbolAddress(&v, of_device)); break;
  case SHARED_POOL:
    OK(cudaDeviceGetDefaultMemPool(&pool, 1));
    desc.location.type = cudaMemLocationTypeDevice;
    desc.location.id = 0;
    desc.flags = cudaMemAccessFlagsProtReadWrite;
    OK(cudaMemPoolSetAccess(pool, &desc, 1)); // fall through
  case IN_STREAM: OK(cudaMallocAsync(&v, sizeof own, 0)); break;
  case MANAGED: OK(cudaMallocManaged(&v, sizeof own)); break;
  case PINNED: OK(cudaMallocHost(&v, sizeof own)); break;
  case REGISTERED:
    OK(cudaHostRegister(own, sizeof own, 0));
    OK(cudaHostGetDevicePointer(&v, own, 0));
    break;
  default: CHECK(false);
  }
  if (v) p = (int *)v;
  if (k <= SHARED_POOL) OK(cudaMemset(p, 0, sizeof(int)));
  OK(cudaDeviceSynchronize());
  return p;
}

static void give(access a) {
  const int from = a == OTHER_WAY ? 1 : 0, to = a == OTHER_WAY ? 0 : a == OF_ANOTHER ? 2 : 1;
  if (a == NONE) return;
  OK(cudaSetDevice(from));
  OK(cudaDeviceEnablePeerAccess(to, 0));
  if (a == DISABLED) OK(cudaDeviceDisablePeerAccess(to));
}

static bool reaches(kind k, access a) {
  if (k >= SHARED_POOL) return true;
  return k != IN_STREAM && a == ENABLED;
}

static void kernels() {
  for (int k = 0; k < KINDS; k++)
    for (int a = 0; a < ACCESSES; a++) {
      int *p = make((kind)k);
      give((access)a);
      OK(cudaSetDevice(0));
      bump<<<1, 1>>>(p);
      const cudaError_t want = reaches((kind)k, (access)a) ? cudaSuccess : cudaErrorIllegalAddress;
      const cudaError_t got = cudaDeviceSynchronize();
      if (got != want) printf("memory %d, access %d: %s, not %s\n", k, a, cudaGetErrorName(got), cudaGetErrorName(want));
      CHECK(got == want);
      for (int d = 0; d < 3; d++) {
        OK(cudaSetDevice(d));
        OK(cudaDeviceReset());
      }
      if (k == REGISTERED && cudaHostUnregister(own) != cudaSuccess) (void)cudaGetLastError();
    }
}

// Copies need no access; a kernel that is let in meets what came before.
static void copies() {
  int *p[2], v[2] = {5, 0};
  for (int d = 0; d < 2; d++) {
    OK(cudaSetDevice(d));
    OK(cudaMalloc(&p[d], sizeof v));
  }
  OK(cudaMemcpy(p[0], v, sizeof v, cudaMemcpyHostToDevice));
  OK(cudaMemcpyPeer(p[1], 1, p[0], 0, sizeof v));
  OK(cudaMemcpy(p[0] + 1, p[1], sizeof(int), cudaMemcpyDefault));
  OK(cudaMemcpy(v, p[0], sizeof v, cudaMemcpyDefault));
  CHECK(v[1] == 5);
  OK(cudaSetDevice(0));
  OK(cudaDeviceEnablePeerAccess(1, 0));
  bump<<<1, 2>>>(p[1]);
  OK(cudaMemcpy(v, p[1], sizeof v, cudaMemcpyDefault));
  CHECK(v[0] == 6);
  int *later; // allocated while access is enabled
  OK(cudaSetDevice(1));
  OK(cudaMalloc(&later, sizeof(int)));
  OK(cudaMemset(later, 0, sizeof(int)));
  OK(cudaDeviceSynchronize());
  OK(cudaSetDevice(0));
  bump<<<1, 1>>>(later);
  OK(cudaDeviceSynchronize());
}

// Streams and events of another device.
static void others() {
  cudaStream_t s[2];
  cudaEvent_t e[2];
  int *p[2];
  float ms;
  for (int d = 0; d < 2; d++) {
    OK(cudaSetDevice(d));
    OK(cudaStreamCreate(&s[d]));
    OK(cudaEventCreate(&e[d]));
    OK(cudaMalloc(&p[d], sizeof own));
  }
  OK(cudaSetDevice(0));
  EXPECT(cudaEventRecord(e[1], s[0]), cudaErrorInvalidResourceHandle);
  OK(cudaEventRecord(e[0], s[0]));
  OK(cudaEventRecord(e[1], s[1])); // both of device 1, which is not current
  OK(cudaStreamWaitEvent(s[1], e[0], 0));
  OK(cudaMemcpyAsync(p[1], own, sizeof own, cudaMemcpyDefault, s[1]));
  OK(cudaMemsetAsync(p[1], 0, sizeof own, s[1]));
  OK(cudaEventSynchronize(e[1]));
  EXPECT(cudaEventElapsedTime(&ms, e[0], e[1]), cudaErrorInvalidResourceHandle);
  bump<<<1, 1, 0, s[1]>>>(p[1]);
  EXPECT(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  OK(cudaSetDevice(1));
  bump<<<1, 1, 0, s[1]>>>(p[1]);
  OK(cudaGetLastError());
  OK(cudaStreamSynchronize(s[1]));
  OK(cudaStreamDestroy(s[1]));
  EXPECT(cudaStreamSynchronize(s[1]), cudaErrorContextIsDestroyed);
}

int main() {
  kernels();
  copies();
  others();
  puts("peers: reached where they may be");
}
