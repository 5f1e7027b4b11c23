/* The part of the driver's interface that the programs here use, declared without CUDA, and checks that end
 * the program. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t cu_ptr;
typedef struct opaque *cu_handle;

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuGetErrorName(int result, const char **text);
int cuGetErrorString(int result, const char **text);
int cuGetProcAddress_v2(const char *name, void **fn, int version, uint64_t flags, int *status);
int cuDeviceGetCount(int *n);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int cap, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDevicePrimaryCtxRetain(cu_handle *context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxCreate_v2(cu_handle *context, unsigned flags, int device);
int cuCtxDestroy_v2(cu_handle context);
int cuCtxPushCurrent_v2(cu_handle context);
int cuCtxPopCurrent_v2(cu_handle *context);
int cuCtxSetCurrent(cu_handle context);
int cuCtxGetCurrent(cu_handle *context);
int cuCtxSynchronize(void);
int cuCtxEnablePeerAccess(cu_handle peer, unsigned flags);
int cuModuleLoadData(cu_handle *module, const void *image);
int cuModuleUnload(cu_handle module);
int cuModuleGetFunction(cu_handle *function, cu_handle module, const char *name);
int cuModuleGetGlobal_v2(cu_ptr *address, size_t *bytes, cu_handle module, const char *name);
int cuLinkCreate_v2(unsigned n, int *options, void **values, cu_handle *out);
int cuLinkAddData_v2(cu_handle link, int type, void *data, size_t bytes, const char *name, unsigned n,
                     int *options, void **values);
int cuLinkComplete(cu_handle link, void **image, size_t *bytes);
int cuLinkDestroy(cu_handle link);
int cuLibraryLoadData(cu_handle *library, const void *code, int *jit, void **jit_values, unsigned n_jit,
                      int *options, void **values, unsigned n);
int cuLibraryGetKernel(cu_handle *kernel, cu_handle library, const char *name);
int cuLibraryUnload(cu_handle library);
int cuKernelGetFunction(cu_handle *function, cu_handle kernel);
int cuFuncGetAttribute(int *value, int attribute, cu_handle function);
int cuFuncSetAttribute(cu_handle function, int attribute, int value);
int cuFuncGetParamInfo(cu_handle function, size_t index, size_t *offset, size_t *bytes);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, cu_handle function, int threads, size_t shared);
int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, cu_handle function, size_t (*shared_for)(int),
                                     size_t shared, int most);
int cuMemAlloc_v2(cu_ptr *address, size_t bytes);
int cuMemAllocPitch_v2(cu_ptr *address, size_t *pitch, size_t width, size_t height, unsigned element);
int cuMemAllocManaged(cu_ptr *address, size_t bytes, unsigned flags);
int cuMemFree_v2(cu_ptr address);
int cuMemGetInfo_v2(size_t *left, size_t *total);
int cuMemHostAlloc(void **host, size_t bytes, unsigned flags);
int cuMemFreeHost(void *host);
int cuMemHostRegister_v2(void *host, size_t bytes, unsigned flags);
int cuMemHostUnregister(void *host);
int cuMemHostGetDevicePointer_v2(cu_ptr *address, void *host, unsigned flags);
int cuMemGetAddressRange_v2(cu_ptr *start, size_t *bytes, cu_ptr address);
int cuPointerGetAttribute(void *value, int attribute, cu_ptr address);
int cuMemcpyHtoD_v2(cu_ptr dst, const void *src, size_t n);
int cuMemcpyDtoH_v2(void *dst, cu_ptr src, size_t n);
int cuMemcpyDtoD_v2(cu_ptr dst, cu_ptr src, size_t n);
int cuMemcpyHtoDAsync_v2(cu_ptr dst, const void *src, size_t n, cu_handle stream);
int cuMemcpyDtoHAsync_v2(void *dst, cu_ptr src, size_t n, cu_handle stream);
int cuMemcpy2D_v2(const void *copy);
int cuMemsetD8_v2(cu_ptr dst, uint8_t value, size_t n);
int cuMemsetD32_v2(cu_ptr dst, uint32_t value, size_t n);
int cuMemsetD2D16_v2(cu_ptr dst, size_t pitch, uint16_t value, size_t width, size_t height);
int cuStreamCreate(cu_handle *stream, unsigned flags);
int cuStreamDestroy_v2(cu_handle stream);
int cuStreamSynchronize(cu_handle stream);
int cuStreamQuery(cu_handle stream);
int cuStreamWaitEvent(cu_handle stream, cu_handle event, unsigned flags);
int cuEventCreate(cu_handle *event, unsigned flags);
int cuEventDestroy_v2(cu_handle event);
int cuEventRecord(cu_handle event, cu_handle stream);
int cuEventQuery(cu_handle event);
int cuEventSynchronize(cu_handle event);
int cuEventElapsedTime(float *ms, cu_handle start, cu_handle end);
int cuLaunchKernel(cu_handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, cu_handle stream, void **params, void **extra);
int cuLaunchHostFunc(cu_handle stream, void (*fn)(void *), void *data);
int cuIpcGetMemHandle(void *handle, cu_ptr address);

/* Two columns of a copy: CUDA_MEMCPY2D. */
typedef struct rect {
  size_t src_x, src_y;
  int src_type;
  const void *src_host;
  cu_ptr src_device;
  void *src_array;
  size_t src_pitch, dst_x, dst_y;
  int dst_type;
  void *dst_host;
  cu_ptr dst_device;
  void *dst_array;
  size_t dst_pitch, width, height;
} rect;

#define EXPECT(call, want)                                                                                   \
  do {                                                                                                       \
    int got_ = (call);                                                                                       \
    if (got_ != (want)) {                                                                                    \
      printf("%s:%d: %s gives %d, not %d\n", __FILE__, __LINE__, #call, got_, (want));                       \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)
#define OK(call) EXPECT(call, 0)
#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                         \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

#define PTX_HEAD ".version 7.8\n.target sm_70\n.address_size 64\n"
/* y[i] = a * x[i] + y[i] for i < n */
#define PTX_SAXPY                                                                                            \
  ".visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y) {\n"                    \
  ".reg .b32 %r<6>; .reg .b64 %rd<6>; .reg .f32 %f<4>; .reg .pred %p;\n"                                     \
  "ld.param.u32 %r1, [n]; ld.param.f32 %f1, [a]; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];\n"          \
  "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;\n"       \
  "setp.ge.u32 %p, %r5, %r1; @%p bra END;\n"                                                                 \
  "mul.wide.u32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n"                         \
  "ld.global.f32 %f2, [%rd4]; ld.global.f32 %f3, [%rd5]; fma.rn.f32 %f3, %f1, %f2, %f3;\n"                   \
  "st.global.f32 [%rd5], %f3;\nEND: ret; }\n"

static inline cu_handle begin(void) {
  cu_handle context;
  OK(cuInit(0));
  OK(cuCtxCreate_v2(&context, 0, 0));
  return context;
}

static inline cu_handle kernel_of(const char *ptx, const char *name, cu_handle *module) {
  cu_handle function;
  OK(cuModuleLoadData(module, ptx));
  OK(cuModuleGetFunction(&function, *module, name));
  return function;
}
