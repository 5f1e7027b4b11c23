/* cuda/core/abi.h: types and numbers of the CUDA driver's interface, as programs pass them: written from its
 * documentation, so that building needs no CUDA. Where a type of the runtime's interface has the same layout
 * it is used there, too. */
#ifndef HEDDLE_CUDA_CORE_ABI_H
#define HEDDLE_CUDA_CORE_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int cu_result;
typedef int cu_device;
typedef uint64_t cu_address;
typedef struct core_context *cu_context;
typedef struct core_module *cu_module;
typedef struct core_library *cu_library;
typedef struct core_function *cu_function; /* also a CUkernel */
typedef struct core_stream *cu_stream;
typedef struct core_event *cu_event;
typedef struct core_link *cu_link;
typedef struct core_array *cu_array;
typedef struct core_graph *cu_graph;
typedef struct core_node *cu_node;
typedef struct core_graph_exec *cu_graph_exec;
typedef struct core_pool *cu_pool;
typedef struct physical *cu_physical;
typedef struct core_user_object *cu_user_object;

typedef struct cu_uuid {
  unsigned char bytes[16];
} cu_uuid;

enum { /* CUresult, the driver's and the runtime's own */
       CU_SUCCESS = 0,
       CU_INVALID_VALUE = 1,
       CU_OUT_OF_MEMORY = 2,
       CU_NOT_INITIALIZED = 3,
       CU_DEINITIALIZED = 4,
       CU_RT_INVALID_CONFIGURATION = 9,
       CU_RT_INVALID_SYMBOL = 13,
       CU_RT_INVALID_DEVICE_POINTER = 17,
       CU_RT_INVALID_COPY_DIRECTION = 21,
       CU_RT_MISSING_CONFIGURATION = 52,
       CU_RT_INVALID_DEVICE_FUNCTION = 98,
       CU_NO_DEVICE = 100,
       CU_INVALID_DEVICE = 101,
       CU_INVALID_IMAGE = 200,
       CU_INVALID_CONTEXT = 201,
       CU_NO_BINARY_FOR_GPU = 209,
       CU_UNSUPPORTED_LIMIT = 215,
       CU_INVALID_PTX = 218,
       CU_UNSUPPORTED_PTX_VERSION = 222,
       CU_FILE_NOT_FOUND = 301,
       CU_OPERATING_SYSTEM = 304,
       CU_INVALID_HANDLE = 400,
       CU_ILLEGAL_STATE = 401,
       CU_NOT_FOUND = 500,
       CU_NOT_READY = 600,
       CU_ILLEGAL_ADDRESS = 700,
       CU_LAUNCH_OUT_OF_RESOURCES = 701,
       CU_LAUNCH_TIMEOUT = 702,
       CU_PEER_ALREADY_ENABLED = 704,
       CU_PEER_NOT_ENABLED = 705,
       CU_PRIMARY_CONTEXT_ACTIVE = 708,
       CU_CONTEXT_IS_DESTROYED = 709,
       CU_ASSERT = 710,
       CU_HOST_ALREADY_REGISTERED = 712,
       CU_HOST_NOT_REGISTERED = 713,
       CU_MISALIGNED_ADDRESS = 716,
       CU_LAUNCH_FAILED = 719,
       CU_COOPERATIVE_TOO_LARGE = 720,
       CU_NOT_PERMITTED = 800,
       CU_NOT_SUPPORTED = 801,
       CU_CAPTURE_UNSUPPORTED = 900,
       CU_CAPTURE_INVALIDATED = 901,
       CU_CAPTURE_MERGE = 902,
       CU_CAPTURE_UNMATCHED = 903,
       CU_CAPTURE_UNJOINED = 904,
       CU_CAPTURE_ISOLATION = 905,
       CU_CAPTURE_IMPLICIT = 906,
       CU_CAPTURED_EVENT = 907,
       CU_CAPTURE_WRONG_THREAD = 908,
       CU_GRAPH_EXEC_UPDATE_FAILURE = 910,
       CU_INVALID_CLUSTER_SIZE = 912,
       CU_UNKNOWN = 999,
};

