/* cuda:N: modules, kernels, launches. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda.h"

enum { LOG_BYTES = 8192 };

static cuda_module *module_of(hd_device_module *m) { return (cuda_module *)m; }

/* ---- Loading -------------------------------------------------------------------- */

/* The compiler's log without empty lines, in one line. */
static void flatten(char *log) {
  char *to = log;
  bool space = true;
  for (const char *p = log; *p; p++) {
    bool blank = (unsigned char)*p <= ' ';
    if (!blank || !space) *to++ = blank ? ' ' : *p;
    space = blank;
  }
  while (to > log && to[-1] == ' ') to--;
  *to = 0;
}

static hd_status compile(cuda_device *c, cuda_module *m, const char *text, const hd_device_load_options *o,
                         hd_diag *d) {
  char *log = calloc(1, LOG_BYTES);
  if (!log) return hd_nomem(d);
  int options[4] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES};
  void *values[4] = {log, (void *)(uintptr_t)LOG_BYTES};
  unsigned n = 2;
  if (o->max_registers) {
    options[n] = CU_JIT_REGISTERS;
    values[n++] = (void *)(uintptr_t)o->max_registers;
  }
  if (o->unoptimized) {
    options[n] = CU_JIT_OPTIMIZATION;
    values[n++] = (void *)0;
  }
  char about[512];
  cu_result r = c->api.cuModuleLoadDataEx(&m->module, text, n, options, values);
  log[LOG_BYTES - 1] = 0;
  flatten(log);
  snprintf(about, sizeof about, "of %.80s%s%.400s%s", m->name, log[0] ? " (" : "", log, log[0] ? ")" : "");
  hd_status st = cuda_check(c, r, "cuModuleLoadDataEx", about, d);
  /* The user needs the log; the driver's words for the result come second. */
  if (st == HD_ERR_INPUT && log[0])
    hd_fail(d, st, "%s: the driver's compiler refuses %.80s: %.560s", c->base.info.name, m->name, log);
  free(log);
  return st;
}

/* Machine code that the driver does not take is no loss: there is the text. */
static hd_status load_or_compile(cuda_device *c, cuda_module *m, const char *text, size_t len,
                                 const hd_device_load_options *o, hd_diag *d) {
  void *image = cuda_take_image(c, text, len, o);
  bool loaded = image && c->api.cuModuleLoadDataEx(&m->module, image, 0, NULL, NULL) == CU_SUCCESS;
  free(image);
  return loaded ? HD_OK : compile(c, m, text, o, d);
}

hd_status cuda_load(hd_device *dev, const char *ptx, size_t len, const char *name,
                    const hd_device_load_options *o, hd_device_module **out, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  hd_status st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  cuda_module *m = calloc(1, sizeof *m);
  char *text = strndup(ptx, len);
  if (m) {
    m->base.device = dev;
    m->name = strdup(name);
    hd_arena_init(&m->arena);
  }
  st = m && m->name && text ? load_or_compile(c, m, text, len, o, d) : hd_nomem(d);
  free(text);
  if (st == HD_OK) {
    *out = &m->base;
    st = hd_ptx_parse(ptx, len, name, &m->arena, &m->ptx, d);
    m = NULL;
  }
  if (m) free(m->name);
  free(m);
  st = cuda_leave(c, st, d);
  if (st != HD_OK && *out) {
    cuda_unload(*out);
    *out = NULL;
  }
  return st;
}

static void free_kernel(cuda_kernel *k) {
  free(k->name);
  free(k->offsets);
  free(k->params);
}

void cuda_unload(hd_device_module *base) {
  cuda_module *m = module_of(base);
  cuda_device *c = cuda_of(base->device);
  cu_context old;
  bool current = c->api.cuCtxPushCurrent_v2(c->context) == CU_SUCCESS;
  c->api.cuModuleUnload(m->module);
  if (current) c->api.cuCtxPopCurrent_v2(&old);
  for (size_t i = 0; i < m->kernels.n; i++) free_kernel(&m->kernels.data[i]);
  hd_vec_free(&m->kernels);
  hd_arena_free(&m->arena);
  free(m->name);
  free(m);
}

/* ---- Kernels ---------------------------------------------------------------------- */

static hd_status function_attribute(cuda_device *c, const cuda_kernel *k, int which, uint32_t *out,
                                    hd_diag *d) {
  char about[160];
  int v = 0;
  snprintf(about, sizeof about, "%d of kernel '%.120s'", which, k->name);
  hd_status st = CUDA_TRY(c, d, about, cuFuncGetAttribute, &v, which, k->function);
  *out = v < 0 ? 0 : (uint32_t)v;
  return st;
}

