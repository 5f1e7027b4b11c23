/* Launches. */
#include <string.h>

#include "cuda/driver/driver.h"

cu_result drv_unpack(void **extra, core_launch *l) {
  for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER)
      l->packed = extra[1];
    else if (*extra == CU_LAUNCH_PARAM_SIZE)
      l->packed_bytes = *(size_t *)extra[1];
    else
      return CU_INVALID_VALUE;
  }
  return l->params && l->packed ? CU_INVALID_VALUE : CU_SUCCESS;
}

static cu_result launch(core_launch *l, cu_stream stream) {
  core_stream *s;
  core_work *w;
  cu_result r = drv_stream(stream, &s);
  if (r == CU_SUCCESS) r = core_launch_work(s->context, l, &w);
  return r == CU_SUCCESS ? core_submit(s, w, NULL, NULL) : r;
}

cu_result drv_cuLaunchKernel(cu_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                             unsigned by, unsigned bz, unsigned shared, cu_stream stream, void **params,
                             void **extra) {
  core_launch l = {.function = function,
                   .grid = {gx, gy, gz},
                   .block = {bx, by, bz},
                   .dynamic_shared = shared,
                   .params = params};
  cu_result r = drv_unpack(extra, &l);
  return r == CU_SUCCESS ? launch(&l, stream) : r;
}

core_launch drv_launch_of(cu_function function, const cu_launch_config *config) {
  core_launch l = {.function = function, .dynamic_shared = config->dynamic_shared};
  memcpy(l.grid, config->grid, sizeof l.grid);
  memcpy(l.block, config->block, sizeof l.block);
  for (unsigned k = 0; k < config->n_attributes; k++) {
    const cu_launch_attribute *a = &config->attributes[k];
    if (a->id == CU_LAUNCH_COOPERATIVE) l.cooperative = a->value.number != 0;
    if (a->id == CU_LAUNCH_PROGRAMMATIC) l.programmatic = a->value.number != 0;
    if (a->id == CU_LAUNCH_CLUSTER_DIMENSION) memcpy(l.cluster, a->value.dims, sizeof l.cluster);
  }
  return l;
}

cu_result drv_cuLaunchKernelEx(const cu_launch_config *config, cu_function function, void **params,
                               void **extra) {
  if (!config) return CU_INVALID_VALUE;
  core_launch l = drv_launch_of(function, config);
  l.params = params;
  cu_result r = drv_unpack(extra, &l);
  return r == CU_SUCCESS ? launch(&l, config->stream) : r;
}

cu_result drv_cuLaunchCooperativeKernel(cu_function function, unsigned gx, unsigned gy, unsigned gz,
                                        unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                        cu_stream stream, void **params) {
  core_launch l = {.function = function,
                   .grid = {gx, gy, gz},
                   .block = {bx, by, bz},
                   .dynamic_shared = shared,
                   .cooperative = true,
                   .params = params};
  return launch(&l, stream);
}

cu_result drv_cuLaunchHostFunc(cu_stream stream, cu_host_fn *fn, void *data) {
  core_stream *s;
  core_work *w;
  if (!fn) return CU_INVALID_VALUE;
  cu_result r = drv_stream(stream, &s);
  if (r == CU_SUCCESS) r = core_host_work(s->context, fn, data, &w);
  return r == CU_SUCCESS ? core_submit(s, w, NULL, NULL) : r;
}
