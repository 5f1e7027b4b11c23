/* Nodes of graphs that are neither kernels nor copies, nodes of any type, and what nodes do: the driver's,
 * from the runtime's descriptions. */
#include "cuda/runtime/runtime.h"

/* CUDA 13 added data of edges; before it, the number of edges is in their place. */
static size_t number(const void *edges, size_t n) { return rt_major < 13 ? (size_t)(uintptr_t)edges : n; }

/* ---- Edges ----------------------------------------------------------------------------------- */

cu_result rt_cudaGraphRemoveDependencies(cu_graph graph, cu_node *from, cu_node *to, const void *edges,
                                         size_t n) {
  return drv_cuGraphRemoveDependencies(graph, from, to, number(edges, n));
}
cu_result rt_cudaGraphRemoveDependencies_v2(cu_graph graph, cu_node *from, cu_node *to, const void *edges,
                                            size_t n) {
  return drv_cuGraphRemoveDependencies(graph, from, to, n);
}
cu_result rt_cudaGraphNodeGetDependencies_v2(cu_node node, cu_node *nodes, void *edges, size_t *n) {
  return drv_cuGraphNodeGetDependencies(node, nodes, n);
}
cu_result rt_cudaGraphNodeGetDependentNodes_v2(cu_node node, cu_node *nodes, void *edges, size_t *n) {
  return drv_cuGraphNodeGetDependentNodes(node, nodes, n);
}

/* ---- Events and memory ----------------------------------------------------------------------- */

cu_result rt_cudaGraphAddEventRecordNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                         cu_event event) {
  return drv_cuGraphAddEventRecordNode(node, graph, after, n, event);
}
cu_result rt_cudaGraphAddEventWaitNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                       cu_event event) {
  return drv_cuGraphAddEventWaitNode(node, graph, after, n, event);
}
#define EVENT_NODE(name)                                                                                     \
  cu_result rt_cudaGraph##name##NodeGetEvent(cu_node node, cu_event *event) {                                \
    return drv_cuGraph##name##NodeGetEvent(node, event);                                                     \
  }                                                                                                          \
  cu_result rt_cudaGraph##name##NodeSetEvent(cu_node node, cu_event event) {                                 \
    return drv_cuGraph##name##NodeSetEvent(node, event);                                                     \
  }                                                                                                          \
  cu_result rt_cudaGraphExec##name##NodeSetEvent(cu_graph_exec exec, cu_node node, cu_event event) {         \
    return drv_cuGraphExec##name##NodeSetEvent(exec, node, event);                                           \
  }
EVENT_NODE(EventRecord)
EVENT_NODE(EventWait)

cu_result rt_cudaGraphAddMemAllocNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                      cu_alloc_node *p) {
  return drv_cuGraphAddMemAllocNode(node, graph, after, n, p);
}
cu_result rt_cudaGraphMemAllocNodeGetParams(cu_node node, cu_alloc_node *p) {
  return drv_cuGraphMemAllocNodeGetParams(node, p);
}
cu_result rt_cudaGraphAddMemFreeNode(cu_node *node, cu_graph graph, cu_node *after, size_t n, void *p) {
  return drv_cuGraphAddMemFreeNode(node, graph, after, n, (uintptr_t)p);
}
cu_result rt_cudaGraphMemFreeNodeGetParams(cu_node node, cu_address *address) {
  return drv_cuGraphMemFreeNodeGetParams(node, address);
}
cu_result rt_cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value) {
  return drv_cuDeviceGetGraphMemAttribute(device, attribute, value);
}
cu_result rt_cudaDeviceSetGraphMemAttribute(int device, int attribute, void *value) {
  return drv_cuDeviceSetGraphMemAttribute(device, attribute, value);
}
cu_result rt_cudaDeviceGraphMemTrim(int device) { return drv_cuDeviceGraphMemTrim(device); }

/* ---- Parameters ------------------------------------------------------------------------------ */

static int kind_of(const cu_copy3d *c) {
  if (c->src.type == CU_MEMORY_HOST)
    return c->dst.type == CU_MEMORY_HOST ? RT_HOST_TO_HOST : RT_HOST_TO_DEVICE;
  return c->dst.type == CU_MEMORY_HOST ? RT_DEVICE_TO_HOST : RT_DEVICE_TO_DEVICE;
}

