/* One graph of the driver that does nothing: its nodes are kernels, and executable graphs keep what the words
 * of their parameters were when they were made. */
#include <string.h>

#include "fake.h"

#define EXPORT __attribute__((visibility("default")))
enum { NODES = 4, EXECS = 4096, WORDS = 8, FAILED = 2 };

typedef struct words {
  run_handle function;
  uint64_t word[WORDS];
} words;

static struct node {
  words now;
  void *params[WORDS];
} nodes[NODES];
static unsigned n_nodes, n_execs;
static struct exec { words of[NODES]; } execs[EXECS];

static int set(words *w, const run_node *p) {
  const unsigned n = fake_params(p->function);
  const int r = fake_call();
  if (r || n > WORDS) return r ? r : FAILED;
  *w = (words){.function = p->function};
  for (unsigned k = 0; k < n; k++) memcpy(&w->word[k], p->params[k], sizeof w->word[k]);
  return 0;
}

static int make(run_handle *exec) {
  const int r = fake_call();
  if (r || n_execs == EXECS) return r ? r : FAILED;
  struct exec *e = &execs[n_execs++];
  for (unsigned k = 0; k < n_nodes; k++) e->of[k] = nodes[k].now;
  *exec = e;
  return 0;
}

static unsigned index_of(run_handle node) { return (unsigned)((struct node *)node - nodes); }

EXPORT run_handle fake_node_function(run_handle node) { return nodes[index_of(node)].now.function; }
EXPORT run_handle fake_exec_function(run_handle exec, run_handle node) {
  return ((struct exec *)exec)->of[index_of(node)].function;
}
EXPORT uint64_t fake_exec_word(run_handle exec, run_handle node, unsigned word) {
  return ((struct exec *)exec)->of[index_of(node)].word[word];
}

EXPORT int fake_add_node(run_handle *node, const run_node *p) {
  if (n_nodes == NODES) return FAILED;
  const int r = set(&nodes[n_nodes].now, p);
  if (!r) *node = &nodes[n_nodes++];
  return r;
}

EXPORT int cuGraphGetNodes(run_handle graph, run_handle *out, size_t *n) {
  for (unsigned k = 0; out && k < n_nodes; k++) out[k] = &nodes[k];
  *n = n_nodes;
  return fake_call();
}

EXPORT int cuGraphNodeGetType(run_handle node, int *type) {
  *type = RUN_KERNEL_NODE;
  return fake_call();
}

EXPORT int cuGraphKernelNodeGetParams_v2(run_handle node, run_node *p) {
  struct node *n = node;
  const int r = fake_call();
  if (r) return r;
  for (unsigned k = 0; k < WORDS; k++) n->params[k] = &n->now.word[k];
  *p = (run_node){.function = n->now.function, .grid = {8, 1, 1}, .block = {1, 1, 1}, .params = n->params};
  return 0;
}

EXPORT int cuGraphKernelNodeSetParams_v2(run_handle node, const run_node *p) {
  return set(&((struct node *)node)->now, p);
}

EXPORT int cuGraphExecKernelNodeSetParams_v2(run_handle exec, run_handle node, const run_node *p) {
  return set(&((struct exec *)exec)->of[index_of(node)], p);
}

EXPORT int cuGraphInstantiateWithFlags(run_handle *exec, run_handle graph, uint64_t flags) {
  return make(exec);
}

EXPORT int cuGraphExecUpdate_v2(run_handle exec, run_handle graph, void *result) {
  const int r = fake_call();
  for (unsigned k = 0; !r && k < n_nodes; k++) ((struct exec *)exec)->of[k] = nodes[k].now;
  return r;
}
