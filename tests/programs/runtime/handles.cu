// Libraries that a program loads by itself, kernels by their handles, attributes of streams, advice about managed
// memory, copies of boxes between devices.
// emulate: --devices 2
#include "check.h"

static const char text[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                           ".visible .global .align 4 .u32 scale = 3;\n"
                           ".visible .entry multiply(.param .u64 p) {\n"
                           ".reg .b32 %r<4>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1];\n"
                           "ld.global.u32 %r2, [scale]; mul.lo.u32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1; ret; }\n"
                           ".visible .entry nothing() { ret; }\n";

__global__ void add(int *p, int x) { *p += x; }

static void libraries() {
  cudaLibrary_t library;
  cudaKernel_t multiply, all[2];
  unsigned n;
  int *p, h = 5;
  void *scale;
  size_t bytes;
  OK(cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
  OK(cudaLibraryGetKernelCount(&n, library));
  CHECK(n == 2);
  OK(cudaLibraryEnumerateKernels(all, 2, library));
  OK(cudaLibraryGetKernel(&multiply, library, "multiply"));
  CHECK(multiply == all[0] || multiply == all[1]);
  EXPECT(cudaLibraryGetKernel(&all[0], library, "divide"), cudaErrorSymbolNotFound);
  OK(cudaMalloc(&p, sizeof *p));
  OK(cudaMemcpy(p, &h, sizeof h, cudaMemcpyHostToDevice));
  void *arguments[] = {&p};
  OK(cudaLaunchKernel(reinterpret_cast<const void *>(multiply), dim3(1), dim3(1), arguments, 0, nullptr));
  OK(cudaLibraryGetGlobal(&scale, &bytes, library, "scale"));
  CHECK(bytes == 4);
  const unsigned four = 4;
  OK(cudaMemcpy(scale, &four, sizeof four, cudaMemcpyHostToDevice));
  OK(cudaLaunchKernel(reinterpret_cast<const void *>(multiply), dim3(1), dim3(1), arguments, 0, nullptr));
  OK(cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(h == 60);
  size_t offset;
  OK(cudaFuncGetParamInfo(reinterpret_cast<const void *>(add), 1, &offset, &bytes));
  CHECK(offset == 8 && bytes == 4);
  OK(cudaFree(p));
  OK(cudaLibraryUnload(library));
}

static void streams() {
  cudaStream_t a, b;
  cudaLaunchAttributeValue v = {}, w = {};
  int l2, window;
  OK(cudaDeviceGetAttribute(&l2, cudaDevAttrMaxPersistingL2CacheSize, 0));
  OK(cudaDeviceGetAttribute(&window, cudaDevAttrMaxAccessPolicyWindowSize, 0));
  CHECK(l2 > 0 && window > 0);
  OK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20));
  OK(cudaStreamCreate(&a));
  OK(cudaStreamCreate(&b));
  v.accessPolicyWindow.num_bytes = 4096;
  v.accessPolicyWindow.hitRatio = 0.5F;
  v.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  OK(cudaStreamSetAttribute(a, cudaLaunchAttributeAccessPolicyWindow, &v));
  OK(cudaStreamCopyAttributes(b, a));
  OK(cudaStreamGetAttribute(b, cudaLaunchAttributeAccessPolicyWindow, &w));
  CHECK(w.accessPolicyWindow.num_bytes == 4096 && w.accessPolicyWindow.hitRatio == 0.5F);
  EXPECT(cudaStreamSetAttribute(a, cudaLaunchAttributeCooperative, &v), cudaErrorInvalidValue);
  OK(cudaStreamDestroy(a));
  OK(cudaStreamDestroy(b));
}

#if CUDART_VERSION >= 13000
static cudaMemLocation device(int n) { return {cudaMemLocationTypeDevice, n}; }
static cudaMemLocation host() { return {cudaMemLocationTypeHost, 0}; }
#define PREFETCH(p, bytes, where) cudaMemPrefetchAsync(p, bytes, where, 0, nullptr)
#else
static int device(int n) { return n; }
static int host() { return cudaCpuDeviceId; }
#define PREFETCH(p, bytes, where) cudaMemPrefetchAsync(p, bytes, where, nullptr)
#endif

static void advice() {
  int *p, value, by[3];
  OK(cudaMallocManaged(&p, 4096));
  OK(cudaMemAdvise(p, 4096, cudaMemAdviseSetReadMostly, device(0)));
  OK(cudaMemAdvise(p, 4096, cudaMemAdviseSetPreferredLocation, device(1)));
  OK(cudaMemAdvise(p, 4096, cudaMemAdviseSetAccessedBy, device(0)));
  OK(cudaMemAdvise(p, 4096, cudaMemAdviseSetAccessedBy, host()));
  OK(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeReadMostly, p, 4096));
  CHECK(value == 1);
  OK(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributePreferredLocation, p, 4096));
  CHECK(value == 1);
  OK(cudaMemRangeGetAttribute(by, sizeof by, cudaMemRangeAttributeAccessedBy, p, 4096));
  CHECK(by[0] == cudaCpuDeviceId && by[1] == 0 && by[2] == cudaInvalidDeviceId);
  OK(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeLastPrefetchLocation, p, 4096));
  CHECK(value == cudaInvalidDeviceId);
  OK(PREFETCH(p, 4096, host()));
  OK(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeLastPrefetchLocation, p, 4096));
  CHECK(value == cudaCpuDeviceId);
  OK(cudaMemAdvise(p, 4096, cudaMemAdviseUnsetAccessedBy, host()));
  OK(cudaMemRangeGetAttribute(by, sizeof by, cudaMemRangeAttributeAccessedBy, p, 4096));
  CHECK(by[0] == 0 && by[1] == cudaInvalidDeviceId);
  OK(cudaFree(p));
}

static void peers() {
  enum { W = 6, H = 4, D = 3 };
  cudaPitchedPtr a, b;
  char from[D][H][W], to[D][H][W] = {};
  for (int k = 0; k < D * H * W; k++) from[0][0][k] = char(k);
  OK(cudaSetDevice(0));
  OK(cudaMalloc3D(&a, make_cudaExtent(W, H, D)));
  OK(cudaSetDevice(1));
  OK(cudaMalloc3D(&b, make_cudaExtent(W, H, D)));
  cudaMemcpy3DParms in = {}, out = {};
  in.srcPtr = make_cudaPitchedPtr(from, W, W, H);
  in.dstPtr = a;
  out.srcPtr = b;
  out.dstPtr = make_cudaPitchedPtr(to, W, W, H);
  in.extent = out.extent = make_cudaExtent(W, H, D);
  in.kind = cudaMemcpyHostToDevice;
  out.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&in));
  cudaMemcpy3DPeerParms p = {};
  p.srcPtr = a;
  p.srcDevice = 0;
  p.dstPtr = b;
  p.dstDevice = 1;
  p.extent = in.extent;
  OK(cudaMemcpy3DPeer(&p));
  OK(cudaMemcpy3D(&out));
  CHECK(memcmp(from, to, sizeof to) == 0);
  p.dstDevice = 2;
  EXPECT(cudaMemcpy3DPeer(&p), cudaErrorInvalidDevice);
  OK(cudaFree(a.ptr));
  OK(cudaFree(b.ptr));
}

int main() {
  libraries();
  streams();
  advice();
  peers();
  puts("handles: ok");
}
