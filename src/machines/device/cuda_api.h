/* device/cuda_api.h: the part of the CUDA driver's interface that heddle uses, declared here so that building
 * needs no CUDA. Types and numbers are the driver's ABI, which NVIDIA keeps stable; a function whose meaning
 * changed got a new symbol (_v2), and heddle looks up those symbols. */
#ifndef HEDDLE_DEVICE_CUDA_API_H
#define HEDDLE_DEVICE_CUDA_API_H

#include "heddle/base.h"

typedef int cu_result;
typedef int cu_device;
typedef struct cu_context_ *cu_context;
typedef struct cu_module_ *cu_module;
typedef struct cu_function_ *cu_function;
typedef struct cu_stream_ *cu_stream;
typedef struct cu_event_ *cu_event;
typedef struct cu_green_ *cu_green;         /* CUgreenCtx */
typedef struct cu_resources_ *cu_resources; /* CUdevResourceDesc */
typedef uint64_t cu_address;
typedef struct cu_uuid {
  unsigned char bytes[16];
} cu_uuid;

/* CUlaunchAttribute */
typedef struct cu_launch_attribute {
  int id;
  int pad;
  union {
    int cooperative;
    char room[64];
  };
} cu_launch_attribute;
enum { CU_LAUNCH_COOPERATIVE = 2 };

/* CUlaunchConfig */
typedef struct cu_launch_config {
  unsigned grid[3], block[3];
  unsigned dynamic_shared;
  cu_stream stream;
  void *attributes;
  unsigned n_attributes;
} cu_launch_config;

enum { /* CUresult: those that are treated in a way of their own */
       CU_SUCCESS = 0,
       CU_INVALID_VALUE = 1,
       CU_OUT_OF_MEMORY = 2,
       CU_NO_DEVICE = 100,
       CU_NOT_FOUND = 500,
       CU_TOO_LARGE_TOGETHER = 720, /* COOPERATIVE_LAUNCH_TOO_LARGE */
};

enum { /* CUdevice_attribute */
       CU_ATTR_CLOCK_KHZ = 13,
       CU_ATTR_SMS = 16,
       CU_ATTR_MEMORY_CLOCK_KHZ = 36,
       CU_ATTR_MEMORY_BUS_BITS = 37,
       CU_ATTR_L2_BYTES = 38,
       CU_ATTR_THREADS_PER_SM = 39,
       CU_ATTR_ARCH_MAJOR = 75,
       CU_ATTR_ARCH_MINOR = 76,
       CU_ATTR_SHARED_PER_SM = 81,
       CU_ATTR_REGISTERS_PER_SM = 82,
       CU_ATTR_SHARED_PER_CTA = 97,
       CU_ATTR_CTAS_PER_SM = 106,
       CU_ATTR_SHARED_RESERVED = 111,
};

enum { /* CUfunction_attribute */
       CU_FUNC_MAX_THREADS = 0,
       CU_FUNC_STATIC_SHARED = 1,
       CU_FUNC_LOCAL_BYTES = 3,
       CU_FUNC_REGISTERS = 4,
       CU_FUNC_MAX_DYNAMIC_SHARED = 8,
       CU_FUNC_CARVEOUT = 9,
};

enum { /* CUjit_option */
       CU_JIT_REGISTERS = 0,
       CU_JIT_ERROR_LOG = 5,
       CU_JIT_ERROR_LOG_BYTES = 6,
       CU_JIT_OPTIMIZATION = 7,
};

/* Textures and surfaces. */
typedef struct cu_array_ *cu_array;   /* CUarray */
typedef struct cu_mipmap_ *cu_mipmap; /* CUmipmappedArray */

typedef struct cu_array_desc { /* CUDA_ARRAY3D_DESCRIPTOR */
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
} cu_array_desc;
enum { CU_ARRAY_LAYERED = 1, CU_ARRAY_SURFACE = 2, CU_ARRAY_CUBE = 4, CU_ARRAY_GATHER = 8 };

