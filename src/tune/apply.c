/* A plan applied to every kernel that a workload launches. */
#include <stdlib.h>
#include <string.h>

#include "tune/runner.h"

static bool same_kernel(const hd_workload *w, uint32_t i, uint32_t k) {
  return strcmp(w->launches[k].kernel, w->launches[i].kernel) == 0;
}

uint32_t apply_first_launch(const hd_workload *w, uint32_t i) {
  uint32_t k = 0;
  while (k < i && !same_kernel(w, i, k)) k++;
  return k;
}

/* What is the same in all launches of launch i's kernel: the grid; the block. */
static bool has_one_grid(const hd_workload *w, uint32_t i) {
  for (uint32_t k = 0; k < w->n_launches; k++)
    if (same_kernel(w, i, k) &&
        memcmp(w->launches[k].grid, w->launches[i].grid, sizeof w->launches[i].grid) != 0)
      return false;
  return true;
}

static bool has_one_block(const hd_workload *w, uint32_t i) {
  for (uint32_t k = 0; k < w->n_launches; k++)
    if (same_kernel(w, i, k) &&
        memcmp(w->launches[k].block, w->launches[i].block, sizeof w->launches[i].block) != 0)
      return false;
  return true;
}

const hd_plan *apply_plan_of(const hd_run_options *o, const char *kernel, const hd_plan *p) {
  for (size_t i = 0; i < o->n_kernels; i++)
    if (strcmp(o->kernels[i].kernel, kernel) == 0) return &o->kernels[i].plan;
  return p;
}

hd_status apply_find_kernel(const hd_ptx_module *m, const char *name, int64_t *func, hd_diag *d) {
  *func = hd_ptx_find_kernel(m, name);
  if (*func >= 0) return HD_OK;
  return hd_fail(d, HD_ERR_INPUT, "%s: no kernel '%s' in this module", m->name, name);
}

hd_status apply_table(const hd_workload *w, uint32_t launch, const hd_plan *p, const hd_run_options *o,
                      hd_table *out, const hd_table **table, hd_diag *d) {
  const hd_wl_launch *l = &w->launches[launch];
  uint64_t V;
  *out = (hd_table){0};
  *table = NULL;
  if (!hd_order_needs_table(p->order.kind)) return HD_OK;
  if (!hd_grid_tasks(l->grid, &V))
    return hd_fail(d, HD_ERR_INPUT, "%s: the grid has too many tasks", l->kernel);
  if (p->order.kind == HD_ORDER_TABLE) {
    *table = out;
    return hd_table_read(p->order.file, V, out, d);
  }
  if (!o->table) {
    *table = out;
    return hd_order_table(w, launch, o, p->order.kind, NULL, out, d);
  }
  if (o->table->n != V)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "%s: the order's table has %llu tasks, the grid %llu", l->kernel,
                   (unsigned long long)o->table->n, (unsigned long long)V);
  *table = o->table;
  return HD_OK;
}

hd_status apply_streams(const hd_workload *w, uint32_t launch, const hd_plan *p, const hd_run_options *o,
                        hd_plan *out, hd_stream *streams, hd_diag *d) {
  *out = *p;
  *streams = (hd_stream){0};
  if (p->stream.kind != HD_STREAM_AUTO) return HD_OK;
  hd_load_facts *loads;
  uint32_t n;
  hd_status st = hd_study_loads(w, launch, o, NULL, &loads, &n, d);
  if (st != HD_OK) return st;
  st = hd_streaming_loads(loads, n, HD_STREAM_REUSED, streams, d);
  free(loads);
  out->stream = *streams;
  return st;
}

/* *idle: stream=auto found no load in this kernel. */
static hd_status rewrite_one(hd_ptx_module *m, const hd_workload *w, uint32_t i, const hd_plan *p,
                             const hd_run_options *o, hd_recipe *recipe, bool *idle, hd_diag *d) {
  const hd_wl_launch *l = &w->launches[i];
  int64_t func;
  hd_status st = apply_find_kernel(m, l->kernel, &func, d);
  if (st != HD_OK) return st;
  p = apply_plan_of(o, l->kernel, p);
  hd_rewrite_options opt = {.grid = {.known = !o->any_grid && has_one_grid(w, i),
                                     .g = {l->grid[0], l->grid[1], l->grid[2]},
                                     .n_sms = o->n_sms ? o->n_sms : RUNNER_SMS},
                            .more_registers = o->more_registers,
                            .no_hoisting = o->no_hoisting,
                            .registers = o->registers && o->registers[i] ? o->registers[i] : w->registers,
                            .budget = o->budget,
                            .sms = o->sms};
  if (has_one_block(w, i)) memcpy(opt.block, l->block, sizeof opt.block);
  hd_table table;
  hd_plan own;
  hd_stream streams;
  uint32_t *unwritten = NULL;
  *idle = false;
  st = apply_table(w, i, p, o, &table, &opt.table, d);
  if (st == HD_OK) {
    st = apply_streams(w, i, p, o, &own, &streams, d);
    *idle = p->stream.kind == HD_STREAM_AUTO && !streams.n;
    if (st == HD_OK && p->bypass.kind == HD_BYPASS_READONLY)
      st = apply_unwritten(m, (uint32_t)func, w, i, &unwritten, &opt.n_unwritten, d);
    opt.unwritten = unwritten;
    if (st == HD_OK) st = hd_rewrite(m, (uint32_t)func, &own, &opt, recipe, d);
    free(unwritten);
    free(streams.loads);
  }
  hd_table_free(&table);
  if (st != HD_OK && d) {
    char why[sizeof d->message];
    memcpy(why, d->message, sizeof why);
    if (!d->file[0]) hd_fail(d, st, "%s: %.700s", l->kernel, why);
  }
  return st;
}

hd_status hd_rewrite_workload(hd_ptx_module *m, const hd_workload *w, const hd_plan *p,
                              const hd_run_options *o, hd_recipe *recipes, hd_diag *d) {
  uint32_t kernels = 0, idle_kernels = 0;
  for (uint32_t i = 0; i < w->n_launches; i++) {
    uint32_t first = apply_first_launch(w, i);
    bool idle;
    if (first < i) {
      if (recipes) recipes[i] = recipes[first];
      continue;
    }
    hd_status st = rewrite_one(m, w, i, p, o, recipes ? &recipes[i] : NULL, &idle, d);
    if (st != HD_OK) return st;
    kernels++;
    idle_kernels += idle;
  }
  if (kernels && idle_kernels == kernels)
    return hd_fail(d, HD_ERR_REFUSED, "stream=auto: what the loads of %s ask for is asked for again",
                   kernels > 1 ? "all kernels" : w->launches[0].kernel);
  return HD_OK;
}
