/* Results for null pointers, sizes of 0, unknown numbers, handles that are none and memory of other kinds: a
 * row each, as drivers of GPUs give them. */
// check: none
#include "cu.h"

int cuMemAllocHost_v2(void **host, size_t bytes);
int cuMemUnmap(cu_ptr address, size_t bytes);
int cuPointerGetAttributes(unsigned n, int *attributes, void **values, cu_ptr address);
int cuDeviceGetP2PAttribute(int *value, int attribute, int device, int peer);
int cuDeviceCanAccessPeer(int *can, int device, int peer);
int cuKernelGetName(const char **name, cu_handle kernel);
int cuFuncGetName(const char **name, cu_handle function);
int cuMemHostGetFlags(unsigned *flags, void *host);
int cuStreamGetPriority(cu_handle stream, int *priority);
int cuEventRecordWithFlags(cu_handle event, cu_handle stream, unsigned flags);
int cuStreamBeginCapture_v2(cu_handle stream, int mode);
int cuStreamEndCapture(cu_handle stream, cu_handle *graph);
int cuGraphGetNodes(cu_handle graph, cu_handle *nodes, size_t *n);
int cuGraphMemcpyNodeGetParams(cu_handle node, void *params);
int cuMemcpyDtoDAsync_v2(cu_ptr dst, cu_ptr src, size_t n, cu_handle stream);
int cuCtxGetLimit(size_t *value, int limit);
int cuCtxSetCacheConfig(int config);
int cuMemPoolGetAttribute(cu_handle pool, int attribute, void *value);
int cuDeviceGetDefaultMemPool(cu_handle *pool, int device);
int cuCtxPushCurrent_v2(cu_handle context);

enum {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  INVALID_PTX = 218,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  ALREADY_REGISTERED = 712,
  NOT_REGISTERED = 713
};

static void memory(void) {
  static char page[3 * 4096];
  char *own = page + 100;
  size_t n;
  cu_ptr p, managed;
  void *host, *none = page;
  unsigned flags;
  OK(cuMemGetInfo_v2(NULL, &n));
  OK(cuMemGetInfo_v2(&n, NULL));
  OK(cuMemGetInfo_v2(NULL, NULL));
  EXPECT(cuMemAlloc_v2(&p, 0), INVALID_VALUE);
  EXPECT(cuMemAlloc_v2(NULL, 4), INVALID_VALUE);
  EXPECT(cuMemAllocPitch_v2(&p, &n, 0, 4, 4), INVALID_VALUE);
  EXPECT(cuMemAllocPitch_v2(&p, &n, 4, 4, 3), INVALID_VALUE);
  EXPECT(cuMemAllocManaged(&managed, 0, 1), INVALID_VALUE);
  EXPECT(cuMemAllocManaged(&managed, 4, 0), INVALID_VALUE);
  OK(cuMemHostAlloc(&none, 0, 0)); /* nothing */
  CHECK(!none);
  OK(cuMemAllocHost_v2(&none, 0));
  EXPECT(cuMemHostAlloc(&host, 4, 1u << 20), INVALID_VALUE);
  OK(cuMemAlloc_v2(&p, 64));
  OK(cuMemHostAlloc(&host, 64, 0));
  OK(cuMemAllocManaged(&managed, 64, 1));
  OK(cuMemHostRegister_v2(own, 5000, 0));
  EXPECT(cuMemHostRegister_v2(own, 5000, 0), ALREADY_REGISTERED);
  EXPECT(cuMemHostRegister_v2(own + 4096, 10, 0), ALREADY_REGISTERED);
  EXPECT(cuMemHostRegister_v2(own, 0, 0), INVALID_VALUE);
  EXPECT(cuMemHostRegister_v2(NULL, 64, 0), INVALID_VALUE);
  /* What was not registered, and what was, but does not begin here. */
  EXPECT(cuMemHostUnregister(NULL), INVALID_VALUE);
  EXPECT(cuMemHostUnregister(own + 1), INVALID_VALUE);
  EXPECT(cuMemHostUnregister(own + 4999), INVALID_VALUE);
  EXPECT(cuMemHostUnregister(host), INVALID_VALUE);
  EXPECT(cuMemHostUnregister((char *)host + 8), INVALID_VALUE);
  EXPECT(cuMemHostUnregister((void *)(uintptr_t)managed), INVALID_VALUE);
  EXPECT(cuMemHostUnregister(&n), NOT_REGISTERED);
  OK(cuMemHostUnregister(own));
  EXPECT(cuMemHostUnregister(own), NOT_REGISTERED);
  EXPECT(cuMemHostGetFlags(&flags, own), INVALID_VALUE);
  EXPECT(cuMemFree_v2(p + 8), INVALID_VALUE);
  EXPECT(cuMemFree_v2((cu_ptr)(uintptr_t)host), INVALID_VALUE);
  EXPECT(cuMemFreeHost((char *)host + 8), INVALID_VALUE);
  EXPECT(cuMemFreeHost((void *)(uintptr_t)managed), INVALID_VALUE);
  EXPECT(cuMemGetAddressRange_v2(&p, &n, (cu_ptr)(uintptr_t)page), NOT_FOUND);
  EXPECT(cuMemcpyHtoD_v2(p, NULL, 16), INVALID_VALUE);
  OK(cuMemcpyHtoD_v2(p, NULL, 0));
  EXPECT(cuMemsetD32_v2(p + 2, 0, 1), INVALID_VALUE);
  EXPECT(cuMemUnmap(0, 0), INVALID_VALUE);
}

