/* Rewritten kernels in contexts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/watch.h"

/* ---- Making ready ------------------------------------------------------------------------------ */

static bool of_library(cu_library library, const char *name, cu_function *kernel, cu_function *function) {
  return run_real.cuLibraryGetKernel(kernel, library, name) == CU_SUCCESS &&
         run_real.cuKernelGetFunction(function, *kernel) == CU_SUCCESS;
}

static bool of_program(const run_module *m, const char *name, cu_function *kernel, cu_function *function) {
  *kernel = NULL;
  return m->library ? of_library(m->handle, name, kernel, function)
                    : run_real.cuModuleGetFunction(function, m->handle, name) == CU_SUCCESS;
}

static int ask_variable(const run_variable *v, const run_module *m, uint64_t *at, size_t *bytes) {
  const run_driver *d = &run_real;
  if (!m->library)
    return d->cuModuleGetGlobal_v2 ? d->cuModuleGetGlobal_v2(at, bytes, m->handle, v->name)
                                   : CU_NOT_SUPPORTED;
  fn_cuLibraryGetGlobal *const get = v->managed ? d->cuLibraryGetManaged : d->cuLibraryGetGlobal;
  return get ? get(at, bytes, m->handle, v->name) : CU_NOT_SUPPORTED;
}

bool run_variable_find(run_variable *v, const run_module *m) {
  size_t bytes = 0;
  if (ask_variable(v, m, &v->at, &bytes) != CU_SUCCESS || bytes < v->bytes) v->at = 0;
  return v->at != 0;
}

const char *run_variables_find(run_variables *v, const run_module *m) {
  for (size_t k = 0; k < v->all.n; k++)
    if (!run_variable_find(&v->all.data[k], m)) return "the driver does not say where its variables are";
  return NULL;
}

/* A library is of all contexts, unless it has addresses of one, which no other process has. `tried`: it may
 * never be wanted again. */
static cu_library library_of(run_variant *v, run_place *p, bool tried) {
  if (v->library) return v->library;
  if (!v->text || v->code.len) {
    v->library = run_library_load(v->code.data);
    if (v->text) run_ahead_loaded(v->library);
    if (v->library && v->text) return v->library; /* the code may be kept */
    hd_buf_free(&v->code);
    if (!v->text) return v->library;
  }
  if (!v->variables.all.n) return v->library = run_cubin_load(v->text, !tried);
  const char *why = run_variables_find(&v->variables, v->kernel->module);
  if (why) {
    snprintf(v->kernel->why, sizeof v->kernel->why, "%s", why);
    return NULL;
  }
  char *text = run_variables_fill(&v->variables, v->text);
  if (text) p->library = run_library_load(text);
  free(text);
  return p->library;
}

/* The program's kernel takes the parameters that the text says. It may be made from another text, where this
 * one is for a newer architecture. */
static bool has_parameters(const run_variant *v, cu_function function) {
  size_t offset = 0, bytes = 0;
  fn_cuFuncGetParamInfo *const ask = run_real.cuFuncGetParamInfo;
  if (!v->kernel->module->own.newer) return true;
  if (!ask || ask(function, v->n_params, &offset, &bytes) == CU_SUCCESS) return false;
  return !v->n_params ||
         (ask(function, v->n_params - 1, &offset, &bytes) == CU_SUCCESS && offset + bytes == v->own_bytes);
}

/* A driver that loads lazily puts off until the first launch what may wait for kernels that run. */
static bool load_now(cu_function function) {
  const run_driver *d = &run_real;
  int registers;
  return (d->cuFuncLoad ? d->cuFuncLoad(function)
                        : d->cuFuncGetAttribute(&registers, CU_FUNC_REGISTERS, function)) == CU_SUCCESS;
}

/* The original, too: it is launched where the variant does not fit, and that may be its first launch of all.
 */
