/* Functions of modules, kernels of libraries, occupancy. */
#include "cuda/driver/driver.h"

static cu_result here(cu_function handle, core_function **f) {
  return core_function_in(handle, core_current(), f);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

cu_result drv_cuKernelGetFunction(cu_function *function, cu_function kernel) {
  return function ? here(kernel, function) : CU_INVALID_VALUE;
}

cu_result drv_cuKernelGetLibrary(cu_library *library, cu_function kernel) {
  if (!library) return CU_INVALID_VALUE;
  if (!kernel || kernel->kind != CORE_KERNEL) return CU_INVALID_HANDLE;
  *library = kernel->library;
  return CU_SUCCESS;
}

cu_result drv_cuKernelGetName(const char **name, cu_function kernel) {
  if (!name || !kernel) return CU_INVALID_VALUE;
  if (kernel->kind != CORE_KERNEL && kernel->kind != CORE_FUNCTION) return CU_INVALID_HANDLE;
  *name = kernel->name;
  return CU_SUCCESS;
}

/* On a device other than the current one: in its primary context. */
static cu_result on_device(cu_function kernel, cu_device device, core_function **f) {
  const core_device *d = drv_device(device);
  core_context *c = core_current();
  if (!d) return CU_INVALID_DEVICE;
  if (c->device != d) c = d->primary;
  return c ? core_function_in(kernel, c, f) : CU_INVALID_CONTEXT;
}

cu_result drv_cuKernelGetAttribute(int *value, int attribute, cu_function kernel, cu_device device) {
  core_function *f;
  if (!value) return CU_INVALID_VALUE;
  cu_result r = on_device(kernel, device, &f);
  return r == CU_SUCCESS ? core_function_attribute(f, attribute, value) : r;
}

cu_result drv_cuKernelSetAttribute(int attribute, int value, cu_function kernel, cu_device device) {
  core_function *f;
  cu_result r = on_device(kernel, device, &f);
  return r == CU_SUCCESS ? core_function_set(f, attribute, value) : r;
}

cu_result drv_cuKernelSetCacheConfig(cu_function kernel, int config, cu_device device) {
  core_function *f;
  return on_device(kernel, device, &f);
}

cu_result drv_cuKernelGetParamInfo(cu_function kernel, size_t index, size_t *offset, size_t *bytes) {
  core_function *f;
  if (!offset) return CU_INVALID_VALUE;
  cu_result r = here(kernel, &f);
  if (r != CU_SUCCESS) return r;
  if (index >= f->n_params) return CU_INVALID_VALUE;
  *offset = f->offsets[index];
  if (bytes) *bytes = f->sizes[index];
  return CU_SUCCESS;
}

/* ---- Functions ------------------------------------------------------------------------------- */

cu_result drv_cuFuncGetAttribute(int *value, int attribute, cu_function function) {
  core_function *f;
  if (!value) return CU_INVALID_VALUE;
  cu_result r = here(function, &f);
  return r == CU_SUCCESS ? core_function_attribute(f, attribute, value) : r;
}

cu_result drv_cuFuncSetAttribute(cu_function function, int attribute, int value) {
  core_function *f;
  cu_result r = here(function, &f);
  return r == CU_SUCCESS ? core_function_set(f, attribute, value) : r;
}

cu_result drv_cuFuncSetCacheConfig(cu_function function, int config) {
  core_function *f;
  return config < 0 || config > 3 ? CU_INVALID_VALUE : here(function, &f);
}

cu_result drv_cuFuncSetSharedMemConfig(cu_function function, int config) {
  core_function *f;
  return config < 0 || config > 2 ? CU_INVALID_VALUE : here(function, &f);
}

cu_result drv_cuFuncGetModule(cu_module *module, cu_function function) {
  core_function *f;
  if (!module) return CU_INVALID_VALUE;
  cu_result r = here(function, &f);
  if (r == CU_SUCCESS) *module = f->module;
  return r;
}

cu_result drv_cuFuncGetName(const char **name, cu_function function) {
  return drv_cuKernelGetName(name, function);
}

cu_result drv_cuFuncGetParamInfo(cu_function function, size_t index, size_t *offset, size_t *bytes) {
  return drv_cuKernelGetParamInfo(function, index, offset, bytes);
}

cu_result drv_cuFuncIsLoaded(int *loaded, cu_function function) {
  core_function *f;
  if (!loaded) return CU_INVALID_VALUE;
  *loaded = 1;
  return here(function, &f);
}

cu_result drv_cuFuncLoad(cu_function function) {
  core_function *f;
  return here(function, &f);
}

/* ---- Occupancy ------------------------------------------------------------------------------- */

cu_result drv_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, cu_function function, int threads,
                                                          size_t shared) {
  core_function *f;
  if (!n || threads <= 0) return CU_INVALID_VALUE;
  cu_result r = here(function, &f);
  if (r == CU_SUCCESS) *n = (int)core_occupancy(f, (uint64_t)threads, shared);
  return r;
}

