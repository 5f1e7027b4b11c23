/* Kernels as nodes of graphs. A node may run several times at once, so that only variants without a state
 * take its place; those with one do in executable graphs (exec.c). The program gets its own kernel when it
 * asks for a node, which may have been captured. */
#include <string.h>

#include "run/launch.h"

run_variant *run_node_guarded(const cu_kernel_node *p) {
  run_kernel *k = run_function_of(p->function ? p->function : p->kernel);
  run_launch l = {.shared = p->dynamic_shared};
  memcpy(l.grid, p->grid, sizeof l.grid);
  memcpy(l.block, p->block, sizeof l.block);
  run_variant *v = k ? atomic_load_explicit(&k->variants, memory_order_acquire) : NULL;
  while (v && !(v->verdict && atomic_load(&v->held) && !atomic_load(&v->off) &&
                (v->any || run_is_shape(&l, v->grid, v->block, v->shared))))
    v = v->next;
  return v;
}

run_variant *run_node_choose(const cu_kernel_node *p, run_exec *exec, bool guarded, cu_kernel_node *out,
                             run_replacement *r) {
  *out = *p;
  run_kernel *k = run_function_of(p->function ? p->function : p->kernel);
  if (!k || p->context) return NULL;
  run_launch l = {.shared = p->dynamic_shared,
                  .node = true,
                  .exec = exec,
                  .guarded = guarded,
                  .params = p->params,
                  .extra = p->extra};
  memcpy(l.grid, p->grid, sizeof l.grid);
  memcpy(l.block, p->block, sizeof l.block);
  run_variant *v = run_choose(k, &l, r);
  if (!v) return NULL;
  out->function = r->function;
  out->kernel = NULL;
  out->params = r->params;
  out->extra = r->extra;
  memcpy(out->grid, r->grid, sizeof out->grid);
  return v;
}

/* Fields that the first version of the structure does not have are not read. */
static run_variant *choose(const cu_kernel_node *p, bool first_version, run_exec *exec, cu_kernel_node *out,
                           run_replacement *r) {
  cu_kernel_node n = {0};
  if (!p) return NULL;
  memcpy(&n, p, first_version ? offsetof(cu_kernel_node, kernel) : sizeof n);
  return run_node_choose(&n, exec, false, out, r);
}

static int add(fn_cuGraphAddKernelNode *real, cu_node *node, cu_graph graph, cu_node *after, size_t n,
               const cu_kernel_node *p, bool first_version) {
  run_replacement r;
  cu_kernel_node own;
  run_variant *v = choose(p, first_version, NULL, &own, &r);
  if (v && real(node, graph, after, n, &own) == CU_SUCCESS) return CU_SUCCESS;
  return run_instead(real(node, graph, after, n, p), v);
}

int run_cuGraphAddKernelNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                             const cu_kernel_node *p) {
  return add(run_real.cuGraphAddKernelNode, node, graph, after, n, p, true);
}
int run_cuGraphAddKernelNode_v2(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                const cu_kernel_node *p) {
  return add(run_real.cuGraphAddKernelNode_v2, node, graph, after, n, p, false);
}

static int set(fn_cuGraphKernelNodeSetParams *real, cu_node node, const cu_kernel_node *p,
               bool first_version) {
  run_replacement r;
  cu_kernel_node own;
  run_variant *v = choose(p, first_version, NULL, &own, &r);
  if (v && real(node, &own) == CU_SUCCESS) return CU_SUCCESS;
  return run_instead(real(node, p), v);
}

int run_cuGraphKernelNodeSetParams(cu_node node, const cu_kernel_node *p) {
  return set(run_real.cuGraphKernelNodeSetParams, node, p, true);
}
int run_cuGraphKernelNodeSetParams_v2(cu_node node, const cu_kernel_node *p) {
  return set(run_real.cuGraphKernelNodeSetParams_v2, node, p, false);
}

