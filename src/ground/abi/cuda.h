/* abi/cuda.h: the interface of the CUDA driver: types, numbers, and the types of functions, for whoever calls
 * them, stands in front of them, or answers in their place. Written from NVIDIA's documentation, so that
 * building needs no CUDA. NVIDIA keeps layouts and numbers: an entry point whose meaning changed got a new
 * symbol (_v2).
 *
 * A structure has one layout and one name, here; the comment before it is its name there. tests/abi compares
 * sizes and offsets with CUDA's own header. Structures of the runtime's interface that have the same layout
 * are these, too. */
#ifndef HEDDLE_ABI_CUDA_H
#define HEDDLE_ABI_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef int cu_result;
typedef int cu_device;
typedef uint64_t cu_address;

/* Handles. Whoever gives them out defines what they point to; all others hand them on. */
typedef struct cu_context_ *cu_context;
typedef struct cu_module_ *cu_module;
typedef struct cu_library_ *cu_library;
typedef struct cu_function_ *cu_function; /* also a CUkernel */
typedef struct cu_stream_ *cu_stream;
typedef struct cu_event_ *cu_event;
typedef struct cu_link_ *cu_link;
typedef struct cu_array_ *cu_array;
typedef cu_array cu_mipmap; /* CUmipmappedArray */
typedef struct cu_graph_ *cu_graph;
typedef struct cu_node_ *cu_node;
typedef struct cu_graph_exec_ *cu_graph_exec;
typedef struct cu_pool_ *cu_pool;
typedef struct cu_physical_ *cu_physical; /* CUmemGenericAllocationHandle */
typedef struct cu_user_object_ *cu_user_object;
typedef struct cu_green_ *cu_green;         /* CUgreenCtx */
typedef struct cu_resources_ *cu_resources; /* CUdevResourceDesc */

/* ---- Results ------------------------------------------------------------------------------------- */

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
       CU_DEVICE_UNAVAILABLE = 46,
       CU_RT_MISSING_CONFIGURATION = 52,
       CU_RT_INVALID_DEVICE_FUNCTION = 98,
       CU_NO_DEVICE = 100,
       CU_INVALID_DEVICE = 101,
       CU_INVALID_IMAGE = 200,
       CU_INVALID_CONTEXT = 201,
       CU_NO_BINARY_FOR_GPU = 209,
       CU_ECC_UNCORRECTABLE = 214,
       CU_UNSUPPORTED_LIMIT = 215,
       CU_INVALID_PTX = 218,
       CU_NVLINK_UNCORRECTABLE = 220,
       CU_UNSUPPORTED_PTX_VERSION = 222,
       CU_CONTAINED = 226,
       CU_INVALID_SOURCE = 300,
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
       CU_HARDWARE_STACK = 714,
       CU_ILLEGAL_INSTRUCTION = 715,
       CU_MISALIGNED_ADDRESS = 716,
       CU_INVALID_ADDRESS_SPACE = 717,
       CU_INVALID_PC = 718,
       CU_LAUNCH_FAILED = 719,
       CU_COOPERATIVE_TOO_LARGE = 720,
       CU_TENSOR_MEMORY_LEAK = 721,
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

/* ---- Devices and contexts ------------------------------------------------------------------------ */

/* CUuuid */
typedef struct cu_uuid {
  unsigned char bytes[16];
} cu_uuid;

/* CUdevprop */
typedef struct cu_device_properties {
  int threads_per_block, threads_dim[3], grid[3], shared_per_block, constant, warp, pitch, registers,
      clock_khz, texture_align;
} cu_device_properties;

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
       CU_ATTR_PAGEABLE_MEMORY_ACCESS = 88,
       CU_ATTR_SHARED_PER_CTA = 97,
       CU_ATTR_CTAS_PER_SM = 106,
       CU_ATTR_WINDOW_BYTES = 109,
       CU_ATTR_SHARED_RESERVED = 111,
};

/* CUdevResource: some SMs. Only the driver makes them and looks into the rest. */
typedef struct cu_sms {
  int type;
  unsigned char hidden[92];
  uint32_t n;
  unsigned char more[44];
} cu_sms;
_Static_assert(sizeof(cu_sms) == 144, "CUdevResource");
enum { CU_RESOURCE_SMS = 1, CU_GREEN_DEFAULT_STREAM = 1 };

