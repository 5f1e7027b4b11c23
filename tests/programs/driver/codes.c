/* Results for null pointers, sizes of 0, unknown numbers, handles that are none and memory of other kinds: a
 * row each, as drivers of GPUs give them. */
// check: none
#include "cu.h"

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
  cu_address p, managed;
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
  EXPECT(cuMemFree_v2((cu_address)(uintptr_t)host), INVALID_VALUE);
  EXPECT(cuMemFreeHost((char *)host + 8), INVALID_VALUE);
  EXPECT(cuMemFreeHost((void *)(uintptr_t)managed), INVALID_VALUE);
  EXPECT(cuMemGetAddressRange_v2(&p, &n, (cu_address)(uintptr_t)page), NOT_FOUND);
  EXPECT(cuMemcpyHtoD_v2(p, NULL, 16), INVALID_VALUE);
  OK(cuMemcpyHtoD_v2(p, NULL, 0));
  EXPECT(cuMemsetD32_v2(p + 2, 0, 1), INVALID_VALUE);
  EXPECT(cuMemUnmap(0, 0), INVALID_VALUE);
}

static void numbers(cu_function function) {
  static const int unknown[] = {-1, 0, 999, 9999, 1 << 30};
  char value[64];
  int v;
  size_t n;
  cu_address p;
  cu_pool pool;
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
  cu_module module;
  for (unsigned k = 0; k < sizeof table / sizeof *table; k++) {
    const int got = cuModuleLoadData(&module, table[k].text);
    if (got != table[k].want) printf("image %u gives %d, not %d\n", k, got, table[k].want);
    CHECK(got == table[k].want);
  }
  EXPECT(cuModuleLoadData(&module, NULL), INVALID_VALUE);
}

static void handles(cu_module module, cu_function function) {
  const char *name;
  cu_event event;
  cu_stream stream;
  cu_function f;
  int v;
  char object[64] = {0};
  const cu_context none = (cu_context)(void *)object;
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
  cu_copy3d params;
  cu_node node;
  cu_graph graph;
  cu_stream stream;
  cu_address p;
  size_t n = 1;
  OK(cuMemAlloc_v2(&p, 64));
  OK(cuStreamCreate(&stream, 1));
  OK(cuStreamBeginCapture_v2(stream, 1));
  OK(cuMemcpyDtoDAsync_v2(p, p + 32, 32, stream));
  OK(cuStreamEndCapture(stream, &graph));
  OK(cuGraphGetNodes(graph, &node, &n));
  OK(cuGraphMemcpyNodeGetParams(node, &params));
  CHECK(params.src.type == CU_MEMORY_UNIFIED);
}

int main(void) {
  cu_module module;
  begin();
  cu_function function = kernel_of(PTX_HEAD ".visible .entry k() { ret; }\n", "k", &module);
  memory();
  numbers(function);
  images();
  handles(module, function);
  captured();
  puts("codes: as drivers give them");
  return 0;
}