cu_result rt_cudaGraphMemcpyNodeGetParams(cu_node node, rt_copy3d *p) {
  cu_copy3d c;
  if (!p) return CU_INVALID_VALUE;
  cu_result r = drv_cuGraphMemcpyNodeGetParams(node, &c);
  if (r != CU_SUCCESS) return r;
  *p = (rt_copy3d){.src = {(void *)(uintptr_t)c.src.device, c.src.pitch, c.src.pitch, c.src.height},
                   .dst = {(void *)(uintptr_t)c.dst.device, c.dst.pitch, c.dst.pitch, c.dst.height},
                   .extent = {c.width, c.height, c.depth},
                   .kind = kind_of(&c)};
  return CU_SUCCESS;
}
cu_result rt_cudaGraphMemsetNodeGetParams(cu_node node, cu_set_node *p) {
  return drv_cuGraphMemsetNodeGetParams(node, p);
}
cu_result rt_cudaGraphHostNodeGetParams(cu_node node, cu_host_node *p) {
  return drv_cuGraphHostNodeGetParams(node, p);
}

cu_result rt_cudaGraphMemcpyNodeSetParams1D(cu_node node, void *dst, const void *src, size_t bytes,
                                            int kind) {
  cu_copy3d c;
  cu_result r = rt_row_of(dst, src, bytes, kind, &c);
  return r == CU_SUCCESS ? drv_cuGraphMemcpyNodeSetParams(node, &c) : r;
}
cu_result rt_cudaGraphMemcpyNodeSetParamsToSymbol(cu_node node, const void *symbol, const void *src,
                                                  size_t bytes, size_t offset, int kind) {
  void *p;
  cu_result r = rt_cudaGetSymbolAddress(&p, symbol);
  return r == CU_SUCCESS ? rt_cudaGraphMemcpyNodeSetParams1D(node, (char *)p + offset, src, bytes, kind) : r;
}
cu_result rt_cudaGraphMemcpyNodeSetParamsFromSymbol(cu_node node, void *dst, const void *symbol, size_t bytes,
                                                    size_t offset, int kind) {
  void *p;
  cu_result r = rt_cudaGetSymbolAddress(&p, symbol);
  return r == CU_SUCCESS ? rt_cudaGraphMemcpyNodeSetParams1D(node, dst, (char *)p + offset, bytes, kind) : r;
}
cu_result rt_cudaGraphExecMemcpyNodeSetParamsToSymbol(cu_graph_exec exec, cu_node node, const void *symbol,
                                                      const void *src, size_t bytes, size_t offset,
                                                      int kind) {
  void *p;
  cu_result r = rt_cudaGetSymbolAddress(&p, symbol);
  return r == CU_SUCCESS
             ? rt_cudaGraphExecMemcpyNodeSetParams1D(exec, node, (char *)p + offset, src, bytes, kind)
             : r;
}
cu_result rt_cudaGraphExecMemcpyNodeSetParamsFromSymbol(cu_graph_exec exec, cu_node node, void *dst,
                                                        const void *symbol, size_t bytes, size_t offset,
                                                        int kind) {
  void *p;
  cu_result r = rt_cudaGetSymbolAddress(&p, symbol);
  return r == CU_SUCCESS
             ? rt_cudaGraphExecMemcpyNodeSetParams1D(exec, node, dst, (char *)p + offset, bytes, kind)
             : r;
}

/* ---- Nodes of any type ----------------------------------------------------------------------- */

/* Types whose descriptions are the driver's. */
static cu_any_node same(const rt_any_node *p) {
  cu_any_node d = {.type = p->type};
  for (size_t k = 0; k < sizeof d.of.room / sizeof *d.of.room; k++) d.of.room[k] = p->of.room[k];
  return d;
}