enum { /* CUctx_flags */
       CU_CTX_SCHEDULE = 7,
       CU_CTX_MAP_HOST = 8,
       CU_CTX_FLAGS = 0xFF
};
enum { /* CUlimit */
       CU_LIMIT_STACK = 0,
       CU_LIMIT_PRINTF_FIFO = 1,
       CU_LIMIT_HEAP = 2,
       CU_LIMIT_SYNC_DEPTH = 3, /* of kernels that wait for kernels, which new GPUs do not let them */
       CU_LIMIT_PERSISTING_L2 = 6,
       CU_LIMITS = 7
};

/* ---- Streams and events ---------------------------------------------------------------------------- */

/* Handles of the default streams, which exist without being created: the legacy one, and the thread's own.
 * Where stream 0 is the legacy one, both have these handles. */
#define CU_STREAM_LEGACY ((cu_stream)1)
#define CU_STREAM_PER_THREAD ((cu_stream)2)

enum { CU_STREAM_NON_BLOCKING = 1 };
enum { CU_EVENT_BLOCKING_SYNC = 1, CU_EVENT_DISABLE_TIMING = 2, CU_EVENT_INTERPROCESS = 4 };

/* CUstreamCaptureMode: of a capture, and of a thread. */
typedef enum cu_capture_mode {
  CU_CAPTURE_MODE_GLOBAL = 0,
  CU_CAPTURE_MODE_THREAD_LOCAL = 1,
  CU_CAPTURE_MODE_RELAXED = 2
} cu_capture_mode;
enum { /* CUstreamCaptureStatus */ CU_CAPTURE_STATUS_NONE = 0,
       CU_CAPTURE_STATUS_ACTIVE = 1,
       CU_CAPTURE_STATUS_INVALID = 2 };

typedef void cu_host_fn(void *data);
typedef void cu_stream_callback(cu_stream stream, cu_result status, void *data);

/* ---- Modules and functions ------------------------------------------------------------------------- */

enum { /* CUjit_option */
       CU_JIT_REGISTERS = 0,
       CU_JIT_ERROR_LOG = 5,
       CU_JIT_ERROR_LOG_BYTES = 6,
       CU_JIT_OPTIMIZATION = 7,
};

enum { CU_INPUT_CUBIN = 0, CU_INPUT_PTX = 1 }; /* CUjitInputType */

