/* Kernels as nodes of graphs. A node may run several times at once, so that only variants without a state
 * take its place. The program is told of its own kernel when it asks for a node, which may have been
 * captured. */
#include <string.h>

#include "run/launch.h"

/* Fields that the first version of the structure does not have are not read. */
static run_node copy_of(const run_node *p, bool first_version) {
  run_node n = {0};
  memcpy(&n, p, first_version ? offsetof(run_node, kernel) : sizeof n);
  return n;
}

/* The node's parameters with the variant in the kernel's place; NULL: none takes it. */
static run_variant *choose(const run_node *p, bool first_version, run_node *out, run_replacement *r) {
  if (!p) return NULL;
  *out = copy_of(p, first_version);
  run_kernel *k = run_function_of(out->function ? out->function : out->kernel);
  if (!k || out->context) return NULL;
  run_launch l = {.shared = out->shared, .node = true, .params = out->params, .extra = out->extra};
  memcpy(l.grid, out->grid, sizeof l.grid);
  memcpy(l.block, out->block, sizeof l.block);
  run_variant *v = run_choose(k, &l, r);
  if (!v) return NULL;
  out->function = r->function;
  out->kernel = NULL;
  out->params = r->params;
  out->extra = r->extra;
  return v;
}

static int add(int (*real)(run_handle *, run_handle, const run_handle *, size_t, const run_node *),
               run_handle *node, run_handle graph, const run_handle *after, size_t n, const run_node *p,
               bool first_version) {
  run_replacement r;
  run_node own;
  run_variant *v = choose(p, first_version, &own, &r);
  if (v && real(node, graph, after, n, &own) == RUN_SUCCESS) return RUN_SUCCESS;
  return run_instead(real(node, graph, after, n, p), v);
}

int run_cuGraphAddKernelNode(run_handle *node, run_handle graph, const run_handle *after, size_t n,
                             const run_node *p) {
  return add(run_real.cuGraphAddKernelNode, node, graph, after, n, p, true);
}
int run_cuGraphAddKernelNode_v2(run_handle *node, run_handle graph, const run_handle *after, size_t n,
                                const run_node *p) {
  return add(run_real.cuGraphAddKernelNode_v2, node, graph, after, n, p, false);
}

static int set(int (*real)(run_handle, const run_node *), run_handle node, const run_node *p,
               bool first_version) {
  run_replacement r;
  run_node own;
  run_variant *v = choose(p, first_version, &own, &r);
  if (v && real(node, &own) == RUN_SUCCESS) return RUN_SUCCESS;
  return run_instead(real(node, p), v);
}

int run_cuGraphKernelNodeSetParams(run_handle node, const run_node *p) {
  return set(run_real.cuGraphKernelNodeSetParams, node, p, true);
}
int run_cuGraphKernelNodeSetParams_v2(run_handle node, const run_node *p) {
  return set(run_real.cuGraphKernelNodeSetParams_v2, node, p, false);
}

static int set_exec(int (*real)(run_handle, run_handle, const run_node *), run_handle exec, run_handle node,
                    const run_node *p, bool first_version) {
  run_replacement r;
  run_node own;
  run_variant *v = choose(p, first_version, &own, &r);
  if (v && real(exec, node, &own) == RUN_SUCCESS) return RUN_SUCCESS;
  return run_instead(real(exec, node, p), v);
}

int run_cuGraphExecKernelNodeSetParams(run_handle exec, run_handle node, const run_node *p) {
  return set_exec(run_real.cuGraphExecKernelNodeSetParams, exec, node, p, true);
}
int run_cuGraphExecKernelNodeSetParams_v2(run_handle exec, run_handle node, const run_node *p) {
  return set_exec(run_real.cuGraphExecKernelNodeSetParams_v2, exec, node, p, false);
}

/* The parameters behind the program's own stay: it knows how many it has. */
static int get(int r, run_node *p, bool first_version) {
  if (r != RUN_SUCCESS || !p) return r;
  const run_place *place = run_place_behind(p->function);
  if (place) p->function = place->original;
  if (!first_version && (place = run_place_behind(p->kernel))) p->kernel = place->original_kernel;
  return r;
}

int run_cuGraphKernelNodeGetParams(run_handle node, run_node *p) {
  return get(run_real.cuGraphKernelNodeGetParams(node, p), p, true);
}
int run_cuGraphKernelNodeGetParams_v2(run_handle node, run_node *p) {
  return get(run_real.cuGraphKernelNodeGetParams_v2(node, p), p, false);
}
