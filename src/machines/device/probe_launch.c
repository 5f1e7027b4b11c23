/* Launches and figures, which every measurement of a probe uses. */
#include "device/probe.h"

#include <stdarg.h>
#include <stdio.h>

int probe_ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

hd_status probe_launch_from(probe *p, hd_device_module *m, const char *kernel, uint32_t grid, uint32_t block,
                            const void *args, uint64_t args_bytes, int carveout) {
  hd_device_launch l = {.kernel = kernel,
                        .grid = {grid, 1, 1},
                        .block = {block, 1, 1},
                        .args = args,
                        .args_bytes = args_bytes,
                        .has_carveout = carveout >= 0,
                        .carveout = carveout < 0 ? 0 : (uint32_t)carveout};
  hd_status st = hd_device_run(m, &l, p->d);
  return st == HD_OK ? hd_device_sync(p->dev, p->d) : st;
}

hd_status probe_launch(probe *p, const char *kernel, uint32_t grid, uint32_t block, const void *args,
                       uint64_t args_bytes, int carveout) {
  return probe_launch_from(p, p->m, kernel, grid, block, args, args_bytes, carveout);
}

bool probe_may_go_on(probe *p, hd_status st) {
  if (st == HD_OK) return true;
  return p->r->device.kind == HD_DEVICE_CUDA && st != HD_ERR_NOMEM && hd_device_sync(p->dev, NULL) == HD_OK;
}

void probe_figure(probe *p, double value, const char *unit, const char *name, ...) {
  hd_probe_figure f = {.unit = unit, .value = value};
  va_list args;
  va_start(args, name);
  vsnprintf(f.name, sizeof f.name, name, args);
  va_end(args);
  p->failed |= !hd_vec_push(&p->figures, f);
}
