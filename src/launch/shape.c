/* Analyses of a workload's launches, whose arguments are known. */
#include <stdlib.h>
#include <string.h>

#include "launch/launch.h"

enum { BUFFER_SHIFT = 40 }; /* no launch mixes up addresses that are so far apart */

hd_status hd_launch_analyze(const hd_compiled *code, uint32_t launch, hd_analysis **out, hd_diag *d) {
  const hd_wl_launch *l = &code->workload->launches[launch];
  uint32_t n = code->workload->n_buffers;
  hd_point at = {0};
  void *args = NULL;
  uint64_t *addresses = calloc((size_t)n + 1, sizeof *addresses);
  hd_status st = addresses ? HD_OK : hd_nomem(d);
  for (uint32_t i = 0; st == HD_OK && i < n; i++) addresses[i] = (uint64_t)(i + 1) << BUFFER_SHIFT;
  if (st == HD_OK) st = hd_launch_args(code, launch, addresses, &args, &at.args_bytes, d);
  memcpy(at.grid, l->grid, sizeof at.grid);
  memcpy(at.block, l->block, sizeof at.block);
  at.args = args;
  if (st == HD_OK)
    st = hd_analyze_launch(code->module, code->kernels[code->kernel_of[launch]].func, &at, out, d);
  free(args);
  free(addresses);
  return st;
}

hd_status hd_launch_shape(const hd_compiled *code, uint32_t launch, hd_shape *out, hd_diag *d) {
  hd_analysis *a;
  *out = (hd_shape){0};
  hd_status st = hd_launch_analyze(code, launch, &a, d);
  if (st != HD_OK) return st;
  *out = a->tiles.shape;
  hd_analysis_free(a);
  return HD_OK;
}

hd_status hd_launch_settle_shape(const hd_compiled *code, uint32_t launch, hd_plan *p, hd_diag *d) {
  if (p->shape.kind != HD_SHAPE_AUTO) return HD_OK;
  hd_status st = hd_launch_shape(code, launch, &p->shape, d);
  if (st == HD_OK && hd_plan_check(p, NULL) != HD_OK) p->shape = (hd_shape){0}; /* no order sees it */
  return st;
}
