/* The driver's interface as abi/ has it beside CUDA's own headers, where a toolkit is installed: the
 * structures beside cuda.h, and the table's entry points beside the types that cudaTypedefs.h has for them.
 */
#include "check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#endif
#ifndef CUDA_VERSION
#define CUDA_VERSION 0
#endif
enum { NEWEST = 12080 }; /* the version of CUDA that has all of the structures */

/* ---- Structures -------------------------------------------------------------------------------- */

static void structures_lie_in_memory_as_cuda_h_has_them(void **state) {
#if CUDA_VERSION >= 12080
  static const struct {
    const char *what;
    size_t ours, theirs;
  } all[] = {
#define SIZE(ours, theirs, bytes) {#theirs, bytes, sizeof(theirs)},
#define FIELD(ours, field, theirs, their_field, bytes)                                                       \
  {#theirs "." #their_field, bytes, offsetof(theirs, their_field)},
#include "layouts.def"
  };
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    if (all[k].ours != all[k].theirs) fail_msg("%s: %zu, not %zu", all[k].what, all[k].ours, all[k].theirs);
#else
  skip();
#endif
}

/* ---- Entry points ------------------------------------------------------------------------------ */

/* Each kind by itself: a name that is handed on would become what cuda.h defines it as. */
static const struct row {
  const char *symbol, *parameters;
  int version, stream;
} rows[] = {
#define CU_NAME(symbol, version, variant, stream, run) {#symbol, NULL, version, stream},
#define CU_KNOWN(symbol, version, variant, stream, run, parameters, arguments)                               \
  {#symbol, #parameters, version, stream},
#define CU_ENTRY(symbol, version, variant, stream, run, needs, captures, parameters, arguments)              \
  {#symbol, #parameters, version, stream},
#include "abi/driver.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

/* How many parameters there are between the brackets at `text`, and the number of the first whose type this
 * is; -1: there is none. */
static int count(const char *text, const char *type, int *first) {
  int n = 0, depth = 0;
  bool any = false;
  const char *at = text;
  *first = -1;
  do {
    if (*at == '(') depth++;
    if (*at == ')') depth--;
    if (*at == ',' && depth == 1) n++;
    if (strchr("(,) \n", *at)) continue;
    const bool begins = strchr("(, \n", at[-1]) != NULL;
    any = any || (begins && strncmp(at, "void)", 5) != 0);
    const size_t length = strlen(type);
    if (begins && *first < 0 && strncmp(at, type, length) == 0 && at[length] == ' ' && at[length + 1] != '*')
      *first = n;
  } while (depth && *++at);
  return any ? n + 1 : 0;
}

/* The parameters of the type of a symbol's version, or NULL: PFN_cuMemAlloc_v3020 of cuMemAlloc_v2. */
static const char *type_of(const char *text, const struct row *r) {
  char name[128];
  const char *version = strstr(r->symbol, "_v");
  const int base = version ? (int)(version - r->symbol) : (int)strlen(r->symbol);
  snprintf(name, sizeof name, "*PFN_%.*s_v%d)(", base, r->symbol, r->version);
  const char *at = strstr(text, name);
  return at ? at + strlen(name) - 1 : NULL;
}

static char *read_typedefs(void) {
  FILE *f = fopen(CUDA_INCLUDE "/cudaTypedefs.h", "r");
  char *text = f ? calloc(1, 1 << 20) : NULL;
  if (text) (void)!fread(text, 1, (1 << 20) - 1, f);
  if (f) fclose(f);
  return text;
}

static void entry_points_have_the_versions_and_arguments_of_cudaTypedefs_h(void **state) {
  char *text = CUDA_VERSION >= NEWEST ? read_typedefs() : NULL;
  int stream, found = 0;
  if (!text) skip();
  for (size_t k = 0; k < ROWS; k++) {
    const char *theirs = type_of(text, &rows[k]);
    if (!theirs) continue;
    const int n = count(theirs, "CUstream", &stream);
    found++;
    if (stream != rows[k].stream)
      fail_msg("%s: the stream is %d, not %d", rows[k].symbol, stream, rows[k].stream);
    if (rows[k].parameters && count(rows[k].parameters, "cu_stream", &stream) != n)
      fail_msg("%s has %d parameters", rows[k].symbol, n);
  }
  free(text);
  assert_true(found > ROWS * 9 / 10); /* those of the profiler are elsewhere */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(structures_lie_in_memory_as_cuda_h_has_them),
      cmocka_unit_test(entry_points_have_the_versions_and_arguments_of_cudaTypedefs_h),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
