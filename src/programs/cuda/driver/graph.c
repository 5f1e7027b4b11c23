/* Graphs. */
#include <string.h>

#include "cuda/driver/driver.h"

static core_graph *graph_of(cu_graph g) { return g && g->kind == CORE_GRAPH ? g : NULL; }
static core_node *node_of(cu_node n, cu_node_type type) {
  return n && n->kind == CORE_NODE && n->type == type ? n : NULL;
}
static core_graph_exec *exec_of(cu_graph_exec e) { return e && e->kind == CORE_GRAPH_EXEC ? e : NULL; }

/* ---- Works from their descriptions ----------------------------------------------------------- */

static cu_result kernel_work(const cu_kernel_node *p, core_work **w) {
  if (!p) return CU_INVALID_VALUE;
  core_launch l = {.function = p->function ? p->function : p->kernel,
                   .dynamic_shared = p->dynamic_shared,
                   .params = p->params};
  memcpy(l.grid, p->grid, sizeof l.grid);
  memcpy(l.block, p->block, sizeof l.block);
  cu_result r = drv_unpack(p->extra, &l);
  return r == CU_SUCCESS ? core_launch_work(core_current(), &l, w) : r;
}

static cu_result copy_work(const cu_copy3d *p, core_work **w) {
  return p ? drv_copy_work(p, w) : CU_INVALID_VALUE;
}

static cu_result set_work(const cu_set_node *p, core_work **w) {
  size_t row;
  if (!p || (p->bytes != 1 && p->bytes != 2 && p->bytes != 4) || !hd_mul_size(p->width, p->bytes, &row))
    return CU_INVALID_VALUE;
  const core_place dst = {.address = p->dst, .pitch = p->pitch, .device = core_is_device(p->dst)};
  return core_set_work(core_current(), dst, (core_box){row, p->height, 1}, p->value, p->bytes, w);
}

static cu_result host_work(const cu_host_node *p, core_work **w) {
  return p && p->fn ? core_host_work(core_current(), p->fn, p->data, w) : CU_INVALID_VALUE;
}

/* ---- Construction ---------------------------------------------------------------------------- */

cu_result drv_cuGraphCreate(cu_graph *graph, unsigned flags) {
  return graph && !flags ? core_graph_create(graph) : CU_INVALID_VALUE;
}

cu_result drv_cuGraphDestroy(cu_graph graph) {
  if (!graph_of(graph)) return CU_INVALID_VALUE;
  core_graph_destroy(graph);
  return CU_SUCCESS;
}

/* Such graphs cannot be cloned, and lose neither nodes nor edges. */
static bool owns_memory(const core_graph *g) {
  for (size_t k = 0; k < g->nodes.n; k++)
    if (g->nodes.data[k]->type == CU_NODE_ALLOC || g->nodes.data[k]->type == CU_NODE_FREE) return true;
  return false;
}

cu_result drv_cuGraphClone(cu_graph *clone, cu_graph graph) {
  if (!clone || !graph_of(graph)) return CU_INVALID_VALUE;
  return owns_memory(graph) ? CU_NOT_SUPPORTED : core_graph_clone(graph, clone);
}

cu_result drv_cuGraphNodeFindInClone(cu_node *node, cu_node original, cu_graph clone) {
  if (!node || !original || original->kind != CORE_NODE || !graph_of(clone)) return CU_INVALID_VALUE;
  for (size_t k = 0; k < clone->nodes.n; k++)
    if (clone->nodes.data[k]->original == original) {
      *node = clone->nodes.data[k];
      return CU_SUCCESS;
    }
  return CU_INVALID_VALUE;
}

cu_result drv_graph_add(cu_node_type type, core_work *w, cu_node *node, cu_graph graph, cu_node *after,
                        size_t n) {
  bool ok = node && graph_of(graph) && (after || !n);
  for (size_t k = 0; ok && k < n; k++) {
    ok = after[k] && after[k]->kind == CORE_NODE && after[k]->graph == graph;
    for (size_t i = 0; ok && i < k; i++) ok = after[i] != after[k];
  }
  if (ok) return core_graph_add(graph, type, w, after, n, node);
  core_work_release(w);
  return CU_INVALID_VALUE;
}

