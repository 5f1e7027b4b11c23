/* Captures of streams. */
#include "cuda/driver/driver.h"

static int status_of(const core_stream *s) {
  return !s->capture           ? CU_CAPTURE_STATUS_NONE
         : s->capture->invalid ? CU_CAPTURE_STATUS_INVALID
                               : CU_CAPTURE_STATUS_ACTIVE;
}

/* A question does no harm: the captures that the default stream would wait for go on. */
static cu_result asked(cu_stream stream, core_stream **s) {
  cu_result r = drv_stream(stream, s);
  return r == CU_SUCCESS && *s == (*s)->context->legacy && core_capture_blocking((*s)->context)
             ? CU_CAPTURE_IMPLICIT
             : r;
}

cu_result drv_cuStreamIsCapturing(cu_stream stream, int *status) {
  core_stream *s;
  if (!status) return CU_INVALID_VALUE;
  cu_result r = asked(stream, &s);
  if (r == CU_SUCCESS) *status = status_of(s);
  return r;
}

static bool is_mode(int mode) { return mode >= CU_CAPTURE_MODE_GLOBAL && mode <= CU_CAPTURE_MODE_RELAXED; }

cu_result drv_cuStreamBeginCapture_v2(cu_stream stream, int mode) {
  core_stream *s;
  if (!is_mode(mode)) return CU_INVALID_VALUE;
  cu_result r = drv_stream(stream, &s);
  return r == CU_SUCCESS ? core_capture_begin(s, (cu_capture_mode)mode, NULL) : r;
}
cu_result drv_cuStreamBeginCapture(cu_stream stream) {
  return drv_cuStreamBeginCapture_v2(stream, CU_CAPTURE_MODE_GLOBAL);
}

/* Nodes of the graph that the capture fills. */
static bool are_nodes(const core_graph *g, cu_node *nodes, size_t n) {
  for (size_t k = 0; k < n; k++)
    if (!nodes || !nodes[k] || nodes[k]->kind != CORE_NODE || nodes[k]->graph != g) return false;
  return true;
}

cu_result drv_cuStreamBeginCaptureToGraph(cu_stream stream, cu_graph graph, cu_node *behind,
                                          const void *edges, size_t n, int mode) {
  core_stream *s;
  if (!graph || graph->kind != CORE_GRAPH || !is_mode(mode) || !are_nodes(graph, behind, n))
    return CU_INVALID_VALUE;
  cu_result r = drv_stream(stream, &s);
  if (r == CU_SUCCESS) r = core_capture_begin(s, (cu_capture_mode)mode, graph);
  return r == CU_SUCCESS ? core_capture_follow(s, behind, n) : r;
}

cu_result drv_cuStreamUpdateCaptureDependencies_v2(cu_stream stream, cu_node *behind, const void *edges,
                                                   size_t n, unsigned flags) {
  enum { ADD = 0, SET = 1 };
  core_stream *s;
  cu_result r = drv_stream(stream, &s);
  if (r != CU_SUCCESS) return r;
  if (!s->capture) return CU_ILLEGAL_STATE;
  if (s->capture->invalid) return CU_CAPTURE_INVALIDATED;
  if (flags > SET || !are_nodes(s->capture->graph, behind, n)) return CU_INVALID_VALUE;
  if (flags == SET) s->behind.n = 0;
  return core_capture_follow(s, behind, n);
}
cu_result drv_cuStreamUpdateCaptureDependencies(cu_stream stream, cu_node *behind, size_t n, unsigned flags) {
  return drv_cuStreamUpdateCaptureDependencies_v2(stream, behind, NULL, n, flags);
}

cu_result drv_cuStreamEndCapture(cu_stream stream, cu_graph *graph) {
  core_stream *s;
  if (!graph) return CU_INVALID_VALUE;
  cu_result r = drv_stream(stream, &s);
  return r == CU_SUCCESS ? core_capture_end(s, graph) : r;
}

cu_result drv_cuStreamGetCaptureInfo_v3(cu_stream stream, int *status, uint64_t *id, cu_graph *graph,
                                        cu_node **behind, const void **edges, size_t *n) {
  core_stream *s;
  if (!status) return CU_INVALID_VALUE;
  cu_result r = asked(stream, &s);
  if (r != CU_SUCCESS) return r;
  *status = status_of(s);
  if (*status != CU_CAPTURE_STATUS_ACTIVE) return CU_SUCCESS;
  if (id) *id = s->capture->id;
  if (graph) *graph = s->capture->graph;
  if (behind) *behind = s->behind.data;
  if (edges) *edges = NULL;
  if (n) *n = s->behind.n;
  return CU_SUCCESS;
}
cu_result drv_cuStreamGetCaptureInfo_v2(cu_stream stream, int *status, uint64_t *id, cu_graph *graph,
                                        cu_node **behind, size_t *n) {
  return drv_cuStreamGetCaptureInfo_v3(stream, status, id, graph, behind, NULL, n);
}
cu_result drv_cuStreamGetCaptureInfo(cu_stream stream, int *status, uint64_t *id) {
  return drv_cuStreamGetCaptureInfo_v3(stream, status, id, NULL, NULL, NULL, NULL);
}

cu_result drv_cuThreadExchangeStreamCaptureMode(int *mode) {
  cu_capture_mode *mine = core_capture_thread_mode();
  if (!mode || !is_mode(*mode)) return CU_INVALID_VALUE;
  const int old = (int)*mine;
  *mine = (cu_capture_mode)*mode;
  *mode = old;
  return CU_SUCCESS;
}
