/* What the tables of calls and their answers name: objects, made anew for each call. */
#include "entries.h"

cu_result cudaGetLastError(void);
cu_result cudaPeekAtLastError(void);
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit,
                            void *tid, void *bid, void *block, void *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes,
                       int constant, int global);

#define OK(call) require((call) == CU_SUCCESS, #call)
#define LENGTH(a) (sizeof(a) / sizeof *(a))
enum { GLOBAL = 0, THREAD_LOCAL, RELAXED, MODES };
enum {
  STACK_SIZE = 0,
  WARP_SIZE = 10,
  MAX_DYNAMIC_SHARED = 8,
  READ_MOSTLY = 1,
  RELEASE_THRESHOLD = 4,
  PINNED = 1,
  ON_DEVICE = 1
};

static const char ptx[] =
    ".version 8.0\n.target sm_70\n.address_size 64\n.visible .global .align 8 .b8 gv[256];\n"
    ".visible .entry kk(.param .u64 p) { ret; }\n";
static char kernel[1], variable[256]; /* their addresses stand for those of the module */
static const rt_location here = {ON_DEVICE, 0};
static const cu_pool_props pool_props = {.type = PINNED, .location = {ON_DEVICE, 0}};
static const rt_channels channels = {{32, 0, 0, 0}, RT_FLOAT};
static const cu_physical_props memory_props = {.type = PINNED, .location = {ON_DEVICE, 0}};

static const cu_access pool_access = {{ON_DEVICE, 0}, CU_ACCESS_READ_WRITE};

/* What exists before the call. */
typedef struct objects {
  cu_context context;
  cu_stream s, t;
  cu_event e, e2, recorded;
  void *to, *from, *managed, *pinned;
  char *registered, *host; /* host: it is not registered */
  cu_pool pool;
  cu_graph graph;
  cu_graph_exec exec, exec2;
  cu_module module;
  cu_library loaded;
  cu_address address, reserved;
  cu_physical physical;
  void *pooled, *freed;
  cu_pool pool2, gone_pool;
  cu_array array;
  cu_stream gone_stream;
  cu_event gone_event, never, untimed;
  cu_graph gone_graph;
  cu_graph_exec gone_exec;
  cu_module gone_module;
  cu_library gone_library;
  cu_function function, kernel;
  cu_node node;
} objects;

/* What calls make or give. */
typedef struct made {
  cu_context context;
  cu_stream stream;
  cu_event event;
  cu_graph graph;
  cu_graph_exec exec;
  cu_pool pool;
  cu_array array;
  cu_module module;
  cu_function function;
  cu_library loaded;
  cu_address address;
  rt_func attributes;
  rt_pointer pointer;
  size_t n, m;
  uint64_t u;
  void *p;
  float f;
  int i, j;
  uint64_t object;
  cu_node node;
  cu_physical physical;
  cu_update_info update;
  rt_pitched pitched;
  unsigned flags;
  unsigned long long id;
  char properties[2048];
} made;

static objects x;
static made o;

static void require(bool ok, const char *what) {
  if (ok) return;
  printf("%s fails\n", what);
  exit(1);
}

static void call_back(cu_stream stream, cu_result r, void *data) { (void)stream, (void)r, (void)data; }

static cu_result launch(cu_stream stream) {
  void *args[] = {&x.to};
  return cudaLaunchKernel(kernel, (rt_dim3){1, 1, 1}, (rt_dim3){1, 1, 1}, args, 0, stream);
}

/* A fatbin of the one text, as compiled code registers it. */
static void register_code(void) {
  static struct {
    uint32_t magic;
    uint16_t version, head;
    uint64_t bytes;
    struct {
      uint16_t kind, version;
      uint32_t head;
      uint64_t bytes;
      uint32_t unused[3], sm, more[8];
    } entry;
    char text[sizeof ptx + 8 - sizeof ptx % 8];
  } fatbin = {0xBA55ED50, 1, 16, sizeof fatbin - 16, {1, 0x101, 64, sizeof fatbin.text, {0}, 70, {0}}, {0}};
  static const struct {
    int magic, version;
    const void *image;
    void *unused;
  } wrapper = {0x466243b1, 1, &fatbin, NULL};
  memcpy(fatbin.text, ptx, sizeof ptx);
  void **handle = __cudaRegisterFatBinary((void *)&wrapper);
  __cudaRegisterFunction(handle, kernel, (char *)"kk", "kk", -1, NULL, NULL, NULL, NULL, NULL);
  __cudaRegisterVar(handle, variable, (char *)"gv", "gv", 0, sizeof variable, 0, 0);
  __cudaRegisterFatBinaryEnd(handle);
}

