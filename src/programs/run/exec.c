/* Executable graphs. The kernels of a graph stay the program's own: it is captured into, cloned, put into
 * other graphs and made executable several times, also by calls that heddle does not know. In an executable
 * graph that was just made, nodes get rewritten kernels with states that no other node has, of whatever
 * executable graph. One executable graph runs once at a time, and a launch leaves the states as it found
 * them. */
#include <stdlib.h>

#include "run/watch.h"

enum { MOST_DEPTH = 16 }; /* of graphs in graphs */

struct run_exec {
  run_exec *next;
  cu_graph_exec handle;
  cu_graph graph; /* that it was made of */
  cu_node node;   /* that is being given a kernel */
  HD_VEC(struct exec_state {
    run_place *place;
    uint64_t state;
    cu_node node; /* that has it: one for each kernel that it had */
  })
  states;
};

static run_exec *execs; /* under run_lock */

static run_exec *find(cu_graph_exec handle) {
  run_exec *e = execs;
  while (e && e->handle != handle) e = e->next;
  return e;
}

/* Its last launch may not be over. */
static void drop(cu_graph_exec handle) {
  run_exec **at = &execs;
  while (*at && (*at)->handle != handle) at = &(*at)->next;
  run_exec *e = *at;
  if (!e) return;
  *at = e->next;
  for (size_t k = 0; k < e->states.n; k++)
    run_place_take_back(e->states.data[k].place, e->states.data[k].state, false);
  hd_vec_free(&e->states);
  free(e);
}

static run_exec *add(cu_graph_exec handle, cu_graph graph) {
  run_exec *e = calloc(1, sizeof *e);
  if (!e) return NULL;
  e->handle = handle;
  e->graph = graph;
  e->next = execs;
  return execs = e;
}

void run_exec_forget(const run_place *p) {
  for (run_exec *e = execs; e; e = e->next)
    for (size_t k = e->states.n; k-- > 0;)
      if (e->states.data[k].place == p) e->states.data[k] = e->states.data[--e->states.n];
}

uint64_t run_exec_state(run_exec *e, run_place *p) {
  for (size_t k = 0; k < e->states.n; k++)
    if (e->states.data[k].place == p && e->states.data[k].node == e->node) return e->states.data[k].state;
  const struct exec_state fresh = {p, run_place_lend(p), e->node};
  if (!fresh.state) return 0;
  if (hd_vec_push(&e->states, fresh)) return fresh.state;
  run_place_take_back(p, fresh.state, true);
  return 0;
}

run_exec *run_exec_open(cu_graph_exec exec, cu_node node) {
  if (!run_any_states() || !exec) return NULL;
  pthread_mutex_lock(&run_lock);
  run_exec *e = find(exec);
  if (!e) e = add(exec, NULL);
  if (e)
    e->node = node;
  else
    pthread_mutex_unlock(&run_lock);
  return e;
}

void run_exec_close(run_exec *e) {
  if (e) pthread_mutex_unlock(&run_lock);
}

/* ---- All nodes of a graph ---------------------------------------------------------------------- */

/* Kernels that are launched together, or in clusters, or changed by other kernels, stay. */
static bool is_plain(cu_node node) {
  static const struct {
    int id;
    uint32_t most[3];
  } plain[] = {{CU_LAUNCH_COOPERATIVE, {0, UINT32_MAX, UINT32_MAX}},
               {CU_LAUNCH_CLUSTER_DIMENSION, {1, 1, 1}},
               {CU_LAUNCH_PREFERRED_CLUSTER, {1, 1, 1}},
               {CU_LAUNCH_UPDATABLE_NODE, {0, UINT32_MAX, UINT32_MAX}}};
  for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) {
    uint32_t value[16] = {0};
    if (run_real.cuGraphKernelNodeGetAttribute(node, plain[k].id, value) != CU_SUCCESS) continue;
    for (int i = 0; i < 3; i++)
      if (value[i] > plain[k].most[i]) return false;
  }
  return true;
}

