/* cuda/driver/driver.h: the driver's entry points as functions: what the exported symbols do once core.lock
 * is held and what they need is there. The runtime's calls are made of them, too. */
#ifndef HEDDLE_CUDA_DRIVER_DRIVER_H
#define HEDDLE_CUDA_DRIVER_DRIVER_H

#include "cuda/core/core.h"

#define CU_ENTRY(symbol, needs, variant, parameters, arguments) cu_result drv_##symbol parameters;
#include "cuda/driver/entries.def"
#undef CU_ENTRY

/* Is stream 0 the calling thread's own, in the call that is under way? */
extern _Thread_local bool drv_per_thread;
/* The stream that a call means. */
cu_result drv_stream(cu_stream handle, core_stream **out);
/* What to answer for an entry point that is missing; its name is said once. */
cu_result drv_missing(const char *symbol);
/* NULL: no such device. */
core_device *drv_device(cu_device ordinal);
/* The address of an exported symbol for programs of this version; NULL: there is none. */
void *drv_find(const char *name, int version, bool per_thread, bool *too_new);

#endif
