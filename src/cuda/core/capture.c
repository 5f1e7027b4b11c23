/* Captures: streams whose operations become the nodes of a graph. */
#include <stdlib.h>

#include "cuda/core/core.h"

static void leave(core_stream *s) {
  s->capture = NULL;
  hd_vec_free(&s->behind);
}

cu_result core_capture_begin(core_stream *s, int mode, core_graph *into) {
  if (s->capture || s == s->context->legacy) return s->capture ? CU_ILLEGAL_STATE : CU_CAPTURE_UNSUPPORTED;
  core_capture *c = calloc(1, sizeof *c);
  if (!c) return CU_OUT_OF_MEMORY;
  *c = (core_capture){.graph = into, .origin = s, .mode = mode, .id = ++core.next_id};
  cu_result r = into ? CU_SUCCESS : core_graph_create(&c->graph);
  if (r == CU_SUCCESS)
    s->capture = c;
  else
    free(c);
  return r;
}

/* Whether `to` is `from` or precedes it. */
static bool reaches(const core_node *from, const core_node *to) {
  if (from == to) return true;
  for (size_t k = 0; k < from->after.n; k++)
    if (reaches(from->after.data[k], to)) return true;
  return false;
}

/* Whether a stream that joined the capture was joined back: its last nodes precede the origin's last ones. */
static bool joined(const core_stream *s, const core_stream *origin) {
  for (size_t k = 0; k < s->behind.n; k++) {
    bool found = false;
    for (size_t i = 0; !found && i < origin->behind.n; i++)
      found = reaches(origin->behind.data[i], s->behind.data[k]);
    if (!found) return false;
  }
  return true;
}

cu_result core_capture_end(core_stream *s, core_graph **out) {
  core_capture *c = s->capture;
  *out = NULL;
  if (!c) return CU_ILLEGAL_STATE;
  if (c->origin != s) return CU_CAPTURE_UNMATCHED;
  cu_result r = c->invalid ? CU_CAPTURE_INVALIDATED : CU_SUCCESS;
  for (size_t k = 0; k < s->context->streams.n; k++) {
    core_stream *other = s->context->streams.data[k];
    if (other == s || other->capture != c) continue;
    if (r == CU_SUCCESS && !joined(other, s)) r = CU_CAPTURE_UNJOINED;
    leave(other);
  }
  leave(s);
  if (r == CU_SUCCESS)
    *out = c->graph;
  else
    core_graph_destroy(c->graph);
  c->graph = NULL; /* events may still name the capture */
  return r;
}

cu_result core_capture_add(core_stream *s, core_node_type type, core_work *w) {
  core_node *n;
  core_capture *c = s->capture;
  if (c->invalid) {
    core_work_release(w);
    return CU_CAPTURE_INVALIDATED;
  }
  /* Records need no node: only their place among the others matters. */
  if (type == CORE_NODE_EMPTY || type == CORE_NODE_RECORD) {
    core_work_release(w);
    w = NULL;
    return CU_SUCCESS;
  }
  cu_result r = core_graph_add(c->graph, type, w, s->behind.data, s->behind.n, &n);
  if (r != CU_SUCCESS) return r;
  s->behind.n = 0;
  return hd_vec_push(&s->behind, n) ? CU_SUCCESS : CU_OUT_OF_MEMORY;
}

cu_result core_capture_join(core_stream *s, core_capture *c, const core_nodes *nodes) {
  if (!c->graph || c->invalid) return CU_CAPTURED_EVENT;
  if (s->capture && s->capture != c) return CU_CAPTURE_ISOLATION;
  s->capture = c;
  for (size_t k = 0; k < nodes->n; k++) {
    bool have = false;
    for (size_t i = 0; i < s->behind.n; i++) have |= s->behind.data[i] == nodes->data[k];
    if (!have && !hd_vec_push(&s->behind, nodes->data[k])) return CU_OUT_OF_MEMORY;
  }
  return CU_SUCCESS;
}

cu_result core_capture_refuse(core_stream *s) {
  s->capture->invalid = true;
  return CU_CAPTURE_UNSUPPORTED;
}
