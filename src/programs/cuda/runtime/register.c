/* Fatbins, kernels and variables that compiled code registers before main, by their addresses on the host.
 * Nothing is loaded before a kernel is launched or a variable asked for. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/runtime/front.h"

#define EXPORT __attribute__((visibility("default")))

typedef struct fatbin {
  const void *wrapper;
  core_library *library; /* made when it is first used */
  cu_result failed;      /* what that gave, once */
} fatbin;

struct rt_symbol {
  const void *host; /* NULL: an empty slot */
  fatbin *fatbin;
  const char *name;
  bool variable;
  void **managed; /* where compiled code keeps a managed variable's address */
  core_function *kernel;
};

/* By host address, open addressing; a power of two of slots, at most half of them taken. */
static struct {
  rt_symbol *slots;
  size_t n, cap;
} symbols;

static rt_symbol *slot_of(rt_symbol *slots, size_t cap, const void *host) {
  size_t k = (size_t)(((uintptr_t)host >> 2) * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (cap - 1);
  while (slots[k].host && slots[k].host != host) k = (k + 1) & (cap - 1);
  return &slots[k];
}

static bool grow(void) {
  const size_t cap = symbols.cap ? 2 * symbols.cap : 256;
  rt_symbol *slots = calloc(cap, sizeof *slots);
  if (!slots) return false;
  for (size_t k = 0; k < symbols.cap; k++)
    if (symbols.slots[k].host) *slot_of(slots, cap, symbols.slots[k].host) = symbols.slots[k];
  free(symbols.slots);
  symbols.slots = slots;
  symbols.cap = cap;
  return true;
}

static void add(void **handle, const void *host, const char *name, bool variable, void **managed) {
  pthread_mutex_lock(&core.lock);
  if (handle && host && (2 * symbols.n < symbols.cap || grow())) {
    rt_symbol *s = slot_of(symbols.slots, symbols.cap, host);
    symbols.n += !s->host;
    *s = (rt_symbol){host, (fatbin *)handle, name, variable, managed, NULL};
  }
  pthread_mutex_unlock(&core.lock);
}

static rt_symbol *find(const void *host) {
  if (!symbols.cap || !host) return NULL;
  rt_symbol *s = slot_of(symbols.slots, symbols.cap, host);
  return s->host && s->fatbin->wrapper ? s : NULL;
}

/* ---- Calls of compiled code ------------------------------------------------------------------ */

EXPORT void **__cudaRegisterFatBinary(void *wrapper);
EXPORT void **__cudaRegisterFatBinary(void *wrapper) {
  fatbin *f = calloc(1, sizeof *f);
  if (f) f->wrapper = wrapper;
  return (void **)f;
}

EXPORT void __cudaRegisterFatBinaryEnd(void **handle);
EXPORT void __cudaRegisterFatBinaryEnd(void **handle) {}

/* A library is unloaded, or the program ends. */
EXPORT void __cudaUnregisterFatBinary(void **handle);
EXPORT void __cudaUnregisterFatBinary(void **handle) {
  fatbin *f = (fatbin *)handle;
  pthread_mutex_lock(&core.lock);
  if (f && f->library && core_ready() == CU_SUCCESS) rt_front_cuLibraryUnload(f->library);
  if (f) {
    f->library = NULL;
    f->wrapper = NULL;
  }
  pthread_mutex_unlock(&core.lock);
}

EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit,
                                   void *tid, void *bid, void *block, void *grid, int *warp);
EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit,
                                   void *tid, void *bid, void *block, void *grid, int *warp) {
  add(handle, host, name, false, NULL);
}

EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                              size_t bytes, int constant, int global);
EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                              size_t bytes, int constant, int global) {
  add(handle, host, name, true, NULL);
}

/* Compiled code reaches a managed variable through a pointer, and asks for __cudaInitModule before. */
EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external,
                                     size_t bytes, int constant, int global);
EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external,
                                     size_t bytes, int constant, int global) {
  add(handle, host, name, true, host);
}

EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes);
EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes) {
  add(handle, host, name, true, NULL);
}

/* ---- Finding --------------------------------------------------------------------------------- */

static cu_result library_of(fatbin *f, core_library **out) {
  core_library *l = NULL;
  if (!f->library && f->failed == CU_SUCCESS) {
    const cu_result r = rt_front_cuLibraryLoadData(&l, f->wrapper, NULL, NULL, 0, NULL, NULL, 0);
    /* The lock was released: another thread may have been first. */
    if (r == CU_SUCCESS && f->library)
      rt_front_cuLibraryUnload(l);
    else if (r == CU_SUCCESS)
      f->library = l;
    else
      f->failed = r;
  }
  *out = f->library;
  return f->library ? CU_SUCCESS : f->failed;
}

