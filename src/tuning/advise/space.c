/* The plans that a kernel's launch leaves to try. */
#include <stdlib.h>
#include <string.h>

#include "heddle/advise.h"

static hd_status space_of(const hd_ptx_module *m, const hd_workload *w, uint32_t launch, unsigned assume,
                          hd_plan_space *out, hd_diag *d) {
  const hd_wl_launch *l = &w->launches[launch];
  uint32_t *unwritten = NULL;
  hd_status st = hd_rewrite_space(m, l->kernel, l->grid, l->block, assume, out, d);
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
