/* cuda/driver/driver.h: the driver's entry points as functions, which the exported symbols call once they
 * hold core.lock and have checked that the context they need exists. The runtime's calls are built on them,
 * too. */
#ifndef HEDDLE_CUDA_DRIVER_DRIVER_H
#define HEDDLE_CUDA_DRIVER_DRIVER_H

#include "cuda/core/capture.h"

#define CU_ENTRY(symbol, version, variant, stream, run, needs, captures, parameters, arguments)              \
  fn_##symbol drv_##symbol;
#include "abi/driver.def"

/* Whether stream 0 is the calling thread's own stream in the present call. */
extern _Thread_local bool drv_per_thread;
/* An address in the code that made the thread's last call of the driver. */
extern _Thread_local const void *drv_caller;
/* The stream that a handle means in the present call. */
cu_result drv_stream(cu_stream handle, core_stream **out);
/* The same for calls of this rule, as far as the stream decides. */
cu_result drv_stream_for(core_capture_rule rule, cu_stream handle, core_stream **out);
/* The result of an entry point that has no handler, NOT_SUPPORTED; prints its name once. */
cu_result drv_missing(const char *symbol);
/* Parameters in one block, as a launch's `extra` gives them. */
cu_result drv_unpack(void **extra, core_launch *l);
/* The launch that a configuration describes, but for its parameters. */
core_launch drv_launch_of(cu_function function, const cu_launch_config *config);
/* A copy that is not submitted yet. */
cu_result drv_copy_work(const cu_copy3d *c, core_work **out);
/* A node with this work, of which one reference is taken over. */
cu_result drv_graph_add(cu_node_type type, core_work *w, cu_node *node, cu_graph graph, cu_node *after,
                        size_t n);
cu_result drv_graph_add_child(cu_node *node, cu_graph graph, cu_node *after, size_t n, cu_graph child);
/* An allocation of this kind in the current context. */
cu_result drv_allocate(core_memory_kind kind, uint64_t bytes, unsigned flags, const char *call,
                       uint64_t *address);
/* NULL: no such device. */
core_device *drv_device(cu_device ordinal);
/* The address of an exported symbol for programs of this version; NULL: there is none. */
void *drv_find(const char *name, int version, bool per_thread, bool *too_new);

#endif