typedef struct cu_copy_side { /* half of CUDA_MEMCPY3D */
  size_t x, y, z, level;
  int type;
  const void *host;
  cu_address address;
  cu_array array;
  void *reserved;
  size_t pitch, height;
} cu_copy_side;
typedef struct cu_copy { /* CUDA_MEMCPY3D */
  cu_copy_side from, to;
  size_t width, height, depth; /* bytes, rows, slices */
} cu_copy;
_Static_assert(sizeof(cu_copy) == 200, "the driver's ABI");
enum { CU_MEMORY_DEVICE = 2, CU_MEMORY_ARRAY = 3 };

typedef struct cu_resource { /* CUDA_RESOURCE_DESC */
  int type;
  union {
    cu_array array;
    cu_mipmap mipmap;
    struct {
      cu_address address;
      int format;
      unsigned channels;
      size_t bytes;
    } linear;
    struct {
      cu_address address;
      int format;
      unsigned channels;
      size_t width, height, pitch;
    } pitch;
    int room[32];
  };
  unsigned flags;
} cu_resource;
_Static_assert(sizeof(cu_resource) == 144, "the driver's ABI");
enum { CU_RESOURCE_ARRAY = 0, CU_RESOURCE_MIPMAP, CU_RESOURCE_LINEAR, CU_RESOURCE_PITCH };

typedef struct cu_texture { /* CUDA_TEXTURE_DESC */
  int wrap[3], filter;
  unsigned flags, anisotropy;
  int mip_filter;
  float bias, least_level, most_level, border[4];
  int reserved[12];
} cu_texture;
_Static_assert(sizeof(cu_texture) == 104, "the driver's ABI");
enum { CU_READ_INTEGER = 1, CU_NORMALIZED = 2 };

/* CUdevResource: some SMs. Only the driver makes them and looks into the rest. */
typedef struct cu_sms {
  int type;
  unsigned char hidden[92];
  uint32_t n;
  unsigned char more[44];
} cu_sms;
_Static_assert(sizeof(cu_sms) == 144, "the driver's ABI");
enum { CU_RESOURCE_SMS = 1, CU_GREEN_DEFAULT_STREAM = 1 };

enum { CU_STREAM_OWN = 1 }; /* CU_STREAM_NON_BLOCKING: not ordered with the default stream */

/* X(symbol, parameters); all are required but those of the second list. cuLaunchKernelEx is the youngest:
 * CUDA 11.8. */
#define CUDA_CALLS(X)                                                                                        \
  X(cuInit, (unsigned flags))                                                                                \
  X(cuDriverGetVersion, (int *version))                                                                      \
  X(cuGetErrorName, (cu_result r, const char **text))                                                        \
  X(cuGetErrorString, (cu_result r, const char **text))                                                      \
  X(cuDeviceGetCount, (int *n))                                                                              \
  X(cuDeviceGet, (cu_device * device, int ordinal))                                                          \
  X(cuDeviceGetName, (char *name, int cap, cu_device device))                                                \
  X(cuDeviceGetUuid, (cu_uuid * uuid, cu_device device))                                                     \
  X(cuDeviceGetAttribute, (int *value, int attribute, cu_device device))                                     \
  X(cuDeviceTotalMem_v2, (size_t * bytes, cu_device device))                                                 \
  X(cuDevicePrimaryCtxRetain, (cu_context * context, cu_device device))                                      \
  X(cuDevicePrimaryCtxRelease_v2, (cu_device device))                                                        \
  X(cuCtxPushCurrent_v2, (cu_context context))                                                               \
  X(cuCtxPopCurrent_v2, (cu_context * context))                                                              \
  X(cuStreamCreate, (cu_stream * stream, unsigned flags))                                                    \
  X(cuStreamDestroy_v2, (cu_stream stream))                                                                  \
  X(cuStreamWaitEvent, (cu_stream stream, cu_event event, unsigned flags))                                   \
  X(cuStreamSynchronize, (cu_stream stream))                                                                 \
  X(cuEventCreate, (cu_event * event, unsigned flags))                                                       \
  X(cuEventDestroy_v2, (cu_event event))                                                                     \
  X(cuEventRecord, (cu_event event, cu_stream stream))                                                       \
  X(cuEventSynchronize, (cu_event event))                                                                    \
  X(cuEventElapsedTime, (float *ms, cu_event begin, cu_event end))                                           \
  X(cuMemAlloc_v2, (cu_address * address, size_t bytes))                                                     \
  X(cuMemFree_v2, (cu_address address))                                                                      \
  X(cuMemcpyHtoDAsync_v2, (cu_address to, const void *from, size_t bytes, cu_stream stream))                 \
  X(cuMemcpyDtoHAsync_v2, (void *to, cu_address from, size_t bytes, cu_stream stream))                       \
  X(cuMemcpyDtoDAsync_v2, (cu_address to, cu_address from, size_t bytes, cu_stream stream))                  \
  X(cuMemsetD8Async, (cu_address to, unsigned char value, size_t n, cu_stream stream))                       \
  X(cuModuleLoadDataEx, (cu_module * module, const void *image, unsigned n, int *options, void **values))    \
  X(cuModuleUnload, (cu_module module))                                                                      \
  X(cuModuleGetFunction, (cu_function * function, cu_module module, const char *name))                       \
  X(cuModuleGetGlobal_v2, (cu_address * address, size_t * bytes, cu_module module, const char *name))        \
  X(cuFuncGetAttribute, (int *value, int attribute, cu_function function))                                   \
  X(cuFuncSetAttribute, (cu_function function, int attribute, int value))                                    \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *n, cu_function function, int threads, size_t shared)) \
  X(cuLaunchKernelEx, (const cu_launch_config *config, cu_function function, void **params, void **extra))