static bool give_kernel(run_exec *e, cu_node node, bool guarded) {
  run_replacement r;
  cu_kernel_node was, own;
  if (run_real.cuGraphKernelNodeGetParams_v2(node, &was) != CU_SUCCESS || !is_plain(node)) return false;
  const cu_function function = was.function ? was.function : was.kernel;
  was.context = NULL; /* the current one, as is seen below */
  e->node = node;
  const run_variant *v = run_node_choose(&was, e, guarded, &own, &r);
  const run_place *p = v ? run_place_behind(own.function) : NULL;
  const bool given = p && (p->original == function || p->original_kernel == function) &&
                     run_real.cuGraphExecKernelNodeSetParams_v2(e->handle, node, &own) == CU_SUCCESS;
  if (given && !guarded) atomic_fetch_add(&v->kernel->nodes, 1);
  return given;
}

/* The bodies of conditional nodes stay as they are: the driver does not name them. */
static void give_kernels(run_exec *e, cu_graph graph, int depth) {
  const run_driver *d = &run_real;
  size_t n = 0;
  if (depth == MOST_DEPTH || d->cuGraphGetNodes(graph, NULL, &n) != CU_SUCCESS || !n) return;
  cu_node *nodes = calloc(n, sizeof *nodes);
  cu_graph child;
  if (nodes && d->cuGraphGetNodes(graph, nodes, &n) != CU_SUCCESS) n = 0;
  for (size_t k = 0; nodes && k < n; k++) {
    int type = -1;
    if (d->cuGraphNodeGetType(nodes[k], &type) != CU_SUCCESS) continue;
    if (type == CU_NODE_KERNEL) give_kernel(e, nodes[k], false);
    if (type == CU_NODE_GRAPH && d->cuGraphChildGraphNodeGetGraph(nodes[k], &child) == CU_SUCCESS)
      give_kernels(e, child, depth + 1);
  }
  free(nodes);
}

static bool are_nodes_known(void) {
  const run_driver *d = &run_real;
  return d->cuGraphGetNodes && d->cuGraphNodeGetType && d->cuGraphChildGraphNodeGetGraph &&
         d->cuGraphKernelNodeGetAttribute && d->cuGraphKernelNodeGetParams_v2 &&
         d->cuGraphExecKernelNodeSetParams_v2;
}

static bool is_able(void) { return run_any_states() && are_nodes_known(); }

/* ---- Plans on probation ------------------------------------------------------------------------ */

typedef struct nodes {
  cu_node *all; /* NULL: it is not known what it does, it cannot be there twice, or no plan is on probation */
  size_t n;
  run_variant *first; /* of those on probation */
  bool several;       /* there are others */
} nodes;

/* Graphs of other nodes may own memory, call the host, or hold graphs: they are not made twice. */
static bool look_at(cu_node node, nodes *out) {
  int type = -1;
  cu_kernel_node p;
  if (run_real.cuGraphNodeGetType(node, &type) != CU_SUCCESS) return false;
  if (type != CU_NODE_KERNEL) return type == CU_NODE_COPY || type == CU_NODE_SET || type == CU_NODE_EMPTY;
  if (run_real.cuGraphKernelNodeGetParams_v2(node, &p) != CU_SUCCESS) return false;
  run_variant *v = run_node_guarded(&p);
  out->several = out->several || (v && out->first && v != out->first);
  if (!out->first) out->first = v;
  return true;
}

static nodes nodes_of(cu_graph graph) {
  nodes out = {0};
  if (run_real.cuGraphGetNodes(graph, NULL, &out.n) != CU_SUCCESS || !out.n) return out;
  out.all = calloc(out.n, sizeof *out.all);
  bool known = out.all && run_real.cuGraphGetNodes(graph, out.all, &out.n) == CU_SUCCESS;
  for (size_t k = 0; known && k < out.n; k++) known = look_at(out.all[k], &out);
  if (known && out.first) return out;
  free(out.all);
  out.all = NULL;
  return out;
}

static void end(cu_graph_exec other) {
  if (!other) return;
  drop(other);
  run_real.cuGraphExecDestroy(other);
}

