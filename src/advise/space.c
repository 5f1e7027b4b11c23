/* The plans that a kernel's launch leaves to try. */
#include <stdlib.h>
#include <string.h>

#include "heddle/advise.h"

static uint32_t warps_of(const uint32_t block[3]) {
  return (uint32_t)(((uint64_t)block[0] * block[1] * block[2] + HD_WARP - 1) / HD_WARP);
}

static hd_status count_loads(const hd_ptx_module *m, uint32_t func, const hd_workload *w, uint32_t launch,
                             hd_plan_space *out, hd_diag *d) {
  uint32_t *unwritten = NULL;
  size_t n = hd_rewrite_loads(m, func, NULL, 0);
  hd_global_load *loads = calloc(n + 1, sizeof *loads);
  if (!loads) return hd_nomem(d);
  hd_rewrite_loads(m, func, loads, n);
  for (size_t i = 0; i < n; i++) out->loads += !loads[i].kept;
  free(loads);
  hd_status st = hd_unwritten_loads(m, func, w, launch, &unwritten, &out->readonly, d);
  free(unwritten);
  return st;
}

static hd_status space_of(const hd_ptx_module *m, const hd_workload *w, uint32_t launch, unsigned assume,
                          hd_plan_space *out, hd_diag *d) {
  const hd_wl_launch *l = &w->launches[launch];
  int64_t func;
  hd_refusal r;
  *out = (hd_plan_space){.warps = warps_of(l->block)};
  memcpy(out->grid, l->grid, sizeof out->grid);
  memcpy(out->block, l->block, sizeof out->block);
  if (!hd_grid_tasks(l->grid, &out->tasks)) return hd_fail(d, HD_ERR_INPUT, "%s: too many tasks", l->kernel);
  func = hd_ptx_find_kernel(m, l->kernel);
  if (func < 0) return hd_fail(d, HD_ERR_INPUT, "%s: no kernel '%s' in this module", m->name, l->kernel);
  uint32_t f = (uint32_t)func;
  uint32_t cluster[3];
  const bool clusters = hd_rewrite_clusters(m, f, cluster);
  for (unsigned k = 0; k < 3; k++)
    if (out->grid[k] % cluster[k] == 0) out->grid[k] /= cluster[k];
  (void)hd_grid_tasks(out->grid, &out->tasks);
  out->clusters = clusters;
  out->can_order = hd_rewrite_refusals_assuming(m, f, assume, &r, 1) == 0;
  out->can_loop = out->can_order && !clusters && hd_rewrite_agent_refusals(m, f, l->block, &r, 1) == 0;
  out->can_swap_threads = out->can_order && !clusters && hd_rewrite_thread_refusals(m, f, false, &r, 1) == 0;
  out->can_turn_threads =
      out->can_order && !clusters && l->block[1] > 1 && hd_rewrite_thread_refusals(m, f, true, &r, 1) == 0;
  return count_loads(m, f, w, launch, out, d);
}

hd_status hd_advise_space(const hd_workload *w, uint32_t launch, const hd_run_options *o, hd_plan_space *out,
                          hd_diag *d) {
  const hd_compiled *code;
  hd_status st = hd_workload_compiled(w, hd_launch_arch(NULL, o ? o->arch : 0), &code, d);
  if (st == HD_OK) st = space_of(code->module, w, launch, o ? o->apply.assume : 0, out, d);
  if (st == HD_OK && out->can_order) st = hd_launch_shape(code, launch, &out->shape, d);
  bool loops = false;
  uint32_t line;
  if (st == HD_OK && out->can_order) st = hd_launch_loops(code, launch, &loops, &line, d);
  out->can_loop &= !loops;
  out->can_cancel = st == HD_OK && out->can_loop && code->module->sm >= HD_CANCEL_ARCH;
  if (st == HD_OK && loops && o && o->apply.assume & HD_ASSUME_NO_CARRY)
    st = hd_launch_loop_shape(code, launch, &out->shape, d);
  for (unsigned i = 0; st == HD_OK && out->shape.kind != HD_SHAPE_LAUNCH && i < 3; i++)
    out->grid[i] = out->shape.n[i] ? out->shape.n[i] : 1;
  return st;
}