/* Handles of the default streams, which exist without being created. */
#define CU_STREAM_LEGACY ((cu_stream)1)
#define CU_STREAM_PER_THREAD ((cu_stream)2)

enum { /* CUctx_flags */
       CU_CTX_SCHEDULE = 7,
       CU_CTX_MAP_HOST = 8,
       CU_CTX_FLAGS = 0xFF
};
enum { CU_STREAM_NON_BLOCKING = 1 };
enum { CU_EVENT_BLOCKING_SYNC = 1, CU_EVENT_DISABLE_TIMING = 2, CU_EVENT_INTERPROCESS = 4 };
enum { CU_HOST_PORTABLE = 1, CU_HOST_MAPPED = 2, CU_HOST_WRITE_COMBINED = 4 };
enum { /* CUmemorytype */ CU_MEMORY_HOST = 1,
       CU_MEMORY_DEVICE = 2,
       CU_MEMORY_ARRAY = 3,
       CU_MEMORY_UNIFIED = 4 };

enum { /* CUlimit */
       CU_LIMIT_STACK = 0,
       CU_LIMIT_PRINTF_FIFO = 1,
       CU_LIMIT_HEAP = 2,
       CU_LIMIT_SYNC_DEPTH = 3, /* of kernels that wait for kernels, which new GPUs do not let them */
       CU_LIMITS = 7
};

enum { /* CUfunction_attribute */
       CU_FUNC_MAX_THREADS = 0,
       CU_FUNC_SHARED = 1,
       CU_FUNC_CONST = 2,
       CU_FUNC_LOCAL = 3,
       CU_FUNC_REGISTERS = 4,
       CU_FUNC_PTX_VERSION = 5,
       CU_FUNC_BINARY_VERSION = 6,
       CU_FUNC_CACHE_CA = 7,
       CU_FUNC_MAX_DYNAMIC_SHARED = 8,
       CU_FUNC_CARVEOUT = 9,
       CU_FUNC_CLUSTER_SET = 10, /* a launch must say a shape, unless the next three are not 0 */
       CU_FUNC_CLUSTER_WIDTH = 11,
       CU_FUNC_CLUSTER_DEPTH = 13,
       CU_FUNC_CLUSTER_NON_PORTABLE = 14,
       CU_FUNC_ATTRIBUTES = 16
};

enum { /* CUpointer_attribute */
       CU_POINTER_CONTEXT = 1,
       CU_POINTER_MEMORY_TYPE = 2,
       CU_POINTER_DEVICE_POINTER = 3,
       CU_POINTER_HOST_POINTER = 4,
       CU_POINTER_SYNC_MEMOPS = 6,
       CU_POINTER_BUFFER_ID = 7,
       CU_POINTER_IS_MANAGED = 8,
       CU_POINTER_DEVICE_ORDINAL = 9,
       CU_POINTER_LEGACY_IPC = 10,
       CU_POINTER_RANGE_START = 11,
       CU_POINTER_RANGE_SIZE = 12,
       CU_POINTER_MAPPED = 13,
       CU_POINTER_LAST = 22 /* of CUDA 13 */
};

/* CUDA_MEMCPY2D_v2 */
typedef struct cu_copy2d {
  size_t src_x, src_y;
  int src_type;
  const void *src_host;
  cu_address src_device;
  cu_array src_array;
  size_t src_pitch;
  size_t dst_x, dst_y;
  int dst_type;
  void *dst_host;
  cu_address dst_device;
  cu_array dst_array;
  size_t dst_pitch;
  size_t width, height; /* width in bytes */
} cu_copy2d;
_Static_assert(sizeof(cu_copy2d) == 128, "CUDA_MEMCPY2D_v2");