cu_result drv_cuGraphAddKernelNode_v2(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                      const cu_kernel_node *p) {
  core_work *w;
  cu_result r = kernel_work(p, &w);
  return r == CU_SUCCESS ? drv_graph_add(CU_NODE_KERNEL, w, node, graph, after, n) : r;
}
cu_result drv_cuGraphAddMemcpyNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                   const cu_copy3d *p, cu_context context) {
  core_work *w;
  cu_result r = copy_work(p, &w);
  return r == CU_SUCCESS ? drv_graph_add(CU_NODE_COPY, w, node, graph, after, n) : r;
}
cu_result drv_cuGraphAddMemsetNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                   const cu_set_node *p, cu_context context) {
  core_work *w;
  cu_result r = set_work(p, &w);
  return r == CU_SUCCESS ? drv_graph_add(CU_NODE_SET, w, node, graph, after, n) : r;
}
cu_result drv_cuGraphAddHostNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                 const cu_host_node *p) {
  core_work *w;
  cu_result r = host_work(p, &w);
  return r == CU_SUCCESS ? drv_graph_add(CU_NODE_HOST, w, node, graph, after, n) : r;
}
cu_result drv_cuGraphAddEmptyNode(cu_node *node, cu_graph graph, cu_node *after, size_t n) {
  return drv_graph_add(CU_NODE_EMPTY, NULL, node, graph, after, n);
}
cu_result drv_cuGraphAddChildGraphNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                       cu_graph child) {
  if (graph_of(child) && owns_memory(child)) return CU_NOT_SUPPORTED;
  return drv_graph_add_child(node, graph, after, n, child);
}
cu_result drv_graph_add_child(cu_node *node, cu_graph graph, cu_node *after, size_t n, cu_graph child) {
  if (!graph_of(child) || child == graph) return CU_INVALID_VALUE;
  cu_result r = drv_graph_add(CU_NODE_GRAPH, NULL, node, graph, after, n);
  return r == CU_SUCCESS ? core_graph_clone(child, &(*node)->child) : r;
}

cu_result drv_cuGraphChildGraphNodeGetGraph(cu_node node, cu_graph *graph) {
  if (!graph || !node_of(node, CU_NODE_GRAPH)) return CU_INVALID_VALUE;
  *graph = node->child;
  return CU_SUCCESS;
}

cu_result drv_cuGraphDestroyNode(cu_node node) {
  if (!node || node->kind != CORE_NODE) return CU_INVALID_VALUE;
  if (owns_memory(node->graph)) return CU_NOT_SUPPORTED;
  core_node_remove(node);
  return CU_SUCCESS;
}

cu_result drv_cuGraphAddDependencies(cu_graph graph, cu_node *from, cu_node *to, size_t n) {
  if (!graph_of(graph) || (n && (!from || !to))) return CU_INVALID_VALUE;
  cu_result r = CU_SUCCESS;
  size_t added = 0;
  for (; r == CU_SUCCESS && added < n; added += r == CU_SUCCESS) {
    core_node *const a = from[added], *const b = to[added];
    if (!a || !b || a == b || a->graph != graph || b->graph != graph || core_node_depends(b, a))
      r = CU_INVALID_VALUE;
    else if (!core_node_depend(b, a))
      r = CU_OUT_OF_MEMORY;
  }
  while (r != CU_SUCCESS && added-- > 0)
    core_node_undepend(to[added], from[added]); /* all of them, or none */
  return r;
}
cu_result drv_cuGraphRemoveDependencies(cu_graph graph, cu_node *from, cu_node *to, size_t n) {
  if (!graph_of(graph) || (n && (!from || !to))) return CU_INVALID_VALUE;
  if (n && owns_memory(graph)) return CU_NOT_SUPPORTED;
  for (size_t k = 0; k < n; k++)
    if (!from[k] || !to[k] || from[k]->graph != graph || to[k]->graph != graph ||
        !core_node_undepend(to[k], from[k]))
      return CU_INVALID_VALUE;
  return CU_SUCCESS;
}
cu_result drv_cuGraphRemoveDependencies_v2(cu_graph graph, cu_node *from, cu_node *to, const void *edges,
                                           size_t n) {
  return drv_cuGraphRemoveDependencies(graph, from, to, n);
}
cu_result drv_cuGraphAddDependencies_v2(cu_graph graph, cu_node *from, cu_node *to, const void *edges,
                                        size_t n) {
  return drv_cuGraphAddDependencies(graph, from, to, n);
}

