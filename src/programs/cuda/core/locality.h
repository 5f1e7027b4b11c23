/* cuda/core/locality.h: traces of launches, for what their CTAs reuse. */
#ifndef HEDDLE_CUDA_CORE_LOCALITY_H
#define HEDDLE_CUDA_CORE_LOCALITY_H

#include "cuda/core/core.h"

/* The hooks of a launch that is to be traced; NULL: it is not. Then `end` follows when it is over. */
const hd_emu_hooks *core_locality_begin(core_function *f, const hd_emu_launch_params *p);
void core_locality_end(core_function *f, const hd_emu_launch_params *p, bool ok);

#endif