cu_result drv_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, cu_function function, int threads,
                                                                   size_t shared, unsigned flags) {
  return drv_cuOccupancyMaxActiveBlocksPerMultiprocessor(n, function, threads, shared);
}

/* The size with the most threads on an SM; of several the largest. */
cu_result drv_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, cu_function function,
                                               cu_shared_for_block *shared_for, size_t shared, int most) {
  core_function *f;
  if (!grid || !block) return CU_INVALID_VALUE;
  cu_result r = here(function, &f);
  if (r != CU_SUCCESS) return r;
  uint64_t best = 0;
  uint32_t limit = f->max_threads;
  if (most > 0 && (uint32_t)most < limit) limit = (uint32_t)most;
  *grid = *block = 0;
  for (uint32_t size = (limit + HD_WARP - 1) / HD_WARP * HD_WARP; size; size -= HD_WARP) {
    const uint32_t threads = size < limit ? size : limit;
    const uint32_t n = core_occupancy(f, threads, shared_for ? shared_for((int)threads) : shared);
    if ((uint64_t)n * threads <= best) continue;
    best = (uint64_t)n * threads;
    *block = (int)threads;
    *grid = (int)(n * core.settings.n_sms);
  }
  return CU_SUCCESS;
}

cu_result drv_cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, cu_function function,
                                                        cu_shared_for_block *shared_for, size_t shared,
                                                        int most, unsigned flags) {
  return drv_cuOccupancyMaxPotentialBlockSize(grid, block, function, shared_for, shared, most);
}

cu_result drv_cuOccupancyMaxPotentialClusterSize(int *size, cu_function function,
                                                 const cu_launch_config *config) {
  core_function *f;
  uint32_t shape[3];
  if (!size || !config) return CU_INVALID_VALUE;
  cu_result r = here(function, &f);
  if (r != CU_SUCCESS) return r;
  *size = (int)core_most_cluster(f);
  const core_launch l = drv_launch_of(f, config);
  return core_cluster_of(f, l.grid, l.cluster, shape);
}

/* As many as there are places for their CTAs; no GPU spreads a cluster over all its SMs. */
cu_result drv_cuOccupancyMaxActiveClusters(int *n, cu_function function, const cu_launch_config *config) {
  core_function *f;
  uint32_t shape[3];
  if (!n || !config) return CU_INVALID_VALUE;
  cu_result r = here(function, &f);
  if (r != CU_SUCCESS) return r;
  const core_launch l = drv_launch_of(f, config);
  r = core_cluster_of(f, l.grid, l.cluster, shape);
  if (r != CU_SUCCESS) return r;
  const uint64_t threads = (uint64_t)l.block[0] * l.block[1] * l.block[2];
  *n = (int)(core_occupancy(f, threads, l.dynamic_shared) * core.settings.n_sms /
             (shape[0] * shape[1] * shape[2]));
  return CU_SUCCESS;
}

cu_result drv_cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, cu_function function, int blocks,
                                                      int threads) {
  core_function *f;
  if (!bytes || blocks <= 0 || threads <= 0) return CU_INVALID_VALUE;
  cu_result r = here(function, &f);
  if (r != CU_SUCCESS) return r;
  const uint64_t each = core.settings.shared_bytes / (uint64_t)blocks,
                 fixed = f->static_shared + core.settings.shared_reserved,
                 unit = core.settings.shared_unit ? core.settings.shared_unit : 1;
  *bytes = each / unit * unit > fixed ? each / unit * unit - fixed : 0;
  if (*bytes > (size_t)f->max_dynamic) *bytes = (size_t)f->max_dynamic;
  return CU_SUCCESS;
}