/* ---- Queries --------------------------------------------------------------------------------- */

/* Programs ask for a list twice: first for its length, then for that many entries. */
static void put(cu_node *out, size_t room, size_t *at, cu_node n) {
  if (out && *at < room) out[*at] = n;
  ++*at;
}

static void finish(cu_node *out, size_t *n, size_t found) {
  for (size_t k = found; out && k < *n; k++) out[k] = NULL;
  if (!out || found < *n) *n = found;
}

cu_result drv_cuGraphGetNodes(cu_graph graph, cu_node *nodes, size_t *n) {
  size_t found = 0;
  if (!graph_of(graph) || !n) return CU_INVALID_VALUE;
  for (size_t k = 0; k < graph->nodes.n; k++) put(nodes, *n, &found, graph->nodes.data[k]);
  finish(nodes, n, found);
  return CU_SUCCESS;
}

cu_result drv_cuGraphGetRootNodes(cu_graph graph, cu_node *nodes, size_t *n) {
  size_t found = 0;
  if (!graph_of(graph) || !n) return CU_INVALID_VALUE;
  for (size_t k = 0; k < graph->nodes.n; k++)
    if (!graph->nodes.data[k]->after.n) put(nodes, *n, &found, graph->nodes.data[k]);
  finish(nodes, n, found);
  return CU_SUCCESS;
}

cu_result drv_cuGraphGetEdges(cu_graph graph, cu_node *from, cu_node *to, size_t *n) {
  size_t found = 0;
  if (!graph_of(graph) || !n || !from != !to) return CU_INVALID_VALUE;
  for (size_t k = 0; k < graph->nodes.n; k++) {
    core_node *node = graph->nodes.data[k];
    for (size_t i = 0; i < node->after.n; i++) {
      size_t same = found;
      put(from, *n, &same, node->after.data[i]);
      put(to, *n, &found, node);
    }
  }
  size_t room = *n;
  finish(from, &room, found);
  finish(to, n, found);
  return CU_SUCCESS;
}
cu_result drv_cuGraphGetEdges_v2(cu_graph graph, cu_node *from, cu_node *to, void *edges, size_t *n) {
  return drv_cuGraphGetEdges(graph, from, to, n);
}

cu_result drv_cuGraphNodeGetType(cu_node node, int *type) {
  if (!type || !node || node->kind != CORE_NODE) return CU_INVALID_VALUE;
  *type = (int)node->type;
  return CU_SUCCESS;
}

cu_result drv_cuGraphNodeGetDependencies(cu_node node, cu_node *nodes, size_t *n) {
  size_t found = 0;
  if (!n || !node || node->kind != CORE_NODE) return CU_INVALID_VALUE;
  for (size_t k = 0; k < node->after.n; k++) put(nodes, *n, &found, node->after.data[k]);
  finish(nodes, n, found);
  return CU_SUCCESS;
}
cu_result drv_cuGraphNodeGetDependencies_v2(cu_node node, cu_node *nodes, void *edges, size_t *n) {
  return drv_cuGraphNodeGetDependencies(node, nodes, n);
}