enum { /* CUfunction_attribute */
       CU_FUNC_MAX_THREADS = 0,
       CU_FUNC_STATIC_SHARED = 1,
       CU_FUNC_CONST = 2,
       CU_FUNC_LOCAL_BYTES = 3,
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

typedef size_t cu_shared_for_block(int block);

/* ---- Launches -------------------------------------------------------------------------------------- */

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
enum { /* CUaccessProperty */ CU_ACCESS_STREAMING = 1, CU_ACCESS_PERSISTING = 2 };

/* CUaccessPolicyWindow */
typedef struct cu_window {
  cu_address at;
  size_t bytes;
  float hits; /* the share of accesses that count as `hit` */
  int hit, miss;
} cu_window;
_Static_assert(sizeof(cu_window) == 32, "CUaccessPolicyWindow");

enum { /* CUlaunchAttributeID */
       CU_LAUNCH_IGNORED = 0,
       CU_LAUNCH_POLICY_WINDOW = 1,
       CU_LAUNCH_COOPERATIVE = 2,
       CU_LAUNCH_SYNC_POLICY = 3,
       CU_LAUNCH_CLUSTER_DIMENSION = 4,
       CU_LAUNCH_CLUSTER_SCHEDULING = 5,
       CU_LAUNCH_PROGRAMMATIC = 6,
       CU_LAUNCH_PRIORITY = 8,
       CU_LAUNCH_SYNC_DOMAIN_MAP = 9,
       CU_LAUNCH_SYNC_DOMAIN = 10,
       CU_LAUNCH_PREFERRED_CLUSTER = 11,
       CU_LAUNCH_UPDATABLE_NODE = 13,
       CU_LAUNCH_CARVEOUT = 14,
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

/* ---- Memory ---------------------------------------------------------------------------------------- */

enum { CU_HOST_PORTABLE = 1, CU_HOST_MAPPED = 2, CU_HOST_WRITE_COMBINED = 4 };
enum { /* CUmemorytype */ CU_MEMORY_HOST = 1,
       CU_MEMORY_DEVICE = 2,
       CU_MEMORY_ARRAY = 3,
       CU_MEMORY_UNIFIED = 4 };

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

/* Half of CUDA_MEMCPY2D_v2: where bytes come from, or go to. */
typedef struct cu_side2d {
  size_t x, y; /* x in bytes */
  int type;    /* CUmemorytype */
  const void *host;
  cu_address device;
  cu_array array;
  size_t pitch;
} cu_side2d;

/* CUDA_MEMCPY2D_v2 */
typedef struct cu_copy2d {
  cu_side2d src, dst;
  size_t width, height; /* width in bytes */
} cu_copy2d;
_Static_assert(sizeof(cu_copy2d) == 128, "CUDA_MEMCPY2D_v2");

/* Half of CUDA_MEMCPY3D_v2 */
typedef struct cu_side3d {
  size_t x, y, z, level;
  int type;
  const void *host;
  cu_address device;
  cu_array array;
  void *context; /* in CUDA_MEMCPY3D_PEER; otherwise NULL */
  size_t pitch, height;
} cu_side3d;

/* CUDA_MEMCPY3D_v2, CUDA_MEMCPY3D_PEER */
typedef struct cu_copy3d {
  cu_side3d src, dst;
  size_t width, height, depth; /* bytes, rows, slices */
} cu_copy3d;
_Static_assert(sizeof(cu_copy3d) == 200, "CUDA_MEMCPY3D_v2");

/* CUmemcpy3DOperand: rows and layers in elements */
typedef struct cu_operand {
  int type;
  union {
    struct {
      cu_address address;
      size_t row, layer;
      cu_location hint;
    } pointer;
    struct {
      cu_array array;
      size_t x, y, z;
    } array;
  } of;
} cu_operand;
enum { CU_OPERAND_POINTER = 1, CU_OPERAND_ARRAY = 2 };

/* CUDA_MEMCPY3D_BATCH_OP */
typedef struct cu_box_op {
  cu_operand src, dst;
  size_t width, height, depth;
  int order; /* CUmemcpySrcAccessOrder */
  unsigned flags;
} cu_box_op;
_Static_assert(sizeof(cu_box_op) == 112, "CUDA_MEMCPY3D_BATCH_OP");
enum { CU_ORDER_STREAM = 1, CU_ORDER_ANY = 3 };

/* CUstreamBatchMemOpParams */
typedef struct cu_memory_op {
  int operation;
  cu_address address;
  uint64_t value;
  unsigned flags;
  cu_address alias;
  uint64_t spare;
} cu_memory_op;
_Static_assert(sizeof(cu_memory_op) == 48, "CUstreamBatchMemOpParams");

/* CUmemAllocationProp */
typedef struct cu_physical_props {
  int type, handle_types;
  cu_location location;
  void *meta;
  unsigned char flags[8];
} cu_physical_props;
_Static_assert(sizeof(cu_physical_props) == 32, "CUmemAllocationProp");

/* CUipcMemHandle */
typedef struct cu_ipc {
  char bytes[64];
} cu_ipc;
_Static_assert(sizeof(cu_ipc) == 64, "CUipcMemHandle");

/* ---- Arrays, textures, surfaces -------------------------------------------------------------------- */

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

/* ---- Graphs ---------------------------------------------------------------------------------------- */

/* CUgraphNodeType */
typedef enum cu_node_type {
  CU_NODE_KERNEL = 0,
  CU_NODE_COPY = 1,
  CU_NODE_SET = 2,
  CU_NODE_HOST = 3,
  CU_NODE_GRAPH = 4,
  CU_NODE_EMPTY = 5,
  CU_NODE_WAIT = 6,   /* for an event */
  CU_NODE_RECORD = 7, /* of one */
  CU_NODE_ALLOC = 10,
  CU_NODE_FREE = 11,
  CU_NODE_VALUE = 12
} cu_node_type;
/* CUgraphInstantiate_flags: other kernels launch it; its nodes have priorities */
enum { CU_INSTANTIATE_DEVICE_LAUNCH = 4, CU_INSTANTIATE_NODE_PRIORITY = 8 };

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

/* ---- Functions ------------------------------------------------------------------------------------- */

/* X(symbol, ...) for a row's symbol, and for the one with the suffix that its column `variant` says. */
#define CU_EACH_NONE(X, symbol, ...) X(symbol, __VA_ARGS__)
#define CU_EACH_ptsz(X, symbol, ...) X(symbol, __VA_ARGS__) X(symbol##_ptsz, __VA_ARGS__)
#define CU_EACH_ptds(X, symbol, ...) X(symbol, __VA_ARGS__) X(symbol##_ptds, __VA_ARGS__)

/* fn_cuInit: the types of the entry points whose parameters the table has. */
#define CU_FUNCTION(symbol, parameters) typedef cu_result fn_##symbol parameters;
#define CU_KNOWN(symbol, version, variant, stream, run, parameters, arguments)                               \
  CU_EACH_##variant(CU_FUNCTION, symbol, parameters)
#include "abi/driver.def"
#undef CU_FUNCTION

#endif
