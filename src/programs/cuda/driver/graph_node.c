/* Nodes of graphs that are neither kernels nor copies: events, memory, nodes of any type; and nodes that are
 * switched off. */
#include <stdlib.h>

#include "cuda/driver/driver.h"

static core_graph *graph_of(cu_graph g) { return g && g->kind == CORE_GRAPH ? g : NULL; }
static core_event *event_of(cu_event e) { return e && e->kind == CORE_EVENT ? e : NULL; }
static core_node *node_of(cu_node n, cu_node_type type) {
  return n && n->kind == CORE_NODE && n->type == type ? n : NULL;
}
static struct core_step *step_of(cu_graph_exec e, cu_node n) {
  return e && e->kind == CORE_GRAPH_EXEC && n && n->kind == CORE_NODE ? core_graph_exec_step(e, n) : NULL;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static cu_result add_event(cu_node_type type, cu_node *node, cu_graph graph, cu_node *after, size_t n,
                           cu_event event) {
  if (!event_of(event)) return CU_INVALID_VALUE;
  cu_result r = drv_graph_add(type, NULL, node, graph, after, n);
  if (r == CU_SUCCESS) (*node)->event = event;
  return r;
}
cu_result drv_cuGraphAddEventRecordNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                        cu_event event) {
  return add_event(CU_NODE_RECORD, node, graph, after, n, event);
}
cu_result drv_cuGraphAddEventWaitNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                      cu_event event) {
  return add_event(CU_NODE_WAIT, node, graph, after, n, event);
}

static cu_result get_event(cu_node node, cu_node_type type, cu_event *event) {
  if (!event || !node_of(node, type)) return CU_INVALID_VALUE;
  *event = node->event;
  return CU_SUCCESS;
}
static cu_result set_event(cu_node node, cu_node_type type, cu_event event) {
  if (!event_of(event) || !node_of(node, type)) return CU_INVALID_VALUE;
  node->event = event;
  return CU_SUCCESS;
}
static cu_result set_event_in(cu_graph_exec exec, cu_node node, cu_node_type type, cu_event event) {
  struct core_step *s = node_of(node, type) ? step_of(exec, node) : NULL;
  if (!s || !event_of(event)) return CU_INVALID_VALUE;
  core_wait_all();
  s->event = event;
  return CU_SUCCESS;
}
#define EVENT_NODE(name, type)                                                                               \
  cu_result drv_cuGraph##name##NodeGetEvent(cu_node node, cu_event *event) {                                 \
    return get_event(node, type, event);                                                                     \
  }                                                                                                          \
  cu_result drv_cuGraph##name##NodeSetEvent(cu_node node, cu_event event) {                                  \
    return set_event(node, type, event);                                                                     \
  }                                                                                                          \
  cu_result drv_cuGraphExec##name##NodeSetEvent(cu_graph_exec exec, cu_node node, cu_event event) {          \
    return set_event_in(exec, node, type, event);                                                            \
  }
EVENT_NODE(EventRecord, CU_NODE_RECORD)
EVENT_NODE(EventWait, CU_NODE_WAIT)

/* ---- Memory ---------------------------------------------------------------------------------- */

cu_result drv_cuGraphAddMemAllocNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                     cu_alloc_node *p) {
  core_work *w;
  if (!p || !p->bytes || p->props.location.type != CU_LOCATION_DEVICE || !drv_device(p->props.location.id))
    return CU_INVALID_VALUE;
  cu_result r = core_alloc_work(core_current(), p->bytes, &w);
  if (r != CU_SUCCESS) return r;
  const cu_address address = core_alloc_address(w, NULL);
  r = drv_graph_add(CU_NODE_ALLOC, w, node, graph, after, n);
  if (r == CU_SUCCESS) p->address = address;
  return r;
}

cu_result drv_cuGraphMemAllocNodeGetParams(cu_node node, cu_alloc_node *p) {
  if (!p || !node_of(node, CU_NODE_ALLOC)) return CU_INVALID_VALUE;
  *p = (cu_alloc_node){.props.type = 1,
                       .props.location = {CU_LOCATION_DEVICE, node->work->context->device->ordinal}};
  p->address = core_alloc_address(node->work, &p->bytes);
  return CU_SUCCESS;
}

cu_result drv_cuGraphAddMemFreeNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                    cu_address address) {
  core_work *w;
  const core_memory *m = core_memory_find(address);
  if (!m || m->address != address || !m->of || !graph_of(graph)) return CU_INVALID_VALUE;
  for (size_t k = 0; k < graph->nodes.n; k++)
    if (graph->nodes.data[k]->type == CU_NODE_FREE &&
        core_free_address(graph->nodes.data[k]->work) == address)
      return CU_INVALID_VALUE;
  cu_result r = core_free_work(core_current(), address, &w);
  return r == CU_SUCCESS ? drv_graph_add(CU_NODE_FREE, w, node, graph, after, n) : r;
}

cu_result drv_cuGraphMemFreeNodeGetParams(cu_node node, cu_address *address) {
  if (!address || !node_of(node, CU_NODE_FREE)) return CU_INVALID_VALUE;
  *address = core_free_address(node->work);
  return CU_SUCCESS;
}

/* Where the device keeps an attribute; NULL: there is none of this number. */
static uint64_t *number_of(core_device *d, int attribute) {
  switch (attribute) {
  case CU_GRAPH_MEMORY_USED: return &d->graph_used[0];
  case CU_GRAPH_MEMORY_USED_HIGH: return &d->graph_used[1];
  case CU_GRAPH_MEMORY_RESERVED: return &d->graph_reserved[0];
  case CU_GRAPH_MEMORY_RESERVED_HIGH: return &d->graph_reserved[1];
  default: return NULL;
  }
}

cu_result drv_cuDeviceGetGraphMemAttribute(cu_device device, int attribute, void *value) {
  core_device *d = drv_device(device);
  if (!d) return CU_INVALID_DEVICE;
  if (!value || !number_of(d, attribute)) return CU_INVALID_VALUE;
  core_wait_all();
  *(uint64_t *)value = *number_of(d, attribute);
  return CU_SUCCESS;
}

/* The greatest values can be taken back to the present ones. */
cu_result drv_cuDeviceSetGraphMemAttribute(cu_device device, int attribute, void *value) {
  core_device *d = drv_device(device);
  if (!d) return CU_INVALID_DEVICE;
  if (!value || *(const uint64_t *)value ||
      (attribute != CU_GRAPH_MEMORY_USED_HIGH && attribute != CU_GRAPH_MEMORY_RESERVED_HIGH))
    return CU_INVALID_VALUE;
  *number_of(d, attribute) = *number_of(d, attribute - 1);
  return CU_SUCCESS;
}

cu_result drv_cuDeviceGraphMemTrim(cu_device device) {
  core_device *d = drv_device(device);
  if (!d) return CU_INVALID_DEVICE;
  core_wait_all();
  d->graph_reserved[0] = d->graph_used[0];
  return CU_SUCCESS;
}

/* ---- Nodes of any type ----------------------------------------------------------------------- */

cu_result drv_cuGraphAddNode_v2(cu_node *node, cu_graph graph, cu_node *after, const void *edges, size_t n,
                                cu_any_node *p) {
  if (!p) return CU_INVALID_VALUE;
  switch (p->type) {
  case CU_NODE_KERNEL: return drv_cuGraphAddKernelNode_v2(node, graph, after, n, &p->of.kernel);
  case CU_NODE_COPY:
    return drv_cuGraphAddMemcpyNode(node, graph, after, n, &p->of.copy.copy, p->of.copy.context);
  case CU_NODE_SET: return drv_cuGraphAddMemsetNode(node, graph, after, n, &p->of.set, NULL);
  case CU_NODE_HOST: return drv_cuGraphAddHostNode(node, graph, after, n, &p->of.host);
  case CU_NODE_GRAPH: return drv_graph_add_child(node, graph, after, n, p->of.graph);
  case CU_NODE_EMPTY: return drv_cuGraphAddEmptyNode(node, graph, after, n);
  case CU_NODE_WAIT: return drv_cuGraphAddEventWaitNode(node, graph, after, n, p->of.event);
  case CU_NODE_RECORD: return drv_cuGraphAddEventRecordNode(node, graph, after, n, p->of.event);
  case CU_NODE_ALLOC: return drv_cuGraphAddMemAllocNode(node, graph, after, n, &p->of.alloc);
  case CU_NODE_FREE: return drv_cuGraphAddMemFreeNode(node, graph, after, n, p->of.free);
  default: return drv_missing("a graph's node of this type");
  }
}
cu_result drv_cuGraphAddNode(cu_node *node, cu_graph graph, cu_node *after, size_t n, cu_any_node *p) {
  return drv_cuGraphAddNode_v2(node, graph, after, NULL, n, p);
}

