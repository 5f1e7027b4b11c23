/* The instructions that plans add to a task. */
#include <stdlib.h>

#include "predict/study.h"

/* The cost of a table's order does not depend on its entries: order=reverse stands for it here, so that no
 * table is needed. */
static void fill_plans(const hd_compiled *code, const hd_plan *p, hd_resolved_kernel *kernels) {
  for (uint32_t k = 0; k < code->n_kernels; k++) {
    kernels[k].plan = (hd_plan){.order = p->order, .bind = p->bind, .split = p->split, .agents = p->agents};
    kernels[k].plan.agents_voted = p->agents_voted;
    kernels[k].plan.shape = p->shape;
    kernels[k].plan.take = p->take;
    kernels[k].plan.sms = p->sms;
    if (hd_order_needs_table(p->order.kind)) kernels[k].plan.order = (hd_order){.kind = HD_ORDER_REVERSE};
  }
}

hd_status replay_extra(const hd_study *s, const hd_plan *p, uint32_t n_sms, hd_added *extra, hd_diag *d) {
  const hd_compiled *code = s->code;
  hd_rewritten own = {0};
  hd_resolved plans = {code, calloc((size_t)code->n_kernels + 1, sizeof *plans.kernels)};
  hd_status st = plans.kernels ? HD_OK : hd_nomem(d);
  if (st == HD_OK) fill_plans(code, p, plans.kernels);
  for (uint32_t k = 0; st == HD_OK && k < code->n_kernels; k++)
    st = hd_launch_settle_shape(code, code->kernels[k].first, &plans.kernels[k].plan, d);
  if (st == HD_OK) st = hd_apply_resolved(&plans, &s->run.compile, n_sms, HD_TEXT_NONE, &own, d);
  for (uint32_t i = 0; st == HD_OK && i < s->w->n_launches; i++)
    st = hd_rewrite_added(code->module, own.module, code->kernels[code->kernel_of[i]].func, &extra[i], d);
  hd_rewritten_free(&own);
  free(plans.kernels);
  return st;
}
