/* Tables of workloads by plans, filled on this machine. */
#include "heddle/suite.h"

static void tell(const hd_suite_run *run, size_t done, size_t n) {
  if (run->progress) run->progress(run->ctx, done, n);
}

static hd_status open_workload(const hd_suite_run *run, const char *name, hd_workload **out, hd_diag *d) {
  hd_workload_request q = run->like;
  q.name = name;
  return hd_workload_request_open(&q, out, d);
}

hd_status hd_suite_levers(const hd_suite_run *run, const hd_levers_table *t, hd_lever_cell *cells,
                          hd_arena *arena, hd_diag *d) {
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < t->n_workloads; i++) {
    hd_workload *w;
    tell(run, i, t->n_workloads);
    if ((st = open_workload(run, t->workloads[i], &w, d)) != HD_OK) break;
    for (size_t k = 0; st == HD_OK && k < t->n_plans; k++)
      st = hd_lever_try(w, t->plans[k], run->threads, arena, &cells[i * t->n_plans + k], d);
    hd_workload_close(w);
  }
  tell(run, t->n_workloads, t->n_workloads);
  return st;
}

hd_status hd_suite_overhead(const hd_suite_run *run, const hd_overhead_table *t, bool any_grid,
                            hd_overhead_row *rows, hd_diag *d) {
  const hd_overhead_options o = {.run = {.threads = run->threads, .apply.any_grid = any_grid}};
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < t->n_workloads; i++) {
    hd_workload *w;
    tell(run, i, t->n_workloads);
    if ((st = open_workload(run, t->workloads[i], &w, d)) != HD_OK) break;
    st = hd_overhead(w, t->plans, t->n_plans, &o, &rows[i * t->n_plans], d);
    hd_workload_close(w);
  }
  tell(run, t->n_workloads, t->n_workloads);
  return st;
}