static bool load(run_variant *v, run_place *p, bool tried) {
  const cu_library library = library_of(v, p, tried);
  return library && of_library(library, v->kernel->name, &p->kernel, &p->function) &&
         of_program(v->kernel->module, v->kernel->name, &p->original_kernel, &p->original) &&
         has_parameters(v, p->original) && load_now(p->function) && load_now(p->original);
}

/* Memory with this content, NULL: zeros. The stream is heddle's own: the default stream may belong to a
 * capture. */
static bool allocate(run_place *p, uint64_t bytes, const void *content, uint64_t *out) {
  const run_driver *d = &run_real;
  cu_stream stream;
  if (!d->cuMemAlloc_v2 || !d->cuMemFree_v2 || !d->cuMemsetD8Async || !d->cuMemcpyHtoDAsync_v2 ||
      !d->cuStreamCreate || !d->cuStreamSynchronize || !d->cuStreamDestroy_v2 ||
      d->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CU_SUCCESS)
    return false;
  if (d->cuMemAlloc_v2(out, bytes) != CU_SUCCESS) *out = 0;
  bool ok = *out && (content ? d->cuMemcpyHtoDAsync_v2(*out, content, bytes, stream)
                             : d->cuMemsetD8Async(*out, 0, bytes, stream)) == CU_SUCCESS;
  ok = d->cuStreamSynchronize(stream) == CU_SUCCESS && ok;
  d->cuStreamDestroy_v2(stream);
  if (!ok && *out) {
    d->cuMemFree_v2(*out);
    *out = 0;
  }
  if (ok) p->bytes += bytes;
  return ok;
}

/* The memory that its launches take beyond the original's, in its first state. */
static bool fill(const run_variant *v, run_place *p) {
  const uint64_t tables = v->recipe.table_bytes, states = RUN_STATES * p->state_bytes;
  if (tables &&
      (v->table.n * sizeof *v->table.task != tables || !allocate(p, tables, v->table.task, &p->table)))
    return false;
  return !states || allocate(p, states, NULL, &p->states);
}

static int apply(run_place *p, int attribute, int value) {
  const run_driver *d = &run_real;
  if (attribute == RUN_CACHE_CONFIG)
    return d->cuFuncSetCacheConfig ? d->cuFuncSetCacheConfig(p->function, value) : CU_SUCCESS;
  if (attribute == RUN_SHARED_CONFIG)
    return d->cuFuncSetSharedMemConfig ? d->cuFuncSetSharedMemConfig(p->function, value) : CU_SUCCESS;
  return d->cuFuncSetAttribute(p->function, attribute, value);
}

static bool settle(const run_variant *v, run_place *p) {
  run_gpu gpu;
  if (!run_gpu_of(&gpu)) return false;
  p->n_sms = gpu.n_sms;
  for (int a = 0; a < 32; a++)
    if (v->kernel->set & 1u << a && apply(p, a, v->kernel->values[a]) != CU_SUCCESS) return false;
  return true;
}

void run_place_free_memory(run_place *p) {
  if (p->table) run_real.cuMemFree_v2(p->table);
  if (p->states) run_real.cuMemFree_v2(p->states);
  p->table = p->states = 0;
  while (p->lots.slabs.n) run_real.cuMemFree_v2(p->lots.slabs.data[--p->lots.slabs.n]);
}

void run_place_free(run_place *p) {
  hd_vec_free(&p->lots.slabs);
  hd_vec_free(&p->lots.idle);
  hd_vec_free(&p->lots.retired);
  free(p);
}

static void release(run_place *p) {
  run_place_free_memory(p);
  if (p->library && run_real.cuLibraryUnload) run_real.cuLibraryUnload(p->library);
  run_place_free(p);
}

static atomic_bool any_states;

bool run_any_states(void) { return atomic_load_explicit(&any_states, memory_order_relaxed); }

