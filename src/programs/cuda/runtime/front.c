/* The driver as a program finds it: a library that stands in front of the driver, as a profiler does, sees
 * the runtime's loads and launches too. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cuda/runtime/runtime.h"

typedef void any_function(void);

/* The first definition that the program sees, which may be another library's; NULL: ours is not visible. A
 * search by RTLD_DEFAULT would begin with this library, whose references are bound to itself. */
static any_function *find(const char *symbol, const char *variant) {
  static void *program;
  any_function *fn;
  char name[64];
  if (snprintf(name, sizeof name, "%s%s", symbol, variant) >= (int)sizeof name) return NULL;
  if (!program) program = dlopen(NULL, RTLD_LAZY);
  void *address = program ? dlsym(program, name) : NULL;
  memcpy(&fn, &address, sizeof fn);
  return fn;
}

/* The call is made without core.lock, which the entry point takes itself. */
#define SUFFIX_NONE ""
#define SUFFIX_ptsz "_ptsz"
#define RT_FRONT(symbol, variant, parameters, arguments)                                                     \
  cu_result rt_front_##symbol parameters {                                                                   \
    static cu_result(*cache[2]) parameters;                                                                  \
    const bool per_thread = drv_per_thread && SUFFIX_##variant[0];                                           \
    const bool was_per_thread = drv_per_thread;                                                              \
    if (!cache[per_thread])                                                                                  \
      cache[per_thread] =                                                                                    \
          (cu_result(*) parameters)find(#symbol, per_thread ? SUFFIX_##variant : SUFFIX_NONE);               \
    cu_result(*const fn) parameters = cache[per_thread];                                                     \
    if (!fn) return drv_##symbol arguments;                                                                  \
    pthread_mutex_unlock(&core.lock);                                                                        \
    const cu_result r = fn arguments;                                                                        \
    pthread_mutex_lock(&core.lock);                                                                          \
    drv_per_thread = was_per_thread;                                                                         \
    return r;                                                                                                \
  }
#include "cuda/runtime/front.def"
