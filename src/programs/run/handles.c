/* Modules and functions by the driver's handles, and the entry points that hand them out. */
#include <stdlib.h>
#include <string.h>

#include "heddle/container.h"
#include "run/run.h"

/* ---- Maps -------------------------------------------------------------------------------------- */

typedef struct row {
  run_handle handle;
  _Atomic(void *) means; /* NULL: nothing any more */
} row;

/* Open addressing; a power of two of places, at most half of them taken. A row is never taken away. Readers
 * take no lock: a map that grows is made beside the old one, which stays for those who are in it. */
typedef struct map {
  size_t mask, n;
  _Atomic(row *) at[];
} map;

static _Atomic(map *) modules, functions, places;

static size_t hash(run_handle h) {
  return (size_t)(((uintptr_t)h >> 3) * UINT64_C(0x9E3779B97F4A7C15) >> 20);
}

static row *find(map *m, run_handle handle) {
  for (size_t i = hash(handle); m; i++) {
    row *r = atomic_load_explicit(&m->at[i & m->mask], memory_order_acquire);
    if (!r || r->handle == handle) return r;
  }
  return NULL;
}

static void enter(map *m, row *r) {
  size_t i = hash(r->handle);
  while (atomic_load_explicit(&m->at[i & m->mask], memory_order_relaxed)) i++;
  atomic_store_explicit(&m->at[i & m->mask], r, memory_order_release);
  m->n++;
}

static map *grown(_Atomic(map *) *which) {
  map *old = atomic_load_explicit(which, memory_order_relaxed);
  if (old && 2 * (old->n + 1) <= old->mask + 1) return old;
  const size_t room = old ? 2 * (old->mask + 1) : 256;
  map *m = calloc(1, sizeof *m + room * sizeof m->at[0]);
  if (!m) return NULL;
  m->mask = room - 1;
  for (size_t i = 0; old && i <= old->mask; i++) {
    row *r = atomic_load_explicit(&old->at[i], memory_order_relaxed);
    if (r) enter(m, r);
  }
  atomic_store_explicit(which, m, memory_order_release);
  return m;
}

static void know(_Atomic(map *) *which, run_handle handle, void *means) {
  map *m = atomic_load_explicit(which, memory_order_relaxed);
  row *r = find(m, handle);
  if (r) {
    atomic_store_explicit(&r->means, means, memory_order_release);
    return;
  }
  if (!handle || !(m = grown(which)) || !(r = calloc(1, sizeof *r))) return;
  r->handle = handle;
  atomic_init(&r->means, means);
  enter(m, r);
}

static void *meaning(_Atomic(map *) *which, run_handle handle) {
  const row *r = find(atomic_load_explicit(which, memory_order_acquire), handle);
  return r ? atomic_load_explicit(&((row *)(uintptr_t)r)->means, memory_order_acquire) : NULL;
}

void run_know_module(run_handle handle, run_module *m) { know(&modules, handle, m); }
run_module *run_module_of(run_handle handle) { return meaning(&modules, handle); }
void run_know_function(run_handle handle, run_kernel *k) { know(&functions, handle, k); }
run_kernel *run_function_of(run_handle handle) { return meaning(&functions, handle); }

void run_know_place(run_handle rewritten, run_place *p) { know(&places, rewritten, p); }
run_place *run_place_behind(run_handle handle) { return meaning(&places, handle); }

void run_forget_functions(const run_module *module) {
  map *m = atomic_load_explicit(&functions, memory_order_relaxed);
  for (size_t i = 0; m && i <= m->mask; i++) {
    row *r = atomic_load_explicit(&m->at[i], memory_order_relaxed);
    const run_kernel *k = r ? atomic_load_explicit(&r->means, memory_order_relaxed) : NULL;
    if (k && (!module || k->module == module)) atomic_store_explicit(&r->means, NULL, memory_order_release);
  }
}

void run_forget_module(const run_module *module) {
  map *m = atomic_load_explicit(&modules, memory_order_relaxed);
  for (size_t i = 0; m && i <= m->mask; i++) {
    row *r = atomic_load_explicit(&m->at[i], memory_order_relaxed);
    if (r && atomic_load_explicit(&r->means, memory_order_relaxed) == module)
      atomic_store_explicit(&r->means, NULL, memory_order_release);
  }
}

/* ---- Kernels ----------------------------------------------------------------------------------- */

run_kernel *run_kernel_of(run_module *m, const char *name) {
  const uint64_t h = hd_hash(name, strlen(name));
  for (run_kernel *k = m->kernels; k; k = k->next)
    if (k->hash == h && strcmp(k->name, name) == 0) return k;
  run_kernel *k = calloc(1, sizeof *k);
  hd_buf title = {0};
  hd_kernel_title(name, false, &title);
  if (!k || title.failed || !(k->name = strdup(name))) {
    hd_buf_free(&title);
    free(k);
    return NULL;
  }
  k->title = title.data;
  k->hash = h;
  k->module = m;
  k->next = m->kernels;
  m->kernels = k;
  return k;
}