cu_result drv_cuGraphNodeSetParams(cu_node node, cu_any_node *p) {
  if (!p) return CU_INVALID_VALUE;
  switch (p->type) {
  case CU_NODE_KERNEL: return drv_cuGraphKernelNodeSetParams_v2(node, &p->of.kernel);
  case CU_NODE_COPY: return drv_cuGraphMemcpyNodeSetParams(node, &p->of.copy.copy);
  case CU_NODE_SET: return drv_cuGraphMemsetNodeSetParams(node, &p->of.set);
  case CU_NODE_HOST: return drv_cuGraphHostNodeSetParams(node, &p->of.host);
  case CU_NODE_WAIT: return drv_cuGraphEventWaitNodeSetEvent(node, p->of.event);
  case CU_NODE_RECORD: return drv_cuGraphEventRecordNodeSetEvent(node, p->of.event);
  default: return CU_INVALID_VALUE;
  }
}

cu_result drv_cuGraphExecNodeSetParams(cu_graph_exec exec, cu_node node, cu_any_node *p) {
  if (!p) return CU_INVALID_VALUE;
  switch (p->type) {
  case CU_NODE_KERNEL: return drv_cuGraphExecKernelNodeSetParams_v2(exec, node, &p->of.kernel);
  case CU_NODE_COPY:
    return drv_cuGraphExecMemcpyNodeSetParams(exec, node, &p->of.copy.copy, p->of.copy.context);
  case CU_NODE_SET: return drv_cuGraphExecMemsetNodeSetParams(exec, node, &p->of.set, NULL);
  case CU_NODE_HOST: return drv_cuGraphExecHostNodeSetParams(exec, node, &p->of.host);
  case CU_NODE_GRAPH: return drv_cuGraphExecChildGraphNodeSetParams(exec, node, p->of.graph);
  case CU_NODE_WAIT: return drv_cuGraphExecEventWaitNodeSetEvent(exec, node, p->of.event);
  case CU_NODE_RECORD: return drv_cuGraphExecEventRecordNodeSetEvent(exec, node, p->of.event);
  default: return CU_INVALID_VALUE;
  }
}

cu_result drv_cuGraphExecChildGraphNodeSetParams(cu_graph_exec exec, cu_node node, cu_graph child) {
  struct core_step *s = node_of(node, CU_NODE_GRAPH) ? step_of(exec, node) : NULL;
  return s && graph_of(child) ? core_graph_exec_update(s->child, child, NULL) : CU_INVALID_VALUE;
}

/* ---- Nodes that are left out ----------------------------------------------------------------- */

static bool can_be_off(cu_node_type t) {
  return t == CU_NODE_KERNEL || t == CU_NODE_COPY || t == CU_NODE_SET;
}

cu_result drv_cuGraphNodeSetEnabled(cu_graph_exec exec, cu_node node, unsigned on) {
  struct core_step *s = step_of(exec, node);
  if (!s || !can_be_off(s->type)) return CU_INVALID_VALUE;
  core_wait_all();
  s->off = !on;
  return CU_SUCCESS;
}

cu_result drv_cuGraphNodeGetEnabled(cu_graph_exec exec, cu_node node, unsigned *on) {
  const struct core_step *s = step_of(exec, node);
  if (!s || !on || !can_be_off(s->type)) return CU_INVALID_VALUE;
  *on = !s->off;
  return CU_SUCCESS;
}

cu_result drv_cuGraphExecGetFlags(cu_graph_exec exec, uint64_t *flags) {
  if (!flags || !exec || exec->kind != CORE_GRAPH_EXEC) return CU_INVALID_VALUE;
  *flags = exec->flags;
  return CU_SUCCESS;
}

/* ---- The program's objects ------------------------------------------------------------------- */

static core_user_object *object_of(cu_user_object o) { return o && o->kind == CORE_USER_OBJECT ? o : NULL; }

