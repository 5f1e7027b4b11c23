/* Applies resolved plans to a workload's kernels, without running or measuring them. */
#include <stdlib.h>
#include <string.h>

#include "launch/launch.h"

const hd_plan *hd_resolved_plan(const hd_resolved *r, uint32_t launch) {
  return &r->kernels[r->code->kernel_of[launch]].plan;
}

bool hd_resolved_is_baseline(const hd_resolved *r) {
  for (uint32_t k = 0; k < r->code->n_kernels; k++)
    if (!hd_plan_is_baseline(&r->kernels[k].plan)) return false;
  return true;
}

void hd_resolved_free(hd_resolved *r) {
  for (uint32_t k = 0; r->kernels && k < r->code->n_kernels; k++) {
    hd_table_free(&r->kernels[k].table);
    free(r->kernels[k].unwritten);
  }
  free(r->kernels);
  *r = (hd_resolved){0};
}

static hd_apply_kernel kernel_of(const hd_resolved *plans, uint32_t k, const hd_compile_options *o,
                                 uint32_t n_sms) {
  const hd_workload *w = plans->code->workload;
  const hd_wl_kernel *kernel = &plans->code->kernels[k];
  const hd_resolved_kernel *r = &plans->kernels[k];
  const hd_wl_launch *l = &w->launches[kernel->first];
  uint32_t registers = o->registers ? o->registers[kernel->first] : 0;
  hd_rewrite_options opt = {.grid = {.known = !o->any_grid && kernel->one_grid,
                                     .g = {l->grid[0], l->grid[1], l->grid[2]},
                                     .n_sms = n_sms ? n_sms : LAUNCH_SMS},
                            .table = r->table.task ? &r->table : NULL,
                            .no_hoisting = o->no_hoisting,
                            .assume = o->assume,
                            .registers = registers ? registers : hd_workload_registers(w, 0),
                            .unwritten = r->unwritten,
                            .n_unwritten = r->n_unwritten,
                            .budget = o->budget,
                            .sms = o->sms};
  if (kernel->one_block) memcpy(opt.block, l->block, sizeof opt.block);
  for (uint32_t i = 0; i < w->n_launches; i++)
    opt.dynamic_shared |= plans->code->kernel_of[i] == k && w->launches[i].dynamic_shared;
  return (hd_apply_kernel){.func = kernel->func, .plan = &r->plan, .options = opt, .blame = kernel->name};
}

/* One recipe for each launch in place of one for each kernel. */
static hd_status spread_recipes(const hd_compiled *code, hd_rewritten *r, hd_diag *d) {
  const uint32_t n = code->workload->n_launches;
  hd_recipe *of_launches = HD_NEW_N(&r->arena, (size_t)n + 1, hd_recipe);
  if (!of_launches) return hd_nomem(d);
  for (uint32_t i = 0; i < n; i++) {
    const hd_wl_launch *l = &code->workload->launches[i];
    of_launches[i] = r->recipes[code->kernel_of[i]];
    if (of_launches[i].no_dynamic_shared && l->dynamic_shared)
      return hd_fail(d, HD_ERR_REFUSED,
                     "%s: the launch has dynamic shared memory that the text does not name, and this plan "
                     "would put a variable of its own there",
                     l->kernel);
  }
  r->recipes = of_launches;
  return HD_OK;
}

hd_status hd_apply_resolved(const hd_resolved *plans, const hd_compile_options *o, uint32_t n_sms,
                            hd_text_form form, hd_rewritten *out, hd_diag *d) {
  const hd_compiled *code = plans->code;
  hd_rewritten own = {0};
  hd_apply_kernel *kernels = calloc((size_t)code->n_kernels + 1, sizeof *kernels);
  if (!kernels) return hd_nomem(d);
  for (uint32_t k = 0; k < code->n_kernels; k++) kernels[k] = kernel_of(plans, k, o, n_sms);
  hd_status st = hd_apply_text(code->text, code->len, code->label, kernels, code->n_kernels, form, &own, d);
  free(kernels);
  if (st == HD_OK) st = spread_recipes(code, &own, d);
  if (st != HD_OK || !out) hd_rewritten_free(&own);
  if (out) *out = own;
  return st;
}
