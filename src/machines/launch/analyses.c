/* Analyses of a workload's launches, whose arguments are known. */
#include <stdlib.h>
#include <string.h>

#include "heddle/ptx_facts.h"
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
  uint32_t cluster[3];
  *out = (hd_shape){0};
  /* Tiles are found of CTAs, and orders of clusters go through these. */
  if (hd_rewrite_clusters(code->module, code->kernels[code->kernel_of[launch]].func, cluster)) return HD_OK;
  hd_status st = hd_launch_analyze(code, launch, &a, d);
  if (st != HD_OK) return st;
  if (a->tiles.loop == HD_NONE)
    *out = a->tiles.shape; /* else it is that of the loop's tiles, not of the grid */
  hd_analysis_free(a);
  return HD_OK;
}

hd_status hd_launch_loop_shape(const hd_compiled *code, uint32_t launch, hd_shape *out, hd_diag *d) {
  hd_analysis *a;
  *out = (hd_shape){0};
  hd_status st = hd_launch_analyze(code, launch, &a, d);
  if (st != HD_OK) return st;
  if (a->tiles.loop != HD_NONE) *out = a->tiles.shape;
  out->loop = out->kind == HD_SHAPE_GIVEN;
  hd_analysis_free(a);
  return HD_OK;
}

/* Without the grid's size there is no such loop. */
static bool names_grid(const hd_ptx_module *m) {
  for (uint32_t i = 1; i < m->n_syms; i++)
    if (m->syms[i].kind == HD_SYM_SREG && m->syms[i].index == HD_SR_NCTAID) return true;
  return false;
}

hd_status hd_launch_loops(const hd_compiled *code, uint32_t launch, bool *loops, uint32_t *line, hd_diag *d) {
  hd_analysis *a;
  *loops = false;
  *line = 0;
  if (!names_grid(code->module)) return HD_OK;
  hd_status st = hd_launch_analyze(code, launch, &a, d);
  if (st != HD_OK) return st;
  *loops = a->tiles.answer != HD_TILES_NONE && a->tiles.loop != HD_NONE;
  if (*loops) *line = a->cfg.loops[a->tiles.loop].line;
  hd_analysis_free(a);
  return HD_OK;
}

hd_status hd_launch_check_plan(const hd_compiled *code, uint32_t launch, const hd_plan *p, hd_diag *d) {
  bool loops;
  uint32_t line;
  if (!hd_bind_loops(p->bind)) return HD_OK;
  hd_status st = hd_launch_loops(code, launch, &loops, &line, d);
  if (st != HD_OK || !loops) return st;
  return hd_fail(
      d, HD_ERR_REFUSED,
      "line %u: the kernel goes through its tiles in a loop of its own, with as many CTAs as the launch "
      "has; bind=%s would put another loop around it",
      line, p->bind == HD_BIND_AGENTS ? "agents" : "cancel");
}

static void give_shape(hd_plan *p, const hd_shape *shape) {
  p->shape = *shape;
  if (hd_plan_check(p, NULL) != HD_OK) p->shape = (hd_shape){0}; /* no order sees it */
}

hd_status hd_launch_settle_shape(const hd_compiled *code, uint32_t launch, hd_plan *p, hd_diag *d) {
  hd_shape shape;
  if (p->shape.kind != HD_SHAPE_AUTO) return HD_OK;
  hd_status st = hd_launch_shape(code, launch, &shape, d);
  if (st == HD_OK) give_shape(p, &shape);
  return st;
}

/* "m and n" */
static void put_divisors(const hd_analysis *a, hd_buf *out) {
  for (uint32_t i = 0; i < a->tiles.n_params; i++) {
    hd_buf_puts(out, !i ? "" : i + 1 == a->tiles.n_params ? " and " : ", ");
    hd_param_print(a, a->tiles.params[i], out);
  }
}

static hd_status refuse_arguments(const hd_analysis *a, hd_diag *d) {
  hd_buf divisors = {0};
  put_divisors(a, &divisors);
  hd_status st =
      hd_fail(d, HD_ERR_REFUSED,
              "shape=auto: line %u divides the CTA's number by %s, so the launch's arguments decide "
              "the shape; --arg gives them",
              a->tiles.line, divisors.data ? divisors.data : "arguments");
  hd_buf_free(&divisors);
  return st;
}

static hd_status settle_by_grid(const hd_ptx_module *m, uint32_t func, const hd_grid *grid,
                                const uint32_t block[3], hd_plan *p, hd_diag *d) {
  hd_analysis *a;
  uint32_t cluster[3];
  hd_point at = {0};
  if (p->shape.kind != HD_SHAPE_AUTO || !grid->known) return HD_OK;
  const hd_shape none = {0};
  give_shape(p, &none);
  if (hd_rewrite_clusters(m, func, cluster)) return HD_OK;
  memcpy(at.grid, grid->g, sizeof at.grid);
  memcpy(at.block, block, sizeof at.block);
  hd_status st = hd_analyze_launch(m, func, &at, &a, d);
  if (st != HD_OK) return st;
  if (a->tiles.answer == HD_TILES_FOUND && a->tiles.loop == HD_NONE) give_shape(p, &a->tiles.shape);
  if (a->tiles.answer != HD_TILES_FOUND && a->tiles.n_params) st = refuse_arguments(a, d);
  hd_analysis_free(a);
  return st;
}

hd_status hd_rewrite_complete(void *facts, const hd_ptx_module *m, uint32_t func, hd_rewrite_options *o,
                              hd_diag *d) {
  hd_rewrite_facts *f = facts;
  hd_status st = settle_by_grid(m, func, &o->grid, o->block, f->plan, d);
  if (st != HD_OK || !f->unwritten) return st;
  st = hd_unwritten_by_word(m, func, f->unwritten, &f->loads, &o->n_unwritten, d);
  o->unwritten = f->loads;
  return st;
}