cu_result drv_cuGraphNodeGetDependentNodes(cu_node node, cu_node *nodes, size_t *n) {
  size_t found = 0;
  if (!n || !node || node->kind != CORE_NODE) return CU_INVALID_VALUE;
  for (size_t k = 0; k < node->graph->nodes.n; k++)
    for (size_t i = 0; i < node->graph->nodes.data[k]->after.n; i++)
      if (node->graph->nodes.data[k]->after.data[i] == node)
        put(nodes, *n, &found, node->graph->nodes.data[k]);
  finish(nodes, n, found);
  return CU_SUCCESS;
}
cu_result drv_cuGraphNodeGetDependentNodes_v2(cu_node node, cu_node *nodes, void *edges, size_t *n) {
  return drv_cuGraphNodeGetDependentNodes(node, nodes, n);
}

cu_result drv_cuGraphKernelNodeGetParams_v2(cu_node node, cu_kernel_node *p) {
  if (!p || !node_of(node, CU_NODE_KERNEL)) return CU_INVALID_VALUE;
  const core_launch l = core_launch_of(node->work);
  *p = (cu_kernel_node){.function = l.function, .dynamic_shared = l.dynamic_shared, .params = l.params};
  memcpy(p->grid, l.grid, sizeof p->grid);
  memcpy(p->block, l.block, sizeof p->block);
  p->context = node->work->context;
  return CU_SUCCESS;
}

cu_result drv_cuGraphMemcpyNodeGetParams(cu_node node, cu_copy3d *p) {
  if (!p || !node_of(node, CU_NODE_COPY)) return CU_INVALID_VALUE;
  *p = core_copy_of(node->work);
  return CU_SUCCESS;
}
cu_result drv_cuGraphMemsetNodeGetParams(cu_node node, cu_set_node *p) {
  if (!p || !node_of(node, CU_NODE_SET)) return CU_INVALID_VALUE;
  *p = core_set_of(node->work);
  return CU_SUCCESS;
}
cu_result drv_cuGraphHostNodeGetParams(cu_node node, cu_host_node *p) {
  if (!p || !node_of(node, CU_NODE_HOST)) return CU_INVALID_VALUE;
  *p = core_host_of(node->work);
  return CU_SUCCESS;
}

/* ---- Changing them: in a graph, or in one that is ready to be launched ----------------------- */

static cu_result change(cu_node node, cu_node_type type, core_work *w) {
  if (!node_of(node, type)) {
    core_work_release(w);
    return CU_INVALID_VALUE;
  }
  core_work_release(node->work);
  node->work = w;
  return CU_SUCCESS;
}

static cu_result change_in(cu_graph_exec exec, cu_node node, cu_node_type type, core_work *w) {
  struct core_step *s = exec_of(exec) && node_of(node, type) ? core_graph_exec_step(exec, node) : NULL;
  if (!s) {
    core_work_release(w);
    return CU_INVALID_VALUE;
  }
  core_wait_all();
  core_work_release(s->work);
  s->work = w;
  return CU_SUCCESS;
}

#define SET_PARAMS(name, suffix, kind, parameters, make)                                                     \
  cu_result drv_cuGraph##name##NodeSetParams##suffix(cu_node node, const parameters *p) {                    \
    core_work *w;                                                                                            \
    cu_result r = make(p, &w);                                                                               \
    return r == CU_SUCCESS ? change(node, kind, w) : r;                                                      \
  }
SET_PARAMS(Kernel, _v2, CU_NODE_KERNEL, cu_kernel_node, kernel_work)
SET_PARAMS(Memcpy, , CU_NODE_COPY, cu_copy3d, copy_work)
SET_PARAMS(Memset, , CU_NODE_SET, cu_set_node, set_work)
SET_PARAMS(Host, , CU_NODE_HOST, cu_host_node, host_work)