static run_place *make(run_variant *v, unsigned long long context, bool tried) {
  run_place *p = calloc(1, sizeof *p);
  const double begin = hd_seconds() - v->ready - run_cubins_compiling();
  if (!p) return NULL;
  p->context = context;
  p->state_bytes = (v->recipe.state_bytes + 255) / 256 * 256;
  if (!run_real.cuCtxGetDevice || run_real.cuCtxGetDevice(&p->device) != CU_SUCCESS) p->device = -1;
  if (!load(v, p, tried) || !fill(v, p) || !settle(v, p)) {
    release(p);
    atomic_store(&v->off, true);
    return NULL;
  }
  run_know_place(p->function, p);
  run_know_place(p->kernel, p);
  if (v->recipe.state_bytes || v->recipe.agents) atomic_store(&any_states, true);
  v->ready = hd_seconds() - begin - run_cubins_compiling();
  p->next = atomic_load_explicit(&v->places, memory_order_relaxed);
  atomic_store_explicit(&v->places, p, memory_order_release);
  return p;
}

/* One of a verdict, in its first context. */
static void begin_probation(run_variant *v) {
  const run_arm arm = {.variant = v};
  if (!v->verdict) return;
  run_note_ready(v->kernel, v->verdict, run_variant_cost(v));
  if (v->probation) run_probation_open(v->kernel, &arm);
  v->probation = false;
}

run_place *run_place_try(run_variant *v) {
  unsigned long long context;
  const run_driver *d = &run_real;
  if (!d->cuCtxGetId || !d->cuLibraryLoadData || !d->cuLibraryGetKernel || !d->cuKernelGetFunction ||
      d->cuCtxGetId(NULL, &context) != CU_SUCCESS)
    return NULL;
  return make(v, context, true);
}

void run_place_make(run_kernel *k, const unsigned long *own) {
  unsigned long long context;
  int mode = CU_CAPTURE_MODE_RELAXED;
  run_kernel_make_dynamic(k);
  run_variant *v = atomic_load_explicit(&k->variants, memory_order_relaxed);
  if (!v) return;
  const run_driver *d = &run_real;
  if (!d->cuCtxGetId || !d->cuLibraryLoadData || !d->cuLibraryGetKernel || !d->cuKernelGetFunction ||
      !d->cuThreadExchangeStreamCaptureMode || !d->cuFuncGetAttribute ||
      d->cuCtxGetId(NULL, &context) != CU_SUCCESS)
    return;
  if (d->cuThreadExchangeStreamCaptureMode(&mode) != CU_SUCCESS) return;
  /* Loading may wait for kernels that run, and these for what the program does next. */
  bool held = false;
  for (; v; v = v->next) {
    if (atomic_load(&v->off) || run_place_of(v)) continue;
    const bool first = !atomic_load(&v->places);
    held = held || run_hold(own);
    if (!held)
      run_place_later(k);
    else if (!make(v, context, false) && !k->why[0])
      strcpy(k->why, "the driver did not take the rewritten kernel");
    else if (first && !atomic_load(&v->off))
      begin_probation(v);
  }
  if (held) run_release();
  d->cuThreadExchangeStreamCaptureMode(&mode);
  run_cubins_write();
  for (v = atomic_load_explicit(&k->variants, memory_order_relaxed); v; v = v->next)
    if (atomic_load(&v->places)) run_variant_keep(v);
}

static atomic_bool any_later;

void run_place_later(run_kernel *k) {
  if (!atomic_exchange_explicit(&k->later, true, memory_order_relaxed)) run_some_later();
}

void run_some_later(void) { atomic_store_explicit(&any_later, true, memory_order_release); }

/* Now and then it is looked at whether verdicts are to be measured again. */
static bool is_time_again(void) {
  enum { WAITS = 256 };
  static atomic_uint n;
  return run_settings.verdicts[0] && !run_settings.unguarded &&
         atomic_fetch_add_explicit(&n, 1, memory_order_relaxed) % WAITS == WAITS - 1;
}