/* CUDA_MEMCPY3D_v2; CUDA_MEMCPY3D_PEER has contexts in place of src_context and dst_context */
typedef struct cu_copy3d {
  size_t src_x, src_y, src_z, src_lod;
  int src_type;
  const void *src_host;
  cu_address src_device;
  cu_array src_array;
  void *src_context;
  size_t src_pitch, src_height;
  size_t dst_x, dst_y, dst_z, dst_lod;
  int dst_type;
  void *dst_host;
  cu_address dst_device;
  cu_array dst_array;
  void *dst_context;
  size_t dst_pitch, dst_height;
  size_t width, height, depth;
} cu_copy3d;
_Static_assert(sizeof(cu_copy3d) == 200, "CUDA_MEMCPY3D_v2");

/* CUlaunchAttribute */
typedef struct cu_launch_attribute {
  int id;
  int pad;
  union {
    char bytes[64];
    int number;
    uint32_t dims[3];
  } value;
} cu_launch_attribute;
_Static_assert(sizeof(cu_launch_attribute) == 72, "CUlaunchAttribute");
enum { /* CUlaunchAttributeID */
       CU_LAUNCH_POLICY_WINDOW = 1,
       CU_LAUNCH_COOPERATIVE = 2,
       CU_LAUNCH_SYNC_POLICY = 3,
       CU_LAUNCH_CLUSTER_DIMENSION = 4,
       CU_LAUNCH_PROGRAMMATIC = 6,
       CU_LAUNCH_PRIORITY = 8,
       CU_LAUNCH_SYNC_DOMAIN_MAP = 9,
       CU_LAUNCH_SYNC_DOMAIN = 10,
       CU_LAUNCH_ATTRIBUTES = 17
};

/* CUlaunchConfig */
typedef struct cu_launch_config {
  uint32_t grid[3], block[3];
  uint32_t dynamic_shared;
  cu_stream stream;
  cu_launch_attribute *attributes;
  uint32_t n_attributes;
} cu_launch_config;
_Static_assert(sizeof(cu_launch_config) == 56, "CUlaunchConfig");

/* Ends of `extra` of a launch. */
#define CU_LAUNCH_PARAM_END ((void *)0)
#define CU_LAUNCH_PARAM_BUFFER ((void *)1)
#define CU_LAUNCH_PARAM_SIZE ((void *)2)

/* CUDA_ARRAY_DESCRIPTOR_v2, CUDA_ARRAY3D_DESCRIPTOR_v2 */
typedef struct cu_array2d {
  size_t width, height;
  int format;
  unsigned channels;
} cu_array2d;
typedef struct cu_array3d {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
} cu_array3d;
enum { CU_ARRAY_LAYERED = 1, CU_ARRAY_SURFACE = 2, CU_ARRAY_CUBE = 4, CU_ARRAY_GATHER = 8 };

/* CUDA_RESOURCE_DESC */
typedef struct cu_resource {
  int type;
  union {
    cu_array array; /* or mipmap */
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
    int reserved[32];
  } of;
  unsigned flags;
} cu_resource;
_Static_assert(sizeof(cu_resource) == 144, "CUDA_RESOURCE_DESC");
enum { CU_RESOURCE_ARRAY = 0, CU_RESOURCE_MIPMAP, CU_RESOURCE_LINEAR, CU_RESOURCE_PITCH };

/* CUDA_TEXTURE_DESC */
typedef struct cu_texture {
  int wrap[3];
  int filter; /* 0: nearest, 1: linear */
  unsigned flags, anisotropy;
  int mip_filter;
  float bias, least_level, most_level;
  float border[4];
  int reserved[12];
} cu_texture;
_Static_assert(sizeof(cu_texture) == 104, "CUDA_TEXTURE_DESC");
enum { CU_TEXTURE_INTEGER = 1, CU_TEXTURE_NORMALIZED = 2, CU_TEXTURE_SRGB = 16 };