/* Arguments are passed one by one: in one buffer with all others the driver expects over-aligned ones, such
 * as tensor maps, at offsets of its own, and a kernel that does not find its map ends as by an illegal
 * instruction. */
static hd_status find_params(const cuda_module *m, cuda_kernel *k, hd_diag *d) {
  int64_t func = hd_ptx_find_kernel(m->ptx, k->name);
  if (func < 0) return hd_fail(d, HD_ERR_INPUT, "%.200s: no kernel '%.200s' in the PTX", m->name, k->name);
  const hd_ptx_func *f = &m->ptx->funcs[func];
  k->n_params = f->n_params;
  k->offsets = calloc(f->n_params + 1, sizeof *k->offsets);
  k->params = calloc(f->n_params + 1, sizeof *k->params);
  if (!k->offsets || !k->params) return hd_nomem(d);
  k->params_bytes = hd_ptx_param_layout(m->ptx, f, k->offsets);
  return HD_OK;
}

/* The context is current. */
static hd_status find_kernel(cuda_module *m, const char *name, cuda_kernel **out, hd_diag *d) {
  cuda_device *c = cuda_of(m->base.device);
  for (size_t i = 0; i < m->kernels.n; i++)
    if (strcmp(m->kernels.data[i].name, name) == 0) {
      *out = &m->kernels.data[i];
      return HD_OK;
    }
  cuda_kernel k = {.carveout = -1, .name = strdup(name)};
  if (!k.name) return hd_nomem(d);
  cu_result r = c->api.cuModuleGetFunction(&k.function, m->module, name);
  char about[160];
  snprintf(about, sizeof about, "'%.120s'", name);
  hd_status st = r == CU_NOT_FOUND
                     ? hd_fail(d, HD_ERR_USAGE, "%.200s: no kernel '%.200s' in this module", m->name, name)
                     : cuda_check(c, r, "cuModuleGetFunction", about, d);
  if (st == HD_OK) st = function_attribute(c, &k, CU_FUNC_MAX_DYNAMIC_SHARED, &k.dynamic_limit, d);
  if (st == HD_OK) st = find_params(m, &k, d);
  if (st == HD_OK && !hd_vec_push(&m->kernels, k)) st = hd_nomem(d);
  if (st != HD_OK)
    free_kernel(&k);
  else
    *out = &m->kernels.data[m->kernels.n - 1];
  return st;
}

static hd_status set_attribute(cuda_device *c, const cuda_kernel *k, int which, int value, hd_diag *d) {
  char about[192];
  snprintf(about, sizeof about, "%d = %d of kernel '%.120s'", which, value, k->name);
  return CUDA_TRY(c, d, about, cuFuncSetAttribute, k->function, which, value);
}

/* More dynamic shared memory than a kernel may have unasked has to be asked for. */
static hd_status allow_shared(cuda_device *c, cuda_kernel *k, uint32_t bytes, hd_diag *d) {
  if (bytes <= k->dynamic_limit) return HD_OK;
  if (bytes > INT32_MAX)
    return hd_fail(d, HD_ERR_INPUT, "kernel '%.200s': %u bytes of dynamic shared memory", k->name, bytes);
  hd_status st = set_attribute(c, k, CU_FUNC_MAX_DYNAMIC_SHARED, (int)bytes, d);
  if (st == HD_OK) k->dynamic_limit = bytes;
  return st;
}

static hd_status read_kernel_info(cuda_module *m, const char *kernel, hd_kernel_info *out, hd_diag *d) {
  cuda_device *c = cuda_of(m->base.device);
  cuda_kernel *k;
  hd_status st = find_kernel(m, kernel, &k, d);
  if (st == HD_OK) st = function_attribute(c, k, CU_FUNC_REGISTERS, &out->registers, d);
  if (st == HD_OK) st = function_attribute(c, k, CU_FUNC_STATIC_SHARED, &out->static_shared, d);
  if (st == HD_OK) st = function_attribute(c, k, CU_FUNC_LOCAL_BYTES, &out->local_bytes, d);
  if (st == HD_OK) st = function_attribute(c, k, CU_FUNC_MAX_THREADS, &out->max_threads, d);
  return st;
}

hd_status cuda_symbol(hd_device_module *base, const char *name, uint64_t *address, uint64_t *bytes,
                      hd_diag *d) {
  cuda_device *c = cuda_of(base->device);
  const cuda_module *m = module_of(base);
  size_t n = 0;
  char about[160];
  hd_status st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  snprintf(about, sizeof about, "'%.120s'", name);
  cu_result r = c->api.cuModuleGetGlobal_v2(address, &n, m->module, name);
  st = r == CU_NOT_FOUND ? hd_fail(d, HD_ERR_USAGE, "%.200s has no variable '%.200s'", m->name, name)
                         : cuda_check(c, r, "cuModuleGetGlobal_v2", about, d);
  *bytes = n;
  return cuda_leave(c, st, d);
}

