/* Graphs: their nodes and edges, and their executable forms. */
#include <stdlib.h>

#include "cuda/core/core.h"

/* ---- Graphs ---------------------------------------------------------------------------------- */

cu_result core_graph_create(core_graph **out) {
  core_graph *g = calloc(1, sizeof *g);
  if (!g) return CU_OUT_OF_MEMORY;
  g->kind = CORE_GRAPH;
  *out = g;
  return CU_SUCCESS;
}

/* Freed nodes stay allocated, so that a stale handle is recognised. */
static void end_node(core_node *n) {
  core_work_release(n->work);
  n->work = NULL;
  if (n->child) core_graph_destroy(n->child);
  n->child = NULL;
  hd_vec_free(&n->after);
  free(n->attributes);
  n->attributes = NULL;
  n->kind = CORE_DEAD;
}

void core_user_object_release(core_user_object *o) {
  if (--o->refs) return;
  o->kind = CORE_DEAD;
  o->destroy(o->data);
}

void core_graph_destroy(core_graph *g) {
  for (size_t k = 0; k < g->nodes.n; k++) end_node(g->nodes.data[k]);
  for (size_t k = 0; k < g->objects.n; k++) core_user_object_release(g->objects.data[k]);
  hd_vec_free(&g->objects);
  hd_vec_free(&g->nodes);
  g->kind = CORE_DEAD;
}

bool core_node_depends(const core_node *n, const core_node *on) {
  for (size_t k = 0; k < n->after.n; k++)
    if (n->after.data[k] == on) return true;
  return false;
}

bool core_node_depend(core_node *n, core_node *on) {
  return core_node_depends(n, on) || hd_vec_push(&n->after, on);
}

cu_result core_graph_add(core_graph *g, cu_node_type type, core_work *w, core_node *const *after, size_t n,
                         core_node **out) {
  core_node *node = calloc(1, sizeof *node);
  bool ok = node != NULL;
  for (size_t k = 0; ok && k < n; k++) ok = core_node_depend(node, after[k]);
  if (!ok || !hd_vec_push(&g->nodes, node)) {
    if (node) hd_vec_free(&node->after);
    free(node);
    core_work_release(w);
    return CU_OUT_OF_MEMORY;
  }
  node->kind = CORE_NODE;
  node->graph = g;
  node->type = type;
  node->work = w;
  node->index = (uint32_t)g->nodes.n - 1;
  if (out) *out = node;
  return CU_SUCCESS;
}

bool core_node_undepend(core_node *n, const core_node *on) {
  for (size_t k = 0; k < n->after.n; k++)
    if (n->after.data[k] == on) {
      n->after.data[k] = n->after.data[--n->after.n];
      return true;
    }
  return false;
}

void core_node_remove(core_node *n) {
  core_graph *g = n->graph;
  for (size_t k = 0; k < g->nodes.n; k++) core_node_undepend(g->nodes.data[k], n);
  for (size_t k = n->index; k + 1 < g->nodes.n; k++) {
    g->nodes.data[k] = g->nodes.data[k + 1];
    g->nodes.data[k]->index = (uint32_t)k;
  }
  g->nodes.n--;
  end_node(n);
}

cu_result core_graph_clone(const core_graph *g, core_graph **out) {
  cu_result r = core_graph_create(out);
  for (size_t k = 0; r == CU_SUCCESS && k < g->nodes.n; k++) {
    const core_node *n = g->nodes.data[k];
    core_node *copy;
    if (n->work) n->work->refs++;
    r = core_graph_add(*out, n->type, n->work, NULL, 0, &copy);
    if (r == CU_SUCCESS) {
      copy->event = n->event;
      copy->original = n;
    }
    if (r == CU_SUCCESS && n->child) r = core_graph_clone(n->child, &copy->child);
  }
  for (size_t k = 0; r == CU_SUCCESS && k < g->nodes.n; k++)
    for (size_t i = 0; r == CU_SUCCESS && i < g->nodes.data[k]->after.n; i++)
      if (!core_node_depend((*out)->nodes.data[k],
                            (*out)->nodes.data[g->nodes.data[k]->after.data[i]->index]))
        r = CU_OUT_OF_MEMORY;
  return r;
}

/* ---- Executable graphs ------------------------------------------------------------------------- */

void core_graph_exec_release(core_graph_exec *e) {
  if (!e || --e->refs) return;
  for (size_t k = 0; k < e->n; k++) {
    core_work_release(e->steps[k].work);
    core_graph_exec_release(e->steps[k].child);
    free(e->steps[k].after);
  }
  for (size_t k = 0; k < e->objects.n; k++) core_user_object_release(e->objects.data[k]);
  hd_vec_free(&e->objects);
  core_op_release(e->last);
  e->last = NULL;
  free(e->steps);
  e->kind = CORE_DEAD;
}

