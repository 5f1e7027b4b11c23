/* Weak definitions of all entry points of the driver: those that entry.c defines override them. And all of
 * them by name, for cuGetProcAddress. */
#include <stdio.h>
#include <string.h>

#include "cuda/driver/driver.h"

cu_result drv_missing(const char *symbol) {
  core_say("%s is not emulated", symbol);
  return CU_NOT_SUPPORTED;
}

#define CU_NAME(symbol, base, version, per_thread)                                                           \
  __attribute__((weak, visibility("default"))) cu_result symbol(void);                                       \
  cu_result symbol(void) { return drv_missing(#symbol); }
#include "cuda/driver/names.def"
#undef CU_NAME

static const struct {
  const char *base;
  cu_result (*fn)(void);
  int version;
  bool per_thread;
} names[] = {
#define CU_NAME(symbol, base, version, per_thread) {#base, symbol, version, per_thread},
#include "cuda/driver/names.def"
};

/* The newest one that the program's version knows; of its thread's streams where there is one. */
void *drv_find(const char *name, int version, bool per_thread, bool *too_new) {
  int best = -1;
  *too_new = false;
  for (int k = 0; k < (int)(sizeof names / sizeof *names); k++) {
    if (strcmp(names[k].base, name) != 0 || (names[k].per_thread && !per_thread)) continue;
    if (names[k].version > version)
      *too_new = true;
    else if (best < 0 || names[k].version > names[best].version ||
             (names[k].version == names[best].version && names[k].per_thread))
      best = k;
  }
  void *address = NULL;
  if (best >= 0) memcpy(&address, &names[best].fn, sizeof address);
  return address;
}
