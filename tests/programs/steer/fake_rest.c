/* The other entry points of the driver that does nothing. */
#include "fake.h"

#define GIVES(symbol, parameters)                                                                            \
  __attribute__((weak, visibility("default"))) int symbol parameters { return 0; }
#define RUN_ENTRY(symbol, parameters, arguments) GIVES(symbol, parameters)
#include "run/entries.def"
#define RUN_NEED(symbol, parameters) GIVES(symbol, parameters)
#include "run/needs.def"