/* The program has waited, and the driver is idle for a moment. `own`: as in run_hold. */
static int catch_up(int r, const unsigned long *own) {
  run_times_take();
  const bool again = is_time_again();
  if (again) run_some_later();
  if (r != CU_SUCCESS || !atomic_load_explicit(&any_later, memory_order_relaxed)) return r;
  atomic_store_explicit(&any_later, false, memory_order_relaxed);
  pthread_mutex_lock(&run_lock);
  for (run_module *m = run_modules; m; m = m->next)
    for (run_kernel *k = m->kernels; k && !m->dead; k = k->next) {
      run_live_settle(k, false);
      if (again) run_live_again(k);
      if (atomic_exchange_explicit(&k->later, false, memory_order_relaxed)) run_place_make(k, own);
    }
  run_modules_leave(own);
  pthread_mutex_unlock(&run_lock);
  return r;
}

/* ---- Use --------------------------------------------------------------------------------------- */

run_place *run_place_of(const run_variant *v) {
  unsigned long long context;
  run_place *p = atomic_load_explicit(&((run_variant *)(uintptr_t)v)->places, memory_order_acquire);
  if (!p || run_real.cuCtxGetId(NULL, &context) != CU_SUCCESS) return NULL;
  while (p && (p->context != context || atomic_load_explicit(&p->dead, memory_order_relaxed))) p = p->next;
  return p;
}

void run_place_set(run_kernel *k, int attribute, int value) {
  if (attribute < 0 || attribute >= 32) return;
  k->set |= 1u << attribute;
  k->values[attribute] = value;
  for (run_variant *v = atomic_load(&k->variants); v; v = v->next)
    for (run_place *p = atomic_load(&v->places); p; p = p->next)
      if (!atomic_load(&p->dead) && apply(p, attribute, value) != CU_SUCCESS) atomic_store(&v->off, true);
}

/* ---- States ------------------------------------------------------------------------------------ */

/* Handles of streams are addresses, or 1 and 2; threads' own streams get odd numbers above those. */
static uint64_t key_of(cu_stream stream, uint64_t thread) {
  return thread ? thread << 8 | 3 : stream ? (uint64_t)(uintptr_t)stream : 1;
}

/* Waits of the program's for a whole context, as they begin: what was retired before the last of them that is
 * over is not in use. */
static atomic_ulong waits;

/* A state whose stream is gone, though its last launch may not be over; with the number of waits behind it.
 */
#define RETIRED (UINT64_C(1) << 63)

uint64_t run_place_state(run_place *p, cu_stream stream, uint64_t thread) {
  const uint64_t key = key_of(stream, thread);
  for (int k = 0; k < RUN_STATES; k++) {
    uint64_t has = atomic_load_explicit(&p->streams[k], memory_order_acquire);
    if (!has && !atomic_compare_exchange_strong(&p->streams[k], &has, key) && has != key) continue;
    if (has == key || !has) return p->states + (uint64_t)k * p->state_bytes;
  }
  return 0;
}

enum { MOST_SLABS = 32 };

/* Takes no part in captures. */
static bool add_slab(run_place *p) {
  int mode = CU_CAPTURE_MODE_RELAXED;
  uint64_t slab = 0;
  const run_driver *d = &run_real;
  if (p->lots.slabs.n == MOST_SLABS || !d->cuThreadExchangeStreamCaptureMode ||
      d->cuThreadExchangeStreamCaptureMode(&mode) != CU_SUCCESS)
    return false;
  const bool held = run_hold(NULL), ok = held && allocate(p, RUN_STATES * p->state_bytes, NULL, &slab);
  if (held) run_release();
  d->cuThreadExchangeStreamCaptureMode(&mode);
  if (ok && !hd_vec_push(&p->lots.slabs, slab)) {
    d->cuMemFree_v2(slab);
    return false;
  }
  for (uint64_t k = 0; ok && k < RUN_STATES; k++)
    if (!hd_vec_push(&p->lots.idle, slab + k * p->state_bytes)) return k > 0;
  return ok;
}

uint64_t run_place_lend(run_place *p) {
  return p->lots.idle.n || add_slab(p) ? p->lots.idle.data[--p->lots.idle.n] : 0;
}

