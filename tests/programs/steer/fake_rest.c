/* The other entry points of the driver that does nothing. */
#include "abi/cuda.h"

#define GIVES(symbol)                                                                                        \
  __attribute__((weak, visibility("default"))) int symbol(void);                                             \
  int symbol(void) { return 0; }
#define RUN_ENTRY(symbol, parameters, arguments) GIVES(symbol)
#include "run/entries.def"
#define RUN_NEED(symbol) GIVES(symbol)
#include "run/needs.def"
