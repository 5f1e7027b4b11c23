/* Attributes of kernels in graphs. A cooperative launch and its clusters are the kernel's own; the others are
 * kept for the program to ask for. And kernels described as CUDA 11 did. */
#include <stdlib.h>
#include <string.h>

#include "cuda/driver/driver.h"

static core_node *node_of(cu_node n) {
  return n && n->kind == CORE_NODE && n->type == CU_NODE_KERNEL ? n : NULL;
}

static bool is_of_kernels(int id) {
  return id == CU_LAUNCH_POLICY_WINDOW || id == CU_LAUNCH_COOPERATIVE || id == CU_LAUNCH_CLUSTER_DIMENSION ||
         id == CU_LAUNCH_PRIORITY || id == CU_LAUNCH_SYNC_DOMAIN_MAP || id == CU_LAUNCH_SYNC_DOMAIN;
}

cu_result drv_cuGraphKernelNodeGetAttribute(cu_node node, int id, void *value) {
  if (!node_of(node) || !value || !is_of_kernels(id)) return CU_INVALID_VALUE;
  const core_launch l = core_launch_of(node->work);
  memset(value, 0, sizeof *node->attributes);
  if (node->attributes) memcpy(value, node->attributes[id], sizeof *node->attributes);
  if (id == CU_LAUNCH_COOPERATIVE) *(int *)value = l.cooperative;
  if (id == CU_LAUNCH_CLUSTER_DIMENSION) memcpy(value, l.cluster, sizeof l.cluster);
  return CU_SUCCESS;
}

static cu_result launch_again(core_node *n, const core_launch *l) {
  core_work *w;
  cu_result r = core_launch_work(n->work->context, l, &w);
  if (r != CU_SUCCESS) return r;
  core_work_release(n->work);
  n->work = w;
  return CU_SUCCESS;
}

cu_result drv_cuGraphKernelNodeSetAttribute(cu_node node, int id, const void *value) {
  if (!node_of(node) || !value || !is_of_kernels(id)) return CU_INVALID_VALUE;
  core_launch l = core_launch_of(node->work);
  if (id == CU_LAUNCH_COOPERATIVE) {
    l.cooperative = *(const int *)value != 0;
    return launch_again(node, &l);
  }
  if (id == CU_LAUNCH_CLUSTER_DIMENSION) {
    memcpy(l.cluster, value, sizeof l.cluster);
    return launch_again(node, &l);
  }
  if (!node->attributes) node->attributes = calloc(CU_LAUNCH_ATTRIBUTES, sizeof *node->attributes);
  if (!node->attributes) return CU_OUT_OF_MEMORY;
  memcpy(node->attributes[id], value, sizeof *node->attributes);
  return CU_SUCCESS;
}

cu_result drv_cuGraphKernelNodeCopyAttributes(cu_node to, cu_node from) {
  char value[sizeof *((core_node *)NULL)->attributes];
  cu_result r = CU_SUCCESS;
  for (int id = 0; r == CU_SUCCESS && id < CU_LAUNCH_ATTRIBUTES; id++) {
    if (!is_of_kernels(id)) continue;
    r = drv_cuGraphKernelNodeGetAttribute(from, id, value);
    if (r == CU_SUCCESS) r = drv_cuGraphKernelNodeSetAttribute(to, id, value);
  }
  return r;
}

/* ---- CUDA_KERNEL_NODE_PARAMS_v1: without a kernel and a context ------------------------------ */

enum { FIRST_BYTES = offsetof(cu_kernel_node, kernel) };

static cu_kernel_node widen(const cu_kernel_node *p) {
  cu_kernel_node k = {0};
  memcpy(&k, p, FIRST_BYTES);
  return k;
}

cu_result drv_cuGraphAddKernelNode(cu_node *node, cu_graph graph, cu_node *after, size_t n,
                                   const cu_kernel_node *p) {
  if (!p) return CU_INVALID_VALUE;
  const cu_kernel_node k = widen(p);
  return drv_cuGraphAddKernelNode_v2(node, graph, after, n, &k);
}
cu_result drv_cuGraphKernelNodeGetParams(cu_node node, cu_kernel_node *p) {
  cu_kernel_node k;
  cu_result r = p ? drv_cuGraphKernelNodeGetParams_v2(node, &k) : CU_INVALID_VALUE;
  if (r == CU_SUCCESS) memcpy(p, &k, FIRST_BYTES);
  return r;
}
cu_result drv_cuGraphKernelNodeSetParams(cu_node node, const cu_kernel_node *p) {
  if (!p) return CU_INVALID_VALUE;
  const cu_kernel_node k = widen(p);
  return drv_cuGraphKernelNodeSetParams_v2(node, &k);
}
cu_result drv_cuGraphExecKernelNodeSetParams(cu_graph_exec exec, cu_node node, const cu_kernel_node *p) {
  if (!p) return CU_INVALID_VALUE;
  const cu_kernel_node k = widen(p);
  return drv_cuGraphExecKernelNodeSetParams_v2(exec, node, &k);
}