/* A second executable graph, with the plans. Under run_lock. */
static void make_pair(cu_graph_exec own, cu_graph graph, uint64_t flags) {
  cu_graph_exec other;
  unsigned given = 0;
  if (!run_live_any() || run_pairs_are_full() || !are_nodes_known() ||
      !run_real.cuGraphInstantiateWithFlags || !run_real.cuGraphExecDestroy || !run_real.cuStreamWaitEvent ||
      !run_real.cuEventCreate || !run_real.cuEventDestroy_v2)
    return;
  const nodes of = nodes_of(graph);
  const int mode = run_captures_relax();
  if (of.all && run_real.cuGraphInstantiateWithFlags(&other, graph, flags) == CU_SUCCESS) {
    run_exec *e = add(other, graph);
    for (size_t k = 0; e && k < of.n; k++) {
      int type = -1;
      if (run_real.cuGraphNodeGetType(of.all[k], &type) == CU_SUCCESS && type == CU_NODE_KERNEL)
        given += give_kernel(e, of.all[k], true);
    }
    if (!given || !run_pair_make(own, other, of.first, of.several)) end(other);
  }
  run_captures_restore(mode);
  free(of.all);
}

/* ---- Entry points ------------------------------------------------------------------------------ */

static int made(int r, const cu_graph_exec *exec, cu_graph graph, uint64_t flags) {
  if (r != CU_SUCCESS || flags & CU_INSTANTIATE_DEVICE_LAUNCH)
    return r; /* other kernels launch it, as it was uploaded */
  pthread_mutex_lock(&run_lock);
  drop(*exec); /* one that was destroyed unseen */
  end(run_pair_gone(*exec));
  run_exec *e = is_able() ? add(*exec, graph) : NULL;
  if (e) give_kernels(e, graph, 0);
  if (!(flags & ~(uint64_t)CU_INSTANTIATE_NODE_PRIORITY)) make_pair(*exec, graph, flags);
  pthread_mutex_unlock(&run_lock);
  return r;
}

/* Its nodes have the graph's kernels now. Only those of the graph that it was made of name them. */
static int updated(int r, cu_graph_exec exec, cu_graph graph) {
  run_pair_changed(exec);
  if (r != CU_SUCCESS || !is_able()) return r;
  pthread_mutex_lock(&run_lock);
  run_exec *e = find(exec);
  if (e && e->graph == graph) give_kernels(e, graph, 0);
  pthread_mutex_unlock(&run_lock);
  return r;
}

int run_cuGraphInstantiate(cu_graph_exec *exec, cu_graph graph, cu_node *node, char *log, size_t bytes) {
  return made(run_real.cuGraphInstantiate(exec, graph, node, log, bytes), exec, graph, 0);
}
int run_cuGraphInstantiate_v2(cu_graph_exec *exec, cu_graph graph, cu_node *node, char *log, size_t bytes) {
  return made(run_real.cuGraphInstantiate_v2(exec, graph, node, log, bytes), exec, graph, 0);
}
int run_cuGraphInstantiateWithFlags(cu_graph_exec *exec, cu_graph graph, unsigned long long flags) {
  return made(run_real.cuGraphInstantiateWithFlags(exec, graph, flags), exec, graph, flags);
}
int run_cuGraphInstantiateWithParams(cu_graph_exec *exec, cu_graph graph, cu_instantiate *params) {
  return made(run_real.cuGraphInstantiateWithParams(exec, graph, params), exec, graph,
              params ? params->flags : 0);
}
int run_cuGraphInstantiateWithParams_ptsz(cu_graph_exec *exec, cu_graph graph, cu_instantiate *params) {
  return made(run_real.cuGraphInstantiateWithParams_ptsz(exec, graph, params), exec, graph,
              params ? params->flags : 0);
}

int run_cuGraphExecUpdate(cu_graph_exec exec, cu_graph graph, cu_node *node, int *result) {
  return updated(run_real.cuGraphExecUpdate(exec, graph, node, result), exec, graph);
}
int run_cuGraphExecUpdate_v2(cu_graph_exec exec, cu_graph graph, cu_update_info *result) {
  return updated(run_real.cuGraphExecUpdate_v2(exec, graph, result), exec, graph);
}

int run_cuGraphExecDestroy(cu_graph_exec exec) {
  pthread_mutex_lock(&run_lock);
  drop(exec);
  end(run_pair_gone(exec));
  pthread_mutex_unlock(&run_lock);
  return run_real.cuGraphExecDestroy(exec);
}
