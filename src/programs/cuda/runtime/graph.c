/* Captures and graphs: the driver's, from the runtime's descriptions. */
#include <string.h>

#include "cuda/runtime/front.h"

/* ---- Captures -------------------------------------------------------------------------------- */

cu_result rt_cudaStreamIsCapturing(cu_stream stream, int *status) {
  return drv_cuStreamIsCapturing(stream, status);
}
cu_result rt_cudaStreamBeginCapture(cu_stream stream, int mode) {
  return rt_front_cuStreamBeginCapture_v2(stream, mode);
}
cu_result rt_cudaStreamBeginCaptureToGraph(cu_stream stream, cu_graph graph, cu_node *behind,
                                           const void *edges, size_t n, int mode) {
  return rt_front_cuStreamBeginCaptureToGraph(stream, graph, behind, edges, n, mode);
}
/* CUDA 13 added the edges. */
cu_result rt_cudaStreamUpdateCaptureDependencies(cu_stream stream, cu_node *behind, const void *edges_or_n,
                                                 size_t n_or_flags, unsigned flags) {
  if (rt_major >= 13)
    return drv_cuStreamUpdateCaptureDependencies_v2(stream, behind, edges_or_n, n_or_flags, flags);
  return drv_cuStreamUpdateCaptureDependencies(stream, behind, (uintptr_t)edges_or_n, (unsigned)n_or_flags);
}
cu_result rt_cudaStreamUpdateCaptureDependencies_v2(cu_stream stream, cu_node *behind, const void *edges,
                                                    size_t n, unsigned flags) {
  return drv_cuStreamUpdateCaptureDependencies_v2(stream, behind, edges, n, flags);
}
cu_result rt_cudaStreamEndCapture(cu_stream stream, cu_graph *graph) {
  return rt_front_cuStreamEndCapture(stream, graph);
}
cu_result rt_cudaStreamGetCaptureInfo(cu_stream stream, int *status, uint64_t *id, cu_graph *graph,
                                      cu_node **behind, const void **edges, size_t *n) {
  if (rt_major < 13)
    return drv_cuStreamGetCaptureInfo(stream, status, id); /* CUDA 13 added the other results */
  return drv_cuStreamGetCaptureInfo_v3(stream, status, id, graph, behind, edges, n);
}
cu_result rt_cudaStreamGetCaptureInfo_v2(cu_stream stream, int *status, uint64_t *id, cu_graph *graph,
                                         cu_node **behind, size_t *n) {
  return drv_cuStreamGetCaptureInfo_v3(stream, status, id, graph, behind, NULL, n);
}
cu_result rt_cudaStreamGetCaptureInfo_v3(cu_stream stream, int *status, uint64_t *id, cu_graph *graph,
                                         cu_node **behind, const void **edges, size_t *n) {
  return drv_cuStreamGetCaptureInfo_v3(stream, status, id, graph, behind, edges, n);
}
cu_result rt_cudaThreadExchangeStreamCaptureMode(int *mode) {
  return drv_cuThreadExchangeStreamCaptureMode(mode);
}

/* ---- Descriptions ---------------------------------------------------------------------------- */

static cu_result kernel_of(const rt_kernel_node *p, cu_kernel_node *out) {
  core_function *f;
  if (!p) return CU_INVALID_VALUE;
  cu_result r = rt_kernel(p->host, &f);
  if (r != CU_SUCCESS) return r;
  *out = (cu_kernel_node){.function = f,
                          .grid = {p->grid.x, p->grid.y, p->grid.z},
                          .block = {p->block.x, p->block.y, p->block.z},
                          .dynamic_shared = p->dynamic_shared,
                          .params = p->params,
                          .extra = p->extra};
  return CU_SUCCESS;
}

cu_result rt_row_of(void *dst, const void *src, size_t bytes, int kind, cu_copy3d *out) {
  const rt_copy3d p = {.src = {(void *)(uintptr_t)src, bytes, bytes, 1},
                       .dst = {dst, bytes, bytes, 1},
                       .extent = {bytes, 1, 1},
                       .kind = kind};
  return rt_copy_of(&p, out);
}

/* ---- Construction ---------------------------------------------------------------------------- */

cu_result rt_cudaGraphCreate(cu_graph *graph, unsigned flags) { return drv_cuGraphCreate(graph, flags); }
cu_result rt_cudaGraphDestroy(cu_graph graph) { return drv_cuGraphDestroy(graph); }
cu_result rt_cudaGraphClone(cu_graph *clone, cu_graph graph) { return drv_cuGraphClone(clone, graph); }
cu_result rt_cudaGraphNodeFindInClone(cu_node *node, cu_node original, cu_graph clone) {
  return drv_cuGraphNodeFindInClone(node, original, clone);
}

cu_result rt_cudaGraphAddKernelNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                    const rt_kernel_node *p) {
  cu_kernel_node k;
  cu_result r = kernel_of(p, &k);
  return r == CU_SUCCESS ? rt_front_cuGraphAddKernelNode_v2(node, graph, after, n, &k) : r;
}

cu_result rt_cudaGraphAddMemcpyNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                    const rt_copy3d *p) {
  cu_copy3d c;
  cu_result r = rt_copy_of(p, &c);
  return r == CU_SUCCESS ? drv_cuGraphAddMemcpyNode(node, graph, after, n, &c, core_current()) : r;
}

cu_result rt_cudaGraphAddMemcpyNode1D(cu_node *node, cu_graph graph, cu_node *after, size_t n, void *dst,
                                      const void *src, size_t bytes, int kind) {
  cu_copy3d c;
  cu_result r = rt_row_of(dst, src, bytes, kind, &c);
  return r == CU_SUCCESS ? drv_cuGraphAddMemcpyNode(node, graph, after, n, &c, core_current()) : r;
}

cu_result rt_cudaGraphAddMemcpyNodeToSymbol(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                            const void *symbol, const void *src, size_t bytes, size_t offset,
                                            int kind) {
  void *p;
  cu_result r = rt_cudaGetSymbolAddress(&p, symbol);
  return r == CU_SUCCESS
             ? rt_cudaGraphAddMemcpyNode1D(node, graph, after, n, (char *)p + offset, src, bytes, kind)
             : r;
}

cu_result rt_cudaGraphAddMemcpyNodeFromSymbol(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                              void *dst, const void *symbol, size_t bytes, size_t offset,
                                              int kind) {
  void *p;
  cu_result r = rt_cudaGetSymbolAddress(&p, symbol);
  return r == CU_SUCCESS
             ? rt_cudaGraphAddMemcpyNode1D(node, graph, after, n, dst, (char *)p + offset, bytes, kind)
             : r;
}

cu_result rt_cudaGraphAddMemsetNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                    const cu_set_node *p) {
  return drv_cuGraphAddMemsetNode(node, graph, after, n, p, core_current());
}
cu_result rt_cudaGraphAddHostNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                  const cu_host_node *p) {
  return drv_cuGraphAddHostNode(node, graph, after, n, p);
}
cu_result rt_cudaGraphAddEmptyNode(cu_node *node, cu_graph graph, cu_node *after, size_t n) {
  return drv_cuGraphAddEmptyNode(node, graph, after, n);
}
cu_result rt_cudaGraphAddChildGraphNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                        cu_graph child) {
  return drv_cuGraphAddChildGraphNode(node, graph, after, n, child);
}
cu_result rt_cudaGraphChildGraphNodeGetGraph(cu_node node, cu_graph *graph) {
  return drv_cuGraphChildGraphNodeGetGraph(node, graph);
}
cu_result rt_cudaGraphDestroyNode(cu_node node) { return drv_cuGraphDestroyNode(node); }

/* CUDA 13 added data of edges; before it, the number of edges is in their place. */
static size_t number(const void *edges, size_t n) { return rt_major < 13 ? (size_t)(uintptr_t)edges : n; }

cu_result rt_cudaGraphAddDependencies(cu_graph graph, cu_node *from, cu_node *to, const void *edges,
                                      size_t n) {
  return drv_cuGraphAddDependencies(graph, from, to, number(edges, n));
}
cu_result rt_cudaGraphAddDependencies_v2(cu_graph graph, cu_node *from, cu_node *to, const void *edges,
                                         size_t n) {
  return drv_cuGraphAddDependencies(graph, from, to, n);
}

/* ---- Queries and changes --------------------------------------------------------------------- */

static size_t *count(void *edges, size_t *n) { return rt_major < 13 ? edges : n; }

cu_result rt_cudaGraphGetNodes(cu_graph graph, cu_node *nodes, size_t *n) {
  return drv_cuGraphGetNodes(graph, nodes, n);
}
cu_result rt_cudaGraphGetRootNodes(cu_graph graph, cu_node *nodes, size_t *n) {
  return drv_cuGraphGetRootNodes(graph, nodes, n);
}
cu_result rt_cudaGraphGetEdges(cu_graph graph, cu_node *from, cu_node *to, void *edges, size_t *n) {
  return drv_cuGraphGetEdges(graph, from, to, count(edges, n));
}
cu_result rt_cudaGraphGetEdges_v2(cu_graph graph, cu_node *from, cu_node *to, void *edges, size_t *n) {
  return drv_cuGraphGetEdges(graph, from, to, n);
}
cu_result rt_cudaGraphNodeGetType(cu_node node, int *type) { return drv_cuGraphNodeGetType(node, type); }
cu_result rt_cudaGraphNodeGetDependencies(cu_node node, cu_node *nodes, void *edges, size_t *n) {
  return drv_cuGraphNodeGetDependencies(node, nodes, count(edges, n));
}
cu_result rt_cudaGraphNodeGetDependentNodes(cu_node node, cu_node *nodes, void *edges, size_t *n) {
  return drv_cuGraphNodeGetDependentNodes(node, nodes, count(edges, n));
}

