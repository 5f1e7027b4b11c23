/* Weak definitions of all entry points of the runtime; strong ones elsewhere override them. */
#include "cuda/runtime/runtime.h"

#define RT_NAME(name)                                                                                        \
  __attribute__((weak, visibility("default"))) cu_result name(void);                                         \
  cu_result name(void) {                                                                                     \
    rt_last_error = drv_missing(#name);                                                                      \
    return rt_last_error;                                                                                    \
  }
#include "cuda/runtime/names.def"
#undef RT_NAME

const rt_name rt_names[] = {
#define RT_NAME(name) {#name, (void (*)(void))name},
#include "cuda/runtime/names.def"
};
const size_t rt_n_names = sizeof rt_names / sizeof *rt_names;