static cu_result make_step(const core_node *n, struct core_step *s) {
  *s = (struct core_step){.work = n->work, .type = n->type, .event = n->event, .node = n};
  if (n->work) n->work->refs++;
  s->after = calloc(n->after.n + 1, sizeof *s->after);
  if (!s->after) return CU_OUT_OF_MEMORY;
  for (size_t k = 0; k < n->after.n; k++) s->after[s->n_after++] = n->after.data[k]->index;
  return n->child ? core_graph_instantiate(n->child, 0, &s->child) : CU_SUCCESS;
}

/* Whether the edges allow an order. Each round takes the steps whose predecessors are done. */
static bool has_order(const core_graph_exec *e, bool *done) {
  size_t left = e->n;
  for (bool progress = true; left && progress;) {
    progress = false;
    for (size_t k = 0; k < e->n; k++) {
      bool ready = !done[k];
      for (uint32_t i = 0; ready && i < e->steps[k].n_after; i++) ready = done[e->steps[k].after[i]];
      if (!ready) continue;
      done[k] = progress = true;
      left--;
    }
  }
  return !left;
}

/* The executable graph keeps the program's objects, too. */
static bool keep_objects(const core_graph *g, core_graph_exec *e) {
  for (size_t k = 0; k < g->objects.n; k++) {
    if (!hd_vec_push(&e->objects, g->objects.data[k])) return false;
    g->objects.data[k]->refs++;
  }
  return true;
}

cu_result core_graph_instantiate(const core_graph *g, uint64_t flags, core_graph_exec **out) {
  core_graph_exec *e = calloc(1, sizeof *e);
  if (!e) return CU_OUT_OF_MEMORY;
  *e = (core_graph_exec){.kind = CORE_GRAPH_EXEC, .refs = 1, .flags = flags};
  e->steps = calloc(g->nodes.n + 1, sizeof *e->steps);
  bool *done = calloc(g->nodes.n + 1, sizeof *done);
  cu_result r = e->steps && done && keep_objects(g, e) ? CU_SUCCESS : CU_OUT_OF_MEMORY;
  for (size_t k = 0; r == CU_SUCCESS && k < g->nodes.n; k++) {
    r = make_step(g->nodes.data[k], &e->steps[k]);
    e->n++;
  }
  if (r == CU_SUCCESS && !has_order(e, done)) r = CU_INVALID_VALUE;
  free(done);
  *out = e;
  if (r == CU_SUCCESS) return CU_SUCCESS;
  core_graph_exec_release(e);
  *out = NULL;
  return r;
}

/* The same nodes, types and edges, in the order in which they were added. *changed becomes a node whose type
 * alone differs. */
static bool same_shape(const core_graph_exec *e, const core_graph *g, core_node **changed) {
  if (e->n != g->nodes.n) return false;
  for (size_t k = 0; k < e->n; k++) {
    core_node *n = g->nodes.data[k];
    const struct core_step *s = &e->steps[k];
    if (s->n_after != n->after.n) return false;
    for (uint32_t i = 0; i < s->n_after; i++)
      if (s->after[i] != n->after.data[i]->index) return false;
    if (s->type != n->type)
      *changed = *changed ? *changed : n;
    else if (s->child && !same_shape(s->child, n->child, changed))
      return false;
  }
  return true;
}

cu_result core_graph_exec_update(core_graph_exec *e, const core_graph *g, core_node **changed) {
  core_node *other = NULL;
  const bool same = same_shape(e, g, &other);
  if (changed) *changed = same ? other : NULL;
  if (!same || other) return CU_GRAPH_EXEC_UPDATE_FAILURE;
  core_wait_all();
  for (size_t k = 0; k < e->n; k++) {
    const core_node *n = g->nodes.data[k];
    if (n->work) n->work->refs++;
    core_work_release(e->steps[k].work);
    e->steps[k].work = n->work;
    e->steps[k].updated = n;
    if (n->child) core_graph_exec_update(e->steps[k].child, n->child, NULL);
  }
  return CU_SUCCESS;
}

struct core_step *core_graph_exec_step(core_graph_exec *e, const core_node *n) {
  for (size_t k = 0; k < e->n; k++) {
    if (e->steps[k].node == n || e->steps[k].updated == n) return &e->steps[k];
    struct core_step *s = e->steps[k].child ? core_graph_exec_step(e->steps[k].child, n) : NULL;
    if (s) return s;
  }
  return NULL;
}
