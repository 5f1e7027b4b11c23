/* Kernels by their addresses on the host: launches, attributes, occupancy. */
#include <string.h>

#include "cuda/runtime/front.h"

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

static uint32_t clipped(size_t shared) { return shared > UINT32_MAX ? UINT32_MAX : (uint32_t)shared; }

/* The result of runtimes before CUDA 13 for a grid that the driver does not take; later ones pass on its own.
 */
static cu_result launched(cu_result r, rt_dim3 grid, rt_dim3 block) {
  return rt_major < 13 && r == CU_INVALID_VALUE && !fits(grid, block) ? CU_RT_INVALID_CONFIGURATION : r;
}

/* The kernel to be launched in a stream, which must be the current device's. */
static cu_result kernel_in(const void *host, cu_stream stream, core_function **f) {
  core_stream *s;
  cu_result r = rt_kernel(host, f);
  if (r == CU_SUCCESS) r = core_stream_of(stream, drv_per_thread, &s);
  return r == CU_SUCCESS && s->context->device != core_current()->device ? CU_INVALID_HANDLE : r;
}

cu_result rt_cudaLaunchKernel(const void *host, rt_dim3 grid, rt_dim3 block, void **args, size_t shared,
                              cu_stream stream) {
  core_function *f;
  cu_result r = kernel_in(host, stream, &f);
  if (r == CU_SUCCESS)
    r = rt_front_cuLaunchKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z, clipped(shared), stream,
                                args, NULL);
  return launched(r, grid, block);
}

cu_result rt___cudaLaunchKernel(cu_function kernel, rt_dim3 grid, rt_dim3 block, void **args, size_t shared,
                                cu_stream stream) {
  return rt_cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

cu_result rt_cudaLaunchCooperativeKernel(const void *host, rt_dim3 grid, rt_dim3 block, void **args,
                                         size_t shared, cu_stream stream) {
  core_function *f;
  cu_result r = kernel_in(host, stream, &f);
  if (r == CU_SUCCESS)
    r = rt_front_cuLaunchCooperativeKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                           clipped(shared), stream, args);
  return launched(r, grid, block);
}

static cu_launch_config driver_config(const rt_launch_config *c) {
  return (cu_launch_config){.grid = {c->grid.x, c->grid.y, c->grid.z},
                            .block = {c->block.x, c->block.y, c->block.z},
                            .dynamic_shared = clipped(c->dynamic_shared),
                            .stream = c->stream,
                            .attributes = c->attributes,
                            .n_attributes = c->n_attributes};
}

cu_result rt_cudaLaunchKernelExC(const rt_launch_config *config, const void *host, void **args) {
  core_function *f;
  if (!config) return CU_INVALID_VALUE;
  const cu_launch_config c = driver_config(config);
  cu_result r = kernel_in(host, config->stream, &f);
  if (r == CU_SUCCESS) r = rt_front_cuLaunchKernelEx(&c, f, args, NULL);
  return launched(r, config->grid, config->block);
}

/* ---- Attributes ------------------------------------------------------------------------------ */

cu_result rt_cudaFuncGetAttributes(rt_func *attributes, const void *host) {
  core_function *f;
  if (!attributes) return CU_INVALID_VALUE;
  int *numbers[] = {[CU_FUNC_MAX_THREADS] = &attributes->max_threads,
                    [CU_FUNC_REGISTERS] = &attributes->registers,
                    [CU_FUNC_PTX_VERSION] = &attributes->ptx_version,
                    [CU_FUNC_BINARY_VERSION] = &attributes->binary_version,
                    [CU_FUNC_CACHE_CA] = &attributes->cache_ca,
                    [CU_FUNC_MAX_DYNAMIC_SHARED] = &attributes->max_dynamic_shared,
                    [CU_FUNC_CARVEOUT] = &attributes->carveout};
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
  cu_result r = rt_kernel(host, &f);
  return r == CU_SUCCESS ? rt_front_cuKernelSetAttribute(attribute, value, f, core_current()->device->ordinal)
                         : r;
}

cu_result rt_cudaFuncSetCacheConfig(const void *host, int config) {
  core_function *f;
  cu_result r = here(host, &f);
  return r == CU_SUCCESS ? drv_cuFuncSetCacheConfig(f, config) : r;
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
  core_function *f;
  if (!function) return CU_INVALID_VALUE;
  cu_result r = rt_kernel(host, &f);
  return r == CU_SUCCESS ? rt_front_cuKernelGetFunction(function, f) : r;
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

cu_result rt_cudaOccupancyMaxPotentialClusterSize(int *size, const void *host,
                                                  const rt_launch_config *config) {
  core_function *f;
  if (!config) return CU_INVALID_VALUE;
  const cu_launch_config c = driver_config(config);
  cu_result r = here(host, &f);
  return r == CU_SUCCESS ? drv_cuOccupancyMaxPotentialClusterSize(size, f, &c) : r;
}

cu_result rt_cudaOccupancyMaxActiveClusters(int *n, const void *host, const rt_launch_config *config) {
  core_function *f;
  if (!config) return CU_INVALID_VALUE;
  const cu_launch_config c = driver_config(config);
  cu_result r = here(host, &f);
  return r == CU_SUCCESS ? drv_cuOccupancyMaxActiveClusters(n, f, &c) : r;
}

cu_result rt_cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks,
                                                       int threads) {
  core_function *f;
  cu_result r = here(host, &f);
  return r == CU_SUCCESS ? drv_cuOccupancyAvailableDynamicSMemPerBlock(bytes, f, blocks, threads) : r;
}
