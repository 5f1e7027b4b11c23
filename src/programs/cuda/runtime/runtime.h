/* cuda/runtime/runtime.h: the CUDA runtime's interface, built on the driver's: its types as programs pass
 * them, and state that its calls share. */
#ifndef HEDDLE_CUDA_RUNTIME_RUNTIME_H
#define HEDDLE_CUDA_RUNTIME_RUNTIME_H

#include "cuda/driver/driver.h"

typedef struct rt_dim3 {
  uint32_t x, y, z;
} rt_dim3;

typedef struct rt_extent {
  size_t width, height, depth;
} rt_extent;

typedef struct rt_position {
  size_t x, y, z;
} rt_position;

typedef struct rt_pitched {
  void *p;
  size_t pitch, width, height;
} rt_pitched;

/* cudaMemcpy3DParms */
typedef struct rt_copy3d {
  cu_array src_array;
  rt_position src_position;
  rt_pitched src;
  cu_array dst_array;
  rt_position dst_position;
  rt_pitched dst;
  rt_extent extent;
  int kind;
} rt_copy3d;

/* cudaKernelNodeParams */
typedef struct rt_kernel_node {
  void *host;
  rt_dim3 grid, block;
  unsigned dynamic_shared;
  void **params, **extra;
} rt_kernel_node;

/* cudaGraphNodeParams */
typedef struct rt_any_node {
  int type, reserved[3];
  union {
    long long room[29];
    rt_kernel_node kernel;
    struct {
      int flags, reserved[3];
      rt_copy3d copy;
    } copy;
    cu_set_node set;
    cu_host_node host;
    cu_graph graph;
    cu_event event;
    cu_alloc_node alloc;
    void *free;
  } of;
  long long reserved2;
} rt_any_node;
_Static_assert(sizeof(rt_any_node) == 256, "cudaGraphNodeParams");

/* cudaMemcpy3DPeerParms */
typedef struct rt_copy3d_peer {
  cu_array src_array;
  rt_position src_position;
  rt_pitched src;
  int src_device;
  cu_array dst_array;
  rt_position dst_position;
  rt_pitched dst;
  int dst_device;
  rt_extent extent;
} rt_copy3d_peer;

/* cudaMemcpyKind */
enum { RT_HOST_TO_HOST = 0, RT_HOST_TO_DEVICE, RT_DEVICE_TO_HOST, RT_DEVICE_TO_DEVICE, RT_DEFAULT };

/* cudaChannelFormatDesc: bits of each channel */
typedef struct rt_channels {
  int bits[4];
  int kind;
} rt_channels;
enum { RT_SIGNED = 0, RT_UNSIGNED, RT_FLOAT, RT_NONE };

/* cudaResourceDesc; CUDA 13 added flags, which stay untouched */
typedef struct rt_resource {
  int type;
  union {
    cu_array array;
    struct {
      void *p;
      rt_channels channels;
      size_t bytes;
    } linear;
    struct {
      void *p;
      rt_channels channels;
      size_t width, height, pitch;
    } pitch;
  } of;
} rt_resource;

/* cudaTextureDesc */
typedef struct rt_texture {
  int wrap[3];
  int filter, read_normalized, srgb;
  float border[4];
  int normalized;
  unsigned anisotropy;
  int mip_filter;
  float bias, least_level, most_level;
} rt_texture;

/* cudaMemLocation */
typedef struct rt_location {
  int type, id;
} rt_location;
enum { RT_LOCATION_DEVICE = 1, RT_LOCATION_HOST = 2 };

/* cudaPointerAttributes; CUDA 13 added reserved fields, which stay untouched */
typedef struct rt_pointer {
  int type, device;
  void *device_pointer, *host_pointer;
} rt_pointer;
enum { RT_UNREGISTERED = 0, RT_HOST, RT_DEVICE, RT_MANAGED };

/* cudaFuncAttributes */
typedef struct rt_func {
  size_t shared_bytes, const_bytes, local_bytes;
  int max_threads, registers, ptx_version, binary_version, cache_ca, max_dynamic_shared, carveout;
} rt_func;

/* cudaLaunchConfig_t: another order than the driver's */
typedef struct rt_launch_config {
  rt_dim3 grid, block;
  size_t dynamic_shared;
  cu_stream stream;
  cu_launch_attribute *attributes;
  unsigned n_attributes;
} rt_launch_config;

#define RT_ENTRY(name, needs, variant, captures, parameters, arguments) cu_result rt_##name parameters;
#include "cuda/runtime/entries.def"
#undef RT_ENTRY

/* A copy of the runtime's as one of the driver's (copy.c). */
cu_result rt_copy_of(const rt_copy3d *p, cu_copy3d *out);
/* A row of bytes between memory of the kinds that `kind` says (graph.c). */
cu_result rt_row_of(void *dst, const void *src, size_t bytes, int kind, cu_copy3d *out);

/* The calling thread's last error. */
extern _Thread_local cu_result rt_last_error;
/* Make the thread's device current and its primary context, unless a context is. */
cu_result rt_context(void);
/* The major version of the runtime that the program was built for: 11, 12 or 13. Their structures differ. */
extern int rt_major;

/* ---- Registered kernels and variables (register.c) ---- */
/* The kernel of a host function, or the variable of a host variable's address. NULL: there is none. */
typedef struct rt_symbol rt_symbol;
cu_result rt_kernel(const void *host, core_function **out);
/* The host's address of a kernel; NULL: it has none. */
const void *rt_host_of(const core_function *f);
cu_result rt_variable(const void *host, uint64_t *address, uint64_t *bytes);

/* Every public name of the runtime, and its address here, for programs that have a runtime of their own. */
typedef struct rt_name {
  const char *name;
  void (*fn)(void);
} rt_name;
extern const rt_name rt_names[];
extern const size_t rt_n_names;

#endif
