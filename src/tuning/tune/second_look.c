#include "tune/second_look.h"

static hd_status look(second_look *l, const hd_plan *p, double *speedup, hd_diag *d) {
  hd_sweep_row rows[2] = {[1] = {.plan = *p}};
  const size_t first = l->study ? 1 : 0; /* the default is replayed once */
  hd_status st = l->study ? HD_OK : hd_study_open_like(l->first, &l->run, &l->how, &l->study, d);
  if (st == HD_OK)
    st = hd_sweep(l->study, l->g, l->dispatch, l->seed, rows + first, 2 - first, l->run.machine.threads, NULL,
                  NULL, d);
  for (size_t i = first; st == HD_OK && i < 2; i++)
    if (rows[i].status == HD_ERR_BUDGET)
      st = hd_fail_bound(d, rows[i].bound, "%s", rows[i].why);
    else if (rows[i].status != HD_OK)
      st = hd_fail(d, rows[i].status, "%s", rows[i].why);
  if (st != HD_OK) return st;
  if (!first) l->default_us = rows[0].counters.time_us;
  l->looks++;
  *speedup = rows[1].counters.time_us > 0 ? l->default_us / rows[1].counters.time_us : 1;
  return HD_OK;
}

hd_status second_look_take(second_look *l, const hd_plan *p, double *speedup, hd_diag *d) {
  const double start = hd_seconds();
  hd_status st = look(l, p, speedup, d);
  l->seconds += hd_seconds() - start;
  return st;
}

double hd_optimize_worth(const hd_plan *p) {
  if (p->bind == HD_BIND_AGENTS || p->bypass.kind || p->stream.kind) return 1.3;
  return p->bind != HD_BIND_NONE || p->prefetch.kind ? 1.15 : 1.05;
}

double promise_asked(const hd_study *s, const hd_plan *p) {
  static const double without_ends = 1.3;
  const double asked = hd_optimize_worth(p);
  return hd_study_leaves_ends(s) && asked < without_ends ? without_ends : asked;
}

double second_look_part(const second_look *l) { return hd_study_part(l->study); }

void second_look_close(second_look *l) {
  hd_study_close(l->study);
  l->study = NULL;
}
