/* tests/plan/inverse.h: plans backwards, to hold hd_plan_forward against: from a task number to the worker u
 * that runs it, or its position. Not for tables, which hd_table_invert inverts. */
#ifndef HEDDLE_TESTS_PLAN_INVERSE_H
#define HEDDLE_TESTS_PLAN_INVERSE_H

#include "plan/order.h"

static inline hd_status inverse_program(const hd_plan *p, const hd_grid *g, hd_prog *out, hd_diag *d) {
  plan_builder b;
  plan_space s;
  if (hd_order_needs_table(p->order.kind))
    return hd_fail(d, HD_ERR_UNSUPPORTED, "a table has no inverse program; invert the table instead");
  hd_status st = plan_open(&b, p, g, &s, d);
  if (st != HD_OK) return st;
  plan_val task = plan_linear_input(&b, &s);
  plan_view v = plan_see(&b, p, &s);
  plan_val position = plan_view_position(&b, &v, p, &s, task);
  if (p->bind == HD_BIND_REDIRECT) position = plan_split_collect(&b, &v.lines, &p->split, g->n_sms, position);
  return plan_finish(&b, (const plan_val[3]){position, position, position}, out, d);
}

#endif