static void numbers(cu_handle function) {
  static const int unknown[] = {-1, 0, 999, 9999, 1 << 30};
  char value[64];
  int v;
  size_t n;
  cu_ptr p;
  cu_handle pool;
  OK(cuMemAlloc_v2(&p, 64));
  OK(cuDeviceGetDefaultMemPool(&pool, 0));
  for (unsigned k = 0; k < sizeof unknown / sizeof *unknown; k++) {
    int id = unknown[k];
    void *at = value;
    EXPECT(cuPointerGetAttribute(value, id, p), INVALID_VALUE);
    EXPECT(cuPointerGetAttributes(1, &id, &at, p), INVALID_VALUE);
    EXPECT(cuDeviceGetAttribute(&v, id, 0), INVALID_VALUE);
    EXPECT(cuMemPoolGetAttribute(pool, id, value), INVALID_VALUE);
    if (id) EXPECT(cuFuncGetAttribute(&v, id, function), INVALID_VALUE);
    if (id) EXPECT(cuCtxGetLimit(&n, id), INVALID_VALUE);
    if (id) EXPECT(cuCtxSetCacheConfig(id), INVALID_VALUE);
    EXPECT(cuDeviceGetP2PAttribute(&v, id, 0, 0), INVALID_DEVICE); /* the devices come first */
    EXPECT(cuDeviceGetP2PAttribute(&v, id, 0, 7), INVALID_DEVICE);
  }
  EXPECT(cuDeviceGetP2PAttribute(NULL, 1, 0, 0), INVALID_VALUE);
  EXPECT(cuDeviceGetAttribute(NULL, 1, 0), INVALID_VALUE);
  EXPECT(cuDeviceGetAttribute(&v, 1, 7), INVALID_DEVICE);
  EXPECT(cuDeviceCanAccessPeer(&v, 0, 7), INVALID_DEVICE);
  OK(cuMemFree_v2(p));
}