/* CUmemLocation, CUmemPoolProps, CUmemAccessDesc */
typedef struct cu_location {
  int type, id;
} cu_location;
typedef struct cu_pool_props {
  int type, handle_types;
  cu_location location;
  void *security;
  size_t most;
  unsigned short usage;
  unsigned char reserved[54];
} cu_pool_props;
_Static_assert(sizeof(cu_pool_props) == 88, "CUmemPoolProps");
typedef struct cu_access {
  cu_location location;
  int flags;
} cu_access;
enum { CU_LOCATION_DEVICE = 1, CU_ACCESS_READ_WRITE = 3 };
enum { /* CUmemPool_attribute */
       CU_POOL_REUSE_EVENTS = 1,
       CU_POOL_REUSE_DEPENDENCIES = 3,
       CU_POOL_THRESHOLD = 4,
       CU_POOL_RESERVED = 5,
       CU_POOL_RESERVED_HIGH = 6,
       CU_POOL_USED = 7,
       CU_POOL_USED_HIGH = 8
};

/* CUmemAllocationProp */
typedef struct cu_physical_props {
  int type, handle_types;
  cu_location location;
  void *meta;
  unsigned char flags[8];
} cu_physical_props;
_Static_assert(sizeof(cu_physical_props) == 32, "CUmemAllocationProp");

/* CUDA_KERNEL_NODE_PARAMS_v2 */
typedef struct cu_kernel_node {
  cu_function function;
  uint32_t grid[3], block[3], dynamic_shared;
  void **params, **extra;
  cu_function kernel;
  cu_context context;
} cu_kernel_node;
_Static_assert(sizeof(cu_kernel_node) == 72, "CUDA_KERNEL_NODE_PARAMS_v2");

/* CUDA_MEMSET_NODE_PARAMS */
typedef struct cu_set_node {
  cu_address dst;
  size_t pitch;
  unsigned value, bytes; /* of an element */
  size_t width, height;
} cu_set_node;

/* CUDA_HOST_NODE_PARAMS */
typedef struct cu_host_node {
  void (*fn)(void *data);
  void *data;
} cu_host_node;

/* CUDA_MEM_ALLOC_NODE_PARAMS */
typedef struct cu_alloc_node {
  cu_pool_props props;
  const cu_access *access;
  size_t n_access, bytes;
  cu_address address; /* out */
} cu_alloc_node;
_Static_assert(sizeof(cu_alloc_node) == 120, "CUDA_MEM_ALLOC_NODE_PARAMS");

/* CUgraphNodeParams */
typedef struct cu_any_node {
  int type, reserved[3];
  union {
    long long room[29];
    cu_kernel_node kernel;
    struct {
      int flags, reserved;
      cu_context context;
      cu_copy3d copy;
    } copy;
    cu_set_node set;
    cu_host_node host;
    cu_graph graph;
    cu_event event;
    cu_alloc_node alloc;
    cu_address free;
  } of;
  long long reserved2;
} cu_any_node;
_Static_assert(sizeof(cu_any_node) == 256, "CUgraphNodeParams");

enum { /* CUgraphMem_attribute */
       CU_GRAPH_MEMORY_USED = 0,
       CU_GRAPH_MEMORY_USED_HIGH,
       CU_GRAPH_MEMORY_RESERVED,
       CU_GRAPH_MEMORY_RESERVED_HIGH
};

/* CUDA_GRAPH_INSTANTIATE_PARAMS */
typedef struct cu_instantiate {
  uint64_t flags;
  cu_stream stream;
  cu_node failed;
  int result;
} cu_instantiate;

/* CUgraphExecUpdateResultInfo */
typedef struct cu_update_info {
  int result;
  cu_node failed, from;
} cu_update_info;

typedef void cu_host_fn(void *data);
typedef void cu_stream_callback(cu_stream stream, cu_result status, void *data);
typedef size_t cu_shared_for_block(int block);

#endif
