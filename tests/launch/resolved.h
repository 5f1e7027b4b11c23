/* tests/launch/resolved.h: plans that leave nothing open, resolved by hand. */
#ifndef HEDDLE_TESTS_LAUNCH_RESOLVED_H
#define HEDDLE_TESTS_LAUNCH_RESOLVED_H

#include "check.h"

#include <stdlib.h>

#include "heddle/launch.h"

/* The plan for every kernel; tables are read from the file that it names. */
static inline hd_resolved resolve_by_hand(const hd_workload *w, const char *text) {
  hd_resolved r = {0};
  hd_diag d = {0};
  if (hd_workload_compiled(w, hd_launch_arch(NULL, 0), &r.code, &d) != HD_OK) fail_msg("%s", d.message);
  r.kernels = calloc((size_t)r.code->n_kernels + 1, sizeof *r.kernels);
  assert_non_null(r.kernels);
  for (uint32_t k = 0; k < r.code->n_kernels; k++) {
    hd_resolved_kernel *one = &r.kernels[k];
    uint64_t tasks;
    if (hd_plan_parse(text, &one->plan, &d) != HD_OK) fail_msg("%s: %s", text, d.message);
    assert_true(hd_grid_tasks(w->launches[r.code->kernels[k].first].grid, &tasks));
    if (one->plan.order.kind == HD_ORDER_TABLE &&
        hd_table_read(one->plan.table, tasks, &one->table, &d) != HD_OK)
      fail_msg("%s: %s", text, d.message);
  }
  return r;
}

#endif
