/* device/cuda_api.h: the entry points of the CUDA driver that heddle calls, looked up in its library. */
#ifndef HEDDLE_DEVICE_CUDA_API_H
#define HEDDLE_DEVICE_CUDA_API_H

#include "abi/cuda.h"
#include "heddle/base.h"

/* X(symbol) for what heddle calls; all are required but those of the second list. cuLaunchKernelEx is the
 * youngest: CUDA 11.8. */
#define CUDA_CALLS(X)                                                                                        \
  X(cuInit)                                                                                                  \
  X(cuDriverGetVersion)                                                                                      \
  X(cuGetErrorName)                                                                                          \
  X(cuGetErrorString)                                                                                        \
  X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetUuid) X(cuDeviceGetAttribute)           \
      X(cuDeviceTotalMem_v2) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease_v2)                     \
          X(cuCtxPushCurrent_v2) X(cuCtxPopCurrent_v2) X(cuStreamCreate) X(cuStreamDestroy_v2)               \
              X(cuStreamWaitEvent) X(cuStreamSynchronize) X(cuEventCreate) X(cuEventDestroy_v2)              \
                  X(cuEventRecord) X(cuEventSynchronize) X(cuEventElapsedTime) X(cuMemAlloc_v2)              \
                      X(cuMemFree_v2) X(cuMemcpyHtoDAsync_v2) X(cuMemcpyDtoHAsync_v2)                        \
                          X(cuMemcpyDtoDAsync_v2) X(cuMemsetD8Async) X(cuModuleLoadDataEx) X(cuModuleUnload) \
                              X(cuModuleGetFunction) X(cuModuleGetGlobal_v2) X(cuFuncGetAttribute)           \
                                  X(cuFuncSetAttribute) X(cuOccupancyMaxActiveBlocksPerMultiprocessor)       \
                                      X(cuLaunchKernelEx)
/* cuTensorMapEncodeTiled: CUDA 12.0 and Hopper; cuDeviceGetUuid_v2 tells a part of a GPU (MIG) from the
 * whole: CUDA 11.4. Green contexts with streams: CUDA 12.5; those calls come together or not at all. */
#define CUDA_OPTIONAL_CALLS(X)                                                                               \
  X(cuDeviceGetDevResource)                                                                                  \
  X(cuDevSmResourceSplitByCount)                                                                             \
  X(cuDevResourceGenerateDesc)                                                                               \
  X(cuGreenCtxCreate)                                                                                        \
  X(cuGreenCtxDestroy) X(cuGreenCtxStreamCreate) X(cuDeviceGetUuid_v2) X(cuArray3DCreate_v2)                 \
      X(cuArrayDestroy) X(cuMipmappedArrayCreate) X(cuMipmappedArrayGetLevel) X(cuMipmappedArrayDestroy)     \
          X(cuMemcpy3DAsync_v2) X(cuTexObjectCreate) X(cuTexObjectDestroy) X(cuSurfObjectCreate)             \
              X(cuSurfObjectDestroy) X(cuTensorMapEncodeTiled)

typedef struct cuda_api {
  void *handle;
#define X(name) fn_##name *name;
  CUDA_CALLS(X) CUDA_OPTIONAL_CALLS(X)
#undef X
} cuda_api;

/* Open the driver's library and look up every call. HD_ERR_IO when there is none, HD_ERR_UNSUPPORTED when it
 * lacks a call. cuda_api_close is to be called whether this succeeds or not. */
hd_status cuda_api_open(const char *library, cuda_api *api, hd_diag *d);
void cuda_api_close(cuda_api *api);

/* A result's meaning for the device. */
typedef struct cuda_class {
  cu_result result;
  hd_status status;
  bool sticky; /* nothing works any more in this process */
} cuda_class;
cuda_class cuda_classify(cu_result r);

#endif