/* The program has got a handle of a kernel. */
static void got(run_handle handle, run_module *m, const char *name) {
  run_kernel *k = m && !m->dead && name ? run_kernel_of(m, name) : NULL;
  run_know_function(handle, k);
  if (k) run_kernel_make(k);
}

/* ---- Entry points ------------------------------------------------------------------------------ */

int run_cuModuleGetFunction(cu_function *function, cu_module module, const char *name) {
  const int r = run_real.cuModuleGetFunction(function, module, name);
  if (r != CU_SUCCESS) return r;
  pthread_mutex_lock(&run_lock);
  got(*function, run_module_of(module), name);
  pthread_mutex_unlock(&run_lock);
  return r;
}

int run_cuLibraryGetKernel(cu_function *kernel, cu_library library, const char *name) {
  const int r = run_real.cuLibraryGetKernel(kernel, library, name);
  if (r != CU_SUCCESS) return r;
  pthread_mutex_lock(&run_lock);
  got(*kernel, run_module_of(library), name);
  pthread_mutex_unlock(&run_lock);
  return r;
}

static const char *name_of(cu_function handle, fn_cuFuncGetName *get) {
  const char *name = NULL;
  return get && handle && get(&name, handle) == CU_SUCCESS ? name : NULL;
}

/* The driver may write fewer than n: it writes into `all`, which is freed here. */
static int listed(int r, cu_function *all, cu_function *handles, unsigned n, run_handle of,
                  fn_cuFuncGetName *get) {
  pthread_mutex_lock(&run_lock);
  for (unsigned k = 0; r == CU_SUCCESS && k < n && all[k]; k++) {
    handles[k] = all[k];
    got(all[k], run_module_of(of), name_of(all[k], get));
  }
  pthread_mutex_unlock(&run_lock);
  free(all);
  return r;
}

int run_cuModuleEnumerateFunctions(cu_function *handles, unsigned n, cu_module module) {
  cu_function *all = handles && n ? calloc(n, sizeof *all) : NULL;
  const int r = run_real.cuModuleEnumerateFunctions(all ? all : handles, n, module);
  return all ? listed(r, all, handles, n, module, run_real.cuFuncGetName) : r;
}

int run_cuLibraryEnumerateKernels(cu_function *handles, unsigned n, cu_library library) {
  cu_function *all = handles && n ? calloc(n, sizeof *all) : NULL;
  const int r = run_real.cuLibraryEnumerateKernels(all ? all : handles, n, library);
  return all ? listed(r, all, handles, n, library, run_real.cuKernelGetName) : r;
}

int run_cuLibraryGetModule(cu_module *module, cu_library library) {
  const int r = run_real.cuLibraryGetModule(module, library);
  if (r != CU_SUCCESS) return r;
  pthread_mutex_lock(&run_lock);
  run_know_module(*module, run_module_of(library));
  pthread_mutex_unlock(&run_lock);
  return r;
}

int run_cuKernelGetFunction(cu_function *function, cu_function kernel) {
  const int r = run_real.cuKernelGetFunction(function, kernel);
  if (r != CU_SUCCESS) return r;
  pthread_mutex_lock(&run_lock);
  run_kernel *k = run_function_of(kernel);
  run_know_function(*function, k);
  if (k) run_place_make(k, NULL);
  pthread_mutex_unlock(&run_lock);
  return r;
}

/* ---- Attributes -------------------------------------------------------------------------------- */

static void set(run_handle handle, int attribute, int value) {
  run_kernel *k = run_function_of(handle);
  if (!k) return;
  pthread_mutex_lock(&run_lock);
  run_place_set(k, attribute, value);
  pthread_mutex_unlock(&run_lock);
}

int run_cuFuncSetAttribute(cu_function function, int attribute, int value) {
  const int r = run_real.cuFuncSetAttribute(function, attribute, value);
  if (r == CU_SUCCESS) set(function, attribute, value);
  return r;
}

int run_cuKernelSetAttribute(int attribute, int value, cu_function kernel, cu_device device) {
  const int r = run_real.cuKernelSetAttribute(attribute, value, kernel, device);
  if (r == CU_SUCCESS) set(kernel, attribute, value);
  return r;
}

/* A preference is kept as an attribute is. */
int run_cuFuncSetCacheConfig(cu_function function, int config) {
  const int r = run_real.cuFuncSetCacheConfig(function, config);
  if (r == CU_SUCCESS) set(function, RUN_CACHE_CONFIG, config);
  return r;
}

int run_cuFuncSetSharedMemConfig(cu_function function, int config) {
  const int r = run_real.cuFuncSetSharedMemConfig(function, config);
  if (r == CU_SUCCESS) set(function, RUN_SHARED_CONFIG, config);
  return r;
}

int run_cuKernelSetCacheConfig(cu_function kernel, int config, cu_device device) {
  const int r = run_real.cuKernelSetCacheConfig(kernel, config, device);
  if (r == CU_SUCCESS) set(kernel, RUN_CACHE_CONFIG, config);
  return r;
}
