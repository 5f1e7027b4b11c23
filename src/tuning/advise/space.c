/* The plans that a kernel's launch leaves to try. */
#include <stdlib.h>
#include <string.h>

#include "heddle/advise.h"

static uint32_t warps_of(const uint32_t block[3]) {
  return (uint32_t)(((uint64_t)block[0] * block[1] * block[2] + HD_WARP - 1) / HD_WARP);
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

hd_status hd_text_space(const hd_ptx_module *m, const char *kernel, const uint32_t grid[3],
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

static hd_status space_of(const hd_ptx_module *m, const hd_workload *w, uint32_t launch, unsigned assume,
                          hd_plan_space *out, hd_diag *d) {
  const hd_wl_launch *l = &w->launches[launch];
  uint32_t *unwritten = NULL;
  hd_status st = hd_text_space(m, l->kernel, l->grid, l->block, assume, out, d);
  if (st == HD_OK)
    st = hd_unwritten_loads(m, (uint32_t)hd_ptx_find_kernel(m, l->kernel), w, launch, &unwritten,
                            &out->readonly, d);
  free(unwritten);
  return st;
}

/* A loop's rounds in one CTA; false: they are not known, or depend on a loop around it. */
static bool rounds_in(const hd_analysis *a, uint32_t loop, const hd_point *at, int64_t *out) {
  const uint32_t trips = a->loop_values[loop].trips;
  return trips != HD_NONE && hd_poly_eval(a, trips, at, out);
}

/* Some loop runs more often in the last CTA than in the first, and none less often. */
static hd_status compare_rounds(const hd_compiled *code, uint32_t launch, bool *grows, hd_diag *d) {
  const hd_wl_launch *l = &code->workload->launches[launch];
  hd_analysis *a;
  hd_status st = hd_launch_analyze(code, launch, &a, d);
  if (st != HD_OK) return st;
  hd_point first = {0}, last;
  bool more = false, fewer = false;
  memcpy(first.grid, l->grid, sizeof first.grid);
  memcpy(first.block, l->block, sizeof first.block);
  last = first;
  for (unsigned k = 0; k < 3; k++) last.ctaid[k] = l->grid[k] - 1;
  for (uint32_t i = 0; i < a->cfg.n_loops; i++) {
    int64_t in_first, in_last;
    if (!rounds_in(a, i, &first, &in_first) || !rounds_in(a, i, &last, &in_last)) continue;
    more |= in_last > in_first;
    fewer |= in_last < in_first;
  }
  *grows = more && !fewer;
  hd_analysis_free(a);
  return HD_OK;
}

hd_status hd_advise_space(const hd_workload *w, uint32_t launch, const hd_compile_options *o,
                          hd_plan_space *out, hd_diag *d) {
  const hd_compiled *code;
  hd_status st = hd_workload_compiled(w, hd_launch_arch(NULL, o ? o->arch : 0), &code, d);
  if (st == HD_OK) st = space_of(code->module, w, launch, o ? o->assume : 0, out, d);
  if (st == HD_OK && out->can_order) st = hd_launch_shape(code, launch, &out->shape, d);
  if (st == HD_OK && out->can_order) st = compare_rounds(code, launch, &out->grows, d);
  bool loops = false;
  uint32_t line;
  if (st == HD_OK && out->can_order) st = hd_launch_loops(code, launch, &loops, &line, d);
  out->can_loop &= !loops;
  out->can_cancel = st == HD_OK && out->can_loop && code->module->sm >= HD_CANCEL_ARCH;
  if (st == HD_OK && loops && o && o->assume & HD_ASSUME_NO_CARRY)
    st = hd_launch_loop_shape(code, launch, &out->shape, d);
  for (unsigned i = 0; st == HD_OK && out->shape.kind != HD_SHAPE_LAUNCH && i < 3; i++)
    out->grid[i] = out->shape.n[i] ? out->shape.n[i] : 1;
  return st;
}