static int set_exec(fn_cuGraphExecKernelNodeSetParams *real, cu_graph_exec exec, cu_node node,
                    const cu_kernel_node *p, bool first_version) {
  run_replacement r;
  cu_kernel_node own;
  run_pair_changed(exec);
  run_exec *e = run_exec_open(exec, node);
  const bool done = choose(p, first_version, e, &own, &r) && real(exec, node, &own) == CU_SUCCESS;
  run_exec_close(e);
  return done ? CU_SUCCESS : real(exec, node, p);
}

int run_cuGraphExecKernelNodeSetParams(cu_graph_exec exec, cu_node node, const cu_kernel_node *p) {
  return set_exec(run_real.cuGraphExecKernelNodeSetParams, exec, node, p, true);
}
int run_cuGraphExecKernelNodeSetParams_v2(cu_graph_exec exec, cu_node node, const cu_kernel_node *p) {
  return set_exec(run_real.cuGraphExecKernelNodeSetParams_v2, exec, node, p, false);
}

/* ---- Nodes of any type ------------------------------------------------------------------------- */

static run_variant *choose_any(const cu_any_node *p, run_exec *exec, cu_any_node *out, run_replacement *r) {
  if (!p || p->type != CU_NODE_KERNEL) return NULL;
  *out = *p;
  return run_node_choose(&p->of.kernel, exec, false, &out->of.kernel, r);
}

int run_cuGraphAddNode(cu_node *node, cu_graph graph, cu_node *after, size_t n, cu_any_node *p) {
  run_replacement r;
  cu_any_node own;
  run_variant *v = choose_any(p, NULL, &own, &r);
  if (v && run_real.cuGraphAddNode(node, graph, after, n, &own) == CU_SUCCESS) return CU_SUCCESS;
  return run_instead(run_real.cuGraphAddNode(node, graph, after, n, p), v);
}

int run_cuGraphAddNode_v2(cu_node *node, cu_graph graph, cu_node *after, const void *edges, size_t n,
                          cu_any_node *p) {
  run_replacement r;
  cu_any_node own;
  run_variant *v = choose_any(p, NULL, &own, &r);
  if (v && run_real.cuGraphAddNode_v2(node, graph, after, edges, n, &own) == CU_SUCCESS) return CU_SUCCESS;
  return run_instead(run_real.cuGraphAddNode_v2(node, graph, after, edges, n, p), v);
}

int run_cuGraphNodeSetParams(cu_node node, cu_any_node *p) {
  run_replacement r;
  cu_any_node own;
  run_variant *v = choose_any(p, NULL, &own, &r);
  if (v && run_real.cuGraphNodeSetParams(node, &own) == CU_SUCCESS) return CU_SUCCESS;
  return run_instead(run_real.cuGraphNodeSetParams(node, p), v);
}

int run_cuGraphExecNodeSetParams(cu_graph_exec exec, cu_node node, cu_any_node *p) {
  run_replacement r;
  cu_any_node own;
  run_pair_changed(exec);
  run_exec *e = run_exec_open(exec, node);
  const bool done =
      choose_any(p, e, &own, &r) && run_real.cuGraphExecNodeSetParams(exec, node, &own) == CU_SUCCESS;
  run_exec_close(e);
  return done ? CU_SUCCESS : run_real.cuGraphExecNodeSetParams(exec, node, p);
}

/* ---- What the program is told ------------------------------------------------------------------ */

/* The parameters behind the program's own stay: it knows how many it has. */
static int get(int r, cu_kernel_node *p, bool first_version) {
  if (r != CU_SUCCESS || !p) return r;
  const run_place *place = run_place_behind(p->function);
  if (place) p->function = place->original;
  if (!first_version && (place = run_place_behind(p->kernel))) p->kernel = place->original_kernel;
  return r;
}

int run_cuGraphKernelNodeGetParams(cu_node node, cu_kernel_node *p) {
  return get(run_real.cuGraphKernelNodeGetParams(node, p), p, true);
}
int run_cuGraphKernelNodeGetParams_v2(cu_node node, cu_kernel_node *p) {
  return get(run_real.cuGraphKernelNodeGetParams_v2(node, p), p, false);
}