/* Without memory the state is lost until its place goes. */
void run_place_take_back(run_place *p, uint64_t state, bool idle) {
  const struct run_retired retired = {state, atomic_load(&waits)};
  if (idle)
    hd_vec_push(&p->lots.idle, state);
  else
    hd_vec_push(&p->lots.retired, retired);
}

static void each_place_locked(void (*fn)(run_place *p, void *ctx), void *ctx) {
  for (run_module *m = run_modules; m; m = m->next)
    for (run_kernel *k = m->kernels; k; k = k->next)
      for (run_variant *v = atomic_load(&k->variants); v; v = v->next)
        for (run_place *p = atomic_load(&v->places); p; p = p->next) fn(p, ctx);
}

static void each_place(void (*fn)(run_place *p, void *ctx), void *ctx) {
  pthread_mutex_lock(&run_lock);
  each_place_locked(fn, ctx);
  pthread_mutex_unlock(&run_lock);
}

static void retire(run_place *p, void *key) {
  for (int k = 0; k < RUN_STATES; k++) {
    uint64_t has = *(const uint64_t *)key;
    atomic_compare_exchange_strong(&p->streams[k], &has, RETIRED | atomic_load(&waits));
  }
}

static void set_free(run_place *p, void *key) {
  for (int k = 0; k < RUN_STATES; k++) {
    uint64_t has = *(const uint64_t *)key;
    atomic_compare_exchange_strong(&p->streams[k], &has, 0);
  }
}

void run_states_free(cu_stream stream) {
  uint64_t key = key_of(stream, 0);
  each_place_locked(set_free, &key);
}

/* A wait of a context's that is over. */
typedef struct wait {
  unsigned long long context;
  unsigned long number;
} wait;

static void reuse(run_place *p, void *ctx) {
  const wait *w = ctx;
  if (p->context != w->context) return;
  for (int k = 0; k < RUN_STATES; k++) {
    uint64_t has = atomic_load(&p->streams[k]);
    if (has & RETIRED && (has & ~RETIRED) < w->number)
      atomic_compare_exchange_strong(&p->streams[k], &has, 0);
  }
  for (size_t k = p->lots.retired.n; k-- > 0;) {
    if (p->lots.retired.data[k].when >= w->number) continue;
    run_place_take_back(p, p->lots.retired.data[k].state, true);
    p->lots.retired.data[k] = p->lots.retired.data[--p->lots.retired.n];
  }
}

/* `context` NULL: all. */
static void end(run_place *p, void *context) {
  if (!context || p->context == *(const unsigned long long *)context) atomic_store(&p->dead, true);
}

typedef struct own_memory {
  int device;
  uint64_t bytes;
} own_memory;

static void add_memory(run_place *p, void *ctx) {
  own_memory *m = ctx;
  if (p->device == m->device && !atomic_load(&p->dead)) m->bytes += p->bytes;
}

/* ---- Entry points ------------------------------------------------------------------------------ */

/* The handle may be given to another stream as soon as the call has returned. */
int run_cuStreamDestroy_v2(cu_stream stream) {
  uint64_t key = key_of(stream, 0);
  run_stream_gone(stream);
  if (stream) each_place(retire, &key);
  return run_real.cuStreamDestroy_v2(stream);
}

typedef struct begun {
  wait w;
  unsigned long own; /* as in run_hold */
} begun;

static begun begin_wait(void) {
  return (begun){{.number = atomic_fetch_add(&waits, 1) + 1}, run_gate_own_launches()};
}

/* A context that is gone took with it what is in it. */
static void context_gone(unsigned long long context) {
  pthread_mutex_lock(&run_lock);
  for (run_module *m = run_modules; m; m = m->next)
    for (run_kernel *k = m->kernels; k; k = k->next) run_live_context_gone(k, context);
  run_pairs_context_gone(context);
  pthread_mutex_unlock(&run_lock);
  run_streams_gone(context);
}

