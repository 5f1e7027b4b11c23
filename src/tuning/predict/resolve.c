/* Resolves plans: fills in the tables and the lists of loads that they leave open, from text, files, buffers
 * and traces. */
#include <stdlib.h>

#include "predict/study.h"

static hd_status resolve_table(study_source *from, uint32_t launch, const hd_plan *p, hd_table *out,
                               hd_diag *d) {
  const hd_wl_launch *l = &from->code->workload->launches[launch];
  uint64_t V;
  if (!hd_order_needs_table(p->order.kind)) return HD_OK;
  if (!hd_grid_tasks(l->grid, &V))
    return hd_fail(d, HD_ERR_INPUT, "%s: the grid has too many tasks", l->kernel);
  return p->order.kind == HD_ORDER_TABLE ? hd_table_read(p->table, V, out, d)
                                         : order_table(from, launch, p->order.kind, out, d);
}

/* stream=auto becomes a list; idle: an empty one. */
static hd_status resolve_stream(study_source *from, uint32_t launch, hd_resolved_kernel *out, hd_diag *d) {
  hd_load_facts *loads;
  uint32_t n;
  if (out->plan.stream.kind != HD_STREAM_AUTO) return HD_OK;
  hd_status st = study_loads(from, launch, &loads, &n, d);
  if (st != HD_OK) return st;
  out->plan.stream = hd_streaming_loads(loads, n, HD_STREAM_REUSED);
  free(loads);
  out->idle = out->plan.stream.kind == HD_STREAM_NONE;
  return HD_OK;
}

static hd_status resolve_kernel(study_source *from, uint32_t k, const hd_plan *p, hd_resolved_kernel *out,
                                hd_diag *d) {
  const hd_compiled *code = from->code;
  const hd_wl_kernel *kernel = &code->kernels[k];
  out->plan = *p;
  hd_status st = hd_launch_check_plan(code, kernel->first, p, d);
  if (st == HD_OK) st = hd_launch_settle_shape(code, kernel->first, &out->plan, d);
  if (st == HD_OK) st = resolve_table(from, kernel->first, p, &out->table, d);
  if (st == HD_OK) st = resolve_stream(from, kernel->first, out, d);
  if (st == HD_OK && p->bypass.kind == HD_BYPASS_READONLY)
    st = hd_unwritten_loads(code->module, kernel->func, code->workload, kernel->first, &out->unwritten,
                            &out->n_unwritten, d);
  return st;
}

static hd_status resolve_all(study_source *from, const hd_plan_set *plans, hd_resolved *out, hd_diag *d) {
  const hd_compiled *code = from->code;
  uint32_t idle = 0;
  out->code = code;
  out->kernels = calloc((size_t)code->n_kernels + 1, sizeof *out->kernels);
  hd_status st = out->kernels ? HD_OK : hd_nomem(d);
  for (uint32_t k = 0; st == HD_OK && k < code->n_kernels; k++) {
    st = resolve_kernel(from, k, hd_plan_set_of(plans, code->kernels[k].name), &out->kernels[k], d);
    idle += out->kernels[k].idle;
  }
  if (st == HD_OK && idle && idle == code->n_kernels)
    st = hd_fail(d, HD_ERR_REFUSED, "stream=auto: all data that the loads of %s request is requested again",
                 code->n_kernels > 1 ? "all kernels" : code->kernels[0].name);
  return st;
}

hd_status hd_resolve(const hd_workload *w, const hd_plan_set *plans, const hd_run_options *o,
                     const hd_study *study, hd_resolved *out, hd_diag *d) {
  study_source from = {.given = study};
  *out = (hd_resolved){0};
  if (o) from.run = *o;
  hd_status st = hd_workload_compiled(w, hd_launch_arch(NULL, from.run.compile.arch), &from.code, d);
  if (st == HD_OK) st = resolve_all(&from, plans, out, d);
  study_source_close(&from);
  if (st != HD_OK) hd_resolved_free(out);
  return st;
}

static hd_status refuse_made_table(const hd_workload *w, const hd_plan *p, hd_diag *d) {
  if (w->n_launches != 1)
    return hd_fail(d, HD_ERR_USAGE, "%s: one launch is rewritten, and these are %u", w->name, w->n_launches);
  if (hd_order_needs_table(p->order.kind) && p->order.kind != HD_ORDER_TABLE)
    return hd_fail(d, HD_ERR_USAGE, "%s: this order needs a table, which heddle optimize makes", w->name);
  return HD_OK;
}

hd_status hd_rewrite_launch(const hd_workload *w, const hd_plan *p, const hd_rewrite_options *o,
                            const char *output, hd_buf *how, hd_diag *d) {
  const hd_plan_set plans = {.all = *p};
  const hd_run_options run = {
      .compile = {.no_hoisting = o->no_hoisting, .assume = o->assume, .registers = &o->registers}};
  hd_resolved r = {0};
  hd_rewritten out = {0};
  hd_status st = refuse_made_table(w, p, d);
  if (st == HD_OK) st = hd_resolve(w, &plans, &run, NULL, &r, d);
  if (st != HD_OK) return st;
  st = hd_apply_resolved(&r, &run.compile, o->grid.n_sms, HD_TEXT_IN_PLACE, &out, d);
  if (st == HD_OK) {
    hd_recipe_print(w->launches[0].kernel, &out.recipes[0], &out.text);
    hd_recipe_tell(w->launches[0].kernel, &out.recipes[0], how);
    st = out.text.failed ? hd_nomem(d) : hd_file_write(output, out.text.data, out.text.len, d);
    hd_rewritten_free(&out);
  }
  hd_resolved_free(&r);
  return st;
}
