/* cuda/core/capture.h: captures of streams, and what they forbid (capture.c). */
#ifndef HEDDLE_CUDA_CORE_CAPTURE_H
#define HEDDLE_CUDA_CORE_CAPTURE_H

#include "cuda/core/core.h"

/* What a call does about captures. Where it is refused, the captures that it meets are lost, but for BATCH.
 */
typedef enum core_capture_rule {
  CORE_CAPTURE_FREE,     /* nothing */
  CORE_CAPTURE_RECORDED, /* it becomes a node where its stream is captured */
  CORE_CAPTURE_DEFAULT,  /* it uses the default stream, which waits for the blocking ones: CU_CAPTURE_IMPLICIT
                            while one of these is captured */
  CORE_CAPTURE_OUTSIDE,  /* its stream must not be captured: CU_CAPTURE_UNSUPPORTED in every mode */
  CORE_CAPTURE_BATCH,    /* as OUTSIDE, and the capture goes on */
  CORE_CAPTURE_WAITS,    /* as OUTSIDE, and as UNSAFE where its stream is not captured */
  CORE_CAPTURE_POOL,     /* as RECORDED, and as UNSAFE where its stream is not captured */
  CORE_CAPTURE_EVENT,    /* its events must not be recorded in a capture: CU_CAPTURED_EVENT in every mode.
                            Otherwise as UNSAFE */
  CORE_CAPTURE_CONTEXT,  /* it waits for all of a context: CU_CAPTURE_UNSUPPORTED in every mode while a stream
                            there is captured, by whatever thread */
  CORE_CAPTURE_UNSAFE,   /* it may wait for streams: CU_CAPTURE_UNSUPPORTED, as the modes say */
  CORE_CAPTURE_CHECKED,  /* as UNSAFE, once its handler has found its parameters right */
} core_capture_rule;

/* Operations submitted to a captured stream become nodes of a graph. Each captured stream records the nodes
 * that its next one follows. */
typedef struct core_capture {
  core_graph *graph;
  core_stream *origin;
  cu_capture_mode mode;
  uint64_t thread; /* that began it */
  uint64_t id;
  bool given; /* the graph is the program's */
  bool invalid;
} core_capture;
cu_result core_capture_begin(core_stream *s, cu_capture_mode mode, core_graph *into);
/* Ended by a thread that must not, a capture is lost: CU_CAPTURE_WRONG_THREAD. */
cu_result core_capture_end(core_stream *s, core_graph **out);
/* A node for work that a capturing stream submits. */
cu_result core_capture_add(core_stream *s, cu_node_type type, core_work *w);
/* A node that waits for an event, or records it, outside of the graph (CU_NODE_WAIT, CU_NODE_RECORD). */
cu_result core_capture_add_event(core_stream *s, cu_node_type type, core_event *e);
/* The stream's next node follows these, too. */
cu_result core_capture_follow(core_stream *s, core_node *const *nodes, size_t n);
/* The stream joins the capture of `nodes`, after them. The default stream and those of other captures cannot:
 * then both captures are lost. */
cu_result core_capture_join(core_stream *s, core_capture *c, const core_nodes *nodes);
/* For calls that a capturing stream must not see: CU_CAPTURE_UNSUPPORTED, and the capture is lost. */
cu_result core_capture_refuse(core_stream *s);
/* Whether a call of this rule may go on, as far as the rule alone says: what it does about the stream or the
 * events that it names is its handler's. `own_default`: stream 0 is the calling thread's own. */
cu_result core_capture_permits(core_capture_rule rule, bool own_default);
/* For calls of the rule CORE_CAPTURE_UNSAFE, and of CORE_CAPTURE_CHECKED once that is so. */
cu_result core_capture_unsafe(void);
/* For calls that name this stream: what their rule says of it. */
cu_result core_capture_stream(core_capture_rule rule, core_stream *s);
/* For a captured stream that would wait for work outside of its capture: CU_CAPTURE_ISOLATION, and the
 * capture is lost. */
cu_result core_capture_isolation(core_stream *s);
/* CU_CAPTURED_EVENT for an event that was recorded in a capture. */
cu_result core_capture_event(const core_event *e);
/* For calls that wait for this context. */
cu_result core_capture_context(const core_context *c);
/* Whether the context's default stream would wait for streams that are captured. CU_CAPTURE_IMPLICIT: it
 * would, and those captures are lost. */
bool core_capture_blocking(const core_context *c);
cu_result core_capture_implicit(const core_context *c);
/* The calling thread's mode. */
cu_capture_mode *core_capture_thread_mode(void);

#endif
