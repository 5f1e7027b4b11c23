/* Kernels by their addresses on the host: launches, attributes, occupancy. */
#include <string.h>

#include "cuda/runtime/runtime.h"

/* The kernel, and its function in the current context. */
static cu_result here(const void *host, core_function **f) {
  cu_result r = rt_kernel(host, f);
  return r == CU_SUCCESS ? core_function_in(*f, core_current(), f) : r;
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* Whether the runtime accepts a launch of this grid and block. */
static bool fits(rt_dim3 grid, rt_dim3 block) {
  return grid.x && grid.y && grid.z && grid.x <= 0x7FFFFFFF && grid.y <= 65535 && grid.z <= 65535 &&
         block.x && block.y && block.z && block.x <= 1024 && block.y <= 1024 && block.z <= 64 &&
         (uint64_t)block.x * block.y * block.z <= 1024;
}

static cu_result launch(core_launch *l, const void *host, cu_stream stream) {
  core_stream *s;
  core_work *w;
  cu_result r = here(host, &l->function);
  if (r == CU_SUCCESS) r = drv_stream(stream, &s);
  if (r == CU_SUCCESS) r = core_launch_work(s->context, l, &w);
  if (r == CU_SUCCESS) return core_submit(s, w, NULL, NULL);
  const rt_dim3 grid = {l->grid[0], l->grid[1], l->grid[2]}, block = {l->block[0], l->block[1], l->block[2]};
  return r == CU_INVALID_VALUE && !fits(grid, block) ? CU_RT_INVALID_CONFIGURATION : r;
}

static core_launch plain(rt_dim3 grid, rt_dim3 block, size_t shared, void **args) {
  return (core_launch){.grid = {grid.x, grid.y, grid.z},
                       .block = {block.x, block.y, block.z},
                       .dynamic_shared = shared > UINT32_MAX ? UINT32_MAX : (uint32_t)shared,
                       .params = args};
}

cu_result rt_cudaLaunchKernel(const void *host, rt_dim3 grid, rt_dim3 block, void **args, size_t shared,
                              cu_stream stream) {
  core_launch l = plain(grid, block, shared, args);
  return launch(&l, host, stream);
}

cu_result rt___cudaLaunchKernel(cu_function kernel, rt_dim3 grid, rt_dim3 block, void **args, size_t shared,
                                cu_stream stream) {
  return rt_cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

cu_result rt_cudaLaunchCooperativeKernel(const void *host, rt_dim3 grid, rt_dim3 block, void **args,
                                         size_t shared, cu_stream stream) {
  core_launch l = plain(grid, block, shared, args);
  l.cooperative = true;
  return launch(&l, host, stream);
}

cu_result rt_cudaLaunchKernelExC(const rt_launch_config *config, const void *host, void **args) {
  if (!config) return CU_INVALID_VALUE;
  core_launch l = plain(config->grid, config->block, config->dynamic_shared, args);
  for (unsigned k = 0; k < config->n_attributes; k++) {
    const cu_launch_attribute *a = &config->attributes[k];
    if (a->id == CU_LAUNCH_COOPERATIVE) l.cooperative = a->value.number != 0;
    if (a->id == CU_LAUNCH_CLUSTER_DIMENSION) memcpy(l.cluster, a->value.dims, sizeof l.cluster);
  }
  return launch(&l, host, config->stream);
}

/* ---- Attributes ------------------------------------------------------------------------------ */

cu_result rt_cudaFuncGetAttributes(rt_func *attributes, const void *host) {
  core_function *f;
  int *numbers[] = {[CU_FUNC_MAX_THREADS] = &attributes->max_threads,
                    [CU_FUNC_REGISTERS] = &attributes->registers,
                    [CU_FUNC_PTX_VERSION] = &attributes->ptx_version,
                    [CU_FUNC_BINARY_VERSION] = &attributes->binary_version,
                    [CU_FUNC_CACHE_CA] = &attributes->cache_ca,
                    [CU_FUNC_MAX_DYNAMIC_SHARED] = &attributes->max_dynamic_shared,
                    [CU_FUNC_CARVEOUT] = &attributes->carveout};
  if (!attributes) return CU_INVALID_VALUE;
  cu_result r = here(host, &f);
  if (r != CU_SUCCESS) return r;
  memset(attributes, 0, sizeof *attributes);
  attributes->shared_bytes = f->static_shared;
  for (int k = 0; k < (int)(sizeof numbers / sizeof *numbers); k++)
    if (numbers[k]) core_function_attribute(f, k, numbers[k]);
  return CU_SUCCESS;
}

cu_result rt_cudaFuncSetAttribute(const void *host, int attribute, int value) {
  core_function *f;
  cu_result r = here(host, &f);
  return r == CU_SUCCESS ? core_function_set(f, attribute, value) : r;
}

cu_result rt_cudaFuncSetCacheConfig(const void *host, int config) {
  core_function *f;
  return here(host, &f);
}

cu_result rt_cudaFuncSetSharedMemConfig(const void *host, int config) {
  core_function *f;
  return here(host, &f);
}

cu_result rt_cudaFuncGetName(const char **name, const void *host) {
  core_function *f;
  if (!name) return CU_INVALID_VALUE;
  cu_result r = here(host, &f);
  if (r == CU_SUCCESS) *name = f->name;
  return r;
}

cu_result rt_cudaGetFuncBySymbol(cu_function *function, const void *host) {
  return function ? here(host, function) : CU_INVALID_VALUE;
}

cu_result rt_cudaGetKernel(cu_function *kernel, const void *host) {
  return kernel ? rt_kernel(host, kernel) : CU_INVALID_VALUE;
}

/* ---- Occupancy ------------------------------------------------------------------------------- */

cu_result rt_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *host, int threads,
                                                           size_t shared) {
  core_function *f;
  cu_result r = here(host, &f);
  return r == CU_SUCCESS ? drv_cuOccupancyMaxActiveBlocksPerMultiprocessor(n, f, threads, shared) : r;
}

cu_result rt_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *host, int threads,
                                                                    size_t shared, unsigned flags) {
  return rt_cudaOccupancyMaxActiveBlocksPerMultiprocessor(n, host, threads, shared);
}

cu_result rt_cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks,
                                                       int threads) {
  core_function *f;
  cu_result r = here(host, &f);
  return r == CU_SUCCESS ? drv_cuOccupancyAvailableDynamicSMemPerBlock(bytes, f, blocks, threads) : r;
}
