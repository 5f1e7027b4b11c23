/* A driver that does nothing: it hands out handles and counts launches. FAKE_FAIL=N: its N-th call fails. */
#include "fake.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
enum { FAILED = 2 };

static atomic_ulong calls, launches, handles;

EXPORT unsigned long fake_launches(void) { return launches; }
EXPORT unsigned long fake_calls(void) { return calls; }

static int call(void) {
  static long fail = -1;
  if (fail < 0) fail = getenv("FAKE_FAIL") ? atol(getenv("FAKE_FAIL")) : 0;
  if (!fail) return 0; /* as quickly as can be: launches are timed */
  return atomic_fetch_add(&calls, 1) + 1 == (unsigned long)fail ? FAILED : 0;
}

static int launched(void) {
  const int r = call();
  if (!r) atomic_fetch_add_explicit(&launches, 1, memory_order_relaxed);
  return r;
}

static int hand_out(run_handle *out) {
  const int r = call();
  if (!r) *out = (run_handle)(uintptr_t)(0x100000 + 64 * atomic_fetch_add(&handles, 1));
  return r;
}

static int answer(int *out, int value) {
  const int r = call();
  if (!r) *out = value;
  return r;
}

/* An entry point that does something. */
#define GIVES(symbol, parameters, what)                                                                      \
  EXPORT int symbol parameters { return what; }

GIVES(cuInit, (unsigned flags), call())
GIVES(cuDriverGetVersion, (int *version), answer(version, 13000))
GIVES(cuDeviceGet, (int *device, int ordinal), answer(device, ordinal))
GIVES(cuDeviceGetName, (char *name, int cap, int device), (snprintf(name, (size_t)cap, "fake"), call()))
GIVES(cuDeviceGetAttribute, (int *value, int attribute, int device),
      answer(value, attribute == 75   ? 9
                    : attribute == 76 ? 0
                                      : 4))
GIVES(cuCtxGetDevice, (int *device), answer(device, 0))
GIVES(cuCtxGetId, (run_handle context, unsigned long long *id), (*id = 1, call()))
GIVES(cuModuleLoad, (run_handle * module, const char *path), hand_out(module))
GIVES(cuModuleLoadData, (run_handle * module, const void *image), hand_out(module))
GIVES(cuModuleGetFunction, (run_handle * function, run_handle module, const char *name), hand_out(function))
GIVES(cuLibraryLoadData,
      (run_handle * library, const void *image, int *jit, void **jit_values, unsigned n_jit, int *options,
       void **values, unsigned n),
      hand_out(library))
GIVES(cuLibraryGetKernel, (run_handle * kernel, run_handle library, const char *name), hand_out(kernel))
GIVES(cuKernelGetFunction, (run_handle * function, run_handle kernel), hand_out(function))
GIVES(cuMemAlloc_v2, (uint64_t * address, size_t bytes), hand_out((run_handle *)address))
GIVES(cuStreamCreate, (run_handle * stream, unsigned flags), hand_out(stream))
GIVES(cuStreamIsCapturing, (run_handle stream, int *status), answer(status, 0))
GIVES(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *n, run_handle function, int threads, size_t shared),
      answer(n, 2))
GIVES(cuLaunchKernel,
      (run_handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
       unsigned shared, run_handle stream, void **params, void **extra),
      launched())
GIVES(cuLaunchKernelEx, (const run_config *config, run_handle function, void **params, void **extra),
      launched())
GIVES(cuGraphAddKernelNode_v2,
      (run_handle * node, run_handle graph, const run_handle *after, size_t n, const run_node *p), launched())
