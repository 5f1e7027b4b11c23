/* Whether the rewriter takes a plan for a workload's kernels. */
#include <stdlib.h>

#include "advise/advice.h"

/* The plan with an order of the same cost to the rewriter in place of one that a trace would have to make. */
static hd_plan without_traces(const hd_plan *p) {
  hd_plan q = *p;
  if (hd_order_needs_table(q.order.kind)) q.order = (hd_order){.kind = HD_ORDER_REVERSE};
  if (q.stream.kind == HD_STREAM_AUTO) q.stream = (hd_stream){0};
  return q;
}

hd_status advice_is_possible(const advising *a, const hd_plan *p, bool *possible, hd_diag *d) {
  const hd_compiled *code;
  hd_diag why;
  hd_status st = hd_workload_compiled(a->w, hd_launch_arch(NULL, a->o.run.compile.arch), &code, d);
  *possible = false;
  if (st != HD_OK) return st;
  hd_resolved plans = {code, calloc((size_t)code->n_kernels + 1, sizeof *plans.kernels)};
  st = plans.kernels ? HD_OK : hd_nomem(d);
  for (uint32_t k = 0; st == HD_OK && k < code->n_kernels; k++) {
    hd_resolved_kernel *r = &plans.kernels[k];
    r->plan = without_traces(p);
    if (p->bypass.kind == HD_BYPASS_READONLY)
      st = hd_unwritten_loads(code->module, code->kernels[k].func, a->w, code->kernels[k].first,
                              &r->unwritten, &r->n_unwritten, d);
  }
  if (st == HD_OK) {
    const hd_status rewritten =
        hd_apply_resolved(&plans, &a->o.run.compile, a->o.run.machine.n_sms, HD_TEXT_NONE, NULL, &why);
    *possible = rewritten == HD_OK;
    if (rewritten == HD_ERR_NOMEM) st = hd_nomem(d);
  }
  for (uint32_t k = 0; plans.kernels && k < code->n_kernels; k++) free(plans.kernels[k].unwritten);
  free(plans.kernels);
  return st;
}
