/* The C++ runtime's demangler, which has no C header. */
#include <cxxabi.h>

#include "ptx/demangle.h"

extern "C" char *ptx_demangle(const char *symbol) {
  int status;
  return abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
}