cu_result drv_cuUserObjectCreate(cu_user_object *object, void *data, cu_host_fn *destroy, unsigned refs,
                                 unsigned flags) {
  enum { NO_DESTRUCTOR_SYNC = 1 };
  if (!object || !destroy || !refs || flags != NO_DESTRUCTOR_SYNC) return CU_INVALID_VALUE;
  core_user_object *o = malloc(sizeof *o);
  if (!o) return CU_OUT_OF_MEMORY;
  *o = (core_user_object){CORE_USER_OBJECT, refs, destroy, data};
  *object = o;
  return CU_SUCCESS;
}

cu_result drv_cuUserObjectRetain(cu_user_object object, unsigned n) {
  if (!object_of(object) || !n) return CU_INVALID_VALUE;
  object->refs += n;
  return CU_SUCCESS;
}

cu_result drv_cuUserObjectRelease(cu_user_object object, unsigned n) {
  if (!object_of(object) || !n || n > object->refs) return CU_INVALID_VALUE;
  for (unsigned k = 0; k < n; k++) core_user_object_release(object);
  return CU_SUCCESS;
}

/* With the flag the graph takes over the caller's references. */
cu_result drv_cuGraphRetainUserObject(cu_graph graph, cu_user_object object, unsigned n, unsigned flags) {
  enum { MOVE = 1 };
  if (!graph_of(graph) || !object_of(object) || !n || flags & ~(unsigned)MOVE) return CU_INVALID_VALUE;
  for (unsigned k = 0; k < n; k++) {
    if (!hd_vec_push(&graph->objects, object)) return CU_OUT_OF_MEMORY;
    if (!(flags & MOVE)) object->refs++;
  }
  return CU_SUCCESS;
}

cu_result drv_cuGraphReleaseUserObject(cu_graph graph, cu_user_object object, unsigned n) {
  if (!graph_of(graph) || !object_of(object) || !n) return CU_INVALID_VALUE;
  for (size_t k = graph->objects.n; n && k-- > 0;) {
    if (graph->objects.data[k] != object) continue;
    graph->objects.data[k] = graph->objects.data[--graph->objects.n];
    core_user_object_release(object);
    n--;
  }
  return n ? CU_INVALID_VALUE : CU_SUCCESS;
}

/* ---- A picture ------------------------------------------------------------------------------- */

static void draw(const core_graph *g, const char *name, hd_buf *out) {
  static const char *const types[] = {[CU_NODE_KERNEL] = "kernel",
                                      [CU_NODE_COPY] = "memcpy",
                                      [CU_NODE_SET] = "memset",
                                      [CU_NODE_HOST] = "host",
                                      [CU_NODE_GRAPH] = "graph",
                                      [CU_NODE_EMPTY] = "empty",
                                      [CU_NODE_WAIT] = "wait",
                                      [CU_NODE_RECORD] = "record",
                                      [8] = "",
                                      [9] = "",
                                      [CU_NODE_ALLOC] = "alloc",
                                      [CU_NODE_FREE] = "free",
                                      [CU_NODE_VALUE] = "value"};
  hd_buf_printf(out, "digraph %s {\n", name);
  for (size_t k = 0; k < g->nodes.n; k++) {
    const core_node *n = g->nodes.data[k];
    hd_buf_printf(out, "  n%u [label=\"%u %s\"];\n", n->index, n->index, types[n->type]);
    for (size_t i = 0; i < n->after.n; i++)
      hd_buf_printf(out, "  n%u -> n%u;\n", n->after.data[i]->index, n->index);
  }
  hd_buf_puts(out, "}\n");
}

cu_result drv_cuGraphDebugDotPrint(cu_graph graph, const char *path, unsigned flags) {
  hd_buf text = {0};
  if (!graph_of(graph) || !path) return CU_INVALID_VALUE;
  draw(graph, "graph_of_heddle", &text);
  const hd_status st = text.failed ? HD_ERR_NOMEM : hd_file_write(path, text.data, text.len, NULL);
  hd_buf_free(&text);
  return st == HD_OK ? CU_SUCCESS : st == HD_ERR_NOMEM ? CU_OUT_OF_MEMORY : CU_OPERATING_SYSTEM;
}