cu_result rt_cudaGraphKernelNodeGetParams(cu_node node, rt_kernel_node *p) {
  cu_kernel_node k;
  if (!p) return CU_INVALID_VALUE;
  cu_result r = rt_front_cuGraphKernelNodeGetParams_v2(node, &k);
  if (r != CU_SUCCESS) return r;
  *p = (rt_kernel_node){.host = (void *)(uintptr_t)rt_host_of(k.function),
                        .grid = {k.grid[0], k.grid[1], k.grid[2]},
                        .block = {k.block[0], k.block[1], k.block[2]},
                        .dynamic_shared = k.dynamic_shared,
                        .params = k.params};
  return CU_SUCCESS;
}

cu_result rt_cudaGraphKernelNodeSetParams(cu_node node, const rt_kernel_node *p) {
  cu_kernel_node k;
  cu_result r = kernel_of(p, &k);
  return r == CU_SUCCESS ? rt_front_cuGraphKernelNodeSetParams_v2(node, &k) : r;
}
cu_result rt_cudaGraphMemcpyNodeSetParams(cu_node node, const rt_copy3d *p) {
  cu_copy3d c;
  cu_result r = rt_copy_of(p, &c);
  return r == CU_SUCCESS ? drv_cuGraphMemcpyNodeSetParams(node, &c) : r;
}
cu_result rt_cudaGraphMemsetNodeSetParams(cu_node node, const cu_set_node *p) {
  return drv_cuGraphMemsetNodeSetParams(node, p);
}
cu_result rt_cudaGraphHostNodeSetParams(cu_node node, const cu_host_node *p) {
  return drv_cuGraphHostNodeSetParams(node, p);
}

/* ---- Launching them -------------------------------------------------------------------------- */

cu_result rt_cudaGraphInstantiate(cu_graph_exec *exec, cu_graph graph, unsigned long long flags) {
  return drv_cuGraphInstantiateWithFlags(exec, graph, rt_major < 12 ? 0 : flags);
}
cu_result rt_cudaGraphInstantiateWithFlags(cu_graph_exec *exec, cu_graph graph, unsigned long long flags) {
  return drv_cuGraphInstantiateWithFlags(exec, graph, flags);
}
cu_result rt_cudaGraphInstantiateWithParams(cu_graph_exec *exec, cu_graph graph, cu_instantiate *p) {
  return drv_cuGraphInstantiateWithParams(exec, graph, p);
}
cu_result rt_cudaGraphExecDestroy(cu_graph_exec exec) { return drv_cuGraphExecDestroy(exec); }

/* CUDA 11 takes a node and a result; since CUDA 12 a structure holds both. */
cu_result rt_cudaGraphExecUpdate(cu_graph_exec exec, cu_graph graph, void *info, int *result) {
  return rt_major < 12 ? drv_cuGraphExecUpdate(exec, graph, info, result)
                       : drv_cuGraphExecUpdate_v2(exec, graph, info);
}

cu_result rt_cudaGraphExecKernelNodeSetParams(cu_graph_exec exec, cu_node node, const rt_kernel_node *p) {
  cu_kernel_node k;
  cu_result r = kernel_of(p, &k);
  return r == CU_SUCCESS ? rt_front_cuGraphExecKernelNodeSetParams_v2(exec, node, &k) : r;
}
cu_result rt_cudaGraphExecMemcpyNodeSetParams(cu_graph_exec exec, cu_node node, const rt_copy3d *p) {
  cu_copy3d c;
  cu_result r = rt_copy_of(p, &c);
  return r == CU_SUCCESS ? drv_cuGraphExecMemcpyNodeSetParams(exec, node, &c, core_current()) : r;
}
cu_result rt_cudaGraphExecMemcpyNodeSetParams1D(cu_graph_exec exec, cu_node node, void *dst, const void *src,
                                                size_t bytes, int kind) {
  cu_copy3d c;
  cu_result r = rt_row_of(dst, src, bytes, kind, &c);
  return r == CU_SUCCESS ? drv_cuGraphExecMemcpyNodeSetParams(exec, node, &c, core_current()) : r;
}
cu_result rt_cudaGraphExecMemsetNodeSetParams(cu_graph_exec exec, cu_node node, const cu_set_node *p) {
  return drv_cuGraphExecMemsetNodeSetParams(exec, node, p, core_current());
}
cu_result rt_cudaGraphExecHostNodeSetParams(cu_graph_exec exec, cu_node node, const cu_host_node *p) {
  return drv_cuGraphExecHostNodeSetParams(exec, node, p);
}
cu_result rt_cudaGraphLaunch(cu_graph_exec exec, cu_stream stream) {
  return rt_front_cuGraphLaunch(exec, stream);
}
cu_result rt_cudaGraphUpload(cu_graph_exec exec, cu_stream stream) { return drv_cuGraphUpload(exec, stream); }

cu_result rt_cudaGraphKernelNodeGetAttribute(cu_node node, int id, void *value) {
  return drv_cuGraphKernelNodeGetAttribute(node, id, value);
}
cu_result rt_cudaGraphKernelNodeSetAttribute(cu_node node, int id, const void *value) {
  return drv_cuGraphKernelNodeSetAttribute(node, id, value);
}
cu_result rt_cudaGraphKernelNodeCopyAttributes(cu_node to, cu_node from) {
  return drv_cuGraphKernelNodeCopyAttributes(to, from);
}
