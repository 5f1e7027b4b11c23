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

/* The refusal of one kernel names it. */
static void name_kernel(const char *kernel, hd_status st, hd_diag *d) {
  char why[sizeof d->message];
  if (!d || d->file[0]) return;
  memcpy(why, d->message, sizeof why);
  hd_fail(d, st, "%s: %.700s", kernel, why);
}

static hd_status rewrite_kernel(hd_ptx_module *m, const hd_resolved *plans, uint32_t k,
                                const hd_run_options *o, hd_recipe *recipe, hd_diag *d) {
  const hd_workload *w = plans->code->workload;
  const hd_wl_kernel *kernel = &plans->code->kernels[k];
  const hd_resolved_kernel *r = &plans->kernels[k];
  const hd_wl_launch *l = &w->launches[kernel->first];
  const hd_apply_options *a = &o->apply;
  uint32_t registers = a->registers ? a->registers[kernel->first] : 0;
  hd_rewrite_options opt = {.grid = {.known = !a->any_grid && kernel->one_grid,
                                     .g = {l->grid[0], l->grid[1], l->grid[2]},
                                     .n_sms = o->n_sms ? o->n_sms : LAUNCH_SMS},
                            .table = r->table.task ? &r->table : NULL,
                            .more_registers = a->more_registers,
                            .no_hoisting = a->no_hoisting,
                            .assume = a->assume,
                            .registers = registers ? registers : hd_workload_registers(w, 0),
                            .unwritten = r->unwritten,
                            .n_unwritten = r->n_unwritten,
                            .budget = a->budget,
                            .sms = a->sms};
  if (kernel->one_block) memcpy(opt.block, l->block, sizeof opt.block);
  hd_status st = hd_rewrite(m, kernel->func, &r->plan, &opt, recipe, d);
  if (st != HD_OK) name_kernel(kernel->name, st, d);
  return st;
}

hd_status hd_rewrite_workload(hd_ptx_module *m, const hd_resolved *plans, const hd_run_options *o,
                              hd_recipe *recipes, hd_diag *d) {
  const hd_compiled *code = plans->code;
  for (uint32_t k = 0; k < code->n_kernels; k++) {
    hd_recipe *first = recipes ? &recipes[code->kernels[k].first] : NULL;
    hd_status st = rewrite_kernel(m, plans, k, o, first, d);
    if (st != HD_OK) return st;
  }
  for (uint32_t i = 0; recipes && i < code->workload->n_launches; i++)
    recipes[i] = recipes[code->kernels[code->kernel_of[i]].first];
  return HD_OK;
}
