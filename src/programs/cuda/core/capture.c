/* Captures: streams whose operations become the nodes of a graph. */
#include <stdlib.h>

#include "cuda/core/capture.h"

static void leave(core_stream *s) {
  s->capture = NULL;
  hd_vec_free(&s->behind);
}

cu_result core_capture_begin(core_stream *s, cu_capture_mode mode, core_graph *into) {
  if (s->capture || s == s->context->legacy) return s->capture ? CU_ILLEGAL_STATE : CU_CAPTURE_UNSUPPORTED;
  core_capture *c = calloc(1, sizeof *c);
  if (!c) return CU_OUT_OF_MEMORY;
  *c = (core_capture){.graph = into,
                      .origin = s,
                      .mode = mode,
                      .thread = core_thread(),
                      .id = ++core.next_id,
                      .given = into != NULL};
  cu_result r = into ? CU_SUCCESS : core_graph_create(&c->graph);
  if (r == CU_SUCCESS)
    s->capture = c;
  else
    free(c);
  return r;
}

/* Note all nodes that precede these, and these themselves: a flag a node, by its index. */
static bool note_ancestors(const core_nodes *nodes, bool *seen) {
  core_nodes todo = {0};
  bool ok = true;
  for (size_t k = 0; ok && k < nodes->n; k++) ok = hd_vec_push(&todo, nodes->data[k]);
  while (ok && todo.n) {
    const core_node *n = todo.data[--todo.n];
    if (seen[n->index]) continue;
    seen[n->index] = true;
    for (size_t k = 0; ok && k < n->after.n; k++) ok = hd_vec_push(&todo, n->after.data[k]);
  }
  hd_vec_free(&todo);
  return ok;
}

/* Whether a stream that joined the capture was joined back: its last nodes precede the origin's last ones. */
static bool joined(const core_stream *s, const bool *seen) {
  for (size_t k = 0; k < s->behind.n; k++)
    if (!seen[s->behind.data[k]->index]) return false;
  return true;
}

/* All streams of a capture leave it. CU_CAPTURE_UNJOINED: one of them was not joined back. */
static cu_result leave_all(core_stream *origin) {
  const core_capture *c = origin->capture;
  bool *seen = calloc(c->graph->nodes.n + 1, sizeof *seen);
  cu_result r = seen && note_ancestors(&origin->behind, seen) ? CU_SUCCESS : CU_OUT_OF_MEMORY;
  for (size_t k = 0; k < origin->context->streams.n; k++) {
    core_stream *s = origin->context->streams.data[k];
    if (s == origin || s->capture != c) continue;
    if (r == CU_SUCCESS && !joined(s, seen)) r = CU_CAPTURE_UNJOINED;
    leave(s);
  }
  leave(origin);
  free(seen);
  return r;
}

cu_result core_capture_end(core_stream *s, core_graph **out) {
  core_capture *c = s->capture;
  *out = NULL;
  if (!c) return CU_ILLEGAL_STATE;
  if (c->origin != s) return CU_CAPTURE_UNMATCHED;
  const bool other = c->mode != CU_CAPTURE_MODE_RELAXED && c->thread != core_thread();
  cu_result r = leave_all(s);
  if (other || c->invalid) r = other ? CU_CAPTURE_WRONG_THREAD : CU_CAPTURE_INVALIDATED;
  if (r == CU_SUCCESS)
    *out = c->graph;
  else if (!c->given)
    core_graph_destroy(c->graph);
  c->graph = NULL; /* events may still name the capture */
  return r;
}

/* A node behind those that the stream has reached. */
static cu_result add_node(core_stream *s, cu_node_type type, core_work *w, core_event *e) {
  core_node *n;
  cu_result r = core_graph_add(s->capture->graph, type, w, s->behind.data, s->behind.n, &n);
  if (r != CU_SUCCESS) return r;
  n->event = e;
  s->behind.n = 0;
  return hd_vec_push(&s->behind, n) ? CU_SUCCESS : CU_OUT_OF_MEMORY;
}

cu_result core_capture_add(core_stream *s, cu_node_type type, core_work *w) {
  if (s->capture->invalid) {
    core_work_release(w);
    return CU_CAPTURE_INVALIDATED;
  }
  /* Records need no node: only their place among the others matters. */
  if (type == CU_NODE_EMPTY || type == CU_NODE_RECORD) {
    core_work_release(w);
    return CU_SUCCESS;
  }
  return add_node(s, type, w, NULL);
}

cu_result core_capture_add_event(core_stream *s, cu_node_type type, core_event *e) {
  return s->capture->invalid ? CU_CAPTURE_INVALIDATED : add_node(s, type, NULL, e);
}

cu_result core_capture_follow(core_stream *s, core_node *const *nodes, size_t n) {
  for (size_t k = 0; k < n; k++) {
    bool have = false;
    for (size_t i = 0; i < s->behind.n; i++) have |= s->behind.data[i] == nodes[k];
    if (!have && !hd_vec_push(&s->behind, nodes[k])) return CU_OUT_OF_MEMORY;
  }
  return CU_SUCCESS;
}

