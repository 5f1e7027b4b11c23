/* cuda/runtime/front.h: the driver's entry points as a program finds them: rt_front_ and the symbol, for
 * those that a library in front of the driver, as `heddle run` is, looks at. core.lock is released for the
 * call, which takes it. */
#ifndef HEDDLE_CUDA_RUNTIME_FRONT_H
#define HEDDLE_CUDA_RUNTIME_FRONT_H

#include "cuda/runtime/runtime.h"

typedef void rt_any_function(void);
/* The first definition that the program sees, which may be another library's; NULL: ours is not visible. */
rt_any_function *rt_front_find(const char *symbol, const char *variant);

#define SUFFIX_NONE ""
#define SUFFIX_ptsz "_ptsz"
#define FRONT_PAST(symbol, variant, parameters, arguments)
#define FRONT_GATED(symbol, variant, parameters, arguments)
/* Names with _ at their ends: a parameter has another. */
#define FRONT_HANDLED(symbol, variant, parameters, arguments)                                                \
  static inline cu_result rt_front_##symbol parameters {                                                     \
    static fn_##symbol *cache_[2];                                                                           \
    const bool per_thread_ = drv_per_thread && SUFFIX_##variant[0];                                          \
    const bool was_per_thread_ = drv_per_thread;                                                             \
    if (!cache_[per_thread_])                                                                                \
      cache_[per_thread_] =                                                                                  \
          (fn_##symbol *)rt_front_find(#symbol, per_thread_ ? SUFFIX_##variant : SUFFIX_NONE);               \
    fn_##symbol *const fn_ = cache_[per_thread_];                                                            \
    if (!fn_) return drv_##symbol arguments;                                                                 \
    pthread_mutex_unlock(&core.lock);                                                                        \
    const cu_result r_ = fn_ arguments;                                                                      \
    pthread_mutex_lock(&core.lock);                                                                          \
    drv_per_thread = was_per_thread_;                                                                        \
    return r_;                                                                                               \
  }
#define FRONT_WAITS FRONT_HANDLED
#define FRONT_LAUNCHES FRONT_HANDLED
#define CU_ENTRY(symbol, version, variant, stream, run, needs, captures, parameters, arguments)              \
  FRONT_##run(symbol, variant, parameters, arguments)
#include "abi/driver.def"

#endif
