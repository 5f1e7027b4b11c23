/* cuda/core/repeat.h: launches that would change nothing, as programs make them that repeat a kernel to time
 * it. */
#ifndef HEDDLE_CUDA_CORE_REPEAT_H
#define HEDDLE_CUDA_CORE_REPEAT_H

#include "cuda/core/core.h"

/* A launch that a program makes again and again: a function, its shape, its parameters. Operations run one at
 * a time, and these functions are called by the one that runs; not by one that may wait. */
typedef struct core_repeat core_repeat;

/* NULL: it is not to be looked at, for want of memory or since every access is checked. It lives until the
 * next call. */
core_repeat *core_repeat_of(const core_function *f, const hd_emu_launch_params *p);
/* Not NULL: it has run before, found in device memory all that it would find now, and left all of that as it
 * was, so that it would do so again. Then: what that run counted, but for the time. */
const hd_emu_stats *core_repeat_idle(core_repeat *r);
/* Around a run. `silent`: nothing but device memory can show that it has run. */
void core_repeat_begin(core_repeat *r);
void core_repeat_end(core_repeat *r, bool silent, const hd_emu_stats *stats);

#endif
