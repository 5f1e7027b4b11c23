/* Initialisation, errors' texts, entry points by name. */
#include <dlfcn.h>
#include <string.h>

#include "cuda/driver/driver.h"

enum { SAID = 16 }; /* files that are named */

cu_result drv_cuInit(unsigned flags) { return flags ? CU_INVALID_VALUE : core_start(); }

cu_result drv_cuDriverGetVersion(int *version) {
  if (!version) return CU_INVALID_VALUE;
  *version = CORE_VERSION;
  return CU_SUCCESS;
}

static const struct {
  cu_result result;
  const char *name, *text;
} results[] = {
#define CUDA_RESULT(number, driver, runtime, text) {number, driver, text},
#include "cuda/core/errors.def"
#undef CUDA_RESULT
};

static cu_result describe(cu_result r, const char **out, bool name) {
  if (!out) return CU_INVALID_VALUE;
  *out = NULL;
  for (size_t k = 0; k < sizeof results / sizeof *results; k++)
    if (results[k].result == r && results[k].name[0]) *out = name ? results[k].name : results[k].text;
  return *out ? CU_SUCCESS : CU_INVALID_VALUE;
}

cu_result drv_cuGetErrorName(cu_result r, const char **text) { return describe(r, text, true); }
cu_result drv_cuGetErrorString(cu_result r, const char **text) { return describe(r, text, false); }

/* Flags of cuGetProcAddress, and its results for a name. */
enum { LEGACY_STREAM = 1, PER_THREAD_STREAM = 2 };
enum { FOUND = 0, NO_SUCH_NAME = 1, TOO_NEW = 2 };

cu_result drv_cuGetProcAddress_v2(const char *name, void **fn, int version, uint64_t flags, int *status) {
  bool too_new;
  if (!name || !fn || flags & ~(uint64_t)(LEGACY_STREAM | PER_THREAD_STREAM)) return CU_INVALID_VALUE;
  *fn = drv_find(name, version, flags & PER_THREAD_STREAM, &too_new);
  if (status) *status = *fn ? FOUND : too_new ? TOO_NEW : NO_SUCH_NAME;
  return *fn || status ? CU_SUCCESS : CU_NOT_FOUND;
}

cu_result drv_cuGetProcAddress(const char *name, void **fn, int version, uint64_t flags) {
  return drv_cuGetProcAddress_v2(name, fn, version, flags, NULL);
}

/* The tables are not documented. A CUDA runtime asks for one of these first, and cannot do without; heddle
 * has taken its place, unless it was not found. Other libraries ask for other tables, and do without. */
static bool is_runtime(const cu_uuid *id) {
  static const unsigned char tables[][4] = {
      {0x6B, 0xD5, 0xFB, 0x6C}, {0xF8, 0xCF, 0xF9, 0x51}, {0x21, 0x31, 0x8C, 0x60}};
  for (size_t k = 0; id && k < sizeof tables / sizeof *tables; k++)
    if (memcmp(id->bytes, tables[k], sizeof *tables) == 0) return true;
  return false;
}

/* The library in front passes the question on, and does not say whose it was. */
static const char *runtimes_file(const Dl_info *asked) {
  static const char front[] = "/libheddle-run.so";
  const size_t n = strlen(asked->dli_fname), len = sizeof front - 1;
  return n >= len && strcmp(asked->dli_fname + n - len, front) == 0 ? "the program, or a library of its,"
                                                                    : asked->dli_fname;
}

/* Each file with a runtime that was not found is named once. */
cu_result drv_cuGetExportTable(const void **table, const cu_uuid *id) {
  static const void *said[SAID];
  Dl_info where;
  if (table) *table = NULL;
  if (!is_runtime(id) || !dladdr(drv_caller, &where)) return CU_NOT_FOUND;
  for (int k = 0; k < SAID && said[k] != where.dli_fbase; k++) {
    if (said[k]) continue;
    said[k] = where.dli_fbase;
    core_say(
        "%s brings a CUDA runtime of its own, without the symbols by which it could be replaced: none of its "
        "CUDA calls will work. If it is yours, link it without -s and strip, or with nvcc -cudart shared",
        runtimes_file(&where));
    break;
  }
  return CU_NOT_FOUND;
}

cu_result drv_cuProfilerStart(void) { return CU_SUCCESS; }
cu_result drv_cuProfilerStop(void) { return CU_SUCCESS; }