cu_result drv_cuGraphExecKernelNodeSetParams_v2(cu_graph_exec exec, cu_node node, const cu_kernel_node *p) {
  core_work *w;
  cu_result r = kernel_work(p, &w);
  return r == CU_SUCCESS ? change_in(exec, node, CU_NODE_KERNEL, w) : r;
}
cu_result drv_cuGraphExecMemcpyNodeSetParams(cu_graph_exec exec, cu_node node, const cu_copy3d *p,
                                             cu_context context) {
  core_work *w;
  cu_result r = copy_work(p, &w);
  return r == CU_SUCCESS ? change_in(exec, node, CU_NODE_COPY, w) : r;
}
cu_result drv_cuGraphExecMemsetNodeSetParams(cu_graph_exec exec, cu_node node, const cu_set_node *p,
                                             cu_context context) {
  core_work *w;
  cu_result r = set_work(p, &w);
  return r == CU_SUCCESS ? change_in(exec, node, CU_NODE_SET, w) : r;
}
cu_result drv_cuGraphExecHostNodeSetParams(cu_graph_exec exec, cu_node node, const cu_host_node *p) {
  core_work *w;
  cu_result r = host_work(p, &w);
  return r == CU_SUCCESS ? change_in(exec, node, CU_NODE_HOST, w) : r;
}

/* ---- Launching them -------------------------------------------------------------------------- */

cu_result drv_cuGraphInstantiateWithFlags(cu_graph_exec *exec, cu_graph graph, unsigned long long flags) {
  enum { FLAGS = 15 }; /* CUgraphInstantiate_flags */
  if (!exec || !graph_of(graph) || flags & ~(unsigned long long)FLAGS) return CU_INVALID_VALUE;
  return core_graph_instantiate(graph, flags, exec);
}
cu_result drv_cuGraphInstantiate_v2(cu_graph_exec *exec, cu_graph graph, cu_node *failed, char *log,
                                    size_t bytes) {
  if (failed) *failed = NULL;
  if (log && bytes) *log = 0;
  return drv_cuGraphInstantiateWithFlags(exec, graph, 0);
}
cu_result drv_cuGraphInstantiateWithParams(cu_graph_exec *exec, cu_graph graph, cu_instantiate *p) {
  if (!p) return CU_INVALID_VALUE;
  cu_result r = drv_cuGraphInstantiateWithFlags(exec, graph, p->flags);
  p->failed = NULL;
  p->result = r != CU_SUCCESS;
  return r;
}

cu_result drv_cuGraphExecDestroy(cu_graph_exec exec) {
  if (!exec_of(exec)) return CU_INVALID_VALUE;
  core_graph_exec_release(exec);
  return CU_SUCCESS;
}

/* Results: 0 updated, 2 nodes or edges changed, 3 the type of *failed did. */
cu_result drv_cuGraphExecUpdate(cu_graph_exec exec, cu_graph graph, cu_node *failed, int *result) {
  if (!exec_of(exec) || !graph_of(graph)) return CU_INVALID_VALUE;
  core_node *changed;
  cu_result r = core_graph_exec_update(exec, graph, &changed);
  if (failed) *failed = changed;
  if (result) *result = r == CU_SUCCESS ? 0 : changed ? 3 : 2;
  return r;
}
cu_result drv_cuGraphExecUpdate_v2(cu_graph_exec exec, cu_graph graph, cu_update_info *info) {
  if (!info) return CU_INVALID_VALUE;
  *info = (cu_update_info){0};
  return drv_cuGraphExecUpdate(exec, graph, &info->failed, &info->result);
}

cu_result drv_cuGraphLaunch(cu_graph_exec exec, cu_stream stream) {
  core_stream *s;
  cu_result r = drv_stream_for(CORE_CAPTURE_OUTSIDE, stream, &s);
  if (r == CU_SUCCESS && !exec_of(exec)) r = CU_INVALID_VALUE;
  return r == CU_SUCCESS ? core_graph_launch(exec, s) : r;
}
cu_result drv_cuGraphUpload(cu_graph_exec exec, cu_stream stream) {
  core_stream *s;
  cu_result r = drv_stream_for(CORE_CAPTURE_OUTSIDE, stream, &s);
  return r == CU_SUCCESS && !exec_of(exec) ? CU_INVALID_VALUE : r;
}
