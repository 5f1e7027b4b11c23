/* The plans that a kernel's text leaves to try. */
#include <stdlib.h>
#include <string.h>

#include "heddle/rewrite.h"

enum { WARP = 32 }; /* threads */

static uint32_t warps_of(const uint32_t block[3]) {
  return (uint32_t)(((uint64_t)block[0] * block[1] * block[2] + WARP - 1) / WARP);
}

static hd_status count_loads(const hd_ptx_module *m, uint32_t func, hd_plan_space *out, hd_diag *d) {
  size_t n = hd_rewrite_loads(m, func, NULL, 0);
  hd_global_load *loads = calloc(n + 1, sizeof *loads);
  if (!loads) return hd_nomem(d);
  hd_rewrite_loads(m, func, loads, n);
  for (size_t i = 0; i < n; i++) out->loads += !loads[i].kept;
  free(loads);
  return HD_OK;
}

hd_status hd_rewrite_space(const hd_ptx_module *m, const char *kernel, const uint32_t grid[3],
                           const uint32_t block[3], unsigned assume, hd_plan_space *out, hd_diag *d) {
  hd_refusal r;
  uint32_t cluster[3];
  *out = (hd_plan_space){.warps = warps_of(block)};
  memcpy(out->grid, grid, sizeof out->grid);
  memcpy(out->block, block, sizeof out->block);
  if (!hd_grid_tasks(grid, &out->tasks)) return hd_fail(d, HD_ERR_INPUT, "%s: too many tasks", kernel);
  const int64_t func = hd_ptx_find_kernel(m, kernel);
  if (func < 0) return hd_fail(d, HD_ERR_INPUT, "%s: no kernel '%s' in this module", m->name, kernel);
  const uint32_t f = (uint32_t)func;
  const bool clusters = hd_rewrite_clusters(m, f, cluster);
  for (unsigned k = 0; k < 3; k++)
    if (out->grid[k] % cluster[k] == 0) out->grid[k] /= cluster[k];
  (void)hd_grid_tasks(out->grid, &out->tasks);
  out->clusters = clusters;
  out->can_order = hd_rewrite_refusals_assuming(m, f, assume, &r, 1) == 0;
  out->can_loop = out->can_order && !clusters && hd_rewrite_agent_refusals(m, f, block, &r, 1) == 0;
  out->can_swap_threads =
      out->can_order && !clusters && hd_rewrite_thread_refusals(m, f, false, block, &r, 1) == 0;
  out->can_turn_threads = out->can_order && !clusters && block[1] > 1 &&
                          hd_rewrite_thread_refusals(m, f, true, block, &r, 1) == 0;
  return count_loads(m, f, out, d);
}