static void set_up_more(void) {
  size_t n = 1;
  const size_t bytes = 2 << 20;
  OK(cuLibraryLoadData(&x.loaded, ptx, NULL, NULL, 0, NULL, NULL, 0));
  OK(cuLibraryLoadData(&x.gone_library, ptx, NULL, NULL, 0, NULL, NULL, 0));
  OK(cuLibraryGetKernel(&x.kernel, x.loaded, "kk"));
  OK(cuModuleGetFunction(&x.function, x.module, "kk"));
  OK(cuModuleLoadData(&x.gone_module, ptx));
  OK(cuModuleUnload(x.gone_module));
  OK(cuLibraryUnload(x.gone_library));
  OK(cuMemAddressReserve(&x.reserved, bytes, 0, 0, 0));
  OK(cuMemCreate(&x.physical, bytes, &memory_props, 0));
  OK(cudaMallocAsync(&x.pooled, 256, x.t));
  OK(cudaMemPoolCreate(&x.pool2, &pool_props));
  OK(cudaMemPoolCreate(&x.gone_pool, &pool_props));
  OK(cuMemPoolDestroy(x.gone_pool));
  OK(cudaMallocArray(&x.array, &channels, 64, 0, 0));
  OK(cudaStreamCreateWithFlags(&x.gone_stream, CU_STREAM_NON_BLOCKING));
  OK(cudaStreamDestroy(x.gone_stream));
  OK(cudaEventCreate(&x.gone_event));
  OK(cudaEventDestroy(x.gone_event));
  OK(cudaEventCreate(&x.never));
  OK(cudaEventCreateWithFlags(&x.untimed, CU_EVENT_DISABLE_TIMING));
  OK(cudaEventRecord(x.untimed, x.t));
  OK(cudaGraphGetNodes(x.graph, &x.node, &n));
  OK(cudaGraphClone(&x.gone_graph, x.graph));
  OK(cudaGraphInstantiate(&x.gone_exec, x.gone_graph, 0));
  OK(cudaGraphDestroy(x.gone_graph));
  OK(cudaGraphExecDestroy(x.gone_exec));
  OK(cudaMalloc(&x.freed, 256));
  OK(cudaFree(x.freed));
}

/* `flags` of x.s */
static void set_up(unsigned flags) {
  memset(&x, 0, sizeof x);
  memset(&o, 0, sizeof o);
  OK(cudaSetDevice(0));
  OK(cudaStreamCreateWithFlags(&x.s, flags));
  OK(cudaStreamCreateWithFlags(&x.t, CU_STREAM_NON_BLOCKING));
  OK(cudaEventCreate(&x.e));
  OK(cudaEventCreate(&x.e2));
  OK(cudaEventCreate(&x.recorded));
  OK(cudaEventRecord(x.e, x.t));
  OK(cudaEventRecord(x.e2, x.t));
  OK(cudaMalloc(&x.to, 4096));
  OK(cudaMalloc(&x.from, 4096));
  OK(cudaMallocManaged(&x.managed, 4096, 1));
  OK(cudaMallocHost(&x.pinned, 4096));
  x.registered = aligned_alloc(4096, 4096);
  x.host = aligned_alloc(4096, 4096);
  require(x.registered && x.host, "aligned_alloc");
  OK(cudaHostRegister(x.registered, 4096, 0));
  OK(cudaMemPoolCreate(&x.pool, &pool_props));
  OK(cuMemAlloc_v2(&x.address, 4096));
  OK(cuModuleLoadData(&x.module, ptx));
  OK(cuCtxGetCurrent(&x.context));
  OK(cudaStreamBeginCapture(x.s, RELAXED));
  OK(launch(x.s));
  OK(cudaStreamEndCapture(x.s, &x.graph));
  OK(cudaGraphInstantiate(&x.exec, x.graph, 0));
  OK(cudaGraphInstantiate(&x.exec2, x.graph, 0));
  set_up_more();
  OK(cudaDeviceSynchronize());
}

/* Some of it is gone, as the call wanted. */
static void tear_down(void) {
  int status = 0;
  OK(cuCtxSetCurrent(x.context));
  if (cudaStreamIsCapturing(x.t, &status) == CU_SUCCESS && status) cudaStreamEndCapture(x.t, &o.graph);
  if (o.context) OK(cuCtxDestroy_v2(o.context));
  OK(cuCtxSetCurrent(x.context));
  OK(cudaDeviceSynchronize());
  OK(cudaStreamDestroy(x.s));
  cudaStreamDestroy(x.t);
  cudaFree(x.to);
  cudaFree(x.from);
  cudaFree(x.managed);
  cudaFreeHost(x.pinned);
  cudaHostUnregister(x.registered);
  cudaHostUnregister(x.host);
  free(x.registered);
  free(x.host);
  cuMemFree_v2(x.address);
  cuModuleUnload(x.module);
  cuLibraryUnload(x.loaded);
  cuMemRelease(x.physical);
  cuMemAddressFree(x.reserved, 2 << 20);
  cudaFree(x.pooled);
  cudaFreeArray(x.array);
  cuMemPoolDestroy(x.pool);
  cuMemPoolDestroy(x.pool2);
  cudaGetLastError();
}

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