static void images(void) {
  static const struct {
    const char *text;
    int want;
  } table[] = {
      {"", INVALID_IMAGE},
      {"xyz", INVALID_IMAGE},
      {"// .version 7.8", INVALID_IMAGE},
      {".target sm_70\n.version 7.8\n", INVALID_IMAGE},
      {"version 7.8\n.target sm_70\n", INVALID_IMAGE},
      {" \n\t/* a */ // b\n" PTX_HEAD, SUCCESS},
      {PTX_HEAD, SUCCESS},
      {".version 7.8\n", INVALID_PTX},
      {".version seven\n.target sm_70\n", INVALID_PTX},
      {PTX_HEAD ".visible .entry k() { ret }\n", INVALID_PTX},
      {PTX_HEAD ".visible .entry k() { .reg .b32 %r; .reg .b64 %r; ret; }\n", INVALID_PTX},
  };
  cu_handle module;
  for (unsigned k = 0; k < sizeof table / sizeof *table; k++) {
    const int got = cuModuleLoadData(&module, table[k].text);
    if (got != table[k].want) printf("image %u gives %d, not %d\n", k, got, table[k].want);
    CHECK(got == table[k].want);
  }
  EXPECT(cuModuleLoadData(&module, NULL), INVALID_VALUE);
}

static void handles(cu_handle module, cu_handle function) {
  const char *name;
  cu_handle stream, event, f;
  int v;
  char object[64] = {0};
  cu_handle const none = (cu_handle)(void *)object;
  EXPECT(cuKernelGetName(&name, NULL), INVALID_VALUE);
  EXPECT(cuFuncGetName(&name, NULL), INVALID_VALUE);
  EXPECT(cuFuncGetName(NULL, function), INVALID_VALUE);
  EXPECT(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), INVALID_HANDLE);
  EXPECT(cuModuleGetFunction(&f, module, "kk"), NOT_FOUND);
  EXPECT(cuModuleGetFunction(&f, NULL, "k"), INVALID_HANDLE);
  EXPECT(cuModuleGetFunction(&f, module, NULL), INVALID_VALUE);
  EXPECT(cuCtxPushCurrent_v2(NULL), INVALID_CONTEXT);
  EXPECT(cuCtxSetCurrent(none), INVALID_CONTEXT);
  EXPECT(cuStreamCreate(&stream, 77), INVALID_VALUE);
  EXPECT(cuEventCreate(&event, 1u << 9), INVALID_VALUE);
  OK(cuEventCreate(&event, 0));
  EXPECT(cuEventRecordWithFlags(event, NULL, 2), INVALID_VALUE);
  EXPECT(cuEventRecord(NULL, NULL), INVALID_HANDLE);
  EXPECT(cuEventQuery(NULL), INVALID_HANDLE);
  EXPECT(cuStreamGetPriority(NULL, NULL), INVALID_VALUE);
  OK(cuStreamGetPriority(NULL, &v));
  OK(cuEventDestroy_v2(event));
  EXPECT(cuEventQuery(event), INVALID_HANDLE);
}

/* A captured copy between device memory says its addresses, not what kind of memory they are of. */
static void captured(void) {
  enum { UNIFIED = 4 };
  struct {
    size_t at[4];
    int type;
    char rest[300];
  } params;
  cu_handle stream, graph, node;
  cu_ptr p;
  size_t n = 1;
  OK(cuMemAlloc_v2(&p, 64));
  OK(cuStreamCreate(&stream, 1));
  OK(cuStreamBeginCapture_v2(stream, 1));
  OK(cuMemcpyDtoDAsync_v2(p, p + 32, 32, stream));
  OK(cuStreamEndCapture(stream, &graph));
  OK(cuGraphGetNodes(graph, &node, &n));
  OK(cuGraphMemcpyNodeGetParams(node, &params));
  CHECK(params.type == UNIFIED);
}

int main(void) {
  cu_handle module;
  begin();
  cu_handle function = kernel_of(PTX_HEAD ".visible .entry k() { ret; }\n", "k", &module);
  memory();
  numbers(function);
  images();
  handles(module, function);
  captured();
  puts("codes: as drivers give them");
  return 0;
}
