/* The driver as a program finds it: a library that stands in front of the driver, as a profiler does, sees
 * the runtime's loads and launches too. */
#include "cuda/runtime/front.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* A search by RTLD_DEFAULT would begin with this library, whose references are bound to itself. */
rt_any_function *rt_front_find(const char *symbol, const char *variant) {
  static void *program;
  rt_any_function *fn;
  char name[64];
  if (snprintf(name, sizeof name, "%s%s", symbol, variant) >= (int)sizeof name) return NULL;
  if (!program) program = dlopen(NULL, RTLD_LAZY);
  void *address = program ? dlsym(program, name) : NULL;
  memcpy(&fn, &address, sizeof fn);
  return fn;
}