hd_status cuda_kernel_info(hd_device_module *m, const char *kernel, hd_kernel_info *out, hd_diag *d) {
  cuda_device *c = cuda_of(m->device);
  hd_status st = cuda_enter(c, d);
  return st == HD_OK ? cuda_leave(c, read_kernel_info(module_of(m), kernel, out, d), d) : st;
}

hd_status cuda_resident(hd_device_module *m, const char *kernel, uint32_t threads, uint32_t dynamic_shared,
                        uint32_t registers, uint32_t *ctas, hd_diag *d) {
  cuda_device *c = cuda_of(m->device);
  hd_status st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  cuda_kernel *k;
  int n = 0;
  char about[160];
  st = find_kernel(module_of(m), kernel, &k, d);
  if (st == HD_OK) st = allow_shared(c, k, dynamic_shared, d);
  snprintf(about, sizeof about, "of kernel '%.120s'", kernel);
  if (st == HD_OK)
    st = CUDA_TRY(c, d, about, cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, k->function, (int)threads,
                  dynamic_shared);
  if (st == HD_OK) *ctas = (uint32_t)n;
  return cuda_leave(c, st, d);
}

/* ---- Launches ------------------------------------------------------------------------- */

static hd_status launch(cuda_device *c, cuda_kernel *k, const hd_device_launch *l, hd_diag *d) {
  int carveout = l->has_carveout ? (int)l->carveout : -1;
  hd_status st = allow_shared(c, k, l->dynamic_shared, d);
  if (st == HD_OK && carveout != k->carveout) {
    st = set_attribute(c, k, CU_FUNC_CARVEOUT, carveout, d);
    if (st == HD_OK) k->carveout = carveout;
  }
  if (st != HD_OK) return st;
  cu_launch_config config = {.grid = {l->grid[0], l->grid[1], l->grid[2]},
                             .block = {l->block[0], l->block[1], l->block[2]},
                             .dynamic_shared = l->dynamic_shared,
                             .stream = c->current};
  cu_launch_attribute together = {.id = CU_LAUNCH_COOPERATIVE, .value.number = 1};
  if (l->cooperative) {
    config.attributes = &together;
    config.n_attributes = 1;
  }
  if (l->args_bytes != k->params_bytes)
    return hd_fail(d, HD_ERR_INPUT, "%s: kernel '%.110s' takes %" PRIu64 " bytes of arguments, not %" PRIu64,
                   c->base.info.name, k->name, k->params_bytes, l->args_bytes);
  for (uint32_t i = 0; i < k->n_params; i++) k->params[i] = (char *)l->args + k->offsets[i];
  cu_result r = c->api.cuLaunchKernelEx(&config, k->function, k->params, NULL);
  snprintf(c->kernel, sizeof c->kernel, "%s", k->name);
  if (r == CU_SUCCESS) return HD_OK;
  char about[224];
  snprintf(about, sizeof about,
           "of kernel '%.110s', grid %ux%ux%u, block %ux%ux%u, %u bytes of shared memory", k->name,
           l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->dynamic_shared);
  return cuda_check(c, r, "cuLaunchKernelEx", about, d);
}

hd_status cuda_run(hd_device_module *base, const hd_device_launch *l, hd_diag *d) {
  cuda_device *c = cuda_of(base->device);
  hd_status st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  cuda_kernel *k;
  st = find_kernel(module_of(base), l->kernel, &k, d);
  if (st == HD_OK) st = launch(c, k, l, d);
  return cuda_leave(c, st, d);
}

hd_status cuda_tensor_map(hd_device *dev, const hd_tensor *t, void *map, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  if (!c->api.cuTensorMapEncodeTiled || dev->info.arch < 90)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "%s: this GPU or its driver has no tensor maps", dev->info.name);
  hd_status st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  _Alignas(HD_TENSOR_MAP_ALIGN) char made[HD_TENSOR_MAP_BYTES];
  uint32_t element_stride[HD_TENSOR_DIMS];
  memcpy(element_stride, t->element_stride, sizeof element_stride);
  element_stride[0] = 1;
  st = CUDA_TRY(c, d, "", cuTensorMapEncodeTiled, made, t->type, t->rank, (void *)(uintptr_t)t->address,
                t->dim, t->stride, t->box, element_stride, t->interleave, t->swizzle, t->promotion, t->fill);
  if (st == HD_OK) memcpy(map, made, sizeof made);
  return cuda_leave(c, st, d);
}