/* The launches of streams that are gone are over, too. `context` NULL: the current one. */
static int end_wait(int r, run_handle context, begun b) {
  unsigned long long current = 0;
  const run_driver *d = &run_real;
  if (r != CU_SUCCESS || !d->cuCtxGetId || d->cuCtxGetId(context, &b.w.context) != CU_SUCCESS)
    return catch_up(r, NULL);
  each_place(reuse, &b.w);
  const bool is_current = d->cuCtxGetId(NULL, &current) == CU_SUCCESS && current == b.w.context;
  return catch_up(r, is_current ? &b.own : NULL);
}

int run_cuCtxSynchronize(void) {
  const begun b = begin_wait();
  return end_wait(run_real.cuCtxSynchronize(), NULL, b);
}
int run_cuCtxSynchronize_v2(cu_context context) {
  const begun b = begin_wait();
  return end_wait(run_real.cuCtxSynchronize_v2(context), context, b);
}

/* Memory that heddle took counts as free: programs divide among themselves what there is. */
int run_cuMemGetInfo_v2(size_t *left, size_t *total) {
  own_memory own = {0};
  const int r = run_real.cuMemGetInfo_v2(left, total);
  if (r != CU_SUCCESS || !left || !total || !run_real.cuCtxGetDevice ||
      run_real.cuCtxGetDevice(&own.device) != CU_SUCCESS)
    return r;
  each_place(add_memory, &own);
  *left = own.bytes < *total - *left ? *left + own.bytes : *total;
  return r;
}

int run_cuStreamSynchronize(cu_stream stream) { return catch_up(run_real.cuStreamSynchronize(stream), NULL); }
int run_cuStreamSynchronize_ptsz(cu_stream stream) {
  return catch_up(run_real.cuStreamSynchronize_ptsz(stream), NULL);
}
int run_cuEventSynchronize(cu_event event) { return catch_up(run_real.cuEventSynchronize(event), NULL); }

int run_cuCtxDestroy_v2(cu_context context) {
  run_times_take();
  unsigned long long id;
  if (run_real.cuCtxGetId && run_real.cuCtxGetId(context, &id) == CU_SUCCESS) {
    each_place(end, &id);
    context_gone(id);
  }
  return run_real.cuCtxDestroy_v2(context);
}

static bool is_active(int device) {
  unsigned flags;
  int active = 0;
  return run_real.cuDevicePrimaryCtxGetState &&
         run_real.cuDevicePrimaryCtxGetState(device, &flags, &active) == CU_SUCCESS && active;
}

/* The number of the device's primary context, while there is one; 0: there is none. */
static unsigned long long primary_of(int device) {
  unsigned long long id = 0;
  cu_context context;
  const run_driver *d = &run_real;
  if (!run_tracks || !d->cuCtxGetId || !d->cuDevicePrimaryCtxRetain || !d->cuDevicePrimaryCtxRelease_v2 ||
      !is_active(device) || d->cuDevicePrimaryCtxRetain(&context, device) != CU_SUCCESS)
    return 0;
  if (d->cuCtxGetId(context, &id) != CU_SUCCESS) id = 0;
  d->cuDevicePrimaryCtxRelease_v2(device);
  return id;
}

/* A primary context keeps its handle and may keep its number; it goes when it is reset, or released as often
 * as it was retained. */
static int end_primary(int (*real)(int), int device, bool resets) {
  const unsigned long long id = primary_of(device);
  run_times_take();
  const int r = real(device);
  each_place(end, NULL);
  if (r == CU_SUCCESS && id && (resets || !is_active(device))) context_gone(id);
  return r;
}
int run_cuDevicePrimaryCtxReset_v2(cu_device device) {
  return end_primary(run_real.cuDevicePrimaryCtxReset_v2, device, true);
}
int run_cuDevicePrimaryCtxReset(cu_device device) {
  return end_primary(run_real.cuDevicePrimaryCtxReset, device, true);
}
int run_cuDevicePrimaryCtxRelease_v2(cu_device device) {
  return end_primary(run_real.cuDevicePrimaryCtxRelease_v2, device, false);
}
int run_cuDevicePrimaryCtxRelease(cu_device device) {
  return end_primary(run_real.cuDevicePrimaryCtxRelease, device, false);
}
