/* Weak definitions of all entry points of the driver: those that entry.c defines override them. And all of
 * them by name, for cuGetProcAddress. `heddle emu` is a driver of CUDA 13.0: newer ones are not there. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cuda/driver/driver.h"

cu_result drv_missing(const char *symbol) {
  core_say("%s is not emulated", symbol);
  return CU_NOT_SUPPORTED;
}

#define MISSING(symbol, ...)                                                                                 \
  __attribute__((weak, visibility("default"))) cu_result symbol(void);                                       \
  cu_result symbol(void) { return drv_missing(#symbol); }
#define CU_NAME(symbol, version, variant, stream, run) CU_EACH_##variant(MISSING, symbol, )
#define CU_LATER(symbol, version, variant, stream, run, parameters, arguments)
#include "abi/driver.def"

static const struct {
  const char *symbol;
  cu_result (*fn)(void), (*own)(void); /* own: of its thread's streams; NULL: there is none */
  int version;
} names[] = {
#define OWN_NONE(symbol) NULL
#define OWN_ptsz(symbol) symbol##_ptsz
#define OWN_ptds(symbol) symbol##_ptds
#define CU_NAME(symbol, version, variant, stream, run) {#symbol, symbol, OWN_##variant(symbol), version},
#define CU_LATER(symbol, version, variant, stream, run, parameters, arguments)
#include "abi/driver.def"
};

/* Without its version, "_v2", a symbol is called as its base is. */
static bool is_of(const char *symbol, const char *base) {
  size_t n = strlen(symbol), digits = 0;
  while (digits < n && isdigit((unsigned char)symbol[n - 1 - digits])) digits++;
  if (digits && n > digits + 2 && symbol[n - digits - 2] == '_' && symbol[n - digits - 1] == 'v')
    n -= digits + 2;
  return strlen(base) == n && memcmp(symbol, base, n) == 0;
}

/* The newest one that the program's version knows; of its thread's streams where there is one. */
void *drv_find(const char *name, int version, bool per_thread, bool *too_new) {
  int best = -1;
  *too_new = false;
  for (int k = 0; k < (int)(sizeof names / sizeof *names); k++) {
    if (!is_of(names[k].symbol, name)) continue;
    if (names[k].version > version)
      *too_new = true;
    else if (best < 0 || names[k].version > names[best].version)
      best = k;
  }
  if (best < 0) return NULL;
  void *address;
  memcpy(&address, per_thread && names[best].own ? &names[best].own : &names[best].fn, sizeof address);
  return address;
}
