/* One graph of the driver that does nothing: its nodes are kernels, and executable graphs keep what the words
 * of their parameters were when they were made. */
#include <string.h>

#include "fake.h"

#define EXPORT __attribute__((visibility("default")))
enum { NODES = 4, EXECS = 4096, WORDS = 8, FAILED = 2 };

typedef struct words {
  cu_function function;
  uint64_t word[WORDS];
} words;

static struct cu_node_ {
  words now;
  void *params[WORDS];
} nodes[NODES];
static unsigned n_nodes, n_execs, gone;
static struct cu_graph_exec_ { words of[NODES]; } execs[EXECS];

static int set(words *w, const cu_kernel_node *p) {
  const unsigned n = fake_params(p->function);
  const int r = fake_call();
  if (r || n > WORDS) return r ? r : FAILED;
  *w = (words){.function = p->function};
  for (unsigned k = 0; k < n; k++) memcpy(&w->word[k], p->params[k], sizeof w->word[k]);
  return 0;
}

static int make(cu_graph_exec *exec) {
  const int r = fake_call();
  if (r || n_execs == EXECS) return r ? r : FAILED;
  cu_graph_exec e = &execs[n_execs++];
  for (unsigned k = 0; k < n_nodes; k++) e->of[k] = nodes[k].now;
  *exec = e;
  return 0;
}

static unsigned index_of(cu_node node) { return (unsigned)(node - nodes); }

EXPORT cu_function fake_node_function(cu_node node) { return nodes[index_of(node)].now.function; }
EXPORT cu_function fake_exec_function(cu_graph_exec exec, cu_node node) {
  return exec->of[index_of(node)].function;
}
EXPORT uint64_t fake_exec_word(cu_graph_exec exec, cu_node node, unsigned word) {
  return exec->of[index_of(node)].word[word];
}

EXPORT int fake_add_node(cu_node *node, const cu_kernel_node *p) {
  if (n_nodes == NODES) return FAILED;
  const int r = set(&nodes[n_nodes].now, p);
  if (!r) *node = &nodes[n_nodes++];
  return r;
}

EXPORT int cuGraphGetNodes(cu_graph graph, cu_node *out, size_t *n) {
  for (unsigned k = 0; out && k < n_nodes; k++) out[k] = &nodes[k];
  *n = n_nodes;
  return fake_call();
}

EXPORT int cuGraphNodeGetType(cu_node node, int *type) {
  *type = CU_NODE_KERNEL;
  return fake_call();
}

EXPORT int cuGraphKernelNodeGetParams_v2(cu_node node, cu_kernel_node *p) {
  cu_node n = node;
  const int r = fake_call();
  if (r) return r;
  for (unsigned k = 0; k < WORDS; k++) n->params[k] = &n->now.word[k];
  *p = (cu_kernel_node){
      .function = n->now.function, .grid = {8, 1, 1}, .block = {1, 1, 1}, .params = n->params};
  return 0;
}

EXPORT int cuGraphKernelNodeSetParams_v2(cu_node node, const cu_kernel_node *p) { return set(&node->now, p); }

EXPORT int cuGraphExecKernelNodeSetParams_v2(cu_graph_exec exec, cu_node node, const cu_kernel_node *p) {
  return set(&exec->of[index_of(node)], p);
}

EXPORT int cuGraphInstantiateWithFlags(cu_graph_exec *exec, cu_graph graph, unsigned long long flags) {
  return make(exec);
}

/* Executable graphs are of one graph, which runs once at a time: one that is launched in another stream than
 * the one before it waits for that. */
static struct {
  cu_graph_exec exec;
  cu_stream stream, waiting;
  bool waits;
} before;
static unsigned long overlaps;
EXPORT unsigned long fake_overlaps(void) { return overlaps; }
EXPORT cu_graph_exec fake_launched_exec(void) { return before.exec; }
EXPORT unsigned long fake_execs(void) { return n_execs - gone; }
void fake_waits_in(cu_stream stream) {
  before.waiting = stream;
  before.waits = true;
}

EXPORT int cuGraphLaunch(cu_graph_exec exec, cu_stream stream) {
  const int r = fake_call();
  if (r) return r;
  const bool waits = before.waits && before.waiting == stream;
  overlaps += before.exec && before.exec != exec && before.stream != stream && !waits;
  before.exec = exec;
  before.stream = stream;
  before.waits = false;
  for (unsigned k = 0; k < n_nodes; k++) {
    void *params[WORDS];
    for (unsigned i = 0; i < WORDS; i++) params[i] = &exec->of[k].word[i];
    fake_run(exec->of[k].function, params, stream);
  }
  return 0;
}

EXPORT int cuGraphExecDestroy(cu_graph_exec exec) {
  gone++;
  return fake_call();
}

EXPORT int cuGraphExecUpdate_v2(cu_graph_exec exec, cu_graph graph, cu_update_info *result) {
  const int r = fake_call();
  for (unsigned k = 0; !r && k < n_nodes; k++) exec->of[k] = nodes[k].now;
  return r;
}