cu_result core_capture_join(core_stream *s, core_capture *c, const core_nodes *nodes) {
  if (!c->graph || c->invalid) return CU_CAPTURED_EVENT;
  if (s == s->context->legacy || (s->capture && s->capture != c)) {
    c->invalid = true;
    if (s->capture) s->capture->invalid = true;
    return s->capture ? CU_CAPTURE_MERGE : CU_CAPTURE_IMPLICIT;
  }
  s->capture = c;
  return core_capture_follow(s, nodes->data, nodes->n);
}

cu_result core_capture_isolation(core_stream *s) {
  s->capture->invalid = true;
  return CU_CAPTURE_ISOLATION;
}

cu_result core_capture_refuse(core_stream *s) {
  s->capture->invalid = true;
  return CU_CAPTURE_UNSUPPORTED;
}

/* ---- What captures forbid -------------------------------------------------------------------------------
 */

cu_capture_mode *core_capture_thread_mode(void) {
  static _Thread_local cu_capture_mode mine;
  return &mine;
}

/* Whether the calling thread's unsafe calls conflict with this capture. */
static bool forbids(const core_capture *c) {
  const cu_capture_mode mine = *core_capture_thread_mode();
  if (mine == CU_CAPTURE_MODE_RELAXED) return false;
  if (c->thread == core_thread()) return c->mode != CU_CAPTURE_MODE_RELAXED;
  return mine == CU_CAPTURE_MODE_GLOBAL && c->mode == CU_CAPTURE_MODE_GLOBAL;
}

static bool meets_any(const core_stream *s) { return s != NULL; }
static bool meets_unsafe(const core_stream *s) { return forbids(s->capture); }
static bool meets_blocking(const core_stream *s) { return !(s->flags & CU_STREAM_NON_BLOCKING); }

/* Lose the context's captures that a call meets; `refusal` where there are any. */
static cu_result lose(const core_context *c, bool (*meets)(const core_stream *s), cu_result refusal) {
  cu_result r = CU_SUCCESS;
  for (size_t k = 0; k < c->streams.n; k++) {
    const core_stream *s = c->streams.data[k];
    if (!s->capture || !meets(s)) continue;
    r = refusal;
    s->capture->invalid = true;
  }
  return r;
}

bool core_capture_blocking(const core_context *c) {
  bool any = false;
  for (size_t k = 0; k < c->streams.n; k++)
    any |= c->streams.data[k]->capture && meets_blocking(c->streams.data[k]);
  return any;
}

cu_result core_capture_implicit(const core_context *c) {
  return lose(c, meets_blocking, CU_CAPTURE_IMPLICIT);
}
cu_result core_capture_context(const core_context *c) { return lose(c, meets_any, CU_CAPTURE_UNSUPPORTED); }

cu_result core_capture_unsafe(void) {
  cu_result r = CU_SUCCESS;
  for (size_t k = 0; k < core.contexts.n; k++) {
    const cu_result here = lose(core.contexts.data[k], meets_unsafe, CU_CAPTURE_UNSUPPORTED);
    if (here != CU_SUCCESS) r = here;
  }
  return r;
}

cu_result core_capture_stream(core_capture_rule rule, core_stream *s) {
  const bool legacy = s == s->context->legacy;
  switch (rule) {
  case CORE_CAPTURE_BATCH:
    if (s->capture) return CU_CAPTURE_UNSUPPORTED;
    break;
  case CORE_CAPTURE_OUTSIDE:
  case CORE_CAPTURE_WAITS:
    if (s->capture) return core_capture_refuse(s);
    break;
  case CORE_CAPTURE_POOL:
    if (s->capture) return CU_SUCCESS;
    break;
  case CORE_CAPTURE_FREE:
  case CORE_CAPTURE_RECORDED:
  case CORE_CAPTURE_DEFAULT:
  case CORE_CAPTURE_EVENT:
  case CORE_CAPTURE_CONTEXT:
  case CORE_CAPTURE_UNSAFE:
  case CORE_CAPTURE_CHECKED: return CU_SUCCESS;
  }
  const cu_result r = legacy ? core_capture_implicit(s->context) : CU_SUCCESS;
  return r == CU_SUCCESS && (rule == CORE_CAPTURE_WAITS || rule == CORE_CAPTURE_POOL) ? core_capture_unsafe()
                                                                                      : r;
}

cu_result core_capture_event(const core_event *e) {
  if (!e->capture) return core_capture_unsafe();
  e->capture->invalid = true;
  return CU_CAPTURED_EVENT;
}

cu_result core_capture_permits(core_capture_rule rule, bool own_default) {
  const core_context *c = core_current();
  switch (rule) {
  case CORE_CAPTURE_FREE:
  case CORE_CAPTURE_RECORDED:
  case CORE_CAPTURE_OUTSIDE:
  case CORE_CAPTURE_BATCH:
  case CORE_CAPTURE_WAITS:
  case CORE_CAPTURE_POOL:
  case CORE_CAPTURE_CONTEXT:
  case CORE_CAPTURE_CHECKED:
  case CORE_CAPTURE_EVENT: break;
  case CORE_CAPTURE_DEFAULT: return c && !own_default ? core_capture_implicit(c) : CU_SUCCESS;
  case CORE_CAPTURE_UNSAFE: return core_capture_unsafe();
  }
  return CU_SUCCESS;
}
