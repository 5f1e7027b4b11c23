/* ptx/demangle.h: C++ names from mangled symbols. */
#ifndef HEDDLE_PTX_DEMANGLE_H
#define HEDDLE_PTX_DEMANGLE_H

#ifdef __cplusplus
extern "C" {
#endif

/* "void scale<float>(float*)", which the caller frees; NULL when the symbol is no mangled name, or memory
 * runs out. */
char *ptx_demangle(const char *symbol);

#ifdef __cplusplus
}
#endif
#endif
