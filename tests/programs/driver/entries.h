/* The driver's and the runtime's calls, declared from the tables of entry points. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/runtime/runtime.h"

#define CU_ENTRY(symbol, version, variant, stream, run, needs, captures, parameters, arguments)              \
  fn_##symbol symbol;
#include "abi/driver.def"
#define RT_ENTRY(name, needs, variant, captures, parameters, arguments) cu_result name parameters;
#include "cuda/runtime/entries.def"
#undef RT_ENTRY