/* cuTensorMapEncodeTiled: CUDA 12.0 and Hopper; cuDeviceGetUuid_v2 tells a part of a GPU (MIG) from the
 * whole: CUDA 11.4. Green contexts with streams: CUDA 12.5; those calls come together or not at all. */
#define CUDA_OPTIONAL_CALLS(X)                                                                               \
  X(cuDeviceGetDevResource, (cu_device device, cu_sms * sms, int type))                                      \
  X(cuDevSmResourceSplitByCount,                                                                             \
    (cu_sms * parts, unsigned *n, const cu_sms *all, cu_sms *rest, unsigned flags, unsigned least))          \
  X(cuDevResourceGenerateDesc, (cu_resources * out, cu_sms * sms, unsigned n))                               \
  X(cuGreenCtxCreate, (cu_green * out, cu_resources resources, cu_device device, unsigned flags))            \
  X(cuGreenCtxDestroy, (cu_green green))                                                                     \
  X(cuGreenCtxStreamCreate, (cu_stream * stream, cu_green green, unsigned flags, int priority))              \
  X(cuDeviceGetUuid_v2, (cu_uuid * uuid, cu_device device))                                                  \
  X(cuArray3DCreate_v2, (cu_array * array, const cu_array_desc *desc))                                       \
  X(cuArrayDestroy, (cu_array array))                                                                        \
  X(cuMipmappedArrayCreate, (cu_mipmap * mipmap, const cu_array_desc *desc, unsigned levels))                \
  X(cuMipmappedArrayGetLevel, (cu_array * array, cu_mipmap mipmap, unsigned level))                          \
  X(cuMipmappedArrayDestroy, (cu_mipmap mipmap))                                                             \
  X(cuMemcpy3DAsync_v2, (const cu_copy *copy, cu_stream stream))                                             \
  X(cuTexObjectCreate,                                                                                       \
    (uint64_t * object, const cu_resource *resource, const cu_texture *texture, void *view))                 \
  X(cuTexObjectDestroy, (uint64_t object))                                                                   \
  X(cuSurfObjectCreate, (uint64_t * object, const cu_resource *resource))                                    \
  X(cuSurfObjectDestroy, (uint64_t object))                                                                  \
  X(cuTensorMapEncodeTiled, (void *map, int type, uint32_t rank, cu_address address, const uint64_t *dims,   \
                             const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,  \
                             int interleave, int swizzle, int promotion, int fill))

typedef struct cuda_api {
  void *handle;
#define X(name, params) cu_result(*name) params;
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
