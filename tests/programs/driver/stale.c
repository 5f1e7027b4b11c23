/* Handles that are gone, addresses that are none, and a context that is released too often. That is not
 * defined, and a GPU's driver may crash over it; heddle's own says so. */
// check: none
#include "entries.h"

#define EXPECT(call, want) expect(__LINE__, #call, call, want)
#define OK(call) EXPECT(call, CU_SUCCESS)

static const char ptx[] = ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry idle() { ret; }\n";

static void expect(int line, const char *call, cu_result r, cu_result want) {
  if (r == want) return;
  printf("line %d: %s gives %d, not %d\n", line, call, r, want);
  exit(1);
}

static void streams_and_events(void) {
  cu_stream stream;
  cu_event event;
  OK(cuStreamCreate(&stream, 0));
  OK(cuEventCreate(&event, 0));
  OK(cuStreamDestroy_v2(stream));
  EXPECT(cuStreamSynchronize(stream), CU_CONTEXT_IS_DESTROYED);
  OK(cuEventDestroy_v2(event));
  EXPECT(cuEventRecord(event, NULL), CU_INVALID_HANDLE);
}

static void arrays(void) {
  const cu_array3d shape = {.width = 16, .height = 16, .format = 32, .channels = 1};
  const cu_texture texture = {.filter = 0};
  cu_array array, whole, level;
  cu_array3d out;
  uint64_t object;
  OK(cuArray3DCreate_v2(&array, &shape));
  OK(cuArrayDestroy(array));
  EXPECT(cuArray3DGetDescriptor_v2(&out, array), CU_INVALID_HANDLE);
  EXPECT(cuArrayDestroy(array), CU_INVALID_HANDLE);
  const cu_resource resource = {.type = CU_RESOURCE_ARRAY, .of.array = array};
  EXPECT(cuTexObjectCreate(&object, &resource, &texture, NULL), CU_INVALID_VALUE);
  OK(cuMipmappedArrayCreate(&whole, &shape, 3));
  OK(cuMipmappedArrayGetLevel(&level, whole, 1));
  EXPECT(cuArrayDestroy(level), CU_INVALID_HANDLE);
  OK(cuMipmappedArrayDestroy(whole));
  EXPECT(cuArray3DGetDescriptor_v2(&out, level), CU_INVALID_HANDLE);
  EXPECT(cuMipmappedArrayGetLevel(&level, whole, 1), CU_INVALID_HANDLE);
}

static void links(void) {
  cu_link link;
  void *image;
  size_t bytes;
  OK(cuLinkCreate_v2(0, NULL, NULL, &link));
  OK(cuLinkDestroy(link));
  EXPECT(cuLinkAddData_v2(link, 1, (void *)(uintptr_t)ptx, sizeof ptx, "idle", 0, NULL, NULL),
         CU_INVALID_HANDLE);
  EXPECT(cuLinkComplete(link, &image, &bytes), CU_INVALID_HANDLE);
  EXPECT(cuLinkDestroy(link), CU_INVALID_HANDLE);
}

static cu_result launch(const void *function) {
  const rt_dim3 one = {1, 1, 1};
  return cudaLaunchKernel(function, one, one, NULL, 0, NULL);
}

static void functions(void) {
  cu_module module;
  cu_library library;
  cu_function function, kernel, in_context;
  const char *name;
  rt_func attributes;
  int value;
  OK(cuModuleLoadData(&module, ptx));
  OK(cuModuleGetFunction(&function, module, "idle"));
  OK(launch(function));
  EXPECT(cudaFuncGetAttributes(NULL, function), CU_INVALID_VALUE);
  OK(cuModuleUnload(module));
  EXPECT(cuFuncGetAttribute(&value, CU_FUNC_REGISTERS, function), CU_INVALID_HANDLE);
  EXPECT(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CU_INVALID_HANDLE);
  EXPECT(launch(function), CU_INVALID_HANDLE);
  EXPECT(cudaFuncGetAttributes(&attributes, function), CU_INVALID_HANDLE);
  OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
  OK(cuLibraryGetKernel(&kernel, library, "idle"));
  OK(cuKernelGetFunction(&in_context, kernel));
  OK(launch(kernel));
  OK(cuLibraryUnload(library));
  EXPECT(cuKernelGetFunction(&function, kernel), CU_INVALID_HANDLE);
  EXPECT(cuKernelGetName(&name, kernel), CU_INVALID_HANDLE);
  EXPECT(launch(kernel), CU_INVALID_HANDLE);
  EXPECT(launch(in_context), CU_INVALID_HANDLE);
  EXPECT(launch((const void *)8), CU_INVALID_HANDLE);
  EXPECT(launch(ptx), CU_INVALID_HANDLE);
}

static void forget(void *data) { ++*(int *)data; }

static void graphs(void) {
  cu_graph graph;
  cu_node first, second;
  cu_user_object object;
  int type, forgotten = 0;
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddEmptyNode(&first, graph, NULL, 0));
  OK(cuGraphAddEmptyNode(&second, graph, &first, 1));
  OK(cuGraphDestroyNode(first));
  EXPECT(cuGraphNodeGetType(first, &type), CU_INVALID_VALUE);
  EXPECT(cuGraphDestroyNode(first), CU_INVALID_VALUE);
  OK(cuGraphDestroy(graph));
  EXPECT(cuGraphNodeGetType(second, &type), CU_INVALID_VALUE);
  OK(cuUserObjectCreate(&object, &forgotten, forget, 1, 1));
  OK(cuUserObjectRelease(object, 1));
  EXPECT(cuUserObjectRetain(object, 1), CU_INVALID_VALUE);
  EXPECT(cuUserObjectRelease(object, 1), CU_INVALID_VALUE);
  if (forgotten != 1) printf("the object was forgotten %d times\n", forgotten);
}

/* Its launch ends in an error, which stays. */
static void kernel_of_a_graph(void) {
  cu_module module;
  cu_graph graph;
  cu_graph_exec exec;
  cu_node node;
  cu_kernel_node p = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
  rt_kernel_node out;
  OK(cuModuleLoadData(&module, ptx));
  OK(cuModuleGetFunction(&p.function, module, "idle"));
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuModuleUnload(module));
  OK(cudaGraphKernelNodeGetParams(node, &out));
  if (out.host) puts("a kernel that is gone has an address on the host");
  OK(cuGraphLaunch(exec, NULL));
  EXPECT(cuCtxSynchronize(), CU_INVALID_HANDLE);
}

int main(void) {
  cu_context context, other, primary;
  OK(cuInit(0));
  OK(cuCtxCreate_v2(&context, 0, 0));
  streams_and_events();
  arrays();
  links();
  functions();
  graphs();
  OK(cuCtxCreate_v2(&other, 0, 0));
  OK(cuCtxDestroy_v2(other));
  EXPECT(cuCtxSetCurrent(other), CU_INVALID_CONTEXT);
  OK(cuCtxSetCurrent(context));
  kernel_of_a_graph();
  OK(cuCtxDestroy_v2(context));
  OK(cuDevicePrimaryCtxRetain(&primary, 0));
  OK(cuDevicePrimaryCtxRelease_v2(0));
  EXPECT(cuDevicePrimaryCtxRelease_v2(0), CU_INVALID_CONTEXT);
  puts("stale: refused");
  return 0;
}