cu_result rt_kernel(const void *host, core_function **out) {
  rt_symbol *s = find(host);
  core_function *kernel = NULL;
  core_library *l;
  if (!s) { /* it may be a handle of the driver's */
    *out = core_function_of(host);
    if (*out) return CU_SUCCESS;
    return !host || rt_major < 13 ? CU_RT_INVALID_DEVICE_FUNCTION : CU_INVALID_HANDLE;
  }
  if (s->variable) return CU_RT_INVALID_DEVICE_FUNCTION;
  cu_result r = library_of(s->fatbin, &l);
  if (r == CU_SUCCESS && !s->kernel) r = rt_front_cuLibraryGetKernel(&kernel, l, s->name);
  if (kernel) s->kernel = kernel;
  *out = s->kernel;
  return r == CU_NOT_FOUND ? CU_RT_INVALID_DEVICE_FUNCTION : r;
}

const void *rt_host_of(const core_function *f) {
  if (f->kind != CORE_FUNCTION || !f->module->library) return NULL;
  for (size_t k = 0; k < symbols.cap; k++) {
    const rt_symbol *s = &symbols.slots[k];
    if (s->host && !s->variable && s->fatbin->library == f->module->library && strcmp(s->name, f->name) == 0)
      return s->host;
  }
  return NULL;
}

cu_result rt_variable(const void *host, uint64_t *address, uint64_t *bytes) {
  const rt_symbol *s = find(host);
  core_library *l;
  core_module *m;
  if (!s || !s->variable) return CU_RT_INVALID_SYMBOL;
  cu_result r = library_of(s->fatbin, &l);
  if (r == CU_SUCCESS) r = core_library_module(l, core_current(), &m);
  if (r == CU_SUCCESS) r = core_module_global(m, s->name, address, bytes);
  return r == CU_NOT_FOUND ? CU_RT_INVALID_SYMBOL : r;
}

static void find_managed(const rt_symbol *s) {
  uint64_t address, bytes;
  if (rt_variable(s->host, &address, &bytes) == CU_SUCCESS) *s->managed = (void *)(uintptr_t)address;
}

/* Before the host's first access to a managed variable. The answer is no error's number, but whether all went
 * well. */
EXPORT char __cudaInitModule(void **handle);
EXPORT char __cudaInitModule(void **handle) {
  pthread_mutex_lock(&core.lock);
  const cu_result r = rt_context();
  for (size_t k = 0; r == CU_SUCCESS && k < symbols.cap; k++)
    if (symbols.slots[k].host && symbols.slots[k].fatbin == (fatbin *)handle && symbols.slots[k].managed)
      find_managed(&symbols.slots[k]);
  if (r != CU_SUCCESS) rt_last_error = r;
  pthread_mutex_unlock(&core.lock);
  return r == CU_SUCCESS;
}

/* ---- Launches of compiled code --------------------------------------------------------------- */

typedef struct configuration {
  rt_dim3 grid, block;
  size_t shared;
  cu_stream stream;
} configuration;
static _Thread_local HD_VEC(configuration) pushed;

EXPORT unsigned __cudaPushCallConfiguration(rt_dim3 grid, rt_dim3 block, size_t shared, cu_stream stream);
EXPORT unsigned __cudaPushCallConfiguration(rt_dim3 grid, rt_dim3 block, size_t shared, cu_stream stream) {
  const configuration c = {grid, block, shared, stream};
  return !hd_vec_push(&pushed, c);
}

cu_result rt___cudaPopCallConfiguration(rt_dim3 *grid, rt_dim3 *block, size_t *shared, cu_stream *stream) {
  if (!pushed.n) return CU_RT_MISSING_CONFIGURATION;
  const configuration c = pushed.data[--pushed.n];
  *grid = c.grid;
  *block = c.block;
  *shared = c.shared;
  *stream = c.stream;
  return CU_SUCCESS;
}

/* Compiled code asks once for each kernel and keeps the answer. The answer is the host's address, by which
 * each launch finds the function in the current context. */
cu_result rt___cudaGetKernel(cu_function *kernel, const void *host) {
  if (!kernel) return CU_INVALID_VALUE;
  *kernel = (cu_function)(uintptr_t)host;
  return CU_SUCCESS;
}