cu_result rt_cudaGraphAddNode_v2(cu_node *node, cu_graph graph, cu_node *after, const void *edges, size_t n,
                                 rt_any_node *p) {
  if (!p) return CU_INVALID_VALUE;
  if (p->type == CU_NODE_KERNEL) return rt_cudaGraphAddKernelNode(node, graph, after, n, &p->of.kernel);
  if (p->type == CU_NODE_COPY) return rt_cudaGraphAddMemcpyNode(node, graph, after, n, &p->of.copy.copy);
  cu_any_node d = same(p);
  cu_result r = drv_cuGraphAddNode(node, graph, after, n, &d);
  if (r == CU_SUCCESS && p->type == CU_NODE_ALLOC) p->of.alloc.address = d.of.alloc.address;
  return r;
}
/* Before CUDA 13 the number and the description are one place earlier. */
cu_result rt_cudaGraphAddNode(cu_node *node, cu_graph graph, cu_node *after, const void *edges, size_t n,
                              rt_any_node *p) {
  if (rt_major < 13) p = (rt_any_node *)(uintptr_t)n;
  return rt_cudaGraphAddNode_v2(node, graph, after, NULL, number(edges, n), p);
}

cu_result rt_cudaGraphNodeSetParams(cu_node node, rt_any_node *p) {
  if (!p) return CU_INVALID_VALUE;
  if (p->type == CU_NODE_KERNEL) return rt_cudaGraphKernelNodeSetParams(node, &p->of.kernel);
  if (p->type == CU_NODE_COPY) return rt_cudaGraphMemcpyNodeSetParams(node, &p->of.copy.copy);
  cu_any_node d = same(p);
  return drv_cuGraphNodeSetParams(node, &d);
}
cu_result rt_cudaGraphExecNodeSetParams(cu_graph_exec exec, cu_node node, rt_any_node *p) {
  if (!p) return CU_INVALID_VALUE;
  if (p->type == CU_NODE_KERNEL) return rt_cudaGraphExecKernelNodeSetParams(exec, node, &p->of.kernel);
  if (p->type == CU_NODE_COPY) return rt_cudaGraphExecMemcpyNodeSetParams(exec, node, &p->of.copy.copy);
  cu_any_node d = same(p);
  return drv_cuGraphExecNodeSetParams(exec, node, &d);
}
cu_result rt_cudaGraphExecChildGraphNodeSetParams(cu_graph_exec exec, cu_node node, cu_graph child) {
  return drv_cuGraphExecChildGraphNodeSetParams(exec, node, child);
}

/* ---- The rest -------------------------------------------------------------------------------- */

cu_result rt_cudaGraphNodeSetEnabled(cu_graph_exec exec, cu_node node, unsigned on) {
  return drv_cuGraphNodeSetEnabled(exec, node, on);
}
cu_result rt_cudaGraphNodeGetEnabled(cu_graph_exec exec, cu_node node, unsigned *on) {
  return drv_cuGraphNodeGetEnabled(exec, node, on);
}
cu_result rt_cudaGraphExecGetFlags(cu_graph_exec exec, uint64_t *flags) {
  return drv_cuGraphExecGetFlags(exec, flags);
}
cu_result rt_cudaUserObjectCreate(cu_user_object *object, void *data, cu_host_fn *destroy, unsigned refs,
                                  unsigned flags) {
  return drv_cuUserObjectCreate(object, data, destroy, refs, flags);
}
cu_result rt_cudaUserObjectRetain(cu_user_object object, unsigned n) {
  return drv_cuUserObjectRetain(object, n);
}
cu_result rt_cudaUserObjectRelease(cu_user_object object, unsigned n) {
  return drv_cuUserObjectRelease(object, n);
}
cu_result rt_cudaGraphRetainUserObject(cu_graph graph, cu_user_object object, unsigned n, unsigned flags) {
  return drv_cuGraphRetainUserObject(graph, object, n, flags);
}
cu_result rt_cudaGraphReleaseUserObject(cu_graph graph, cu_user_object object, unsigned n) {
  return drv_cuGraphReleaseUserObject(graph, object, n);
}
cu_result rt_cudaGraphDebugDotPrint(cu_graph graph, const char *path, unsigned flags) {
  return drv_cuGraphDebugDotPrint(graph, path, flags);
}
